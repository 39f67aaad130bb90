//! An example that cannot be taken: what learners, forecasters and operators refuse alike.

/// Why an example was not taken. Whatever refuses it is as it was before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExampleError {
    /// An input of another dimension than the learner's.
    #[error("the input has {got} coordinates, but the learner was made for {expected}")]
    Dimension {
        /// The learner's dimension.
        expected: usize,
        /// The input's.
        got: usize,
    },
    /// A block whose inputs are not `rows × dimension` numbers.
    #[error("a block of {rows} rows of dimension {dimension} needs {} numbers, got {inputs}", rows * dimension)]
    Block {
        /// Numbers given.
        inputs: usize,
        /// Targets given.
        rows: usize,
        /// The learner's dimension.
        dimension: usize,
    },
    /// An input coordinate that is NaN or infinite.
    #[error("coordinate {index} of the input is {value}; drop the example or replace missing values by numbers")]
    NonFiniteInput {
        /// Which coordinate, from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A target that is NaN or infinite.
    #[error("the target is {0}; drop the example or replace missing values by numbers")]
    NonFiniteTarget(f64),
    /// An output, or room for a prediction, of another length than the outputs.
    #[error("{expected} numbers are needed for the outputs, got {got}")]
    Outputs {
        /// Numbers in an output.
        expected: usize,
        /// Numbers given.
        got: usize,
    },
    /// A kernel value, a feature or a prediction that overflowed.
    #[error(
        "the kernel overflows at this input, or a feature of it; scale the inputs or take a bounded kernel such as gaussian:SIGMA"
    )]
    KernelOverflow,
    /// An update that would leave the range of numbers.
    #[error(
        "the learner diverged: this update is not finite, and was not made; take a smaller step, a larger regulariser or scaled data"
    )]
    Diverged,
}

/// Refuses an input that is not a finite vector of dimension `dimension`.
///
/// # Errors
/// [`ExampleError::Dimension`] and [`ExampleError::NonFiniteInput`].
#[inline]
pub fn check_input(x: &[f64], dimension: usize) -> Result<(), ExampleError> {
    if x.len() != dimension {
        return Err(ExampleError::Dimension { expected: dimension, got: x.len() });
    }
    match x.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(ExampleError::NonFiniteInput { index, value: x[index] }),
        None => Ok(()),
    }
}
