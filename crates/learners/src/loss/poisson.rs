//! The Poisson loss: counts with mean `eᶻ`.

use super::PointwiseLoss;

/// `eᶻ − yz`, the negative log-likelihood of a count `y` of mean `eᶻ` less `ln y!`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Poisson;

impl PointwiseLoss for Poisson {
    const TARGETS: &'static str = "numbers of at least 0";

    fn value(self, z: f64, y: f64) -> f64 {
        z.exp() - y * z
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        z.exp() - y
    }

    /// To `ln y`, but not below `z − 1`, a step of Newton at a count of 0.
    fn reach(self, z: f64, y: f64) -> f64 {
        (y.ln() - z).max(-1.0).abs()
    }

    fn takes(self, y: f64) -> bool {
        y.is_finite() && y >= 0.0
    }

    fn prediction(self, z: f64) -> f64 {
        z.exp()
    }
}
