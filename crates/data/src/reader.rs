//! The reader of rows: one face for all formats, from a file, standard input or memory.

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::columns::Plan;
use crate::dataset::Dataset;
use crate::delimited::Delimited;
use crate::error::DataError;
use crate::format::Format;
use crate::libsvm::{self, Libsvm};
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::ReadOptions;

/// Reads rows one by one; never holds more than one of them.
///
/// ```
/// use mercer_data::{Format, ReadOptions, RowReader};
///
/// let text = "width,height,price\n1,2,10\n3,4,20\n";
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
/// let mut reader = RowReader::from_reader("example", text.as_bytes(), &options)?;
/// let (mut row, mut sum) = (Vec::new(), 0.0);
/// while let Some(price) = reader.next_row(&mut row)? {
///     assert_eq!(row.len(), 2);
///     sum += price;
/// }
/// assert_eq!(sum, 30.0);
/// # Ok::<(), mercer_data::DataError>(())
/// ```
pub struct RowReader {
    stem: String,
    lines: Lines,
    body: Body,
    dimension: usize,
    /// Whether one of the columns is the target.
    targeted: bool,
    feature_names: Option<Vec<String>>,
    target_name: Option<String>,
    /// Rows met, good or bad.
    met: u64,
    /// Nothing more will come: the end, or an error that is not one row's.
    over: bool,
}

/// The part that differs by format.
enum Body {
    Delimited(Delimited),
    Ndjson(Ndjson),
    Libsvm(Libsvm),
}

