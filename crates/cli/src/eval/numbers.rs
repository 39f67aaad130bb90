//! Rounds whose targets are numbers.

use std::collections::VecDeque;

use mercer_core::TokenRow;
use mercer_encoding::ScaledTargets;
use mercer_kernels::AnyKernel;
use mercer_learners::Error;
use mercer_learners::intervals::{IntervalScale, LearnerIntervals, deviations};
use mercer_learners::{Input, RegressorExt, Rows, Score, Scratch, Target, Targets, predict_input};
use mercer_registry::AnyRegressor;
use mercer_session::notes::Watch;

use crate::eval::feed::ExampleChunk;
use crate::report::evaluation::Output;
use crate::report::moments::{Naive, RoundSums};
use crate::report::notes::Implausibles;
use crate::report::scores::Scores;
use crate::report::stretches::Stretches;

/// A row that waits for its targets.
struct LateNumbers {
    inputs: Vec<f64>,
    tokens: Option<TokenRow>,
    targets: Vec<f64>,
    weight: f64,
}

/// The prediction of such a row, which intervals and baselines learn from then.
struct LateTargets {
    made: Vec<f64>,
    targets: Vec<f64>,
    scales: Vec<f64>,
    weight: f64,
}

/// The rounds so far.
pub(super) struct NumberRounds {
    pub(super) learner: ScaledTargets<AnyRegressor<AnyKernel>>,
    outputs: usize,
    pub(super) score: Score,
    naive: Naive,
    stretches: Stretches<RoundSums>,
    pub(super) watch: Watch,
    /// Rows taken in, and those of them with implausible targets.
    rows: u64,
    implausible: Implausibles,
    intervals: Option<LearnerIntervals>,
    /// Whether variances are asked for, which takes rows one by one.
    tells_variances: bool,
    /// Of the last chunk: the variances are NaN where there is none, the reaches of the intervals,
    /// two an output, infinite.
    predictions: Vec<f64>,
    variances: Vec<f64>,
    /// Of intervals in deviations: their scales.
    scales: Vec<f64>,
    reach: Vec<f64>,
    scratch: Scratch,
    late: VecDeque<LateNumbers>,
    /// Rows of the last chunk whose targets have come.
    due: usize,
    late_targets: VecDeque<LateTargets>,
}

