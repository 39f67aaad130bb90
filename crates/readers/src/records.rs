//! The reader of records: whole rows of typed cells, whatever their columns mean.

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::choice::{ColumnChoice, TargetColumn};
use crate::columnar::Columnar;
use crate::columns::Plan;
use crate::delimited::Delimited;
use crate::dialect::{Marks, Separator};
use crate::error::{ContainerError, Counts, DataError};
use crate::format::Format;
use crate::libsvm::{self, Libsvm};
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::{Missing, ReadOptions};
use crate::reader::format_of;
use crate::record::Record;
use mercer_core::Cell;

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
    lines: Lines,
    body: Body,
    columns: Vec<String>,
    named: bool,
    /// Records met, good or bad.
    met: u64,
    /// Nothing more will come: the end, or an error that is not one record's.
    over: bool,
}

/// The part that differs by format.
enum Body {
    Delimited(Box<Delimited>),
    Ndjson(Ndjson),
    Columnar(Columnar),
    Libsvm { rows: Libsvm, features: Vec<f64>, dimension: usize },
}

impl RecordReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        let source = Source::from_path(path.as_ref());
        let format = format_of(&source, options)?;
        if format.is_columnar() {
            let (rows, lines) = Columnar::open(&source, format, &plain(options))?;
            return Ok(Self::over(lines, Body::Columnar(rows)));
        }
        let dimension = libsvm::dimension(&source, format, options)?;
        Self::begin(source.lines()?, format, dimension, options)
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
        let source = Source::Memory { name: name.into(), bytes: Vec::new().into() };
        let format = format_of(&source, options)?;
        if format.is_columnar() {
            let (rows, lines) = Columnar::read(source.shown(), Box::new(input), format, &plain(options))?;
            return Ok(Self::over(lines, Body::Columnar(rows)));
        }
        let dimension = libsvm::told(&source, format, options)?;
        let lines = Lines::new(source.shown(), Box::new(input), None)?;
        Self::begin(lines, format, dimension, options)
    }

    fn begin(
        mut lines: Lines,
        format: Format,
        libsvm_dimension: usize,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let plain = plain(options);
        let body = match format {
            Format::Csv => Body::Delimited(Delimited::begin_records(&mut lines, None, &plain)?.into()),
            Format::Tsv => Body::Delimited(Delimited::begin_records(&mut lines, Some(Separator::Tab), &plain)?.into()),
            Format::Ndjson => Body::Ndjson(Ndjson::begin(&mut lines, &plain)?),
            Format::Libsvm => {
                let with_target = ReadOptions { gaps: plain.gaps, ..ReadOptions::default() };
                let rows = Libsvm::begin(&mut lines, libsvm_dimension, &with_target)?;
                Body::Libsvm { rows, features: Vec::new(), dimension: libsvm_dimension }
            }
            Format::Parquet | Format::Arrow => {
                return Err(ContainerError::NotBuilt { file: lines.file().to_owned(), format }.into());
            }
        };
        Ok(Self::over(lines, body))
    }

    fn over(lines: Lines, body: Body) -> Self {
        let of_plan = |plan: &Plan, names: Option<&[String]>| {
            let name =
                |&column: &usize| names.map_or_else(|| format!("x{}", column + 1), |names| names[column].clone());
            plan.features().iter().map(name).collect()
        };
        let (named, columns): (bool, Vec<String>) = match &body {
            Body::Delimited(rows) => (rows.names().is_some(), of_plan(rows.plan(), rows.names())),
            Body::Ndjson(rows) => (rows.names().is_some(), of_plan(rows.plan(), rows.names())),
            Body::Columnar(rows) => (true, of_plan(rows.plan(), Some(rows.names()))),
            Body::Libsvm { dimension, .. } => {
                let features = (1..=*dimension).map(|number| format!("x{number}"));
                (false, features.chain(["target".to_owned()]).collect())
            }
        };
        Self { lines, body, columns, named, met: 0, over: false }
    }

    /// The names of the columns, in the file's order. A file without names has `x1`, `x2`, …; the
    /// last column of LIBSVM is `target`.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What was taken for the header where the file leaves that in doubt, as one line for people.
    pub fn doubt(&self) -> Option<&str> {
        match &self.body {
            Body::Delimited(rows) => rows.doubt(),
            Body::Ndjson(_) | Body::Libsvm { .. } | Body::Columnar(_) => None,
        }
    }

    /// What was found in the file since this was asked last and a person should know, as one line:
    /// the mark between the thousands of its numbers, where nobody told it.
    pub fn take_remark(&mut self) -> Option<String> {
        match &mut self.body {
            Body::Delimited(rows) => rows.take_remark(),
            Body::Ndjson(_) | Body::Libsvm { .. } | Body::Columnar(_) => None,
        }
    }

    /// The marks in the numbers so far.
    pub fn marks(&self) -> Marks {
        match &self.body {
            Body::Delimited(rows) => rows.marks(),
            Body::Ndjson(_) | Body::Libsvm { .. } | Body::Columnar(_) => Marks::default(),
        }
    }

    /// Whether the names are the file's own.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// Whether records are JSON objects.
    pub fn are_objects(&self) -> bool {
        matches!(&self.body, Body::Ndjson(rows) if rows.are_objects())
    }

    /// What [`line`](Self::line) counts.
    pub fn counts(&self) -> Counts {
        self.lines.counts()
    }

    /// The line, from 1, on which the record last read begins; the record's own number if the file
    /// has no lines.
    pub fn line(&self) -> u64 {
        self.lines.line().number
    }

    /// The record last read, good or bad, as it stands in the file, without its line end.
    pub fn text(&self) -> &[u8] {
        self.lines.text()
    }

    /// Puts the next record into `record`, in place of what that holds; false at the end.
    /// `O(bytes)`, and no allocation once the longest record has been met.
    ///
    /// # Errors
    /// An error that [concerns one row](DataError::concerns_one_row) leaves the reader behind that
    /// record: the next call goes on with the one after it. After any other error, and after the
    /// end, every call gives false. After an error the record is empty.
    pub fn next_record(&mut self, record: &mut Record) -> Result<bool, DataError> {
        record.clear();
        if self.over {
            return Ok(false);
        }
        let read = match &mut self.body {
            Body::Delimited(rows) => rows.record(&mut self.lines, record),
            Body::Ndjson(rows) => rows.record(&mut self.lines, record),
            Body::Columnar(rows) => rows.record(&mut self.lines, record),
            Body::Libsvm { rows, features, .. } => {
                features.clear();
                rows.values(&mut self.lines, features).map(|target| {
                    features.iter().for_each(|&value| record.push(Cell::Number(value)));
                    target.map(|target| record.push(Cell::Number(target))).is_some()
                })
            }
        };
        match &read {
            Ok(true) => self.met += 1,
            Err(error) if error.concerns_one_row() => self.met += 1,
            Ok(false) | Err(_) => self.over = true,
        }
        if read.is_err() {
            record.clear();
        }
        match read {
            Ok(false) if self.met == 0 => {
                let file = self.lines.file().to_owned();
                let header = self.named && matches!(self.body, Body::Delimited(_));
                Err(if header { DataError::HeaderOnly { file } } else { DataError::Empty { file } })
            }
            read => read,
        }
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
        header: options.header,
        missing: Missing::Nan,
        features: options.features.clone(),
        known: options.known.clone(),
        mentioned: mentioned(options),
        later_keys: options.later_keys,
        ignore: options.ignore.clone(),
        unread: options.unread.clone(),
        separator: options.separator,
        decimal: options.decimal,
        thousands: options.thousands,
        marks: options.marks,
        gaps: options.gaps.clone(),
        ..ReadOptions::default()
    }
}

impl fmt::Debug for RecordReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordReader")
            .field("file", &self.lines.file())
            .field("columns", &self.columns)
            .field("line", &self.line())
            .finish_non_exhaustive()
    }
}
