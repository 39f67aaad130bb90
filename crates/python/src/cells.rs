//! Cells of a table: from Python objects to what an encoding reads.

use std::collections::{HashMap, HashSet};

use mercer::core::ListError;
use mercer::encoding::{Cell, Cells, Encoding, List, ListText, ToldKind};
use mercer::readers::{Gaps, is_gap_mark, parse_instant, text_cell};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors;
use crate::names::{Names, Row, by_order_of, no_row, row, shown, text_of};
use crate::notes::Notes;

/// A cell that owns its text.
pub(crate) enum OwnedCell {
    Missing,
    Number(f64),
    Integer(i128),
    Text(String),
    /// The text of a list or a dictionary.
    List(String),
    /// One of a type of its own, which has no text.
    Typed(Cell<'static>),
}

impl OwnedCell {
    fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// True if it is missing, or a text that stands for none in a column without a kind.
    fn is_gap(&self) -> bool {
        self.is_missing() || matches!(self, Self::Text(text) if is_gap_mark(text))
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(number) => Cell::Number(*number),
            Self::Integer(number) => Cell::integer(*number),
            Self::Text(text) => Cell::Text(text),
            Self::List(text) => Cell::List(List::known(text)),
            Self::Typed(cell) => *cell,
        }
    }
}

/// Columns as Python gives them: `None` and NaN are gaps, dates have a `timestamp`.
pub(crate) struct PythonColumns(pub(crate) Vec<Vec<OwnedCell>>);

/// One row of them.
pub(crate) struct PythonRow<'a> {
    columns: &'a [Vec<OwnedCell>],
    row: usize,
}

impl Cells for PythonRow<'_> {
    fn width(&self) -> usize {
        self.columns.len()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.columns[column][self.row].cell()
    }
}

/// A cell, or one without a value where it stands for none.
fn read(value: &Bound<'_, PyAny>, gaps: &Gaps) -> PyResult<OwnedCell> {
    let cell = owned(value)?;
    Ok(if gaps.is_empty() || gaps.without(cell.cell()) != Cell::Missing { cell } else { OwnedCell::Missing })
}

fn owned(value: &Bound<'_, PyAny>) -> PyResult<OwnedCell> {
    if value.is_none() {
        Ok(OwnedCell::Missing)
    } else if let Ok(float) = value.cast::<PyFloat>() {
        finite(float.value())
    } else if let Ok(one) = value.cast::<PyBool>() {
        Ok(OwnedCell::Typed(Cell::Truth(one.is_true())))
    } else if value.is_instance_of::<PyInt>() {
        value.extract().map(OwnedCell::Integer).or_else(|_| finite(value.extract()?))
    } else if let Ok(one) = value.cast::<PyString>() {
        Ok(text(one.to_str()?))
    } else {
        by_type(value)
    }
}

fn finite(number: f64) -> PyResult<OwnedCell> {
    if number.is_nan() {
        Ok(OwnedCell::Missing)
    } else if number.is_finite() {
        Ok(OwnedCell::Number(number))
    } else {
        Err(errors::data("a cell is infinite; give a number or leave it empty"))
    }
}

fn text(text: &str) -> OwnedCell {
    match text_cell(text) {
        Cell::Text(text) => OwnedCell::Text(text.to_owned()),
        _ => OwnedCell::Missing,
    }
}

/// A count of seconds as a cell of a type of its own.
fn seconds(kind: fn(f64) -> Cell<'static>, seconds: f64) -> OwnedCell {
    if seconds.is_nan() { OwnedCell::Missing } else { OwnedCell::Typed(kind(seconds)) }
}

