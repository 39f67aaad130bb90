//! Learners of classes.

use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::model::{ClassProgress, Classification};
use mercer::readers::Labels;
use mercer::{Regressor, RegressorExt, Scratch};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::classes::Classes;
use crate::features::shown;
use crate::front::{About, Aside, Core, Front, about, own};
use crate::making::{Extras, Known, Spec};
use crate::notes::{self, EVERY};
use crate::rows::{Refused, at_row, check_width, in_pieces_of, piece};
use crate::{arrays, errors};

/// A learner of classes, which is made when the first example or batch tells what the inputs are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct ClassificationCore(Core<Classification>);

impl ClassificationCore {
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

    /// Learns one example; the answer is what there is to be said of it.
    fn learn_step(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<Vec<String>> {
        let (py, core) = (slf.py(), &slf.get().0);
        let mut front = core.front(py);
        let front = &mut *front;
        let place = front.classes.place(y)?;
        let full =
            |model: &Classification| !model.classifier.is_open() && front.classes.len() >= model.classifier.classes();
        if place.is_none() && core.look(py, full).unwrap_or(false) {
            return Err(third(y));
        }
        let make =
            |dimension| Self::make(slf, &Known { dimension, outputs: 1, classes: true, ..Known::default() }, false);
        let fresh = core.read_to_learn(front, x, |_, _| Ok(()), make)?;
        let learnt = Self::learn(core, front, place, y, w);
        if learnt.is_err() && fresh {
            // A first example that is refused settles nothing.
            core.forget(py, front);
        }
        learnt?;
        Ok(front.notes.take())
    }

    /// Learns the example that was read, of the class in this place or of a new one.
    fn learn(
        core: &Core<Classification>,
        front: &mut Front,
        place: Option<usize>,
        y: &Bound<'_, PyAny>,
        w: f64,
    ) -> PyResult<()> {
        let py = y.py();
        let mut model = core.model.write(py);
        let Some(model) = model.as_mut() else { return Err(errors::not_learnt()) };
        let class = place.unwrap_or(front.classes.len());
        let learnt = model.classifier.learn(&front.x, class, w);
        let predicted = learnt.map_err(|error| front.features.refusal(py, error))?;
        if place.is_none() && w != 0.0 {
            front.classes.append(y)?;
        }
        model.progress.rows += 1;
        model.progress.learnt += 1;
        model.progress.score.record(class, predicted, None, w);
        front.notes.compare_class(class, predicted, w);
        if model.progress.rows.is_multiple_of(EVERY) {
            front.notes.crowded(model.progress.rows, model.classifier.learner().dictionary_size());
        }
        Ok(())
    }

    /// Reads an input of a prediction and leaves the scores of the classes in `front.scores`; none before anything was learnt.
    fn score(&self, x: &Bound<'_, PyAny>, front: &mut Front) -> PyResult<()> {
        let py = x.py();
        self.0.read_to_predict(front, x)?;
        front.scores.clear();
        let model = self.0.model.read(py);
        let Some(model) = model.as_ref() else { return Ok(()) };
        let scored = model.classifier.scores_with(&front.x, &mut front.scratch, &mut front.scores);
        scored.map_err(|error| front.features.refusal(py, error))
    }

    /// The class of each row, in the order in which classes are met; a row of weight 0 makes none known.
    fn meet(
        &self,
        labels: &[Bound<'_, PyAny>],
        codes: &[i64],
        weights: &[f64],
        front: &mut Front,
        py: Python<'_>,
    ) -> PyResult<Vec<usize>> {
        let classes = &mut front.classes;
        let most = self.0.look(py, |model| (!model.classifier.is_open()).then(|| model.classifier.classes()))?;
        let mut places: Vec<Option<usize>> =
            labels.iter().map(|label| classes.place(label)).collect::<PyResult<_>>()?;
        let mut met = Vec::with_capacity(codes.len());
        for (row, code) in codes.iter().enumerate() {
            let code = usize::try_from(*code).unwrap_or(usize::MAX);
            let label = labels.get(code).ok_or_else(|| errors::data("a code without a label"))?;
            let known = classes.len();
            met.push(match places[code] {
                Some(place) => place,
                None if most.is_some_and(|most| known >= most) => return Err(at_row(row, third(label))),
                None => {
                    if weights.get(row) != Some(&0.0) {
                        classes.append(label)?;
                        places[code] = Some(known);
                    }
                    known
                }
            });
        }
        Ok(met)
    }
}

#[pymethods]
impl ClassificationCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(Core::new())
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
        let mut front = self.0.front(py);
        let front = &mut *front;
        self.score(x, front)?;
        let model = self.0.model.read(py);
        let choice = model.as_ref().and_then(|model| model.classifier.choice(&front.scores));
        Ok(choice.and_then(|class| front.classes.label(py, class)))
    }

