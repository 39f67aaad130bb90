//! One row: predicted, learnt and scored, the same for every door.
//!
//! A row is predicted by the state before it, its target is then learnt, and the prediction is
//! scored. The statistics of the encoding move last, so that a refused row leaves no trace.

mod tabular;

use mercer_encoding::ScaledTargets;
use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Input, Inputs, Regressor, RegressorExt, Scratch, Target, predict_input};
use mercer_readers::{Example, Record};
use mercer_registry::AnyRegressor;

use crate::answer::{EarlyPrediction, RowPrediction, RunningScore, StepError};
use crate::classes::{ClassPrediction, find_class};
use crate::model::{Classes, Numbers, RowDigest, Task};
use crate::notes::Watch;

/// The largest target that is learnt: sums of squares of many are finite.
const LARGEST_TARGET: f64 = 1e150;

/// A row as it was read: numbers, or a record of a table with its targets.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Features, targets or label, and weight. Its features are empty where there is a record.
    pub example: Example,
    /// The cells in the order of the schema; empty where the features are numbers.
    pub record: Record,
    /// The id by which its label comes; empty if it has none.
    pub id: String,
}

impl RowPrediction {
    /// The signed error of the prediction that was made for a row with a target: of the first
    /// number; of two classes the later in sorted order less the one that was told, 1, 0 or −1; of
    /// more classes 1 for a mistake. NaN without a target.
    #[must_use]
    pub fn signed_error(&self, row: &Row, task: &Task) -> f64 {
        let (label, Task::Classes(task)) = (&row.example.label, task) else {
            return row.example.targets.first().map_or(f64::NAN, |y| y - self.numbers[0]);
        };
        if label.is_empty() {
            return f64::NAN;
        }
        let told = self.judged.class.and_then(|class| task.labels.get(class));
        if told == Some(label) {
            return 0.0;
        }
        let later = if task.labels.len() == 2 { task.labels.later(0, 1) } else { None };
        if told.is_some() && later.is_some_and(|later| task.labels.get(later) != Some(label)) { -1.0 } else { 1.0 }
    }
}

/// A target to be learnt.
#[derive(Clone, Copy, Debug)]
pub enum Lesson<'a> {
    /// Numbers, in the units of the learner where rows are scaled beforehand, and their weight.
    Numbers(Target<'a>),
    /// A class.
    Class {
        /// Its place among the classes; the number of those known for a new one.
        class: usize,
        /// Classes that were met before.
        known: usize,
        /// Weight of the row.
        weight: f64,
    },
}

impl Task {
    /// Predicts inputs, of classes `known` of which were met. `O(prediction)`.
    ///
    /// # Errors
    /// As the learner.
    pub fn predict<'x>(
        &self,
        input: impl Into<Input<'x>>,
        known: usize,
        answer: &mut RowPrediction,
    ) -> Result<(), Error> {
        let input = input.into();
        (answer.silent, answer.known) = (self.is_silent(), known);
        let RowPrediction { numbers, reach, scales, variances, scores, judged, scratch, .. } = answer;
        match self {
            Self::Numbers(task) => {
                let Numbers { learner, intervals, .. } = &**task;
                numbers.resize(learner.outputs(), 0.0);
                tell_variances(learner, input, scratch, numbers, variances)?;
                match intervals {
                    None => predict_input(learner, input, scratch, numbers),
                    Some(intervals) => {
                        reach.resize(2 * learner.outputs(), 0.0);
                        scales.resize(learner.outputs(), 1.0);
                        intervals.predict_scaled(learner, input, scratch, numbers, scales, reach)
                    }
                }
            }
            Self::Classes(task) => {
                let Classes { classifier, labels, .. } = &**task;
                classifier.scores_with(input, scratch, scores)?;
                judged.read(classifier, labels, known, scores);
                Ok(())
            }
        }
    }

    /// Predicts inputs, has their target learnt, and scores the prediction. The first row is no
    /// part of the score of a learner that predicts nothing before it has seen one. A new class
    /// gets its name from the caller.
    ///
    /// # Errors
    /// As the learner, which is then as before; [`StepError::Target`] for a target of another kind.
    pub fn learn<'x>(
        &mut self,
        input: impl Into<Input<'x>>,
        lesson: Lesson<'_>,
        watch: &mut Watch,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        self.learn_watched(input.into(), lesson, None, Some(watch), answer)
    }

    /// [`learn`](Self::learn) that scores a prediction that was made `early`, if there is one, and
    /// has the row watched, if it is to be.
    pub(crate) fn learn_watched(
        &mut self,
        input: Input<'_>,
        lesson: Lesson<'_>,
        early: Option<&EarlyPrediction>,
        watch: Option<&mut Watch>,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        answer.silent = early.map_or_else(|| self.is_silent(), |early| early.silent);
        match (self, lesson) {
            (Self::Numbers(task), Lesson::Numbers(target)) => task.learn(input, target, early, watch, answer),
            (Self::Classes(task), Lesson::Class { class, known, weight }) => {
                answer.known = known;
                let RowPrediction { judged, scores, silent, .. } = answer;
                let keep = |_: &ClassPrediction, made: &[f64]| {
                    scores.clear();
                    scores.extend_from_slice(made);
                };
                let Some(early) = early else {
                    return Ok(task.learn_rows(input, (&[class], known), &[weight], judged, keep)?);
                };
                let mut score = std::mem::take(&mut task.score);
                let learnt = task.learn_rows(input, (&[class], known), &[weight], judged, keep);
                if learnt.is_ok() && !*silent {
                    early.judged.score_in(&mut score, class, &task.classifier, weight);
                }
                task.score = score;
                Ok(learnt?)
            }
            (Self::Numbers(_), _) => {
                Err(StepError::Target("the model learns numbers, and the target is a class".into()))
            }
            (Self::Classes(_), _) => {
                Err(StepError::Target("the model learns classes, and the target is a number".into()))
            }
        }
    }
}

