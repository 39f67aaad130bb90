//! What is wrong with delimited text as such.

use std::fmt;

use super::place::CellPlace;
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

/// Delimited text, or what was said of it, that may mean two things or nothing.
/// [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// A separator's name was not understood.
    #[error("{} is not a separator; they are comma, semicolon, tab, bar and spaces", Quoted(name))]
    UnknownSeparator {
        /// What was given.
        name: String,
    },
    /// The name of a decimal mark was not understood.
    #[error("{} is not a decimal mark; they are point and comma", Quoted(name))]
    UnknownDecimal {
        /// What was given.
        name: String,
    },
    /// The name of a mark between thousands was not understood.
    #[error("{} is not a mark between thousands; they are point, comma, blank, apostrophe and none", Quoted(name))]
    UnknownThousands {
        /// What was given.
        name: String,
    },
    /// What was said of a header was not understood.
    #[error("{} does not say whether there is a header; say yes, no or auto", Quoted(name))]
    UnknownHeader {
        /// What was given.
        name: String,
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
