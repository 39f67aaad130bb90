//! Models of rows as `train`, `predict` and `serve` use them: of numbers or of classes, alone or
//! behind the encoding of a table.

use mercer_encoding::ScaledTargets;
use mercer_kernels::AnyKernel;
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::{Error, Regressor, RegressorExt, Scratch, Target};
use mercer_readers::{Example, Scaling};
use mercer_registry::AnyRegressor;
use mercer_session::model::{Classes, Numbers, Tabular, Task};
use mercer_session::notes::Watch;

use super::classes::{ClassVerdict, class_of};
use super::encoded_rows::{self, RawRow};
use super::output::number;
use super::table::Standing;

pub(crate) type TrainedModel = Tabular<Task>;

/// What is predicted for a row; the memory is used again.
#[derive(Default)]
pub(crate) struct RowPrediction {
    /// One a target, in the targets' own units.
    pub(crate) numbers: Vec<f64>,
    /// The ends of the intervals in the targets' own units, NaN where there is none yet; empty if
    /// the model has none.
    pub(crate) lower: Vec<f64>,
    pub(crate) upper: Vec<f64>,
    /// Of a model of classes.
    pub(crate) judged: ClassVerdict,
    scores: Vec<f64>,
    /// How far the intervals go below and above each number.
    reach: Vec<f64>,
    /// The numbers of a record.
    inputs: Vec<f64>,
    scratch: Scratch,
}

/// What commands do with a model of rows.
pub(crate) trait OfRows {
    /// The intervals of a model of numbers.
    fn intervals(&self) -> Option<&LearnerIntervals>;

    /// What is to be told of its intervals.
    fn intervals_told(&self) -> String;

    /// The learner of a model of numbers, which may screen its targets.
    fn screened(&self) -> Option<&ScaledTargets<AnyRegressor<AnyKernel>>>;

    /// How good it has been.
    fn standing(&self) -> Standing;

    /// Predicts a row, which it scales or encodes.
    fn predict(&self, sample: &mut RawRow, scratch: &mut Scratch, answer: &mut RowPrediction) -> Result<(), String>;

    /// Predicts a row, which it scales or encodes, and learns it.
    fn learn(&mut self, sample: &mut RawRow, watch: &mut Watch, answer: &mut RowPrediction) -> Result<(), String>;
}

impl OfRows for TrainedModel {
    fn intervals(&self) -> Option<&LearnerIntervals> {
        self.numbers()?.intervals.as_ref()
    }

    fn intervals_told(&self) -> String {
        self.intervals().map_or("none".to_owned(), |intervals| {
            let local = if intervals.scale() == IntervalScale::Error { "" } else { " (local)" };
            format!("{}{local}", number(intervals.coverage()))
        })
    }

    fn screened(&self) -> Option<&ScaledTargets<AnyRegressor<AnyKernel>>> {
        self.numbers().map(|task| &task.learner)
    }

    fn standing(&self) -> Standing {
        match &self.task {
            Task::Numbers(task) => {
                let score = &task.score;
                Standing { rounds: score.rounds(), weight: score.weight(), loss: score.cumulative_loss() }
            }
            Task::Classes(task) => {
                let score = &task.score;
                Standing { rounds: task.learnt as usize, weight: score.weight(), loss: score.mistakes() }
            }
        }
    }

    fn predict(&self, sample: &mut RawRow, scratch: &mut Scratch, answer: &mut RowPrediction) -> Result<(), String> {
        let RawRow { example: Example { features, .. }, record } = sample;
        let mut encoded = std::mem::take(&mut answer.inputs);
        let inputs = match (&self.encoding, &self.scaling) {
            (None, None) => Ok(&*features),
            (None, Some(scaling)) => scaling.row(features).map(|()| &*features).map_err(display),
            (Some(encoding), _) => {
                encoded.clear();
                encoding.encode(record, &mut encoded).map(|()| &encoded).map_err(display)
            }
        };
        let made = inputs.and_then(|inputs| match &self.task {
            Task::Numbers(task) => {
                answer.predict(&task.learner, task.intervals.as_ref(), inputs, scratch).map_err(display)?;
                answer.unscale(self.scaling.as_ref())
            }
            Task::Classes(task) => {
                let Classes { classifier, labels, .. } = &**task;
                classifier.scores_with(inputs, scratch, &mut answer.scores).map_err(display)?;
                answer.judged.of(classifier, labels, labels.len(), &answer.scores);
                Ok(())
            }
        });
        answer.inputs = encoded;
        made
    }

