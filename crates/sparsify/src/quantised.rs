//! Quantisation of the input space (Chen, Zhao, Zhu and Príncipe 2012).
//!
//! With `j` the kept point nearest to `x` in the Euclidean distance, the first of several:
//! `‖x − d_j‖ ≤ ε` merges `x` into it, any other point is kept. Kept points are then more than `ε`
//! apart. `O(Jd)`.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// Quantisation with radius `ε ≥ 0`, a distance between inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quantised {
    radius: f64,
}

impl Quantised {
    /// The rule with radius `epsilon`; 0 merges repeated inputs only.
    ///
    /// # Errors
    /// When `epsilon` is negative or not finite.
    pub fn new(epsilon: f64) -> Result<Self, ParameterError> {
        Ok(Self { radius: ParameterError::non_negative("epsilon", epsilon)? })
    }

    /// The radius `ε`.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

impl Validate for Quantised {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::non_negative(self.radius, "quantisation radius")
    }
}

impl<B: Basis> Admission<B> for Quantised {
    type Decision = Answer;

    fn decide(&self, basis: &B, x: &[f64], probe: &Probe) -> Answer {
        match basis.points().nearest(x) {
            Some((index, squared)) if squared.sqrt() <= self.radius => Answer::Merge(index),
            _ => basis.new_coordinate(probe).into(),
        }
    }
}
