//! Errors: the values that a forecaster refuses, and why.

use mercer_core::{ExampleError, ParameterError};

/// Why a forecaster could not be made, or did not take a row. It is as it was before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row that cannot be taken.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// Forecasters that cannot be aggregated.
    #[error(transparent)]
    Experts(#[from] mercer_experts::Error),
    /// A matrix of a model that does not fit the others.
    #[error("matrix {name} needs {expected} finite numbers, row by row, got {got}")]
    Shape {
        /// Name of the matrix.
        name: &'static str,
        /// Numbers it needs.
        expected: usize,
        /// Finite numbers it has.
        got: usize,
    },
    /// A model whose Riccati equation has no stabilising solution.
    #[error(
        "the model has no stable steady-state filter; its modes that do not decay must be seen by \
         C, those that neither decay nor grow be driven by Q, and R be positive definite"
    )]
    NoStableFilter,
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}
