//! The model behind a learner or a table: how it is made, and how it learns a row.

use mercer::catalogue::Built;
use mercer::core::TokenUse;
use mercer::encoding::{Cells, Encoding, EncodingError, EncodingOptions, Overrides, ScaledTargets, Schema, ToldKind};
use mercer::experts::Outliers;
use mercer::model::{Classes, Numbers, Tabular, Task};
use mercer::readers::Labels;
use mercer::session::{Lesson, RowPrediction, Session};
use mercer::{Error, Loss, RegressorExt};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::cells::PythonRow;
use crate::classes::MetClasses;
use crate::errors;
use crate::making::{DataFacts, Extras, LearnerSpec, intervals};
use crate::notes::Notes;

/// Multiply-adds a row that the learner was allowed, 1 where it has no such key.
pub(crate) fn budget(model: &Session) -> usize {
    let given = model.description.parameters.iter().find(|(key, _)| key == "budget");
    given.and_then(|(_, value)| value.parse::<f64>().ok()).map_or(1, |budget| budget as usize)
}

/// How many numbers or classes a prediction has.
pub(crate) fn width(model: &Session) -> usize {
    match &model.task {
        Task::Numbers(task) => task.learner.outputs(),
        Task::Classes(task) => task.classifier.classes(),
    }
}

/// The classes that a model takes at most, if there is a limit.
pub(crate) fn most(model: &Session) -> Option<usize> {
    let classifier = &model.classes()?.classifier;
    (!classifier.is_open()).then(|| classifier.classes())
}

/// What a model has beside its learner.
pub(crate) fn extras(model: &Session) -> Extras {
    match &model.task {
        Task::Numbers(task) => Extras::of(task),
        Task::Classes(task) => Extras(None, false, task.classifier.is_calibrated()),
    }
}

/// The share of targets that their intervals held so far, one a target; none without intervals.
pub(crate) fn coverage(model: &Session) -> Option<Vec<f64>> {
    let intervals = model.numbers()?.intervals.as_ref()?;
    Some((0..intervals.outputs()).map(|output| intervals.held(output)).collect())
}

/// The encoding of a table.
pub(crate) fn encoding(model: &Session) -> PyResult<&Encoding> {
    model.encoding.as_ref().ok_or_else(errors::wrong_kind)
}

/// The model has so many inputs more, which were 0 in the rows learnt so far.
pub(crate) fn grow(model: &mut Session, added: usize) -> Result<(), Error> {
    match &mut model.task {
        Task::Numbers(task) => task.learner.grow(added),
        Task::Classes(task) => task.classifier.grow(added),
    }
}

/// The bytes of a file, of classes with these labels.
pub(crate) fn file(model: &mut Session, labels: impl FnOnce() -> PyResult<Labels>) -> PyResult<Vec<u8>> {
    if let Task::Classes(task) = &mut model.task {
        task.labels = labels()?;
    }
    model.to_bytes().map_err(errors::model)
}

/// Columns appear late, none of which is known; in the rows learnt so far their numbers count as 0.
pub(crate) fn add_columns(
    model: &mut Session,
    columns: Vec<(String, ToldKind)>,
) -> PyResult<Result<(), EncodingError>> {
    let options = encoding(model)?.transform().options();
    let added = match Encoding::of_kinds(columns.clone(), options) {
        Ok(alone) => alone.dimension(),
        Err(EncodingError::NothingLeft) => 0,
        Err(error) => return Ok(Err(error)),
    };
    if added > 0
        && let Err(error) = grow(model, added)
    {
        return Ok(Err(error.into()));
    }
    let encoding = model.encoding.as_mut().ok_or_else(errors::wrong_kind)?;
    Ok(columns.into_iter().try_for_each(|(name, kind)| encoding.add_column(&name, kind).map(drop)))
}

/// The numbers, or the scores of classes, that were predicted last.
pub(crate) fn scores<'a>(model: &Session, made: &'a RowPrediction) -> &'a [f64] {
    if model.classes().is_some() { &made.scores } else { &made.numbers }
}

