//! Effects of the columns of sparse rows: those that are not 0.

use mercer_core::{TokenRow, column_of_key};
use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Input};
use mercer_registry::AnyRegressor;

use super::{Aim, Explanation, ROUNDING};
use crate::answer::StepError;
use crate::model::Task;

/// True if a learner is a sum over the tokens of a row, as far as its loss lets it.
pub(super) fn is_linear(learner: &AnyRegressor<AnyKernel>) -> bool {
    match learner {
        AnyRegressor::Coin(_) | AnyRegressor::DiagonalKalman(_) => true,
        AnyRegressor::Restarting(learner) => is_linear(learner.learner()),
        AnyRegressor::Robust(learner) => is_linear(learner.learner()),
        _ => false,
    }
}

/// Explains the predictions of a learner that is a sum over the columns of a row. An absent column
/// is 0, as nearly all are, so the base is the prediction for a row without any.
pub(super) struct SparseExplainer<'a> {
    task: &'a Task,
    aim: Aim,
    base: f64,
}

impl<'a> SparseExplainer<'a> {
    /// # Errors
    /// The learner's.
    pub(super) fn new(task: &'a Task, aim: Aim) -> Result<Self, Error> {
        let mut made = Self { task, aim, base: 0.0 };
        made.base = made.value(&TokenRow::default())?;
        Ok(made)
    }

    fn value(&self, row: &TokenRow) -> Result<f64, Error> {
        self.aim.of_input(self.task, Input { numbers: &[], tokens: Some(row) })
    }

    /// `w_j x_j` of each column: what the prediction for it alone has more than the base. `O(n)`.
    ///
    /// # Errors
    /// The learner's, and [`StepError::Target`] where these are not the prediction.
    pub(super) fn explain(&self, input: Input<'_>) -> Result<Explanation, StepError> {
        let none = TokenRow::default();
        let row = input.tokens.unwrap_or(&none);
        let (prediction, base) = (self.value(row)?, self.base);
        let (mut alone, mut names, mut effects) = (TokenRow::default(), Vec::new(), Vec::new());
        for token in row.texts() {
            let column = column_of_key(token.key);
            alone.fill_sparse(std::iter::once((column, token.value)));
            // LIBSVM counts from 1.
            names.push(column.wrapping_add(1).to_string());
            effects.push(self.value(&alone)? - base);
        }
        let told = base + effects.iter().sum::<f64>();
        let size = base.abs() + effects.iter().map(|effect| effect.abs()).sum::<f64>();
        if (told - prediction).abs() > ROUNDING * size.max(prediction.abs()) {
            let why = "the prediction is no sum over the columns of the row; a loss such as poisson bends it";
            return Err(StepError::Target(why.into()));
        }
        Ok(Explanation { prediction, base, effects, standard_errors: Vec::new(), names })
    }
}