/// A cell of a type that is none of Python's plain ones: its type says what it is, its text only
/// where the type does not.
fn by_type(value: &Bound<'_, PyAny>) -> PyResult<OwnedCell> {
    let name = value.get_type().name()?;
    // Those of pandas, and what numpy has behind a mask.
    if matches!(name.to_str()?, "NaTType" | "NAType" | "MaskedConstant") {
        return Ok(OwnedCell::Missing);
    }
    if let Ok(kind) = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<char>())
        && value.hasattr("shape")?
    {
        return of_numpy(value, kind);
    }
    if value.hasattr("timestamp")? {
        time(value)
    } else if value.hasattr("total_seconds")? {
        Ok(seconds(Cell::Duration, value.call_method0("total_seconds")?.extract()?))
    } else if value.hasattr("isoformat")? {
        // Dates and times of day.
        let written = value.call_method0("isoformat")?;
        let written = written.cast::<PyString>()?.to_str()?;
        let kind = if value.hasattr("year")? { Cell::LocalTime } else { Cell::TimeOfDay };
        Ok(parse_instant(written).map_or_else(|| text(written), |since| OwnedCell::Typed(kind(since))))
    } else if value.hasattr("start_time")? && value.hasattr("ordinal")? {
        // A period begins at an instant.
        by_type(&value.getattr("start_time")?)
    } else if let Ok(bytes) = value.extract::<&[u8]>() {
        let written = std::str::from_utf8(bytes);
        written.map(text).map_err(|_| errors::data("a cell has bytes that are no UTF-8; give a text"))
    } else if value.is_instance_of::<PyComplex>() {
        Err(complex())
    } else if value.hasattr("__len__")? && value.hasattr("__iter__")? {
        list(value)
    } else {
        value.extract().map_or_else(|_| Ok(text(value.str()?.to_str()?)), finite)
    }
}

fn complex() -> PyErr {
    errors::data("a cell is a complex number; give its real and its imaginary part as columns of their own")
}

