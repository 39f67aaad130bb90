//! Errors: the values that a learner refuses, and why.

use mercer_core::{ExampleError, Number, ParameterError};
use mercer_kernels::KernelError;

/// Why a learner could not be made, or did not take an example. The learner is as it was before the
/// call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An example that cannot be taken.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// Experts that cannot be aggregated.
    #[error(transparent)]
    Experts(#[from] mercer_experts::Error),
    /// A target that the learner's loss does not take.
    #[error("the loss {loss} takes {takes} as targets, got {}; change the target or the loss", Number(*got))]
    Target {
        /// Name of the loss.
        loss: &'static str,
        /// The targets that it takes.
        takes: &'static str,
        /// The target given.
        got: f64,
    },
    /// Targets that are no whole rows, or weights that are not as many.
    #[error(
        "{numbers} numbers and {weights} weights make no targets of {width} numbers; give {width} numbers and one weight (or no weights) for each row"
    )]
    Targets {
        /// Numbers given.
        numbers: usize,
        /// Numbers in a target.
        width: usize,
        /// Weights given.
        weights: usize,
    },
    /// Features that appear late, in a learner that cannot take them.
    #[error("this learner cannot take further features; make a new one with all of them")]
    FixedInputs,
    /// An output that appears late, in a learner that cannot take it.
    #[error("this learner cannot take further outputs; make a new one with all of them")]
    FixedOutputs,
    /// A loss that the update cannot minimise.
    #[error("{update} cannot minimise the loss {loss}; take {instead}")]
    Loss {
        /// The update.
        update: &'static str,
        /// The loss.
        loss: &'static str,
        /// The losses it can minimise.
        instead: &'static str,
    },
    /// Intervals in standard deviations of a learner that tells none.
    #[error(
        "this learner has no variance to scale intervals by; take intervals of absolute errors, or a least-squares learner"
    )]
    NoVariance,
    /// A kernel with another value of `k(x, x)` than 1, in a learner for which that is assumed.
    #[error(
        "this learner needs a kernel with k(x,x) = 1, but here it is {}; take gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA or matern52:SIGMA",
        Number(*.0)
    )]
    SelfValue(f64),
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A kernel parameter outside its range.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
