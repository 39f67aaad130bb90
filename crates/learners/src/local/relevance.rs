//! The relevance of features, from the marginal likelihood of a Gaussian process on a few rows.
//!
//! The process has the Matérn 3/2 kernel `k(r) = (1 + √3 r) exp(−√3 r)` of `r² = Σ_j w_j (x_j − z_j)²`, variance `s²` and noise `s²ν`. With
//! `A = K + νI`, `α = A⁻¹y` and `s² = yᵀα/n`, the gradient of the log likelihood is `½ tr((ααᵀ/s² − A⁻¹) ∂A/∂θ)` (Rasmussen and Williams
//! 2006, section 5.4.1); outputs are processes of their own with the same kernel, so their likelihoods add up. The logarithms of `w_j` and `ν` climb it by resilient steps, which look at its sign only (Riedmiller and Braun 1993).
//! Few rows say little of many features: `log w_j` has a normal prior of variance 4 around its mean over the features, and `log ν` one of
//! variance 10 around `log 0.1`.
//!
//! `½n³ + (d + m)n²` multiply-adds a step for `m` outputs, at most [`STEPS`] of them.

use mercer_kernels::{AlignedVec, Points};
use mercer_linalg_incremental::Matrix;
use mercer_simd::{Lane, Op, Simd, dispatch, exp_lane};

use super::systems::FAR;

/// Steps of an ascent.
const STEPS: usize = 32;
/// Size of the first step in a logarithm, and of the largest.
const FIRST_STEP: f64 = 0.2;
const LARGEST_STEP: f64 = 0.7;
/// Inverse variances of the priors.
const TIES: [f64; 2] = [0.25, 0.1];
/// Noise at the start, as a share of the variance.
pub(crate) const NOISE: f64 = 0.1;
/// Bounds of the logarithms.
const RANGE: std::ops::RangeInclusive<f64> = -14.0..=6.0;

/// `w_j` for each feature, and `ν`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relevance {
    pub(crate) weights: Vec<f64>,
    pub(crate) noise: f64,
}

impl Relevance {
    /// The same length for all of `dimension` features.
    pub(crate) fn uniform(dimension: usize, length: f64) -> Self {
        Self { weights: vec![length.powi(-2); dimension], noise: NOISE }
    }

    /// What these rows with their targets, `outputs` numbers each, say, climbing from here: the likelihood has several peaks. Where every matrix is
    /// singular to rounding, `self`.
    pub(crate) fn learn(&self, rows: &[f64], targets: &[f64], outputs: usize) -> Self {
        let (n, d) = (targets.len() / outputs, self.weights.len());
        let column = |output: usize| targets.iter().skip(output).step_by(outputs).copied();
        // An output that is constant says nothing.
        let varying = |output: &usize| column(*output).any(|y| y != targets[*output]);
        let varying: Vec<usize> = (0..outputs).filter(varying).collect();
        let means: Vec<f64> = varying.iter().map(|output| column(*output).sum::<f64>() / n as f64).collect();
        let y = Matrix::from_fn(n, varying.len(), |i, o| targets[i * outputs + varying[o]] - means[o]);
        if d == 0 || varying.is_empty() {
            return self.clone();
        }
        let logs = climb(self.weights.iter().chain([&self.noise]).map(|value| value.ln()).collect(), rows, &y);
        Self { weights: logs[..d].iter().map(|log| log.exp()).collect(), noise: logs[d].exp() }
    }
}

/// The highest point of an ascent by resilient steps.
fn climb(mut logs: Vec<f64>, rows: &[f64], y: &Matrix) -> Vec<f64> {
    let (mut steps, mut before) = (vec![FIRST_STEP; logs.len()], vec![0.0; logs.len()]);
    let mut best = (f64::NEG_INFINITY, logs.clone());
    for _ in 0..STEPS {
        let Some((value, gradient)) = gradient(&logs, rows, y) else { break };
        if value > best.0 {
            best = (value, logs.clone());
        }
        for (((log, step), gradient), before) in logs.iter_mut().zip(&mut steps).zip(&gradient).zip(&before) {
            let same = gradient * before;
            if same > 0.0 {
                *step = (1.3 * *step).min(LARGEST_STEP);
            } else if same < 0.0 {
                *step *= 0.5;
            }
            if *gradient != 0.0 {
                *log = (*log + step.copysign(*gradient)).clamp(*RANGE.start(), *RANGE.end());
            }
        }
        before = gradient;
    }
    best.1
}

