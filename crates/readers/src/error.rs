//! Everything that can be wrong with data, each as one line that says what, where, and how to mend
//! it.
//!
//! Places are counted as a person counts them in an editor: lines and columns from 1. Cell values
//! are quoted with their control characters escaped and are cut after a few dozen characters, so
//! that a message is one line whatever the file holds.

mod container;
mod dialect;
mod place;
mod shown;

use std::io;

pub use container::ContainerError;
pub(crate) use dialect::Finding;
pub use dialect::{DialectError, Remark};
pub use place::{CellPlace, Column, Counts, Line};
use shown::{ColumnList, Cut, NameList, Quoted, plural};
pub use shown::{remedy_of_commas, shown_path};

use mercer_core::ListError;

use crate::choice::{ColumnChoice, TargetColumn};

/// Errors of reading data. [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system would not give the bytes.
    #[error("{file}: cannot be read ({source}); check the path and its permissions")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// The container of the rows is damaged, or not what it is said to be.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Delimited text that may be read in two ways, or in none.
    #[error(transparent)]
    Dialect(#[from] DialectError),
    /// Neither the name nor an option tells the format.
    #[error(
        "{file}: the name does not tell the format; name it *.csv, *.tsv, *.ndjson, *.json, *.libsvm (each also with .gz or .zst), *.parquet or *.arrow, or give the format (--format)"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// A format's name was not understood.
    #[error(
        "{} is not a format; the formats are csv, tsv, ndjson, json, libsvm, parquet, arrow, fixed and xlsx",
        Quoted(name)
    )]
    UnknownFormatName {
        /// The name given.
        name: String,
    },
    /// No line holds anything.
    #[error("{file}: is empty; give a file with at least one row")]
    Empty {
        /// The file.
        file: String,
    },
    /// A header and nothing below it.
    #[error("{file}: has a header and no row; add data below line 1")]
    HeaderOnly {
        /// The file.
        file: String,
    },
    /// The first row mixes numbers and text, so it may be a header or a spoilt row.
    #[error(
        "{cell}: the first row mixes numbers with text such as {}; make every name in it text if it is a header, make every cell a number if it is data, or say which it is (--header yes or no)",
        Quoted(value)
    )]
    DoubtfulHeader {
        /// The first cell with text.
        cell: CellPlace,
        /// The text.
        value: String,
    },
    /// The first row holds numbers, and text that may be a label or the name of its column.
    #[error(
        "{cell}: the first row holds numbers, and {} may be a label or a name; make every name in it text if it is a header, or say that there is no header (--header no)",
        Quoted(value)
    )]
    DoubtfulLabel {
        /// The cell with text.
        cell: CellPlace,
        /// The text.
        value: String,
    },
    /// A row that repeats the header.
    #[error("{line}: repeats the header, as joined files do; remove the line")]
    RepeatedHeader {
        /// Where.
        line: Line,
    },
    /// A row below the header with words above numbers, and without a number.
    #[error("{cell}: {} stands between a name and numbers, as a unit does; remove the line", Quoted(value))]
    Units {
        /// The first such cell.
        cell: CellPlace,
        /// The unit.
        value: String,
    },
    /// A row has too few or too many cells.
    #[error("{line}: has {got} {}, the first row has {expected}; add the missing cells or remove the row", plural(*got, "cell"))]
    Ragged {
        /// Where.
        line: Line,
        /// Cells in the first row.
        expected: usize,
        /// Cells in this row.
        got: usize,
    },
    /// Text in a line of fixed width where the first lines have a gap.
    #[error("{line}, character {character}: has text between two columns; align it with those above, or remove it")]
    BetweenColumns {
        /// Where.
        line: Line,
        /// The character within the line, from 1.
        character: usize,
    },
    /// Text where a number belongs.
    #[error("{cell}: {} is not a number; replace it by one, or leave the column out", Quoted(value))]
    NotANumber {
        /// Where.
        cell: CellPlace,
        /// The text.
        value: String,
    },
    /// Something else where a time belongs.
    #[error("{cell}: {} is no time as those before it; {}", Quoted(value), remedy_of_time(value))]
    NotATime {
        /// Where.
        cell: CellPlace,
        /// The text.
        value: String,
    },
    /// Nothing where a feature belongs.
    #[error("{cell}: the cell has no value; fill it, or remove the row")]
    EmptyCell {
        /// Where.
        cell: CellPlace,
    },
    /// Nothing where the target belongs.
    #[error("{cell}: the target is missing; fill it, or remove the row")]
    MissingTarget {
        /// Where.
        cell: CellPlace,
    },
    /// A time before that of the row before.
    #[error("{cell}: the time {value} is before that of the row before, {before}; sort the rows by time")]
    Earlier {
        /// Where.
        cell: CellPlace,
        /// The time.
        value: String,
        /// That of the row before.
        before: String,
    },
    /// A target that is no number, behind first rows whose targets are numbers.
    #[error(
        "{cell}: {} is not a number, and the targets of the first {rows} {} are; replace it by one, or read the target as a label",
        Quoted(value), plural(*rows, "row")
    )]
    LateLabel {
        /// Where.
        cell: CellPlace,
        /// The text.
        value: String,
        /// Number of rows that were looked at.
        rows: usize,
    },
    /// A cell in an unknown encoding.
    #[error("{cell}: the text is not valid UTF-8; save the file as UTF-8")]
    CellEncoding {
        /// Where.
        cell: CellPlace,
    },
    /// A weight that is missing, negative or no finite number.
    #[error(
        "{cell}: {}; a weight must be a finite number of at least 0: correct it, or remove the row",
        if value.is_empty() { "the weight is missing".to_owned() } else { format!("{} is not a weight", Quoted(value)) }
    )]
    BadWeight {
        /// Where.
        cell: CellPlace,
        /// Text of the cell; nothing if the cell is empty.
        value: String,
    },
    /// NaN, an infinity, or a number too large for a double.
    #[error("{cell}: {} is not a finite number; replace it, or remove the row", Quoted(value))]
    NotFinite {
        /// Where.
        cell: CellPlace,
        /// The text.
        value: String,
    },
    /// There is a target and nothing to predict it from.
    #[error(
        "{file}: has too few columns, so that nothing is left beside the target; check the separator, or add a feature column"
    )]
    NoFeatures {
        /// The file.
        file: String,
    },
    /// A column that is needed, or is to be left out, is not there.
    #[error(
        "{file}: {} {column}; it has {}",
        if *target { "no target column" } else { "has no column" }, ColumnList(*columns, names.as_deref())
    )]
    ColumnNotFound {
        /// The file.
        file: String,
        /// The column asked for.
        column: ColumnChoice,
        /// True if it was to be the target.
        target: bool,
        /// Number of columns.
        columns: usize,
        /// Their names, if they have names.
        names: Option<Vec<String>>,
    },
    /// A column that was asked for by name is there twice.
    #[error(
        "{file}: columns {first} and {second} are both named {}; {}", Quoted(name),
        if *target { "choose the target by number" } else { "give one of them another name" }
    )]
    ColumnAmbiguous {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// True if it was to be the target.
        target: bool,
        /// The first column of that name, from 1.
        first: usize,
        /// The second.
        second: usize,
    },
    /// A column is named twice among several targets.
    #[error("{file}: {column} is named twice among the targets; name it once")]
    TargetRepeated {
        /// The file.
        file: String,
        /// The column.
        column: Column,
    },
    /// The column of the weights is something else as well.
    #[error(
        "{file}: column {weight} is to be the weight and to be the target, a feature or left out; choose one of the two"
    )]
    WeightTaken {
        /// The file.
        file: String,
        /// The column asked for.
        weight: ColumnChoice,
    },
    /// Weights were asked for in a format that has none.
    #[error(
        "{file}: a libsvm file has no column of weights; leave the choice of weight {weight} out, or write the table as csv, tsv or ndjson"
    )]
    NoWeights {
        /// The file.
        file: String,
        /// The column asked for.
        weight: ColumnChoice,
    },
    /// Several targets are to be labels.
    #[error(
        "{file}: {targets} targets are to be read as labels, and only one can be; choose one, or read them as numbers"
    )]
    LabelsOfSeveral {
        /// The file.
        file: String,
        /// Number of targets.
        targets: usize,
    },
    /// One number a row was asked for as the target, where there are several or a label.
    #[error(
        "{file}: is read with several targets or with labels, so no row has one number for a target; take the rows as examples"
    )]
    NotOneNumber {
        /// The file.
        file: String,
    },
    /// The target is a feature as well, or is to be left out.
    #[error("{file}: column {target} is to be the target and to be a feature or left out; choose one of the two")]
    TargetTaken {
        /// The file.
        file: String,
        /// The target asked for.
        target: TargetColumn,
    },
    /// Columns were chosen in a format that has none.
    #[error("{file}: a libsvm file has no columns that could be left out; take the choice of columns back")]
    NoColumns {
        /// The file.
        file: String,
    },
    /// Values that stand for none were told of a format whose every cell is a number.
    #[error("{file}: a libsvm file has no gaps; take the values that stand for them back")]
    NoGaps {
        /// The file.
        file: String,
    },
    /// A LIBSVM file without a feature, most often a file of another format.
    #[error("{file}: has no index:value pair in any row, so it does not look like libsvm; check the format")]
    NoPairs {
        /// The file.
        file: String,
    },
    /// A target was chosen in a format that fixes it.
    #[error(
        "{file}: a libsvm file has its target first in every row and no other; leave the choice of target {target} out"
    )]
    TargetFixed {
        /// The file.
        file: String,
        /// The target asked for.
        target: TargetColumn,
    },
    /// A table without a target was asked for in a format whose rows all have one.
    #[error(
        "{file}: a libsvm file has a target in every row, and here every column is to be data; write the table as csv, tsv or ndjson"
    )]
    TargetInherent {
        /// The file.
        file: String,
    },
    /// A target was asked for of a table that is read without one.
    #[error("{file}: is read without a target, so no row has one; choose a target column, or take the rows without")]
    NoTarget {
        /// The file.
        file: String,
    },
    /// A quote is opened and not closed.
    #[error(
        "{line}: a quoted cell begins here and does not end {}; close the quote, or remove a stray one",
        if *limit == 1 { "on this line".to_owned() } else { format!("within {limit} lines") }
    )]
    UnclosedQuote {
        /// Where the record begins.
        line: Line,
        /// The most lines a record may have.
        limit: usize,
    },
    /// A line is longer than any table's.
    #[error("{line}: the line is longer than {limit} bytes; check that the file is text with line ends")]
    LineTooLong {
        /// Where.
        line: Line,
        /// The longest line accepted.
        limit: usize,
    },
    /// A row of JSON is neither an object nor an array of values.
    #[error(
        "{line}, character {character}: expected {expected}; every row must be one JSON object of numbers such as {{\"x\": 1.5, \"y\": 2}}"
    )]
    BadJson {
        /// Where.
        line: Line,
        /// The byte within the line, from 1.
        character: usize,
        /// The text that should stand there.
        expected: &'static str,
    },
    /// An object or array inside a row.
    #[error("{cell}: the value is nested; give each of its parts a key of its own, or leave the column out (--ignore)")]
    NestedValue {
        /// Where.
        cell: CellPlace,
    },
    /// A list that has more than names, or a number without one.
    #[error("{cell}: {why}, or leave the column out (--ignore)")]
    NoList {
        /// Where.
        cell: CellPlace,
        /// The rule that it breaks.
        why: ListError,
    },
    /// A key of the first row, or one that was asked for, is missing.
    #[error("{line}: the key {} is missing, which every row has; add it, or remove the row", Quoted(key))]
    MissingKey {
        /// Where.
        line: Line,
        /// The key.
        key: String,
    },
    /// A row without a single column that was asked for, and with others.
    #[error("{line}: none of its keys is one of {}, which are needed; rename them, or remove the row", NameList(names))]
    OtherKeys {
        /// Where.
        line: Line,
        /// The columns that are asked for.
        names: Vec<String>,
    },
    /// A key twice in one row.
    #[error("{line}: the key {} is there twice; keep one", Quoted(key))]
    RepeatedKey {
        /// Where.
        line: Line,
        /// The key.
        key: String,
    },
    /// A token of a LIBSVM row is no `index:value`.
    #[error("{line}: {} is not an index:value pair; write a row as: target 1:0.5 3:2", Quoted(token))]
    BadPair {
        /// Where.
        line: Line,
        /// The token.
        token: String,
    },
    /// LIBSVM counts from 1.
    #[error("{line}: the index 0 is used; libsvm indices begin at 1: add 1 to every index of the file")]
    IndexZero {
        /// Where.
        line: Line,
    },
    /// LIBSVM indices must increase within a row.
    #[error("{line}: the index {index} comes after {previous}; sort the pairs of the row by index, each index once")]
    IndexOrder {
        /// Where.
        line: Line,
        /// The index before.
        previous: usize,
        /// The offending index.
        index: usize,
    },
    /// A LIBSVM index above the dimension (given, or the largest this crate reads).
    #[error("{line}: the index {} is above the dimension {limit}; correct it, or give a larger dimension", Cut(index))]
    IndexTooLarge {
        /// Where.
        line: Line,
        /// The index as written.
        index: String,
        /// The largest allowed.
        limit: usize,
    },
    /// A LIBSVM stream that cannot be read twice, and no dimension given.
    #[error("{file}: the dimension of a libsvm stream is known only at its end; give the dimension, or read a file")]
    DimensionUnknown {
        /// The stream.
        file: String,
    },
    /// Features, targets and names that do not fit together.
    #[error(
        "{name}: {features} feature values, {targets} targets and dimension {dimension} do not fit together; features must be targets times dimension, and the dimension at least 1"
    )]
    Inconsistent {
        /// The data set.
        name: String,
        /// Feature values given.
        features: usize,
        /// Targets given.
        targets: usize,
        /// Dimension given.
        dimension: usize,
    },
    /// Parts of a table that do not fit together.
    #[error("{name}: {rule}")]
    BadTable {
        /// The data set.
        name: String,
        /// The rule that must hold.
        rule: &'static str,
    },
    /// Two tables, or a row and a scaling, of different width.
    #[error("{what}: dimension {got} where {expected} is needed; use data of the same columns")]
    Dimension {
        /// The data that were to be used.
        what: String,
        /// The dimension needed.
        expected: usize,
        /// The dimension found.
        got: usize,
    },
    /// Scaling took a number out of the range of a double, or met one that is not finite.
    #[error(
        "{column}: {value:?} does not stay finite when scaled from [{low:?}, {high:?}]; take the ranges from data that cover it"
    )]
    Unscalable {
        /// The column (the target is the one after the last feature).
        column: Column,
        /// The value before scaling.
        value: f64,
        /// The learned minimum.
        low: f64,
        /// The learned maximum.
        high: f64,
    },
}

