//! Learners of numbers.

use mercer::core::ExampleError;
use mercer::learners::intervals::IntervalScale;
use mercer::model::{Model, Progress, Regression};
use mercer::{AnyKernel, AnyRegressor, Error, Regressor, RegressorExt, Rows, Scratch, Target, Targets};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::sync::MutexExt;

use crate::features::{Front, number, sequence};
use crate::making::{Known, Spec, intervals};
use crate::notes::{self, EVERY, Notes};
use crate::rows::{in_pieces, piece};
use crate::shared::Shared;
use crate::{arrays, errors};

/// A learner of numbers, which is made when the first example or batch tells what the inputs are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct RegressionCore {
    model: Shared<Option<Box<Regression>>>,
    front: Mutex<Front>,
}

/// How a prediction is told.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    Deviation,
    Radius,
}

impl RegressionCore {
    fn front(&self, py: Python<'_>) -> std::sync::MutexGuard<'_, Front> {
        self.front.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

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
            learner: built.learner,
        }))
    }

    /// Reads an input into `front.x`. A learner grows by the features that are new, and one that was not there is made.
    fn read_to_learn(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, outputs: usize, front: &mut Front) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        let Ok(dict) = x.cast::<PyDict>() else {
            sequence(x, &mut front.x)?;
            if !front.made {
                let known = Known { dimension: front.x.len(), outputs, ..Known::default() };
                let made = Self::make(slf, &known)?;
                front.features.clear();
                front.features.number(py, known.dimension)?;
                front.notes = Notes::of(&made.description);
                *this.model.write(py) = Some(made);
                front.made = true;
            }
            return Ok(());
        };
        let made = front.made;
        if !front.features.read(dict, &mut front.x)? && made {
            return Ok(());
        }
        let new = front.features.unknown(py, dict.keys().iter())?;
        let before = front.features.len();
        let model = if made {
            None
        } else {
            let known = Known { dimension: new.len(), outputs, ..Known::default() };
            Some(Self::make(slf, &known)?)
        };
        // The values are looked at before anything is changed.
        dict.values().iter().try_for_each(|value| number(&value).map(drop))?;
        front.features.append(&new)?;
        match model {
            Some(model) => {
                front.notes = Notes::of(&model.description);
                *this.model.write(py) = Some(model);
                front.made = true;
            }
            None => {
                let grown = this.model.write(py).as_mut().map_or(Ok(()), |model| model.learner.grow(new.len()));
                if let Err(error) = grown {
                    front.features.truncate(py, before)?;
                    return Err(errors::learner(error));
                }
            }
        }
        front.features.read(dict, &mut front.x).map(drop)
    }

    /// Learns one example; the answer is what there is to be said of it.
    fn learn_step(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<Vec<String>> {
        let (py, this) = (slf.py(), slf.get());
        let mut front = this.front(py);
        let front = &mut *front;
        front.y.clear();
        match number(y) {
            Ok(y) => front.y.push(y),
            Err(error) => {
                if let Ok(dict) = y.cast::<PyDict>() {
                    // Targets in the order of their names.
                    let items = dict.items();
                    items.sort()?;
                    for item in items.iter() {
                        front.y.push(number(&item.get_item(1)?)?);
                    }
                } else if sequence(y, &mut front.y).is_err() {
                    return Err(error);
                }
            }
        }
        Self::read_to_learn(slf, x, front.y.len(), front)?;
        let mut model = this.model.write(py);
        let Some(model) = model.as_mut() else { return Err(errors::not_learnt()) };
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
        learnt.map_err(errors::learner)?;
        model.progress.rows += 1;
        model.progress.score.record_weighted(&front.scores, &front.y, w);
        front.notes.hear(&front.y, front.y.len());
        if model.progress.rows.is_multiple_of(EVERY) {
            front.notes.crowded(model.progress.rows, model.learner.dictionary_size());
        }
        Ok(front.notes.take())
    }

    fn describe_features(model: &mut Regression, front: &Front, py: Python<'_>) -> PyResult<()> {
        let words = front.features.words(py)?;
        model.description.features = if words.len() == model.learner.dimension() { words } else { Vec::new() };
        Ok(())
    }
}

