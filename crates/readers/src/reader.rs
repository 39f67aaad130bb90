//! The reader of rows: one face for all formats, from a file, standard input or memory.

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::columnar::Columnar;
use crate::columns::{Beside, Plan};
use crate::dataset::Dataset;
use crate::delimited::Delimited;
use crate::dialect::{Marks, Separator};
use crate::error::{ContainerError, Counts, DataError};
use crate::format::Format;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::libsvm::{self, Libsvm};
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::ReadOptions;

/// Reads rows one by one; never holds more than one of them.
///
/// ```
/// use mercer_readers::{Format, ReadOptions, RowReader};
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
/// # Ok::<(), mercer_readers::DataError>(())
/// ```
pub struct RowReader {
    stem: String,
    lines: Lines,
    body: Body,
    dimension: usize,
    kind: Kind,
    weighted: bool,
    feature_names: Option<Vec<String>>,
    target_names: Option<Vec<String>>,
    /// The target of [`next_row`](Self::next_row), and what nobody asks for.
    beside: Beside,
    /// Rows met, good or bad.
    met: u64,
    /// Nothing more will come: the end, or an error that is not one row's.
    over: bool,
}

/// One row with everything that belongs to it. One value serves for all rows: reading into it
/// allocates nothing once it has met the longest label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// The features: shape (d).
    pub features: Vec<f64>,
    /// The targets: shape (m); empty if the target is a label, or if there is none.
    pub targets: Vec<f64>,
    /// The label in its [canonical](crate::Labels) form; empty if the targets are numbers.
    pub label: String,
    /// The weight: 1 if there is no column of weights.
    pub weight: f64,
}

/// What a row has as its target.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Nothing,
    /// So many numbers, at least one.
    Numbers(usize),
    Label,
}

/// The part that differs by format.
enum Body {
    Delimited(Box<Delimited>),
    Ndjson(Ndjson),
    Libsvm(Libsvm),
    Columnar(Columnar),
}