    fn learn(&mut self, sample: &mut RawRow, watch: &mut Watch, answer: &mut RowPrediction) -> Result<(), String> {
        let Self { encoding, scaling, task, .. } = self;
        let RawRow { example, record } = sample;
        let of_numbers = matches!(task, Task::Numbers(_));
        if let Some(scaling) = scaling {
            scaling.row(&mut example.features).map_err(display)?;
            if of_numbers {
                scaling.targets(&mut example.targets).map_err(display)?;
            }
        }
        let mut inputs = std::mem::take(&mut answer.inputs);
        inputs.clear();
        let taught = match encoding {
            None => teach(task, &example.features, example, watch, answer),
            Some(encoding) => {
                let encoded = encoding.encode(record, &mut inputs).map_err(display);
                encoded.and_then(|()| teach(task, &inputs, example, watch, answer))
            }
        };
        answer.inputs = inputs;
        taught?;
        if let Some(encoding) = encoding.as_mut().filter(|_| example.weight != 0.0) {
            let first = match task {
                Task::Classes(task) => task.labels.names().first(),
                Task::Numbers(_) => None,
            };
            encoding.learn_with(record, encoded_rows::told(example, first.map(String::as_str))).map_err(display)?;
        }
        if of_numbers { answer.unscale(scaling.as_ref()) } else { Ok(()) }
    }
}

/// Predicts inputs, learns the target of the example, and scores the prediction.
fn teach(
    task: &mut Task,
    inputs: &[f64],
    example: &Example,
    watch: &mut Watch,
    answer: &mut RowPrediction,
) -> Result<(), String> {
    match task {
        Task::Numbers(task) => {
            let target = Target::weighted(&example.targets, example.weight);
            let Numbers { learner, intervals, score } = &mut **task;
            answer.learn(learner, intervals.as_mut(), inputs, target).map_err(display)?;
            // As in `eval`, the first row is no part of the score where nothing is predicted before
            // it.
            let unscored = score.rounds() == 0 && is_autonomous(learner.learner());
            score.record_weighted(&answer.numbers, target.y, if unscored { 0.0 } else { target.weight });
            watch.record(inputs, &answer.numbers, target.y, target.weight, learner.dictionary_size());
        }
        Task::Classes(task) => {
            let Classes { classifier, labels, learnt, score } = &mut **task;
            let Example { label, weight, .. } = example;
            let (class, judged) = (class_of(labels, classifier, label)?, &mut answer.judged);
            let taught = classifier.learn_rows(inputs, &[class], &[*weight], |_, classifier, scores| {
                judged.of(classifier, labels, labels.len(), scores);
            });
            taught.map_err(display)?;
            if *learnt > 0 || !is_autonomous(classifier.learner()) {
                judged.score_in(score, class, classifier, *weight);
            }
            *learnt += 1;
            // What is not learnt does not become a class.
            if *weight != 0.0 {
                labels.insert(label);
            }
        }
    }
    Ok(())
}

/// Whether a learner predicts nothing before it has seen a row.
pub(super) fn is_autonomous(learner: &AnyRegressor<AnyKernel>) -> bool {
    matches!(learner, AnyRegressor::Auto(_))
}

impl RowPrediction {
    /// Predicts numbers, with the reach of their intervals.
    fn predict(
        &mut self,
        learner: &impl Regressor,
        intervals: Option<&LearnerIntervals>,
        x: &[f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.numbers.resize(learner.outputs(), 0.0);
        match intervals {
            None => learner.predict_into(x, scratch, &mut self.numbers),
            Some(intervals) => {
                self.reach.resize(2 * learner.outputs(), 0.0);
                intervals.predict_into(learner, x, scratch, &mut self.numbers, &mut self.reach)
            }
        }
    }

    /// The same, and has the target learnt.
    fn learn(
        &mut self,
        learner: &mut impl Regressor,
        intervals: Option<&mut LearnerIntervals>,
        x: &[f64],
        target: Target<'_>,
    ) -> Result<(), Error> {
        self.numbers.resize(learner.outputs(), 0.0);
        match intervals {
            None => learner.learn(x, target, &mut self.numbers),
            Some(intervals) => {
                let Self { numbers, reach, scratch, .. } = self;
                reach.resize(2 * learner.outputs(), 0.0);
                intervals.learn(learner, x, target, scratch, numbers, reach)
            }
        }
    }

    /// Turns predictions into the targets' own units, and reaches into the ends of intervals.
    fn unscale(&mut self, scaling: Option<&Scaling>) -> Result<(), String> {
        let end = |number: &f64, reach: f64| if reach.is_finite() { number + reach } else { f64::NAN };
        for (ends, side, sign) in [(&mut self.lower, 0, -1.0), (&mut self.upper, 1, 1.0)] {
            ends.clear();
            let reaches = self.reach.iter().skip(side).step_by(2);
            ends.extend(self.numbers.iter().zip(reaches).map(|(number, reach)| end(number, sign * reach)));
        }
        let Some(scaling) = scaling else { return Ok(()) };
        scaling.invert_targets(&mut self.numbers).map_err(display)?;
        if self.reach.is_empty() {
            return Ok(());
        }
        scaling.invert_targets(&mut self.lower).and_then(|()| scaling.invert_targets(&mut self.upper)).map_err(display)
    }
}

fn display(error: impl std::fmt::Display) -> String {
    error.to_string()
}
