//! A learner behind the encoding of a table: columns of any kind, with gaps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mercer::catalogue::Built;
use mercer::readers::{Labels, text_cell};
use mercer::encoding::{
    Cell, Cells, ClassPipeline, Encoding, EncodingOptions, Overrides, Pipeline, PipelineScratch, ScaledTargets,
};
use mercer::model::{ClassProgress, ClassTable, Model, ModelError, ModelKind, Progress, Table};
use mercer::{AnyKernel, AnyRegressor, Loss, Regressor, RegressorExt, Scratch, Target};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::making::{Known, Spec, intervals};
use crate::notes::Notes;
use crate::regression::{at_row, no_intervals};
use crate::rows::in_pieces;
use crate::shared::Shared;
use crate::{arrays, errors};

/// Rows that settle what the columns are, as many as the command looks at: the statistics begin with them.
const HEAD: usize = 256;
/// Rows that are learnt before others may predict.
const BLOCK: usize = 256;

/// A learner behind the encoding of a table, which is made when the head of the table has been seen.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct TableCore {
    model: Shared<Option<Body>>,
    notes: Mutex<Notes>,
}

/// The learner behind an encoding.
type Inner = ScaledTargets<AnyRegressor<AnyKernel>>;

enum Body {
    Numbers(Box<Table>),
    Classes(Box<ClassTable>),
}

impl Body {
    fn encoding(&self) -> &Encoding {
        match self {
            Self::Numbers(model) => model.encoding(),
            Self::Classes(model) => model.encoding(),
        }
    }
}

/// A cell that owns its text.
enum Owned {
    Missing,
    Number(f64),
    Instant(f64),
    Text(String),
}

/// Columns as Python gives them: `None` and NaN are gaps, dates have a `timestamp`.
struct Columns(Vec<Vec<Owned>>);

/// One row of them.
struct Row<'a> {
    columns: &'a [Vec<Owned>],
    row: usize,
}

impl Cells for Row<'_> {
    fn width(&self) -> usize {
        self.columns.len()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match &self.columns[column][self.row] {
            Owned::Missing => Cell::Missing,
            Owned::Number(number) => Cell::Number(*number),
            Owned::Instant(seconds) => Cell::Instant(*seconds),
            Owned::Text(text) => Cell::Text(text),
        }
    }
}

