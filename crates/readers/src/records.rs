//! The reader of records: whole rows of typed cells, whatever their columns mean.

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::choice::{ColumnChoice, TargetColumn};
use crate::dialect::Marks;
use crate::error::{Counts, DataError};
use crate::lines::Source;
use crate::options::{Missing, ReadOptions, Targets};
use crate::record::Record;
use crate::stream::Stream;

/// Reads records one by one; never holds more than one of them. Every column of the file is in
/// every record, in the file's order, unless the options choose others.
///
/// Of the options it follows those that say how the file is written, and
/// [`ignore`](ReadOptions::ignore), [`unread`](ReadOptions::unread) and
/// [`features`](ReadOptions::features), which choose columns.
/// Which column is a target or a weight is for whoever takes the records.
///
/// ```
/// use mercer_readers::{Cell, Format, ReadOptions, Record, RecordReader};
///
/// let text = "day,colour,price\n2024-05-31,red,10\n2024-06-01,,12.5\n";
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
/// let mut reader = RecordReader::from_reader("example", text.as_bytes(), &options)?;
/// assert_eq!(reader.columns(), ["day", "colour", "price"]);
/// let mut record = Record::new();
/// assert!(reader.next_record(&mut record)?);
/// // Cells keep their text: what they mean is for whoever knows what the column is.
/// assert!(record.cells().eq([Cell::Text("2024-05-31"), Cell::Text("red"), Cell::Numeral(10.0, "10")]));
/// assert!(reader.next_record(&mut record)?);
/// assert_eq!(record.cell(1), Cell::Missing);
/// assert!(!reader.next_record(&mut record)?);
/// # Ok::<(), mercer_readers::DataError>(())
/// ```
pub struct RecordReader {
    stream: Stream,
    columns: Vec<String>,
}

impl RecordReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::over(Source::from_path(path.as_ref()), options)
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
        Self::over(Source::Once { name: name.into(), input: Box::new(input) }, options)
    }

    fn over(source: Source, options: &ReadOptions) -> Result<Self, DataError> {
        let stream = Stream::open(source, &plain(options), true)?;
        let name = |&column: &usize| stream.rows.name(column).map_or_else(|| format!("x{}", column + 1), str::to_owned);
        let columns = stream.plan().features().iter().map(name).collect();
        Ok(Self { stream, columns })
    }

    /// The names of the columns, in the file's order. A file without names has `x1`, `x2`, …; the
    /// last column of LIBSVM is `target`.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What was taken for the header where the file leaves that in doubt, as one line for people.
    pub fn doubt(&self) -> Option<&str> {
        self.stream.rows.doubt()
    }

    /// What was found in the file since this was asked last and a person should know, as one line:
    /// the mark between the thousands of its numbers, where nobody told it.
    pub fn take_remark(&mut self) -> Option<String> {
        self.stream.rows.take_remark()
    }

    /// The marks in the numbers so far.
    pub fn marks(&self) -> Marks {
        self.stream.rows.marks()
    }

    /// Whether the names are the file's own.
    pub fn is_named(&self) -> bool {
        self.stream.rows.names().is_some()
    }

    /// Whether records are JSON objects.
    pub fn are_objects(&self) -> bool {
        self.stream.rows.are_objects()
    }

    /// What [`line`](Self::line) counts.
    pub fn counts(&self) -> Counts {
        self.stream.lines.counts()
    }

    /// The line, from 1, on which the record last read begins; the record's own number if the file
    /// has no lines.
    pub fn line(&self) -> u64 {
        self.stream.lines.line_number()
    }

    /// The record last read, good or bad, as it stands in the file, without its line end.
    pub fn text(&self) -> &[u8] {
        self.stream.text()
    }

    /// Puts the next record into `record`, in place of what that holds; false at the end.
    /// `O(bytes)`, and no allocation once the longest record has been met.
    ///
    /// # Errors
    /// An error that [concerns one row](DataError::concerns_one_row) leaves the reader behind that
    /// record: the next call goes on with the one after it. After any other error, and after the
    /// end, every call gives false. After an error the record is empty.
    pub fn next_record(&mut self, record: &mut Record) -> Result<bool, DataError> {
        self.stream.record(record)
    }
}

/// The columns that the options speak of, those that records take no notice of among them.
fn mentioned(options: &ReadOptions) -> Vec<ColumnChoice> {
    let target = match &options.target {
        TargetColumn::Several(choices) => choices.clone(),
        one => one.choice().into_iter().collect(),
    };
    options.mentioned.iter().chain(&options.weight).cloned().chain(target).collect()
}

/// What of the options concerns records.
fn plain(options: &ReadOptions) -> ReadOptions {
    ReadOptions {
        target: TargetColumn::None,
        target_name: None,
        features_alone: None,
        missing: Missing::Nan,
        targets: Targets::Numbers,
        weight: None,
        mentioned: mentioned(options),
        ..options.clone()
    }
}

impl fmt::Debug for RecordReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordReader")
            .field("file", &self.stream.lines.file())
            .field("columns", &self.columns)
            .field("line", &self.line())
            .finish_non_exhaustive()
    }
}
