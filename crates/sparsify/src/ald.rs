//! Approximate linear dependence.
//!
//! `x` is kept when `α_t = min_β ‖Σ β_j k(x_j, ·) − k(x, ·)‖² > α` (Engel et al. 2004; \[A\] eqs.
//! 4–5). The test is on the squared distance; a tie counts as dependent, and so does a distance
//! within rounding of zero (1e−13 `k(x, x)`). The probe has the distance already, so the decision
//! is `O(1)`.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::admission::{Admission, Answer, coordinate_above};
use crate::basis::Orthonormal;
use crate::probe::Probe;

/// The approximate linear dependence test with threshold `α ≥ 0` on the squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ald {
    threshold: f64,
}

impl Ald {
    /// The test with threshold `alpha`, in units of `k(x, x)`.
    ///
    /// # Errors
    /// When `alpha` is negative or not finite.
    pub fn new(alpha: f64) -> Result<Self, ParameterError> {
        Ok(Self { threshold: ParameterError::non_negative("alpha", alpha)? })
    }

    /// The threshold `α`.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }
}

impl Validate for Ald {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::non_negative(self.threshold, "ALD threshold")
    }
}

impl<B: Orthonormal> Admission<B> for Ald {
    type Decision = Answer;

    fn decide(&self, _: &B, _: &[f64], probe: &Probe) -> Answer {
        coordinate_above(self.threshold, probe).into()
    }
}
