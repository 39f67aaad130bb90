//! Errors of this crate.

use mercer_core::ParameterError;

use crate::face::Face;

/// Why a schema, a transform or a pipeline could not do what it was asked for. It is as it was
/// before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A record with another number of cells than there are columns.
    #[error(
        "the record has {got} cells, but there are {expected} columns; give one cell for each, and `Missing` where there is no value"
    )]
    Cells {
        /// Number of columns.
        expected: usize,
        /// Number of cells.
        got: usize,
    },
    /// A column that is asked for and does not exist.
    #[error("there is no column {name:?}; the columns are {known}")]
    NoColumn {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two columns of the same name.
    #[error(
        "columns {first} and {second} are both called {name:?}; rename one, so that columns can be told by their names"
    )]
    SameName {
        /// The name.
        name: String,
        /// The place of the first of them, from 1.
        first: usize,
        /// The place of the second.
        second: usize,
    },
    /// Not a single column of a file is one of the schema.
    #[error("none of the columns {found} is one that the model knows; it needs {needed}")]
    NoMatch {
        /// Names in the file.
        found: String,
        /// Names in the schema.
        needed: String,
    },
    /// A file without names that has another number of columns.
    #[error("the columns have no names, and there are {got} of them where {expected} are needed")]
    Width {
        /// Columns of the schema.
        expected: usize,
        /// Columns of the file.
        got: usize,
    },
    /// `NAME=KIND` that cannot be read.
    #[error(
        "{0:?} is not NAME=KIND with KIND one of number, duration, category, mean, time, text, identifier, or for times dmy, mdy, ymd"
    )]
    Override(String),
    /// A column whose cells are not of the kind that is told.
    #[error(
        "column {name:?} is told to be a {kind}, but {value:?} is none; tell another kind, or leave the column out"
    )]
    Unreadable {
        /// The column.
        name: String,
        /// The first cell that cannot be read.
        value: String,
        /// The kind that it is told to be.
        kind: &'static str,
    },
    /// A column whose cells may be read in two ways.
    #[error("column {name:?}: {value:?} may be read in two ways; {remedy}")]
    Doubtful {
        /// The column.
        name: String,
        /// One of the cells.
        value: String,
        /// The option that settles it.
        remedy: String,
    },
    /// A name of a scaling that does not exist.
    #[error("{0:?} is not a scaling; take none, standard, robust or range")]
    Scale(String),
    /// No column is left to learn from.
    #[error(
        "no column is left to learn from: every one is ignored, empty or set aside; name some with an override such as NAME=category"
    )]
    NothingLeft,
    /// No column is left to learn from, and of one it is in doubt what it is.
    #[error("column {name:?}: {why}; no other column is left to learn from")]
    OneInDoubt {
        /// The column.
        name: String,
        /// The doubt, and the option that settles it.
        why: String,
    },
    #[cfg(feature = "learners")]
    /// A learner made for inputs of another dimension.
    #[error("the learner was made for inputs of dimension {learner}, but the columns are encoded to {encoded} numbers")]
    Dimension {
        /// The learner's.
        learner: usize,
        /// The transform's.
        encoded: usize,
    },
    #[cfg(feature = "learners")]
    /// A learner whose loss has no units.
    #[error("targets are scaled for the squared loss, not for {loss}; leave them as they are")]
    Loss {
        /// Name of the loss.
        loss: &'static str,
    },
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    #[cfg(feature = "learners")]
    /// The learner's own error.
    #[error(transparent)]
    Learner(#[from] mercer_learners::Error),
}

impl EncodingError {
    /// The same with the remedy as this reader writes it.
    #[must_use]
    pub fn said(&self, face: Face) -> String {
        match self {
            Self::Doubtful { name, .. } | Self::OneInDoubt { name, .. } => face.said(name, &self.to_string()),
            _ => self.to_string(),
        }
    }
}

/// A value for a message, in quotes and not too long.
pub(crate) fn quoted(value: &str) -> String {
    const SHOWN: usize = 40;
    let mut begin: String = value.chars().take(SHOWN).collect();
    begin.push_str(if value.chars().nth(SHOWN).is_some() { "…" } else { "" });
    format!("{begin:?}")
}

/// Names for a message: the first few.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let mut text = names.take(SHOWN).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    if text.is_empty() { "none".to_owned() } else { text }
}
