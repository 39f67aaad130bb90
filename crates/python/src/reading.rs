//! Files as the command reads them: columns by name.

use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use mercer::readers::{Cell, DataError, Format, ReadOptions, Record, RowReader, is_gap_mark};
use mercer::session::file::{SaveError, save};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyBool, PyList};

use crate::errors;

/// The options of a file, as texts: format, separator, decimal mark, mark of thousands, whether
/// there is a header.
type OptionTexts<'a> = [Option<&'a str>; 5];

/// The names of the columns of a file, their values, and what there is to be said of it. A column
/// of numbers has numbers, one of times datetimes, any other its texts; a gap is None.
#[pyfunction]
pub(crate) fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    told: [Option<String>; 5],
    gaps: Vec<String>,
    keep_totals: bool,
) -> PyResult<(Vec<String>, Vec<Bound<'py, PyList>>, Vec<String>)> {
    let [format, separator, decimal, thousands, header]: OptionTexts<'_> = told.each_ref().map(Option::as_deref);
    let options = ReadOptions {
        format: parsed(format)?.or_else(|| Format::from_path(&path)),
        separator: parsed(separator)?,
        decimal: parsed(decimal)?,
        thousands: parsed(thousands)?,
        header: parsed(header)?.unwrap_or_default(),
        gaps,
        leave_totals: !keep_totals,
        ..ReadOptions::default()
    };
    let mut reader = RowReader::records(&path, &options).map_err(refused)?;
    let names = reader.columns().to_vec();
    let mut said: Vec<String> = reader.doubt().map(str::to_owned).into_iter().collect();
    let (mut record, mut columns) = (Record::new(), vec![Vec::new(); names.len()]);
    while reader.next_record(&mut record).map_err(refused)? {
        for (column, cell) in columns.iter_mut().zip(record.cells()) {
            column.push(PythonValue::of(cell));
        }
        if columns.first().is_some_and(|column| column.len().is_multiple_of(4096)) {
            py.check_signals()?;
        }
    }
    said.extend(std::iter::from_fn(|| reader.take_remark()).map(|remark| remark.to_string()));
    said.extend(reader.left_out());
    let said_in_python = |said: &mut String| *said = said.replace("--keep-totals keeps", "keep_totals=True keeps");
    said.iter_mut().for_each(said_in_python);
    let lists = columns.iter().zip(&names).map(|(column, name)| listed(py, name, column, &mut said));
    Ok((names.clone(), lists.collect::<PyResult<_>>()?, said))
}

fn refused(error: DataError) -> PyErr {
    errors::data(error.to_string())
}

fn parsed<T: FromStr<Err = DataError>>(text: Option<&str>) -> PyResult<Option<T>> {
    text.map(str::parse).transpose().map_err(|error: DataError| errors::settings(error))
}

/// A cell with the text that the file has for it, empty where it is no text.
#[derive(Clone)]
enum PythonValue {
    Missing,
    Number(f64, String),
    Integer(i128),
    Text(String),
    /// The JSON text of a list.
    List(String),
    /// One of a type of its own, which has no text.
    Typed(Cell<'static>),
}

impl PythonValue {
    fn of(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Number(number) => Self::Number(number, String::new()),
            Cell::Numeral(number, text) => Self::Number(number, text.to_owned()),
            Cell::Integer(integer) => Self::Integer(integer),
            Cell::Text(text) => Self::Text(text.to_owned()),
            Cell::List(list) => Self::List(list.text().to_owned()),
            Cell::Instant(instant) => Self::Typed(Cell::Instant(instant)),
            Cell::LocalTime(time) => Self::Typed(Cell::LocalTime(time)),
            Cell::Truth(truth) => Self::Typed(Cell::Truth(truth)),
            Cell::TimeOfDay(seconds) => Self::Typed(Cell::TimeOfDay(seconds)),
            Cell::Duration(seconds) => Self::Typed(Cell::Duration(seconds)),
        }
    }

