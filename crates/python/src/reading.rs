//! Files of tables, as the command reads them.

use std::path::PathBuf;
use std::time::Instant;

use mercer::readers::{ReadOptions, Record, RecordReader};
use pyo3::prelude::*;

use crate::cells::Owned;
use crate::errors;
use crate::rows::PATIENCE;

/// A column: its numbers, NaN where one is missing, or else its cells.
#[derive(IntoPyObject)]
pub(crate) enum Column<'py> {
    Numbers(Vec<f64>),
    Cells(Vec<Bound<'py, PyAny>>),
}

/// The columns of a file by their names.
#[pyfunction]
pub(crate) fn read_columns(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, Column<'_>)>> {
    let (names, columns) = py.detach(|| {
        let refused = |error: mercer::readers::DataError| errors::data(error.to_string());
        let mut reader = RecordReader::open(&path, &ReadOptions::default()).map_err(refused)?;
        let mut columns: Vec<Vec<Owned>> = reader.columns().iter().map(|_| Vec::new()).collect();
        let (mut record, mut looked) = (Record::new(), Instant::now());
        while reader.next_record(&mut record).map_err(refused)? {
            for (column, cell) in columns.iter_mut().zip(record.cells()) {
                column.push(cell.into());
            }
            if looked.elapsed() > PATIENCE {
                Python::attach(|py| py.check_signals())?;
                looked = Instant::now();
            }
        }
        PyResult::Ok((reader.columns().to_vec(), columns))
    })?;
    let told = names.into_iter().zip(columns).map(|(name, cells)| Ok((name, column(py, cells)?)));
    told.collect()
}

fn column(py: Python<'_>, cells: Vec<Owned>) -> PyResult<Column<'_>> {
    let numbers: Option<Vec<f64>> = cells
        .iter()
        .map(|cell| match cell {
            Owned::Missing => Some(f64::NAN),
            Owned::Number(number) => Some(*number),
            _ => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return Ok(Column::Numbers(numbers));
    }
    let datetime = py.import("datetime")?;
    let (epoch, elapsed) = (datetime.getattr("datetime")?.call1((1970, 1, 1))?, datetime.getattr("timedelta")?);
    let told = cells.into_iter().map(|cell| {
        Ok(match cell {
            Owned::Missing => py.None().into_bound(py),
            Owned::Number(number) => number.into_pyobject(py)?.into_any(),
            Owned::Instant(seconds) => epoch.add(elapsed.call1((0, seconds))?)?,
            Owned::Text(text) => text.into_pyobject(py)?.into_any(),
        })
    });
    told.collect::<PyResult<_>>().map(Column::Cells)
}
