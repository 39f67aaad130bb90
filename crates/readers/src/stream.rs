//! The rows of a file, whatever its format.

use crate::columnar;
use crate::columns::Plan;
use crate::delimited::Delimited;
use crate::dialect::Separator;
use crate::error::{CellPlace, DataError};
use crate::format::Format;
use crate::head::TargetHead;
use crate::libsvm::Libsvm;
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::{ReadOptions, Targets};
use crate::record::Record;
use crate::rows::{Next, Rows};

/// The rows of a file, with the place of the last one.
pub(crate) struct Stream {
    pub(crate) stem: String,
    pub(crate) lines: Lines,
    pub(crate) rows: Box<dyn Rows>,
    /// What the first rows hold as their target, if that was to be found out.
    pub(crate) head: Option<TargetHead>,
    /// Rows met, good or bad.
    met: u64,
    /// Nothing more will come: the end, or an error that is not one row's.
    over: bool,
}

impl Stream {
    /// Reads as far as it takes to know the columns, and the target if the options leave it open;
    /// `records` says that cells may hold anything.
    pub(crate) fn open(mut source: Source, options: &ReadOptions, records: bool) -> Result<Self, DataError> {
        let (format, stem) = (format_of(&source, options)?, source.stem());
        let (rows, lines): (Box<dyn Rows>, Lines) = match format {
            Format::Csv | Format::Tsv => {
                let separator = (format == Format::Tsv).then_some(Separator::Tab);
                // Of records the next is looked at in any case, and a file is there.
                let may_wait = records || !source.is_once();
                let mut lines = source.lines()?;
                (Box::new(Delimited::begin(&mut lines, separator, options, (records, may_wait))?), lines)
            }
            Format::Ndjson => {
                let mut lines = source.lines()?;
                (Box::new(Ndjson::begin(&mut lines, options)?), lines)
            }
            Format::Libsvm => {
                let (rows, lines) = Libsvm::begin(source, options, records)?;
                (Box::new(rows), lines)
            }
            Format::Parquet | Format::Arrow => columnar::open(source, format, options)?,
        };
        let mut stream = Self { stem, lines, rows, head: None, met: 0, over: false };
        if let (Targets::Auto, [target]) = (options.targets, stream.rows.plan().targets()) {
            let target = *target;
            let head = stream.rows.head(&mut stream.lines, target, options)?;
            stream.head = Some(head);
            if head.is_label() {
                stream.read_labels()?;
            }
        }
        Ok(stream)
    }

    pub(crate) fn plan(&self) -> &Plan {
        self.rows.plan()
    }

    /// Has the target read as a label.
    pub(crate) fn read_labels(&mut self) -> Result<(), DataError> {
        self.rows.plan_mut().read_labels(self.lines.file())
    }

    /// Where a cell of the current row stands.
    pub(crate) fn place(&self, cell: usize) -> CellPlace {
        let column = self.plan().column(cell);
        self.lines.cell(column, self.rows.name(column))
    }

    /// As [`Rows::record`].
    pub(crate) fn record(&mut self, record: &mut Record) -> Result<bool, DataError> {
        record.clear();
        if self.over {
            return Ok(false);
        }
        let weight = self.plan().weight();
        let read = self.rows.record(&mut self.lines, record).map_err(|error| match error {
            DataError::NotFinite { cell, value } if weight.is_some_and(|weight| weight + 1 == cell.column.number) => {
                DataError::BadWeight { cell, value }
            }
            error => error,
        });
        if read.is_err() {
            record.clear();
        }
        self.count(read, |read| *read)
    }

    /// As [`Rows::text`].
    pub(crate) fn text(&self) -> &[u8] {
        self.rows.text(&self.lines)
    }

    /// As [`Rows::numbers`].
    pub(crate) fn numbers(&mut self, row: &mut [f64], label: &mut String) -> Result<Next, DataError> {
        if self.over {
            return Ok(Next::End);
        }
        match self.rows.numbers(&mut self.lines, row, label) {
            Ok(Next::Record) => Ok(Next::Record),
            next => self.count(next, |next| *next == Next::Numbers),
        }
    }

    /// As [`Rows::skip`].
    pub(crate) fn skip(&mut self, most: u64) -> Result<u64, DataError> {
        let passed = if self.over { 0 } else { self.rows.skip(&self.lines, most)? };
        self.met += passed;
        Ok(passed)
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Takes in account what was read. A file without a single row is refused.
    fn count<T>(&mut self, read: Result<T, DataError>, is_row: impl Fn(&T) -> bool) -> Result<T, DataError> {
        match &read {
            Ok(read) if is_row(read) => self.met += 1,
            Err(error) if error.concerns_one_row() => self.met += 1,
            Ok(_) | Err(_) => self.over = true,
        }
        if read.is_ok() && self.met == 0 {
            let file = self.lines.file().to_owned();
            let header = self.rows.has_header();
            return Err(if header { DataError::HeaderOnly { file } } else { DataError::Empty { file } });
        }
        read
    }
}

pub(crate) fn format_of(source: &Source, options: &ReadOptions) -> Result<Format, DataError> {
    options
        .format
        .or_else(|| source.path().and_then(Format::from_path))
        .ok_or_else(|| DataError::UnknownFormat { file: source.shown() })
}
