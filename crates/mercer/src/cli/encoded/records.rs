//! Records of a file, a pipe, or a data set with a name.

use mercer::readers::{Cell, CellPlace, Column, Counts, DataError, Dataset, Line, Marks, Record, RecordReader};

use crate::cli::dialect;

pub(crate) enum Records {
    Read(Box<RecordReader>),
    Table(Box<Table>),
}

/// A data set with a name, as records: the features, then the targets.
pub(crate) struct Table {
    table: Dataset,
    columns: Vec<String>,
    named: bool,
    given: usize,
}

impl Records {
    pub(crate) fn of_table(table: Dataset) -> Self {
        let targets = if table.classes().is_some() { 1 } else { table.outputs() };
        let width = table.dimension() + targets;
        let names = [table.feature_names(), table.target_names()].into_iter().flatten().flatten().cloned();
        let mut columns: Vec<String> = names.collect();
        let named = columns.len() == width;
        if !named {
            columns = (1..=width).map(|number| format!("x{number}")).collect();
        }
        Self::Table(Table { table, columns, named, given: 0 }.into())
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Read(reader) => reader.columns(),
            Self::Table(table) => &table.columns,
        }
    }

    /// Whether the names are the file's own.
    pub(crate) fn is_named(&self) -> bool {
        match self {
            Self::Read(reader) => reader.is_named(),
            Self::Table(table) => table.named,
        }
    }

    /// The names, where columns have some.
    pub(crate) fn names(&self) -> Vec<Option<String>> {
        let named = self.is_named();
        self.columns().iter().map(|name| named.then(|| name.clone())).collect()
    }

    pub(crate) fn are_objects(&self) -> bool {
        matches!(self, Self::Read(reader) if reader.are_objects())
    }

    pub(crate) fn doubt(&self) -> Option<&str> {
        match self {
            Self::Read(reader) => reader.doubt(),
            Self::Table(_) => None,
        }
    }

    /// The line of the record last read, and what it counts.
    pub(crate) fn line(&self) -> (u64, Counts) {
        match self {
            Self::Read(reader) => (reader.line(), reader.counts()),
            Self::Table(table) => (table.given as u64, Counts::Rows),
        }
    }

    /// The record last read, as it stands in the file.
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Read(reader) => reader.text(),
            Self::Table(_) => &[],
        }
    }

    /// How many rows there are, where that is known beforehand.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Read(_) => None,
            Self::Table(table) => Some(table.table.len()),
        }
    }

    /// Puts the next record into `record`; false at the end.
    pub(crate) fn next(&mut self, record: &mut Record) -> Result<bool, DataError> {
        match self {
            Self::Read(reader) => {
                let read = reader.next_record(record);
                dialect::tell_remark(reader.take_remark());
                read
            }
            Self::Table(table) => Ok(table.next(record)),
        }
    }

    /// The marks in the numbers so far.
    pub(crate) fn marks(&self) -> Marks {
        match self {
            Self::Read(reader) => reader.marks(),
            Self::Table(_) => Marks::default(),
        }
    }

    /// Where a cell of the record last read stands.
    pub(crate) fn cell(&self, shown: &str, place: usize) -> CellPlace {
        match self {
            Self::Read(reader) => cell(shown, reader, place),
            Self::Table(table) => {
                let line = Line { file: shown.to_owned(), number: table.given as u64, counts: Counts::Rows };
                let name = table.columns.get(place).filter(|_| table.named).cloned();
                CellPlace { line, column: Column { number: place + 1, name } }
            }
        }
    }
}

/// Where a cell of the record that was last read stands.
pub(crate) fn cell(shown: &str, reader: &RecordReader, place: usize) -> CellPlace {
    let line = Line { file: shown.to_owned(), number: reader.line(), counts: reader.counts() };
    let name = reader.columns().get(place).filter(|_| reader.is_named()).cloned();
    CellPlace { line, column: Column { number: place + 1, name } }
}

impl Table {
    fn next(&mut self, record: &mut Record) -> bool {
        record.clear();
        let row = self.given;
        if row == self.table.len() {
            return false;
        }
        self.given += 1;
        self.table.row(row).iter().for_each(|&value| record.push(Cell::Number(value)));
        match self.table.label(row) {
            Some(label) => record.push(Cell::Text(label)),
            None => self.table.targets_of(row).iter().for_each(|&value| record.push(Cell::Number(value))),
        }
        true
    }
}