/// Several values as one cell: the names of a list, a set or an array, or a dictionary.
fn list(value: &Bound<'_, PyAny>) -> PyResult<OwnedCell> {
    let refused = |why: &str| errors::data(format!("{} {why}", shown(value)));
    let nested = || refused(&ListError::Nested.to_string());
    let mut text = ListText::list();
    if value.hasattr("items")? {
        text = ListText::object();
        for pair in value.call_method0("items")?.try_iter()? {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair?.extract()?;
            push(&mut text, text_of(&name)?.to_str()?, &value, nested)?;
        }
    } else {
        let members = value.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        // As pyarrow has the entries of a map.
        let pairs: Option<Vec<(String, Bound<'_, PyAny>)>> = members
            .iter()
            .map(|pair| pair.cast::<PyTuple>().ok().and_then(|pair| pair.extract().ok()))
            .collect::<Option<_>>()
            .filter(|pairs: &Vec<_>| !pairs.is_empty());
        if let Some(pairs) = pairs {
            text = ListText::object();
            for (name, value) in pairs {
                push(&mut text, &name, &value, nested)?;
            }
        } else {
            for member in members {
                match owned(&member)? {
                    OwnedCell::Missing => {}
                    OwnedCell::Text(name) => text.name(&name),
                    OwnedCell::List(_) => return Err(nested()),
                    _ => return Err(refused(&ListError::Numbers.to_string())),
                }
            }
        }
    }
    Ok(OwnedCell::List(text.finish()))
}

/// Writes a name with its value, unless that is missing.
fn push(object: &mut ListText, name: &str, value: &Bound<'_, PyAny>, nested: impl Fn() -> PyErr) -> PyResult<()> {
    let cell = owned(value)?;
    match cell {
        OwnedCell::Missing => {}
        OwnedCell::List(_) => return Err(nested()),
        cell => {
            object.name(name);
            match cell.cell().number() {
                Some(number) => object.number(number),
                None => object.quoted(&cell.cell().to_string()),
            }
        }
    }
    Ok(())
}

/// A scalar of numpy, of the kind of its dtype.
fn of_numpy(value: &Bound<'_, PyAny>, kind: char) -> PyResult<OwnedCell> {
    let shape: Vec<usize> = value.getattr("shape")?.extract()?;
    if shape.len() == 1 && kind != 'V' {
        return list(value);
    }
    if !shape.is_empty() || kind == 'V' {
        return Err(errors::data(format!(
            "{} is no cell but several; give each value a column of its own",
            shown(value)
        )));
    }
    // Microseconds, whatever the unit; none where it is NaT.
    let micros = |unit: &str| -> PyResult<f64> {
        let made: i64 = value.call_method1("astype", (unit,))?.call_method1("astype", ("int64",))?.extract()?;
        Ok(if made == i64::MIN { f64::NAN } else { made as f64 / 1e6 })
    };
    match kind {
        'b' => Ok(OwnedCell::Typed(Cell::Truth(value.is_truthy()?))),
        'M' => Ok(seconds(Cell::LocalTime, micros("datetime64[us]")?)),
        'm' => Ok(seconds(Cell::Duration, micros("timedelta64[us]")?)),
        'c' => Err(complex()),
        'f' => finite(value.extract()?),
        _ => owned(&value.call_method0("item")?),
    }
}

/// A date and time. One without a zone is not one of the machine's.
fn time(value: &Bound<'_, PyAny>) -> PyResult<OwnedCell> {
    let py = value.py();
    let local =
        value.getattr("tzinfo").is_ok_and(|zone| zone.is_none()) && value.getattr("year")?.is_instance_of::<PyInt>();
    if !local {
        return Ok(seconds(Cell::Instant, value.call_method0("timestamp")?.extract()?));
    }
    let zone = PyDict::new(py);
    zone.set_item("tzinfo", py.import("datetime")?.getattr("timezone")?.getattr("utc")?)?;
    let told = value.call_method("replace", (), Some(&zone))?;
    Ok(seconds(Cell::LocalTime, told.call_method0("timestamp")?.extract()?))
}

impl PythonColumns {
    pub(crate) fn read(columns: &[Bound<'_, PyList>], gaps: &Gaps) -> PyResult<Self> {
        let column =
            |column: &Bound<'_, PyList>| column.iter().map(|value| read(&value, gaps)).collect::<PyResult<_>>();
        Ok(Self(columns.iter().map(column).collect::<PyResult<_>>()?))
    }

    pub(crate) fn rows(&self) -> PyResult<usize> {
        let rows = self.0.first().map_or(0, Vec::len);
        if self.0.iter().all(|column| column.len() == rows) {
            Ok(rows)
        } else {
            Err(errors::data("the columns differ in length"))
        }
    }

    pub(crate) fn row(&self, row: usize) -> PythonRow<'_> {
        PythonRow { columns: &self.0, row }
    }
}

/// One row, in the order of the columns of an encoding; memory that is used again.
#[derive(Default)]
pub(crate) struct Single {
    cells: Vec<OwnedCell>,
    names: Names,
    /// The columns of the head that a row may still be the first to lack.
    untold: Vec<usize>,
    /// Columns that the learner cannot take.
    left_out: HashSet<String>,
    /// The model was begun with rows: its columns come and go.
    begun_by_rows: bool,
}

impl Single {
    /// For a model with these columns.
    pub(crate) fn new(py: Python<'_>, encoding: &Encoding) -> PyResult<Self> {
        let schema = encoding.schema();
        let names = Names::new(py, schema.columns().iter().map(|column| column.name.clone()).collect())?;
        let head = schema.columns().iter().enumerate();
        let untold = head.filter(|(_, column)| column.used.is_learnt() && column.distinct + column.missing > 0);
        Ok(Self {
            names,
            untold: untold.map(|(place, _)| place).collect(),
            begun_by_rows: schema.rows() == 0,
            ..Self::default()
        })
    }

    pub(crate) fn set_in_order(&mut self, known: bool) {
        self.names.in_order = known;
    }

    /// Further columns.
    pub(crate) fn append(&mut self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.names.append(py, names)
    }

    /// Leaves a column out from now on.
    pub(crate) fn leave_out(&mut self, name: String) {
        self.left_out.insert(name);
    }

    /// Reads a row; columns that it lacks are missing, and told once to `notes`. The answer is
    /// whether there is another column with a value.
    pub(crate) fn read(&mut self, x: &Bound<'_, PyAny>, gaps: &Gaps, notes: &mut Notes) -> PyResult<bool> {
        let Self { cells, names, untold, left_out, begun_by_rows } = self;
        cells.clear();
        cells.resize_with(names.len(), || OwnedCell::Missing);
        let dict = match Row::new(x)? {
            Row::Keyed(dict) => dict,
            Row::Placed(values) => {
                let values = values.try_iter().map_err(|_| no_row(&values))?.collect::<PyResult<Vec<_>>>()?;
                if values.len() > cells.len() {
                    return Err(errors::data(format!(
                        "the row has {} values, and the model knows {} columns",
                        values.len(),
                        cells.len()
                    )));
                }
                if names.take_places(values.len())? {
                    notes.by_order(by_order_of(names.texts()));
                }
                for (place, (cell, value)) in cells.iter_mut().zip(values).enumerate() {
                    *cell = read(&value, gaps).map_err(|error| of_column(&names.texts()[place], &error, x.py()))?;
                }
                return Ok(false);
            }
        };
        let mut strangers = false;
        let found = names.each(&dict, |place, name, value| {
            let text = || text_of(name).map(|text| text.to_string());
            let cell = read(value, gaps)
                .map_err(|error| text().map_or_else(|other| other, |name| of_column(&name, &error, x.py())))?;
            match place {
                Some(place) => cells[place] = cell,
                None => strangers |= !cell.is_gap() && !left_out.contains(&text()?),
            }
            Ok(())
        })?;
        if found.known == 0 && !names.texts().is_empty() {
            let given: Vec<String> =
                dict.keys().iter().map(|name| text_of(&name).map(|text| text.to_string())).collect::<PyResult<_>>()?;
            let refused = names.no_match(&given);
            if !*begun_by_rows {
                return Err(refused);
            }
            notes.strange(&refused.value(x.py()).to_string());
        }
        if found.known < cells.len() && !untold.is_empty() {
            let lacks =
                |place: &usize| Ok::<_, PyErr>(cells[*place].is_missing() && !dict.contains(&names.texts()[*place])?);
            let lacking = untold.iter().copied().filter_map(|place| match lacks(&place) {
                Ok(lacks) => lacks.then_some(Ok(place)),
                Err(error) => Some(Err(error)),
            });
            let lacking = lacking.collect::<PyResult<Vec<usize>>>()?;
            let names: Vec<String> = lacking.iter().map(|place| names.texts()[*place].clone()).collect();
            notes.lacking(&names);
            untold.retain(|place| !lacking.contains(place));
        }
        Ok(strangers)
    }

    /// The columns of a row that are unknown and have a value, with their kinds, which may be told:
    /// sorted by name.
    pub(crate) fn late(
        &mut self,
        x: &Bound<'_, PyAny>,
        gaps: &Gaps,
        told: &HashMap<String, String>,
    ) -> PyResult<Vec<(String, String)>> {
        let dict = row(x)?;
        let mut late = Vec::new();
        for name in self.names.unknown(&dict)? {
            let text = text_of(&name)?.to_string();
            let Some(value) = dict.get_item(&name)? else { continue };
            let cell = read(&value, gaps).map_err(|error| of_column(&text, &error, x.py()))?;
            if let Some(kind) = ToldKind::of_first(cell.cell()) {
                let kind = told.get(&text).cloned().unwrap_or_else(|| kind.to_string());
                late.push((text, kind));
            }
        }
        Ok(late)
    }
}

impl Cells for Single {
    fn width(&self) -> usize {
        self.cells.len()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.cells[column].cell()
    }
}

/// The same error, with the column in front.
fn of_column(name: &str, error: &PyErr, py: Python<'_>) -> PyErr {
    errors::data(format!("column {name:?}: {}", error.value(py)))
}
