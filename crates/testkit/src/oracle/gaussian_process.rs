//! The Gaussian process behind ridge regression, in closed form (Rasmussen and Williams 2006, eqs.
//! 2.25, 2.26 and 2.30).
//!
//! `f ~ GP(0, (σ²/λ) k)`, `y_s = f(x_s) + ε_s`, `ε_s ~ N(0, σ²/ω_s)`, all rows at once. Given the
//! rows, a target of weight 1 at `x` has the mean `k_xᵀ(K + λΩ⁻¹)⁻¹y` and the variance
//! `σ²(1 + (k(x,x) − k_xᵀ(K + λΩ⁻¹)⁻¹k_x)/λ)`. The marginal likelihood of the rows is that of
//! `N(0, (σ²/λ)(K + λΩ⁻¹))`: in `σ²` it is largest at `λ yᵀ(K + λΩ⁻¹)⁻¹y` over the number of rows,
//! here `Σ ω` because a weight counts rows.

use nalgebra::DVector;

use super::dense::{gram, kernel_vector};
use super::{KernelFn, WeightedExample};

/// Belief about a target at one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// The mean for each output.
    pub means: Vec<f64>,
    /// The variance of a target for each output.
    pub variances: Vec<f64>,
}

/// The belief at `x` after `examples`, with the noise that maximises their marginal likelihood.
/// `O(t³)`.
///
/// # Panics
/// If `lambda` is not positive, or all weights are 0.
pub fn gaussian_process(examples: &[WeightedExample], kernel: KernelFn, lambda: f64, x: &[f64]) -> Belief {
    let learnt: Vec<&WeightedExample> = examples.iter().filter(|example| example.weight > 0.0).collect();
    let points: Vec<Vec<f64>> = learnt.iter().map(|example| example.x.clone()).collect();
    let mut covariance = gram(&points, kernel);
    for (s, example) in learnt.iter().enumerate() {
        covariance[(s, s)] += lambda / example.weight;
    }
    let factor = covariance.cholesky().expect("a positive definite matrix");
    let row = kernel_vector(&points, x, kernel);
    let known = row.dot(&factor.solve(&row));
    let total: f64 = learnt.iter().map(|example| example.weight).sum();
    let (mut means, mut variances) = (Vec::new(), Vec::new());
    for output in 0..learnt[0].y.len() {
        let y = DVector::from_iterator(learnt.len(), learnt.iter().map(|example| example.y[output]));
        let alpha = factor.solve(&y);
        let noise = lambda * y.dot(&alpha) / total;
        means.push(row.dot(&alpha));
        variances.push(noise * (1.0 + (kernel(x, x) - known) / lambda));
    }
    Belief { means, variances }
}
