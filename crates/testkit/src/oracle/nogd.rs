//! NOGD, literally: gradient descent in H up to a budget of B points, then on rank-k Nyström
//! features (Lu et al. 2016).
//!
//! Up to B points: `f ← f − η g k(x_t,·)`, every point kept. Then, with `K_B = VΛVᵀ` and the k
//! largest eigenpairs (those below `1e-12 λ_max` dropped), `φ(x) = Λ^(-1/2) Vᵀ k_B(x)` and
//! `w ← w − η g φ`. At the switch w holds the coordinates `⟨f, u_i⟩` of the function learned so far
//! on the orthonormal functions `u_i = λ_i^(-1/2) Σ_l V_li k(x_l,·)`; for `f = Σ c_l k(x_l,·)` this
//! is `w = Λ^(-1/2) Vᵀ K_B c = Λ^(1/2) Vᵀ c`, the projection of f, and f itself at full rank. With
//! a radius U the function is scaled into the ball of H after every step, in both phases.

use nalgebra::{DMatrix, DVector};

use super::dense::{gram, kernel_vector};
use super::kogd::{expansion, scale_into_ball};
use super::{Example, KernelFn, Trace};

/// Parameters of [`nogd`].
#[derive(Clone, Copy, Debug)]
pub struct NogdParams {
    /// Budget B ≥ 1 of points.
    pub budget: usize,
    /// Rank k ≥ 1 of the features.
    pub rank: usize,
    /// Step η > 0, the same in every round.
    pub step: f64,
    /// Bound U on the norm of the function, if any.
    pub radius: Option<f64>,
}

/// NOGD with a dense eigen-decomposition at the switch.
pub fn nogd(stream: &[Example], kernel: KernelFn, params: NogdParams) -> Trace {
    let NogdParams { budget, rank, step, radius } = params;
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut coefficients: Vec<f64> = Vec::new();
    let first = budget.min(stream.len());
    for (t, (x, y)) in stream[..first].iter().enumerate() {
        let prediction = expansion(&points, &coefficients, x, kernel);
        trace.predictions.push(prediction);
        points.push(x.clone());
        coefficients.push(-step * 2.0 * (prediction - y));
        trace.dictionary.push(t);
        if let Some(limit) = radius {
            scale_into_ball(&points, &mut coefficients, kernel, limit);
        }
    }
    if first == stream.len() {
        return trace;
    }

    let k = gram(&points, kernel);
    let inverse_root = top_inverse_root(&k, rank);
    let mut w = &inverse_root * (&k * DVector::from_vec(coefficients));
    for (x, y) in &stream[first..] {
        let phi = &inverse_root * kernel_vector(&points, x, kernel);
        let prediction = w.dot(&phi);
        trace.predictions.push(prediction);
        w -= phi * (step * 2.0 * (prediction - y));
        if let Some(limit) = radius.filter(|limit| w.norm() > *limit) {
            w *= limit / w.norm();
        }
    }
    trace
}

/// `Λ^(-1/2) Vᵀ` over the `rank` largest eigenvalues that are above `1e-12` of the largest,
/// `(kept, B)`.
fn top_inverse_root(gram: &DMatrix<f64>, rank: usize) -> DMatrix<f64> {
    let eigen = gram.clone().symmetric_eigen();
    let mut order: Vec<usize> = (0..gram.nrows()).collect();
    order.sort_by(|i, j| eigen.eigenvalues[*j].total_cmp(&eigen.eigenvalues[*i]));
    let floor = 1e-12 * eigen.eigenvalues.max();
    let kept: Vec<usize> = order.into_iter().take(rank).filter(|i| eigen.eigenvalues[*i] > floor).collect();
    DMatrix::from_fn(kept.len(), gram.nrows(), |i, l| {
        eigen.eigenvectors[(l, kept[i])] / eigen.eigenvalues[kept[i]].sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// B = 2, k = 1, κ = exp(−½), η = ¼. Eigenpairs of [1 κ; κ 1]: 1 ± κ with (1, ±1)/√2.
    ///
    /// Round 1: y = 1, c₁ = ½. Round 2: ŷ = κ/2; y = 0 gives c₂ = −κ/4. The switch keeps u = (k₁ +
    /// k₂)/√(2(1+κ)); at x₁, φ = √((1+κ)/2), and w = √((1+κ)/2)(c₁ + c₂). Round 3 at x₁: ŷ =
    /// ½(1+κ)(c₁ + c₂).
    #[test]
    fn three_rounds_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 1.0), (vec![1.0], 0.0), (vec![0.0], 0.0)];
        let params = NogdParams { budget: 2, rank: 1, step: 0.25, radius: None };
        let trace = nogd(&stream, &gaussian(1.0), params);
        let expected = [0.0, kappa / 2.0, 0.5 * (1.0 + kappa) * (0.5 - kappa / 4.0)];
        for (got, want) in trace.predictions.iter().zip(expected) {
            assert!((got - want).abs() < 1e-15, "{got} against {want}");
        }
    }

    /// Norms by hand on one point: f = c k(x,·) has norm |c|, stopped at U = 0.3 in both phases.
    #[test]
    fn the_radius_holds_in_both_phases() {
        let stream = vec![(vec![0.0], 5.0); 6];
        let params = NogdParams { budget: 2, rank: 2, step: 0.25, radius: Some(0.3) };
        let trace = nogd(&stream, &gaussian(1.0), params);
        assert!(trace.predictions[1..].iter().all(|p| (p - 0.3).abs() < 1e-14), "{:?}", trace.predictions);
    }
}
