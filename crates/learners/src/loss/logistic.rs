//! The logistic loss: two classes with probability `σ(yz) = 1/(1 + e^{−yz})`.

use super::PointwiseLoss;

/// `ln(1 + e^{−yz})`
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Logistic;

impl Logistic {
    /// `σ(z) = 1/(1 + e^{−z})`, the probability of the class `+1` at the score `z`.
    #[must_use]
    pub fn probability(z: f64) -> f64 {
        // Of the two forms the one whose exponential does not overflow.
        if z >= 0.0 {
            1.0 / (1.0 + (-z).exp())
        } else {
            let e = z.exp();
            e / (1.0 + e)
        }
    }
}

impl PointwiseLoss for Logistic {
    const TARGETS: &'static str = "-1 and 1";

    fn value(self, z: f64, y: f64) -> f64 {
        let margin = y * z;
        // ln(1 + e^{−m}) = max(−m, 0) + ln(1 + e^{−|m|})
        (-margin).max(0.0) + (-margin.abs()).exp().ln_1p()
    }

    fn derivative(self, z: f64, y: f64) -> f64 {
        -y * Self::probability(-y * z)
    }

    /// The margin `m = yz` solves `m + e^m = m₀ + e^{m₀} + a`; by Newton's method from above, where
    /// it converges monotonically.
    fn flow(self, z: f64, y: f64, amount: f64) -> f64 {
        let start = y * z;
        let sum = start + start.exp() + amount;
        if !sum.is_finite() {
            return z;
        }
        let mut margin = if sum > 1.0 { sum.ln() } else { sum };
        for _ in 0..60 {
            let e = margin.exp();
            let step = (margin + e - sum) / (1.0 + e);
            margin -= step;
            if step.abs() <= f64::EPSILON * margin.abs().max(1.0) {
                break;
            }
        }
        y * margin.max(start)
    }

    fn takes(self, y: f64) -> bool {
        y.abs() == 1.0
    }

    /// `½e^{−U}`: the loss is `α`-exp-concave with `α = ℓ''/ℓ'² = e^{yz} ≥ e^{−U}`, and
    /// `η = ½ min(1/(GD), α)` with `G = 1`, `D = 2U` (Hazan, *Introduction to Online Convex
    /// Optimization*, the lemma on exp-concave functions in the chapter on second-order methods);
    /// `e^{−U} < 1/(2U)` always.
    fn curvature(self, bound: f64, _: f64) -> Option<f64> {
        Some(0.5 * (-bound).exp())
    }
}
