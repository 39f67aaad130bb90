//! The loss of Huber (1964): squared near the target, absolute far from it.

use mercer_core::ParameterError;

use super::PointwiseLoss;

/// `½e²` for an error `e = z − y` within `±δ`, `δ(|e| − ½δ)` beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// The loss with `delta = δ > 0`, in units of the target.
    ///
    /// # Errors
    /// When `delta` is not a positive finite number.
    pub fn new(delta: f64) -> Result<Self, ParameterError> {
        Ok(Self { delta: ParameterError::positive("delta", delta)? })
    }

    /// `δ`
    #[must_use]
    pub fn delta(self) -> f64 {
        self.delta
    }
}

impl PointwiseLoss for Huber {
    const TARGETS: &'static str = "numbers";

    fn value(self, z: f64, y: f64) -> f64 {
        let error = (z - y).abs();
        if error <= self.delta { 0.5 * error * error } else { self.delta * (error - 0.5 * self.delta) }
    }

    /// At the speed `δ` while the error is beyond `±δ`, then as for the squared loss.
    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        let error = z - y;
        let beyond = (error.abs() - self.delta).max(0.0);
        let left = (amount - beyond / self.delta).max(0.0);
        let outside = (beyond - self.delta * amount).max(0.0);
        y + error.signum() * (outside + error.abs().min(self.delta) * (-left).exp())
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        (z - y).clamp(-self.delta, self.delta)
    }
}
