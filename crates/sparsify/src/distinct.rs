//! Every point but copies.

use mercer_core::{Inconsistent, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// Keeps every point that the basis can hold, as [`EveryPoint`](crate::EveryPoint) does, but merges one that equals a kept
/// point into it: a function of both is a function of one, and copies would fill a dictionary. `O(J)`, and `O(d)` for
/// each kept point whose kernel value is that of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Distinct;

impl Validate for Distinct {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl<B: Basis> Admission<B> for Distinct {
    type Decision = Answer;

    fn decide(&self, basis: &B, x: &[f64], probe: &Probe) -> Answer {
        match basis.points().copy_of(x, probe.row(), probe.self_value()) {
            Some(index) => Answer::Merge(index),
            None => basis.new_coordinate(probe).into(),
        }
    }
}
