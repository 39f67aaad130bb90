//! Effects of columns on predictions: `base + Σ effects = prediction`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use mercer::model::Task;
use mercer::readers::Example;
use mercer::session::explain::{Absence, Aim, Explainer, Ground, NoGround};
use mercer::session::{Row, Session, StepError};
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
    pub(crate) background: Vec<Row>,
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
    Row(usize, StepError),
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
        rows: &[Row],
    ) -> Result<(), Unexplained> {
        refuse_sparse(model).map_err(Unexplained::Model)?;
        let (absence, ground) = match &asked.background[..] {
            [] => {
                (Absence::Independent, Ground::kept(model, names).map_err(|why| Unexplained::Model(no_ground(&why)))?)
            }
            rows => {
                let made = Ground::of_rows(model, names, rows);
                (Absence::Together, made.map_err(|why| Unexplained::Model(errors::step(why)))?)
            }
        };
        let aim = match &model.task {
            Task::Numbers(_) => Aim::number(asked.aim, model.outputs()),
            Task::Classes(task) => Aim::class(&task.classifier, asked.aim),
        };
        let explainer = Explainer::new(model, &ground, aim, absence);
        let explainer = explainer.map_err(|error| Unexplained::Row(first, error.into()))?;
        let explainer = explainer.permutations(asked.permutations, 0);
        self.piece.store(if explainer.is_exact() { PIECE } else { 1 }, Ordering::Relaxed);
        self.names = ground.names().to_vec();
        for (row, sample) in rows.iter().enumerate() {
            let made = explainer.explain(sample).map_err(|error| Unexplained::Row(first + row, error))?;
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
    let all = |rows: &Batch<'py>| -> PyResult<Vec<Row>> {
        let block = rows.block()?;
        Ok((0..block.rows).map(|row| of_numbers(block.input(row).numbers.to_vec())).collect())
    };
    let background = background.map(all).transpose()?.unwrap_or_default();
    explain_inputs(py, core, &all(rows)?, &AskedEffects { aim, permutations, background })
}

/// A row of numbers.
pub(crate) fn of_numbers(features: Vec<f64>) -> Row {
    Row { example: Example { features, ..Example::default() }, ..Row::default() }
}

/// Explains the predictions of a model of numbers.
pub(crate) fn explain_inputs<'py>(
    py: Python<'py>,
    core: &Core,
    rows: &[Row],
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
                check_width(body.dimension(), row.example.features.len())?;
            }
            let (first, rows) = (range.start, &rows[range]);
            locked().explain(body, &names, asked, first, rows).map_err(|why| match why {
                Unexplained::Row(row, StepError::Learner(error)) => EarlyEnd::Row(row, error),
                Unexplained::Row(row, error) => at_row(row, errors::step(error)).into(),
                Unexplained::Model(error) => error.into(),
            })
        },
        || locked().piece(),
    );
    done.map_err(|refused: EarlyEnd| refused.named(&core.front(py).names))?;
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner).told(py)
}

/// Explains the predictions of a model of a table for records in its order.
pub(crate) fn explain_records<'py>(
    py: Python<'py>,
    model: &FairLock<Option<Session>>,
    rows: &[Row],
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
                Unexplained::Row(row, error) => at_row(row, errors::step(error)),
                Unexplained::Model(error) => error,
            })
        },
        || locked().piece(),
    )?;
    gathered.into_inner().unwrap_or_else(PoisonError::into_inner).told(py)
}

/// Refuses models of sparse rows, of which each has columns of its own.
fn refuse_sparse(model: &Session) -> PyResult<()> {
    if model.has_sparse_rows() {
        return Err(errors::data("the model learns sparse rows; mercer explain of the command tells their effects"));
    }
    Ok(())
}

/// Why rows cannot be compared.
fn no_ground(why: &NoGround) -> PyErr {
    let remedy = if *why == NoGround::Rows { "; give some as background" } else { "" };
    errors::data(format!("the model {why}{remedy}"))
}