fn owned(value: &Bound<'_, PyAny>) -> PyResult<Owned> {
    let number = |number: f64| {
        if number.is_nan() {
            Ok(Owned::Missing)
        } else if number.is_finite() {
            Ok(Owned::Number(number))
        } else {
            Err(errors::data("a cell is infinite; give a number or leave it empty"))
        }
    };
    let truth = |truth: bool| Owned::Text(if truth { "true" } else { "false" }.to_owned());
    let text = |text: &str| match text_cell(text) {
        Cell::Missing => Owned::Missing,
        Cell::Number(number) => Owned::Number(number),
        Cell::Instant(seconds) => Owned::Instant(seconds),
        Cell::Text(text) => Owned::Text(text.to_owned()),
    };
    if value.is_none() {
        Ok(Owned::Missing)
    } else if let Ok(float) = value.cast::<PyFloat>() {
        number(float.value())
    } else if let Ok(one) = value.cast::<PyBool>() {
        Ok(truth(one.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        number(value.extract()?)
    } else if let Ok(one) = value.cast::<PyString>() {
        Ok(text(one.to_str()?))
    } else if value.hasattr("timestamp")? {
        let seconds: f64 = in_utc(value)?.call_method0("timestamp")?.extract()?;
        Ok(if seconds.is_nan() { Owned::Missing } else { Owned::Instant(seconds) })
    } else if value.hasattr("isoformat")? {
        // Dates and times of day.
        Ok(text(value.call_method0("isoformat")?.cast::<PyString>()?.to_str()?))
    } else if value.get_type().name()?.to_str()?.starts_with("bool") {
        // That of numpy.
        Ok(truth(value.is_truthy()?))
    } else {
        value.extract().map_or_else(|_| Ok(text(value.str()?.to_str()?)), number)
    }
}

/// A date and time, which is one of UTC where it has no zone, whatever the zone of the machine.
fn in_utc<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if value.getattr("tzinfo").is_ok_and(|zone| zone.is_none()) && value.getattr("year")?.is_instance_of::<PyInt>() {
        let utc = py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", utc)?;
        return value.call_method("replace", (), Some(&zone));
    }
    Ok(value.clone())
}

impl Columns {
    fn read(columns: &[Bound<'_, PyList>]) -> PyResult<Self> {
        let column = |column: &Bound<'_, PyList>| column.iter().map(|value| owned(&value)).collect::<PyResult<_>>();
        Ok(Self(columns.iter().map(column).collect::<PyResult<_>>()?))
    }

    fn rows(&self) -> PyResult<usize> {
        let rows = self.0.first().map_or(0, Vec::len);
        if self.0.iter().all(|column| column.len() == rows) {
            Ok(rows)
        } else {
            Err(errors::data("the columns differ in length"))
        }
    }

    fn row(&self, row: usize) -> Row<'_> {
        Row { columns: &self.0, row }
    }
}

#[pymethods]
impl TableCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: Shared::new(None), notes: Mutex::default() }
    }

    /// Forgets everything, and makes a learner for a table with this head: `spec` is that of the learner, `extras` the share of its intervals,
    /// whether they are local, and whether probabilities are calibrated; `labels` are the two classes if two are settled, else none.
    #[pyo3(signature = (spec, extras, names, columns, weights, scale, kinds, outputs, labels, rounds))]
    #[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
    fn _begin(
        &self,
        py: Python<'_>,
        spec: Spec,
        extras: (Option<f64>, bool, bool),
        names: Vec<String>,
        columns: Vec<Bound<'_, PyList>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        scale: &str,
        kinds: Vec<(String, String)>,
        outputs: usize,
        labels: Option<Vec<String>>,
        rounds: Option<usize>,
    ) -> PyResult<()> {
        if outputs == 0 {
            return Err(errors::data("the target has no number; give one, or several"));
        }
        let columns = Columns::read(&columns)?;
        let rows = columns.rows()?.min(HEAD);
        let head: Vec<Row<'_>> = (0..rows).map(|row| columns.row(row)).collect();
        let mut overrides = Overrides::default();
        for (name, kind) in kinds {
            overrides = overrides.kind(name, kind.parse().map_err(errors::encoding)?);
        }
        let options = EncodingOptions::default().scale(scale.parse().map_err(errors::encoding)?);
        let encoding = Encoding::look(&names, &head, &overrides, options).map_err(errors::encoding)?;
        // What the model will learn of these rows, for the width of the kernel.
        let weights: Vec<f64> = match arrays::optional(&weights)? {
            [] => vec![1.0; rows],
            given => given.iter().copied().take(rows).collect(),
        };
        let (mut moving, mut first) = (encoding.clone(), Vec::new());
        for (record, weight) in head.iter().zip(&weights) {
            moving.encode(record, &mut first).map_err(errors::encoding)?;
            if *weight != 0.0 {
                moving.learn(record).map_err(errors::encoding)?;
            }
        }
        let classes = labels.is_some();
        let dimension = encoding.dimension();
        let known = Known { dimension, outputs, classes, rounds, rows: &first, weights: &weights };
        let kernel = spec.kernel(&known)?;
        let (coverage, local, calibrated) = extras;
        let body = match labels {
            None => {
                let Built { learner, parameters } = spec.build(&kernel, &known, None)?;
                let intervals = intervals(&learner, coverage, local)?;
                let description = spec.describe(&kernel, &parameters);
                let scaled = if learner.loss() == Loss::SQUARED && scale != "none" {
                    ScaledTargets::new(learner).map_err(errors::encoding)?
                } else {
                    ScaledTargets::unscaled(learner)
                };
                let pipeline = Pipeline::new(encoding, scaled).map_err(errors::encoding)?;
                Body::Numbers(Box::new(Table { description, progress: Progress::default(), intervals, pipeline }))
            }
            Some(two) => {
                let (classifier, parameters) = spec.classifier(&kernel, &known, two.len() == 2, calibrated)?;
                let labels = if two.len() == 2 { Labels::from(two) } else { Labels::new() };
                let pipeline = ClassPipeline::new(encoding, classifier).map_err(errors::encoding)?;
                Body::Classes(Box::new(ClassTable {
                    description: spec.describe(&kernel, &parameters),
                    labels,
                    progress: ClassProgress::default(),
                    pipeline,
                }))
            }
        };
        *self.model.write(py) = Some(body);
        *self.notes() = Notes::default();
        Ok(())
    }

    /// Forgets everything.
    fn _reset(&self, py: Python<'_>) {
        *self.model.write(py) = None;
    }

    /// Learns rows with numbers as targets; the answer is their predictions.
    fn _learn_numbers<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        columns: Vec<Bound<'py, PyList>>,
        y: PyReadonlyArray1<'py, f64>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let columns = Columns::read(&columns)?;
        let rows = columns.rows()?;
        let (ys, weights) = (arrays::numbers(&y)?, arrays::optional(&weights)?);
        let (map, outputs) = {
            let model = self.model.read(py);
            let Some(Body::Numbers(model)) = model.as_ref() else { return Err(wrong_kind()) };
            (model.encoding().matching(&names).map_err(errors::encoding)?, model.pipeline.learner().outputs())
        };
        self.notes().lacking(map.missing());
        if ys.len() != rows * outputs || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!(
                "{rows} rows, {} numbers as targets and {} weights",
                ys.len(),
                weights.len()
            )));
        }
        let mut made = Vec::with_capacity(rows * outputs);
        let all = &mut made;
        let (mut scores, mut radii, mut scratch) = (vec![0.0; outputs], vec![0.0; outputs], Scratch::default());
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let Some(Body::Numbers(model)) = model.as_mut() else { return Err(wrong_kind()) };
                let Table { pipeline, progress, intervals, .. } = &mut **model;
                let mut notes = self.notes();
                // One by one, so that the numbers are those of the command to the bit, however the rows are cut into batches.
                for row in range {
                    let refused = |error| at_row(row, errors::encoding(error));
                    let view = columns.row(row);
                    let record = map.record(&view).map_err(refused)?;
                    let y = &ys[row * outputs..(row + 1) * outputs];
                    let weight = weights.get(row).copied().unwrap_or(1.0);
                    let target = Target::weighted(y, weight);
                    let teach = |learner: &mut Inner, x: &[f64]| match intervals.as_mut() {
                        None => learner.learn(x, target, &mut scores),
                        Some(intervals) => intervals.learn(learner, x, target, &mut scratch, &mut scores, &mut radii),
                    };
                    pipeline.learn_by(&record, weight, teach).map_err(refused)?;
                    notes.look(row, pipeline.encoding(), &record);
                    progress.score.record_weighted(&scores, y, weight);
                    progress.rows += 1;
                    all.extend_from_slice(&scores);
                }
                Ok(())
            },
            || BLOCK,
        )?;
        arrays::columns(py, made, outputs)
    }

    /// Learns rows with texts as labels; the answer is the class predicted for each, "" before any was met.
    fn _learn_classes(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyList>>,
        labels: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Vec<String>> {
        let columns = Columns::read(&columns)?;
        let rows = columns.rows()?;
        let weights = arrays::optional(&weights)?;
        if labels.len() != rows || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!("{rows} rows, {} labels and {} weights", labels.len(), weights.len())));
        }
        let map = self.encoding(py, |encoding| encoding.matching(&names).map_err(errors::encoding))?;
        self.notes().lacking(map.missing());
        let mut made = Vec::with_capacity(rows);
        let all = &mut made;
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let Some(Body::Classes(model)) = model.as_mut() else { return Err(wrong_kind()) };
                let mut notes = self.notes();
                // One by one: a label becomes a class when its first row has been learnt.
                for row in range {
                    let refused = |error| at_row(row, errors::encoding(error));
                    let weight = weights.get(row).copied().unwrap_or(1.0);
                    let (known, classifier) = (model.labels.len(), model.pipeline.classifier());
                    let class = match model.labels.find(&labels[row]) {
                        Some(class) => class,
                        None if classifier.is_open() || known < classifier.classes() => known,
                        None => {
                            return Err(at_row(
                                row,
                                errors::data(format!("{:?} is a third class, and this learner knows two", labels[row])),
                            ));
                        }
                    };
                    let view = columns.row(row);
                    let record = map.record(&view).map_err(refused)?;
                    let predicted = model.pipeline.learn(&record, class, weight).map_err(refused)?;
                    notes.look(row, model.pipeline.encoding(), &record);
                    if class == known && weight != 0.0 {
                        model.labels.insert(&labels[row]);
                    }
                    model.progress.rows += 1;
                    model.progress.learnt += 1;
                    model.progress.score.record(class, predicted, None, weight);
                    all.push(predicted.and_then(|class| model.labels.get(class)).unwrap_or_default().to_owned());
                }
                Ok(())
            },
            || BLOCK,
        )?;
        Ok(made)
    }

    /// Predictions for rows: numbers, or probabilities of the classes in the order of `_labels` (scores where there are none).
    fn _predict<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        columns: Vec<Bound<'py, PyList>>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<String>)> {
        let columns = Columns::read(&columns)?;
        let rows = columns.rows()?;
        let map = self.encoding(py, |encoding| encoding.matching(&names).map_err(errors::encoding))?;
        self.notes().lacking(map.missing());
        let (mut made, mut chosen, mut width) = (Vec::new(), Vec::new(), 1);
        let (all, choices, columns_made) = (&mut made, &mut chosen, &mut width);
        let (mut scratch, mut scores) = (PipelineScratch::default(), Vec::new());
        in_pieces(
            py,
            rows,
            |range| {
                let model = self.model.read_detached();
                for row in range {
                    let refused = |error| at_row(row, errors::encoding(error));
                    let view = columns.row(row);
                    let record = map.record(&view).map_err(refused)?;
                    if let Some(model) = model.as_ref() {
                        self.notes().look(row, model.encoding(), &record);
                    }
                    match model.as_ref() {
                        None => return Err(errors::not_learnt()),
                        Some(Body::Numbers(model)) => {
                            scores.resize(model.pipeline.learner().outputs(), 0.0);
                            model.pipeline.predict_into(&record, &mut scratch, &mut scores).map_err(refused)?;
                        }
                        Some(Body::Classes(model)) => {
                            model.pipeline.scores_with(&record, &mut scratch, &mut scores).map_err(refused)?;
                            let classifier = model.pipeline.classifier();
                            let choice = classifier
                                .choice(&scores)
                                .and_then(|class| model.labels.get(class).or(model.labels.get(0)));
                            choices.push(choice.unwrap_or_default().to_owned());
                            classifier.probabilities(&mut scores);
                        }
                    }
                    if row == 0 {
                        *columns_made = scores.len();
                    }
                    all.extend(scores.iter().copied().chain(std::iter::repeat(0.0)).take(*columns_made));
                }
                Ok(())
            },
            || BLOCK,
        )?;
        Ok((arrays::columns(py, made, width)?, chosen))
    }

    /// Predictions for rows, and the radii of the intervals around them.
    fn _predict_radii<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        columns: Vec<Bound<'py, PyList>>,
    ) -> PyResult<[Bound<'py, PyArray2<f64>>; 2]> {
        let columns = Columns::read(&columns)?;
        let rows = columns.rows()?;
        let map = self.encoding(py, |encoding| encoding.matching(&names).map_err(errors::encoding))?;
        self.notes().lacking(map.missing());
        let model = self.model.read(py);
        let Some(Body::Numbers(model)) = model.as_ref() else { return Err(wrong_kind()) };
        let intervals = model.intervals.as_ref().ok_or_else(no_intervals)?;
        let learner = model.pipeline.learner();
        let outputs = learner.outputs();
        let (mut scores, mut radii) = (vec![0.0; rows * outputs], vec![0.0; rows * outputs]);
        let (mut scratch, mut inputs) = (Scratch::default(), Vec::new());
        for row in 0..rows {
            let view = columns.row(row);
            let record = map.record(&view).map_err(errors::encoding)?;
            inputs.clear();
            model.encoding().encode(&record, &mut inputs).map_err(errors::encoding)?;
            let place = row * outputs..(row + 1) * outputs;
            let (scores, radii) = (&mut scores[place.clone()], &mut radii[place]);
            intervals.predict_into(learner, &inputs, &mut scratch, scores, radii).map_err(errors::learner)?;
        }
        Ok([arrays::columns(py, scores, outputs)?, arrays::columns(py, radii, outputs)?])
    }

    /// The share of targets that their intervals held so far, one a target; None without intervals.
    #[getter]
    fn _coverage(&self, py: Python<'_>) -> Option<Vec<f64>> {
        let model = self.model.read(py);
        let Some(Body::Numbers(model)) = model.as_ref() else { return None };
        let intervals = &model.intervals.as_ref()?.conformal;
        Some((0..intervals.outputs()).map(|output| intervals.coverage(output)).collect())
    }

    /// Remarks on rows that were learnt or predicted, each once of each column.
    fn _notes(&self) -> Vec<String> {
        self.notes().take()
    }

    /// Whether a learner has been made.
    #[getter]
    fn _is_made(&self, py: Python<'_>) -> bool {
        self.model.read(py).is_some()
    }

    /// Whether it learns classes; their names in the order in which they were met.
    fn _labels(&self, py: Python<'_>) -> PyResult<Option<Vec<String>>> {
        match self.model.read(py).as_ref() {
            None => Err(errors::not_learnt()),
            Some(Body::Numbers(_)) => Ok(None),
            Some(Body::Classes(model)) => Ok(Some(model.labels.names().to_vec())),
        }
    }

    /// For each column its name, what it is, whether it is used, and how; then the points kept and the rows learnt.
    fn _facts(&self, py: Python<'_>) -> PyResult<(Vec<(String, String, String, Option<String>)>, usize, u64)> {
        let columns = self.encoding(py, |encoding| {
            let columns = encoding.schema().columns().iter().enumerate();
            Ok(columns
                .map(|(place, column)| {
                    (
                        column.name.clone(),
                        column.kind.to_string(),
                        column.used.to_string(),
                        encoding.transform().treatment(place),
                    )
                })
                .collect())
        })?;
        let model = self.model.read(py);
        let (size, rows) = match model.as_ref() {
            None => return Err(errors::not_learnt()),
            Some(Body::Numbers(model)) => (model.pipeline.learner().dictionary_size(), model.progress.rows),
            Some(Body::Classes(model)) => {
                (model.pipeline.classifier().learner().dictionary_size(), model.progress.rows)
            }
        };
        Ok((columns, size, rows))
    }

    /// The model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match self.model.read(py).as_ref() {
            None => return Err(errors::not_learnt()),
            Some(Body::Numbers(model)) => model.to_bytes(),
            Some(Body::Classes(model)) => model.to_bytes(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(errors::model)?))
    }

    /// Takes the model of a file.
    fn _set_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let body = match Model::from_bytes(bytes).map_err(errors::model)? {
            Model::Table(model) => Body::Numbers(model),
            Model::ClassTable(model) => Body::Classes(model),
            other => {
                return Err(errors::model(ModelError::OtherKind { expected: ModelKind::Table, got: other.kind() }));
            }
        };
        *self.model.write(py) = Some(body);
        Ok(())
    }
}

impl TableCore {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encoding<T>(&self, py: Python<'_>, look: impl FnOnce(&Encoding) -> PyResult<T>) -> PyResult<T> {
        let model = self.model.read(py);
        look(model.as_ref().ok_or_else(errors::not_learnt)?.encoding())
    }
}

fn wrong_kind() -> PyErr {
    errors::data("the pipeline learns the other kind of targets, or nothing was learnt yet")
}
