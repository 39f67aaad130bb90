//! Cells of a table: from Python objects to what an encoding reads.

use mercer::encoding::{Cell, Cells, Encoding, Kind};
use mercer::readers::{Gaps, is_gap_mark, parse_instant, text_cell};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors;
use crate::features::shown;

/// A cell that owns its text.
pub(crate) enum OwnedCell {
    Missing,
    Number(f64),
    Integer(i128),
    Text(String),
    /// One of a type of its own, which has no text.
    Typed(Cell<'static>),
}

impl OwnedCell {
    fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(number) => Cell::Number(*number),
            Self::Integer(number) => Cell::integer(*number),
            Self::Text(text) => Cell::Text(text),
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
    let number = |number: f64| {
        if number.is_nan() {
            Ok(OwnedCell::Missing)
        } else if number.is_finite() {
            Ok(OwnedCell::Number(number))
        } else {
            Err(errors::data("a cell is infinite; give a number or leave it empty"))
        }
    };
    let truth = |truth: bool| OwnedCell::Typed(Cell::Truth(truth));
    let text = |text: &str| match text_cell(text) {
        Cell::Text(text) => OwnedCell::Text(text.to_owned()),
        _ => OwnedCell::Missing,
    };
    if value.is_none() {
        Ok(OwnedCell::Missing)
    } else if let Ok(float) = value.cast::<PyFloat>() {
        number(float.value())
    } else if let Ok(one) = value.cast::<PyBool>() {
        Ok(truth(one.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        value.extract().map(OwnedCell::Integer).or_else(|_| number(value.extract()?))
    } else if let Ok(one) = value.cast::<PyString>() {
        Ok(text(one.to_str()?))
    } else if value.hasattr("timestamp")? {
        let seconds: f64 = in_utc(value)?.call_method0("timestamp")?.extract()?;
        Ok(if seconds.is_nan() { OwnedCell::Missing } else { OwnedCell::Typed(Cell::Instant(seconds)) })
    } else if value.hasattr("total_seconds")? {
        let seconds: f64 = value.call_method0("total_seconds")?.extract()?;
        Ok(if seconds.is_nan() { OwnedCell::Missing } else { OwnedCell::Typed(Cell::Duration(seconds)) })
    } else if value.hasattr("isoformat")? {
        // Dates and times of day.
        let written = value.call_method0("isoformat")?;
        let written = written.cast::<PyString>()?.to_str()?;
        let kind = if value.hasattr("year")? { Cell::Instant } else { Cell::TimeOfDay };
        Ok(parse_instant(written).map_or_else(|| text(written), |seconds| OwnedCell::Typed(kind(seconds))))
    } else if value.get_type().name()?.to_str()?.starts_with("bool") {
        // That of numpy.
        Ok(truth(value.is_truthy()?))
    } else if let Ok(integer) = value.extract() {
        // One of numpy's.
        Ok(OwnedCell::Integer(integer))
    } else if value.get_type().name()?.to_str()? == "NAType" {
        // That of pandas.
        Ok(OwnedCell::Missing)
    } else if value.is_instance_of::<PyComplex>() {
        Err(errors::data("a cell is a complex number; give its real and its imaginary part as columns of their own"))
    } else {
        value.extract().map_or_else(|_| Ok(text(value.str()?.to_str()?)), number)
    }
}

/// What a column becomes whose first cells these are; none where all are missing.
pub(crate) fn kind_of(cells: &[OwnedCell]) -> Option<Kind> {
    let is_gap =
        |cell: &Cell<'_>| matches!(cell, Cell::Missing) || matches!(cell, Cell::Text(text) if is_gap_mark(text));
    if cells.iter().all(|cell| matches!(cell, OwnedCell::Missing)) {
        return None;
    }
    let mut present = cells.iter().map(OwnedCell::cell).filter(|cell| !is_gap(cell)).peekable();
    if present.peek().is_none() {
        return Some(Kind::Category);
    }
    let is_time = |cell: Cell<'_>| match cell {
        Cell::Instant(_) | Cell::TimeOfDay(_) => true,
        Cell::Text(text) => parse_instant(text).is_some(),
        _ => false,
    };
    let present: Vec<Cell<'_>> = present.collect();
    Some(if present.iter().all(|cell| cell.number().is_some() || matches!(cell, Cell::Duration(_))) {
        Kind::Number
    } else if present.into_iter().all(is_time) {
        Kind::Time
    } else {
        Kind::Category
    })
}

/// What a column of such cells is to a pipeline: a number, a category or a time; None where all are
/// missing, or are one of `gaps`.
#[pyfunction]
pub(crate) fn column_kind(cells: Vec<Bound<'_, PyAny>>, gaps: Vec<String>) -> PyResult<Option<String>> {
    let gaps = Gaps::new(&gaps);
    let cells = cells.iter().map(|cell| read(cell, &gaps)).collect::<PyResult<Vec<_>>>()?;
    Ok(kind_of(&cells).map(|kind| kind.to_string()))
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
    /// The keys of the last dictionary in its order.
    recent: Vec<(Py<PyAny>, DictKey)>,
    /// From a name to its column, once it was asked for.
    places: Option<Py<PyDict>>,
    /// Columns that the learner cannot take.
    left_out: Vec<String>,
}

/// What a key of a dictionary is.
#[derive(Clone, Copy)]
enum DictKey {
    Column(usize),
    LeftOut,
    Unknown,
}

impl Single {
    /// There are other columns.
    pub(crate) fn forget(&mut self) {
        (self.recent, self.places) = (Vec::new(), None);
    }

