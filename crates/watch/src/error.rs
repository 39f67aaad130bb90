//! Errors: the rows that are refused.

/// Why a row was not taken. The state is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not one value for each column.
    #[error("expected {expected} columns, got {got}")]
    Columns {
        /// Columns of the stream.
        expected: usize,
        /// Columns of the row.
        got: usize,
    },
}
