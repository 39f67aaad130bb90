//! Errors of delimited text as such.

use std::fmt;

use super::place::{CellPlace, Line};
use super::shown::Quoted;
use crate::dialect::{Decimal, Thousands};

/// A line about what was found in data, for a person to know. It stops nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    words: String,
    leaves_out: bool,
}

impl Remark {
    /// True if lines of the data are left out that no count at the end holds.
    #[must_use]
    pub fn leaves_out(&self) -> bool {
        self.leaves_out
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// A text that was read in one of several ways.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Finding {
    /// A column of the numbers of the rows.
    #[cfg(feature = "arrow")]
    #[error("{file}: column {name:?} holds the numbers of the rows, as pandas keeps them, and is left out")]
    Index { file: String, name: String },
    /// A number with a mark between its thousands, which nobody told.
    #[error(
        "{cell}: {} is read as {value}, because {mark}s separate thousands; overrule this with --thousands or --decimal",
        Quoted(text)
    )]
    ReadAsThousands { cell: CellPlace, text: String, value: f64, mark: Thousands },
    /// Lines above a table that are none of its rows: the first of them, and that of the table.
    #[error(
        "{file}, line {first}: stands above the table, which begins on line {table} with fuller rows, and is left out with what follows it; --header yes takes it for the names, --header no for the first row"
    )]
    LeftAbove { file: String, first: u64, table: u64 },
    /// A row that may sum up those above it.
    #[error(
        "{cell}: {} {}",
        Quoted(text),
        if *left { "sums up other rows and is left out, as are rows like it; --keep-totals keeps them" }
        else { "may mean that this row sums up others; it is read as a row like them: remove it if it does" }
    )]
    CalledSum { cell: CellPlace, text: String, left: bool },
    /// A key of an object that is in none of the rows by which the columns are known.
    #[error(
        "{line}: the key {} is in none of the first rows, by which the columns are known; it is left out",
        Quoted(key)
    )]
    LateKey { line: Line, key: String },
    /// More such keys than are told one by one.
    #[error("{0}: more keys are in none of the first rows; they are left out, too")]
    LateKeys(Line),
    /// A header with one name less than its rows have cells.
    #[error(
        "{0}: has one name less than the rows below have cells, as R writes tables; their first cells are a column called \"\""
    )]
    RowNames(Line),
    /// A line among the rows that begins with `#` and has cells, but not as many as a row.
    #[error(
        "{0}: begins with # and has other cells than a row, so that it is taken for a comment, as are lines like it"
    )]
    Comment(Line),
    /// Quotes within quotes that a backslash stands before.
    #[error(
        "{0}: has quotes in a cell behind a backslash, as data bases write them; they are read so, here and in all rows below"
    )]
    Escapes(Line),
    /// Two lines of types and roles, with the name of the class where another column is the last.
    #[error(
        "{line}: begins two lines of types and roles, as Orange writes them; they are no rows{}",
        class.as_ref().map_or(String::new(), |class| format!(", and the class is {} (--target)", Quoted(class)))
    )]
    Orange { line: Line, class: Option<String> },
    /// A table with lines and bars around its cells.
    #[error(
        "{line}: is a table as a terminal prints it: bars separate its cells, and its lines of dashes are no rows{}",
        title.map_or(String::new(), |first| format!("; what stands above it, from line {first} on, is left out"))
    )]
    Printed { line: Line, title: Option<u64> },
    /// The sheet of a spreadsheet that is read, where there are others.
    #[cfg(feature = "spreadsheet")]
    #[error("{file}: the sheet {} is read, and {others} more {} not; save another as CSV to read it", Quoted(sheet), if *others == 1 { "is" } else { "are" })]
    Sheet { file: String, sheet: String, others: usize },
    /// A text of another encoding than UTF-8.
    #[error("{file}: is {encoding}, and is read as such")]
    Encoding { file: String, encoding: &'static str },
    /// A line, the first of them, that is not UTF-8.
    #[error(
        "{0}: is not UTF-8; it and lines like it are read as Windows-1252: save the file as UTF-8 if its letters are others"
    )]
    Windows1252(Line),
    /// A separator behind the last cell of lines, of which this is the first.
    #[error("{0}: the separator at the end of lines separates nothing; --header no takes it for one more column")]
    EndsLines(Line),
}

impl Finding {
    pub(crate) fn remark(&self) -> Remark {
        let leaves_out =
            matches!(self, Self::LeftAbove { .. } | Self::Comment(_) | Self::Printed { title: Some(_), .. });
        Remark { words: self.to_string(), leaves_out }
    }
}

/// Delimited text, or what was said of it, that may mean two things or nothing.
/// [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// A name of the dialect was not understood.
    #[error("{} {why}", Quoted(name))]
    UnknownName {
        /// The name given.
        name: String,
        /// Complaint about the name, with the names that may be said.
        why: &'static str,
    },
    /// A first line that tells a separator which is none.
    #[error(
        "{line}: {} tells no separator; they are comma, semicolon, tab, bar, spaces, or a mark such as ~",
        Quoted(text)
    )]
    UnknownHint {
        /// Where.
        line: Line,
        /// The line.
        text: String,
    },
    /// Commas are to separate cells and to stand in numbers.
    #[error(
        "{file}: commas cannot both separate cells and stand in numbers; say another separator or the decimal point"
    )]
    CommaTwice {
        /// The file.
        file: String,
    },
    /// One mark is to stand before fractions and between thousands.
    #[error(
        "{file}: the decimal mark and the mark between thousands cannot both be the {mark}; say one of them otherwise"
    )]
    MarkTwice {
        /// The file.
        file: String,
        /// The mark.
        mark: Decimal,
    },
    /// Every line is a comment.
    #[error(
        "{file}: every line begins with #, which makes it a comment; add rows, or put the first cell of each in quotes"
    )]
    OnlyComments {
        /// The file.
        file: String,
    },
    /// A number with a decimal comma among numbers with decimal points, or the other way round.
    #[error(
        "{cell}: {} has another decimal mark than {}; write all numbers with the same, or say which it is (--decimal, --thousands)",
        Quoted(value),
        if cell.line.number == *first { "another cell of its line".to_owned() } else { format!("line {first}") }
    )]
    MixedDecimals {
        /// Where.
        cell: CellPlace,
        /// The number.
        value: String,
        /// The line that showed the other.
        first: u64,
    },
    /// A number with a fraction, or in thousands, and nothing tells which.
    #[error(
        "{cell}: {} may mean {} or {}; say which with --thousands {mark} or --decimal {mark}",
        Quoted(value),
        value.replace(['.', ','], ""),
        value.replace(',', ".")
    )]
    DoubtfulMark {
        /// Where.
        cell: CellPlace,
        /// The number.
        value: String,
        /// Its mark.
        mark: Thousands,
    },
}
