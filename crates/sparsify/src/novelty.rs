//! The first half of the novelty criterion (Platt 1991; Liu and Príncipe 2010): a distance between
//! inputs.
//!
//! A point is kept if its Euclidean distance to all kept points exceeds `δ₁`, as the first point
//! always is. The second half looks at the error, which no rule knows: an update has it
//! (`mercer_learners::update::WhenWrong`). `O(Jd)`.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// Novelty of inputs: farther than `δ₁ ≥ 0` from all kept points.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Novelty {
    distance: f64,
}

impl Novelty {
    /// The rule with distance `delta1`; 0 skips repeated inputs only.
    ///
    /// # Errors
    /// When `delta1` is negative or not finite.
    pub fn new(delta1: f64) -> Result<Self, ParameterError> {
        Ok(Self { distance: ParameterError::non_negative("delta1", delta1)? })
    }

    /// The distance `δ₁`.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.distance
    }
}

impl Validate for Novelty {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::non_negative(self.distance, "distance of the novelty criterion")
    }
}

impl<B: Basis> Admission<B> for Novelty {
    type Decision = Answer;

    fn decide(&self, basis: &B, x: &[f64], probe: &Probe) -> Answer {
        match basis.points().nearest(x) {
            Some((_, squared)) if squared.sqrt() <= self.distance => Answer::Skip,
            _ => basis.new_coordinate(probe).into(),
        }
    }
}
