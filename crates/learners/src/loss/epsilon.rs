//! The ε-insensitive loss of support vector regression (Vapnik 1995).

use mercer_core::ParameterError;

use super::{PointwiseLoss, towards};

/// `max(|z − y| − ε, 0)`
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EpsilonInsensitive {
    epsilon: f64,
}

impl EpsilonInsensitive {
    /// The loss with tolerance `epsilon = ε ≥ 0`, in units of the target.
    ///
    /// # Errors
    /// When `epsilon` is negative or not finite.
    pub fn new(epsilon: f64) -> Result<Self, ParameterError> {
        Ok(Self { epsilon: ParameterError::non_negative("epsilon", epsilon)? })
    }

    /// `ε`
    #[must_use]
    pub fn epsilon(self) -> f64 {
        self.epsilon
    }
}

impl PointwiseLoss for EpsilonInsensitive {
    const TARGETS: &'static str = "numbers";

    fn value(self, z: f64, y: f64) -> f64 {
        ((z - y).abs() - self.epsilon).max(0.0)
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        towards(z, z.clamp(y - self.epsilon, y + self.epsilon), amount)
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        if (z - y).abs() <= self.epsilon { 0.0 } else { (z - y).signum() }
    }
}