#[pymethods]
impl RegressionCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: Shared::new(None), front: Mutex::default() }
    }

    /// Learns one example: `x` is a dictionary of features or a list of numbers, `y` a number (or several), `w` its weight.
    #[pyo3(signature = (x, y, w = 1.0))]
    fn learn_one(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<()> {
        let said = Self::learn_step(slf, x, y, w)?;
        notes::warn(slf.py(), said)
    }

    /// The prediction for one input; 0 before anything was learnt. Features that were never learnt are left out.
    fn predict_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let mut front = self.front(py);
        let front = &mut *front;
        let model = self.model.read(py);
        match x.cast::<PyDict>() {
            Ok(dict) => front.features.read(dict, &mut front.x).map(drop)?,
            Err(_) => sequence(x, &mut front.x)?,
        }
        let Some(model) = model.as_ref() else { return Ok(0.0_f64.into_pyobject(py)?.into_any()) };
        front.scores.resize(model.learner.outputs(), 0.0);
        model.learner.predict_into(&front.x, &mut front.scratch, &mut front.scores).map_err(errors::learner)?;
        match front.scores[..] {
            [score] => Ok(score.into_pyobject(py)?.into_any()),
            _ => Ok(PyList::new(py, &front.scores)?.into_any()),
        }
    }

    /// The ends of the interval around the prediction for one input; infinite while there is none.
    fn predict_interval_one(&self, x: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        let py = x.py();
        let mut front = self.front(py);
        let front = &mut *front;
        match x.cast::<PyDict>() {
            Ok(dict) => front.features.read(dict, &mut front.x).map(drop)?,
            Err(_) => sequence(x, &mut front.x)?,
        }
        let model = self.model.read(py);
        let Some(model) = model.as_ref() else { return Ok((f64::NEG_INFINITY, f64::INFINITY)) };
        let intervals = model.intervals.as_ref().ok_or_else(no_intervals)?;
        let (mut score, mut radius) = ([0.0], [0.0]);
        if intervals.conformal.outputs() != 1 {
            return Err(errors::data("predict_interval_one is for one target; use predict_interval"));
        }
        intervals
            .predict_into(&model.learner, &front.x, &mut front.scratch, &mut score, &mut radius)
            .map_err(errors::learner)?;
        Ok((score[0] - radius[0], score[0] + radius[0]))
    }

    /// Forgets everything, and makes a learner for a batch: `names` are its columns (None: numbered).
    #[pyo3(signature = (x, outputs, weights = None, rounds = None, names = None))]
    fn _begin(
        slf: &Bound<'_, Self>,
        x: PyReadonlyArray2<'_, f64>,
        outputs: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rounds: Option<usize>,
        names: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let (rows, _, dimension) = arrays::table(&x)?;
        let known = Known { dimension, outputs, rounds, rows, weights: arrays::optional(&weights)?, classes: false };
        let made = Self::make(slf, &known)?;
        let this = slf.get();
        let mut front = this.front(py);
        front.features.clear();
        match names {
            Some(names) => front.features.append(&names)?,
            None => front.features.number(py, dimension)?,
        }
        front.notes = Notes::of(&made.description);
        *this.model.write(py) = Some(made);
        front.made = true;
        Ok(())
    }

    /// Forgets everything.
    fn _reset(&self, py: Python<'_>) {
        let mut front = self.front(py);
        front.features.clear();
        front.made = false;
        *self.model.write(py) = None;
    }

    /// The places of these columns (None: an unknown one); with `grow` unknown ones become features.
    fn _places(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>, grow: bool) -> PyResult<Vec<Option<usize>>> {
        let mut front = self.front(py);
        if grow {
            let new = front.features.unknown(py, names.iter().cloned())?;
            if !new.is_empty() {
                if let Some(model) = self.model.write(py).as_mut() {
                    model.learner.grow(new.len()).map_err(errors::learner)?;
                }
                front.features.append(&new)?;
            }
        }
        front.features.places(py, &names)
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
        let (outputs, learner_size) = {
            let model = self.model.read(py);
            let model = model.as_ref().ok_or_else(errors::not_learnt)?;
            (model.learner.outputs(), model.learner.dictionary_size())
        };
        let targets = Targets::new(ys, weights, outputs).map_err(errors::learner)?;
        if targets.len() != rows {
            return Err(errors::data(format!("{rows} rows and {} targets; give one for each row", targets.len())));
        }
        let all = Rows::new(inputs, dimension, targets).map_err(errors::learner)?;
        let mut made = Vec::with_capacity(rows * outputs);
        let size = AtomicUsize::new(learner_size);
        let sums = &mut made;
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                if model.learner.dimension() != dimension {
                    return Err(errors::learner(Error::Example(ExampleError::Dimension {
                        expected: model.learner.dimension(),
                        got: dimension,
                    })));
                }
                let learnt = learn(model, all.range(range.start, range.end), sums);
                size.store(model.learner.dictionary_size(), Ordering::Relaxed);
                if let Err(error) = learnt {
                    let row = sums.len() / outputs.max(1);
                    let error = errors::learner(error);
                    return Err(at_row(row, error));
                }
                Ok(())
            },
            || piece(size.load(Ordering::Relaxed)),
        )?;
        let learnt = self.model.read(py).as_ref().map_or(0, |model| model.progress.rows);
        let mut front = self.front(py);
        front.notes.hear(ys, outputs);
        front.notes.crowded(learnt, size.into_inner());
        drop(front);
        keep.then(|| arrays::columns(py, made, outputs)).transpose()
    }

    /// Remarks on what was learnt, each once.
    fn _notes(&self, py: Python<'_>) -> Vec<String> {
        self.front(py).notes.take()
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
        let (outputs, size) = {
            let model = self.model.read(py);
            let model = model.as_ref().ok_or_else(errors::not_learnt)?;
            (model.learner.outputs(), model.learner.dictionary_size())
        };
        let mut scores = vec![0.0; rows * outputs];
        let mut others = vec![0.0; if beside == Beside::Nothing { 0 } else { rows * outputs }];
        let (made, made_beside) = (&mut scores, &mut others);
        let mut scratch = Scratch::default();
        in_pieces(
            py,
            rows,
            |range| {
                let model = self.model.read_detached();
                let model = model.as_ref().ok_or_else(errors::not_learnt)?;
                let learner = &model.learner;
                if learner.dimension() != dimension || learner.outputs() != outputs {
                    return Err(errors::learner(Error::Example(ExampleError::Dimension {
                        expected: learner.dimension(),
                        got: dimension,
                    })));
                }
                for row in range {
                    let input = &inputs[row * dimension..(row + 1) * dimension];
                    let out = &mut made[row * outputs..(row + 1) * outputs];
                    predict(model, input, beside, &mut scratch, out, made_beside, row * outputs)
                        .map_err(|error| at_row(row, error))?;
                }
                Ok(())
            },
            move || piece(size),
        )?;
        let others = (beside != Beside::Nothing).then(|| arrays::columns(py, others, outputs)).transpose()?;
        Ok((arrays::columns(py, scores, outputs)?, others))
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Features, targets, points kept, rows learnt; None before anything was learnt.
    #[getter]
    fn _sizes(&self, py: Python<'_>) -> Option<(usize, usize, usize, u64)> {
        let model = self.model.read(py);
        let learner = &model.as_ref()?.learner;
        Some((learner.dimension(), learner.outputs(), learner.dictionary_size(), model.as_ref()?.progress.rows))
    }

    /// The names of the features in their order.
    #[getter]
    fn _names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.front(py).features.names(py)
    }

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<(String, String, Vec<(String, String)>, u64)> {
        let model = self.model.read(py);
        let description = &model.as_ref().ok_or_else(errors::not_learnt)?.description;
        Ok((description.learner.clone(), description.kernel.clone(), description.parameters.clone(), description.seed))
    }

    /// The share of targets that their intervals held so far, one a target; None without intervals.
    #[getter]
    fn _coverage(&self, py: Python<'_>) -> Option<Vec<f64>> {
        let model = self.model.read(py);
        let intervals = &model.as_ref()?.intervals.as_ref()?.conformal;
        Some((0..intervals.outputs()).map(|output| intervals.coverage(output)).collect())
    }

    /// The model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let front = self.front(py);
        let mut model = self.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        Self::describe_features(model, &front, py)?;
        Ok(PyBytes::new(py, &model.to_bytes().map_err(errors::model)?))
    }

    /// Takes the model of a file; `names` are those of its features, which it may itself tell.
    #[pyo3(signature = (bytes, names = None))]
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8], names: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<()> {
        let model = match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Regression(model) => model,
            other => {
                let got = other.kind();
                let expected = mercer::model::ModelKind::Regression;
                return Err(errors::model(mercer::model::ModelError::OtherKind { expected, got }));
            }
        };
        if model.scaling.is_some() {
            return Err(errors::model(mercer::model::ModelError::Scaled));
        }
        let mut front = self.front(py);
        front.features.clear();
        let d = model.learner.dimension();
        match names {
            Some(names) if names.len() == d => front.features.append(&names)?,
            _ if model.description.features.len() == d => {
                let names: Vec<_> = model
                    .description
                    .features
                    .iter()
                    .map(|name| name.into_pyobject(py).map(Bound::into_any))
                    .collect::<Result<_, _>>()?;
                front.features.append(&names)?;
            }
            _ => front.features.number(py, d)?,
        }
        front.made = true;
        *self.model.write(py) = Some(model);
        Ok(())
    }

    /// Bytes of memory, about: those of the model file.
    fn __sizeof__(&self, py: Python<'_>) -> usize {
        let model = self.model.read(py);
        model.as_ref().and_then(|model| model.to_bytes().ok()).map_or(256, |bytes| 256 + bytes.len())
    }
}

