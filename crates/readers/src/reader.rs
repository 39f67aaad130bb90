//! The reader: one face for all formats, from a file, standard input or memory.

mod fixed;
mod numbers;
mod opening;

use std::fmt;
use std::io::Read;
use std::path::Path;

use crate::columns::Shape;
use crate::dataset::Dataset;
use crate::dialect::Marks;
use crate::error::{CellPlace, Counts, DataError, Remark};
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::{Lines, Source};
use crate::options::{Missing, ReadOptions, Targets};
use crate::record::{Example, Record};
use crate::rows::Rows;
use crate::sum_row::SumRows;
use crate::table::Table;

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
///
/// A row is numbers with a target, by the columns that the options choose; or a [`Record`] of typed
/// cells, every column as the file has it ([`records`](Self::records)):
///
/// ```
/// use mercer_readers::{Cell, Format, ReadOptions, Record, RowReader};
///
/// let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
/// let mut reader = RowReader::records_from("example", "day,price\n2024-05-31,10\n,\n".as_bytes(), &options)?;
/// assert_eq!(reader.columns(), ["day", "price"]);
/// let mut record = Record::new();
/// // Cells keep their text: what they mean is for whoever knows what the column is.
/// assert!(reader.next_record(&mut record)?);
/// assert!(record.cells().eq([Cell::Text("2024-05-31"), Cell::Numeral(10.0, "10")]));
/// assert!(reader.next_record(&mut record)? && record.cell(0) == Cell::Missing);
/// # Ok::<(), mercer_readers::DataError>(())
/// ```
pub struct RowReader {
    stem: String,
    lines: Lines,
    rows: Box<dyn Rows>,
    shape: Shape,
    missing: Missing,
    unlabelled: bool,
    /// The names of the features; those of a file without names are made.
    columns: Vec<String>,
    target_names: Option<Vec<String>>,
    /// Targets of the first rows, if they were to be found out.
    head: Option<TargetHead>,
    /// Rows met, good or bad.
    met: u64,
    /// Nothing more will come: the end, or an error that is not one row's.
    over: bool,
    /// A row that is more than plain numbers.
    record: Record,
    /// Rows that sum up others.
    sums: SumRows,
    /// The target of [`next_row`](Self::next_row), and what nobody asks for.
    beside: TargetPlaces,
}

