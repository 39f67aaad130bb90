//! Koopman operators of exact least squares on a sparse dictionary.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use mercer::koopman::{LagMode, LagScan, OperatorModel, OperatorSums, OperatorSumsParams, Reliability};
use mercer::model::{AnyOperator, Model, ModelError, ModelKind, Operator, Own};
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::front;
use crate::rows::{at_row, in_pieces, patiently};
use crate::shared::FairLock;
use crate::{arrays, errors};

/// Pairs that are learnt between two looks at signals.
const PIECE: usize = 256;
/// Widths that are tried side by side.
const WIDTHS: usize = 6;

/// A mode: its eigenvalue, its spread, its residual, and whether it can be trusted and why; its
/// amplitude, and its shape.
type Mode = (f64, f64, f64, f64, Option<bool>, &'static str, f64, Vec<[f64; 2]>);
/// Sets: their weights at rest, the jumps between them, the memberships of given states, and the
/// committor of each set if it is asked for.
type Sets = (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>, Option<Vec<f64>>);
/// A mode at a lag: mode, lag, eigenvalue, spread with the part of it that is bias, power of the
/// shortest lag with its spread, and if both agree.
type LagRow = (usize, usize, [f64; 2], [f64; 2], [f64; 2], f64, Option<bool>);
/// What kind of system it is: deterministic, reversible, seen with noise, wandering; then the
/// norm of the operator, the VAMP-2 score, and the units of `x`.
type Nature = ([bool; 4], f64, Option<f64>, Vec<f64>);

/// The sums of an operator, which are begun when the first pairs tell how many numbers a state has.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct OperatorSumsCore {
    model: FairLock<Option<Box<Operator>>>,
    /// What was read off them last, for so many modes and steps.
    read: Mutex<Option<(usize, usize, Arc<OperatorModel>)>>,
}

