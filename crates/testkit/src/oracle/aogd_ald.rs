//! AOGD-ALD, literally: KOGD with ALD-approximated gradients (Li & Liao 2023, Algorithm 1).
//!
//! While the dictionary holds fewer than B₀ points and ALD holds (`α_t ≤ α`), the gradient is
//! replaced by its projection, `f ← f − η_t g Φ_S β*`, `β* = K_S⁻¹ k_S`; otherwise
//! `f ← f − η_t g k(x_t,·)` and the point is kept. In both cases `f ← f · min(1, U/‖f‖)`, and
//! `η_t = U/√(1 + Σ_{s≤t} ‖∇̂_s‖²)`, where `∇̂_s` is the gradient used and round t is included.
//!
//! Once B₀ points are kept, every point is kept and no system is solved any more, so exact
//! duplicates are harmless. A point whose gradient is exactly 0 is judged and kept like any other,
//! as Algorithm 1 (not the text) has it.

use super::dense::{ald, gram};
use super::kogd::{expansion, scale_into_ball};
use super::{Example, KernelFn, Trace};

/// AOGD-ALD as functions in H; `growth_limit` is B₀, `None` for no limit.
///
/// # Panics
/// If the Gram matrix of the kept points is exactly singular while ALD is still tested.
pub fn aogd_ald(stream: &[Example], kernel: KernelFn, radius: f64, alpha: f64, growth_limit: Option<usize>) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut coefficients: Vec<f64> = Vec::new();
    let mut squares = 0.0;
    for (t, (x, y)) in stream.iter().enumerate() {
        let prediction = expansion(&points, &coefficients, x, kernel);
        trace.predictions.push(prediction);
        let g = 2.0 * (prediction - y);

        let tested = growth_limit.is_none_or(|limit| points.len() < limit);
        let projected = tested.then(|| ald(&points, x, kernel)).filter(|(residual, _)| *residual <= alpha);
        if let Some((_, beta)) = projected {
            if !beta.is_empty() {
                squares += g * g * beta.dot(&(gram(&points, kernel) * &beta));
            }
            let eta = radius / (1.0_f64 + squares).sqrt();
            for (c, b) in coefficients.iter_mut().zip(&beta) {
                *c -= eta * g * b;
            }
        } else {
            squares += g * g * kernel(x, x);
            let eta = radius / (1.0_f64 + squares).sqrt();
            points.push(x.clone());
            coefficients.push(-eta * g);
            trace.dictionary.push(t);
        }
        scale_into_ball(&points, &mut coefficients, kernel, radius);
    }
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// One kept point x₁ and x₂ at distance 1 (κ = exp(−½)) judged close enough: β* = κ, U = 2.
    ///
    /// Round 1: g = −1 (y = ½), η = 2/√2 = √2, f = √2 k(x₁,·), norm √2 < 2.
    /// Round 2: ŷ = √2κ, y = 0, g = 2√2κ, ∇̂ = gκ k(x₁,·), η = 2/√(2 + g²κ²), c = √2 − ηgκ.
    #[test]
    fn three_rounds_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 0.5), (vec![1.0], 0.0), (vec![0.0], 0.0)];
        let trace = aogd_ald(&stream, &gaussian(1.0), 2.0, 0.99, None);
        let g = 2.0 * 2.0_f64.sqrt() * kappa;
        let eta = 2.0 / (2.0 + g * g * kappa * kappa).sqrt();
        let expected = [0.0, 2.0_f64.sqrt() * kappa, 2.0_f64.sqrt() - eta * g * kappa];
        assert_eq!(trace.dictionary, [0]);
        for (got, want) in trace.predictions.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{got} against {want}");
        }
    }
}
