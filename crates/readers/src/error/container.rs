//! Damage to the container of the rows: compressed bytes, a JSON array, a file of columns.

use std::io;

use super::place::Column;
use super::shown::Cut;
use crate::compressed::Compression;
use crate::format::Format;

/// Errors of the container of the rows. [`Display`](std::fmt::Display) is always one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// A name promises compression that the bytes do not have.
    #[error(
        "{file}: is not {compression} although its name ends in .{}; take the ending off, or compress the file",
        compression.ending()
    )]
    NotCompressed {
        /// The file.
        file: String,
        /// The compression that its name promises.
        compression: Compression,
    },
    /// The file is something that is not read, or of another format than was said.
    #[error("{file}: is {kind}; {remedy}")]
    OtherKind {
        /// The file.
        file: String,
        /// The kind of the file.
        kind: &'static str,
        /// Advice about the file.
        remedy: &'static str,
    },
    /// The compressed bytes are damaged or cut short.
    #[error(
        "{file}: the {compression} data is damaged or cut short after line {line} ({source}); fetch or compress the file again"
    )]
    Damaged {
        /// The file.
        file: String,
        /// The compression of the file.
        compression: Compression,
        /// The last line that came out whole.
        line: u64,
        /// The decoder's error.
        source: io::Error,
    },
    /// The compressed bytes need more memory than is given to them.
    #[error("{file}: is {compression}, but {source}")]
    LongWindow {
        /// The file.
        file: String,
        /// The compression of the file.
        compression: Compression,
        /// The window, and the longest that is read.
        source: io::Error,
    },
    /// The file is not what its format says, or in a form that is not read.
    #[error("{file}: cannot be read as {format} ({why}); write the file again, or as csv")]
    Columnar {
        /// The file.
        file: String,
        /// The format.
        format: Format,
        /// The damage.
        why: String,
    },
    /// A column holds something else than single values.
    #[error(
        "{file}, {column}: holds values of type {}; leave the column out (--ignore), or write what it holds as columns of its own",
        Cut(kind)
    )]
    NotSingle {
        /// The file.
        file: String,
        /// The column.
        column: Column,
        /// The type of its values.
        kind: String,
    },
    /// The program was built without what reads this format.
    #[error(
        "{file}: {format} is not read by this build; build it with the feature {}, or write the file as csv",
        if *format == Format::Spreadsheet { "spreadsheet" } else { "arrow" }
    )]
    NotBuilt {
        /// The file.
        file: String,
        /// The format.
        format: Format,
    },
    /// Rows that come only once are too many to be put into a random order.
    #[error(
        "{file}: the first {rows} rows have more than {bytes} bytes, too many to be held for a random order; write them to a file, and shuffle that"
    )]
    TooLongToPermute {
        /// The source.
        file: String,
        /// Rows that were held.
        rows: usize,
        /// The most bytes.
        bytes: usize,
    },
    /// A JSON array is damaged between its rows or cut short.
    #[error("{file}: expected {expected}, after row {row} of the JSON array; mend it, or write one object a line")]
    BadArray {
        /// The file.
        file: String,
        /// The last row that came out whole.
        row: u64,
        /// The text that should stand there.
        expected: &'static str,
    },
}
