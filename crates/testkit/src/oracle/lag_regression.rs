//! Regression of an output upon past outputs by batch QR: OPF, sample discounting and SLIP as
//! least-squares problems.
//!
//! At time `k` past the warm-up the prediction is `G f(Z_k)` with
//!
//! ```text
//! G = argmin Σ_{t=p}^{k−1} α^{k−1−t} ‖y_t − G f(Z_t)‖² + λ‖G‖²,   Z_t = the last p outputs (and inputs) before t, newest first
//! ```
//!
//! and the epochs of Qian & Zheng, Algorithm 1: `p = ⌈β ln T_l⌉` for `T_l ≤ k ≤ 2T_l − 2`,
//! `T_l = 2^{l−1} T_init + 1`. What makes the methods differ is `f`: a scaling by powers of `γ` or
//! `Γ` ([`forgetting`]; the regulariser of (18) with `λ` outside the norm), or spectral filters
//! ([`slip_filters`], Rashidinejad et al. 2020). The rows `√α^{k−1−t} f(Z_t)` and `√λ I` are put
//! under each other and the whole problem is solved by Householder's QR in every step, which
//! squares no condition number. With feed-through `u_t` itself stands in front of `f(Z_t)`.
//!
//! A missing output (NaN) makes no row, and where later windows need it the prediction stands in
//! for it.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Features of a window of `[y_{t−a}, u_{t−a}]`, `a = 1, 2, …`.
pub type Features<'a> = &'a dyn Fn(&[Vec<f64>]) -> Vec<f64>;

/// Parameters of [`lag_regression`].
#[derive(Clone, Copy)]
pub struct LagRegressionParams<'a> {
    /// `β` of growing windows; without it the window is the whole past, behind which there are
    /// zeros, and every row counts.
    pub beta: Option<f64>,
    /// Until `y_{T_init}` the last output is predicted.
    pub t_init: usize,
    /// `λ`
    pub lambda: f64,
    /// `α`
    pub alpha: f64,
    /// True if λ is discounted too, and is `λα^k` at time `k`.
    pub discount_lambda: bool,
    /// `f`
    pub features: Features<'a>,
}

/// All predictions of one pass. `inputs` is empty for a system without.
///
/// # Panics
/// If a least-squares problem has no solution.
pub fn lag_regression(
    outputs: &[Vec<f64>],
    inputs: &[Vec<f64>],
    feed_through: bool,
    params: LagRegressionParams,
) -> Vec<Vec<f64>> {
    let m = outputs[0].len();
    // y and u side by side, with predictions for what is missing.
    let mut past: Vec<Vec<f64>> = Vec::new();
    let mut predictions: Vec<Vec<f64>> = Vec::new();
    let (mut lags, mut rows): (usize, Vec<Vec<f64>>) = (usize::MAX, Vec::new());
    let row_of = |past: &[Vec<f64>], t: usize, p: usize| -> Vec<f64> {
        let zeros = vec![0.0; m + inputs.first().map_or(0, Vec::len)];
        let window: Vec<Vec<f64>> = (1..=p).map(|a| if a <= t { past[t - a].clone() } else { zeros.clone() }).collect();
        let now = if feed_through { inputs[t].clone() } else { Vec::new() };
        now.into_iter().chain((params.features)(&window)).collect()
    };
    for (k, y) in outputs.iter().enumerate() {
        let p = match params.beta {
            Some(beta) => {
                let start = epoch_start(k.max(params.t_init + 1), params.t_init);
                ((beta * (start as f64).ln()).ceil() as usize).max(1)
            }
            None => outputs.len(),
        };
        let first = if params.beta.is_some() { p } else { 0 };
        if p != lags {
            (lags, rows) = (p, (0..k).map(|t| if t < first { Vec::new() } else { row_of(&past, t, p) }).collect());
        }
        let prediction = if k <= params.t_init {
            past.last().map_or(vec![0.0; m], |last| last[..m].to_vec())
        } else {
            let now = DVector::from_vec(row_of(&past, k, p));
            let used: Vec<usize> = (first..k).filter(|t| outputs[*t].iter().all(|y| !y.is_nan())).collect();
            let weight = |t: usize| params.alpha.powi((k - 1 - t) as i32).sqrt();
            let shrunk = if params.discount_lambda { params.alpha.powi(k as i32) } else { 1.0 };
            let n = now.len();
            let matrix = DMatrix::from_fn(used.len() + n, n, |i, j| match used.get(i) {
                Some(&t) => weight(t) * rows[t][j],
                None if i - used.len() == j => (params.lambda * shrunk).sqrt(),
                None => 0.0,
            });
            let targets =
                DMatrix::from_fn(used.len() + n, m, |i, j| used.get(i).map_or(0.0, |&t| weight(t) * outputs[t][j]));
            let qr = matrix.qr();
            let solution =
                qr.r().solve_upper_triangular(&qr.q().tr_mul(&targets)).expect("λ makes the columns independent");
            solution.tr_mul(&now).iter().copied().collect()
        };
        rows.push(if k < first { Vec::new() } else { row_of(&past, k, p) });
        let kept = y.iter().zip(&prediction).map(|(y, own)| if y.is_nan() { *own } else { *y });
        past.push(kept.chain(inputs.get(k).cloned().unwrap_or_default()).collect());
        predictions.push(prediction);
    }
    predictions
}

/// The largest `T_l = 2^{l−1} T_init + 1` up to `k`.
fn epoch_start(k: usize, t_init: usize) -> usize {
    let mut width = t_init;
    while 2 * width < k {
        width *= 2;
    }
    width + 1
}

