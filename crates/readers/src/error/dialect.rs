//! What is wrong with delimited text as such.

use std::fmt;

use super::place::{CellPlace, Line};
use super::shown::Quoted;
use crate::dialect::{Decimal, Thousands};

/// A number that is read with a mark between its thousands, which nobody told.
pub(crate) struct ReadAsThousands {
    pub(crate) cell: CellPlace,
    pub(crate) text: String,
    pub(crate) value: f64,
    pub(crate) mark: Thousands,
}

impl fmt::Display for ReadAsThousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, text, value, mark } = self;
        let text = Quoted(text);
        write!(
            f,
            "{cell}: {text} is read as {value}, because {mark}s separate thousands; overrule this with --thousands or --decimal"
        )
    }
}

/// Lines above a table that are none of its rows.
pub(crate) struct LeftAbove {
    pub(crate) file: String,
    /// The first of them.
    pub(crate) first: u64,
    /// The first line of the table.
    pub(crate) table: u64,
}

impl fmt::Display for LeftAbove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, first, table } = self;
        write!(
            f,
            "{file}, line {first}: stands above the table, which begins on line {table} with fuller rows, and is left out with what follows it; --header yes or no takes it for the first row"
        )
    }
}

/// A row that may sum up those above it.
pub(crate) struct CalledSum {
    pub(crate) cell: CellPlace,
    pub(crate) text: String,
}

impl fmt::Display for CalledSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, text } = self;
        let text = Quoted(text);
        write!(
            f,
            "{cell}: {text} may mean that this row sums up others; it is read as a row like them: remove it if it does"
        )
    }
}

/// A header with one name less than its rows have cells.
pub(crate) struct RowNames(pub(crate) Line);

impl fmt::Display for RowNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: has one name less than the rows below have cells, as R writes tables; their first cells are a column called \"\"",
            self.0
        )
    }
}

/// A separator behind the last cell of lines, of which this is the first.
pub(crate) struct EndsLines(pub(crate) Line);

impl fmt::Display for EndsLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: the separator at the end of lines separates nothing; --header no takes it for one more column",
            self.0
        )
    }
}

/// Delimited text, or what was said of it, that may mean two things or nothing.
/// [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// What was said of the dialect was not understood.
    #[error("{} {why}", Quoted(name))]
    UnknownName {
        /// What was given.
        name: String,
        /// What it is not, and what may be said.
        why: &'static str,
    },
    /// A first line that tells a separator which is none.
    #[error("{line}: {} tells no separator; they are comma, semicolon, tab, bar and spaces", Quoted(text))]
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
    /// The text has two bytes a character.
    #[error("{file}: is UTF-16; save it as UTF-8")]
    Utf16 {
        /// The file.
        file: String,
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
        "{cell}: {} has another decimal mark than line {first}; write all numbers with the same, or say which it is (--decimal, --thousands)",
        Quoted(value)
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