impl RowReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns:
    /// one line, or for LIBSVM without a given dimension the whole file once.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::from_source(&Source::from_path(path.as_ref()), options)
    }

    /// Reads from anything that gives bytes, gzipped or not. The format is the options', or the one
    /// that `name` tells; LIBSVM needs its dimension given, since the bytes come only once.
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
            return Columnar::read(source.shown(), Box::new(input), format, options)
                .and_then(|(rows, lines)| Self::over(source.stem(), lines, Body::Columnar(rows), 0));
        }
        let dimension = libsvm::told(&source, format, options)?;
        let lines = Lines::new(source.shown(), Box::new(input), None)?;
        Self::begin(source.stem(), lines, format, dimension, options)
    }

    pub(crate) fn from_source(source: &Source, options: &ReadOptions) -> Result<Self, DataError> {
        let format = format_of(source, options)?;
        if format.is_columnar() {
            return Columnar::open(source, format, options)
                .and_then(|(rows, lines)| Self::over(source.stem(), lines, Body::Columnar(rows), 0));
        }
        let dimension = libsvm::dimension(source, format, options)?;
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
            Format::Csv => Body::Delimited(Delimited::begin(&mut lines, None, options)?.into()),
            Format::Tsv => Body::Delimited(Delimited::begin(&mut lines, Some(Separator::Tab), options)?.into()),
            Format::Ndjson => Body::Ndjson(Ndjson::begin(&mut lines, options)?),
            Format::Libsvm => Body::Libsvm(Libsvm::begin(&mut lines, libsvm_dimension, options)?),
            Format::Parquet | Format::Arrow => {
                return Err(ContainerError::NotBuilt { file: lines.file().to_owned(), format }.into());
            }
        };
        Self::over(stem, lines, body, libsvm_dimension)
    }

    fn over(stem: String, lines: Lines, body: Body, libsvm_dimension: usize) -> Result<Self, DataError> {
        let (plan, names) = match &body {
            Body::Delimited(rows) => (Some(rows.plan()), rows.names()),
            Body::Ndjson(rows) => (Some(rows.plan()), rows.names()),
            Body::Columnar(rows) => (Some(rows.plan()), Some(rows.names())),
            Body::Libsvm(_) => (None, None),
        };
        let dimension = plan.map_or(libsvm_dimension, Plan::dimension);
        let weighted = plan.is_some_and(|plan| plan.weight().is_some());
        let kind = kind(&body);
        let named = |columns: &[usize]| names.map(|names| columns.iter().map(|&at| names[at].clone()).collect());
        let feature_names = plan.and_then(|plan| named(plan.features()));
        let target_names = plan.filter(|plan| !plan.targets().is_empty()).and_then(|plan| named(plan.targets()));
        let beside = Beside::default();
        Ok(Self {
            stem,
            lines,
            body,
            dimension,
            kind,
            weighted,
            feature_names,
            target_names,
            beside,
            met: 0,
            over: false,
        })
    }

    /// Number of features a row, d: all columns but the targets and the weight, if there are any.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The names of the features, if the file has names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The name of the target, the first if there are several, if the file has names and there is a
    /// target.
    pub fn target_name(&self) -> Option<&str> {
        self.target_names.as_ref()?.first().map(String::as_str)
    }

    /// The names of the targets, or the one of the label, if the file has names and there is a
    /// target.
    pub fn target_names(&self) -> Option<&[String]> {
        self.target_names.as_deref()
    }

    /// Number of targets a row that are numbers, m: 0 if the target is a label, or if there is
    /// none.
    pub fn outputs(&self) -> usize {
        match self.kind {
            Kind::Numbers(outputs) => outputs,
            Kind::Nothing | Kind::Label => 0,
        }
    }

    /// Whether the target is a label.
    pub fn is_label(&self) -> bool {
        self.kind == Kind::Label
    }

    /// Whether there is a column of weights.
    pub fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// What the first rows hold as their target, under [`Targets::Auto`](crate::Targets::Auto) and
    /// for one target.
    pub fn target_head(&self) -> Option<TargetHead> {
        match &self.body {
            Body::Delimited(rows) => rows.head(),
            Body::Ndjson(rows) => rows.head(),
            Body::Columnar(rows) => rows.head(),
            Body::Libsvm(rows) => rows.head(),
        }
    }

    /// What was taken for the header where the file leaves that in doubt, as one line for people.
    pub fn doubt(&self) -> Option<&str> {
        match &self.body {
            Body::Delimited(rows) => rows.doubt(),
            Body::Ndjson(_) | Body::Libsvm(_) | Body::Columnar(_) => None,
        }
    }

    /// What was found in the file since this was asked last and a person should know, as one line:
    /// the mark between the thousands of its numbers, where nobody told it.
    pub fn take_remark(&mut self) -> Option<String> {
        match &mut self.body {
            Body::Delimited(rows) => rows.take_remark(),
            Body::Ndjson(_) | Body::Libsvm(_) | Body::Columnar(_) => None,
        }
    }

    /// The marks in the numbers so far.
    pub fn marks(&self) -> Marks {
        match &self.body {
            Body::Delimited(rows) => rows.marks(),
            Body::Ndjson(_) | Body::Libsvm(_) | Body::Columnar(_) => Marks::default(),
        }
    }

    /// Has the target read as a label from the next row on: for whoever knows from
    /// [`target_head`](Self::target_head) that numbers are classes. Without a target nothing
    /// changes.
    ///
    /// # Errors
    /// [`DataError::LabelsOfSeveral`] if there are several targets.
    pub fn read_labels(&mut self) -> Result<(), DataError> {
        let file = self.lines.file();
        match &mut self.body {
            Body::Delimited(rows) => rows.plan_mut().read_labels(file)?,
            Body::Ndjson(rows) => rows.plan_mut().read_labels(file)?,
            Body::Columnar(rows) => rows.plan_mut().read_labels(file)?,
            Body::Libsvm(rows) => rows.read_labels(),
        }
        self.kind = kind(&self.body);
        Ok(())
    }

    /// Whether rows are JSON objects, which name their values.
    pub fn are_objects(&self) -> bool {
        matches!(&self.body, Body::Ndjson(rows) if rows.are_objects())
    }

    /// What [`line`](Self::line) counts.
    pub fn counts(&self) -> Counts {
        self.lines.counts()
    }

    /// The line, from 1, on which the row last read begins; the row's own number if the file has no
    /// lines.
    pub fn line(&self) -> u64 {
        self.lines.line().number
    }

    /// The row last read, good or bad, as it stands in the file, without its line end: what is to
    /// be kept of a row that is refused.
    pub fn record(&self) -> &[u8] {
        self.lines.text()
    }

    /// Puts the features of the next row into `features` (which it empties first) and gives the
    /// target; `None` at the end. A weight is checked and left aside.
    ///
    /// # Errors
    /// An error that [concerns one row](DataError::concerns_one_row) leaves the reader behind that
    /// row: the next call goes on with the one after it. After any other error, and after the end,
    /// every call gives `None`. [`DataError::NoTarget`] under
    /// [`TargetColumn::None`](crate::TargetColumn::None); [`DataError::NotOneNumber`] if there are
    /// several targets or a label.
    pub fn next_row(&mut self, features: &mut Vec<f64>) -> Result<Option<f64>, DataError> {
        self.need_target()?;
        if self.kind != Kind::Numbers(1) {
            return Err(DataError::NotOneNumber { file: self.lines.file().to_owned() });
        }
        Ok(if self.take_row(features)? { self.beside.targets.first().copied() } else { None })
    }

    /// Puts the next row with its targets, or its label, and its weight into `example`, in place of
    /// what that holds; false at the end.
    ///
    /// ```
    /// use mercer_readers::{ColumnChoice, Example, Format, ReadOptions, RowReader, Targets};
    ///
    /// let options = ReadOptions {
    ///     format: Some(Format::Csv),
    ///     weight: Some(ColumnChoice::Name("w".into())),
    ///     targets: Targets::Auto,
    ///     ..ReadOptions::default()
    /// };
    /// let text = "width,w,colour\n1,0.5,red\n2,2,\"dark, red\"\n";
    /// let mut reader = RowReader::from_reader("example", text.as_bytes(), &options)?;
    /// assert!(reader.is_label() && reader.is_weighted());
    /// let mut example = Example::default();
    /// assert!(reader.next_example(&mut example)? && example.label == "red" && example.weight == 0.5);
    /// assert!(reader.next_example(&mut example)? && example.label == "dark, red" && example.features == [2.0]);
    /// assert!(!reader.next_example(&mut example)?);
    /// # Ok::<(), mercer_readers::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row), except for those of the target's kind. After an error, and
    /// at the end, the example is empty and its weight 1.
    pub fn next_example(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let Example { features, targets, label, weight } = example;
        label.clear();
        // The row goes straight into the example's own memory.
        std::mem::swap(targets, &mut self.beside.targets);
        std::mem::swap(label, &mut self.beside.label);
        let read = self.take_row(features);
        std::mem::swap(targets, &mut self.beside.targets);
        std::mem::swap(label, &mut self.beside.label);
        *weight = 1.0;
        if !matches!(read, Ok(true)) {
            targets.clear();
            label.clear();
        } else if self.weighted {
            *weight = self.beside.weight;
        }
        read
    }

    /// Puts the features of the next row into `features` (which it empties first) and leaves its
    /// target, if there is one, aside; false at the end. This is the way to read a table whose
    /// columns are all data: under [`TargetColumn::None`](crate::TargetColumn::None) the features
    /// are the whole row.
    ///
    /// ```
    /// use mercer_readers::{Format, Missing, ReadOptions, RowReader, TargetColumn};
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
    /// # Ok::<(), mercer_readers::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row), which this may follow or precede.
    pub fn next_features(&mut self, features: &mut Vec<f64>) -> Result<bool, DataError> {
        self.take_row(features)
    }

    /// Passes over up to `rows` rows, good or bad, and says how many there were: all that are left
    /// for `u64::MAX`. Batches of Parquet and Arrow are passed over whole; rows of other formats
    /// are read like any others.
    ///
    /// # Errors
    /// Whatever is wrong with the file that is not one row's.
    pub fn skip_rows(&mut self, rows: u64) -> Result<u64, DataError> {
        let (mut passed, mut features) = (0, Vec::new());
        while passed < rows && !self.over {
            if let Body::Columnar(columnar) = &mut self.body {
                let together = columnar.skip(&self.lines, rows - passed)?;
                self.met += together;
                passed += together;
                if together > 0 {
                    continue;
                }
            }
            match self.take_row(&mut features) {
                Ok(true) => passed += 1,
                Ok(false) => {}
                Err(error) if error.concerns_one_row() => passed += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(passed)
    }

    /// Reads up to `rows` more rows into a table: all that are left for `usize::MAX`. The classes
    /// of a table with labels are those of its rows.
    ///
    /// # Errors
    /// The first error of [`next_example`](Self::next_example); [`DataError::NoTarget`] under
    /// [`TargetColumn::None`](crate::TargetColumn::None).
    pub fn read_rows(&mut self, rows: usize) -> Result<Dataset, DataError> {
        self.need_target()?;
        let (mut features, mut beside) = (Vec::new(), Beside::default());
        let (mut labels, mut classes, mut weights) = (Vec::new(), Labels::new(), Vec::new());
        let mut read = 0;
        while read < rows && self.append_row(&mut features, &mut beside)? {
            read += 1;
            if self.kind == Kind::Label {
                labels.push(classes.insert(&beside.label));
            }
            if self.weighted {
                weights.push(beside.weight);
            }
        }
        let (stem, dimension) = (self.stem.clone(), self.dimension);
        let mut table = match self.kind {
            Kind::Label => Dataset::labelled(stem, dimension, features, &labels, &classes)?,
            Kind::Nothing | Kind::Numbers(_) => {
                Dataset::several(stem, dimension, features, self.outputs(), beside.targets)?
            }
        };
        if self.weighted {
            table = table.with_weights(weights)?;
        }
        match (&self.feature_names, &self.target_names) {
            (Some(features), Some(targets)) => table.with_all_names(features.clone(), targets.clone()),
            _ => Ok(table),
        }
    }

    fn need_target(&self) -> Result<(), DataError> {
        match self.kind {
            Kind::Nothing => Err(DataError::NoTarget { file: self.lines.file().to_owned() }),
            Kind::Numbers(_) | Kind::Label => Ok(()),
        }
    }

    /// The next row in place of what `features` and `beside` hold; false at the end. An error
    /// leaves no features there.
    fn take_row(&mut self, features: &mut Vec<f64>) -> Result<bool, DataError> {
        features.clear();
        let mut beside = std::mem::take(&mut self.beside);
        beside.targets.clear();
        let row = self.append_row(features, &mut beside);
        self.beside = beside;
        if row.is_err() {
            features.clear();
        }
        row
    }

    /// The next row behind what `features` and the targets of `beside` hold already; false at the
    /// end. An error may leave part of a row there.
    fn append_row(&mut self, features: &mut Vec<f64>, beside: &mut Beside) -> Result<bool, DataError> {
        if self.over {
            return Ok(false);
        }
        let row = match &mut self.body {
            Body::Delimited(rows) => rows.row(&mut self.lines, features, beside),
            Body::Ndjson(rows) => rows.row(&mut self.lines, features, beside),
            Body::Columnar(rows) => rows.row(&mut self.lines, features, beside),
            Body::Libsvm(rows) => rows.row(&mut self.lines, features, beside),
        };
        match &row {
            Ok(true) => self.met += 1,
            Err(error) if error.concerns_one_row() => self.met += 1,
            Ok(false) | Err(_) => self.over = true,
        }
        match row {
            Ok(false) if self.met == 0 => {
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

/// What the body's rows have as their target.
fn kind(body: &Body) -> Kind {
    let plan = match body {
        Body::Delimited(rows) => rows.plan(),
        Body::Ndjson(rows) => rows.plan(),
        Body::Columnar(rows) => rows.plan(),
        // Every row of libsvm has a target.
        Body::Libsvm(rows) if rows.label() => return Kind::Label,
        Body::Libsvm(_) => return Kind::Numbers(1),
    };
    match plan.numbers() {
        _ if plan.label().is_some() => Kind::Label,
        0 => Kind::Nothing,
        numbers => Kind::Numbers(numbers),
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

/// Reads a whole table from bytes in memory; `name` tells the format as a file's name would, unless
/// the options do.
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

pub(crate) fn format_of(source: &Source, options: &ReadOptions) -> Result<Format, DataError> {
    options
        .format
        .or_else(|| source.path().and_then(Format::from_path))
        .ok_or_else(|| DataError::UnknownFormat { file: source.shown() })
}
