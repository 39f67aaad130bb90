//! The error of OPF taken apart, as the paper's analysis takes it apart.
//!
//! With targets y replaced by the bias `b_t = C(A − LC)^p x̂_{t−p}`, the innovation `e_t` or the
//! window's part `G_p Z_t`, the same regression predicts the three errors of (21):
//!
//! ```text
//! ỹ_{k+1} − ŷ_{k+1} = (predicted b − b_{k+1})      bias error
//!                   +  predicted e                 regression error
//!                   + (predicted GZ − G Z_{k+1})   regularisation error
//! ```
//!
//! and the factors of (22) are norms in it: with `RᵀR = Ṽ` and `U = R⁻ᵀ Σ Z̃ₜ targetₜᵀ`,
//! `‖E Z̄ᵀ V̄^{−1/2}‖₂ = ‖U_e‖₂` and the like, since `V̄ = D⁻¹ṼD⁻¹` has the square root `R D⁻¹` up
//! to a rotation. An epoch begins anew with its own p, as Algorithm 1 does, and rows of the current
//! p reach back to t = p.

use mercer_forecast::EpochSchedule;
use mercer_linalg_incremental::{AlignedVec, SquareRootRls, SquareRootScratch, SymmetricEigen};

use super::trial::{PredictionTrial, SystemModel};
use crate::prelude::*;

/// Terms of one epoch. Factors are taken after its last row, k = 2T_l − 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct EpochTerms {
    /// 2T_l − 2, or N if that comes first.
    pub(super) end: usize,
    /// p.
    pub(super) lags: usize,
    /// `Σ ‖V̄_k^{−1/2} Z_{k+1}‖²` over the epoch's predictions.
    pub(super) accumulation: f64,
    /// `‖λ G D⁻² V̄^{−1/2}‖₂²`.
    pub(super) regularisation: f64,
    /// `‖E Z̄ᵀ V̄^{−1/2}‖₂²`.
    pub(super) regression: f64,
    /// `tr(Z̄ᵀ V̄⁻¹ Z̄) = mp − λ tr Ṽ⁻¹`.
    pub(super) trace: f64,
    /// `ln(det V̄ / det λD⁻²) = ln det Ṽ − mp ln λ`.
    pub(super) log_determinant: f64,
    /// Means over the epoch of the squared norms of the bias, of the bias error (what cancellation
    /// leaves of it), of the regression error and of the regularisation error.
    pub(super) bias: f64,
    pub(super) bias_error: f64,
    pub(super) regression_error: f64,
    pub(super) regularisation_error: f64,
    /// `Σ ‖ỹ − ŷ‖²` over the epoch: the accumulation of (19), without its martingale term.
    pub(super) gap: f64,
}

/// The epochs of OPF with the factor γ on a run, the last `epochs` of them.
pub(super) fn decompose(
    model: &SystemModel,
    trial: &PredictionTrial,
    schedule: &EpochSchedule,
    gamma: f64,
    lambda: f64,
    epochs: usize,
) -> Result<Vec<EpochTerms>> {
    let mut starts = vec![schedule.first_start()];
    while let Some(&start) = starts.last().filter(|&&start| EpochSchedule::next_start(start) <= trial.last()) {
        starts.push(EpochSchedule::next_start(start));
    }
    let first = starts.len().saturating_sub(epochs);
    starts[first..].iter().map(|&start| epoch(model, trial, schedule, start, gamma, lambda)).collect()
}

