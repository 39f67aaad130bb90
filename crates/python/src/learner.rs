//! Learners of numbers and of classes.

mod learning;

use mercer::experts::Outliers;
use mercer::learners::Input;
use mercer::model::{Model, ModelError, ModelKind, Tabular, Taught};
use mercer::session::Session;
use mercer::{RegressorExt as _, Scratch, Targets};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};

use crate::batch::{Batch, Block};
use crate::body::{ModelPlan, budget, coverage, extras, scores, told, width};
use crate::classes::MetClasses;
use crate::expansion::{self, expansion};
use crate::explaining::{AskedEffects, ToldEffects, explain_batches, explain_inputs, of_numbers};
use crate::front::{Core, Front, LearnerFacts, about, own};
use crate::making::{DataFacts, Extras, LearnerSpec};
use crate::notes;
use crate::rows::{EarlyEnd, check_width, in_pieces_of, piece, prompt};
use crate::steps::{Extra, code, no_probabilities, predict};
use crate::{arrays, errors};

/// A learner of numbers or of classes, which is made when the first example or batch tells what the
/// inputs are.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct LearnerCore {
    core: Core,
    of_classes: bool,
}

impl LearnerCore {
    /// An untrained model for such data, as `slf` describes it; of two classes or of those to come.
    fn make(slf: &Bound<'_, Self>, known: &DataFacts<'_>, two: bool) -> PyResult<Session> {
        let (spec, extras): (LearnerSpec, Extras) = slf.call_method0("_spec")?.extract()?;
        ModelPlan { spec, extras, scaled: false, outliers: Outliers::Keep }.make(known, two, None)
    }

    /// Has `each` told every row of a batch, in the units of the learner.
    fn each_row(
        &self,
        py: Python<'_>,
        block: &Block<'_>,
        mut each: impl FnMut(&Session, usize, Input<'_>, &mut Scratch) -> Result<(), EarlyEnd> + Send,
    ) -> PyResult<()> {
        let Block { rows, dimension, .. } = *block;
        let (size, cost) = self.core.look(py, |model| (model.dictionary_size(), budget(model)))?;
        let mut scratch = Scratch::for_inputs(rows);
        let done = in_pieces_of(
            py,
            rows,
            |range| {
                let model = self.core.model.read_detached();
                let body = model.as_ref().ok_or_else(errors::not_learnt)?;
                check_width(body.dimension(), dimension)?;
                for row in range {
                    each(body, row, block.input(row), &mut scratch)?;
                }
                Ok(())
            },
            move || piece(size).min(prompt(cost)),
        );
        done.map_err(|refused: EarlyEnd| refused.named(&self.core.front(py).names))
    }

    /// Reads an input of a prediction and leaves the scores in `front.work`, those of numbers in
    /// their units; false before anything was learnt.
    fn score(&self, x: &Bound<'_, PyAny>, front: &mut Front) -> PyResult<bool> {
        self.core.read_to_predict(front, x)?;
        front.work.numbers.clear();
        front.work.scores.clear();
        let model = self.core.model.read(x.py());
        let Some(model) = model.as_ref() else { return Ok(false) };
        let made = model.task.predict(&front.inputs[..], front.classes.len(), &mut front.work);
        made.map_err(|error| front.names.refusal(error))?;
        Ok(true)
    }
}

#[pymethods]
impl LearnerCore {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(cls: &Bound<'_, PyType>, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { core: Core::default(), of_classes: cls.getattr("_of_classes")?.extract()? })
    }

    /// Whether it learns classes; its class in Python tells.
    #[classattr]
    fn _of_classes() -> bool {
        false
    }

    /// Learns one example: `x` is a dictionary of features or a list of numbers, `y` a number (or
    /// several, perhaps by name) or a label, `w` its weight.
    #[pyo3(signature = (x, y, w = 1.0))]
    fn learn_one(slf: &Bound<'_, Self>, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, w: f64) -> PyResult<()> {
        let said = Self::learn_step(slf, x, y, w)?;
        notes::warn(slf.py(), said)
    }

