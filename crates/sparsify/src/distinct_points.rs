//! Every point that no kept point equals.

use mercer_core::{Inconsistent, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// Keeps every point that the basis can hold, once: a repeated input merges into the point that it
/// equals. An expansion with a term for each input is the same function, with fewer terms. `O(J)`
/// where few points share their first coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DistinctPoints;

impl Validate for DistinctPoints {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl<B: Basis> Admission<B> for DistinctPoints {
    type Decision = Answer;

    fn decide(&self, basis: &B, x: &[f64], probe: &Probe) -> Answer {
        basis.points().position(x).map_or_else(|| basis.new_coordinate(probe).into(), Answer::Merge)
    }
}
