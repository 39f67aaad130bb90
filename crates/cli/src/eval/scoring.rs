//! The scores of a pass, whatever its targets are.

use mercer_learners::RegressorExt;
use mercer_readers::Labels;
use mercer_session::model::Task;

use crate::eval::classes::{NaiveClasses, RoundsOfClasses};
use crate::eval::numbers::NumberScores;
use crate::eval::rounds::Rounds;
use crate::report::moments::Naive;
use crate::report::scores::Scores;

/// Scores, and what predicts without learning.
pub(super) enum Scoring {
    Numbers(Box<NumberScores>),
    Classes(Box<RoundsOfClasses>),
}

/// What baselines predict for a row.
#[derive(Clone)]
pub(super) enum Guess {
    Numbers(Naive),
    Classes(NaiveClasses),
}

impl Scoring {
    pub(super) fn new(task: &Task) -> Self {
        match task {
            Task::Numbers(task) => Self::Numbers(NumberScores::new(task.learner.outputs()).into()),
            Task::Classes(task) => Self::Classes(RoundsOfClasses::new(task.labels.clone()).into()),
        }
    }

    /// Rounds that are scored.
    pub(super) fn scored(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.scored(),
            Self::Classes(classes) => classes.scored(),
        }
    }

    /// Over all rounds.
    pub(super) fn scores(&self) -> Scores {
        match self {
            Self::Numbers(numbers) => numbers.scores(),
            Self::Classes(classes) => classes.scores(),
        }
    }

    /// Over the scored rounds after `after` and not after `until`, with the area under the curve of
    /// classes if it is wanted; and how many they are.
    pub(super) fn between(&self, after: usize, until: usize, area: bool) -> (usize, Scores) {
        match self {
            Self::Numbers(numbers) => numbers.between(after, until),
            Self::Classes(classes) => classes.between(after, until, area),
        }
    }

    /// Squared errors, or mistakes, so far.
    pub(super) fn loss(&self) -> f64 {
        match self {
            Self::Numbers(numbers) => numbers.score.cumulative_loss(),
            Self::Classes(classes) => classes.score.mistakes(),
        }
    }

    /// The classes that a model has met by now.
    pub(super) fn know(&mut self, labels: &Labels) {
        if let Self::Classes(classes) = self
            && classes.labels.len() != labels.len()
        {
            classes.labels.clone_from(labels);
        }
    }

    /// What baselines predict now.
    pub(super) fn guess(&self) -> Guess {
        match self {
            Self::Numbers(numbers) => Guess::Numbers(numbers.naive.clone()),
            Self::Classes(classes) => Guess::Classes(classes.naive.clone()),
        }
    }

    /// Scores a round beside baselines: those of now, unless others are given.
    pub(super) fn record(&mut self, rounds: &Rounds, round: usize, task: &Task, guess: Option<&Guess>) {
        match (self, guess, task) {
            (Self::Numbers(numbers), Some(Guess::Numbers(naive)), _) => numbers.record(rounds, round, Some(naive)),
            (Self::Numbers(numbers), ..) => numbers.record(rounds, round, None),
            (Self::Classes(classes), guess, Task::Classes(task)) => {
                let naive = if let Some(Guess::Classes(naive)) = guess { Some(naive) } else { None };
                classes.record(rounds, round, naive, &task.classifier);
            }
            (Self::Classes(_), ..) => {}
        }
    }

    /// Has baselines learn a target that is shown: numbers, or a class.
    pub(super) fn show(&mut self, targets: &[f64], class: usize, weight: f64) {
        match self {
            Self::Numbers(numbers) => numbers.naive.learn(targets, weight),
            Self::Classes(classes) => classes.naive.learn(class, weight),
        }
    }
}
