//! Errors: the values that an aggregation of experts refuses.

/// Why a round was not learnt, or its predictions were not mixed. The weights are as they were
/// before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Not one value (or row of values) for each expert.
    #[error("expected {expected} numbers, those of every expert, got {got}")]
    Experts {
        /// Number of values needed.
        expected: usize,
        /// Number of values given.
        got: usize,
    },
    /// Every expert of a mixture has failed.
    #[error(
        "no expert of the mixture is left: all have diverged; take smaller steps, larger regularisers or scaled data"
    )]
    NoExpertLeft,
}
