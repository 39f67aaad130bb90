//! Batch comparators and diagnostics from their definitions: kernel ridge regression, leverage
//! scores, effective dimension.

use nalgebra::{DMatrix, DVector};

use super::dense::{gram, solve};
use super::{Example, KernelFn};

/// The solution of batch kernel ridge regression.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchKrr {
    /// `c = (K + λI)⁻¹ y`, so that `f = Σ c_t k(x_t,·)`.
    pub coefficients: Vec<f64>,
    /// `f(x_t)` at the points of the batch.
    pub predictions: Vec<f64>,
    /// The minimum, `Σ (f(x_t) − y_t)² + λ‖f‖²`, from its terms.
    pub objective: f64,
}

/// Minimises `Σ (f(x_t) − y_t)² + λ‖f‖²` over H for λ > 0.
///
/// # Panics
/// If `K + λI` is exactly singular.
pub fn batch_krr(stream: &[Example], kernel: KernelFn, lambda: f64) -> BatchKrr {
    let n = stream.len();
    let points: Vec<Vec<f64>> = stream.iter().map(|(x, _)| x.clone()).collect();
    let y = DVector::from_iterator(n, stream.iter().map(|(_, y)| *y));
    let k = gram(&points, kernel);
    let c = solve(&(&k + DMatrix::identity(n, n) * lambda), &y);
    let f = &k * &c;
    let objective = (&f - &y).norm_squared() + lambda * c.dot(&f);
    BatchKrr { coefficients: c.iter().copied().collect(), predictions: f.iter().copied().collect(), objective }
}

/// The ridge leverage scores `r_t(μ) = [K(K + μI)⁻¹]_tt` of Definition 2.1.
///
/// # Panics
/// If `K + μI` is exactly singular.
pub fn leverage_scores(gram: &DMatrix<f64>, mu: f64) -> Vec<f64> {
    let n = gram.nrows();
    (0..n)
        .map(|t| {
            let mut unit = DVector::zeros(n);
            unit[t] = 1.0;
            gram.row(t).dot(&solve(&(gram + DMatrix::identity(n, n) * mu), &unit).transpose())
        })
        .collect()
}

/// The effective dimension `d_eff(μ) = tr K(K + μI)⁻¹`, by an explicit inverse.
///
/// # Panics
/// If `K + μI` is exactly singular.
pub fn effective_dimension(gram: &DMatrix<f64>, mu: f64) -> f64 {
    let n = gram.nrows();
    let inverse = (gram + DMatrix::identity(n, n) * mu).try_inverse().expect("K + μI is positive definite");
    (gram * inverse).trace()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;
    use crate::streams;

    /// K = [1 κ; κ 1], λ = 1, y = (1, 0): (K + I)⁻¹ = [2 −κ; −κ 2]/(4 − κ²), c = (2, −κ)/(4 − κ²),
    /// and the minimum is λ yᵀc = 2/(4 − κ²). Leverage with μ = 1: 1 − [(K + I)⁻¹]_tt = 1 − 2/(4 −
    /// κ²), twice.
    #[test]
    fn two_points_by_hand() {
        let kappa = (-0.5_f64).exp();
        let d = 4.0 - kappa * kappa;
        let stream = [(vec![0.0], 1.0), (vec![1.0], 0.0)];
        let fit = batch_krr(&stream, &gaussian(1.0), 1.0);
        assert!((fit.coefficients[0] - 2.0 / d).abs() < 1e-15);
        assert!((fit.coefficients[1] + kappa / d).abs() < 1e-15);
        assert!((fit.predictions[0] - (2.0 - kappa * kappa) / d).abs() < 1e-15);
        assert!((fit.objective - 2.0 / d).abs() < 1e-15);
        let k = gram(&[vec![0.0], vec![1.0]], &gaussian(1.0));
        for score in leverage_scores(&k, 1.0) {
            assert!((score - (1.0 - 2.0 / d)).abs() < 1e-15);
        }
        assert!((effective_dimension(&k, 1.0) - (2.0 - 4.0 / d)).abs() < 1e-15);
    }

    /// The minimum equals `λ yᵀ(K + λI)⁻¹y`, and moving any coefficient makes the objective worse.
    #[test]
    fn the_minimum_is_a_minimum() {
        let kernel = gaussian(0.5);
        let stream = streams::smooth_noisy(8, 30, 2, 0.2);
        let lambda = 0.4;
        let fit = batch_krr(&stream, &kernel, lambda);
        let closed: f64 = stream.iter().zip(&fit.coefficients).map(|((_, y), c)| lambda * y * c).sum();
        assert!((fit.objective - closed).abs() < 1e-12);
        let points: Vec<Vec<f64>> = stream.iter().map(|(x, _)| x.clone()).collect();
        let k = gram(&points, &kernel);
        let y = DVector::from_iterator(30, stream.iter().map(|(_, y)| *y));
        for i in 0..30 {
            for shift in [-1e-3, 1e-3] {
                let mut c = DVector::from_column_slice(&fit.coefficients);
                c[i] += shift;
                let objective = (&k * &c - &y).norm_squared() + lambda * c.dot(&(&k * &c));
                assert!(objective > fit.objective);
            }
        }
    }

    /// The trace is the sum of the scores, and of λ_i/(λ_i + μ) over the eigenvalues.
    #[test]
    fn effective_dimension_three_ways() {
        let points: Vec<Vec<f64>> = streams::smooth_noisy(9, 25, 3, 0.0).into_iter().map(|(x, _)| x).collect();
        let k = gram(&points, &gaussian(0.6));
        let by_eigenvalues: f64 = k.clone().symmetric_eigenvalues().iter().map(|l| l / (l + 0.2)).sum();
        let by_scores: f64 = leverage_scores(&k, 0.2).iter().sum();
        let by_trace = effective_dimension(&k, 0.2);
        assert!((by_trace - by_scores).abs() < 1e-12 && (by_trace - by_eigenvalues).abs() < 1e-12);
    }
}