impl RowReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns: one line, or for LIBSVM
    /// without a given dimension the whole file once.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::from_source(&Source::from_path(path.as_ref()), options)
    }

    /// Reads from anything that gives bytes, gzipped or not. The format is the options', or the one that `name` tells; LIBSVM
    /// needs its dimension given, since the bytes come only once.
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
        let dimension = match (format, options.libsvm_dimension) {
            (Format::Libsvm, None) => {
                return Err(DataError::DimensionUnknown { file: source.shown() });
            }
            (_, dimension) => dimension.unwrap_or(0),
        };
        let lines = Lines::new(source.shown(), Box::new(input), false)?;
        Self::begin(source.stem(), lines, format, dimension, options)
    }

    pub(crate) fn from_source(source: &Source, options: &ReadOptions) -> Result<Self, DataError> {
        let format = format_of(source, options)?;
        let dimension = match (format, options.libsvm_dimension) {
            (Format::Libsvm, None) if matches!(source, Source::StandardInput) => {
                return Err(DataError::DimensionUnknown { file: source.shown() });
            }
            (Format::Libsvm, None) => libsvm::widest(&mut source.lines()?)?,
            (_, dimension) => dimension.unwrap_or(0),
        };
        Self::begin(source.stem(), source.lines()?, format, dimension, options)
    }

    fn begin(
        stem: String,
        mut lines: Lines,
        format: Format,
        libsvm_dimension: usize,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let body = match format {
            Format::Csv => Body::Delimited(Delimited::begin(&mut lines, b',', options)?),
            Format::Tsv => Body::Delimited(Delimited::begin(&mut lines, b'\t', options)?),
            Format::Ndjson => Body::Ndjson(Ndjson::begin(&mut lines, options)?),
            Format::Libsvm => Body::Libsvm(Libsvm::begin(&lines, libsvm_dimension, options)?),
        };
        let (plan, names) = match &body {
            Body::Delimited(rows) => (Some(rows.plan()), rows.names()),
            Body::Ndjson(rows) => (Some(rows.plan()), Some(rows.names())),
            Body::Libsvm(_) => (None, None),
        };
        let dimension = plan.map_or(libsvm_dimension, Plan::dimension);
        // Every row of libsvm has a target.
        let targeted = plan.is_none_or(|plan| plan.target().is_some());
        let named = plan.zip(names);
        let feature_names = named.map(|(plan, names)| plan.features().iter().map(|&at| names[at].clone()).collect());
        let target_name = named.and_then(|(plan, names)| plan.target().map(|at| names[at].clone()));
        Ok(Self { stem, lines, body, dimension, targeted, feature_names, target_name, met: 0, over: false })
    }

    /// Number of features a row, d: all columns but the target, if there is one.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The names of the features, if the file has names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The name of the target, if the file has names and there is a target.
    pub fn target_name(&self) -> Option<&str> {
        self.target_name.as_deref()
    }

    /// The line, from 1, on which the row last read begins.
    pub fn line(&self) -> u64 {
        self.lines.line().number
    }

    /// The row last read, good or bad, as it stands in the file, without its line end: what is to be kept of a row that is refused.
    pub fn record(&self) -> &[u8] {
        self.lines.text()
    }

    /// Puts the features of the next row into `features` (which it empties first) and gives the target; `None` at the end.
    ///
    /// # Errors
    /// An error that [concerns one row](DataError::concerns_one_row) leaves the reader behind that row: the next call goes on with
    /// the one after it. After any other error, and after the end, every call gives `None`. [`DataError::NoTarget`] under
    /// [`TargetColumn::None`](crate::TargetColumn::None).
    pub fn next_row(&mut self, features: &mut Vec<f64>) -> Result<Option<f64>, DataError> {
        self.need_target()?;
        Ok(self.take_row(features)?.flatten())
    }

    /// Puts the features of the next row into `features` (which it empties first) and leaves its target, if there is one, aside;
    /// false at the end. This is the way to read a table whose columns are all data: under [`TargetColumn::None`](crate::TargetColumn::None) the features
    /// are the whole row.
    ///
    /// ```
    /// use mercer_data::{Format, Missing, ReadOptions, RowReader, TargetColumn};
    ///
    /// let options = ReadOptions {
    ///     format: Some(Format::Csv),
    ///     target: TargetColumn::None,
    ///     missing: Missing::Nan,
    ///     ..ReadOptions::default()
    /// };
    /// let mut reader = RowReader::from_reader("example", "x,y\n1,2\n,4\n".as_bytes(), &options)?;
    /// let mut row = Vec::new();
    /// assert!(reader.next_features(&mut row)? && row == [1.0, 2.0]);
    /// assert!(reader.next_features(&mut row)? && row[0].is_nan() && row[1] == 4.0);
    /// assert!(!reader.next_features(&mut row)?);
    /// # Ok::<(), mercer_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row), which this may follow or precede.
    pub fn next_features(&mut self, features: &mut Vec<f64>) -> Result<bool, DataError> {
        Ok(self.take_row(features)?.is_some())
    }

    /// Reads up to `rows` more rows into a table: all that are left for `usize::MAX`.
    ///
    /// # Errors
    /// The first error of [`next_row`](Self::next_row).
    pub fn read_rows(&mut self, rows: usize) -> Result<Dataset, DataError> {
        self.need_target()?;
        let (mut features, mut targets) = (Vec::new(), Vec::new());
        while targets.len() < rows {
            match self.append_row(&mut features)?.flatten() {
                Some(target) => targets.push(target),
                None => break,
            }
        }
        let table = Dataset::new(self.stem.clone(), self.dimension, features, targets)?;
        match (&self.feature_names, &self.target_name) {
            (Some(features), Some(target)) => table.with_names(features.clone(), target.clone()),
            _ => Ok(table),
        }
    }

    fn need_target(&self) -> Result<(), DataError> {
        if self.targeted { Ok(()) } else { Err(DataError::NoTarget { file: self.lines.file().to_owned() }) }
    }

    /// The next row in place of what `features` holds; an error leaves nothing there.
    fn take_row(&mut self, features: &mut Vec<f64>) -> Result<Option<Option<f64>>, DataError> {
        features.clear();
        let row = self.append_row(features);
        if row.is_err() {
            features.clear();
        }
        row
    }

    /// The next row behind what `features` holds already, and its target if the table has one; `None` at the end. An error may
    /// leave part of a row there.
    fn append_row(&mut self, features: &mut Vec<f64>) -> Result<Option<Option<f64>>, DataError> {
        if self.over {
            return Ok(None);
        }
        let row = match &mut self.body {
            Body::Delimited(rows) => rows.row(&mut self.lines, features),
            Body::Ndjson(rows) => rows.row(&mut self.lines, features),
            Body::Libsvm(rows) => rows.row(&mut self.lines, features),
        };
        match &row {
            Ok(Some(_)) => self.met += 1,
            Err(error) if error.concerns_one_row() => self.met += 1,
            Ok(None) | Err(_) => self.over = true,
        }
        match row {
            Ok(None) if self.met == 0 => {
                let file = self.lines.file().to_owned();
                Err(if self.feature_names.is_some() && matches!(self.body, Body::Delimited(_)) {
                    DataError::HeaderOnly { file }
                } else {
                    DataError::Empty { file }
                })
            }
            row => row,
        }
    }
}

impl fmt::Debug for RowReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader")
            .field("file", &self.lines.file())
            .field("dimension", &self.dimension)
            .field("line", &self.line())
            .finish_non_exhaustive()
    }
}

/// Reads a whole file, or standard input for `-`.
///
/// # Errors
/// The first thing wrong, with its place: see [`DataError`].
pub fn read_all(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset, DataError> {
    read_source(Source::from_path(path.as_ref()), options)
}

/// Reads a whole table from bytes in memory; `name` tells the format as a file's name would, unless the options do.
///
/// # Errors
/// The first thing wrong, with its place: see [`DataError`].
pub fn read_bytes(
    name: impl Into<String>,
    bytes: impl Into<std::borrow::Cow<'static, [u8]>>,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    read_source(Source::Memory { name: name.into(), bytes: bytes.into() }, options)
}

pub(crate) fn read_source(source: Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let twice = format_of(&source, options)? == Format::Libsvm && options.libsvm_dimension.is_none();
    let source = if twice { source.rereadable()? } else { source };
    RowReader::from_source(&source, options)?.read_rows(usize::MAX)
}

fn format_of(source: &Source, options: &ReadOptions) -> Result<Format, DataError> {
    options
        .format
        .or_else(|| source.path().and_then(Format::from_path))
        .ok_or_else(|| DataError::UnknownFormat { file: source.shown() })
}