impl NumberRounds {
    pub(super) fn new(
        learner: ScaledTargets<AnyRegressor<AnyKernel>>,
        intervals: Option<LearnerIntervals>,
        tells_variances: bool,
    ) -> Self {
        let outputs = learner.outputs();
        Self {
            learner,
            outputs,
            score: Score::default(),
            naive: Naive::new(outputs),
            stretches: Stretches::default(),
            watch: Watch::default(),
            rows: 0,
            implausible: Implausibles::default(),
            intervals,
            tells_variances,
            predictions: Vec::new(),
            variances: Vec::new(),
            scales: Vec::new(),
            reach: Vec::new(),
            scratch: Scratch::default(),
            late: VecDeque::new(),
            due: 0,
            late_targets: VecDeque::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.predictions.clear();
        self.variances.clear();
        self.scales.clear();
        self.reach.clear();
        self.due = 0;
    }

    pub(super) fn has_intervals(&self) -> bool {
        self.intervals.is_some()
    }

    /// Learns rows `from..to` of a chunk; tells how many of the chunk were learnt.
    pub(super) fn learn(&mut self, chunk: &ExampleChunk, from: usize, to: usize) -> (usize, Result<(), Error>) {
        let (d, m) = (self.learner.dimension(), self.outputs);
        let (inputs, ys) = (chunk.inputs(from, to, d), &chunk.targets[from * m..to * m]);
        if let Some(waiting) = chunk.waiting.get(from) {
            let input = inputs.row(0, d);
            let learnt = self.learn_late(chunk, *waiting).and_then(|()| self.predict(input));
            if learnt.is_ok() {
                let (inputs, tokens) = (input.numbers.to_vec(), input.tokens.cloned());
                self.late.push_back(LateNumbers { inputs, tokens, targets: ys.to_vec(), weight: chunk.weight(from) });
            }
            return (self.predictions.len() / m, learnt);
        }
        let learnt = if to - from == 1 {
            let before = self.predictions.len();
            self.predictions.resize(before + m, 0.0);
            let target = Target::weighted(ys, chunk.weight(from));
            let told = if self.tells_variances { self.predict_variances(inputs.numbers, before) } else { Ok(()) };
            let made = &mut self.predictions[before..];
            let learnt = told.and_then(|()| self.learner.learn_input(inputs.row(0, d), target, made));
            if learnt.is_err() {
                self.predictions.truncate(before);
            }
            learnt
        } else {
            let weights = chunk.weights.get(from..to).unwrap_or_default();
            let rows = Targets::new(ys, weights, m)
                .and_then(|targets| Rows::new(inputs.numbers, d, targets))
                .and_then(|rows| rows.with_tokens(inputs.tokens));
            rows.and_then(|rows| self.learner.learn_rows(rows, &mut self.predictions))
        };
        (self.predictions.len() / m, learnt)
    }

    /// Predicts a row with its variances, whose numbers begin at that place.
    fn predict_variances(&mut self, inputs: &[f64], before: usize) -> Result<(), Error> {
        self.variances.resize(before + self.outputs, 0.0);
        let (made, variances) = (&mut self.predictions[before..], &mut self.variances[before..]);
        self.learner.predict_variance_into(inputs, &mut self.scratch, made, variances)?;
        self.scales.truncate(before);
        self.scales.extend_from_slice(variances);
        deviations(&self.learner, &mut self.scales[before..]);
        Ok(())
    }

    /// Predicts a row that is learnt later.
    fn predict(&mut self, input: Input<'_>) -> Result<(), Error> {
        let before = self.predictions.len();
        self.predictions.resize(before + self.outputs, 0.0);
        let made = if self.tells_variances {
            self.predict_variances(input.numbers, before)
        } else {
            predict_input(&self.learner, input, &mut self.scratch, &mut self.predictions[before..])
        };
        if made.is_err() {
            self.predictions.truncate(before);
        }
        made
    }

    /// Learns the rows whose targets have come, until so many wait.
    fn learn_late(&mut self, chunk: &ExampleChunk, waiting: usize) -> Result<(), Error> {
        let (d, mut made) = (self.learner.dimension(), vec![0.0; self.outputs]);
        while self.late.len() > waiting
            && let Some(LateNumbers { inputs, tokens, targets, weight }) = self.late.pop_front()
        {
            let encoded = chunk.due.get(self.due * d..(self.due + 1) * d);
            self.due += 1;
            let input = Input { numbers: encoded.unwrap_or(&inputs), tokens: tokens.as_ref() };
            self.learner.learn_input(input, Target::weighted(&targets, weight), &mut made)?;
            self.rows += 1;
            self.implausible.take(&self.learner, self.rows, weight);
        }
        Ok(())
    }

    /// Has intervals and baselines learn the targets that have come, until so many wait.
    fn show_late(&mut self, waiting: usize) {
        while self.late_targets.len() > waiting
            && let Some(LateTargets { made, targets, scales, weight }) = self.late_targets.pop_front()
        {
            if let Some(intervals) = self.intervals.as_mut().filter(|_| weight != 0.0) {
                let observed = intervals.observe(&made, &targets, &scales);
                debug_assert!(observed.is_ok(), "what was learnt is finite");
            }
            self.naive.learn(&targets, weight);
        }
    }

    /// Takes in row `index` of the chunk, after which so many points are kept, and scores it if it
    /// counts.
    pub(super) fn record(&mut self, chunk: &ExampleChunk, index: usize, counts: bool, size: usize) {
        let (weight, m) = (chunk.weight(index), self.outputs);
        let waiting = chunk.waiting.get(index).copied();
        match waiting {
            Some(waiting) => self.show_late(waiting),
            None => {
                self.rows += 1;
                self.implausible.take(&self.learner, self.rows, weight);
            }
        }
        let predictions = &self.predictions[index * m..(index + 1) * m];
        let targets = &chunk.targets[index * m..(index + 1) * m];
        if let Some(intervals) = &mut self.intervals {
            if intervals.scale() == IntervalScale::Error {
                self.scales.resize((index + 1) * m, 1.0);
            }
            let scales = &self.scales[index * m..][..m];
            self.reach.resize(2 * (index + 1) * m, 0.0);
            intervals.reach(predictions, scales, &mut self.reach[2 * index * m..]);
            if weight != 0.0 && waiting.is_none() {
                let observed = intervals.observe(predictions, targets, scales);
                debug_assert!(observed.is_ok(), "what was learnt is finite");
            }
        }
        if counts {
            let reach = self.reach.get(2 * index * m..).unwrap_or_default();
            let naive = &self.naive;
            self.score.record_weighted(predictions, targets, weight);
            self.stretches.record(|stretch| stretch.record(predictions, targets, weight, reach, naive));
        }
        match waiting {
            None => self.naive.learn(targets, weight),
            Some(_) => {
                let scales = self.scales.get(index * m..(index + 1) * m).unwrap_or_default().to_vec();
                let (made, targets) = (predictions.to_vec(), targets.to_vec());
                self.late_targets.push_back(LateTargets { made, targets, scales, weight });
            }
        }
        let d = self.learner.dimension();
        self.watch.record(&chunk.features[index * d..][..d], predictions, targets, weight, size);
    }

    /// What became of implausible targets.
    pub(super) fn implausible(&self) -> Option<String> {
        self.implausible.note(&self.learner)
    }

    pub(super) fn predictions(&self, index: usize) -> &[f64] {
        &self.predictions[index * self.outputs..(index + 1) * self.outputs]
    }

    /// The variance that the target of that output was expected to have.
    pub(super) fn variance(&self, index: usize, output: usize) -> Option<f64> {
        self.variances.get(index * self.outputs + output).copied().filter(|variance| variance.is_finite())
    }

    /// The ends of the interval of that output.
    pub(super) fn interval(&self, index: usize, output: usize) -> Option<[f64; 2]> {
        let [below, above] = *self.reach.get(2 * (index * self.outputs + output)..)?.first_chunk()?;
        let prediction = self.predictions(index)[output];
        (below.is_finite() && above.is_finite()).then_some([prediction - below, prediction + above])
    }

    pub(super) fn targets<'a>(&self, chunk: &'a ExampleChunk, index: usize) -> &'a [f64] {
        &chunk.targets[index * self.outputs..(index + 1) * self.outputs]
    }

    /// What the learner minimises, at row `index`.
    pub(super) fn loss(&self, chunk: &ExampleChunk, index: usize) -> f64 {
        self.learner.loss().value_of_predictions(self.predictions(index), self.targets(chunk, index))
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
