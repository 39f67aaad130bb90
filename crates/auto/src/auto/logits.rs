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

/// The information on each weight at the start.
const INFORMATION: f64 = 20.0;
/// Logits of members are cut here.
const CUT: f64 = 8.0;
/// The least curvature of the loss.
const LEAST: f64 = 1e-4;
/// A share of a class is no nearer to 0 or 1.
const SUREST: f64 = 1e-3;

/// Members.
const M: usize = 4;

/// The weights of members, with the information on them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LogitMixture {
    weights: [f64; M],
    /// `A`
    information: [[f64; M]; M],
}

/// `ln(p/(1 − p))`
pub(super) fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// The logit of a share of a class that is told as `2p − 1`.
pub(super) fn logit(score: f64) -> f64 {
    log_odds((0.5 + 0.5 * score).clamp(SUREST, 1.0 - SUREST))
}

/// A logit within what counts, 0 where there is none.
fn cut(logit: f64) -> f64 {
    if logit.is_nan() { 0.0 } else { logit.clamp(-CUT, CUT) }
}

impl LogitMixture {
    /// A mixture of four members.
    pub(super) fn new() -> Self {
        let mut information = [[0.0; M]; M];
        (0..M).for_each(|i| information[i][i] = INFORMATION);
        Self { weights: [1.0 / M as f64; M], information }
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
        let outputs = scores.len();
        let (mut slope, mut information) = ([0.0; M], self.information);
        for (k, (score, y)) in scores.iter().zip(target.y).enumerate() {
            let p = Logistic::probability(*score);
            let (error, curvature) = (0.5 * (1.0 + y) - p, (p * (1.0 - p)).max(LEAST));
            let z: [f64; M] = std::array::from_fn(|member| cut(made[member * outputs + k]));
            for (i, row) in information.iter_mut().enumerate() {
                slope[i] += target.weight * error * z[i];
                row.iter_mut().zip(z).for_each(|(entry, other)| *entry += target.weight * curvature * z[i] * other);
            }
        }
        let step = solve(information, slope);
        let moved: [f64; M] = std::array::from_fn(|i| self.weights[i] + step[i]);
        if moved.iter().chain(information.as_flattened()).all(|value| value.is_finite()) {
            (self.weights, self.information) = (moved, information);
        }
    }
}

/// `x` with `A x = b` for a symmetric positive definite `A`, by its Cholesky factor, in place: no
/// memory is asked for. Not finite where rounding has made `A` singular.
pub(super) fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for i in 0..N {
        for j in 0..=i {
            let sum: f64 = a[i][j] - (0..j).map(|k| a[i][k] * a[j][k]).sum::<f64>();
            a[i][j] = if i == j { sum.sqrt() } else { sum / a[j][j] };
        }
        b[i] = (b[i] - (0..i).map(|k| a[i][k] * b[k]).sum::<f64>()) / a[i][i];
    }
    for i in (0..N).rev() {
        b[i] = (b[i] - (i + 1..N).map(|k| a[k][i] * b[k]).sum::<f64>()) / a[i][i];
    }
    b
}

impl Validate for LogitMixture {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.weights.validate()?;
        self.information.as_flattened().validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two members and two outputs, with the inverse of `A` by hand.
    #[test]
    fn weights_move_by_newton_steps() {
        // Two members say nothing: they are 0 and no number.
        let mut mixture = LogitMixture::new();
        let (mut a, mut information) = ([0.25, 0.25], [[20.0, 0.0], [0.0, 20.0]]);
        let mut scores = [0.0; 2];
        for t in 0..200 {
            let s = |k: usize| ((3 * t + 5 * k) as f64).sin();
            // The last is cut, and what is no number counts as 0.
            let second = if t % 7 == 0 { f64::NAN } else { s(2) };
            let made = [2.0 * s(0), s(1), second, 50.0 * s(3), 0.0, 0.0, f64::NAN, f64::NAN];
            let z = |member: usize, k: usize| match made[2 * member + k] {
                z if z.is_nan() => 0.0,
                z => z.clamp(-8.0, 8.0),
            };
            let y = [if s(0) > 0.2 { 1.0 } else { -1.0 }, if s(3) > -0.1 { 1.0 } else { -1.0 }];
            let weight = 1.0 + (t % 3) as f64;
            mixture.mix(&made, &mut scores);
            let mut slope = [0.0; 2];
            for k in 0..2 {
                let sum = a[0] * z(0, k) + a[1] * z(1, k);
                assert!((scores[k] - sum).abs() < 1e-9, "{scores:?}");
                let p = 1.0 / (1.0 + (-sum).exp());
                for i in 0..2 {
                    slope[i] += weight * ((y[k] + 1.0) / 2.0 - p) * z(i, k);
                    for j in 0..2 {
                        information[i][j] += weight * (p * (1.0 - p)).max(1e-4) * z(i, k) * z(j, k);
                    }
                }
            }
            mixture.learn(&made, &scores, Target::weighted(&y, weight));
            let [[p, q], [r, s]] = information;
            let determinant = p * s - q * r;
            a[0] += (s * slope[0] - q * slope[1]) / determinant;
            a[1] += (p * slope[1] - r * slope[0]) / determinant;
            let close = mixture.weights().iter().zip(a).all(|(own, by_hand)| (own - by_hand).abs() < 1e-9);
            assert!(close, "{:?} {a:?}", mixture.weights());
        }
        // Both tell the class, so the sum is surer than the members together at first.
        assert!(a[0] + a[1] > 1.0, "{a:?}");
        assert!(mixture.validate().is_ok());
    }

    #[test]
    fn shares_have_logits_within_reason() {
        assert_eq!(logit(0.0), 0.0);
        assert!((logit(0.5) - 3.0_f64.ln()).abs() < 1e-12);
        assert!((logit(7.0) - 999.0_f64.ln()).abs() < 1e-9);
        assert!((logit(-7.0) + 999.0_f64.ln()).abs() < 1e-9);
    }
}
