//! Learners of numbers.

use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::encoding::ScaledTargets;
use mercer::learners::intervals::IntervalScale;
use mercer::model::{Progress, Regression};
use mercer::{Error, Regressor, RegressorExt, Rows, Scratch, Target, Targets};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::classes::Classes;
use crate::features::{keyed, number, sequence};
use crate::front::{About, Aside, Core, Front, about, own, read_targets};
use crate::making::{Extras, Known, Spec, intervals};
use crate::notes::{self, EVERY};
use crate::rows::{Refused, check_width, in_pieces_of, piece};
use crate::{arrays, errors};

/// A learner of numbers, which is made when the first example or batch tells what the inputs are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct RegressionCore(Core<Regression>);

/// How a prediction is told.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    Deviation,
    Radius,
}

impl RegressionCore {
    /// An untrained model for such data, as the Python object `slf` describes it.
    fn make(slf: &Bound<'_, Self>, known: &Known<'_>) -> PyResult<Box<Regression>> {
        if known.outputs == 0 {
            return Err(errors::data("the target has no number; give one, or several"));
        }
        let (spec, coverage, local): (Spec, Option<f64>, bool) = slf.call_method0("_spec")?.extract()?;
        let kernel = spec.kernel(known)?;
        let built = spec.build(&kernel, known, None)?;
        let intervals = intervals(&built.learner, coverage, local)?;
        Ok(Box::new(Regression {
            description: spec.describe(&kernel, &built.parameters),
            scaling: None,
            progress: Progress::default(),
            intervals,
            learner: ScaledTargets::unscaled(built.learner),
        }))
    }

    /// Reads a target into `front.y`: the names of its numbers where they come by name for the first time.
    fn read_target(front: &mut Front, y: &Bound<'_, PyAny>) -> PyResult<Vec<Py<PyAny>>> {
        front.y.clear();
        match number(y) {
            Ok(y) => front.y.push(y),
            Err(error) => match keyed(y)? {
                Some(dict) => return read_targets(front, &dict),
                None => sequence(y, &mut front.y).map_err(|_| error)?,
            },
        }
        Ok(Vec::new())
    }

