//! Every point.

use mercer_core::{Inconsistent, Validate};

use crate::admission::{Admission, Answer};
use crate::basis::Basis;
use crate::probe::Probe;

/// Keeps every point that the basis can hold: all of them in a [`KernelBasis`](crate::KernelBasis),
/// those outside of the span in a [`NewtonBasis`](crate::NewtonBasis). `O(1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EveryPoint;

impl Validate for EveryPoint {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl<B: Basis> Admission<B> for EveryPoint {
    type Decision = Answer;

    fn decide(&self, basis: &B, _: &[f64], probe: &Probe) -> Answer {
        basis.new_coordinate(probe).into()
    }
}
