//! Where something is wrong.

use std::fmt;

use super::shown::Quoted;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file's name as it was given, or `standard input`.
    pub file: String,
    /// The line, from 1. A record of several lines is known by its first.
    pub number: u64,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.number)
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
pub struct Cell {
    /// Its line.
    pub line: Line,
    /// Its column.
    pub column: Column,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.line, self.column)
    }
}
