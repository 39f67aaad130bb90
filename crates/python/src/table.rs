//! A learner behind the encoding of a table: columns of any kind, with gaps.

mod columns;
mod lessons;
mod predictions;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer::Error;
use mercer::encoding::{ColumnFacts, Encoding, EncodingError, Face, ToldKind};
use mercer::experts::Outliers;
use mercer::model::{GAPS, Model, Own, Tabular, Taught};
use mercer::readers::{Gaps, Labels};
use mercer::session::{RowPrediction, Session};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::body::{self, ModelPlan, coverage, encoding_of, extras, most};
use crate::cells::{PythonColumns, PythonRow, Single};
use crate::classes::MetClasses;
use crate::explaining::{AskedEffects, ToldEffects, explain_records};
use crate::front::{LearnerFacts, about, own};
use crate::making::{DataFacts, Extras, LearnerSpec};
use crate::notes::{self, Notes};
use crate::rows::{in_pieces, prompt};
use crate::shared::FairLock;
use crate::steps::Extra;
use crate::{arrays, errors};
use columns::gaps_of;
use lessons::{LearntRows, Lessons};
use predictions::PredictedRows;

/// Rows that settle what the columns are, as many as the command looks at: the statistics begin
/// with them.
const HEAD: usize = 256;
/// Rows of a piece where a signal can wait for so many: they share no work here, whatever the
/// learner has.
const PIECE: usize = 256;

/// The facts of a column, and how it becomes numbers.
type ColumnWords = (String, String, String, String, Option<String>);

/// A learner behind the encoding of a table, which is made when the head of the table has been
/// seen.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
#[derive(Default)]
pub(crate) struct TableCore {
    model: FairLock<Option<Session>>,
    /// Taken before the model by who needs both.
    classes: Mutex<MetClasses>,
    notes: Mutex<Notes>,
    /// What stands for no value.
    gaps: FairLock<Gaps>,
    /// Whether the user knows the order of the columns.
    in_order: AtomicBool,
    /// Taken before the others.
    single: Mutex<(Single, RowPrediction)>,
}

