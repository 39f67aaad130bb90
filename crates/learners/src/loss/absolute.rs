//! The absolute loss `|z − y|`: its minimiser is the median.

use super::{PointwiseLoss, towards};

/// `|z − y|`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Absolute;

impl PointwiseLoss for Absolute {
    const TARGETS: &'static str = "numbers";

    fn value(self, z: f64, y: f64) -> f64 {
        (z - y).abs()
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        if z == y { 0.0 } else { (z - y).signum() }
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        towards(z, y, amount)
    }
}