/// Learns rows and appends their predictions.
fn learn(model: &mut Regression, rows: Rows<'_>, made: &mut Vec<f64>) -> Result<(), Error> {
    let learner: &mut AnyRegressor<AnyKernel> = &mut model.learner;
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

/// The prediction for one row, and what is told beside it.
fn predict(
    model: &Regression,
    x: &[f64],
    beside: Beside,
    scratch: &mut Scratch,
    scores: &mut [f64],
    others: &mut [f64],
    at: usize,
) -> PyResult<()> {
    let outputs = scores.len();
    match beside {
        Beside::Nothing => model.learner.predict_into(x, scratch, scores).map_err(errors::learner),
        Beside::Deviation => {
            let variances = &mut others[at..at + outputs];
            model.learner.predict_variance_into(x, scratch, scores, variances).map_err(errors::learner)?;
            variances.iter_mut().for_each(|variance| *variance = variance.sqrt());
            Ok(())
        }
        Beside::Radius => {
            let intervals = model.intervals.as_ref().ok_or_else(no_intervals)?;
            intervals
                .predict_into(&model.learner, x, scratch, scores, &mut others[at..at + outputs])
                .map_err(errors::learner)
        }
    }
}

pub(crate) fn no_intervals() -> PyErr {
    errors::data("the model has no intervals; make it with intervals=0.9, say, before it learns")
}

/// The same error, with the row of the batch in front.
pub(crate) fn at_row(row: usize, error: PyErr) -> PyErr {
    Python::attach(|py| {
        let message = format!("row {row}: {}", error.value(py));
        error.get_type(py).call1((message,)).map_or_else(|other| other, PyErr::from_value)
    })
}
