//! Rows as they were predicted, with the targets that they turned out to have.

use mercer_learners::Loss;
use mercer_session::{BlockPredictions, ClassRound};

/// The rounds of a chunk; the memory is used again for the next.
#[derive(Default)]
pub(crate) struct Rounds {
    pub(super) made: BlockPredictions,
    /// Row by row: numbers, or the place of the label among the texts of the feed.
    pub(super) targets: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// Points that are kept after each.
    pub(super) sizes: Vec<usize>,
    /// Names of groups, if there are groups; empty where the common model answered.
    pub(super) groups: Vec<String>,
    /// Numbers in a target.
    pub(super) outputs: usize,
}

impl Rounds {
    pub(super) fn new(outputs: usize) -> Self {
        Self { outputs, ..Self::default() }
    }

    pub(super) fn clear(&mut self) {
        self.made.clear();
        self.targets.clear();
        self.weights.clear();
        self.sizes.clear();
        self.groups.clear();
    }

    /// The number of rounds.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn weight(&self, round: usize) -> f64 {
        self.weights[round]
    }

    pub(super) fn group(&self, round: usize) -> Option<&str> {
        self.groups.get(round).map(String::as_str)
    }

    pub(super) fn targets(&self, round: usize) -> &[f64] {
        &self.targets[round * self.outputs..(round + 1) * self.outputs]
    }

    pub(super) fn predictions(&self, round: usize) -> &[f64] {
        &self.made.numbers[round * self.outputs..(round + 1) * self.outputs]
    }

    /// How far the intervals go below and above each prediction; empty without intervals.
    pub(super) fn reach(&self, round: usize) -> &[f64] {
        let width = 2 * self.outputs;
        self.made.reach.get(round * width..(round + 1) * width).unwrap_or_default()
    }

    /// The ends of the interval of that output.
    pub(super) fn interval(&self, round: usize, output: usize) -> Option<[f64; 2]> {
        let [below, above] = *self.reach(round).get(2 * output..)?.first_chunk()?;
        let prediction = self.predictions(round)[output];
        (below.is_finite() && above.is_finite()).then_some([prediction - below, prediction + above])
    }

    /// The variance that the target of that output was expected to have.
    pub(super) fn variance(&self, round: usize, output: usize) -> Option<f64> {
        let variance = self.made.variances.get(round * self.outputs + output);
        variance.copied().filter(|variance| variance.is_finite())
    }

    /// What a learner of numbers with this loss minimises.
    pub(super) fn loss(&self, round: usize, loss: Loss) -> f64 {
        loss.value_of_predictions(self.predictions(round), self.targets(round))
    }

    pub(super) fn class(&self, round: usize) -> &ClassRound {
        &self.made.classes[round]
    }
}