    /// The prediction for one input: a number, several, or the class of the largest score; 0 or
    /// None before anything was learnt. Features that were never learnt are left out.
    fn predict_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let (made, said) = {
            let mut front = self.core.front(py);
            let front = &mut *front;
            let scored = self.score(x, front)?;
            let model = self.core.model.read(py);
            let made = match model.as_ref().filter(|_| scored) {
                None if self.of_classes => py.None().into_bound(py),
                None => 0.0_f64.into_pyobject(py)?.into_any(),
                Some(_) if !front.targets.is_empty() => {
                    let made = PyDict::new(py);
                    let mut named = front.targets.iter().zip(&front.work.numbers);
                    named.try_for_each(|(name, score)| made.set_item(name, score))?;
                    made.into_any()
                }
                Some(model) => told(py, model, scores(model, &front.work), &front.classes)?,
            };
            (made, front.notes.take())
        };
        notes::warn(py, said).map(|()| made)
    }

    /// The ends of the interval around the prediction for one input; infinite while there is none.
    fn _interval_one(&self, x: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        let py = x.py();
        let mut front = self.core.front(py);
        let front = &mut *front;
        if !self.score(x, front)? {
            return Ok((f64::NEG_INFINITY, f64::INFINITY));
        }
        let model = self.core.model.read(py);
        match Extra::Reach.complete(model.as_ref().ok_or_else(errors::not_learnt)?, &mut front.work)? {
            ([made], [below, above]) => Ok((made - below, made + above)),
            _ => Err(errors::data("predict_interval_one is for one target; use predict_interval")),
        }
    }