impl DataError {
    /// True if the reader that gave this error stands behind the offending row and can go on with
    /// the next.
    ///
    /// True for what is wrong with one row; false for what is wrong with the file, its format or
    /// the system.
    pub fn concerns_one_row(&self) -> bool {
        matches!(
            self,
            Self::Ragged { .. }
                | Self::BetweenColumns { .. }
                | Self::RepeatedHeader { .. }
                | Self::Units { .. }
                | Self::UnclosedQuote { .. }
                | Self::NotANumber { .. }
                | Self::NotATime { .. }
                | Self::Dialect(DialectError::MixedDecimals { .. })
                | Self::EmptyCell { .. }
                | Self::MissingTarget { .. }
                | Self::Earlier { .. }
                | Self::LateLabel { .. }
                | Self::CellEncoding { .. }
                | Self::BadWeight { .. }
                | Self::NotFinite { .. }
                | Self::BadJson { .. }
                | Self::NestedValue { .. }
                | Self::NoList { .. }
                | Self::MissingKey { .. }
                | Self::OtherKeys { .. }
                | Self::RepeatedKey { .. }
                | Self::BadPair { .. }
                | Self::IndexZero { .. }
                | Self::IndexOrder { .. }
                | Self::IndexTooLarge { .. }
        )
    }
}

/// What to do about a cell that is no time.
fn remedy_of_time(value: &str) -> &'static str {
    hour_that_comes_twice(value).unwrap_or("correct it, or remove the row")
}

/// How an hour is told that clocks show twice as they are set back, if a text names it `2A:00` or
/// `2B:00`, as some files do.
#[must_use]
pub fn hour_that_comes_twice(text: &str) -> Option<&'static str> {
    let clock = text.rsplit([' ', 'T']).next()?;
    let digits = clock.split(':').next()?.strip_suffix(['A', 'B', 'a', 'b'])?;
    digits.parse::<u8>().is_ok_and(|hour| hour < 24).then_some(
        "the hour that comes twice as clocks are set back is told by its offset, as 02:00+02:00 and then 02:00+01:00",
    )
}
