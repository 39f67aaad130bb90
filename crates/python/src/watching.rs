//! Streams of numbers under watch: new rows, changes of columns, and risen losses.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer_watch::{Change, ChangeParams, Newness, Novelty, NoveltyParams, RiseParams, Rises};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::rows::in_pieces;
use crate::{arrays, errors};
use mercer::core::Validate;

/// Rows that are taken between two looks at signals.
const PIECE: usize = 256;

/// An alarm: its row and the first one that speaks for it, from 1, and shares of the columns.
type ToldAlarm = (u64, u64, Vec<f64>);

/// State that Python holds, once it was begun.
struct Held<T>(Mutex<Option<T>>);

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Serialize + DeserializeOwned + Validate> Held<T> {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<T>> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `act` done with the state.
    fn with<R>(&self, py: Python<'_>, act: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        act(self.lock(py).as_mut().ok_or_else(errors::not_learnt)?)
    }

    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let held = self.lock(py);
        let bytes = postcard::to_stdvec(&*held).map_err(|error| errors::file(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn set_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let read: Option<T> = postcard::from_bytes(bytes).map_err(|error| errors::file(error.to_string()))?;
        read.validate().map_err(|error| errors::file(error.to_string()))?;
        *self.lock(py) = read;
        Ok(())
    }
}

/// How new rows are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
#[derive(Default)]
pub(crate) struct NoveltyCore(Held<Novelty>);

#[pymethods]
impl NoveltyCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    /// Begins anew with so many columns.
    fn _begin(&self, py: Python<'_>, columns: usize, seed: u64) -> PyResult<()> {
        let made = Novelty::new(columns, NoveltyParams::default().seed(seed)).map_err(errors::settings)?;
        *self.0.lock(py) = Some(made);
        Ok(())
    }

    /// Whether it was begun.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.0.lock(py).is_some()
    }

    /// Rows learnt so far.
    fn _count(&self, py: Python<'_>) -> u64 {
        self.0.lock(py).as_ref().map_or(0, Novelty::rows)
    }

    /// p of a row and the shares of its columns; None while there are too few rows.
    fn _score(&self, py: Python<'_>, row: Vec<f64>) -> PyResult<Option<(f64, Vec<f64>)>> {
        self.0.with(py, |novelty| {
            let new = novelty.score(&row).map_err(|error| errors::data(error.to_string()))?;
            Ok(new.map(|Newness { p, shares, .. }| (p, shares)))
        })
    }

    /// Learns a row.
    fn _learn(&self, py: Python<'_>, row: Vec<f64>) -> PyResult<()> {
        self.0.with(py, |novelty| novelty.learn(&row).map(drop).map_err(|error| errors::data(error.to_string())))
    }

    /// p of rows, which are then learnt if they are to be; NaN while there are too few.
    fn _take_rows<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        learn: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (numbers, count, width) = arrays::table(&rows)?;
        let (mut made, all) = (Vec::with_capacity(count), &self.0.0);
        let told = &mut made;
        in_pieces(
            py,
            count,
            |range| {
                let mut held = all.lock().unwrap_or_else(PoisonError::into_inner);
                let novelty = held.as_mut().ok_or_else(errors::not_learnt)?;
                for row in range {
                    let row = &numbers[row * width..(row + 1) * width];
                    let new = if learn { novelty.learn(row) } else { novelty.score(row) };
                    let new = new.map_err(|error| errors::data(error.to_string()))?;
                    told.push(new.map_or(f64::NAN, |new| new.p));
                }
                Ok(())
            },
            || PIECE,
        )?;
        Ok(arrays::vector(py, made))
    }

    /// The rows so far are the measure of those to come, which change nothing.
    fn _freeze(&self, py: Python<'_>) -> PyResult<()> {
        self.0.with(py, |novelty| {
            novelty.freeze();
            Ok(())
        })
    }

    /// The state.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.bytes(py)
    }

    /// Takes a state.
    fn _set_state(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.0.set_bytes(py, bytes)
    }
}

/// Changes of the law of columns.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
#[derive(Default)]
pub(crate) struct ChangeCore(Held<Change>);

#[pymethods]
impl ChangeCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    /// Begins anew with so many columns, and so many rows to a false alarm.
    fn _begin(
        &self,
        py: Python<'_>,
        columns: usize,
        rows: f64,
        burn_in: usize,
        independent: bool,
        seed: u64,
    ) -> PyResult<()> {
        let params = ChangeParams::default().rows_to_a_false_alarm(rows).burn_in(burn_in);
        let made = Change::new(columns, params.independent(independent).seed(seed)).map_err(errors::settings)?;
        *self.0.lock(py) = Some(made);
        Ok(())
    }

    /// Whether it was begun.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.0.lock(py).is_some()
    }

    /// Takes a row, and tells an alarm.
    fn _learn(&self, py: Python<'_>, row: Vec<f64>) -> PyResult<Option<ToldAlarm>> {
        self.0.with(py, |change| {
            let alarm = change.learn(&row).map_err(|error| errors::data(error.to_string()))?;
            Ok(alarm.map(|alarm| (alarm.row, alarm.since, alarm.shares)))
        })
    }

    /// Rows so far, whether changes can be told, the evidence for one, and what was taken out.
    fn _told(&self, py: Python<'_>) -> PyResult<(u64, bool, f64, Vec<String>)> {
        self.0.with(py, |change| {
            let taken_out = change.taken_out().iter().map(ToString::to_string).collect();
            Ok((change.rows(), change.is_watching(), change.evidence(), taken_out))
        })
    }

    /// The state.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.bytes(py)
    }

    /// Takes a state.
    fn _set_state(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.0.set_bytes(py, bytes)
    }
}

/// Losses that have become larger.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
#[derive(Default)]
pub(crate) struct RisesCore(Held<Rises>);

#[pymethods]
impl RisesCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    /// Begins anew with so many rows to a false alarm.
    fn _begin(&self, py: Python<'_>, rows: f64, independent: bool) -> PyResult<()> {
        let params = RiseParams::default().rows_to_a_false_alarm(rows).independent(independent);
        *self.0.lock(py) = Some(Rises::new(params).map_err(errors::settings)?);
        Ok(())
    }

    /// Whether it was begun.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.0.lock(py).is_some()
    }

    /// Takes a loss, and tells an alarm.
    fn _learn(&self, py: Python<'_>, loss: f64) -> PyResult<Option<ToldAlarm>> {
        self.0.with(py, |rises| Ok(rises.learn(loss).map(|rise| (rise.row, rise.since, Vec::new()))))
    }

    /// Losses so far, whether rises can be told, nothing of evidence, and what was taken out.
    fn _told(&self, py: Python<'_>) -> PyResult<(u64, bool, f64, Vec<String>)> {
        self.0.with(py, |rises| {
            let taken_out = rises.taken_out().iter().map(ToString::to_string).collect();
            Ok((rises.rows(), rises.is_watching(), f64::NAN, taken_out))
        })
    }

    /// The state.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.bytes(py)
    }

    /// Takes a state.
    fn _set_state(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.0.set_bytes(py, bytes)
    }
}
