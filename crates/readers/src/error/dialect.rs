//! What is wrong with delimited text as such.

use super::place::CellPlace;
use super::shown::Quoted;

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
        "{cell}: {} has another decimal mark than line {first}; write all numbers with the same, or say which it is (--decimal)",
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
    /// A number in groups of thousands.
    #[error("{cell}: {} is written in thousands; write it without their separator", Quoted(value))]
    Thousands {
        /// Where.
        cell: CellPlace,
        /// The number.
        value: String,
    },
    /// A number with a decimal comma, or in thousands, and nothing tells which.
    #[error(
        "{cell}: {} may be in thousands or have a decimal comma; say which it is (--decimal point or comma)",
        Quoted(value)
    )]
    DoubtfulDecimal {
        /// Where.
        cell: CellPlace,
        /// The number.
        value: String,
    },
}