/// Log likelihood and log prior, up to a constant, with their gradient in the logarithms of `w` and `ν`.
fn gradient(logs: &[f64], rows: &[f64], y: &Matrix) -> Option<(f64, Vec<f64>)> {
    let (n, d) = (y.rows(), logs.len() - 1);
    let weights: Vec<f64> = logs[..d].iter().map(|log| log.exp()).collect();
    let noise = logs[d].exp();
    let scaled = Matrix::from_fn(n, d, |i, f| rows[i * d + f] * weights[f].sqrt());
    let by_rows: Vec<f64> = rows.iter().enumerate().map(|(i, x)| x * weights[i % d].sqrt()).collect();
    let points = Points::from_rows(d, &by_rows);
    // The lower half suffices, and `slope` is −2 ∂k/∂r².
    let (mut a, mut slope) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    let (mut values, mut slopes) = (AlignedVec::default(), AlignedVec::default());
    for j in 0..n {
        points.squared_distances(&by_rows[j * d..(j + 1) * d], &mut values);
        slopes.resize(n);
        dispatch(Matern { values: values.lanes_mut(), slopes: slopes.lanes_mut() });
        a.column_mut(j)[j] = 1.0 + noise;
        a.column_mut(j)[j + 1..].copy_from_slice(&values[j + 1..]);
        slope.column_mut(j)[j + 1..].copy_from_slice(&slopes[j + 1..]);
    }
    let (inverse, log_determinant) = a.positive_definite_inverse().ok()?;
    let alpha = inverse.times(y);
    let outputs = y.columns();
    let variance =
        |o: usize| y.column(o).iter().zip(alpha.column(o)).map(|(y, alpha)| y * alpha).sum::<f64>() / n as f64;
    let variances: Vec<f64> = (0..outputs).map(variance).collect();
    if !variances.iter().all(|variance| *variance > 0.0 && variance.is_finite()) {
        return None;
    }
    let count = outputs as f64;
    let mut gradient = vec![0.0; d + 1];
    // `along ← −½ slope (Σ ααᵀ/s² − count · A⁻¹)` below the diagonal, where it is the derivative by each r².
    let (mut along, mut sums) = (slope, vec![0.0; n]);
    for j in 0..n {
        let (inverse, along) = (inverse.column(j), &mut along.column_mut(j)[j + 1..]);
        let mut fit = -count * inverse[j];
        let mut terms: Vec<f64> = inverse[j + 1..].iter().map(|entry| -count * entry).collect();
        for (o, variance) in variances.iter().enumerate() {
            let (alpha, share) = (alpha.column(o), alpha.column(o)[j] / variance);
            fit += share * alpha[j];
            terms.iter_mut().zip(&alpha[j + 1..]).for_each(|(term, alpha)| *term += share * alpha);
        }
        gradient[d] += 0.5 * noise * fit;
        along.iter_mut().zip(&terms).for_each(|(along, term)| *along *= -0.5 * term);
        sums[j] += along.iter().sum::<f64>();
        sums[j + 1..].iter_mut().zip(&*along).for_each(|(sum, along)| *sum += along);
    }
    // Σ_{i>j} along_ij (x_i − x_j)² for each feature.
    let products = along.times(&scaled);
    for (f, g) in gradient[..d].iter_mut().enumerate() {
        let entries = scaled.column(f).iter().zip(products.column(f)).zip(&sums);
        *g = entries.map(|((x, product), sum)| x * (sum * x - 2.0 * product)).sum();
    }
    let mean = logs[..d].iter().sum::<f64>() / d as f64;
    let logs_of_variances = variances.iter().map(|variance| variance.ln()).sum::<f64>();
    let mut value = -0.5 * (n as f64 * logs_of_variances + count * log_determinant);
    for (g, log) in gradient[..d].iter_mut().zip(logs) {
        *g -= TIES[0] * (log - mean);
        value -= 0.5 * TIES[0] * (log - mean).powi(2);
    }
    gradient[d] -= TIES[1] * (logs[d] - NOISE.ln());
    value -= 0.5 * TIES[1] * (logs[d] - NOISE.ln()).powi(2);
    Some((value, gradient))
}

