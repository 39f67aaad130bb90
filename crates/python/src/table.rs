//! A learner behind the encoding of a table: columns of any kind, with gaps.

use mercer::catalogue::Built;
use mercer::data::Labels;
use mercer::encoding::{
    Cell, Cells, ClassPipeline, Encoding, EncodingOptions, Overrides, Pipeline, PipelineScratch, ScaledTargets,
};
use mercer::model::{ClassProgress, ClassTable, Model, ModelError, ModelKind, Progress, Table};
use mercer::{AnyKernel, AnyRegressor, Classifier, Loss, Regressor, Target, Targets};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::making::{Known, Spec};
use crate::regression::at_row;
use crate::rows::in_pieces;
use crate::shared::Shared;
use crate::{arrays, errors};

/// Rows that settle what the columns are.
const HEAD: usize = 1000;
/// Rows that are encoded and learnt together.
const BLOCK: usize = 256;

/// A learner behind the encoding of a table, which is made when the head of the table has been seen.
#[pyclass(subclass, frozen, module = "mercer._mercer")]
pub(crate) struct TableCore {
    model: Shared<Option<Body>>,
}

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
    if value.is_none() {
        Ok(Owned::Missing)
    } else if let Ok(float) = value.cast::<PyFloat>() {
        number(float.value())
    } else if value.is_instance_of::<PyBool>() || value.is_instance_of::<PyInt>() {
        number(value.extract()?)
    } else if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str()?;
        Ok(if text.trim().is_empty() { Owned::Missing } else { Owned::Text(text.to_owned()) })
    } else if let Ok(seconds) = value.call_method0("timestamp") {
        let seconds: f64 = seconds.extract()?;
        Ok(if seconds.is_nan() { Owned::Missing } else { Owned::Instant(seconds) })
    } else {
        value.extract().map_or_else(|_| Ok(Owned::Text(value.str()?.to_string())), number)
    }
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

/// Whether a learner takes classes as they come.
fn is_open(learner: &AnyRegressor<AnyKernel>) -> bool {
    let like = (learner.loss() != Loss::SOFTMAX).then_some(0);
    learner.clone().add_output(like).is_ok()
}

#[pymethods]
impl TableCore {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { model: Shared::new(None) }
    }

    /// Forgets everything, and makes a learner for a table with this head: `spec` is that of the learner, `labels` the two classes if two are settled.
    #[pyo3(signature = (spec, names, columns, scale, kinds, outputs, labels, rounds))]
    #[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
    fn _begin(
        &self,
        py: Python<'_>,
        spec: Spec,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyList>>,
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
        let (mut moving, mut first) = (encoding.clone(), Vec::new());
        for record in head.iter().take(256) {
            moving.encode(record, &mut first).map_err(errors::encoding)?;
            moving.learn(record).map_err(errors::encoding)?;
        }
        let classes = labels.is_some();
        let known = Known { dimension: encoding.dimension(), outputs, classes, rounds, rows: &first, weights: &[] };
        let kernel = spec.kernel(&known)?;
        let Built { mut learner, mut parameters } = spec.build(&kernel, &known, None)?;
        let body = match labels {
            None => {
                let description = spec.describe(&kernel, &parameters);
                let scaled = if learner.loss() == Loss::SQUARED && scale != "none" {
                    ScaledTargets::new(learner).map_err(errors::encoding)?
                } else {
                    ScaledTargets::unscaled(learner)
                };
                let pipeline = Pipeline::new(encoding, scaled).map_err(errors::encoding)?;
                Body::Numbers(Box::new(Table { description, progress: Progress::default(), intervals: None, pipeline }))
            }
            Some(two) => {
                if two.len() != 2
                    && !is_open(&learner)
                    && let Ok(other) = spec.build(&kernel, &known, Some("loss=softmax"))
                {
                    Built { learner, parameters } = other;
                }
                let description = spec.describe(&kernel, &parameters);
                let autonomous = spec.entry()?.autonomous;
                let open = two.len() != 2 && is_open(&learner);
                let classifier = if open { Classifier::new(learner) } else { Classifier::two(learner) };
                let classifier = classifier.map_err(errors::learner)?;
                let classifier = if autonomous { classifier.calibrated() } else { classifier };
                let labels = if two.len() == 2 { Labels::from(two) } else { Labels::new() };
                let pipeline = ClassPipeline::new(encoding, classifier).map_err(errors::encoding)?;
                Body::Classes(Box::new(ClassTable {
                    description,
                    labels,
                    progress: ClassProgress::default(),
                    pipeline,
                }))
            }
        };
        *self.model.write(py) = Some(body);
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
        if ys.len() != rows * outputs || !(weights.is_empty() || weights.len() == rows) {
            return Err(errors::data(format!(
                "{rows} rows, {} numbers as targets and {} weights",
                ys.len(),
                weights.len()
            )));
        }
        let mut made = Vec::with_capacity(rows * outputs);
        let all = &mut made;
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let Some(Body::Numbers(model)) = model.as_mut() else { return Err(wrong_kind()) };
                let views: Vec<Row<'_>> = range.clone().map(|row| columns.row(row)).collect();
                let records: Vec<_> =
                    views.iter().map(|row| map.record(row)).collect::<Result<_, _>>().map_err(errors::encoding)?;
                let some = weights.get(range.clone()).unwrap_or_default();
                let targets = Targets::new(&ys[range.start * outputs..range.end * outputs], some, outputs)
                    .map_err(errors::learner)?;
                let before = all.len();
                let learnt = model.pipeline.learn_rows(&records, targets, all);
                for (row, scores) in all[before..].chunks_exact(outputs.max(1)).enumerate() {
                    let Target { y, weight } = targets.get(row);
                    model.progress.score.record_weighted(scores, y, weight);
                    model.progress.rows += 1;
                }
                learnt.map_err(|error| at_row(all.len() / outputs.max(1), errors::encoding(error)))
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
        let mut made = Vec::with_capacity(rows);
        let all = &mut made;
        in_pieces(
            py,
            rows,
            |range| {
                let mut model = self.model.write_detached();
                let Some(Body::Classes(model)) = model.as_mut() else { return Err(wrong_kind()) };
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
    fn encoding<T>(&self, py: Python<'_>, look: impl FnOnce(&Encoding) -> PyResult<T>) -> PyResult<T> {
        let model = self.model.read(py);
        look(model.as_ref().ok_or_else(errors::not_learnt)?.encoding())
    }
}

fn wrong_kind() -> PyErr {
    errors::data("the pipeline learns the other kind of targets, or nothing was learnt yet")
}
