//! The opening of a reader: by path, from bytes, and the reader of each format.

use std::io::Read;
use std::path::Path;

use super::{RowReader, fixed};
use crate::columnar;
use crate::delimited::Delimited;
use crate::dialect::{Decimal, Separator};
use crate::error::DataError;
use crate::format::Format;
use crate::libsvm::Libsvm;
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::ReadOptions;
use crate::rows::Rows;
use crate::spreadsheet;

impl RowReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns:
    /// one line, or for LIBSVM without a given dimension the whole file once.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::over(Source::from_path(path.as_ref()), options, false)
    }

    /// Reads from anything that gives bytes, compressed or not. The format is the options', or the
    /// one that `name` tells; LIBSVM needs its dimension given, since the bytes come only once.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(
        name: impl Into<String>,
        input: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        Self::over(Source::Once { name: name.into(), input: Box::new(input) }, options, false)
    }

    /// The same as [`open`](Self::open) for rows whose cells may hold anything. Every column of the
    /// file is a feature, in the file's order: read them with [`next_record`](Self::next_record).
    ///
    /// Of the options it follows those that say how the file is written, and
    /// [`ignore`](ReadOptions::ignore), [`unread`](ReadOptions::unread) and
    /// [`features`](ReadOptions::features), which choose columns. Which column is a target or a
    /// weight is for whoever takes the records.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn records(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::over(Source::from_path(path.as_ref()), &options.of_records(), true)
    }

    /// The same as [`from_reader`](Self::from_reader) for [`records`](Self::records).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn records_from(
        name: impl Into<String>,
        input: impl Read + Send + 'static,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        Self::over(Source::Once { name: name.into(), input: Box::new(input) }, &options.of_records(), true)
    }

    /// Reads as far as it takes to know the columns, and the target if the options leave it open;
    /// `records` says that cells may hold anything.
    pub(crate) fn over(mut source: Source, options: &ReadOptions, records: bool) -> Result<Self, DataError> {
        let (format, stem) = (source.format(options.format)?, source.stem());
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
            Format::Spreadsheet => {
                let mut lines = spreadsheet::open(source)?;
                let options = ReadOptions { decimal: Some(Decimal::Point), ..options.clone() };
                let comma = Some(Separator::Comma);
                (Box::new(Delimited::begin(&mut lines, comma, &options, (records, true))?), lines)
            }
            Format::Fixed => fixed::open(source, options)?,
            Format::Parquet | Format::Arrow => columnar::open(source, format, options)?,
        };
        Self::of_rows(stem, (rows, lines), options)
    }
}
