//! Where something is wrong.

use std::fmt;

use super::shown::Quoted;

/// The unit of a number that tells a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// Lines of text.
    #[default]
    Lines,
    /// Rows, in a file that has no lines or may have several rows on one: a JSON array, Parquet or
    /// Arrow.
    Rows,
}

/// A line of a file, or a row of one without lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file's name as it was given, or `standard input`.
    pub file: String,
    /// The line, from 1. A record of several lines is known by its first.
    pub number: u64,
    /// The unit of the number.
    pub counts: Counts,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = match self.counts {
            Counts::Lines => "line",
            Counts::Rows => "row",
        };
        write!(f, "{}, {counted} {}", self.file, self.number)
    }
}

/// A column, by number and, where the file has names, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column, from 1.
    pub number: usize,
    /// Its name, if the file gives one.
    pub name: Option<String>,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}", self.number)?;
        match &self.name {
            Some(name) => write!(f, " ({})", Quoted(name)),
            None => Ok(()),
        }
    }
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellPlace {
    /// Its line.
    pub line: Line,
    /// Its column.
    pub column: Column,
}

impl fmt::Display for CellPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.line, self.column)
    }
}
