//! Learners of classes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::core::ExampleError;
use mercer::readers::Labels;
use mercer::model::{ClassProgress, Classification, Model, ModelError, ModelKind};
use mercer::{Error, Regressor, RegressorExt, Scratch};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::features::{Front, number, sequence};
use crate::making::{Known, Spec};
use crate::notes::{self, EVERY, Notes};
use crate::regression::at_row;
use crate::rows::{in_pieces, piece};
use crate::shared::Shared;
use crate::{arrays, errors};

/// The classes that were met, in the order in which they were: class `k` of the classifier is label `k`.
#[derive(Default)]
struct Classes {
    labels: Vec<Py<PyAny>>,
    places: Option<Py<PyDict>>,
}

impl Classes {
    fn place(&mut self, label: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let py = label.py();
        let places = self.places.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py);
        let found = places.get_item(label)?;
        found.map(|place| place.extract()).transpose()
    }

    fn append(&mut self, label: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = label.py();
        let places = self.places.get_or_insert_with(|| PyDict::new(py).unbind()).bind(py);
        places.set_item(label, self.labels.len())?;
        self.labels.push(label.clone().unbind());
        Ok(())
    }

    /// Forgets labels whose examples were refused.
    fn truncate(&mut self, py: Python<'_>, count: usize) -> PyResult<()> {
        for label in self.labels.drain(count.min(self.labels.len())..) {
            if let Some(places) = &self.places {
                places.bind(py).del_item(label)?;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Outside {
    front: Front,
    classes: Classes,
}

/// A learner of classes, which is made when the first example or batch tells what the inputs are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct ClassificationCore {
    model: Shared<Option<Box<Classification>>>,
    outside: Mutex<Outside>,
}

impl ClassificationCore {
    fn outside(&self, py: Python<'_>) -> std::sync::MutexGuard<'_, Outside> {
        self.outside.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// An untrained model, for two classes or for classes to come.
    fn make(slf: &Bound<'_, Self>, known: &Known<'_>, two: bool) -> PyResult<Box<Classification>> {
        let (spec, calibrated): (Spec, bool) = slf.call_method0("_spec")?.extract()?;
        let kernel = spec.kernel(known)?;
        let (classifier, parameters) = spec.classifier(&kernel, known, two, calibrated)?;
        Ok(Box::new(Classification {
            description: spec.describe(&kernel, &parameters),
            labels: Labels::new(),
            scaling: None,
            progress: ClassProgress::default(),
            classifier,
        }))
    }

    /// Reads an input into `front.x`; see the learners of numbers.
    fn read_to_learn(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, front: &mut Front) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        let known = |dimension| Known { dimension, outputs: 1, classes: true, ..Known::default() };
        let Ok(dict) = x.cast::<PyDict>() else {
            sequence(x, &mut front.x)?;
            if !front.made {
                let made = Self::make(slf, &known(front.x.len()), false)?;
                front.features.clear();
                front.features.number(py, front.x.len())?;
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
        let model = if made { None } else { Some(Self::make(slf, &known(new.len()), false)?) };
        dict.values().iter().try_for_each(|value| number(&value).map(drop))?;
        front.features.append(&new)?;
        match model {
            Some(model) => {
                front.notes = Notes::of(&model.description);
                *this.model.write(py) = Some(model);
                front.made = true;
            }
            None => {
                let grown = this.model.write(py).as_mut().map_or(Ok(()), |model| model.classifier.grow(new.len()));
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
        let mut outside = this.outside(py);
        let Outside { front, classes } = &mut *outside;
        Self::read_to_learn(slf, x, front)?;
        let known = classes.labels.len();
        let place = classes.place(y)?;
        let mut model = this.model.write(py);
        let Some(model) = model.as_mut() else { return Err(errors::not_learnt()) };
        let class = match place {
            Some(place) => place,
            None if model.classifier.is_open() || known < model.classifier.classes() => known,
            None => return Err(third(y)),
        };
        let predicted = model.classifier.learn(&front.x, class, w).map_err(errors::learner)?;
        if place.is_none() && w != 0.0 {
            classes.append(y)?;
        }
        model.progress.rows += 1;
        model.progress.learnt += 1;
        model.progress.score.record(class, predicted, None, w);
        if model.progress.rows.is_multiple_of(EVERY) {
            front.notes.crowded(model.progress.rows, model.classifier.learner().dictionary_size());
        }
        Ok(front.notes.take())
    }

    /// Reads an input of a prediction and leaves the scores of the classes in `front.scores`; none before anything was learnt.
    fn score(&self, x: &Bound<'_, PyAny>, front: &mut Front) -> PyResult<()> {
        let py = x.py();
        match x.cast::<PyDict>() {
            Ok(dict) => front.features.read(dict, &mut front.x).map(drop)?,
            Err(_) => sequence(x, &mut front.x)?,
        }
        front.scores.clear();
        match self.model.read(py).as_ref() {
            None => Ok(()),
            Some(model) => {
                model.classifier.scores_with(&front.x, &mut front.scratch, &mut front.scores).map_err(errors::learner)
            }
        }
    }
}

#[pymethods]
impl ClassificationCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: Shared::new(None), outside: Mutex::default() }
    }

    /// Learns one example: `x` is a dictionary of features or a list of numbers, `y` a label, `w` its weight.
    #[pyo3(signature = (x, y, w = 1.0))]
    fn learn_one(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<()> {
        let said = Self::learn_step(slf, x, y, w)?;
        notes::warn(slf.py(), said)
    }

    /// The class of the largest score; None before any was met.
    fn predict_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = x.py();
        let mut outside = self.outside(py);
        let Outside { front, classes } = &mut *outside;
        self.score(x, front)?;
        let model = self.model.read(py);
        let choice = model.as_ref().and_then(|model| model.classifier.choice(&front.scores));
        let label = choice.map(|class| classes.labels.get(class).or(classes.labels.first()));
        Ok(label.flatten().map(|label| label.bind(py).clone()))
    }

    /// Scores of the classes that were met, `(labels, numbers, whether these are probabilities)`.
    fn _scores_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Vec<f64>, bool)> {
        let py = x.py();
        let mut outside = self.outside(py);
        let Outside { front, classes } = &mut *outside;
        self.score(x, front)?;
        let model = self.model.read(py);
        let probable = model.as_ref().is_some_and(|model| model.classifier.probabilities(&mut front.scores));
        Ok((PyList::new(py, &classes.labels)?, front.scores.clone(), probable))
    }

    /// Forgets everything, and makes a learner for a batch. `labels` are the classes if they are settled: two make a learner of two.
    #[pyo3(signature = (x, labels, weights = None, rounds = None, names = None))]
    fn _begin(
        slf: &Bound<'_, Self>,
        x: PyReadonlyArray2<'_, f64>,
        labels: Vec<Bound<'_, PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rounds: Option<usize>,
        names: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let (rows, _, dimension) = arrays::table(&x)?;
        let known = Known { dimension, outputs: 1, classes: true, rounds, rows, weights: arrays::optional(&weights)? };
        let two = labels.len() == 2;
        let made = Self::make(slf, &known, two)?;
        let this = slf.get();
        let mut outside = this.outside(py);
        let Outside { front, classes } = &mut *outside;
        front.features.clear();
        *classes = Classes::default();
        match names {
            Some(names) => front.features.append(&names)?,
            None => front.features.number(py, dimension)?,
        }
        front.notes = Notes::of(&made.description);
        if two {
            labels.iter().try_for_each(|label| classes.append(label))?;
        }
        *this.model.write(py) = Some(made);
        front.made = true;
        Ok(())
    }

    /// Forgets everything.
    fn _reset(&self, py: Python<'_>) {
        let mut outside = self.outside(py);
        outside.front.features.clear();
        outside.front.made = false;
        outside.classes = Classes::default();
        *self.model.write(py) = None;
    }

    /// The places of these columns (None: an unknown one); with `grow` unknown ones become features.
    fn _places(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>, grow: bool) -> PyResult<Vec<Option<usize>>> {
        let mut outside = self.outside(py);
        let features = &mut outside.front.features;
        if grow {
            let new = features.unknown(py, names.iter().cloned())?;
            if !new.is_empty() {
                if let Some(model) = self.model.write(py).as_mut() {
                    model.classifier.grow(new.len()).map_err(errors::learner)?;
                }
                features.append(&new)?;
            }
        }
        features.places(py, &names)
    }

    /// Learns rows in order: row `i` has the label `labels[codes[i]]`. The answer, with `keep`, is the place of the class that was predicted
    /// for each row before it was learnt, -1 for none.
    #[pyo3(signature = (x, labels, codes, weights = None, keep = false))]
    fn _learn_rows<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        labels: Vec<Bound<'py, PyAny>>,
        codes: PyReadonlyArray1<'py, i64>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        keep: bool,
    ) -> PyResult<Option<Bound<'py, PyArray1<i64>>>> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let codes = codes.as_slice().map_err(|_| errors::data("the codes are not contiguous"))?;
        let weights = arrays::optional(&weights)?;
        if codes.len() != rows || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!("{rows} rows, {} targets and {} weights", codes.len(), weights.len())));
        }
        // Classes in the order in which they are met; a row of weight 0 makes none known.
        let mut outside = self.outside(py);
        let classes = &mut outside.classes;
        let (open, most) = {
            let model = self.model.read(py);
            let model = model.as_ref().ok_or_else(errors::not_learnt)?;
            (model.classifier.is_open(), model.classifier.classes())
        };
        let mut places: Vec<Option<usize>> =
            labels.iter().map(|label| classes.place(label)).collect::<PyResult<_>>()?;
        let mut met = Vec::with_capacity(rows);
        for (row, code) in codes.iter().enumerate() {
            let code = usize::try_from(*code).unwrap_or(usize::MAX);
            let label = labels.get(code).ok_or_else(|| errors::data("a code without a label"))?;
            let known = classes.labels.len();
            met.push(match places[code] {
                Some(place) => place,
                None if !open && known >= most => return Err(at_row(row, third(label))),
                None => {
                    if weights.get(row) != Some(&0.0) {
                        classes.append(label)?;
                        places[code] = Some(known);
                    }
                    known
                }
            });
        }
        drop(outside);
        let mut predicted = Vec::with_capacity(if keep { rows } else { 0 });
        let size = AtomicUsize::new(0);
        let made = &mut predicted;
        let learnt = in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                if model.classifier.learner().dimension() != dimension {
                    let expected = model.classifier.learner().dimension();
                    return Err(errors::learner(Error::Example(ExampleError::Dimension { expected, got: dimension })));
                }
                let weight = weights.get(range.clone()).unwrap_or_default();
                let (first, block) = (range.start, &inputs[range.start * dimension..range.end * dimension]);
                let Classification { classifier, progress, .. } = &mut **model;
                let mut done = 0;
                let learnt = classifier.learn_rows(block, &met[range], weight, |row, classifier, scores| {
                    let choice = classifier.choice(scores);
                    if keep {
                        made.push(choice.map_or(-1, |class| class as i64));
                    }
                    let weight = weight.get(row).copied().unwrap_or(1.0);
                    progress.score.record(met[first + row], choice, None, weight);
                    progress.rows += 1;
                    progress.learnt += 1;
                    done = row + 1;
                });
                size.store(model.classifier.learner().dictionary_size(), Ordering::Relaxed);
                learnt.map_err(|error| at_row(first + done, errors::learner(error)))
            },
            || piece(size.load(Ordering::Relaxed)),
        );
        if learnt.is_err() {
            // Labels whose first example was not reached are no classes.
            let known = self.model.read(py).as_ref().map_or(0, |model| model.classifier.classes());
            self.outside(py).classes.truncate(py, known)?;
        }
        learnt?;
        let learnt = self.model.read(py).as_ref().map_or(0, |model| model.progress.rows);
        self.outside(py).front.notes.crowded(learnt, size.into_inner());
        Ok(keep.then(|| predicted.into_pyarray(py)))
    }

    /// Remarks on what was learnt, each once.
    fn _notes(&self, py: Python<'_>) -> Vec<String> {
        self.outside(py).front.notes.take()
    }

    /// Scores for rows, one column a class in the order in which they were met; with `probable` probabilities.
    #[pyo3(signature = (x, probable = false))]
    fn _predict_rows<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        probable: bool,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>)> {
        let (inputs, rows, dimension) = arrays::table(&x)?;
        let (classes, size) = {
            let model = self.model.read(py);
            let model = model.as_ref().ok_or_else(errors::not_learnt)?;
            (model.classifier.classes(), model.classifier.learner().dictionary_size())
        };
        let mut made = Vec::with_capacity(rows * classes);
        let mut choices = Vec::with_capacity(rows);
        let (all, chosen) = (&mut made, &mut choices);
        let (mut scratch, mut scores) = (Scratch::default(), Vec::new());
        in_pieces(
            py,
            rows,
            |range| {
                let model = self.model.read_detached();
                let model = model.as_ref().ok_or_else(errors::not_learnt)?;
                let learner = model.classifier.learner();
                if learner.dimension() != dimension {
                    return Err(errors::learner(Error::Example(ExampleError::Dimension {
                        expected: learner.dimension(),
                        got: dimension,
                    })));
                }
                for row in range {
                    let input = &inputs[row * dimension..(row + 1) * dimension];
                    model
                        .classifier
                        .scores_with(input, &mut scratch, &mut scores)
                        .map_err(|error| at_row(row, errors::learner(error)))?;
                    chosen.push(model.classifier.choice(&scores).map_or(-1, |class| class as i64));
                    if probable && !model.classifier.probabilities(&mut scores) {
                        return Err(errors::data(
                            "the loss of this learner has no probabilities; make it with calibrated=True",
                        ));
                    }
                    // A class that joins meanwhile has no column.
                    all.extend(scores.iter().copied().chain(std::iter::repeat(0.0)).take(classes));
                }
                Ok(())
            },
            move || piece(size),
        )?;
        Ok((arrays::columns(py, made, classes)?, choices.into_pyarray(py)))
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Features, classes, points kept, rows learnt, whether further classes may join, whether there are probabilities.
    #[getter]
    fn _sizes(&self, py: Python<'_>) -> Option<(usize, usize, usize, u64, bool, bool)> {
        let model = self.model.read(py);
        let Classification { classifier, progress, .. } = &**model.as_ref()?;
        let learner = classifier.learner();
        Some((
            learner.dimension(),
            classifier.classes(),
            learner.dictionary_size(),
            progress.rows,
            classifier.is_open(),
            classifier.has_probabilities(),
        ))
    }

    /// The labels in the order in which they were met.
    #[getter]
    fn _labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.outside(py).classes.labels)
    }

    /// The names of the features in their order.
    #[getter]
    fn _names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.outside(py).front.features.names(py)
    }

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<(String, String, Vec<(String, String)>, u64)> {
        let model = self.model.read(py);
        let description = &model.as_ref().ok_or_else(errors::not_learnt)?.description;
        Ok((description.learner.clone(), description.kernel.clone(), description.parameters.clone(), description.seed))
    }

    /// The model file. Labels become texts in it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let outside = self.outside(py);
        let mut model = self.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        let words = outside.front.features.words(py)?;
        let d = model.classifier.learner().dimension();
        model.description.features = if words.len() == d { words } else { Vec::new() };
        model.labels = Labels::new();
        for label in &outside.classes.labels {
            model.labels.insert(label.bind(py).str()?.to_str()?);
        }
        Ok(PyBytes::new(py, &model.to_bytes().map_err(errors::model)?))
    }

    /// Takes the model of a file; `names` are those of its features and `labels` those of its classes, which it may itself tell.
    #[pyo3(signature = (bytes, names = None, labels = None))]
    fn _set_bytes(
        &self,
        py: Python<'_>,
        bytes: &[u8],
        names: Option<Vec<Bound<'_, PyAny>>>,
        labels: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let model = match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Classification(model) => model,
            other => {
                let (expected, got) = (ModelKind::Classification, other.kind());
                return Err(errors::model(ModelError::OtherKind { expected, got }));
            }
        };
        if model.scaling.is_some() {
            return Err(errors::model(ModelError::Scaled));
        }
        let mut outside = self.outside(py);
        let Outside { front, classes } = &mut *outside;
        front.features.clear();
        *classes = Classes::default();
        let d = model.classifier.learner().dimension();
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
        match labels {
            Some(labels) => labels.iter().try_for_each(|label| classes.append(label))?,
            None => {
                for name in model.labels.names() {
                    classes.append(&name.into_pyobject(py)?.into_any())?;
                }
            }
        }
        front.made = true;
        *self.model.write(py) = Some(model);
        Ok(())
    }

    /// Bytes of memory, about: those of the model file.
    fn __sizeof__(&self, py: Python<'_>) -> usize {
        256 + self.to_bytes(py).ok().and_then(|bytes| bytes.len().ok()).unwrap_or(0)
    }
}

fn third(label: &Bound<'_, PyAny>) -> PyErr {
    let shown = label.repr().map_or_else(|_| "a label".to_owned(), |text| text.to_string());
    errors::data(format!(
        "{shown} is a third class, and this learner knows two; take one for more classes, such as KrlsClassifier"
    ))
}
