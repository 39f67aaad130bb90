//! Effects of columns on predictions: `base + Σ effects = prediction`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use mercer::Error;
use mercer::model::Task;
use mercer::session::Session;
use mercer::session::explain::{Absence, Aim, ExplainedColumns, Explainer};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::batch::Batch;
use crate::front::Core;
use crate::rows::{EarlyEnd, at_row, check_width, in_pieces, in_pieces_of};
use crate::shared::FairLock;
use crate::{arrays, errors};

/// Rows of a piece where effects are exact: what all share is made once a piece.
const PIECE: usize = 256;

/// Columns, the base and the prediction of each row, its effects, and their standard errors where
/// they are sampled.
pub(crate) type ToldEffects<'py> = (
    Vec<String>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray2<f64>>,
    Option<Bound<'py, PyArray2<f64>>>,
);

/// What is asked: the effects on a number of several, or on the score of a class, by its place.
pub(crate) struct AskedEffects {
    pub(crate) aim: usize,
    /// Rows in which absent columns stay together; those that the model keeps if there are none.
    pub(crate) background: Vec<Vec<f64>>,
    pub(crate) permutations: usize,
}

/// What was told of rows so far.
#[derive(Default)]
pub(crate) struct GatheredEffects {
    names: Vec<String>,
    bases: Vec<f64>,
    predictions: Vec<f64>,
    effects: Vec<f64>,
    errors: Vec<f64>,
    /// Rows of the next piece; 0 before the first, which is one row.
    piece: AtomicUsize,
}

/// Why rows were not explained.
pub(crate) enum Unexplained {
    Row(usize, Error),
    Model(PyErr),
}

impl GatheredEffects {
    /// Rows of the next piece.
    pub(crate) fn piece(&self) -> usize {
        self.piece.load(Ordering::Relaxed).max(1)
    }

    /// Explains rows, the first of which has that number in its batch; `names` are those of the
    /// inputs of a model without a table.
    pub(crate) fn explain(
        &mut self,
        model: &Session,
        names: &[String],
        asked: &AskedEffects,
        first: usize,
        rows: &[Vec<f64>],
    ) -> Result<(), Unexplained> {
        refuse(model).map_err(Unexplained::Model)?;
        let columns = ExplainedColumns::new(model, names);
        let (absence, background) = match &asked.background[..] {
            [] => (Absence::Independent, model.background.rows(model.dimension())),
            rows => (Absence::Together, rows.to_vec()),
        };
        if background.is_empty() {
            let none = "the model keeps no rows to compare with; give some as background";
            return Err(Unexplained::Model(errors::data(none)));
        }
        let aim = match &model.task {
            Task::Numbers(_) => Aim::number(asked.aim, model.outputs()),
            Task::Classes(task) => Aim::class(&task.classifier, asked.aim),
        };
        let explainer = Explainer::new(&model.task, &columns, aim, absence, &background);
        let explainer = explainer.map_err(|error| Unexplained::Row(first, error))?.permutations(asked.permutations, 0);
        self.piece.store(if explainer.is_exact() { PIECE } else { 1 }, Ordering::Relaxed);
        self.names = columns.names().to_vec();
        for (row, x) in rows.iter().enumerate() {
            let made = explainer.explain(x).map_err(|error| Unexplained::Row(first + row, error))?;
            self.bases.push(made.base);
            self.predictions.push(made.prediction);
            self.effects.extend(made.effects);
            self.errors.extend(made.standard_errors);
        }
        Ok(())
    }

    pub(crate) fn told(self, py: Python<'_>) -> PyResult<ToldEffects<'_>> {
        let Self { names, bases, predictions, effects, errors, .. } = self;
        let width = names.len();
        let sampled = !errors.is_empty();
        let errors = sampled.then(|| arrays::columns(py, errors, width)).transpose()?;
        let (bases, predictions) = (arrays::vector(py, bases), arrays::vector(py, predictions));
        Ok((names, bases, predictions, arrays::columns(py, effects, width)?, errors))
    }
}

/// Explains the predictions of a model of numbers for rows of an array or frame.
pub(crate) fn explain_batches<'py>(
    py: Python<'py>,
    core: &Core,
    rows: &Batch<'py>,
    background: Option<&Batch<'py>>,
    (aim, permutations): (usize, usize),
) -> PyResult<ToldEffects<'py>> {
    let all = |rows: &Batch<'py>| -> PyResult<Vec<Vec<f64>>> {
        let block = rows.block()?;
        Ok((0..block.rows).map(|row| block.input(row).numbers.to_vec()).collect())
    };
    let background = background.map(all).transpose()?.unwrap_or_default();
    explain_inputs(py, core, &all(rows)?, &AskedEffects { aim, permutations, background })
}

/// Explains the predictions of a model of numbers.
pub(crate) fn explain_inputs<'py>(
    py: Python<'py>,
    core: &Core,
    rows: &[Vec<f64>],
    asked: &AskedEffects,
) -> PyResult<ToldEffects<'py>> {
    let names = core.front(py).names.texts().to_vec();
    let gathered = Mutex::new(GatheredEffects::default());
    let locked = || gathered.lock().unwrap_or_else(PoisonError::into_inner);
    let done = in_pieces_of(
        py,
        rows.len(),
        |range| {
            let model = core.model.read_detached();
            let body = model.as_ref().ok_or_else(errors::not_learnt)?;
            for row in rows[range.clone()].iter().chain(&asked.background) {
                check_width(body.dimension(), row.len())?;
            }
            let (first, rows) = (range.start, &rows[range]);
            locked().explain(body, &names, asked, first, rows).map_err(|why| match why {
                Unexplained::Row(row, error) => EarlyEnd::Row(row, error),
                Unexplained::Model(error) => error.into(),
            })
        },
        || locked().piece(),
    );
    done.map_err(|refused: EarlyEnd| refused.named(&core.front(py).names))?;
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner).told(py)
}

/// Explains the predictions of a model of a table for rows that were encoded.
pub(crate) fn explain_records<'py>(
    py: Python<'py>,
    model: &FairLock<Option<Session>>,
    rows: &[Vec<f64>],
    asked: &AskedEffects,
) -> PyResult<ToldEffects<'py>> {
    let gathered = Mutex::new(GatheredEffects::default());
    let locked = || gathered.lock().unwrap_or_else(PoisonError::into_inner);
    in_pieces(
        py,
        rows.len(),
        |range| {
            let model = model.read_detached();
            let model = model.as_ref().ok_or_else(errors::not_learnt)?;
            let (first, rows) = (range.start, &rows[range]);
            locked().explain(model, &[], asked, first, rows).map_err(|why| match why {
                Unexplained::Row(row, error) => at_row(row, errors::learner(error)),
                Unexplained::Model(error) => error,
            })
        },
        || locked().piece(),
    )?;
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner).told(py)
}

/// Refuses models whose effects are not told.
fn refuse(model: &Session) -> PyResult<()> {
    let tokens = model.encoding.as_ref().is_some_and(mercer::encoding::Encoding::has_tokens);
    if tokens || model.dimension() == 0 {
        return Err(errors::data(
            "effects are told for models of numbers and categories, and this one has learnt words; leave texts out (kinds={\"COLUMN\": \"identifier\"})",
        ));
    }
    Ok(())
}
