//! Scores of rounds whose targets are classes.

use std::collections::BTreeMap;

use mercer_learners::{ClassScore, area_under_curve};
use mercer_readers::Labels;
use mercer_session::classes::AnyClassifier;

use crate::eval::rounds::Rounds;
use crate::report::sample::RoundSample;
use crate::report::scores::{Baseline, Baselines, ClassScores, Scores};
use crate::report::stretches::{Stretches, Sum};

/// Rounds whose scores are kept for the area under the curve (128 MiB). Of a longer pass at least
/// half as many are kept, chosen by a hash of their numbers: the area has then a standard error of
/// at most `√(A(1 − A)/m)`, `m` rounds of the rarer class being kept.
const MOST_SCORES: usize = 1 << 22;

/// Sums over a stretch of rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassSums {
    pub(super) score: ClassScore,
    /// The weight that the class which was most frequent before each round had right, and the one
    /// of the round before.
    majority: f64,
    last: f64,
}

impl Sum for ClassSums {
    fn merge(&mut self, later: &Self) {
        self.score.merge(&later.score);
        self.majority += later.majority;
        self.last += later.last;
    }
}

/// What predicts without learning.
#[derive(Clone, Debug, Default)]
pub(super) struct NaiveClasses {
    /// Of each class.
    weights: Vec<f64>,
    majority: Option<usize>,
    last: Option<usize>,
}

impl NaiveClasses {
    /// Takes in a class after it was scored.
    pub(super) fn learn(&mut self, class: usize, weight: f64) {
        if weight == 0.0 {
            return;
        }
        if self.weights.len() <= class {
            self.weights.resize(class + 1, 0.0);
        }
        self.weights[class] += weight;
        // Of equals the one that was ahead stays.
        if self.majority.is_none_or(|ahead| self.weights[class] > self.weights[ahead]) {
            self.majority = Some(class);
        }
        self.last = Some(class);
    }
}

/// The rounds so far.
pub(super) struct RoundsOfClasses {
    /// The names of the classes, in the order in which the model meets them.
    pub(super) labels: Labels,
    pub(super) score: ClassScore,
    pub(super) naive: NaiveClasses,
    stretches: Stretches<ClassSums>,
    /// Score, whether the class is the positive one, and weight, by the number of the scored round.
    curve: RoundSample<(f64, bool, f64)>,
    /// Of each group that has answers of its own.
    pub(super) groups: BTreeMap<String, ClassSums>,
}

impl RoundsOfClasses {
    /// None yet, of classes that are known beforehand.
    pub(super) fn new(labels: Labels) -> Self {
        let (score, naive, stretches, groups) = Default::default();
        Self { labels, score, naive, stretches, curve: RoundSample::new(MOST_SCORES), groups }
    }

    /// The class of a label; one that is learnt for the first time gets the next.
    pub(super) fn class(&mut self, label: &str, weight: f64) -> usize {
        let known = self.labels.len();
        // What is not learnt does not become a class.
        if weight != 0.0 { self.labels.insert(label) } else { self.labels.find(label).unwrap_or(known) }
    }

    /// Scores a round beside baselines: those of now, unless others are given.
    pub(super) fn record(
        &mut self,
        rounds: &Rounds,
        round: usize,
        naive: Option<&NaiveClasses>,
        classifier: &AnyClassifier,
    ) {
        let naive = naive.unwrap_or(&self.naive);
        let (one, weight) = (rounds.class(round), rounds.weight(round));
        let (judged, class) = (&one.judged, one.class);
        let right = |guess: Option<usize>| if guess == Some(class) { weight } else { 0.0 };
        let record = |sums: &mut ClassSums| {
            judged.score_in(&mut sums.score, class, classifier, weight);
            sums.majority += right(naive.majority);
            sums.last += right(naive.last);
        };
        judged.score_in(&mut self.score, class, classifier, weight);
        self.stretches.record(record);
        if let Some(group) = rounds.group(round) {
            record(self.groups.entry(group.to_owned()).or_default());
        }
        if let Some(z) = judged.score.filter(|_| weight != 0.0) {
            let positive = self.labels.later(0, 1) == Some(class);
            self.curve.offer(self.stretches.rounds(), || (z, positive, weight));
        }
    }

    fn auc(&self, after: usize, until: usize) -> Option<f64> {
        let rounds = || self.curve.between(after, until).iter().map(|(_, round)| *round).collect::<Vec<_>>();
        (self.labels.len() == 2).then(|| area_under_curve(&mut rounds())).flatten()
    }

    /// Rounds scored.
    pub(super) fn scored(&self) -> usize {
        self.stretches.rounds()
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        self.between(0, self.scored(), true).1
    }

    /// Over the scored rounds after `after` and not after `until`, with the area under the curve if
    /// it is wanted, for which they are sorted; and how many they are.
    pub(super) fn between(&self, after: usize, until: usize, area: bool) -> (usize, Scores) {
        let until = until.min(self.scored());
        let (before, sum) = self.stretches.between(after, until);
        let auc = if area { self.auc(before, until) } else { None };
        (until - before, scores(&sum, auc))
    }

    /// The classes met so far, by name.
    #[cfg(feature = "plots")]
    pub(super) fn names(&self) -> Vec<&str> {
        self.labels.names().iter().map(String::as_str).collect()
    }

    /// The scored rounds that are kept for the area under the curve, of two classes: score, whether
    /// positive, weight.
    #[cfg(feature = "plots")]
    pub(super) fn curve(&self) -> Vec<(f64, bool, f64)> {
        if self.labels.len() == 2 { self.curve.all().iter().map(|(_, round)| *round).collect() } else { Vec::new() }
    }
}

/// The scores of a sum of rounds.
pub(super) fn scores(ClassSums { score, majority, last }: &ClassSums, auc: Option<f64>) -> Scores {
    let classes = ClassScores {
        accuracy: score.accuracy(),
        log_loss: score.log_loss(),
        balanced_accuracy: score.balanced_accuracy(),
        auc,
        calibration_error: score.calibration_error(),
    };
    let baseline =
        |(name, right): (_, &f64)| Baseline { name, accuracy: Some(right / score.weight()), ..Baseline::default() };
    Scores {
        mse: None,
        mae: None,
        error_rate: None,
        rmse: None,
        r2: None,
        intervals: None,
        classes: Some(classes),
        baselines: Baselines([("majority_class", majority), ("last_class", last)].map(baseline).into()),
    }
}
