//! The first rows of a table, by which it is known what its columns are.

use std::collections::HashMap;

use mercer_encoding::{EncodingError, Look, Overrides, Schema};
use mercer_readers::{Cell, DataError, Record, RowReader};

use crate::limits::first_rows;

/// Columns of a table in which the label of a row may come in a later line with its id.
pub(crate) struct LabelColumns {
    pub(crate) id: usize,
    pub(crate) targets: Vec<usize>,
}

impl LabelColumns {
    /// Joins labels with the rows before them that have their ids. What is no row is left out.
    fn join(&self, records: Vec<Record>) -> Vec<Record> {
        let (mut rows, mut waiting) = (Vec::<Record>::new(), HashMap::new());
        for record in records {
            let is_target = |column: &usize| self.targets.contains(column);
            let has = |column: &usize| record.cell(*column) != Cell::Missing;
            let id = record.cell(self.id).to_string();
            if !self.targets.iter().all(has) {
                waiting.insert(id, rows.len());
                rows.push(record);
            } else if let Some(place) = waiting.remove(&id) {
                let mut whole = Record::new();
                let row: &Record = &rows[place];
                (0..row.len())
                    .for_each(|column| whole.push(if is_target(&column) { &record } else { row }.cell(column)));
                rows[place] = whole;
            } else if (0..record.len()).any(|column| column != self.id && !is_target(&column) && has(&column)) {
                rows.push(record);
            }
        }
        rows
    }
}

/// The first rows of a table.
pub(crate) struct Head {
    pub(crate) rows: Vec<Record>,
    pub(crate) look: Look,
    /// Two columns of one name, which numbers alone may have: they are then known by their places.
    pub(crate) twice: Option<EncodingError>,
    /// Rows that cannot be read, and why the first cannot.
    pub(crate) bad: usize,
    pub(crate) first_bad: Option<DataError>,
    /// Whether it is known that there are no more rows.
    pub(crate) whole: bool,
}

impl Head {
    /// Reads them, without those that cannot be read; `None` where the first of them is `enough`.
    ///
    /// # Errors
    /// Those after which no row can be read.
    pub(crate) fn of(
        records: &mut RowReader,
        labels: Option<&LabelColumns>,
        enough: impl Fn(&Record) -> bool,
    ) -> Result<Option<Self>, DataError> {
        let most = first_rows(records.columns().len());
        Self::read(records, most, labels, enough)
    }

    /// The same for so many rows at most.
    ///
    /// # Errors
    /// Those after which no row can be read.
    pub(crate) fn read(
        records: &mut RowReader,
        most: usize,
        labels: Option<&LabelColumns>,
        enough: impl Fn(&Record) -> bool,
    ) -> Result<Option<Self>, DataError> {
        let width = records.columns().len();
        let named = records.is_named().then(|| Look::new(records.columns()));
        let (look, twice) = match named {
            Some(Ok(look)) => (look, None),
            Some(Err(twice)) => (Look::unnamed(width), Some(twice)),
            None => (Look::unnamed(width), None),
        };
        let mut head = Self { rows: Vec::new(), look, twice, bad: 0, first_bad: None, whole: false };
        for _ in 0..most {
            let mut record = Record::new();
            let read = super::next(records, &mut record).and_then(|read| match record.len() {
                got if read && got != width => {
                    Err(DataError::Ragged { line: records.place(0).line, expected: width, got })
                }
                _ => Ok(read),
            });
            match read {
                Ok(true) if head.rows.is_empty() && enough(&record) => return Ok(None),
                Ok(true) => {
                    head.rows.push(record);
                }
                Ok(false) => {
                    head.whole = true;
                    break;
                }
                Err(error) if error.concerns_one_row() => {
                    head.bad += 1;
                    head.first_bad.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(labels) = labels {
            head.rows = labels.join(head.rows);
        }
        for record in &head.rows {
            // It is as wide as the look.
            let _ = head.look.observe(record);
        }
        Ok(Some(head))
    }

    /// The schema as the user has it, with the columns of targets and weights aside; also where
    /// there is nothing left to be learnt from.
    pub(crate) fn schema(&mut self, overrides: &Overrides) -> Result<Schema, EncodingError> {
        let look = std::mem::replace(&mut self.look, Look::unnamed(0));
        if look.leaves_some(overrides)? { look.finish(overrides) } else { look.finish(&Overrides::default()) }
    }
}
