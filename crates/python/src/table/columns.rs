//! Columns of rows as those of the encoding, and what stands for no value in them.

use std::sync::atomic::Ordering;

use mercer::encoding::{ColumnMap, Encoding};
use mercer::model::{GAPS, Own};
use mercer::readers::Gaps;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::TableCore;
use crate::cells::PythonColumns;
use crate::errors;
use crate::names::{agree, by_order_of};
use crate::notes::Notes;

impl TableCore {
    /// The inputs of the learner for rows.
    pub(super) fn inputs(
        &self,
        py: Python<'_>,
        names: Option<&[String]>,
        columns: &[Bound<'_, PyList>],
    ) -> PyResult<Vec<Vec<f64>>> {
        let columns = PythonColumns::read(columns, &self.gaps.read(py))?;
        self.encoding(py, |encoding| {
            let map = self.matching(encoding, names, columns.0.len(), &mut Notes::default())?;
            let row = |row: usize| {
                let (view, mut inputs) = (columns.row(row), Vec::new());
                let record = map.record(&view).map_err(errors::encoding)?;
                encoding.encode(&record, &mut inputs).map_err(errors::encoding)?;
                Ok(inputs)
            };
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

/// What stands for no value, as the file of a model keeps it.
pub(super) fn gaps_of(py: Python<'_>, own: &Own) -> PyResult<Gaps> {
    let Some((_, text)) = own.iter().find(|(key, _)| key == GAPS) else { return Ok(Gaps::default()) };
    let texts: Vec<String> = py.import("json")?.call_method1("loads", (text,))?.extract()?;
    Ok(Gaps::new(&texts))
}
