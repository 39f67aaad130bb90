//! Least squares with weights that depend on the errors: kernel recursive maximum correntropy (Wu,
//! Shi, Zhang, Ma and Chen 2015), and others.
//!
//! The paper predicts `k_t(x_t)ᵀα` with `(K + λB⁻¹)α = y` over all rounds before. `B` is diagonal,
//! `b_s = ω_s exp(−e_s²/2s²)` with the error `e_s` of the prediction in round `s`. This is the
//! minimum of `Σ b_s (y_s − ⟨φ_s, f⟩)² + λ‖f‖²`, solved here anew each round, where `φ_s` is the
//! projection of round `s` on the ALD dictionary of that round, as in KRLS.

use super::weighted::{lower_factor, newton_coordinates_by};
use super::{Forgets, KernelFn, Trace, WeightedExample, WeightedLeastSquares};

/// KRMC with errors measured by `scale`, on an ALD dictionary of threshold `nu`.
///
/// # Panics
/// If the kept points are dependent.
pub fn krmc(stream: &[WeightedExample], kernel: KernelFn, scale: f64, lambda: f64, nu: f64) -> Trace {
    weighted_by_errors(stream, kernel, (lambda, nu), &mut |error| (-0.5 * (error / scale).powi(2)).exp())
}

/// Least squares on an ALD dictionary of threshold `nu`, in which the weight of a round is
/// multiplied by the factor of its error.
///
/// # Panics
/// If the kept points are dependent.
pub fn weighted_by_errors(
    stream: &[WeightedExample],
    kernel: KernelFn,
    (lambda, nu): (f64, f64),
    factor: &mut dyn FnMut(f64) -> f64,
) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut lower = lower_factor(&points, kernel);
    let mut fit = WeightedLeastSquares::new(1, lambda, false, Forgets::Exponential(1.0));
    for (t, WeightedExample { x, y, weight }) in stream.iter().enumerate() {
        let (mut phi, residual) = newton_coordinates_by(&lower, &points, x, kernel);
        let prediction = fit.predict(&phi)[0];
        trace.predictions.push(prediction);
        if *weight > 0.0 && residual > nu {
            phi.push(residual.sqrt());
            points.push(x.clone());
            lower = lower_factor(&points, kernel);
            trace.dictionary.push(t);
        }
        if *weight > 0.0 {
            fit.learn(&phi, y, weight * factor(y[0] - prediction));
        }
    }
    trace
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::oracle::dense::solve;

    /// All examples kept: the paper's system with the weights that its own predictions give.
    #[test]
    fn it_is_the_papers_system() {
        let laplace = |x: &[f64], z: &[f64]| (-(x[0] - z[0]).abs()).exp();
        let example =
            |t: u32| WeightedExample { x: vec![f64::from(t * 37 % 50)], y: vec![f64::from(t % 7) / 3.0], weight: 1.5 };
        let stream: Vec<_> = (0..50).map(example).collect();
        let trace = krmc(&stream, &laplace, 0.8, 0.2, 0.0);
        assert_eq!(trace.dictionary.len(), 50);
        let mut weights = Vec::new();
        for (t, (example, got)) in stream.iter().zip(&trace.predictions).enumerate() {
            let system = DMatrix::from_fn(t, t, |i, j| {
                laplace(&stream[i].x, &stream[j].x) + if i == j { 0.2 / weights[i] } else { 0.0 }
            });
            let alpha = solve(&system, &DVector::from_fn(t, |i, _| stream[i].y[0]));
            let want: f64 = (0..t).map(|i| alpha[i] * laplace(&stream[i].x, &example.x)).sum();
            assert!((got - want).abs() < 1e-12, "round {t}: {got} against {want}");
            weights.push(1.5 * (-0.5 * ((example.y[0] - want) / 0.8_f64).powi(2)).exp());
        }
    }
}
