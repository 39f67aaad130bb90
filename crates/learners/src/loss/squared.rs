//! The squared loss `(z − y)²`: its minimiser is the mean.

use super::PointwiseLoss;

/// `(z − y)²`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Squared;

impl PointwiseLoss for Squared {
    const TARGETS: &'static str = "numbers";

    fn value(self, z: f64, y: f64) -> f64 {
        (z - y) * (z - y)
    }

    #[inline]
    fn derivative(self, z: f64, y: f64) -> f64 {
        2.0 * (z - y)
    }

    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        z + (z - y) * (-2.0 * amount).exp_m1()
    }

    /// `1/(4(U² + Y²))` (\[A\] Theorem 4.9): `(z' − z)² = g²(z' − z)²/(4(z − y)²)`, and
    /// `(z − y)² ≤ 2(U² + Y²)`.
    fn curvature(self, bound: f64, label_bound: f64) -> Option<f64> {
        Some(1.0 / (4.0 * (bound * bound + label_bound * label_bound)))
    }
}