#[pymethods]
impl OperatorSumsCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: FairLock::new(None), read: Mutex::default() }
    }

    /// Forgets everything, and begins sums of states of `state` numbers, with `inputs` numbers
    /// behind them.
    fn _begin(
        &self,
        py: Python<'_>,
        state: usize,
        inputs: usize,
        max_dictionary: usize,
        half_life: Option<f64>,
        delay: usize,
    ) -> PyResult<()> {
        let params = OperatorSumsParams::default().max_dictionary(max_dictionary).half_life(half_life).delay(delay);
        let sums = OperatorSums::new(state, inputs, params).map_err(errors::operator)?;
        self.take(py, Some(Box::new(Operator::new(Vec::new(), AnyOperator::Sums(Box::new(sums))))));
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = other.model.write(py).take();
        self.take(py, theirs);
    }

    /// Learns pairs in order.
    fn _learn_rows(&self, py: Python<'_>, x: PyReadonlyArray2<'_, f64>, y: PyReadonlyArray2<'_, f64>) -> PyResult<()> {
        let ((xs, rows, d), (ys, others, state)) = (arrays::table(&x)?, arrays::table(&y)?);
        if rows != others {
            return Err(errors::data(format!("{rows} states and {others} successors")));
        }
        let numbers = 1 + d + self.look(py, |sums| sums.params().max_dictionary)?;
        let cost = numbers.saturating_pow(2).saturating_mul(WIDTHS * PIECE);
        let mut first = 0;
        while first < rows {
            let end = (first + PIECE).min(rows);
            let (x, y) = (xs[first * d..end * d].to_vec(), ys[first * state..end * state].to_vec());
            let mut sums = self.look(py, OperatorSums::clone)?;
            let before = sums.rounds();
            let (learnt, sums) = patiently(py, cost, move || {
                let mut pairs = x.chunks_exact(d.max(1)).zip(y.chunks_exact(state.max(1))).enumerate();
                (pairs.try_for_each(|(row, (x, y))| sums.update(x, y).map_err(|error| (first + row, error))), sums)
            })?;
            let mut model = self.model.write(py);
            let ours = sums_mut(model.as_deref_mut())?;
            // Where another thread has learnt meanwhile, they are learnt again behind its pairs.
            if ours.rounds() == before {
                *ours = sums;
                *self.cache() = None;
                learnt.map_err(|(row, error)| at_row(row, errors::operator(error)))?;
                first = end;
            }
        }
        Ok(())
    }

    /// Adds (or takes back) what a fork of the same sums has learnt.
    fn _combine(&self, py: Python<'_>, other: &Self, retract: bool) -> PyResult<()> {
        let theirs = other.look(py, OperatorSums::clone)?;
        *self.cache() = None;
        let mut model = self.model.write(py);
        let ours = sums_mut(model.as_deref_mut())?;
        if retract { ours.retract(&theirs) } else { ours.merge(&theirs) }.map_err(errors::operator)
    }

    /// Takes the scale and the dictionaries of other sums, and no pair.
    fn _fork(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let fork = other.look(py, OperatorSums::fork)?.map_err(errors::operator)?;
        self.take(py, Some(Box::new(Operator::new(Vec::new(), AnyOperator::Sums(Box::new(fork))))));
        Ok(())
    }

    /// The modes; the error of one step on held-out pairs, that of no change and that of the mean,
    /// as parts of the variance; and the parts that `modes` modes miss of a row and of the row
    /// behind it.
    fn _told(&self, py: Python<'_>, modes: usize) -> PyResult<(Vec<Mode>, [f64; 3], (f64, Option<f64>))> {
        let model = self.read_off(py, modes, 1)?;
        let shapes = model.mode_shapes(modes).map_err(errors::operator)?;
        let parts = shapes.amplitudes.iter().zip(&shapes.shapes);
        let told = model.modes().iter().zip(parts).map(|(mode, (amplitude, shape))| {
            let reliable = match mode.reliability {
                Reliability::Reliable => Some(true),
                Reliability::Unreliable => Some(false),
                _ => None,
            };
            let (value, words) = (mode.value, mode.reason.words());
            (value.re, value.im, mode.spread, mode.residual, reliable, words, *amplitude, shape.clone())
        });
        let quality = model.quality();
        let missed = (shapes.state_error, shapes.step_error);
        Ok((told.collect(), [quality.held_out, quality.no_change, quality.mean], missed))
    }

    /// Steps ahead with the error on held-out pairs, as a part of the variance of the newest row.
    fn _later(&self, py: Python<'_>, modes: usize) -> PyResult<Vec<(usize, f64)>> {
        Ok(self.read_off(py, modes, 1)?.later_errors())
    }

    /// What kind of system it is, by so many modes.
    fn _nature(&self, py: Python<'_>, modes: usize) -> PyResult<Nature> {
        let model = self.read_off(py, modes, 1)?;
        let kinds = [model.is_deterministic(), model.is_reversible(), model.has_instruments(), model.wanders()];
        Ok((kinds, model.hs_norm(), model.vamp2(), model.units().to_vec()))
    }

    /// `count` almost invariant sets by the leading `modes` modes, with the memberships of states;
    /// the committor is from one set to another, from 0.
    fn _sets(
        &self,
        py: Python<'_>,
        count: usize,
        x: PyReadonlyArray2<'_, f64>,
        committor: Option<(usize, usize)>,
        modes: usize,
    ) -> PyResult<Sets> {
        let (model, (xs, _, d)) = (self.read_off(py, modes, 1)?, arrays::table(&x)?);
        let sets = model.sets(count).map_err(errors::operator)?;
        let mut members = Vec::with_capacity(xs.len() / d.max(1));
        for x in xs.chunks_exact(d.max(1)) {
            members.push(sets.memberships(&model.eigenfunctions(x).map_err(errors::operator)?));
        }
        let committor = committor.map(|(from, to)| sets.committor(from, to)).transpose().map_err(errors::operator)?;
        Ok((sets.weights(), sets.jumps(), members, committor))
    }

    /// The eigenvalues of the pairs that are so many steps apart on the paths of these pairs.
    fn _lags(
        &self,
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray2<'_, f64>,
        lags: Vec<NonZeroUsize>,
        count: usize,
    ) -> PyResult<Vec<LagRow>> {
        let params = self.look(py, |sums| *sums.params())?;
        let ((xs, _, d), (ys, _, state)) = (arrays::table(&x)?, arrays::table(&y)?);
        let (xs, ys) = (xs.to_vec(), ys.to_vec());
        let found = patiently(py, usize::MAX, move || {
            let mut scan = LagScan::new(state, &lags, params)?;
            xs.chunks_exact(d.max(1)).zip(ys.chunks_exact(state.max(1))).try_for_each(|(x, y)| scan.update(x, y))?;
            scan.modes(count)
        })?;
        let row = |mode: &LagMode| {
            let LagMode { value, power, .. } = mode;
            let (value, power) = ([value.re, value.im], [power.re, power.im]);
            (mode.mode, mode.lag, value, [mode.spread, mode.bias], power, mode.power_spread, mode.agrees)
        };
        Ok(found.map_err(errors::operator)?.iter().map(row).collect())
    }

    /// Real and imaginary parts of the eigenfunctions of the modes at states: a row a state, and
    /// both of a mode side by side.
    fn _eigenfunctions<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        modes: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, (xs, _, d)) = (self.read_off(py, modes, 1)?, arrays::table(&x)?);
        let (mut values, width) = (Vec::new(), 2 * model.modes().len());
        let all = &mut values;
        in_pieces(
            py,
            xs.len() / d.max(1),
            |range| {
                for row in range {
                    let made = model.eigenfunctions(&xs[row * d..(row + 1) * d]).map_err(errors::operator)?;
                    all.extend(made.into_iter().flatten());
                }
                Ok(())
            },
            || PIECE,
        )?;
        arrays::columns(py, values, width)
    }

    /// The expected states `1, …, steps` steps after each state, a row a state; `inputs` are those
    /// of the steps behind the first. Beside them half the widths of the intervals of this share, a
    /// row a step: NaN where they are not known.
    fn _forecast<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        inputs: PyReadonlyArray2<'py, f64>,
        steps: usize,
        share: f64,
    ) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let model = self.read_off(py, 1, steps)?;
        let state = self.look(py, OperatorSums::output_dimension)?;
        let ((xs, rows, d), (us, _, q)) = (arrays::table(&x)?, arrays::table(&inputs)?);
        let mut made = Vec::with_capacity(rows * steps * state);
        let all = &mut made;
        in_pieces(
            py,
            rows,
            |range| {
                for row in range {
                    let inputs = us.get(row * q..(row + 1) * q).unwrap_or_default();
                    let path = model.forecast(&xs[row * d..(row + 1) * d], inputs, steps);
                    all.extend(path.map_err(|error| at_row(row, errors::operator(error)))?.concat());
                }
                Ok(())
            },
            || 1,
        )?;
        let widths = (1..=steps).flat_map(|step| model.half_widths(step, share));
        let widths = widths.map(|width| width.unwrap_or(f64::NAN)).collect();
        Ok([arrays::columns(py, made, steps * state)?, arrays::columns(py, widths, state)?])
    }

    /// Whether there are sums.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Numbers of `x` and of a state, and pairs learnt.
    fn _facts(&self, py: Python<'_>) -> PyResult<(usize, usize, u64)> {
        self.look(py, |sums| (sums.input_dimension(), sums.output_dimension(), sums.rounds()))
    }

    /// The most points of a dictionary and the half-life; and what Python keeps for itself.
    fn _settings(&self, py: Python<'_>) -> PyResult<(usize, Option<f64>, usize, Own)> {
        let params = self.look(py, |sums| *sums.params())?;
        let kept = self.model.read(py).as_ref().map_or_else(Own::new, |model| model.own.clone());
        Ok((params.max_dictionary, params.half_life, params.delay, kept))
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        front::file(slf.as_any(), &slf.get().model, |model, own| {
            model.own = own;
            model.to_bytes()
        })
    }

    /// Takes the model of a file.
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Operator(model) if model.learner.sums().is_some() => {
                self.take(py, Some(model));
                Ok(())
            }
            Model::Operator(_) => Err(errors::file("the model holds no sums; use mercer.load".to_owned())),
            other => Err(errors::model(ModelError::OtherKind { expected: ModelKind::Operator, got: other.kind() })),
        }
    }
}

