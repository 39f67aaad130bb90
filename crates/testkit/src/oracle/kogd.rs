//! KOGD, literally: gradient descent in H with an adaptive step (Li & Liao 2023, equations (2) and
//! (3)).
//!
//! `f ← f − η_t g k(x_t,·)`, then `f ← f · min(1, U/‖f‖)`, with `η_t = U/√(1 + Σ_{s≤t} ‖∇_s‖²)` and
//! `‖∇_s‖² = g_s² k(x_s,x_s)`; the sum includes round t. The norm is `cᵀKc` over all points so far.

use nalgebra::DVector;

use super::dense::{gram, kernel_vector};
use super::{Example, KernelFn, Trace};

/// KOGD with a full kernel matrix each round. Every point is kept.
pub fn kogd(stream: &[Example], kernel: KernelFn, radius: f64) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut coefficients: Vec<f64> = Vec::new();
    let mut squares = 0.0;
    for (t, (x, y)) in stream.iter().enumerate() {
        let prediction = expansion(&points, &coefficients, x, kernel);
        trace.predictions.push(prediction);
        let g = 2.0 * (prediction - y);
        squares += g * g * kernel(x, x);
        let eta = radius / (1.0_f64 + squares).sqrt();
        points.push(x.clone());
        coefficients.push(-eta * g);
        scale_into_ball(&points, &mut coefficients, kernel, radius);
        trace.dictionary.push(t);
    }
    trace
}

/// `f(x) = Σ c_i k(x_i, x)`.
pub(super) fn expansion(points: &[Vec<f64>], coefficients: &[f64], x: &[f64], kernel: KernelFn) -> f64 {
    kernel_vector(points, x, kernel).iter().zip(coefficients).map(|(k, c)| k * c).sum()
}

/// Equation (3): `f · min(1, U/‖f‖)`.
pub(super) fn scale_into_ball(points: &[Vec<f64>], coefficients: &mut [f64], kernel: KernelFn, radius: f64) {
    if points.is_empty() {
        return;
    }
    let c = DVector::from_column_slice(coefficients);
    let norm = c.dot(&(gram(points, kernel) * &c)).max(0.0).sqrt();
    if norm > radius {
        for value in coefficients {
            *value *= radius / norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// Two points at distance 1, σ = 1, κ = exp(−½), U = 1.
    ///
    /// Round 1: ŷ = 0, y = 1, g = −2, ‖∇‖² = 4, η = 1/√5, f = (2/√5) k(x₁,·), of norm 0.894 < 1:
    /// kept. Round 2: ŷ = 2κ/√5; y = −1, g = 2(ŷ + 1), η = 1/√(1 + 4 + g²), c = (2/√5, −ηg), scaled
    /// to norm 1 if longer. Round 3 asks for x₁ again: ŷ = c₁ + κ c₂.
    #[test]
    fn three_rounds_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 1.0), (vec![1.0], -1.0), (vec![0.0], 0.0)];
        let trace = kogd(&stream, &gaussian(1.0), 1.0);
        let c1 = 2.0 / 5.0_f64.sqrt();
        let second = c1 * kappa;
        let g = 2.0 * (second + 1.0);
        let c2 = -g / (5.0 + g * g).sqrt();
        let norm = (c1 * c1 + 2.0 * kappa * c1 * c2 + c2 * c2).sqrt();
        let expected = [0.0, second, (c1 + kappa * c2) / norm.max(1.0)];
        for (got, want) in trace.predictions.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{got} against {want}");
        }
    }

    /// One point repeated, with targets out of reach: the function is stopped at norm U, so the
    /// prediction is U.
    #[test]
    fn the_ball_is_respected() {
        let stream: Vec<Example> = (0..50).map(|_| (vec![0.3], 10.0)).collect();
        let trace = kogd(&stream, &gaussian(1.0), 0.5);
        assert!((trace.predictions[49] - 0.5).abs() < 1e-12);
    }
}