    /// Learns one example; the answer is what there is to be said of it.
    fn learn_step(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<Vec<String>> {
        let (py, core) = (slf.py(), &slf.get().0);
        let mut front = core.front(py);
        let front = &mut *front;
        let names = Self::read_target(front, y)?;
        let outputs = front.y.len();
        let admits = |model: &Regression, front: &Front| model.learner.loss().check(&front.y, model.learner.outputs());
        let make = |dimension| Self::make(slf, &Known { dimension, outputs, ..Known::default() });
        let fresh = core.read_to_learn(front, x, admits, make)?;
        let learnt = Self::learn(py, core, front, w);
        match learnt {
            Ok(()) if !names.is_empty() => front.targets = names,
            Ok(()) => {}
            Err(error) => {
                // A first example that is refused settles nothing.
                if fresh {
                    core.forget(py, front);
                }
                return Err(error);
            }
        }
        Ok(front.notes.take())
    }

    /// Learns the example that was read.
    fn learn(py: Python<'_>, core: &Core<Regression>, front: &mut Front, w: f64) -> PyResult<()> {
        let mut model = core.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        if let Some(scaling) = &model.scaling {
            scaling.targets(&mut front.y).map_err(|error| errors::data(error.to_string()))?;
        }
        let target = Target::weighted(&front.y, w);
        front.scores.resize(model.learner.outputs(), 0.0);
        let learnt = match &mut model.intervals {
            None => model.learner.learn(&front.x, target, &mut front.scores),
            Some(intervals) => {
                front.radii.resize(model.learner.outputs(), 0.0);
                intervals.learn(
                    &mut model.learner,
                    &front.x,
                    target,
                    &mut front.scratch,
                    &mut front.scores,
                    &mut front.radii,
                )
            }
        };
        learnt.map_err(|error| front.features.refusal(py, error))?;
        model.progress.rows += 1;
        model.progress.score.record_weighted(&front.scores, &front.y, w);
        front.notes.hear(&front.y, front.y.len());
        front.notes.compare(&front.scores, &front.y, w);
        if model.progress.rows.is_multiple_of(EVERY) {
            front.notes.crowded(model.progress.rows, model.learner.dictionary_size());
        }
        Ok(())
    }
}

#[pymethods]
impl RegressionCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Core::new())
    }

    /// Learns one example: `x` is a dictionary of features or a list of numbers, `y` a number (or several, perhaps by name), `w` its weight.
    #[pyo3(signature = (x, y, w = 1.0))]
    fn learn_one(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<()> {
        let said = Self::learn_step(slf, x, y, w)?;
        notes::warn(slf.py(), said)
    }

    /// The prediction for one input; 0 before anything was learnt. Features that were never learnt are left out.
    fn predict_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let mut front = self.0.front(py);
        let front = &mut *front;
        self.0.read_to_predict(front, x)?;
        let model = self.0.model.read(py);
        let Some(model) = model.as_ref() else { return Ok(0.0_f64.into_pyobject(py)?.into_any()) };
        front.scores.resize(model.learner.outputs(), 0.0);
        let predicted = model.learner.predict_into(&front.x, &mut front.scratch, &mut front.scores);
        predicted.map_err(|error| front.features.refusal(py, error))?;
        unscale(model, &mut front.scores)?;
        match front.scores[..] {
            _ if !front.targets.is_empty() => {
                let made = PyDict::new(py);
                let named = front.targets.iter().zip(&front.scores);
                named.into_iter().try_for_each(|(name, score)| made.set_item(name, score))?;
                Ok(made.into_any())
            }
            [score] => Ok(score.into_pyobject(py)?.into_any()),
            _ => Ok(PyList::new(py, &front.scores)?.into_any()),
        }
    }

    /// The ends of the interval around the prediction for one input; infinite while there is none.
    fn predict_interval_one(&self, x: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        let py = x.py();
        let mut front = self.0.front(py);
        let front = &mut *front;
        self.0.read_to_predict(front, x)?;
        let model = self.0.model.read(py);
        let Some(model) = model.as_ref() else { return Ok((f64::NEG_INFINITY, f64::INFINITY)) };
        let (mut score, mut radius) = ([0.0], [0.0]);
        if model.learner.outputs() != 1 {
            return Err(errors::data("predict_interval_one is for one target; use predict_interval"));
        }
        predict(model, &front.x, Beside::Radius, &mut front.scratch, &mut score, &mut radius, 0)
            .map_err(|refused| refused.named(py, &front.features))?;
        Ok((score[0] - radius[0], score[0] + radius[0]))
    }

    /// Makes a learner for a batch, in place of the one that is set aside: `names` are its columns (None: numbered).
    #[pyo3(signature = (x, outputs, weights = None, rounds = None, names = None))]
    fn _begin(
        slf: &Bound<'_, Self>,
        x: PyReadonlyArray2<'_, f64>,
        outputs: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rounds: Option<usize>,
        names: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Aside> {
        let (rows, _, dimension) = arrays::table(&x)?;
        let known = Known { dimension, outputs, rounds, rows, weights: arrays::optional(&weights)?, classes: false };
        let made = Self::make(slf, &known)?;
        slf.get().0.begin(slf.py(), made, names, Classes::default())
    }

    /// Takes back what a batch set aside.
    fn _take_back(&self, py: Python<'_>, aside: &Aside) {
        self.0.take_back(py, aside);
    }

    /// Forgets everything.
    fn _reset(&self, py: Python<'_>) {
        self.0.reset(py);
    }

    /// The places of these columns (None: an unknown one); with `grow` unknown ones become features.
    fn _places(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>, grow: bool) -> PyResult<Vec<Option<usize>>> {
        self.0.places(py, &names, grow)
    }

    /// Learns rows in order; with `keep` the answer is the prediction of each row before it was learnt.
    #[pyo3(signature = (x, y, weights = None, keep = false))]
    fn _learn_rows<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        y: PyReadonlyArray1<'py, f64>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        keep: bool,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let (ys, weights) = (arrays::numbers(&y)?, arrays::optional(&weights)?);
        let look =
            |model: &Regression| (model.learner.outputs(), model.learner.dictionary_size(), model.scaling.clone());
        let (outputs, learner_size, scaling) = self.0.look(py, look)?;
        let mut scaled;
        let (mut inputs, mut ys) = (inputs, ys);
        if let Some(scaling) = &scaling {
            let refused = |error: mercer::readers::DataError| errors::data(error.to_string());
            scaled = (inputs.to_vec(), ys.to_vec());
            scaled.0.chunks_exact_mut(dimension.max(1)).try_for_each(|row| scaling.row(row)).map_err(refused)?;
            scaled.1.chunks_exact_mut(outputs).try_for_each(|row| scaling.targets(row)).map_err(refused)?;
            (inputs, ys) = (&scaled.0, &scaled.1);
        }
        let targets = Targets::new(ys, weights, outputs).map_err(errors::learner)?;
        if targets.len() != rows {
            return Err(errors::data(format!("{rows} rows and {} targets; give one for each row", targets.len())));
        }
        let all = Rows::new(inputs, dimension, targets).map_err(errors::learner)?;
        let mut made = Vec::with_capacity(rows * outputs);
        let size = AtomicUsize::new(learner_size);
        let sums = &mut made;
        let learnt = in_pieces_of(
            py,
            rows,
            |range| {
                let mut model = self.0.model.write_detached();
                let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                check_width(model.learner.dimension(), dimension)?;
                let learnt = learn(model, all.range(range.start, range.end), sums);
                size.store(model.learner.dictionary_size(), Ordering::Relaxed);
                learnt.map_err(|error| Refused::Row(sums.len() / outputs.max(1), error))
            },
            || piece(size.load(Ordering::Relaxed)),
        );
        let total = self.0.look(py, |model| model.progress.rows)?;
        let mut front = self.0.front(py);
        learnt.map_err(|refused| refused.named(py, &front.features))?;
        front.notes.hear(ys, outputs);
        for (row, (scores, y)) in made.chunks_exact(outputs).zip(ys.chunks_exact(outputs)).enumerate() {
            front.notes.compare(scores, y, weights.get(row).copied().unwrap_or(1.0));
        }
        front.notes.crowded(total, size.into_inner());
        drop(front);
        if !keep {
            return Ok(None);
        }
        if let Some(scaling) = scaling {
            let rows = made.chunks_exact_mut(outputs);
            rows.into_iter()
                .try_for_each(|row| scaling.invert_targets(row))
                .map_err(|error| errors::data(error.to_string()))?;
        }
        arrays::columns(py, made, outputs).map(Some)
    }

    /// Remarks on what was learnt, each once.
    fn _notes(&self, py: Python<'_>) -> Vec<String> {
        self.0.front(py).notes.take()
    }

    /// Predictions for rows, one column a target; beside them deviations or the radii of intervals.
    #[pyo3(signature = (x, beside = ""))]
    fn _predict_rows<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        beside: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray2<f64>>>)> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let beside = match beside {
            "deviation" => Beside::Deviation,
            "radius" => Beside::Radius,
            _ => Beside::Nothing,
        };
        let (outputs, size) = self.0.look(py, |model| (model.learner.outputs(), model.learner.dictionary_size()))?;
        let mut scores = vec![0.0; rows * outputs];
        let mut others = vec![0.0; if beside == Beside::Nothing { 0 } else { rows * outputs }];
        let (made, made_beside) = (&mut scores, &mut others);
        let (mut scratch, mut scaled) = (Scratch::for_inputs(rows), Vec::new());
        let predicted = in_pieces_of(
            py,
            rows,
            |range| {
                let model = self.0.model.read_detached();
                let model = model.as_ref().ok_or_else(errors::not_learnt)?;
                check_width(model.learner.dimension(), dimension)?;
                check_width(model.learner.outputs(), outputs)?;
                for row in range {
                    let mut input = &inputs[row * dimension..(row + 1) * dimension];
                    if let Some(scaling) = &model.scaling {
                        scaled.clear();
                        scaled.extend_from_slice(input);
                        scaling.row(&mut scaled).map_err(|error| errors::data(error.to_string()))?;
                        input = &scaled;
                    }
                    let out = &mut made[row * outputs..(row + 1) * outputs];
                    predict(model, input, beside, &mut scratch, out, made_beside, row)?;
                }
                Ok(())
            },
            move || piece(size),
        );
        predicted.map_err(|refused: Refused| refused.named(py, &self.0.front(py).features))?;
        let others = (beside != Beside::Nothing).then(|| arrays::columns(py, others, outputs)).transpose()?;
        Ok((arrays::columns(py, scores, outputs)?, others))
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.0.model.read(py).is_some()
    }

    /// Features, targets, points kept, rows learnt; None before anything was learnt.
    #[getter]
    fn _sizes(&self, py: Python<'_>) -> Option<(usize, usize, usize, u64)> {
        let sizes = |model: &Regression| {
            let learner = &model.learner;
            (learner.dimension(), learner.outputs(), learner.dictionary_size(), model.progress.rows)
        };
        self.0.look(py, sizes).ok()
    }

    /// The names of the features in their order.
    #[getter]
    fn _names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.front(py).features.names(py)
    }

    /// Other names of the features.
    fn _rename(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        self.0.rename(py, &names)
    }

    /// The names of the targets, where they came by name.
    #[getter]
    fn _targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.0.front(py).targets)
    }

    #[setter(_targets)]
    fn set_targets(&self, py: Python<'_>, names: Vec<Py<PyAny>>) {
        self.0.front(py).targets = names;
    }

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<About> {
        self.0.look(py, |model| about(&model.description))
    }

    /// The share of its intervals and whether they are local; whether probabilities are calibrated.
    fn _extras(&self, py: Python<'_>) -> PyResult<Extras> {
        self.0.look(py, |model| Extras::of(model.intervals.as_ref(), false))
    }

    /// What Python keeps for itself in a file.
    fn _kept(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.0.look(py, |model| model.description.own.clone())
    }

    /// Whether the command had the columns scaled by their ranges.
    #[getter]
    fn _is_scaled(&self, py: Python<'_>) -> bool {
        self.0.look(py, |model| model.scaling.is_some()).unwrap_or(false)
    }

    /// The share of targets that their intervals held so far, one a target; None without intervals.
    #[getter]
    fn _coverage(&self, py: Python<'_>) -> Option<Vec<f64>> {
        let model = self.0.model.read(py);
        let intervals = &model.as_ref()?.intervals.as_ref()?.conformal;
        Some((0..intervals.outputs()).map(|output| intervals.coverage(output)).collect())
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, core) = (slf.py(), &slf.get().0);
        let own = own(slf.as_any(), &core.look(py, |model| model.description.own.clone())?)?;
        let front = core.front(py);
        let mut model = core.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        Core::describe(py, &mut **model, &front, own);
        Ok(PyBytes::new(py, &model.to_bytes().map_err(errors::model)?))
    }

    /// The model for a pickle, which has all else itself.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.look(py, Regression::to_bytes)?;
        Ok(PyBytes::new(py, &bytes.map_err(errors::model)?))
    }

    /// Takes the model of a file; `names` are those of its features, which it may itself tell.
    #[pyo3(signature = (bytes, names = None))]
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8], names: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<()> {
        self.0.take(py, bytes, names, |_| Ok(Classes::default()))
    }

    /// Bytes of memory, about: those of the model file.
    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let bytes = self.0.look(py, Regression::to_bytes);
        256 + bytes.ok().and_then(Result::ok).map_or(0, |bytes| bytes.len())
    }
}