/// `values ← (1 + r) exp(−r)` and `slopes ← 3 exp(−r)` of `r = √(3 values)`.
struct Matern<'a> {
    values: &'a mut [Lane],
    slopes: &'a mut [Lane],
}

impl Op for Matern<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (zero, three, far) = (simd.splat(0.0), simd.splat(3.0), simd.splat(FAR));
        for (value, slope) in self.values.iter_mut().zip(self.slopes) {
            let r = simd.sqrt(simd.mul(three, simd.load(value)));
            let r = simd.select_less(r, far, r, far);
            let e = exp_lane(simd, simd.sub(zero, r));
            simd.store(simd.mul_add(r, e, e), value);
            simd.store(simd.mul(three, e), slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    fn table(n: usize) -> (Vec<f64>, Vec<f64>) {
        let rows: Vec<f64> = (0..3 * n).map(|i| (i as f64 * 1.7 + (i * i % 97) as f64).sin()).collect();
        let targets = rows.chunks(3).map(|x| (3.0 * x[0]).sin() + 0.3 * x[1]).collect();
        (rows, targets)
    }

    /// `log p(y) + log p(θ)` up to a constant, by a dense factor.
    fn log_posterior(logs: &[f64], rows: &[f64], y: &Matrix) -> f64 {
        let (n, d) = (y.rows(), logs.len() - 1);
        let a = DMatrix::from_fn(n, n, |i, j| {
            let squared: f64 = (0..d).map(|f| logs[f].exp() * (rows[i * d + f] - rows[j * d + f]).powi(2)).sum();
            let r = (3.0 * squared).sqrt();
            (1.0 + r) * (-r).exp() + if i == j { logs[d].exp() } else { 0.0 }
        });
        let factor = a.cholesky().expect("positive definite");
        let determinant: f64 = factor.l().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let centre = logs[..d].iter().sum::<f64>() / d as f64;
        let prior: f64 = logs[..d].iter().map(|log| 0.5 * TIES[0] * (log - centre).powi(2)).sum();
        let fit = |output: usize| {
            let y = DVector::from_column_slice(y.column(output));
            let variance = y.dot(&factor.solve(&y)) / n as f64;
            -0.5 * n as f64 * variance.ln() - determinant
        };
        (0..y.columns()).map(fit).sum::<f64>() - prior - 0.5 * TIES[1] * (logs[d] - NOISE.ln()).powi(2)
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (rows, targets) = table(40);
        for outputs in [1, 2] {
            let y = Matrix::from_fn(40, outputs, |i, o| targets[(i + 7 * o) % 40] - 0.1 * o as f64);
            let logs = [0.3, -0.5, 0.1, -2.0];
            let (value, exact) = gradient(&logs, &rows, &y).expect("positive definite");
            assert!((value - log_posterior(&logs, &rows, &y)).abs() < 1e-9 * value.abs());
            for f in 0..4 {
                let at = |h: f64| {
                    let mut logs = logs;
                    logs[f] += h;
                    log_posterior(&logs, &rows, &y)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                let gap = (exact[f] - difference).abs();
                assert!(gap < 1e-5 * difference.abs().max(1.0), "{f}: {} {difference}", exact[f]);
            }
        }
    }

    #[test]
    fn the_feature_that_matters_gets_the_shortest_length() {
        let (rows, targets) = table(120);
        let found = Relevance::uniform(3, 1.5).learn(&rows, &targets, 1);
        assert!(found.weights[0] > 10.0 * found.weights[1] && found.weights[1] > 3.0 * found.weights[2], "{found:?}");
        assert!(found.noise < 0.02, "{found:?}");
        // A constant output beside it says nothing.
        let beside: Vec<f64> = targets.iter().flat_map(|y| [-1.0, *y]).collect();
        assert_eq!(Relevance::uniform(3, 1.5).learn(&rows, &beside, 2), found);
        // Nothing to learn from.
        let uniform = Relevance::uniform(3, 1.5);
        assert_eq!(uniform.learn(&rows, &[2.0; 120], 1), uniform);
    }
}
