//! Rows that are known together: learnt in a block, with the predictions of row by row to rounding.

use mercer_learners::intervals::LearnerIntervals;
use mercer_learners::{Error, Inputs, Loss, RegressorExt, Rows, Target, Targets};

use crate::classes::{ClassPrediction, find_class};
use crate::model::{Classes, Numbers, Task};
use crate::step::{RowPrediction, StepError};

/// The targets of rows, row by row: numbers, or labels.
#[derive(Clone, Copy, Debug)]
pub enum BlockTargets<'a> {
    /// As many a row as the learner has outputs.
    Numbers(&'a [f64]),
    /// One a row.
    Labels(&'a [&'a str]),
}

/// Predictions of rows in their order; the memory is used again.
#[derive(Default)]
pub struct BlockPredictions {
    /// One a row and output; none of classes.
    pub numbers: Vec<f64>,
    /// How far intervals go below and above each number; infinite where there is none yet, empty
    /// where a model has none.
    pub reach: Vec<f64>,
    /// One a number, NaN where there is none; empty if they are not asked for.
    pub variances: Vec<f64>,
    /// One a row of classes.
    pub classes: Vec<ClassRound>,
}

/// A row of a class as it was predicted.
#[derive(Clone, Debug, Default)]
pub struct ClassRound {
    /// What was predicted.
    pub judged: ClassPrediction,
    /// The place of the class that the row has among those of the model.
    pub class: usize,
    /// Classes that were met before it.
    pub known: usize,
    /// What the learner minimises; none for a class that it had not met.
    pub loss: Option<f64>,
}

impl BlockPredictions {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.reach.clear();
        self.variances.clear();
        self.classes.clear();
    }

    /// Adds a row that was predicted alone, which has that class among those of the model.
    pub fn push(&mut self, model: &Task, answer: &RowPrediction, class: usize) {
        match model {
            Task::Numbers(task) => {
                self.numbers.extend_from_slice(&answer.numbers);
                self.variances.extend(answer.variances.iter().flatten());
                if task.intervals.is_some() {
                    self.reach.extend_from_slice(&answer.reach);
                }
            }
            Task::Classes(task) => {
                // The scores of a group's own model are those of its own classes.
                let (loss, is_open) = (task.classifier.learner().loss(), task.classifier.is_open());
                let own = answer.group.own.is_some();
                let loss = if own { None } else { class_loss(loss, is_open, &answer.scores, class) };
                self.classes.push(ClassRound { judged: answer.judged.clone(), class, known: answer.known, loss });
            }
        }
    }
}

impl Task {
    /// Predicts, learns and scores rows that are known together; without weights each counts once.
    /// Predictions are added to `made`; those of an error are of the rows before it, which are
    /// learnt.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn learn_rows(
        &mut self,
        inputs: Inputs<'_>,
        targets: BlockTargets<'_>,
        weights: &[f64],
        made: &mut BlockPredictions,
    ) -> Result<(), StepError> {
        match (self, targets) {
            (Self::Numbers(task), BlockTargets::Numbers(targets)) => {
                Ok(task.learn_rows(inputs, targets, weights, made)?)
            }
            (Self::Classes(task), BlockTargets::Labels(labels)) => task.learn_labels(inputs, labels, weights, made),
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
    fn learn_rows(
        &mut self,
        inputs: Inputs<'_>,
        targets: &[f64],
        weights: &[f64],
        made: &mut BlockPredictions,
    ) -> Result<(), Error> {
        let Self { learner, intervals, score } = self;
        let (d, m, before) = (learner.dimension(), learner.outputs(), made.numbers.len());
        let learnt = if targets.len() == m {
            made.numbers.resize(before + m, 0.0);
            let target = Target::weighted(targets, weights.first().copied().unwrap_or(1.0));
            let learnt = learner.learn_input(inputs.row(0, d), target, &mut made.numbers[before..]);
            if learnt.is_err() {
                made.numbers.truncate(before);
            }
            learnt
        } else {
            Targets::new(targets, weights, m)
                .and_then(|targets| Rows::new(inputs.numbers, d, targets))
                .and_then(|rows| rows.with_tokens(inputs.tokens))
                .and_then(|rows| learner.learn_rows(rows, &mut made.numbers))
        };
        let predicted = made.numbers[before..].chunks_exact(m).zip(targets.chunks_exact(m));
        for (row, (numbers, targets)) in predicted.enumerate() {
            let weight = weights.get(row).copied().unwrap_or(1.0);
            if let Some(intervals) = intervals {
                reach_and_observe(intervals, numbers, targets, weight, &mut made.reach)?;
            }
            score.record_weighted(numbers, targets, weight);
        }
        learnt
    }
}

/// Adds the reach of intervals of the errors as they are, which then learn what came.
fn reach_and_observe(
    intervals: &mut LearnerIntervals,
    numbers: &[f64],
    targets: &[f64],
    weight: f64,
    reach: &mut Vec<f64>,
) -> Result<(), Error> {
    let (before, scales) = (reach.len(), vec![1.0; numbers.len()]);
    reach.resize(before + 2 * numbers.len(), 0.0);
    intervals.reach(numbers, &scales, &mut reach[before..]);
    if weight != 0.0 {
        intervals.observe(numbers, targets, &scales)?;
    }
    Ok(())
}

impl Classes {
    fn learn_labels(
        &mut self,
        inputs: Inputs<'_>,
        names: &[&str],
        weights: &[f64],
        made: &mut BlockPredictions,
    ) -> Result<(), StepError> {
        let weight = |row: usize| weights.get(row).copied().unwrap_or(1.0);
        let (known, mut classes, mut third) = (self.labels.len(), Vec::with_capacity(names.len()), None);
        for (row, label) in names.iter().enumerate() {
            match find_class(&self.labels, &self.classifier, label) {
                Ok(class) => classes.push(class),
                Err(why) => {
                    third = Some(why);
                    break;
                }
            }
            // What is not learnt does not become a class.
            if weight(row) != 0.0 {
                self.labels.insert(label);
            }
        }
        let (rows, d) = (classes.len(), self.classifier.learner().dimension());
        let weights = weights.get(..rows).unwrap_or_default();
        let (loss, is_open) = (self.classifier.learner().loss(), self.classifier.is_open());
        let (mut judged, mut met, mut learnt) = (ClassPrediction::default(), known, 0);
        self.learn_rows(inputs.range(0, rows, d), (&classes, known), weights, &mut judged, |one, scores| {
            let class = classes[learnt];
            let loss = class_loss(loss, is_open, scores, class);
            made.classes.push(ClassRound { judged: one.clone(), class, known: met, loss });
            met += usize::from(class == met && weight(learnt) != 0.0);
            learnt += 1;
        })?;
        third.map_or(Ok(()), |why| Err(StepError::Target(why)))
    }
}

/// What a learner of classes minimises, for a row with these scores.
fn class_loss(loss: Loss, is_open: bool, scores: &[f64], class: usize) -> Option<f64> {
    if class >= scores.len() {
        return None;
    }
    let sign = |is: bool| if is { 1.0 } else { -1.0 };
    Some(match scores {
        _ if loss == Loss::SOFTMAX => loss.value(scores, &[class as f64]),
        [_, z] if !is_open => loss.value(&[*z], &[sign(class == 1)]),
        _ => (0..scores.len()).map(|k| loss.value(&scores[k..=k], &[sign(k == class)])).sum(),
    })
}
