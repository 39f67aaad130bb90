//! Scores of rounds whose targets are numbers.

use std::collections::BTreeMap;

use mercer_learners::Score;

use crate::eval::rounds::Rounds;
use crate::report::evaluation::Output;
use crate::report::moments::{Naive, RoundSums};
use crate::report::scores::Scores;
use crate::report::stretches::Stretches;

/// The rounds so far.
pub(super) struct NumberScores {
    outputs: usize,
    pub(super) score: Score,
    pub(super) naive: Naive,
    stretches: Stretches<RoundSums>,
    /// Of each group that has answers of its own.
    pub(super) groups: BTreeMap<String, RoundSums>,
}

impl NumberScores {
    pub(super) fn new(outputs: usize) -> Self {
        let (score, stretches, groups) = Default::default();
        Self { outputs, score, naive: Naive::new(outputs), stretches, groups }
    }

    /// Scores a round beside baselines: those of now, unless others are given.
    pub(super) fn record(&mut self, rounds: &Rounds, round: usize, naive: Option<&Naive>) {
        let (predictions, targets, weight) = (rounds.predictions(round), rounds.targets(round), rounds.weight(round));
        let naive = naive.unwrap_or(&self.naive);
        let record = |sums: &mut RoundSums| sums.record(predictions, targets, weight, rounds.reach(round), naive);
        self.score.record_weighted(predictions, targets, weight);
        self.stretches.record(record);
        if let Some(group) = rounds.group(round) {
            record(self.groups.entry(group.to_owned()).or_default());
        }
    }

    /// Rounds scored.
    pub(super) fn scored(&self) -> usize {
        self.stretches.rounds()
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        let mse = self.score.mse();
        Scores {
            mse: Some(mse),
            mae: Some(self.score.mae()),
            error_rate: self.score.error_rate(),
            rmse: Some(mse.sqrt()),
            ..self.all().scores()
        }
    }

    /// Over the scored rounds after `after` and not after `until`, and how many they are.
    pub(super) fn between(&self, after: usize, until: usize) -> (usize, Scores) {
        let (before, sum) = self.stretches.between(after, until);
        (until.min(self.scored()) - before, sum.scores())
    }

    fn all(&self) -> RoundSums {
        self.stretches.between(0, self.scored()).1
    }

    /// One by one, if there are several.
    pub(super) fn outputs(&self, names: &[String]) -> Vec<Output> {
        let name = |place: usize| names.get(place).cloned().unwrap_or_else(|| (place + 1).to_string());
        if self.outputs == 1 { Vec::new() } else { self.all().outputs(name) }
    }
}