/// The sums of a model.
fn sums_mut(model: Option<&mut Operator>) -> PyResult<&mut OperatorSums> {
    match model.map(|model| &mut model.learner) {
        Some(AnyOperator::Sums(sums)) => Ok(sums),
        _ => Err(errors::not_learnt()),
    }
}

impl OperatorSumsCore {
    fn cache(&self) -> std::sync::MutexGuard<'_, Option<(usize, usize, Arc<OperatorModel>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another model in place of this one.
    fn take(&self, py: Python<'_>, model: Option<Box<Operator>>) {
        *self.cache() = None;
        *self.model.write(py) = model;
    }

    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&OperatorSums) -> T) -> PyResult<T> {
        let model = self.model.read(py);
        model.as_ref().and_then(|model| model.learner.sums()).map(look).ok_or_else(errors::not_learnt)
    }

    /// The operator, which is read off the sums once after each change.
    fn read_off(&self, py: Python<'_>, modes: usize, steps: usize) -> PyResult<Arc<OperatorModel>> {
        if let Some((_, _, model)) = self.cache().as_ref().filter(|(a, b, _)| (*a, *b) == (modes, steps)) {
            return Ok(model.clone());
        }
        let sums = self.look(py, OperatorSums::clone)?;
        let model = Arc::new(patiently(py, usize::MAX, move || sums.model(modes, steps))?.map_err(errors::operator)?);
        *self.cache() = Some((modes, steps, model.clone()));
        Ok(model)
    }
}