/// Brings predictions into the units of the targets.
fn unscale(model: &Regression, scores: &mut [f64]) -> PyResult<()> {
    let Some(scaling) = &model.scaling else { return Ok(()) };
    scaling.invert_targets(scores).map_err(|error| errors::data(error.to_string()))
}

/// Learns rows and appends their predictions.
fn learn(model: &mut Regression, rows: Rows<'_>, made: &mut Vec<f64>) -> Result<(), Error> {
    let learner = &mut model.learner;
    let (outputs, start) = (learner.outputs(), made.len());
    let local = model.intervals.as_ref().is_some_and(|intervals| intervals.scale() == IntervalScale::Deviation);
    let learnt = match &mut model.intervals {
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
            && let Some(intervals) = &mut model.intervals
        {
            intervals.conformal.observe(scores, target.y)?;
        }
        model.progress.score.record_weighted(scores, target.y, target.weight);
        model.progress.rows += 1;
    }
    learnt
}

/// The prediction for one input, which is row `row` of a batch, and what is told beside it.
fn predict(
    model: &Regression,
    x: &[f64],
    beside: Beside,
    scratch: &mut Scratch,
    scores: &mut [f64],
    others: &mut [f64],
    row: usize,
) -> Result<(), Refused> {
    let (outputs, refused) = (scores.len(), |error| Refused::Row(row, error));
    if beside == Beside::Nothing {
        model.learner.predict_into(x, scratch, scores).map_err(refused)?;
        return Ok(unscale(model, scores)?);
    }
    let others = &mut others[row * outputs..(row + 1) * outputs];
    if beside == Beside::Deviation {
        model.learner.predict_variance_into(x, scratch, scores, others).map_err(refused)?;
        others.iter_mut().for_each(|variance| *variance = variance.sqrt());
    } else {
        let intervals = model.intervals.as_ref().ok_or_else(no_intervals)?;
        intervals.predict_into(&model.learner, x, scratch, scores, others).map_err(refused)?;
    }
    if let Some(scaling) = &model.scaling {
        others.iter_mut().zip(scaling.target_units()).for_each(|(other, unit)| *other *= unit);
    }
    Ok(unscale(model, scores)?)
}

pub(crate) fn no_intervals() -> PyErr {
    errors::data("the model has no intervals; make it with intervals=0.9, say, before it learns")
}
