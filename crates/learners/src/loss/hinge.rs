//! The hinge loss of support vector machines.

use super::{PointwiseLoss, towards};

/// `max(1 − yz, 0)`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hinge;

impl PointwiseLoss for Hinge {
    const TARGETS: &'static str = "-1 and 1";

    fn value(self, z: f64, y: f64) -> f64 {
        (1.0 - y * z).max(0.0)
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        if y * z < 1.0 { -y } else { 0.0 }
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        y * towards(y * z, (y * z).max(1.0), amount)
    }

    fn takes(self, y: f64) -> bool {
        y.abs() == 1.0
    }
}