    /// Whether it is neither a number nor a mark of a gap.
    fn is_odd(&self) -> bool {
        matches!(self, Self::Text(text) if !is_gap_mark(text)) || matches!(self, Self::Typed(_) | Self::List(_))
    }

    /// Whether it begins with a zero that a number has no need of.
    fn is_code(&self) -> bool {
        let Self::Number(_, text) = self else { return false };
        text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// As a Python object: a text in a column of texts.
    fn object<'py>(&self, py: Python<'py>, texts: bool) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Missing => py.None().into_bound(py),
            Self::Number(_, text) if texts && !text.is_empty() => text.into_pyobject(py)?.into_any(),
            Self::Number(number, text) => match text.parse::<i64>() {
                Ok(integer) => integer.into_pyobject(py)?.into_any(),
                Err(_) => number.into_pyobject(py)?.into_any(),
            },
            Self::Integer(integer) => integer.into_pyobject(py)?.into_any(),
            Self::List(text) => py.import("json")?.call_method1("loads", (text,))?,
            Self::Typed(cell) => typed(py, *cell)?,
            Self::Text(text) if !texts && is_gap_mark(text) => py.None().into_bound(py),
            Self::Text(text) => text.into_pyobject(py)?.into_any(),
        })
    }
}

/// A cell of a type of its own as Python's.
fn typed<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    let datetime = py.import("datetime")?;
    let utc = || datetime.getattr("timezone")?.getattr("utc");
    let instant = |seconds: f64| datetime.getattr("datetime")?.call_method1("fromtimestamp", (seconds, utc()?));
    match cell {
        Cell::Instant(seconds) => instant(seconds),
        Cell::LocalTime(seconds) => {
            instant(seconds)?.call_method("replace", (), Some(&[("tzinfo", py.None())].into_py_dict(py)?))
        }
        Cell::TimeOfDay(seconds) => instant(seconds)?.call_method0("time"),
        Cell::Duration(seconds) => datetime.getattr("timedelta")?.call1((0, seconds)),
        Cell::Truth(truth) => Ok(PyBool::new(py, truth).to_owned().into_any()),
        _ => Ok(py.None().into_bound(py)),
    }
}

/// A column as a list; a text among numbers is told.
fn listed<'py>(
    py: Python<'py>,
    name: &str,
    column: &[PythonValue],
    said: &mut Vec<String>,
) -> PyResult<Bound<'py, PyList>> {
    let odd = column.iter().position(PythonValue::is_odd);
    let numbers =
        column.iter().filter(|value| matches!(value, PythonValue::Number(..) | PythonValue::Integer(_))).count();
    if let Some(row) = odd.filter(|_| 2 * numbers > column.len())
        && let PythonValue::Text(text) = &column[row]
    {
        said.push(format!(
            "column {name:?} has {numbers} numbers and, in row {row}, the text {text:?}: it is read as texts; mend the cell, or name it in gaps"
        ));
    }
    let texts = odd.is_some() || column.iter().any(PythonValue::is_code);
    let values = column.iter().map(|value| value.object(py, texts));
    PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// Writes the bytes of a model to a file in one step: the file that is there stays until the new
/// one is whole, and is not replaced while another process learns it.
#[pyfunction]
pub(crate) fn write_model(path: PathBuf, data: Vec<u8>) -> PyResult<()> {
    save(&path, &data).map_err(|error| match error {
        // As Python says it of any file.
        SaveError::Io { error, path } => {
            let said =
                format!("{}: {}", path.display(), error.to_string().split(" at path").next().unwrap_or_default());
            match error.kind() {
                io::ErrorKind::NotFound => PyFileNotFoundError::new_err(said),
                io::ErrorKind::PermissionDenied => PyPermissionError::new_err(said),
                _ => PyOSError::new_err(said),
            }
        }
        SaveError::Locked(error) => errors::file(error.to_string()),
    })
}