/// Lag `a` times `Γ^{a−1}`: matrices row by row, `outputs` for the `m` outputs and `inputs` for the
/// rest.
pub fn forgetting(outputs: &[f64], inputs: &[f64]) -> impl Fn(&[Vec<f64>]) -> Vec<f64> + use<> {
    let square = |matrix: &[f64]| {
        let size = (matrix.len() as f64).sqrt() as usize;
        DMatrix::from_row_slice(size, size, matrix)
    };
    let (outputs, inputs) = (square(outputs), square(inputs));
    move |window| {
        let mut features = Vec::new();
        for (a, lag) in window.iter().enumerate() {
            let (y, u) = lag.split_at(outputs.nrows());
            for (gamma, values) in [(&outputs, y), (&inputs, u)] {
                let mut scaled = DVector::from_column_slice(values);
                for _ in 0..a {
                    scaled = gamma * scaled;
                }
                features.extend(scaled.iter());
            }
        }
        features
    }
}

/// `σ_j^{1/4} φ_jᵀ (z_{t−1}, z_{t−2}, …)` of every channel `z`, with the `rank` leading eigenpairs
/// of `H_ij = (1 + (−1)^{i+j})/(2(i + j − 1))`, `i, j ≥ 1`, as large as the window.
pub fn slip_filters(rank: usize) -> impl Fn(&[Vec<f64>]) -> Vec<f64> {
    filters(rank, |i, j| if (i + j) % 2 == 0 { 1.0 / (i + j - 1) as f64 } else { 0.0 })
}

/// The same with `Z_ij = 2/((i + j)³ − (i + j))` (Hazan, Singh and Zhang 2017), behind the newest
/// row of the window itself.
pub fn spectral_filters(rank: usize) -> impl Fn(&[Vec<f64>]) -> Vec<f64> {
    let filtered = filters(rank, |i, j| 2.0 / ((i + j).pow(3) - (i + j)) as f64);
    move |window| window[0].iter().copied().chain(filtered(window)).collect()
}

/// Filters of a Hankel matrix whose entries are numbered from 1.
fn filters(rank: usize, entry: fn(usize, usize) -> f64) -> impl Fn(&[Vec<f64>]) -> Vec<f64> {
    move |window| {
        let n = window.len();
        let eigen = SymmetricEigen::new(DMatrix::from_fn(n, n, |i, j| entry(i + 1, j + 1)));
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let mut features = Vec::new();
        for channel in 0..window[0].len() {
            for &j in order.iter().take(rank) {
                let sum: f64 =
                    window.iter().zip(eigen.eigenvectors.column(j).iter()).map(|(z, v)| z[channel] * v).sum();
                features.push(eigen.eigenvalues[j].max(0.0).powf(0.25) * sum);
            }
        }
        features
    }
}

/// Hazan, Singh and Zhang 2017 by projected gradients: `ŷ_t = M X_t` past the warm-up, the last
/// output until then, and for each output `M ← Π(M − (η/√t) 2(M X_t − y_t) X_tᵀ)`, `t` from 1, `Π`
/// the scaling into the ball of Frobenius norm `radius`. Without inputs.
pub fn spectral_gradient(
    outputs: &[Vec<f64>],
    t_init: usize,
    features: Features,
    rate: f64,
    radius: f64,
) -> Vec<Vec<f64>> {
    let m = outputs[0].len();
    let row = |k: usize| -> DVector<f64> {
        let window: Vec<Vec<f64>> =
            (1..=outputs.len()).map(|a| if a <= k { outputs[k - a].clone() } else { vec![0.0; m] }).collect();
        DVector::from_vec(features(&window))
    };
    let mut matrix = DMatrix::zeros(m, row(0).len());
    let mut predictions = Vec::new();
    for (k, y) in outputs.iter().enumerate() {
        let x = row(k);
        let own = &matrix * &x;
        let last = || outputs[..k].last().cloned().unwrap_or(vec![0.0; m]);
        predictions.push(if k <= t_init { last() } else { own.iter().copied().collect() });
        let gradient = (own - DVector::from_column_slice(y)) * x.transpose() * 2.0;
        matrix -= gradient * (rate / ((k + 1) as f64).sqrt());
        if matrix.norm() > radius {
            matrix *= radius / matrix.norm();
        }
    }
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_double() {
        let starts: Vec<usize> = [4, 5, 6, 7, 12, 13, 24, 25].into_iter().map(|k| epoch_start(k, 3)).collect();
        assert_eq!(starts, [4, 4, 4, 7, 7, 13, 13, 25]);
    }

    /// One lag, two rows: `g = (y₀y₁ + y₁y₂)/(λ + y₀² + y₁²)`, and with a discount the older row
    /// counts α.
    #[test]
    fn one_lag_by_hand() {
        let outputs: Vec<Vec<f64>> = [1.0, 2.0, -1.0, 0.5].iter().map(|y| vec![*y]).collect();
        for alpha in [1.0, 0.5] {
            let features = forgetting(&[0.3], &[]);
            let params = LagRegressionParams {
                beta: Some(0.1),
                t_init: 2,
                lambda: 0.25,
                alpha,
                discount_lambda: false,
                features: &features,
            };
            let predictions = lag_regression(&outputs, &[], false, params);
            assert_eq!(predictions[..3], [[0.0], [1.0], [2.0]]);
            let g = (alpha * 2.0 - 2.0) / (0.25 + alpha + 4.0);
            assert!((predictions[3][0] + g).abs() < 1e-15);
        }
    }
}
