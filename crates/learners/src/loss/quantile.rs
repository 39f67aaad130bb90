//! The quantile loss (Koenker and Bassett 1978): its minimiser is the quantile `τ`.

use mercer_core::ParameterError;

use super::{PointwiseLoss, towards};

/// `τ(y − z)` where the score is below the target, `(1 − τ)(z − y)` where it is above.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Quantile {
    tau: f64,
}

impl Quantile {
    /// The loss of the quantile `tau = τ` in `(0, 1)`; `½` gives half the absolute loss.
    ///
    /// # Errors
    /// When `tau` is not strictly between 0 and 1.
    pub fn new(tau: f64) -> Result<Self, ParameterError> {
        let inside = tau > 0.0 && tau < 1.0;
        Ok(Self { tau: ParameterError::require(inside, "tau", "a number above 0 and below 1", tau)? })
    }

    /// `τ`
    #[must_use]
    pub fn tau(self) -> f64 {
        self.tau
    }
}

impl PointwiseLoss for Quantile {
    const TARGETS: &'static str = "numbers";

    fn value(self, z: f64, y: f64) -> f64 {
        let below = y - z;
        if below >= 0.0 { self.tau * below } else { (self.tau - 1.0) * below }
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        towards(z, y, amount * if z < y { self.tau } else { 1.0 - self.tau })
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        if z < y {
            -self.tau
        } else if z > y {
            1.0 - self.tau
        } else {
            0.0
        }
    }
}