    /// Scores of the classes that were met, `(labels, numbers, whether these are probabilities)`.
    fn _scores_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Vec<f64>, bool)> {
        let py = x.py();
        let mut front = self.0.front(py);
        let front = &mut *front;
        self.score(x, front)?;
        let model = self.0.model.read(py);
        let probable = model.as_ref().is_some_and(|model| model.classifier.probabilities(&mut front.scores));
        Ok((front.classes.list(py)?, front.scores.clone(), probable))
    }

    /// Makes a learner for a batch, in place of the one that is set aside. `labels` are the classes if they are settled: two make a learner of two.
    #[pyo3(signature = (x, labels, weights = None, rounds = None, names = None))]
    fn _begin(
        slf: &Bound<'_, Self>,
        x: PyReadonlyArray2<'_, f64>,
        labels: Vec<Bound<'_, PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rounds: Option<usize>,
        names: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Aside> {
        let (rows, _, dimension) = arrays::table(&x)?;
        let known = Known { dimension, outputs: 1, classes: true, rounds, rows, weights: arrays::optional(&weights)? };
        let two = labels.len() == 2;
        let made = Self::make(slf, &known, two)?;
        let classes = Classes::of(if two { &labels } else { &[] })?;
        slf.get().0.begin(slf.py(), made, names, classes)
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
        let (mut inputs, rows, dimension) = arrays::table(&x)?;
        let codes = codes.as_slice().map_err(|_| errors::data("the codes are not contiguous"))?;
        let weights = arrays::optional(&weights)?;
        if codes.len() != rows || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!("{rows} rows, {} targets and {} weights", codes.len(), weights.len())));
        }
        let mut scaled = Vec::new();
        if let Some(scaling) = self.0.look(py, |model| model.scaling.clone())? {
            scaled.extend_from_slice(inputs);
            let mut rows = scaled.chunks_exact_mut(dimension.max(1));
            rows.try_for_each(|row| scaling.row(row)).map_err(|error| errors::data(error.to_string()))?;
            inputs = &scaled;
        }
        let met = self.meet(&labels, codes, weights, &mut self.0.front(py), py);
        let mut predicted = Vec::with_capacity(rows);
        let size = AtomicUsize::new(0);
        let made = &mut predicted;
        let learnt = met.map_err(Refused::from).and_then(|met| {
            in_pieces_of(
                py,
                rows,
                |range| {
                    let mut model = self.0.model.write_detached();
                    let model = model.as_mut().ok_or_else(errors::not_learnt)?;
                    check_width(model.classifier.learner().dimension(), dimension)?;
                    let weight = weights.get(range.clone()).unwrap_or_default();
                    let (first, block) = (range.start, &inputs[range.start * dimension..range.end * dimension]);
                    let Classification { classifier, progress, .. } = &mut **model;
                    let learnt = classifier.learn_rows(block, &met[range], weight, |row, classifier, scores| {
                        let choice = classifier.choice(scores);
                        let weight = weight.get(row).copied().unwrap_or(1.0);
                        progress.score.record(met[first + row], choice, None, weight);
                        progress.rows += 1;
                        progress.learnt += 1;
                        made.push((met[first + row], choice, weight));
                    });
                    size.store(model.classifier.learner().dictionary_size(), Ordering::Relaxed);
                    learnt.map_err(|error| Refused::Row(made.len(), error))
                },
                || piece(size.load(Ordering::Relaxed)),
            )
        });
        let (classes, total) = self.0.look(py, |model| (model.classifier.classes(), model.progress.rows))?;
        let mut front = self.0.front(py);
        if let Err(refused) = learnt {
            // Labels whose first example was not reached are no classes.
            front.classes.truncate(py, classes)?;
            return Err(refused.named(py, &front.features));
        }
        predicted.iter().for_each(|(class, choice, weight)| front.notes.compare_class(*class, *choice, *weight));
        front.notes.crowded(total, size.into_inner());
        let place = |choice: Option<usize>| choice.map_or(-1, |class| class as i64);
        let places = keep.then(|| predicted.iter().map(|(_, choice, _)| place(*choice)).collect::<Vec<_>>());
        Ok(places.map(|places| places.into_pyarray(py)))
    }

    /// Remarks on what was learnt, each once.
    fn _notes(&self, py: Python<'_>) -> Vec<String> {
        self.0.front(py).notes.take()
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
        let sizes = |model: &Classification| (model.classifier.classes(), model.classifier.learner().dictionary_size());
        let (classes, size) = self.0.look(py, sizes)?;
        let mut made = Vec::with_capacity(rows * classes);
        let mut choices = Vec::with_capacity(rows);
        let (all, chosen) = (&mut made, &mut choices);
        let (mut scratch, mut scores, mut scaled) = (Scratch::for_inputs(rows), Vec::new(), Vec::new());
        let predicted = in_pieces_of(
            py,
            rows,
            |range| {
                let model = self.0.model.read_detached();
                let model = model.as_ref().ok_or_else(errors::not_learnt)?;
                check_width(model.classifier.learner().dimension(), dimension)?;
                for row in range {
                    let mut input = &inputs[row * dimension..(row + 1) * dimension];
                    if let Some(scaling) = &model.scaling {
                        scaled.clear();
                        scaled.extend_from_slice(input);
                        scaling.row(&mut scaled).map_err(|error| errors::data(error.to_string()))?;
                        input = &scaled;
                    }
                    let scored = model.classifier.scores_with(input, &mut scratch, &mut scores);
                    scored.map_err(|error| Refused::Row(row, error))?;
                    chosen.push(model.classifier.choice(&scores).map_or(-1, |class| class as i64));
                    if probable && !model.classifier.probabilities(&mut scores) {
                        return Err(no_probabilities().into());
                    }
                    // A class that joins meanwhile has no column.
                    all.extend(scores.iter().copied().chain(std::iter::repeat(0.0)).take(classes));
                }
                Ok(())
            },
            move || piece(size),
        );
        predicted.map_err(|refused: Refused| refused.named(py, &self.0.front(py).features))?;
        Ok((arrays::columns(py, made, classes)?, choices.into_pyarray(py)))
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.0.model.read(py).is_some()
    }

    /// Features, classes, points kept, rows learnt, whether further classes may join, whether there are probabilities.
    #[getter]
    fn _sizes(&self, py: Python<'_>) -> Option<(usize, usize, usize, u64, bool, bool)> {
        let sizes = |Classification { classifier, progress, .. }: &Classification| {
            let (learner, rows) = (classifier.learner(), progress.rows);
            let (open, probable) = (classifier.is_open(), classifier.has_probabilities());
            (learner.dimension(), classifier.classes(), learner.dictionary_size(), rows, open, probable)
        };
        self.0.look(py, sizes).ok()
    }

    /// The labels in the order in which they were met.
    #[getter]
    fn _labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.0.front(py).classes.list(py)
    }

    /// The labels as a file tells them again.
    fn _labels_in_file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        Classes::of_file(py, &self.0.front(py).classes.to_file(py)?)?.list(py)
    }

    #[setter(_labels)]
    fn set_labels(&self, py: Python<'_>, labels: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        self.0.front(py).classes = Classes::of(&labels)?;
        Ok(())
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

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<About> {
        self.0.look(py, |model| about(&model.description))
    }

    /// The share of its intervals and whether they are local; whether probabilities are calibrated.
    fn _extras(&self, py: Python<'_>) -> PyResult<Extras> {
        self.0.look(py, |model| Extras::of(None, model.classifier.is_calibrated()))
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

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, core) = (slf.py(), &slf.get().0);
        let own = own(slf.as_any(), &core.look(py, |model| model.description.own.clone())?)?;
        let front = core.front(py);
        let labels = front.classes.to_file(py)?;
        let mut model = core.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        Core::describe(py, &mut **model, &front, own);
        model.labels = labels;
        Ok(PyBytes::new(py, &model.to_bytes().map_err(errors::model)?))
    }

    /// The model for a pickle, which has all else itself.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let front = self.0.front(py);
        let mut model = self.0.model.write(py);
        let model = model.as_mut().ok_or_else(errors::not_learnt)?;
        model.labels = front.classes.numbered();
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
        let classes = |model: &Classification| match labels {
            Some(labels) => Classes::of(&labels),
            None => Classes::of_file(py, &model.labels),
        };
        self.0.take(py, bytes, names, classes)
    }

    /// Bytes of memory, about: those of the model file.
    fn __sizeof__(&self, py: Python<'_>) -> usize {
        256 + self._state(py).ok().and_then(|bytes| bytes.len().ok()).unwrap_or(0)
    }
}

pub(crate) fn no_probabilities() -> PyErr {
    errors::data("the loss of this learner has no probabilities; make it with calibrated=True")
}

pub(crate) fn third(label: &Bound<'_, PyAny>) -> PyErr {
    errors::data(format!(
        "{} is a third class, and this learner knows two; take one for more classes, such as KrlsClassifier",
        shown(label)
    ))
}