fn epoch(
    model: &SystemModel,
    trial: &PredictionTrial,
    schedule: &EpochSchedule,
    start: usize,
    gamma: f64,
    lambda: f64,
) -> Result<EpochTerms> {
    let (m, lags) = (trial.dimension(), schedule.epoch(start).lags);
    let n = m * lags;
    let (blocks, faded) = (model.markov(lags), model.faded(lags));
    let mut factor = SquareRootRls::new(&vec![lambda; n], 3 * m);
    let mut scratch = SquareRootScratch::default();
    let (mut row, mut targets, mut predicted) = (AlignedVec::zeros(n), vec![0.0; 3 * m], vec![0.0; 3 * m]);
    let end = (EpochSchedule::next_start(start) - 1).min(trial.last());
    let (mut accumulation, mut gap) = (0.0, 0.0);
    let mut squares = [0.0; 4];
    for t in lags..=end {
        let mut scale = 1.0;
        for lag in 1..=lags {
            for (entry, y) in row[(lag - 1) * m..lag * m].iter_mut().zip(trial.output(t - lag)) {
                *entry = scale * y;
            }
            scale *= gamma;
        }
        let (bias, rest) = targets.split_at_mut(m);
        let (innovation, window) = rest.split_at_mut(m);
        multiply(&faded, trial.state(t - lags), bias);
        trial.innovation(t, innovation);
        window.fill(0.0);
        for (lag, block) in blocks.iter().enumerate() {
            add_product(block, trial.output(t - lag - 1), window);
        }
        if t < start {
            factor.update(&row, &targets, &mut scratch)?;
            continue;
        }
        let tau = factor.predict_then_update(&row, &targets, n, &mut predicted, &mut scratch)?;
        accumulation += tau - 1.0;
        for i in 0..m {
            let errors = [predicted[i] - targets[i], predicted[m + i], predicted[2 * m + i] - targets[2 * m + i]];
            squares[0] += targets[i] * targets[i];
            for (sum, error) in squares[1..].iter_mut().zip(errors) {
                *sum += error * error;
            }
            gap += errors.iter().sum::<f64>().powi(2);
        }
    }
    // Its entries are read one by one.
    factor.settle();
    let count = (end + 1 - start) as f64;
    let scaled = |i: usize, j: usize| blocks[j / m][i * m + j % m] * gamma.powi(-((j / m) as i32));
    let solved: Vec<Vec<f64>> = (0..m).map(|i| forward(&factor, |j| scaled(i, j))).collect();
    let inverse: f64 = (0..n)
        .map(|column| forward(&factor, |j| f64::from(u8::from(j == column))).iter().map(|x| x * x).sum::<f64>())
        .sum();
    Ok(EpochTerms {
        end,
        lags,
        accumulation,
        regularisation: lambda * lambda * largest(m, |i, j| dot(&solved[i], &solved[j]))?,
        regression: largest(m, |i, j| {
            (0..n).map(|k| factor.output_entry(k, m + i) * factor.output_entry(k, m + j)).sum()
        })?,
        trace: n as f64 - lambda * inverse,
        log_determinant: factor.log_determinant(n) - n as f64 * lambda.ln(),
        bias: squares[0] / count,
        bias_error: squares[1] / count,
        regression_error: squares[2] / count,
        regularisation_error: squares[3] / count,
        gap,
    })
}

/// `R⁻ᵀ x`.
fn forward(factor: &SquareRootRls, x: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut solved: Vec<f64> = Vec::with_capacity(factor.dimension());
    for i in 0..factor.dimension() {
        let known: f64 = solved.iter().enumerate().map(|(j, w)| factor.entry(j, i) * w).sum();
        solved.push((x(i) - known) / factor.entry(i, i));
    }
    solved
}

/// The largest eigenvalue of a small symmetric matrix.
pub(super) fn largest(m: usize, entry: impl Fn(usize, usize) -> f64) -> Result<f64> {
    Ok(SymmetricEigen::new(m, entry)?.values[0])
}

fn multiply(matrix: &[f64], x: &[f64], result: &mut [f64]) {
    result.fill(0.0);
    add_product(matrix, x, result);
}

fn add_product(matrix: &[f64], x: &[f64], result: &mut [f64]) {
    for (row, value) in matrix.chunks_exact(x.len()).zip(result) {
        *value += dot(row, x);
    }
}

#[cfg(test)]
mod tests {
    use mercer_forecast::{Forgetting, Opf, OpfParams};
    use mercer_streams::LinearSystem;

    use super::*;
    use crate::prediction::{SECTION_5, horizon};

    /// The parts add up to what OPF's own predictions are away from the Kalman predictor's.
    #[test]
    fn the_parts_make_the_whole() {
        let model = SystemModel::new(LinearSystem::tracking()).unwrap();
        let trial = PredictionTrial::run(&model, horizon(&SECTION_5, 3), 5, 0).unwrap();
        let (gamma, m) = (0.6, 3);
        let params = OpfParams::default().schedule(SECTION_5).lambda(1.0).forgetting(Forgetting::Scalar(gamma));
        let mut opf = Opf::new(m, &params).unwrap();
        let mut gap = 0.0;
        let mut innovation = vec![0.0; m];
        trial
            .regret_watched(&mut opf, 61, &[], |k, prediction| {
                trial.innovation(k, &mut innovation);
                if k >= 61 {
                    let kalman = trial.output(k).iter().zip(&innovation).map(|(y, e)| y - e);
                    gap += kalman.zip(prediction).map(|(ours, theirs)| (ours - theirs).powi(2)).sum::<f64>();
                }
            })
            .unwrap();
        let epochs = decompose(&model, &trial, &SECTION_5, gamma, 1.0, usize::MAX).unwrap();
        // 61 … 120, 121 … 240, 241 … 480.
        assert_eq!(epochs.iter().map(|epoch| epoch.end).collect::<Vec<_>>(), [120, 240, 480]);
        let total: f64 = epochs.iter().map(|epoch| epoch.gap).sum();
        assert!((total - gap).abs() < 1e-6 * gap, "{total} {gap}");
        for epoch in &epochs {
            assert!(epoch.trace > 0.0 && epoch.trace < (m * epoch.lags) as f64);
            assert!(epoch.bias_error < epoch.bias && epoch.log_determinant > 0.0);
        }
    }
}