impl Numbers {
    /// Predicts and learns a row, and scores the prediction, or the `early` one.
    fn learn(
        &mut self,
        input: Input<'_>,
        target: Target<'_>,
        early: Option<&EarlyPrediction>,
        watch: Option<&mut Watch>,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        if let Some(large) = target.y.iter().find(|y| y.abs() > LARGEST_TARGET) {
            return Err(StepError::Target(format!(
                "the target {large:e} is too large: squares of errors would overflow; divide the targets by a constant"
            )));
        }
        let Self { learner, intervals, score } = self;
        let RowPrediction { numbers, reach, scratch, variances, silent, .. } = answer;
        numbers.resize(learner.outputs(), 0.0);
        tell_variances(learner, input, scratch, numbers, variances)?;
        match (intervals, early) {
            (None, _) => learner.learn_input(input, target, numbers)?,
            (Some(intervals), None) => {
                reach.resize(2 * learner.outputs(), 0.0);
                intervals.learn(learner, input, target, scratch, numbers, reach)?;
            }
            (Some(intervals), Some(early)) => {
                learner.learn_input(input, target, numbers)?;
                if target.weight != 0.0 {
                    intervals.observe(&early.numbers, target.y, &early.scales).map_err(Error::from)?;
                }
            }
        }
        let numbers = early.map_or(&**numbers, |early| &*early.numbers);
        let (made, weight) = if *silent { (&[][..], 0.0) } else { (numbers, target.weight) };
        score.record_weighted(numbers, target.y, weight);
        if let Some(watch) = watch {
            watch.record(input.numbers, made, target.y, target.weight, learner.dictionary_size());
        }
        Ok(())
    }
}

/// Puts the variances of the targets of a row into their place, if they are asked for.
fn tell_variances(
    learner: &ScaledTargets<AnyRegressor<AnyKernel>>,
    input: Input<'_>,
    scratch: &mut Scratch,
    numbers: &mut [f64],
    variances: &mut Option<Vec<f64>>,
) -> Result<(), Error> {
    let Some(variances) = variances else { return Ok(()) };
    variances.resize(numbers.len(), f64::NAN);
    learner.predict_variance_into(input.numbers, scratch, numbers, variances).map(drop)
}

impl Classes {
    /// Predicts, learns and scores rows that are known together, of whose classes `known` were met
    /// before; `each` is told every prediction, with the scores of the learner. Without weights
    /// each row counts once.
    ///
    /// # Errors
    /// As the learner; the rows before the one that is refused are learnt.
    pub fn learn_rows<'x>(
        &mut self,
        inputs: impl Into<Inputs<'x>>,
        (classes, mut known): (&[usize], usize),
        weights: &[f64],
        judged: &mut ClassPrediction,
        mut each: impl FnMut(&ClassPrediction, &[f64]),
    ) -> Result<(), Error> {
        let Self { classifier, labels, learnt, score } = self;
        classifier.learn_rows(inputs, classes, weights, |row, classifier, made| {
            let (class, weight) = (classes[row], weights.get(row).copied().unwrap_or(1.0));
            judged.read(classifier, labels, known, made);
            if *learnt > 0 || !predicts_late(classifier.learner()) {
                judged.score_in(score, class, classifier, weight);
            }
            *learnt += 1;
            known += usize::from(class == known && weight != 0.0);
            each(judged, made);
        })
    }
}

