//! Models that are no formula, by name.

use mercer_encoding::NoRecipe;

/// Why a model cannot be written as a program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A column that has no recipe.
    #[error("{0}, which has no formula outside of Mercer")]
    Column(#[from] NoRecipe),
    /// A learner whose function is no sum of known parts.
    #[error("learner {0} is no sum of kernels at points, of random features or of a linear function")]
    Learner(String),
    /// Classes.
    #[error("the model predicts classes; numbers alone are exported")]
    Classes,
    /// Several numbers.
    #[error("the model predicts {0} numbers; one alone is exported")]
    Outputs(usize),
    /// A model for each group.
    #[error("the model has models of groups; one model alone is exported")]
    Groups,
    /// Values that stand for none, which its program would read as they are.
    #[error("the model counts cells with {0} as missing, and a program would take them as they are")]
    Gaps(String),
    /// No scale of the targets so far.
    #[error("the model has learnt so few rows that it predicts their mean")]
    Untaught,
    /// A loss whose predictions are no sums.
    #[error("the loss {0} predicts the exponential of a sum")]
    Loss(String),
    /// A number of the formula that is not finite.
    #[error("a coefficient of the model is no finite number")]
    NotFinite,
    /// The sum of the parts is not the prediction.
    #[error("the formula is not the prediction: {formula} for {prediction}")]
    Unlike {
        /// The value of the formula.
        formula: f64,
        /// That of the model.
        prediction: f64,
    },
}
