//! KORS, literally: a dictionary by estimated ridge leverage scores (Calandriello et al. 2017a).
//!
//! The new point is put into the weighted dictionary for a trial, with weight 1, and its leverage
//! score is read off: with `S̄ = diag(w_1, …, w_J, 1)` and `K̄`, `k̄` over the dictionary and the
//! point itself,
//!
//! `τ = (1 + ε)/γ · (k(x,x) − k̄ᵀS̄ (S̄K̄S̄ + γI)⁻¹ S̄k̄)`, `p = min(βτ, 1)`, accepted if `u < p`.
//!
//! This is the form of the listing in Jézéquel et al. (2019, appendix H). Blockwise inversion turns
//! it into `τ = (1 + ε) e/(e + γ)` with `e` the same expression over the old dictionary alone. An
//! accepted point has the weight `1/√p` (the listing's `1/p` underestimates the scores that
//! follow).

use nalgebra::{DMatrix, DVector};

use super::dense::{gram, kernel_vector, solve};
use super::{Example, KernelFn};

/// Parameters of [`kors`].
#[derive(Clone, Copy, Debug)]
pub struct KorsParams {
    /// Regulariser γ > 0 of the leverage scores.
    pub gamma: f64,
    /// Accuracy ε ≥ 0.
    pub epsilon: f64,
    /// Oversampling β > 0.
    pub beta: f64,
}

impl Default for KorsParams {
    fn default() -> Self {
        Self { gamma: 1.0, epsilon: 0.5, beta: 1.0 }
    }
}

/// Decisions of [`kors`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KorsTrace {
    /// Flags: each point was accepted.
    pub accepted: Vec<bool>,
    /// The probability `p` of each decision.
    pub probabilities: Vec<f64>,
    /// The scores τ before β and the cut at 1.
    pub scores: Vec<f64>,
    /// Positions of the accepted points.
    pub dictionary: Vec<usize>,
    /// The weights `1/√p` of the accepted points.
    pub weights: Vec<f64>,
}

/// Runs KORS over the inputs of a stream; decision t (from 0) uses `uniforms[t]`, the first point's
/// included.
///
/// # Panics
/// If there are fewer uniforms than points.
pub fn kors(stream: &[Example], kernel: KernelFn, params: KorsParams, uniforms: &[f64]) -> KorsTrace {
    let mut trace = KorsTrace::default();
    let mut sampler = Sampler { kernel, params, points: Vec::new(), weights: Vec::new() };
    for (t, (x, _)) in stream.iter().enumerate() {
        let score = sampler.score(x);
        let probability = sampler.probability(score);
        let accepted = uniforms[t] < probability;
        if accepted {
            sampler.keep(x, probability);
            trace.dictionary.push(t);
        }
        trace.scores.push(score);
        trace.probabilities.push(probability);
        trace.accepted.push(accepted);
    }
    trace.weights = sampler.weights;
    trace
}

/// The weighted dictionary.
pub(super) struct Sampler<'a> {
    pub(super) kernel: KernelFn<'a>,
    pub(super) params: KorsParams,
    pub(super) points: Vec<Vec<f64>>,
    pub(super) weights: Vec<f64>,
}

impl Sampler<'_> {
    pub(super) fn score(&self, x: &[f64]) -> f64 {
        let KorsParams { gamma, epsilon, .. } = self.params;
        let mut trial = self.points.clone();
        trial.push(x.to_vec());
        let n = trial.len();
        let s = DMatrix::from_diagonal(&DVector::from_fn(n, |i, _| self.weights.get(i).copied().unwrap_or(1.0)));
        let system = &s * gram(&trial, self.kernel) * &s + DMatrix::identity(n, n) * gamma;
        let k = &s * kernel_vector(&trial, x, self.kernel);
        let unexplained = (self.kernel)(x, x) - k.dot(&solve(&system, &k));
        ((1.0 + epsilon) / gamma * unexplained).max(0.0)
    }

    pub(super) fn probability(&self, score: f64) -> f64 {
        (self.params.beta * score).min(1.0)
    }

    pub(super) fn keep(&mut self, x: &[f64], probability: f64) {
        self.points.push(x.to_vec());
        self.weights.push(1.0 / probability.sqrt());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;
    use crate::streams;

    /// γ = 1, ε = ½, β = 1, two points with κ = exp(−½).
    ///
    /// First: e = 1, τ = 1.5 · 1/2 = 3/4, so p = 3/4 and the weight is 2/√3, w² = 4/3.
    /// Second: e = 1 − w²κ²/(w² + 1) = 1 − (4/7)κ², τ = 1.5 e/(e + 1).
    #[test]
    fn two_points_by_hand() {
        let kappa = (-0.5_f64).exp();
        let stream = [(vec![0.0], 0.0), (vec![1.0], 0.0)];
        let trace = kors(&stream, &gaussian(1.0), KorsParams::default(), &[0.7, 0.99]);
        let e = 1.0 - 4.0 / 7.0 * kappa * kappa;
        assert!((trace.scores[0] - 0.75).abs() < 1e-15);
        assert!((trace.scores[1] - 1.5 * e / (e + 1.0)).abs() < 1e-15);
        assert!((trace.weights[0] - 2.0 / 3.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(trace.accepted, [true, false]);
    }

    #[test]
    fn the_trial_form_equals_the_form_over_the_old_dictionary() {
        let kernel = gaussian(0.5);
        let params = KorsParams { gamma: 0.3, epsilon: 0.5, beta: 0.8 };
        let stream = streams::smooth_noisy(5, 60, 2, 0.1);
        let trace = kors(&stream, &kernel, params, &streams::uniforms(6, 60));
        assert!(trace.dictionary.len() > 5 && trace.dictionary.len() < 55, "{}", trace.dictionary.len());
        for (t, (x, _)) in stream.iter().enumerate() {
            let old: Vec<usize> = trace.dictionary.iter().copied().filter(|s| *s < t).collect();
            let n = old.len();
            let mut e = kernel(x, x);
            if n > 0 {
                let weighted = DMatrix::from_fn(n, n, |i, j| {
                    trace.weights[i] * kernel(&stream[old[i]].0, &stream[old[j]].0) * trace.weights[j]
                });
                let k = DVector::from_fn(n, |i, _| trace.weights[i] * kernel(&stream[old[i]].0, x));
                e -= k.dot(&solve(&(weighted + DMatrix::identity(n, n) * params.gamma), &k));
            }
            let expected = 1.5 * e / (e + params.gamma);
            assert!((trace.scores[t] - expected).abs() < 1e-13, "round {t}: {} against {expected}", trace.scores[t]);
        }
    }
}
