//! Errors: the pairs and values that a learner of operators refuses, and why.

use mercer_core::{ExampleError, Number, ParameterError};

/// Why an operator could not be learnt, read off or used. The learner is as it was before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A pair that cannot be taken.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// A table of values (an observable, weights, a policy's actions) of another length than the
    /// operator needs.
    #[error("{expected} values are needed, one for each entry or point of the operator, got {got}")]
    Values {
        /// Number of values needed.
        expected: usize,
        /// Number of values given.
        got: usize,
    },
    /// A value in a table that is NaN or infinite.
    #[error("value {index} of the table is {value}; every value must be a finite number")]
    NonFiniteValue {
        /// Which value, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A step of operator learning too long to be stable.
    #[error(
        "a step of {} at an input with k(x,x) = {} and lambda = {} is unstable: eta·(k(x,x) + lambda) must stay below 2; take eta \
         below {}",
        Number(*eta),
        Number(*self_value),
        Number(*lambda),
        Number(2.0 / (self_value + lambda))
    )]
    UnstableStep {
        /// The step size `η_t`.
        eta: f64,
        /// `k(x, x)`
        self_value: f64,
        /// The regulariser `λ`.
        lambda: f64,
    },
    /// Inputs and outputs of a batch that are not as many.
    #[error(
        "{inputs} inputs and {outputs} outputs do not make pairs; give one output for each input, and at least one pair"
    )]
    Pairs {
        /// Number of inputs.
        inputs: usize,
        /// Number of outputs.
        outputs: usize,
    },
    /// Too few pairs for what is asked.
    #[error("{got} pairs are too few, at least {needed} are needed; give more data")]
    TooFewPairs {
        /// Pairs learnt.
        got: u64,
        /// Pairs that are needed.
        needed: u64,
    },
    /// Modes that do not make so many almost invariant sets.
    #[error("the modes do not make {asked} sets{}", numbers(fit))]
    NoSets {
        /// Sets asked for.
        asked: usize,
        /// Numbers of sets that they make; none if that is not known.
        fit: Vec<usize>,
    },
    /// Two learners to be merged with other scales or dictionaries.
    #[error(
        "the two have other scales or dictionaries, so their sums do not add up; learn both parts from forks of one \
         learner"
    )]
    OtherFeatures,
    /// A system of equations without a solution in floating point.
    #[error(transparent)]
    Singular(#[from] mercer_linalg_incremental::Singular),
    /// An eigenvalue iteration that failed.
    #[error(transparent)]
    NoConvergence(#[from] mercer_linalg_incremental::NoConvergence),
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// Numbers of sets that may be asked for, for a message.
fn numbers(fit: &[usize]) -> String {
    match fit {
        [] => ": the states do not tell so many apart; ask for fewer".to_owned(),
        [only] => format!("; ask for {only}"),
        _ => format!("; ask for one of {}", fit.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
