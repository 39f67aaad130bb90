//! A block of rows learnt, and one input predicted, by a model of numbers.

use mercer::learners::intervals::IntervalScale;
use mercer::learners::{Input, predict_input};
use mercer::model::{BackgroundRows, Numbers, Progress};
use mercer::session::{RowPrediction, Session, predicts_late};
use mercer::{Error, RegressorExt, Rows, Scratch};
use pyo3::prelude::*;

use crate::body::scores;
use crate::errors;
use crate::rows::EarlyEnd;

/// What is told beside predictions.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extra {
    Nothing,
    Deviation,
    /// How far intervals go below and above each prediction.
    Reach,
    /// Probabilities in place of the scores of classes.
    Probable,
}

impl Extra {
    /// What Python calls this.
    pub(crate) fn named(name: &str) -> PyResult<Self> {
        Ok(match name {
            "" => Self::Nothing,
            "deviation" => Self::Deviation,
            "reach" => Self::Reach,
            "probable" => Self::Probable,
            _ => return Err(errors::wrong_kind()),
        })
    }

    /// What was made of a row that was predicted, the numbers or the scores of classes, and what is
    /// beside it.
    pub(crate) fn complete<'a>(self, model: &Session, work: &'a mut RowPrediction) -> PyResult<(&'a [f64], &'a [f64])> {
        match (self, model.numbers()) {
            (Self::Probable, _) if work.judged.probabilities.is_empty() => Err(no_probabilities()),
            (Self::Probable, _) => Ok((&work.judged.probabilities, &[])),
            (Self::Reach, _) if model.intervals().is_none() => Err(no_intervals()),
            (Self::Reach, _) => Ok((&work.numbers, &work.reach)),
            (Self::Deviation, Some(Numbers { learner, .. })) => {
                let RowPrediction { input, scratch, numbers, scores, .. } = work;
                scores.resize(numbers.len(), 0.0);
                learner.predict_variance_into(input.numbers(), scratch, numbers, scores).map_err(errors::learner)?;
                scores.iter_mut().for_each(|variance| *variance = variance.sqrt());
                Ok((numbers, scores))
            }
            _ => Ok((scores(model, work), &[])),
        }
    }

    /// Numbers beside so many predictions.
    pub(crate) fn width(self, outputs: usize) -> usize {
        match self {
            Self::Nothing | Self::Probable => 0,
            Self::Deviation => outputs,
            Self::Reach => 2 * outputs,
        }
    }
}

/// A class as Python has it, -1 for none.
pub(crate) fn code(class: Option<usize>) -> i64 {
    class.map_or(-1, |class| class as i64)
}

/// Learns rows and appends their predictions.
pub(crate) fn learn_block(
    task: &mut Numbers,
    (progress, background): (&mut Progress, &mut BackgroundRows),
    rows: Rows<'_>,
    made: &mut Vec<f64>,
) -> Result<(), Error> {
    let Numbers { learner, intervals, score } = task;
    let (outputs, start) = (learner.outputs(), made.len());
    let local = intervals.as_ref().is_some_and(|intervals| intervals.scale() != IntervalScale::Error);
    let learnt = match intervals {
        Some(intervals) if local => {
            let (mut scratch, mut reach, mut scores) = (Scratch::default(), vec![0.0; 2 * outputs], vec![0.0; outputs]);
            (0..rows.len()).try_for_each(|row| {
                let (input, target) = (rows.whole_input(row), rows.target(row));
                intervals.learn(learner, input, target, &mut scratch, &mut scores, &mut reach)?;
                made.extend_from_slice(&scores);
                Ok(())
            })
        }
        _ => learner.learn_rows(rows, made),
    };
    let ones = vec![1.0; outputs];
    for (row, scores) in made[start..].chunks_exact(outputs.max(1)).enumerate() {
        let target = rows.target(row);
        if !local
            && target.weight != 0.0
            && let Some(intervals) = intervals
        {
            intervals.observe(scores, target.y, &ones)?;
        }
        let unscored = score.rounds() == 0 && predicts_late(learner.learner());
        score.record_weighted(scores, target.y, if unscored { 0.0 } else { target.weight });
        if target.weight != 0.0 {
            background.take(rows.whole_input(row).numbers);
        }
        progress.rows += 1;
    }
    learnt
}

/// The prediction for one input, which is row `row` of a batch, and what is told beside it.
pub(crate) fn predict(
    task: &Numbers,
    input: Input<'_>,
    beside: Extra,
    scratch: &mut Scratch,
    scores: &mut [f64],
    others: &mut [f64],
    row: usize,
) -> Result<(), EarlyEnd> {
    let (outputs, refused) = (scores.len(), |error| EarlyEnd::Row(row, error));
    if matches!(beside, Extra::Nothing | Extra::Probable) {
        return predict_input(&task.learner, input, scratch, scores).map_err(refused);
    }
    let width = beside.width(outputs);
    let others = &mut others[row * width..(row + 1) * width];
    if beside == Extra::Deviation {
        task.learner.predict_variance_into(input.numbers, scratch, scores, others).map_err(refused)?;
        others.iter_mut().for_each(|variance| *variance = variance.sqrt());
    } else {
        let intervals = task.intervals.as_ref().ok_or_else(no_intervals)?;
        intervals.predict_into(&task.learner, input, scratch, scores, others).map_err(refused)?;
    }
    Ok(())
}

pub(crate) fn no_intervals() -> PyErr {
    errors::data("the model has no intervals; make it with intervals=0.9, say, before it learns")
}

pub(crate) fn no_probabilities() -> PyErr {
    errors::data("the loss of this learner has no probabilities; make it with calibrated=True")
}