/// A prediction as Python has it: a number, several, or a label.
pub(crate) fn told<'py>(
    py: Python<'py>,
    model: &Session,
    scores: &[f64],
    classes: &MetClasses,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(task) = model.classes() {
        let label = task.classifier.choice(scores).and_then(|class| classes.label(py, class));
        return Ok(label.unwrap_or_else(|| py.None().into_bound(py)));
    }
    match scores {
        [score] => Ok(score.into_pyobject(py)?.into_any()),
        _ => Ok(PyList::new(py, scores)?.into_any()),
    }
}

/// The encoding of a table with this head, some of whose columns are of a kind that is told, and
/// where others may be `means` of the target, for a learner of these tokens; without columns one of
/// the kinds alone.
pub(crate) fn encoding_of(
    names: &[String],
    head: &[PythonRow<'_>],
    (kinds, means): (Vec<(String, String)>, bool),
    (scale, tokens): (&str, TokenUse),
) -> PyResult<Encoding> {
    let options = EncodingOptions::default().scale(scale.parse().map_err(errors::encoding)?).tokens(tokens);
    let parsed = |(name, kind): (String, String)| kind.parse::<ToldKind>().map(|kind| (name, kind));
    let kinds: Vec<_> = kinds.into_iter().map(parsed).collect::<Result<_, _>>().map_err(errors::encoding)?;
    let encoding = if names.is_empty() {
        Encoding::of_kinds(kinds, options)
    } else {
        let overrides = kinds.into_iter().fold(Overrides::default(), |all, (name, kind)| all.kind(name, kind));
        Schema::infer(names, head, &overrides).and_then(|mut schema| {
            if tokens != TokenUse::Never {
                schema.take_words(&overrides);
            }
            if means {
                schema.take_means(&overrides, options.categories);
            }
            let mut encoding = Encoding::new(schema, options)?;
            encoding.learn_head(head)?;
            Ok(encoding)
        })
    };
    encoding.map_err(errors::encoding)
}

/// What a model is made of.
pub(crate) struct ModelPlan {
    pub(crate) spec: LearnerSpec,
    pub(crate) extras: Extras,
    /// Whether targets are scaled, too.
    pub(crate) scaled: bool,
    pub(crate) outliers: Outliers,
}

impl ModelPlan {
    /// An untrained model for such data, of rows of numbers or behind an encoding; of classes of
    /// which `two` may be settled, or of numbers.
    pub(crate) fn make(&self, known: &DataFacts<'_>, two: bool, encoding: Option<Encoding>) -> PyResult<Session> {
        let Self { spec, extras: Extras(coverage, local, calibrated), scaled, outliers } = self;
        if known.outputs == 0 {
            return Err(errors::data("the target has no number; give one, or several"));
        }
        let kernel = spec.kernel(known)?;
        let (parameters, task) = if known.classes {
            let (classifier, parameters) = spec.classifier(&kernel, known, two, *calibrated)?;
            (parameters, Task::Classes(Box::new(Classes::new(classifier, Labels::new()))))
        } else {
            let Built { learner, parameters } = spec.build(&kernel, known, None)?;
            let intervals = intervals(&learner, *coverage, *local)?;
            let learner = if learner.loss() == Loss::SQUARED && *scaled {
                ScaledTargets::new(learner).map_err(errors::encoding)?
            } else {
                ScaledTargets::unscaled(learner)
            };
            let task = Numbers { intervals, ..Numbers::new(learner.screening(*outliers)) };
            (parameters, Task::Numbers(Box::new(task)))
        };
        let description = spec.describe(&kernel, &parameters);
        Ok(Tabular { description, encoding, ..Tabular::plain(task) })
    }
}

/// Learns a row of a table, which is number `row` of a batch, and leaves the prediction in the
/// memory; the answer is the class that was predicted.
pub(crate) fn teach(
    model: &mut Session,
    notes: &mut Notes,
    record: &impl Cells,
    row: Option<usize>,
    lesson: Lesson<'_>,
    work: &mut RowPrediction,
) -> PyResult<Option<usize>> {
    model.learn_record(record, lesson, &mut notes.watch, work).map_err(errors::step)?;
    if let Some(learner) = model.screened() {
        notes.screened(learner);
    }
    notes.look(row, encoding(model)?, record);
    model.progress.rows += 1;
    notes.judge(model);
    Ok(model.classes().and(work.judged.class))
}
