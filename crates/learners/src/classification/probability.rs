//! Probabilities of classes: a calibration beside the shares of the classes so far.
//!
//! `p = w c + (1 − w) q` with the calibration's `c`, the shares `q` (each class counts as met half
//! a time before the first row), and `w = 1/(1 + e^{−l})`. The lead `l` is the sum of
//! `ω (ln c_y − ln q_y)` over the rows, kept within ±20: Bayes' rule for two forecasters that are
//! as likely at first. With weights `ω` of at most 1 the log loss of a run is above that of the
//! better one by at most `ln 2` in all, one bit, and `2·10⁻⁹` a row for the bounds (Vovk 1990). A
//! calibration that has met a rare class a few times is far too sure; the shares keep it from being
//! believed.
//!
//! Cost: `m` multiply-adds for `m` classes beside the calibration's.

use mercer_core::{Inconsistent, Validate};

use super::calibration::Calibration;

/// The most that one forecaster leads by, in nats.
const MOST: f64 = 20.0;

/// Model that turns scores into probabilities.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum ProbabilityModel {
    /// The loss, if it has any.
    Loss,
    /// A calibration alone, in files of before.
    #[cfg_attr(not(feature = "serde"), expect(dead_code, reason = "files alone make it"))]
    Calibration(Calibration),
    /// A calibration and the shares of the classes, weighed by their likelihoods.
    Mixture { calibration: Calibration, lead: f64 },
}

impl ProbabilityModel {
    /// A mixture that has learnt nothing, of so many classes.
    pub(super) fn mixture(classes: usize) -> Self {
        Self::Mixture { calibration: Calibration::new(classes), lead: 0.0 }
    }

    /// The calibration, and its weight.
    fn weighed(&self) -> Option<(&Calibration, f64)> {
        match self {
            Self::Loss => None,
            Self::Calibration(calibration) => Some((calibration, 1.0)),
            Self::Mixture { calibration, lead } => Some((calibration, 1.0 / (1.0 + (-lead).exp()))),
        }
    }

    fn calibration_mut(&mut self) -> Option<&mut Calibration> {
        match self {
            Self::Loss => None,
            Self::Calibration(calibration) | Self::Mixture { calibration, .. } => Some(calibration),
        }
    }

    /// Number of classes that it knows, if it learns.
    pub(super) fn classes(&self) -> Option<usize> {
        self.weighed().map(|(calibration, _)| calibration.classes())
    }

    /// A class joins.
    pub(super) fn join(&mut self) {
        if let Some(calibration) = self.calibration_mut() {
            calibration.join();
        }
    }

    /// Turns the scores of all classes into probabilities; `false`, and nothing done, where the
    /// loss is to do so.
    pub(super) fn probabilities(&self, scores: &mut [f64]) -> bool {
        let Some((calibration, weight)) = self.weighed() else { return false };
        calibration.probabilities(scores);
        if weight < 1.0 {
            scores.iter_mut().zip(calibration.shares()).for_each(|(p, q)| *p = weight * *p + (1.0 - weight) * q);
        }
        true
    }

    /// Learns that an example with these scores, one a class, belongs to `class`, a known one.
    pub(super) fn learn(&mut self, scores: &[f64], class: usize, weight: f64) {
        match self {
            Self::Loss => {}
            Self::Calibration(calibration) => {
                calibration.learn(scores, class, weight);
            }
            Self::Mixture { calibration, lead } => {
                let share = calibration.shares().nth(class).unwrap_or(1.0);
                let moved = *lead + weight * (calibration.learn(scores, class, weight).ln() - share.ln());
                if !moved.is_nan() {
                    *lead = moved.clamp(-MOST, MOST);
                }
            }
        }
    }
}

impl Validate for ProbabilityModel {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.weighed().map_or(Ok(()), |(calibration, _)| calibration.validate())?;
        let Self::Mixture { lead, .. } = self else { return Ok(()) };
        Inconsistent::require(lead.abs() <= MOST, "mixture of probabilities", "its lead is bounded")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes, one row in `rare` of the second; scores that know it, or nothing.
    fn losses(rare: usize, honest: bool) -> [f64; 3] {
        let (mut mixture, mut noise) = (ProbabilityModel::mixture(2), 0.3_f64);
        let (mut ours, mut of_calibration, mut of_shares) = (0.0, 0.0, 0.0);
        let mut calibration = Calibration::new(2);
        let mut counts = [0.5_f64; 2];
        for t in 1..4000 {
            noise = (noise * 7919.0 + 0.37).fract();
            let class = usize::from(t % rare == 0);
            let says = if honest { 2.0 * class as f64 - 1.0 } else { 1.5 * noise - 1.0 };
            let scores = [-says, says];
            let weight = if t % 3 == 0 { 0.5 } else { 1.0 };
            let alone = {
                let mut p = scores;
                calibration.probabilities(&mut p);
                p
            };
            // Bayes' rule, from the likelihoods themselves.
            let likelihoods =
                [of_calibration, of_shares].map(|loss: f64| (-loss + of_shares.min(of_calibration)).exp());
            let w = likelihoods[0] / (likelihoods[0] + likelihoods[1]);
            let shares = counts.map(|count| count / (counts[0] + counts[1]));
            let mut p = scores;
            assert!(mixture.probabilities(&mut p));
            for k in 0..2 {
                assert!((p[k] - (w * alone[k] + (1.0 - w) * shares[k])).abs() < 1e-8, "round {t}, class {k}");
            }
            ours -= weight * p[class].ln();
            of_calibration -= weight * alone[class].ln();
            of_shares -= weight * shares[class].ln();
            counts[class] += weight;
            calibration.learn(&scores, class, weight);
            mixture.learn(&scores, class, weight);
            assert_eq!(mixture.validate(), Ok(()));
        }
        [ours, of_calibration, of_shares]
    }

    #[test]
    fn it_is_bayes_rule_and_never_far_above_the_better_one() {
        for (rare, honest) in [(1000, false), (1000, true), (20, true), (2, true), (2, false)] {
            let [ours, of_calibration, of_shares] = losses(rare, honest);
            let better = of_calibration.min(of_shares);
            assert!(ours <= better + std::f64::consts::LN_2 + 4000.0 * 2.1e-9, "{rare} {honest}: {ours}, {better}");
        }
    }

    /// Each row of a rare class costs a calibration alone what it has too little of.
    #[test]
    fn shares_hold_where_scores_know_nothing() {
        let [ours, of_calibration, of_shares] = losses(1000, false);
        assert!(ours < of_calibration && ours < of_shares + 1.0, "{ours}, {of_calibration}, {of_shares}");
    }

    #[test]
    fn wild_rows_leave_a_bounded_lead() {
        let mut mixture = ProbabilityModel::mixture(2);
        for t in 0..200_usize {
            let score = [1e308, -1e308, 0.0][t % 3];
            mixture.learn(&[-score, score], t % 2, [1.0, 1e300, 1e-300][t / 70]);
            let mut p = [-score, score];
            assert!(mixture.probabilities(&mut p) && (p[0] + p[1] - 1.0).abs() < 1e-12);
            assert_eq!(mixture.validate(), Ok(()));
        }
    }
}
