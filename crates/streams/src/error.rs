//! Errors of simulations.

use mercer_core::ParameterError;
use mercer_readers::DataError;

/// Why a stream cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A matrix has not the entries it should have.
    #[error("the matrix {matrix} has {got} entries; it must have {rows} rows of {columns} finite numbers")]
    MatrixShape {
        /// Which.
        matrix: &'static str,
        /// Rows needed.
        rows: usize,
        /// Columns needed.
        columns: usize,
        /// Entries given.
        got: usize,
    },
    /// A covariance is none.
    #[error("the matrix {matrix} is not a covariance; it must be symmetric and positive semidefinite")]
    NotCovariance {
        /// Which.
        matrix: &'static str,
    },
    /// Numbers of another dimension than the table or the system has.
    #[error(transparent)]
    Table(#[from] DataError),
}