    /// Leaves a column out from now on.
    pub(crate) fn leave_out(&mut self, name: String) {
        self.left_out.push(name);
    }

    /// Reads a dictionary; columns that it lacks are missing. The answer is whether every key with
    /// a value is a column.
    pub(crate) fn read(&mut self, row: &Bound<'_, PyDict>, encoding: &Encoding, gaps: &Gaps) -> PyResult<bool> {
        self.cells.clear();
        self.cells.resize_with(encoding.schema().columns().len(), || OwnedCell::Missing);
        let mut known = true;
        for (position, (name, value)) in row.iter().enumerate() {
            let place = match self.recent.get(position) {
                Some((key, place)) if key.as_ptr() == name.as_ptr() => *place,
                _ => self.look_up(position, &name, encoding)?,
            };
            match place {
                DictKey::Column(place) => {
                    self.cells[place] = read(&value, gaps).map_err(|error| of_column(&name, error))?;
                }
                DictKey::LeftOut => {}
                DictKey::Unknown => known = known && matches!(read(&value, gaps)?, OwnedCell::Missing),
            }
        }
        Ok(known)
    }

    fn look_up(&mut self, position: usize, name: &Bound<'_, PyAny>, encoding: &Encoding) -> PyResult<DictKey> {
        let py = name.py();
        let places = match &self.places {
            Some(places) => places.bind(py).clone(),
            None => {
                let places = PyDict::new(py);
                let columns = encoding.schema().columns().iter().enumerate();
                columns.into_iter().try_for_each(|(place, column)| places.set_item(&column.name, place))?;
                self.places.insert(places.unbind()).bind(py).clone()
            }
        };
        let text = name.str()?;
        let place = match places.get_item(&text)? {
            Some(place) => DictKey::Column(place.extract()?),
            None if self.left_out.iter().any(|left_out| text == left_out.as_str()) => DictKey::LeftOut,
            None => DictKey::Unknown,
        };
        self.recent.truncate(position);
        if position == self.recent.len() {
            self.recent.push((name.clone().unbind(), place));
        }
        Ok(place)
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
fn of_column(name: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    errors::data(format!("column {}: {}", shown(name), error.value(name.py())))
}
