//! The reader of rows: one face for all formats, from a file, standard input or memory.

use std::fmt;
use std::io::Read;
use std::path::Path;

use mercer_core::Cell;

use crate::columns::{Plan, Role};
use crate::dataset::Dataset;
use crate::dialect::Marks;
use crate::error::{Counts, DataError};
use crate::format::Format;
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::Source;
use crate::number::{self, Parsed};
use crate::options::{Missing, ReadOptions};
use crate::record::Record;
use crate::rows::Next;
use crate::stream::{Stream, format_of};

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
    stream: Stream,
    missing: Missing,
    kind: Kind,
    feature_names: Option<Vec<String>>,
    target_names: Option<Vec<String>>,
    /// A row that is more than plain numbers.
    record: Record,
    /// The target of [`next_row`](Self::next_row), and what nobody asks for.
    beside: Beside,
}

/// What a row has beside its features.
#[derive(Debug, Default)]
struct Beside {
    /// The targets that are numbers, in their order; those of a row come behind what is there.
    targets: Vec<f64>,
    /// The canonical label of the last row.
    label: String,
    /// The weight of the last row, 1 where there are no weights.
    weight: f64,
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

impl RowReader {
    /// Opens a file, or standard input for `-`, and reads as far as it takes to know the columns:
    /// one line, or for LIBSVM without a given dimension the whole file once.
    ///
    /// # Errors
    /// Whatever is wrong with the file as a whole: see [`DataError`].
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, DataError> {
        Self::from_source(Source::from_path(path.as_ref()), options)
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
        Self::from_source(Source::Once { name: name.into(), input: Box::new(input) }, options)
    }

    fn from_source(source: Source, options: &ReadOptions) -> Result<Self, DataError> {
        let stream = Stream::open(source, options, false)?;
        let (plan, names) = (stream.plan(), stream.rows.names());
        let named = |columns: &[usize]| names.map(|names| columns.iter().map(|&at| names[at].clone()).collect());
        let feature_names = named(plan.features());
        let target_names = if plan.targets().is_empty() { None } else { named(plan.targets()) };
        Ok(Self {
            missing: options.missing,
            kind: kind(plan),
            feature_names,
            target_names,
            record: Record::new(),
            beside: Beside::default(),
            stream,
        })
    }

    /// Number of features a row, d: all columns but the targets and the weight, if there are any.
    pub fn dimension(&self) -> usize {
        self.stream.plan().dimension()
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
        self.stream.plan().weight().is_some()
    }

