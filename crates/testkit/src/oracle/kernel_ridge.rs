//! Kernel-AWV and its projections, as the minimisation problems that define them (Jézéquel et al.
//! 2019, eqs. 3 and 4).
//!
//! The forecast at round t is the fit to the past with one row more, `(x_t, 0)`: by the representer
//! theorem `f̂ = Σ_{s≤t} α_s k(x_s, ·)` with `(K_t + λI) α = (y_1, …, y_{t−1}, 0)`. Ridge
//! regression has no such row. A projection on the span of kept points replaces the kernel by
//! `k_S(x)ᵀ K_S⁻¹ k_S(z)`, points of the span of earlier ones left out. Solved anew each round,
//! O(t³).

use nalgebra::{DMatrix, DVector};

use super::dense::{gram, kernel_vector};
use super::{Example, KernelFn};

/// Every prediction of Kernel-AWV, or of kernel ridge regression when `vovk` is false.
///
/// # Panics
/// If `lambda` is not positive.
pub fn kernel_ridge(stream: &[Example], kernel: KernelFn, lambda: f64, vovk: bool) -> Vec<f64> {
    let points: Vec<Vec<f64>> = stream.iter().map(|(x, _)| x.clone()).collect();
    let k = gram(&points, kernel);
    (0..stream.len()).map(|t| forecast(&k, stream, t, lambda, vovk)).collect()
}

/// The positions among `kept` of points whose squared distance to the span of those before them is
/// more than `10⁻⁹ k(x, x)`, which is what this project's sampler takes for zero.
///
/// # Panics
/// If what remains is numerically dependent.
pub fn independent(stream: &[Example], kernel: KernelFn, kept: &[usize]) -> Vec<usize> {
    let (mut chosen, mut atoms) = (Vec::new(), Vec::<Vec<f64>>::new());
    for &s in kept {
        let x = &stream[s].0;
        let factor = gram(&atoms, kernel).cholesky().expect("the points chosen are independent");
        let row = kernel_vector(&atoms, x, kernel);
        let v = factor.l().solve_lower_triangular(&row).expect("a positive diagonal");
        if kernel(x, x) - v.norm_squared() > 1e-9 * kernel(x, x) {
            chosen.push(s);
            atoms.push(x.clone());
        }
    }
    chosen
}

/// The same in the span of kept points, `kept[t]` of them (by position) being known when round t
/// predicts; points that are not [`independent`] of the others in the last of these lists are left
/// out.
///
/// # Panics
/// If `lambda` is not positive or `kept` is shorter than the stream.
pub fn projected_ridge(stream: &[Example], kernel: KernelFn, lambda: f64, vovk: bool, kept: &[Vec<usize>]) -> Vec<f64> {
    let points: Vec<Vec<f64>> = stream.iter().map(|(x, _)| x.clone()).collect();
    let spanning = independent(stream, kernel, kept.last().map_or(&[], Vec::as_slice));
    (0..stream.len())
        .map(|t| {
            let now = spanning.iter().filter(|s| kept[t].contains(s));
            let atoms: Vec<Vec<f64>> = now.map(|&s| points[s].clone()).collect();
            let past = &points[..=t];
            let cross = DMatrix::from_fn(atoms.len(), past.len(), |j, s| kernel(&past[s], &atoms[j]));
            let factor = gram(&atoms, kernel).cholesky().expect("distinct points are independent");
            let coordinates = factor.l().solve_lower_triangular(&cross).expect("a positive diagonal").transpose();
            forecast(&(&coordinates * coordinates.transpose()), stream, t, lambda, vovk)
        })
        .collect()
}

fn forecast(k: &DMatrix<f64>, stream: &[Example], t: usize, lambda: f64, vovk: bool) -> f64 {
    let rows = if vovk { t + 1 } else { t };
    if rows == 0 {
        return 0.0;
    }
    let targets = DVector::from_fn(rows, |s, _| if s < t { stream[s].1 } else { 0.0 });
    let system = k.view((0, 0), (rows, rows)) + DMatrix::identity(rows, rows) * lambda;
    let alpha = system.cholesky().expect("λ > 0 makes the system positive definite").solve(&targets);
    (0..rows).map(|s| alpha[s] * k[(s, t)]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// Two rounds with κ = k(x₁, x₂): KRR predicts κ y₁/(1 + λ); AWV minimises over α in a 2 × 2
    /// system by hand.
    #[test]
    fn two_rounds_by_hand() {
        let (lambda, y) = (0.5, 0.8);
        let kappa = (-0.5f64).exp();
        let stream = [(vec![0.0], y), (vec![1.0], -0.3)];
        let ridge = kernel_ridge(&stream, &gaussian(1.0), lambda, false);
        assert!(ridge[0] == 0.0 && (ridge[1] - kappa * y / (1.0 + lambda)).abs() < 1e-15);
        // [1+λ κ; κ 1+λ] α = [y; 0]: α = y [1+λ; −κ]/((1+λ)² − κ²), and the value at x₂ is κα₁ +
        // α₂.
        let awv = kernel_ridge(&stream, &gaussian(1.0), lambda, true);
        let expected = y * kappa * lambda / ((1.0 + lambda).powi(2) - kappa * kappa);
        assert!(awv[0] == 0.0 && (awv[1] - expected).abs() < 1e-15);
        let everything = projected_ridge(&stream, &gaussian(1.0), lambda, true, &[vec![0], vec![0, 1]]);
        assert!((everything[1] - expected).abs() < 1e-14);
    }
}