    /// Scores of the classes that were met, `(labels, numbers, whether these are probabilities)`.
    fn _scores_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyList>, Vec<f64>, bool)> {
        let py = x.py();
        let mut front = self.core.front(py);
        let front = &mut *front;
        self.score(x, front)?;
        let model = self.core.model.read(py);
        let task = model.as_ref().and_then(Session::classes);
        let probable = task.is_some_and(|task| task.classifier.probabilities(&mut front.work.scores));
        Ok((front.classes.list(py)?, front.work.scores.clone(), probable))
    }

    /// Makes a learner for a batch, in place of the one that is set aside: `target` is how many
    /// numbers a target has, or the classes if they are settled (two make a learner of two);
    /// `names` are its columns (None: without names), whether or not they are `in_order`.
    #[pyo3(signature = (x, target, weights = None, names = None, in_order = false))]
    fn _begin(
        slf: &Bound<'_, Self>,
        x: Batch<'_>,
        target: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        names: Option<Vec<String>>,
        in_order: bool,
    ) -> PyResult<()> {
        let (tokens, block) = (x.is_sparse(), x.block()?);
        let (rows, dimension) = (block.numbers(), block.dimension);
        let classes = slf.get().of_classes;
        let (outputs, mut labels): (usize, Vec<Bound<'_, PyAny>>) =
            if classes { (1, target.extract()?) } else { (target.extract()?, Vec::new()) };
        let two = labels.len() == 2;
        if !two {
            labels.clear();
        }
        let weights = arrays::optional(&weights)?;
        let known = DataFacts { dimension, outputs, classes, rows, weights, tokens };
        let made = Self::make(slf, &known, two)?;
        slf.get().core.begin(slf.py(), made, names, (MetClasses::of(&labels)?, in_order))
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: PyRef<'_, Self>) {
        self.core.take_over(py, &other.core);
    }

    /// Makes features of these columns, which are unknown; the answer is whether the learner takes
    /// any.
    fn _grow(&self, py: Python<'_>, new: Vec<String>) -> PyResult<bool> {
        self.core.grow(py, new)
    }

    /// Learns rows in order. `targets` are numbers, or `(labels, codes)`: row `i` has the label
    /// `labels[codes[i]]`. The answer, with `keep`, is the prediction of each row before it was
    /// learnt; of classes the place of the one predicted, -1 for none.
    #[pyo3(signature = (x, targets, weights = None, keep = false))]
    fn _learn_rows<'py>(
        &self,
        py: Python<'py>,
        x: Batch<'py>,
        targets: &Bound<'py, PyAny>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        keep: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let block = x.block()?;
        let weights = arrays::optional(&weights)?;
        let outputs = self.core.look(py, width)?;
        if self.of_classes {
            let (labels, codes): (Vec<Bound<'_, PyAny>>, PyReadonlyArray1<'_, i64>) = targets.extract()?;
            let codes = codes.as_slice().map_err(|_| errors::data("the codes are not contiguous"))?;
            let made = self.learn_labels(py, &block, &labels, codes, weights)?;
            return Ok(keep.then(|| made.into_iter().map(code).collect::<Vec<_>>().into_pyarray(py).into_any()));
        }
        let y: PyReadonlyArray1<'_, f64> = targets.extract()?;
        let ys = arrays::numbers(&y)?;
        let all = Targets::new(ys, weights, outputs).map_err(errors::learner)?;
        let rows = block.rows;
        if all.len() != rows {
            return Err(errors::data(format!("{rows} rows and {} targets; give one for each row", all.len())));
        }
        let made = self.learn_all(py, &block, all, ys, weights)?;
        if !keep {
            return Ok(None);
        }
        Ok(Some(arrays::columns(py, made, outputs)?.into_any()))
    }

    /// Remarks on what was learnt, each once.
    fn _notes(&self, py: Python<'_>) -> Vec<String> {
        self.core.front(py).notes.take()
    }

    /// Predictions for rows, one column a target, and beside them a "deviation" or the "reach" of
    /// intervals, below and above each number; or the scores of classes, one column a class in the
    /// order in which they were met, perhaps as "probable" ones, and the classes chosen.
    #[pyo3(signature = (x, beside = ""))]
    fn _predict_rows<'py>(
        &self,
        py: Python<'py>,
        x: Batch<'py>,
        beside: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let (block, beside) = (x.block()?, Extra::named(beside)?);
        let rows = block.rows;
        let width = self.core.look(py, width)?;
        if self.of_classes {
            let (mut made, mut choices, mut scores) = (Vec::with_capacity(rows * width), Vec::new(), Vec::new());
            self.each_row(py, &block, |body, row, input, scratch| {
                let classifier = &body.classes().ok_or_else(errors::not_learnt)?.classifier;
                let scored = classifier.scores_with(input, scratch, &mut scores);
                scored.map_err(|error| EarlyEnd::Row(row, error))?;
                choices.push(code(classifier.choice(&scores)));
                if beside == Extra::Probable && !classifier.probabilities(&mut scores) {
                    return Err(no_probabilities().into());
                }
                // A class that joins meanwhile has no column.
                made.extend(scores.iter().copied().chain(std::iter::repeat(0.0)).take(width));
                Ok(())
            })?;
            return Ok((arrays::columns(py, made, width)?.into_any(), Some(choices.into_pyarray(py).into_any())));
        }
        let mut scores = vec![0.0; rows * width];
        let beside_width = beside.width(width);
        let mut others = vec![0.0; rows * beside_width];
        self.each_row(py, &block, |body, row, input, scratch| {
            let task = body.numbers().ok_or_else(errors::not_learnt)?;
            check_width(task.learner.outputs(), width)?;
            let made = &mut scores[row * width..(row + 1) * width];
            predict(task, input, beside, scratch, made, &mut others, row)
        })?;
        let others = (beside_width > 0).then(|| arrays::columns(py, others, beside_width)).transpose()?;
        Ok((arrays::columns(py, scores, width)?.into_any(), others.map(Bound::into_any)))
    }

    /// Effects on the predictions for rows: see [`ToldEffects`].
    #[pyo3(signature = (x, aim, permutations, background = None))]
    fn _explain_rows<'py>(
        &self,
        py: Python<'py>,
        x: Batch<'py>,
        aim: usize,
        permutations: usize,
        background: Option<Batch<'py>>,
    ) -> PyResult<ToldEffects<'py>> {
        explain_batches(py, &self.core, &x, background.as_ref(), (aim, permutations))
    }

    /// The same for one input, as it is predicted.
    fn _explain_one<'py>(&self, x: &Bound<'py, PyAny>, aim: usize, permutations: usize) -> PyResult<ToldEffects<'py>> {
        let mut front = self.core.front(x.py());
        self.core.read_to_predict(&mut front, x)?;
        let row = of_numbers(front.inputs.clone());
        drop(front);
        explain_inputs(x.py(), &self.core, &[row], &AskedEffects { aim, permutations, background: Vec::new() })
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.core.model.read(py).is_some()
    }

    /// Features, targets or classes, points kept, rows learnt, and whether there are probabilities;
    /// None before anything was learnt.
    #[getter]
    fn _sizes(&self, py: Python<'_>) -> Option<(usize, usize, usize, u64, bool)> {
        let sizes = |body: &Session| {
            let probable = body.classes().is_some_and(|task| task.classifier.has_probabilities());
            (body.dimension(), width(body), body.dictionary_size(), body.progress.rows, probable)
        };
        self.core.look(py, sizes).ok()
    }

    /// The names of the features in their order.
    #[getter]
    fn _names(&self, py: Python<'_>) -> Vec<String> {
        self.core.front(py).names.texts().to_vec()
    }

    /// Whether the features had no names.
    #[getter]
    fn _is_nameless(&self, py: Python<'_>) -> bool {
        self.core.front(py).names.is_nameless()
    }

    /// Whether the user knows the order of the names.
    #[getter]
    fn _in_order(&self, py: Python<'_>) -> bool {
        self.core.front(py).names.in_order
    }

    #[setter(_in_order)]
    fn set_in_order(&self, py: Python<'_>, known: bool) {
        self.core.front(py).names.in_order = known;
    }

    /// The names of the targets, where they came by name; or the labels in the order of the stream.
    #[getter]
    fn _targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let front = self.core.front(py);
        if self.of_classes { front.classes.list(py) } else { PyList::new(py, &front.targets) }
    }

    #[setter(_targets)]
    fn set_targets(&self, py: Python<'_>, names: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let mut front = self.core.front(py);
        if self.of_classes {
            front.classes = MetClasses::of(&names)?;
        } else {
            front.targets = names.into_iter().map(Bound::unbind).collect();
        }
        Ok(())
    }

    /// The labels as a file tells them again.
    fn _labels_in_file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        MetClasses::of_file(py, &self.core.front(py).classes.to_file(py)?)?.list(py)
    }

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<LearnerFacts> {
        self.core.look(py, |body| about(&body.description))
    }

    /// The share of its intervals and whether they are local; whether probabilities are calibrated.
    fn _extras(&self, py: Python<'_>) -> PyResult<Extras> {
        self.core.look(py, extras)
    }

    /// The points of the dictionary in the units of the learner, and their coefficients, one row an
    /// output; None of a learner that has no such form.
    fn _expansion<'py>(&self, py: Python<'py>) -> PyResult<Option<[Bound<'py, PyArray2<f64>>; 2]>> {
        let model = self.core.model.read(py);
        let learner = model.as_ref().ok_or_else(errors::not_learnt)?.task.learner();
        expansion(learner).map(|made| expansion::told(py, made)).transpose()
    }

    /// What Python keeps for itself in a file.
    fn _kept(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.core.look(py, |body| body.description.own.clone())
    }

    /// The share of targets that their intervals held so far, one a target; None without intervals.
    #[getter]
    fn _coverage(&self, py: Python<'_>) -> Option<Vec<f64>> {
        self.core.model.read(py).as_ref().and_then(coverage)
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, this) = (slf.py(), slf.get());
        let own = own(slf.as_any(), &this._kept(py)?)?;
        Ok(PyBytes::new(py, &this.core.file(py, own)?))
    }

    /// The model for a pickle, which has all else itself.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.core.state(py)?))
    }

    /// Takes the model of a file; `names` are those of its features, which it may itself tell.
    #[pyo3(signature = (bytes, names = None))]
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<()> {
        let expected = if self.of_classes { ModelKind::Classification } else { ModelKind::Regression };
        let refused = |got| errors::model(ModelError::OtherKind { expected, got });
        let model =
            Tabular::of(Model::from_bytes(bytes).map_err(errors::model)?).map_err(|other| refused(other.kind()))?;
        errors::refuse_groups(&model)?;
        if model.task.kind() != expected || model.encoding.is_some() {
            return Err(refused(model.task.kind()));
        }
        let classes = model.classes().map(|task| MetClasses::of_file(py, &task.labels)).transpose()?;
        self.core.take(py, model, names, classes.unwrap_or_default())
    }

    /// Bytes of memory, about: those of the model file.
    fn __sizeof__(&self, py: Python<'_>) -> usize {
        256 + self.core.state(py).map_or(0, |bytes| bytes.len())
    }
}