/// Values of a row beside its features.
#[derive(Debug, Default)]
struct TargetPlaces {
    /// The targets that are numbers, in their order; those of a row come behind what is there.
    targets: Vec<f64>,
    /// The canonical label of the last row.
    label: String,
    /// The weight of the last row, 1 where there are no weights.
    weight: f64,
}

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
    pub(crate) fn over(source: Source, options: &ReadOptions, records: bool) -> Result<Self, DataError> {
        let (format, stem) = (source.format(options.format)?, source.stem());
        let opened = opening::rows(source, format, options, records)?;
        Self::of_rows(stem, opened, options)
    }

    /// The rows of a table in memory as [`records`](Self::records): the features, then the targets.
    ///
    /// # Errors
    /// None of a table that keeps its invariants.
    pub fn of_table(table: &Dataset) -> Result<Self, DataError> {
        let names = table.feature_names().zip(table.target_names()).map(|(x, y)| [x, y].concat());
        let values = table.rows().flat_map(|(x, y)| x.iter().chain(y).copied()).collect();
        let (width, classes) = (table.dimension() + table.outputs(), table.classes().map(<[String]>::to_vec));
        Self::in_memory(table.name(), Table::new(table.name(), (width, values), names, classes)?)
    }

    pub(crate) fn in_memory(name: &str, rows: Table) -> Result<Self, DataError> {
        let options = ReadOptions { targets: Targets::Numbers, ..ReadOptions::default() };
        Self::of_rows(name.to_owned(), (Box::new(rows), Lines::of_rows(name.to_owned())), &options)
    }

    fn of_rows(stem: String, (rows, lines): (Box<dyn Rows>, Lines), options: &ReadOptions) -> Result<Self, DataError> {
        let (plan, names) = (rows.plan(), rows.names());
        let name = |&column: &usize| rows.name(column).map_or_else(|| format!("x{}", column + 1), str::to_owned);
        let columns = plan.features().iter().map(name).collect();
        let targets = || plan.targets().iter().map(name).collect();
        let target_names = names.filter(|_| !plan.targets().is_empty()).map(|_| targets());
        let (shape, missing, unlabelled) = (Shape::new(plan), options.missing, options.unlabelled);
        let (record, sums, beside) = (Record::new(), SumRows::new(options.leave_totals), TargetPlaces::default());
        let (head, met, over) = (None, 0, false);
        let mut reader = Self {
            stem,
            lines,
            rows,
            shape,
            missing,
            unlabelled,
            columns,
            target_names,
            head,
            met,
            over,
            record,
            sums,
            beside,
        };
        if let (Targets::Auto, [target]) = (options.targets, reader.rows.plan().targets()) {
            let target = *target;
            let head = reader.head.insert(reader.rows.head(&mut reader.lines, target, options)?);
            if head.is_label() {
                reader.read_labels()?;
            }
        }
        Ok(reader)
    }

    /// The names of the features, all columns of [`records`](Self::records), in their order. A file
    /// without names has `x1`, `x2`, …; the last column of LIBSVM is `target`.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// True if the names are the file's own.
    pub fn is_named(&self) -> bool {
        self.rows.names().is_some()
    }

    /// Number of features a row, d: all columns but the targets and the weight, if there are any.
    pub fn dimension(&self) -> usize {
        self.shape.dimension
    }

    /// The names of the features, if the file has names.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.is_named().then_some(&*self.columns)
    }

    /// The name of the target, the first if there are several, if the file has names and there is a
    /// target.
    pub fn target_name(&self) -> Option<&str> {
        self.target_names.as_ref()?.first().map(String::as_str)
    }

    /// The names of all targets, or the one of the label, likewise.
    pub fn target_names(&self) -> Option<&[String]> {
        self.target_names.as_deref()
    }

    /// Number of targets a row that are numbers, m: 0 if the target is a label, or if there is
    /// none.
    pub fn outputs(&self) -> usize {
        self.shape.numbers
    }

    /// True if the target is a label.
    pub fn is_label(&self) -> bool {
        self.rows.plan().label().is_some()
    }

    /// True if there is a column of weights.
    pub fn is_weighted(&self) -> bool {
        self.shape.weighted
    }

    /// Targets of the first rows, under [`Targets::Auto`] and for one target.
    pub fn target_head(&self) -> Option<TargetHead> {
        self.head
    }

    /// Row taken for the header where the file leaves that in doubt, as one line for people.
    pub fn doubt(&self) -> Option<&str> {
        self.rows.doubt()
    }

    /// Finding in the file, since this was asked last, that a person should know, as one line. It
    /// is the mark between the thousands of its numbers, where nobody told it, or a row that may
    /// sum up others.
    pub fn take_remark(&mut self) -> Option<Remark> {
        self.rows.take_remark().or_else(|| self.lines.take_remark()).or_else(|| self.sums.take_remark())
    }

    /// Lines for people on values of the rows so far that were left out: those of keys that came
    /// late, and rows that sum up others.
    pub fn left_out(&self) -> Vec<String> {
        self.rows.left_out().into_iter().chain(self.sums.report()).collect()
    }

    /// The marks in the numbers so far.
    pub fn marks(&self) -> Marks {
        self.rows.marks()
    }

    /// Has the target read as a label from the next row on: for whoever knows from
    /// [`target_head`](Self::target_head) that numbers are classes. Without a target nothing
    /// changes.
    ///
    /// # Errors
    /// [`DataError::LabelsOfSeveral`] if there are several targets.
    pub fn read_labels(&mut self) -> Result<(), DataError> {
        let plan = self.rows.plan_mut();
        plan.read_labels(self.lines.file())?;
        self.shape = Shape::new(plan);
        Ok(())
    }

    /// True if rows are JSON objects, which name their values.
    pub fn are_objects(&self) -> bool {
        self.rows.are_objects()
    }

    /// The unit of [`line`](Self::line).
    pub fn counts(&self) -> Counts {
        self.lines.counts()
    }

    /// The line, from 1, on which the row last read begins; the row's own number if the file has no
    /// lines.
    pub fn line(&self) -> u64 {
        self.lines.line_number()
    }

    /// Number of rows, where that is known beforehand: in memory.
    pub fn length(&self) -> Option<usize> {
        self.rows.length()
    }

    /// The row last read, good or bad, as it stands in the file, without its line end.
    pub fn text(&self) -> &[u8] {
        self.rows.text(&self.lines)
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
        if self.outputs() != 1 {
            return Err(DataError::NotOneNumber { file: self.lines.file().to_owned() });
        }
        Ok(if self.next_features(features)? { self.beside.targets.first().copied() } else { None })
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
        let Example { features, targets, label, weight, tokens } = example;
        label.clear();
        // The row goes straight into the example's own memory.
        std::mem::swap(targets, &mut self.beside.targets);
        std::mem::swap(label, &mut self.beside.label);
        let read = self.next_features(features);
        std::mem::swap(targets, &mut self.beside.targets);
        std::mem::swap(label, &mut self.beside.label);
        *weight = self.beside.weight;
        self.rows.swap_tokens(tokens);
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

    /// Puts the cells of the next row into `record`, in place of what that holds: those of the
    /// features, then those of the targets and of the weight; false at the end. `O(bytes)`, and no
    /// allocation once the longest record has been met.
    ///
    /// # Errors
    /// As [`next_row`](Self::next_row), except for cells that are no numbers. After an error the
    /// record is empty.
    pub fn next_record(&mut self, record: &mut Record) -> Result<bool, DataError> {
        record.clear();
        if self.over {
            return Ok(false);
        }
        let weight = self.rows.plan().weight();
        loop {
            let read = self.rows.record(&mut self.lines, record).map_err(|error| match error {
                DataError::NotFinite { cell, value }
                    if weight.is_some_and(|weight| weight + 1 == cell.column.number) =>
                {
                    DataError::BadWeight { cell, value }
                }
                error => error,
            });
            match read {
                Ok(true) => {
                    let mut sums = std::mem::take(&mut self.sums);
                    let left = sums.leaves_out(record, |cell| self.place(cell));
                    self.sums = sums;
                    if left {
                        continue;
                    }
                }
                Ok(false) | Err(_) => record.clear(),
            }
            return self.count(read);
        }
    }

    /// The rows of each row group of a Parquet file, in their order; none in other formats.
    pub fn row_groups(&self) -> &[u64] {
        self.rows.groups()
    }

    /// Passes over up to `rows` rows that need not be read one by one, and says how many there
    /// were: row groups of Parquet without reading them, batches of Parquet and Arrow, and none of
    /// other formats.
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub fn skip_batches(&mut self, rows: u64) -> Result<u64, DataError> {
        let mut passed = 0;
        while passed < rows && !self.over {
            let together = self.rows.skip(&self.lines, rows - passed)?;
            if together == 0 {
                break;
            }
            (passed, self.met) = (passed + together, self.met + together);
        }
        Ok(passed)
    }

    /// Passes over up to `rows` rows, good or bad, and says how many there were: all that are left
    /// for `u64::MAX`. Those of Parquet and Arrow are passed over as
    /// [`skip_batches`](Self::skip_batches) does; rows of other formats are read like any others.
    ///
    /// # Errors
    /// Whatever is wrong with the file that is not one row's.
    pub fn skip_rows(&mut self, rows: u64) -> Result<u64, DataError> {
        let (mut passed, mut features) = (self.skip_batches(rows)?, Vec::new());
        while passed < rows && !self.over {
            match self.next_features(&mut features) {
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
        let (mut features, mut beside) = (Vec::new(), TargetPlaces::default());
        let (mut labels, mut classes, mut weights) = (Vec::new(), Labels::new(), Vec::new());
        let (weighted, mut read) = (self.is_weighted(), 0);
        while read < rows && self.append_row(&mut features, &mut beside)? {
            read += 1;
            if self.is_label() {
                labels.push(classes.insert(&beside.label));
            }
            if weighted {
                weights.push(beside.weight);
            }
        }
        let (stem, d) = (self.stem.clone(), self.dimension());
        let mut table = match self.outputs() {
            0 => Dataset::labelled(stem, d, features, &labels, &classes)?,
            outputs => Dataset::several(stem, d, features, outputs, beside.targets)?,
        };
        if weighted {
            table = table.with_weights(weights)?;
        }
        match (self.feature_names(), &self.target_names) {
            (Some(features), Some(targets)) => table.with_all_names(features.to_vec(), targets.clone()),
            _ => Ok(table),
        }
    }

    fn need_target(&self) -> Result<(), DataError> {
        if self.shape.targeted { Ok(()) } else { Err(DataError::NoTarget { file: self.lines.file().to_owned() }) }
    }

    /// Takes in account whether a row was read. A file without a single row is refused.
    fn count(&mut self, read: Result<bool, DataError>) -> Result<bool, DataError> {
        match &read {
            Ok(true) => self.met += 1,
            Err(error) if error.concerns_one_row() => self.met += 1,
            Ok(false) | Err(_) => self.over = true,
        }
        if read.is_ok() && self.met == 0 {
            let file = self.lines.file().to_owned();
            let header = self.rows.has_header();
            return Err(if header { DataError::HeaderOnly { file } } else { DataError::Empty { file } });
        }
        read
    }

    /// Where a cell of the row last read stands.
    pub fn place(&self, cell: usize) -> CellPlace {
        let column = self.rows.plan().column(cell);
        self.lines.cell(column, self.rows.name(column))
    }
}

impl fmt::Debug for RowReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader")
            .field("file", &self.lines.file())
            .field("dimension", &self.dimension())
            .field("line", &self.line())
            .finish_non_exhaustive()
    }
}
