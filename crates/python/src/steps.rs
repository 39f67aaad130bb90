//! One example or one block of rows, learnt or predicted by a model of numbers or of classes.

use mercer::learners::intervals::IntervalScale;
use mercer::model::{Classification, Numbers, Regression, Tabular};
use mercer::readers::DataError;
use mercer::{Error, Regressor, RegressorExt, Rows, Scratch, Target};
use pyo3::prelude::*;

use crate::errors;
use crate::front::{Front, RowModel};
use crate::notes::Notes;
use crate::rows::EarlyEnd;

/// What is told beside predictions.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extra {
    Nothing,
    Deviation,
    Radius,
    /// Probabilities in place of the scores of classes.
    Probable,
}

pub(crate) fn data(error: DataError) -> PyErr {
    errors::data(error.to_string())
}

/// A class as Python has it, -1 for none.
pub(crate) fn code(class: Option<usize>) -> i64 {
    class.map_or(-1, |class| class as i64)
}

/// The classes that a model takes at most, if there is a limit.
pub(crate) fn most(body: &RowModel) -> Option<usize> {
    let RowModel::Classes(model) = body else { return None };
    (!model.task.classifier.is_open()).then(|| model.task.classifier.classes())
}

/// Brings predictions into the units of the targets.
pub(crate) fn unscale(model: &Regression, scores: &mut [f64]) -> PyResult<()> {
    model.scaling.as_ref().map_or(Ok(()), |scaling| scaling.invert_targets(scores)).map_err(data)
}

/// Learns the example that was read.
pub(crate) fn learn_numbers(py: Python<'_>, model: &mut Regression, front: &mut Front, w: f64) -> PyResult<()> {
    if let Some(scaling) = &model.scaling {
        scaling.targets(&mut front.y).map_err(data)?;
    }
    let target = Target::weighted(&front.y, w);
    front.scores.resize(model.task.learner.outputs(), 0.0);
    let Numbers { learner, intervals, score } = &mut model.task;
    let learnt = match intervals {
        None => learner.learn(&front.x, target, &mut front.scores),
        Some(intervals) => {
            front.radii.resize(learner.outputs(), 0.0);
            let scratch = &mut front.scratch;
            intervals.learn(learner, &front.x, target, scratch, &mut front.scores, &mut front.radii)
        }
    };
    learnt.map_err(|error| front.features.refusal(py, error))?;
    model.progress.rows += 1;
    score.record_weighted(&front.scores, &front.y, w);
    front.notes.hear(&front.y, front.y.len());
    front.notes.watch.record(&front.x, &front.scores, &front.y, w, model.task.learner.dictionary_size());
    front.notes.judge(model);
    Ok(())
}

/// The same of an example of the class in this place, or of a new one.
pub(crate) fn learn_class(
    model: &mut Classification,
    front: &mut Front,
    place: Option<usize>,
    y: &Bound<'_, PyAny>,
    w: f64,
) -> PyResult<()> {
    let class = place.unwrap_or(front.classes.len());
    let learnt = model.task.classifier.learn(&front.x, class, w);
    let predicted = learnt.map_err(|error| front.features.refusal(y.py(), error))?;
    if place.is_none() && w != 0.0 {
        front.classes.append(y)?;
    }
    model.progress.rows += 1;
    model.task.learnt += 1;
    model.task.score.record(class, predicted, None, w);
    front.notes.judge_classes(model);
    Ok(())
}

/// Learns rows and appends their predictions.
pub(crate) fn learn_block(model: &mut Regression, rows: Rows<'_>, made: &mut Vec<f64>) -> Result<(), Error> {
    let Tabular { progress, task: Numbers { learner, intervals, score }, .. } = model;
    let (outputs, start) = (learner.outputs(), made.len());
    let local = intervals.as_ref().is_some_and(|intervals| intervals.scale() == IntervalScale::Deviation);
    let learnt = match intervals {
        Some(intervals) if local => {
            let (mut scratch, mut radii, mut scores) = (Scratch::default(), vec![0.0; outputs], vec![0.0; outputs]);
            rows.iter().try_for_each(|(x, target)| {
                intervals.learn(learner, x, target, &mut scratch, &mut scores, &mut radii)?;
                made.extend_from_slice(&scores);
                Ok(())
            })
        }
        _ => learner.learn_rows(rows, made),
    };
    for (row, scores) in made[start..].chunks_exact(outputs.max(1)).enumerate() {
        let target = rows.target(row);
        if !local
            && target.weight != 0.0
            && let Some(intervals) = intervals
        {
            intervals.conformal.observe(scores, target.y)?;
        }
        score.record_weighted(scores, target.y, target.weight);
        progress.rows += 1;
    }
    learnt
}

/// A model has learnt rows.
pub(crate) fn judge(body: &RowModel, notes: &mut Notes) {
    match body {
        RowModel::Numbers(model) => notes.judge(model),
        RowModel::Classes(model) => notes.judge_classes(model),
    }
}

/// The prediction for one input, which is row `row` of a batch, and what is told beside it.
pub(crate) fn predict(
    model: &Regression,
    x: &[f64],
    beside: Extra,
    scratch: &mut Scratch,
    scores: &mut [f64],
    others: &mut [f64],
    row: usize,
) -> Result<(), EarlyEnd> {
    let (outputs, refused) = (scores.len(), |error| EarlyEnd::Row(row, error));
    if matches!(beside, Extra::Nothing | Extra::Probable) {
        model.task.learner.predict_into(x, scratch, scores).map_err(refused)?;
        return Ok(unscale(model, scores)?);
    }
    let others = &mut others[row * outputs..(row + 1) * outputs];
    if beside == Extra::Deviation {
        model.task.learner.predict_variance_into(x, scratch, scores, others).map_err(refused)?;
        others.iter_mut().for_each(|variance| *variance = variance.sqrt());
    } else {
        let intervals = model.task.intervals.as_ref().ok_or_else(no_intervals)?;
        intervals.predict_into(&model.task.learner, x, scratch, scores, others).map_err(refused)?;
    }
    if let Some(scaling) = &model.scaling {
        others.iter_mut().zip(scaling.target_units()).for_each(|(other, unit)| *other *= unit);
    }
    Ok(unscale(model, scores)?)
}

pub(crate) fn no_intervals() -> PyErr {
    errors::data("the model has no intervals; make it with intervals=0.9, say, before it learns")
}

pub(crate) fn no_probabilities() -> PyErr {
    errors::data("the loss of this learner has no probabilities; make it with calibrated=True")
}
