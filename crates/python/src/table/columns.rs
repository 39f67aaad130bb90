//! Columns of rows as those of the encoding, and what stands for no value in them.

use std::sync::atomic::Ordering;

use mercer::encoding::{Cells, ColumnMap, Encoding};
use mercer::model::{GAPS, Own};
use mercer::readers::Gaps;
use mercer::session::Row;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::TableCore;
use crate::cells::PythonColumns;
use crate::errors;
use crate::names::{agree, by_order_of};
use crate::notes::Notes;

impl TableCore {
    /// Rows with the cells of the encoding's columns.
    pub(super) fn records(
        &self,
        py: Python<'_>,
        names: Option<&[String]>,
        columns: &[Bound<'_, PyList>],
    ) -> PyResult<Vec<Row>> {
        let columns = PythonColumns::read(columns, &self.gaps.read(py))?;
        self.encoding(py, |encoding| {
            let map = self.matching(encoding, names, columns.0.len(), &mut Notes::default())?;
            let row = |row: usize| Ok(row_of(&map.record(&columns.row(row)).map_err(errors::encoding)?));
            (0..columns.rows()?).map(row).collect()
        })
    }

    /// Where the columns of an encoding are among those of rows, which may have no names.
    pub(super) fn matching(
        &self,
        encoding: &Encoding,
        names: Option<&[String]>,
        width: usize,
        notes: &mut Notes,
    ) -> PyResult<ColumnMap> {
        let columns = encoding.schema().columns();
        let own: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let (places, by_order) = agree(&own, names, width, self.in_order.load(Ordering::Relaxed))?;
        if by_order {
            notes.by_order(by_order_of(&own));
        }
        let strange = |place: usize| names.and_then(|names| names.get(place)).cloned().unwrap_or_default();
        let names = places
            .iter()
            .enumerate()
            .map(|(at, place)| place.map_or_else(|| strange(at), |place| own[place].to_owned()));
        let map = encoding.matching(&names.collect::<Vec<_>>()).map_err(errors::encoding)?;
        notes.lacking(map.missing());
        Ok(map)
    }
}

/// A row of these cells.
pub(super) fn row_of(cells: &impl Cells) -> Row {
    let record = (0..cells.width()).map(|column| cells.cell(column)).collect();
    Row { record, ..Row::default() }
}

/// What stands for no value, as the file of a model keeps it.
pub(super) fn gaps_of(py: Python<'_>, own: &Own) -> PyResult<Gaps> {
    let Some((_, text)) = own.iter().find(|(key, _)| key == GAPS) else { return Ok(Gaps::default()) };
    let texts: Vec<String> = py.import("json")?.call_method1("loads", (text,))?.extract()?;
    Ok(Gaps::new(&texts))
}
