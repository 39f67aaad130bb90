//! The squared hinge loss, whose gradient has no jump.

use super::PointwiseLoss;

/// `max(1 − yz, 0)²`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SquaredHinge;

impl PointwiseLoss for SquaredHinge {
    const TARGETS: &'static str = "-1 and 1";

    fn value(self, z: f64, y: f64) -> f64 {
        let short = (1.0 - y * z).max(0.0);
        short * short
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        -2.0 * y * (1.0 - y * z).max(0.0)
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        z - y * (1.0 - y * z).max(0.0) * (-2.0 * amount).exp_m1()
    }

    fn takes(self, y: f64) -> bool {
        y.abs() == 1.0
    }
}
