//! NONS-ALD, literally: Nyström online Newton steps on an ALD dictionary (Li & Liao 2023, Algorithm
//! 3).
//!
//! In the basis `φ_j(x) = Σ^(-1/2) Uᵀ k_S(x)`, with `η = 1/(4(U² + Y²))`,
//!
//! `A ← A + η g² φφᵀ`, `w ← w − A⁻¹ g φ`, then `w` is projected in the norm of A onto
//! `|wᵀφ(x_{t+1})| ≤ U` (equation (8), solved by Theorem 4.9). When the dictionary grows,
//! `A ← μI + Q(A − μI)Qᵀ` (Lemma 4.2) and `w ← Qw` (Lemma 4.3).
//!
//! Settled where Algorithm 3 is incomplete:
//! - A round on which ALD fails (`α_t > α`; a tie means that ALD holds) still predicts and updates.
//!   The dictionary grows after the prediction and before the update, which then uses the enlarged
//!   basis.
//! - The projection for `x_{t+1}` uses the coordinates in the dictionary before it may grow, as
//!   (12) says. It is done at the start of round t+1; the prediction is therefore `clip(wᵀφ, ±U)`.
//! - On the first round the dictionary is empty, `α_1 = k(x,x)` and the prediction is 0.
//! - With `max_dictionary`, a full dictionary treats every point as if ALD held.

use nalgebra::{DMatrix, DVector};

use super::dense::solve;
use super::svd_basis::{SvdBasis, carry, carry_weights};
use super::{Example, KernelFn, Trace, clip_to};

/// Parameters of [`nons_ald_svd`].
#[derive(Clone, Copy, Debug)]
pub struct NonsAldParams {
    /// Regulariser μ > 0.
    pub mu: f64,
    /// ALD threshold α ≥ 0, on the squared distance.
    pub alpha: f64,
    /// U > 0, the bound on predictions.
    pub radius: f64,
    /// Y ≥ 0, the bound on targets; enters only the step.
    pub label_bound: f64,
    /// The most points to keep.
    pub max_dictionary: Option<usize>,
}

impl Default for NonsAldParams {
    fn default() -> Self {
        Self { mu: 1.0, alpha: 1e-3, radius: 1.0, label_bound: 1.0, max_dictionary: None }
    }
}

/// NONS-ALD with an SVD for every dictionary, the change of basis `Q` and a dense `A`.
///
/// # Panics
/// If the kept points are numerically dependent.
pub fn nons_ald_svd(stream: &[Example], kernel: KernelFn, params: NonsAldParams) -> Trace {
    let NonsAldParams { mu, alpha, radius, label_bound, max_dictionary } = params;
    let eta = 1.0 / (4.0 * (radius * radius + label_bound * label_bound));
    let mut trace = Trace::default();
    let mut basis = SvdBasis::new(kernel, Vec::new());
    let mut a = DMatrix::<f64>::zeros(0, 0);
    let mut w = DVector::<f64>::zeros(0);
    for (t, (x, y)) in stream.iter().enumerate() {
        let phi = basis.coordinates(x);
        let z = w.dot(&phi);
        project(&mut w, &a, &phi, radius);
        let prediction = clip_to(z, radius);
        trace.predictions.push(prediction);
        let g = 2.0 * (prediction - y);

        let room = max_dictionary.is_none_or(|most| basis.len() < most);
        if room && basis.residual(x) > alpha {
            let larger = basis.enlarged(x);
            let q = larger.change_from(&basis);
            a = carry(&a, &q, mu);
            w = carry_weights(&w, &q);
            basis = larger;
            trace.dictionary.push(t);
        }
        newton_step(&mut w, &mut a, &basis.coordinates(x), g, eta);
    }
    trace
}

/// Theorem 4.9: `w − m(z) A⁻¹φ/(φᵀA⁻¹φ)`, `m(z) = sign(z) max(|z| − U, 0)`.
pub(super) fn project(w: &mut DVector<f64>, a: &DMatrix<f64>, phi: &DVector<f64>, radius: f64) {
    let z = w.dot(phi);
    if z.abs() > radius {
        let direction = solve(a, phi);
        let m = z.signum() * (z.abs() - radius);
        *w -= &direction * (m / phi.dot(&direction));
    }
}

/// `A ← A + c g² φφᵀ`, then `w ← w − A⁻¹ g φ` with the new A.
pub(super) fn newton_step(w: &mut DVector<f64>, a: &mut DMatrix<f64>, phi: &DVector<f64>, g: f64, step: f64) {
    if phi.is_empty() {
        return;
    }
    *a += phi * phi.transpose() * (step * g * g);
    *w -= solve(a, phi) * g;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// Two rounds by hand. Gaussian kernel with k(x₁,x₂) = exp(−½) = κ (distance 1, σ = 1); μ = 1,
    /// U = Y = 1, so η = 1/8.
    ///
    /// Round 1: ŷ = 0, y = ½, g = −1. One coordinate, φ = 1: A = 1 + 1/8 = 9/8, w = 0 + 8/9. Round
    /// 2: in the old basis φ = κ, so ŷ = 8κ/9. Round 3 repeats x₁ with α = 1, so that nothing more
    /// was admitted and the basis stayed the single point x₁: with y₂ = 0, g = 16κ/9, A = 9/8 +
    /// g²κ²/8, w = 8/9 − gκ/A, ŷ = w.
    #[test]
    fn three_rounds_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 0.5), (vec![1.0], 0.0), (vec![0.0], 0.0)];
        let params = NonsAldParams { alpha: 0.99, ..NonsAldParams::default() };
        let trace = nons_ald_svd(&stream, &gaussian(1.0), params);
        let g = 16.0 * kappa / 9.0;
        let a = 9.0 / 8.0 + g * g * kappa * kappa / 8.0;
        let expected = [0.0, 8.0 * kappa / 9.0, 8.0 / 9.0 - g * kappa / a];
        assert_eq!(trace.dictionary, [0]);
        for (got, want) in trace.predictions.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{got} against {want}");
        }
    }

    /// The projection lands on the boundary and changes nothing when the prediction is inside.
    #[test]
    fn projection_lands_on_the_boundary() {
        let a = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 3.0]);
        let phi = DVector::from_vec(vec![1.0, -0.5]);
        let mut w = DVector::from_vec(vec![4.0, 1.0]);
        project(&mut w, &a, &phi, 1.0);
        assert!((w.dot(&phi) - 1.0).abs() < 1e-15);
        let before = w.clone();
        project(&mut w, &a, &phi, 1.5);
        assert_eq!(w, before);
    }
}