    /// What the first rows hold as their target, under [`Targets::Auto`](crate::Targets::Auto) and
    /// for one target.
    pub fn target_head(&self) -> Option<TargetHead> {
        self.stream.head
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

    /// Has the target read as a label from the next row on: for whoever knows from
    /// [`target_head`](Self::target_head) that numbers are classes. Without a target nothing
    /// changes.
    ///
    /// # Errors
    /// [`DataError::LabelsOfSeveral`] if there are several targets.
    pub fn read_labels(&mut self) -> Result<(), DataError> {
        self.stream.read_labels()?;
        self.kind = kind(self.stream.plan());
        Ok(())
    }

    /// Whether rows are JSON objects, which name their values.
    pub fn are_objects(&self) -> bool {
        self.stream.rows.are_objects()
    }

    /// What [`line`](Self::line) counts.
    pub fn counts(&self) -> Counts {
        self.stream.lines.counts()
    }

    /// The line, from 1, on which the row last read begins; the row's own number if the file has no
    /// lines.
    pub fn line(&self) -> u64 {
        self.stream.lines.line_number()
    }

    /// The row last read, good or bad, as it stands in the file, without its line end: what is to
    /// be kept of a row that is refused.
    pub fn record(&self) -> &[u8] {
        self.stream.text()
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
            return Err(DataError::NotOneNumber { file: self.stream.lines.file().to_owned() });
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
        *weight = self.beside.weight;
        if !matches!(read, Ok(true)) {
            targets.clear();
            label.clear();
            *weight = 1.0;
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
        while passed < rows && !self.stream.is_over() {
            let together = self.stream.skip(rows - passed)?;
            passed += together;
            if together > 0 {
                continue;
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
        let (weighted, mut read) = (self.is_weighted(), 0);
        while read < rows && self.append_row(&mut features, &mut beside)? {
            read += 1;
            if self.kind == Kind::Label {
                labels.push(classes.insert(&beside.label));
            }
            if weighted {
                weights.push(beside.weight);
            }
        }
        let (stem, dimension) = (self.stream.stem.clone(), self.dimension());
        let mut table = match self.kind {
            Kind::Label => Dataset::labelled(stem, dimension, features, &labels, &classes)?,
            Kind::Nothing | Kind::Numbers(_) => {
                Dataset::several(stem, dimension, features, self.outputs(), beside.targets)?
            }
        };
        if weighted {
            table = table.with_weights(weights)?;
        }
        match (&self.feature_names, &self.target_names) {
            (Some(features), Some(targets)) => table.with_all_names(features.clone(), targets.clone()),
            _ => Ok(table),
        }
    }

    fn need_target(&self) -> Result<(), DataError> {
        match self.kind {
            Kind::Nothing => Err(DataError::NoTarget { file: self.stream.lines.file().to_owned() }),
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
    /// end, and nothing added. An error adds nothing, either.
    fn append_row(&mut self, features: &mut Vec<f64>, beside: &mut Beside) -> Result<bool, DataError> {
        let (before, plan) = (features.len(), self.stream.plan());
        let (d, width) = (plan.dimension(), plan.width());
        features.resize(before + width, 0.0);
        let row = &mut features[before..];
        let read = self.fill_row(row, &mut beside.label);
        if matches!(read, Ok(true)) {
            let plan = self.stream.plan();
            beside.targets.extend_from_slice(&row[d..d + plan.numbers()]);
            beside.weight = if plan.weight().is_some() { row[width - 1] } else { 1.0 };
            features.truncate(before + d);
        } else {
            features.truncate(before);
        }
        read
    }

    /// The numbers of the next row, one for each of its cells, and its label; false at the end.
    fn fill_row(&mut self, row: &mut [f64], label: &mut String) -> Result<bool, DataError> {
        match self.stream.numbers(row, label)? {
            Next::End => return Ok(false),
            Next::Numbers => {}
            Next::Record if !self.stream.record(&mut self.record)? => return Ok(false),
            Next::Record => {
                for (place, cell) in self.record.cells().enumerate() {
                    row[place] = self.number(cell, place, label)?;
                }
            }
        }
        Ok(true)
    }

    /// The number of a cell; 0 for a label, which it puts into `label`.
    fn number(&self, cell: Cell<'_>, place: usize, label: &mut String) -> Result<f64, DataError> {
        let (plan, at) = (self.stream.plan(), || self.stream.place(place));
        if matches!(plan.role(plan.column(place)), Role::Label(_)) {
            return if Labels::of_cell(cell, label) { Ok(0.0) } else { Err(DataError::MissingTarget { cell: at() }) };
        }
        let (is_target, value) = (place >= plan.dimension(), || cell.to_string());
        let is_weight = place >= plan.dimension() + plan.targets().len();
        match cell.number() {
            Some(value) if !is_weight || value >= 0.0 => return Ok(value),
            _ if is_weight => return Err(DataError::BadWeight { cell: at(), value: value() }),
            _ => {}
        }
        let is_gap = match cell {
            Cell::Missing => true,
            Cell::Text(text) => number::parse(text.as_bytes()) == Parsed::Nan,
            _ => false,
        };
        match (is_gap, self.stream.head) {
            (true, _) if self.missing == Missing::Nan => Ok(f64::NAN),
            (true, _) if is_target => Err(DataError::MissingTarget { cell: at() }),
            (true, _) => Err(DataError::EmptyCell { cell: at() }),
            (false, Some(TargetHead { rows, .. })) if is_target => {
                Err(DataError::LateLabel { cell: at(), value: value(), rows })
            }
            (false, _) => Err(DataError::NotANumber { cell: at(), value: value() }),
        }
    }
}

/// What rows have as their target.
fn kind(plan: &Plan) -> Kind {
    match plan.numbers() {
        _ if plan.label().is_some() => Kind::Label,
        0 => Kind::Nothing,
        numbers => Kind::Numbers(numbers),
    }
}

impl fmt::Debug for RowReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader")
            .field("file", &self.stream.lines.file())
            .field("dimension", &self.dimension())
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

fn read_source(source: Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let twice = format_of(&source, options)? == Format::Libsvm && options.libsvm_dimension.is_none();
    let source = if twice { source.rereadable()? } else { source };
    RowReader::from_source(source, options)?.read_rows(usize::MAX)
}