impl Task {
    /// True if the learner has learnt nothing and predicts nothing then.
    pub(crate) fn is_silent(&self) -> bool {
        let (learnt, learner) = match self {
            Self::Numbers(task) => (task.score.rounds() > 0, task.learner.learner()),
            Self::Classes(task) => (task.learnt > 0, task.classifier.learner()),
        };
        !learnt && predicts_late(learner) && learner.dictionary_size() == 0
    }

    /// The lesson of an example.
    fn lesson<'a>(&self, example: &'a Example) -> Result<Lesson<'a>, StepError> {
        let Example { targets, label, weight, .. } = example;
        Ok(match self {
            Self::Numbers(_) => Lesson::Numbers(Target::weighted(targets, *weight)),
            Self::Classes(task) => {
                let class = find_class(&task.labels, &task.classifier, label).map_err(StepError::Target)?;
                Lesson::Class { class, known: task.labels.len(), weight: *weight }
            }
        })
    }

    /// Predicts, learns and scores an example; a label that is learnt for the first time becomes a
    /// class. Gives the number whose means columns of categories have.
    pub(crate) fn learn_example(
        &mut self,
        input: Input<'_>,
        example: &Example,
        early: Option<&EarlyPrediction>,
        watch: Option<&mut Watch>,
        answer: &mut RowPrediction,
    ) -> Result<Option<f64>, StepError> {
        let lesson = self.lesson(example)?;
        self.learn_watched(input, lesson, early, watch, answer)?;
        // A class that is not learnt is none.
        if let Self::Classes(task) = self
            && example.weight != 0.0
        {
            task.labels.insert(&example.label);
        }
        Ok(lesson.mean())
    }

    /// The score of the predictions so far, each made before its target was shown.
    #[must_use]
    pub fn running_score(&self) -> RunningScore {
        match self {
            Self::Numbers(task) => {
                let score = &task.score;
                RunningScore { rounds: score.rounds(), weight: score.weight(), loss: score.cumulative_loss() }
            }
            Self::Classes(task) => {
                let score = &task.score;
                RunningScore { rounds: task.learnt as usize, weight: score.weight(), loss: score.mistakes() }
            }
        }
    }
}

/// Tells if a learner predicts nothing before it has seen a row.
#[must_use]
pub fn predicts_late(learner: &AnyRegressor<AnyKernel>) -> bool {
    matches!(learner, AnyRegressor::Auto(_) | AnyRegressor::AutoWithTokens(_))
}

impl Lesson<'_> {
    fn weight(&self) -> f64 {
        match self {
            Self::Numbers(target) => target.weight,
            Self::Class { weight, .. } => *weight,
        }
    }

    /// The number whose means columns of categories have: the first of several; of classes, 1 for
    /// the first.
    pub(crate) fn mean(&self) -> Option<f64> {
        match self {
            Self::Numbers(target) => target.y.first().copied(),
            Self::Class { class, .. } => Some(f64::from(u8::from(*class == 0))),
        }
    }
}

impl Row {
    /// The input of a row of numbers, with its tokens where it has some.
    #[must_use]
    pub fn input(&self) -> Input<'_> {
        Input { numbers: &self.example.features, tokens: self.example.tokens.as_ref() }
    }

    /// A digest of the rows met, with this one more: its numbers or its cells, the checksum of its
    /// label, and its weight, if rows are `weighted`.
    #[must_use]
    pub fn digest(&self, seen: RowDigest, weighted: bool) -> RowDigest {
        let Self { example: Example { features, targets, label, weight, tokens }, record, .. } = self;
        let plain = record.is_empty();
        if label.is_empty() && !weighted && plain && tokens.is_none() {
            return seen.after([features, targets]);
        }
        let mut rest = targets.clone();
        if !label.is_empty() {
            rest.push(f64::from(crc32fast::hash(label.as_bytes())));
        }
        if weighted {
            rest.push(*weight);
        }
        if let Some(row) = tokens.as_ref().filter(|_| plain) {
            let halves = |key: u64| [(key >> 32) as u32, key as u32].map(f64::from);
            rest.extend(row.tokens().flat_map(|token| halves(token.key).into_iter().chain([token.value])));
        }
        if plain { seen.after([features, &rest]) } else { seen.after_cells(record, &rest) }
    }
}
