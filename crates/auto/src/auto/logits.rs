//! A mixture of classifiers by their logits: `z = Σ_m a_m z_m`, one weight a member for all
//! classes.
//!
//! The weights minimise the logistic loss of every output by online Newton steps:
//! `A ← A + ω Σ_k p(1 − p) z zᵀ` and `a ← a + ω A⁻¹ Σ_k (y − p) z`, with the members' logits `z` of
//! output `k`, `p = σ(aᵀz)` and the class `y`, 0 or 1. They begin at `1/M` with `A = 20 I`. The sum
//! of the weights is free, so members that are too timid together are made surer.

use mercer_core::{Inconsistent, Validate};
use mercer_learners::Target;
use mercer_learners::loss::Logistic;
use mercer_linalg_incremental::Matrix;

/// The information on each weight at the start.
const INFORMATION: f64 = 20.0;
/// Logits of members are cut here.
const CUT: f64 = 8.0;
/// The least curvature of the loss.
const LEAST: f64 = 1e-4;
/// A share of a class is no nearer to 0 or 1.
const SUREST: f64 = 1e-3;

/// The weights of members, with the information on them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LogitMixture {
    weights: Vec<f64>,
    /// `A`, by columns.
    information: Vec<f64>,
}

/// The logit of a share of a class that is told as `2p − 1`.
pub(super) fn logit(score: f64) -> f64 {
    let p = (0.5 + 0.5 * score).clamp(SUREST, 1.0 - SUREST);
    (p / (1.0 - p)).ln()
}

/// A logit within what counts, 0 where there is none.
fn cut(logit: f64) -> f64 {
    if logit.is_nan() { 0.0 } else { logit.clamp(-CUT, CUT) }
}

impl LogitMixture {
    /// A mixture of so many members.
    pub(super) fn new(members: usize) -> Self {
        let diagonal = |place: usize| if place / members == place % members { INFORMATION } else { 0.0 };
        let information = (0..members * members).map(diagonal).collect();
        Self { weights: vec![1.0 / members as f64; members], information }
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `scores ←` the mixture of the members' logits, which stand member by member.
    pub(super) fn mix(&self, made: &[f64], scores: &mut [f64]) {
        let outputs = scores.len();
        scores.fill(0.0);
        for (weight, made) in self.weights.iter().zip(made.chunks_exact(outputs)) {
            scores.iter_mut().zip(made).for_each(|(score, z)| *score += weight * cut(*z));
        }
    }

    /// Learns a target of numbers ±1, which the members' logits and their mixture were made for.
    /// Where rounding has made `A` singular the weights stay.
    pub(super) fn learn(&mut self, made: &[f64], scores: &[f64], target: Target<'_>) {
        let (members, outputs) = (self.weights.len(), scores.len());
        let mut slope = vec![0.0; members];
        let mut information = self.information.clone();
        for (k, (score, y)) in scores.iter().zip(target.y).enumerate() {
            let p = Logistic::probability(*score);
            let (error, curvature) = (0.5 * (1.0 + y) - p, (p * (1.0 - p)).max(LEAST));
            let z = |member: usize| cut(made[member * outputs + k]);
            for (i, slope) in slope.iter_mut().enumerate() {
                *slope += target.weight * error * z(i);
                let column = &mut information[i * members..(i + 1) * members];
                column.iter_mut().enumerate().for_each(|(j, entry)| *entry += target.weight * curvature * z(i) * z(j));
            }
        }
        let matrix = Matrix::from_fn(members, members, |i, j| information[j * members + i]);
        let slope = Matrix::from_fn(members, 1, |i, _| slope[i]);
        let Ok(step) = matrix.solve_positive_definite(&slope) else { return };
        let moved: Vec<f64> = self.weights.iter().enumerate().map(|(i, weight)| weight + step.entry(i, 0)).collect();
        if moved.iter().chain(&information).all(|value| value.is_finite()) {
            (self.weights, self.information) = (moved, information);
        }
    }
}

impl Validate for LogitMixture {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.weights.validate()?;
        self.information.validate()?;
        let square = self.information.len() == self.weights.len() * self.weights.len();
        Inconsistent::require(square, "mixture of logits", "it has an information for each weight")
    }
}