#[pymethods]
impl TableCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    /// Forgets everything, and makes a learner for a table with this head, or without a head for
    /// columns of these kinds. `spec` is that of the learner, `extras` the share of its intervals,
    /// whether they are local, and whether probabilities are calibrated; `manner` is how numbers
    /// are scaled, what is done with implausible targets and, as JSON, what stands for no value;
    /// `means` are the targets whose means columns may have;
    /// `labels` are the two classes if two are settled, else none.
    #[pyo3(signature = (spec, extras, names, columns, weights, means, manner, kinds, outputs, labels))]
    #[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
    fn _begin(
        &self,
        py: Python<'_>,
        spec: LearnerSpec,
        extras: Extras,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyList>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        means: Option<PyReadonlyArray1<'_, f64>>,
        manner: (String, String, Option<String>),
        kinds: Vec<(String, String)>,
        outputs: usize,
        labels: Option<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<()> {
        let (scale, outliers, gaps) = manner;
        let own: Own = gaps.map(|gaps| (GAPS.to_owned(), gaps)).into_iter().collect();
        let gaps = gaps_of(py, &own)?;
        let columns = PythonColumns::read(&columns, &gaps)?;
        let rows = columns.rows()?.min(HEAD);
        let head: Vec<PythonRow<'_>> = (0..rows).map(|row| columns.row(row)).collect();
        let outliers: Outliers = outliers.parse().map_err(errors::settings)?;
        let told: Vec<String> = kinds.iter().map(|(name, _)| name.clone()).collect();
        let means = arrays::optional(&means)?;
        let encoding = encoding_of(&names, &head, (kinds, !means.is_empty()), (&scale, spec.tokens()?))?;
        if !encoding.schema().columns().iter().any(|column| column.used.is_learnt()) {
            return Err(errors::data(
                "no column is left to learn from: every one is empty or left out; give rows of which some have a value",
            ));
        }
        // What the model will learn of these rows, for the width of the kernel.
        let weights: Vec<f64> = match arrays::optional(&weights)? {
            [] => vec![1.0; rows],
            given => given.iter().copied().take(rows).collect(),
        };
        let (mut moving, mut first) = (encoding.clone(), Vec::new());
        for (row, (record, weight)) in head.iter().zip(&weights).enumerate() {
            moving.encode(record, &mut first).map_err(errors::encoding)?;
            if *weight != 0.0 {
                moving.learn_with(record, means.get(row).copied()).map_err(errors::encoding)?;
            }
        }
        let plan = ModelPlan { spec, extras, scaled: scale != "none", outliers };
        let of_classes = labels.is_some();
        let classes = MetClasses::of(&labels.filter(|labels| labels.len() == 2).unwrap_or_default())?;
        let (dimension, tokens, two) = (encoding.dimension(), encoding.has_tokens(), classes.len() == 2);
        let known = DataFacts { dimension, outputs, classes: of_classes, rows: &first, weights: &weights, tokens };
        let mut body = plan.make(&known, two, Some(encoding))?;
        body.description.own = own;
        *self.gaps.write(py) = gaps;
        self.single(py).0 = Single::new(py, body::encoding(&body)?)?;
        *self.classes(py) = classes;
        let mut notes = Notes::default();
        notes.doubts(body::encoding(&body)?, &told);
        *self.model.write(py) = Some(body);
        *self.notes() = notes;
        Ok(())
    }

    /// Takes over what another has learnt, which then has nothing.
    fn _take_over(&self, py: Python<'_>, other: &Self) {
        let theirs = std::mem::take(&mut *other.single(py));
        let classes = std::mem::take(&mut *other.classes(py));
        let (model, gaps) = (other.model.write(py).take(), std::mem::take(&mut *other.gaps.write(py)));
        let notes = std::mem::take(&mut *other.notes());
        let (mut single, mut met) = (self.single(py), self.classes(py));
        (*single, *met) = (theirs, classes);
        *self.model.write(py) = model;
        *self.gaps.write(py) = gaps;
        *self.notes() = notes;
        self.in_order.store(other.in_order.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whether the user knows the order of the columns.
    #[getter]
    fn _in_order(&self) -> bool {
        self.in_order.load(Ordering::Relaxed)
    }

    #[setter(_in_order)]
    fn set_in_order(&self, py: Python<'_>, known: bool) {
        self.in_order.store(known, Ordering::Relaxed);
        self.single(py).0.set_in_order(known);
    }

    /// The names of the columns.
    fn _column_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.encoding(py, |encoding| Ok(encoding.schema().columns().iter().map(|column| column.name.clone()).collect()))
    }

    /// The columns of a row that are unknown and have a value, with their kinds, which may be told.
    fn _late(
        &self,
        x: &Bound<'_, PyAny>,
        told: HashMap<String, String>,
        gaps: Vec<String>,
    ) -> PyResult<Vec<(String, String)>> {
        let gaps = Gaps::new(&gaps);
        self.single(x.py()).0.late(x, &gaps, &told)
    }

    /// Columns of these kinds join; what the learner cannot take is left out, and told.
    fn _join(&self, py: Python<'_>, columns: Vec<(String, String)>) -> PyResult<()> {
        let mut single = self.single(py);
        let parsed = columns.iter().map(|(name, kind)| kind.parse::<ToldKind>().map(|kind| (name.clone(), kind)));
        let parsed = parsed.collect::<Result<Vec<_>, _>>().map_err(errors::encoding)?;
        let added = body::add_columns(self.model.write(py).as_mut().ok_or_else(errors::not_learnt)?, parsed)?;
        let names = columns.into_iter().map(|(name, _)| name);
        if added == Err(EncodingError::Learner(Error::FixedInputs)) {
            for name in names {
                self.notes().late(&name);
                single.0.leave_out(name);
            }
            return Ok(());
        }
        added.map_err(errors::encoding)?;
        single.0.append(py, names.collect())
    }

    /// How many numbers a target has.
    fn _outputs(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |body| body.numbers().map(Taught::outputs).ok_or_else(errors::wrong_kind))
    }

    /// Learns one row. If a key with a value is no column, the answer is false: columns are to
    /// join, unless the row is to be learnt `anyway`.
    fn _learn_row(
        slf: &Bound<'_, Self>,
        row: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        w: f64,
        anyway: bool,
    ) -> PyResult<bool> {
        match slf.get().learn_row(row, y, w, anyway)? {
            Some(said) => notes::warn(slf.py(), said).map(|()| true),
            None => Ok(false),
        }
    }

    /// The prediction for one row: a number, several, or a class; or what is told `beside` it:
    /// probabilities of the classes, or the numbers and the reach of their intervals. Columns that
    /// are unknown are left out.
    #[pyo3(signature = (row, beside = ""))]
    fn _predict_row<'py>(&self, row: &Bound<'py, PyAny>, beside: &str) -> PyResult<Bound<'py, PyAny>> {
        let (made, said) = self.predict_row(row, Extra::named(beside)?)?;
        notes::warn(row.py(), said).map(|()| made)
    }

    /// Learns rows. `targets` are numbers, or `(labels, codes)`: row `i` has the label
    /// `labels[codes[i]]`. The answer is the prediction of each before it was learnt: numbers, or a
    /// class, None before any was met.
    fn _learn_rows<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        columns: Vec<Bound<'py, PyList>>,
        targets: &Bound<'py, PyAny>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let columns = PythonColumns::read(&columns, &self.gaps.read(py))?;
        let (rows, width_of, weights) = (columns.rows()?, columns.0.len(), arrays::optional(&weights)?);
        let facts = |body: &Session| Ok((body.numbers().map(Taught::outputs), most(body), body::budget(body)));
        let (outputs, most, budget) = self.look(py, facts)?;
        let y: Option<PyReadonlyArray1<'_, f64>> = outputs.map(|_| targets.extract()).transpose()?;
        let ys = arrays::optional(&y)?;
        // A label becomes a class with its first row; one of a row that is not learnt is forgotten
        // again.
        let mut before = 0;
        let met = match outputs {
            Some(_) => Ok(Vec::new()),
            None => {
                before = self.classes(py).len();
                let (labels, codes): (Vec<Bound<'_, PyAny>>, Vec<i64>) = targets.extract()?;
                self.classes(py).meet(&labels, &codes, weights, most)
            }
        };
        let width = outputs.unwrap_or(1);
        let told = met.as_ref().map_or(rows, |met| ys.len().max(met.len() * width));
        if told != rows * width || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!("{rows} rows, {told} targets and {} weights", weights.len())));
        }
        let mut learnt = LearntRows { known: before, ..LearntRows::default() };
        let done = met.and_then(|met| {
            let lessons = Lessons { ys: outputs.map(|_| ys), width, classes: &met, weights };
            let piece = |range| self.learn_piece(range, (names.as_deref(), &columns, width_of), &lessons, &mut learnt);
            in_pieces(py, rows, piece, || PIECE.min(prompt(budget)))
        });
        if outputs.is_some() {
            done?;
            return Ok(arrays::columns(py, learnt.made, width)?.into_any());
        }
        let known = self.look(py, |body| Ok(body::width(body)))?;
        let mut classes = self.classes(py);
        if done.is_err() {
            classes.truncate(py, known)?;
        }
        done?;
        Ok(classes.labels(py, &learnt.chosen)?.into_any())
    }

    /// Predictions for rows, and what is told `beside` them: see [`Extra`]. Scores and
    /// probabilities are those of the classes in the order of `_labels_met`.
    #[pyo3(signature = (names, columns, beside = ""))]
    fn _predict<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        columns: Vec<Bound<'py, PyList>>,
        beside: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>)> {
        let columns = PythonColumns::read(&columns, &self.gaps.read(py))?;
        let (rows, width_of, beside) = (columns.rows()?, columns.0.len(), Extra::named(beside)?);
        let budget = self.look(py, |body| Ok(body::budget(body)))?;
        let mut predicted = PredictedRows::new(beside, rows, self.classes(py).len());
        let piece = |range| self.predict_piece(range, (names.as_deref(), &columns, width_of), &mut predicted);
        in_pieces(py, rows, piece, || PIECE.min(prompt(budget)))?;
        let PredictedRows { made, others, chosen, width, .. } = predicted;
        let beside = match beside {
            Extra::Reach => arrays::columns(py, others, 2 * width)?.into_any(),
            Extra::Deviation => arrays::columns(py, others, width)?.into_any(),
            Extra::Nothing | Extra::Probable => self.classes(py).labels(py, &chosen)?.into_any(),
        };
        Ok((arrays::columns(py, made, width)?, beside))
    }

    /// Effects on the predictions for rows: see [`ToldEffects`].
    #[pyo3(signature = (names, columns, aim, permutations, background = None))]
    fn _explain_rows<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        columns: Vec<Bound<'py, PyList>>,
        aim: usize,
        permutations: usize,
        background: Option<(Option<Vec<String>>, Vec<Bound<'py, PyList>>)>,
    ) -> PyResult<ToldEffects<'py>> {
        let background = background.map(|(names, columns)| self.records(py, names.as_deref(), &columns)).transpose()?;
        let rows = self.records(py, names.as_deref(), &columns)?;
        let asked = AskedEffects { aim, permutations, background: background.unwrap_or_default() };
        explain_records(py, &self.model, &rows, &asked)
    }

    /// The same for one row, as it is predicted; nothing is told or counted.
    fn _explain_one<'py>(&self, x: &Bound<'py, PyAny>, aim: usize, permutations: usize) -> PyResult<ToldEffects<'py>> {
        let py = x.py();
        let mut single = self.single(py);
        single.0.read(x, &self.gaps.read(py), &mut Notes::default())?;
        let row = columns::row_of(&single.0);
        drop(single);
        explain_records(py, &self.model, &[row], &AskedEffects { aim, permutations, background: Vec::new() })
    }

    /// The numbers that each row becomes, with the statistics of the rows before it; the model is
    /// left as it is.
    fn _encode_rows<'py>(
        &self,
        py: Python<'py>,
        names: Option<Vec<String>>,
        columns: Vec<Bound<'py, PyList>>,
        targets: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = PythonColumns::read(&columns, &self.gaps.read(py))?;
        let targets = arrays::optional(&targets)?;
        let mut encoding = self.encoding(py, |encoding| Ok(encoding.clone()))?;
        let map = self.matching(&encoding, names.as_deref(), columns.0.len(), &mut self.notes())?;
        let (mut made, mut numbers) = (Vec::new(), Vec::new());
        for row in 0..columns.rows()? {
            let view = columns.row(row);
            let record = map.record(&view).map_err(errors::encoding)?;
            numbers.clear();
            encoding.encode(&record, &mut numbers).map_err(errors::encoding)?;
            made.extend_from_slice(&numbers);
            encoding.learn_with(&record, targets.get(row).copied()).map_err(errors::encoding)?;
        }
        arrays::columns(py, made, encoding.dimension())
    }

    /// The share of targets that their intervals held so far, one a target; None without intervals.
    #[getter]
    fn _coverage(&self, py: Python<'_>) -> Option<Vec<f64>> {
        self.model.read(py).as_ref().and_then(coverage)
    }

    /// Remarks on rows that were learnt or predicted, each once of each column.
    fn _notes(&self) -> Vec<String> {
        self.notes().take()
    }

    /// How many cells of the rows that were learnt and predicted were read otherwise than they
    /// stand.
    fn _counts(&self) -> Vec<(&'static str, u64)> {
        self.notes().counts()
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Whether it learns classes; their labels in the order in which they were met.
    fn _labels_met<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let classes = self.look(py, |body| Ok(body.classes().is_some()))?;
        classes.then(|| self.classes(py).list(py)).transpose()
    }

    /// The labels as a file tells them again.
    fn _labels_in_file<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        MetClasses::of_file(py, &self.classes(py).to_file(py)?)?.list(py)
    }

    #[setter(_labels)]
    fn set_labels(&self, py: Python<'_>, labels: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        *self.classes(py) = MetClasses::of(&labels)?;
        Ok(())
    }

    /// The learner of the catalogue, the kernel, and each key with its value.
    fn _description(&self, py: Python<'_>) -> PyResult<LearnerFacts> {
        self.look(py, |body| Ok(about(&body.description)))
    }

    /// The share of its intervals and whether they are local; whether probabilities are calibrated.
    fn _extras(&self, py: Python<'_>) -> PyResult<Extras> {
        self.look(py, |body| Ok(extras(body)))
    }

    /// How numbers are scaled.
    fn _scaled(&self, py: Python<'_>) -> PyResult<String> {
        self.encoding(py, |encoding| Ok(encoding.transform().options().scale.to_string()))
    }

    /// What is done with implausible targets.
    fn _outliers(&self, py: Python<'_>) -> PyResult<&'static str> {
        let of = |body: &Session| body.numbers().map_or(Outliers::default(), |task| task.learner.outliers());
        self.look(py, |body| Ok(of(body).name()))
    }

    /// What Python keeps for itself in a file.
    fn _kept(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.look(py, |body| Ok(body.description.own.clone()))
    }

    /// For each column its name, what it is, whether it is used, why, and how it becomes numbers;
    /// then the points kept and the rows learnt.
    fn _facts(&self, py: Python<'_>) -> PyResult<(Vec<ColumnWords>, usize, u64)> {
        let columns = self.encoding(py, |encoding| {
            let (schema, transform) = (encoding.schema(), encoding.transform());
            let columns = schema.columns().iter().enumerate();
            Ok(columns
                .map(|(place, column)| {
                    let ColumnFacts { name, kind, used, why } = column.facts(schema.rows(), Face::Python);
                    (name, kind, used, why, transform.treatment(place))
                })
                .collect())
        })?;
        self.look(py, |body| Ok((columns, body.dictionary_size(), body.progress.rows)))
    }

    /// The model file.
    fn to_bytes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
        let (py, this) = (slf.py(), slf.get());
        let own = own(slf.as_any(), &this._kept(py)?)?;
        let labels = this.classes(py).to_file(py)?;
        this.bytes(py, Some(own), labels)
    }

    /// The model for a pickle, which has all else itself.
    fn _state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let labels = self.classes(py).numbered();
        self.bytes(py, None, labels)
    }

    /// Takes the model of a file; `labels` are those of its classes, which it may itself tell.
    #[pyo3(signature = (bytes, labels = None))]
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8], labels: Option<Vec<Bound<'_, PyAny>>>) -> PyResult<()> {
        let model = Tabular::of(Model::from_bytes(bytes).map_err(errors::model)?).map_err(|_| errors::wrong_kind())?;
        errors::refuse_groups(&model)?;
        body::encoding(&model)?;
        *self.gaps.write(py) = gaps_of(py, &model.description.own)?;
        self.single(py).0 = Single::new(py, body::encoding(&model)?)?;
        *self.classes(py) = match (labels, model.classes()) {
            (Some(labels), _) => MetClasses::of(&labels)?,
            (None, Some(task)) => MetClasses::of_file(py, &task.labels)?,
            (None, None) => MetClasses::default(),
        };
        *self.model.write(py) = Some(model);
        Ok(())
    }
}

impl TableCore {
    fn classes(&self, py: Python<'_>) -> MutexGuard<'_, MetClasses> {
        self.classes.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn bytes<'py>(&self, py: Python<'py>, own: Option<Own>, labels: Labels) -> PyResult<Bound<'py, PyBytes>> {
        let mut model = self.model.write(py);
        let body = model.as_mut().ok_or_else(errors::not_learnt)?;
        own.into_iter().for_each(|own| body.description.own = own);
        Ok(PyBytes::new(py, &body::file(body, || Ok(labels))?))
    }

    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&Session) -> PyResult<T>) -> PyResult<T> {
        look(self.model.read(py).as_ref().ok_or_else(errors::not_learnt)?)
    }

    fn single(&self, py: Python<'_>) -> MutexGuard<'_, (Single, RowPrediction)> {
        self.single.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encoding<T>(&self, py: Python<'_>, look: impl FnOnce(&Encoding) -> PyResult<T>) -> PyResult<T> {
        self.look(py, |body| look(body::encoding(body)?))
    }
}
