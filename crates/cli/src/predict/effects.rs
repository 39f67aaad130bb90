//! The strongest effects of columns on the prediction of a row.

use std::num::NonZeroUsize;

use mercer_session::explain::{ExplainedColumns, Explanation, RowExplainers, SHARED};
use mercer_session::{Row, RowPrediction, Session};

use super::PredictArguments;
use crate::data::rows::TimedSource;
use crate::explain::refuse_others;
use crate::model::cells::{AnswerValue, EffectPart};
use crate::report::failure::Failure;

/// What is told of effects, whatever the rows.
pub(super) struct EffectColumns {
    columns: ExplainedColumns,
    background: Vec<Vec<f64>>,
    top: usize,
    permutations: usize,
    is_sampled: bool,
}

impl EffectColumns {
    /// The `top` strongest effects on what a model predicts.
    ///
    /// # Errors
    /// A model whose effects are not told, or that keeps no rows to compare with.
    pub(super) fn of(
        model: &Session,
        rows: &TimedSource,
        top: NonZeroUsize,
        arguments: &PredictArguments,
    ) -> Result<Self, Failure> {
        let path = arguments.model.display();
        refuse_others(model, &arguments.model)?;
        if model.background.is_empty() {
            return Err(Failure::because(format!(
                "{path}: keeps no rows with which others could be compared, for it was fitted to sums; mercer explain compares \
                 with the first rows of DATA"
            )));
        }
        let columns = ExplainedColumns::new(model, rows.input().columns().features());
        let background = model.background.rows(model.dimension());
        let known = columns.names().iter().filter(|name| *name != SHARED).count();
        let (top, permutations) = (top.get().min(known), arguments.permutations.get());
        let mut made = Self { columns, background, top, permutations, is_sampled: false };
        let exact = made.explainers(model).is_exact();
        made.is_sampled = !exact.map_err(|error| Failure::because(format!("{path}: {error}")))?;
        Ok(made)
    }

    fn explainers<'a>(&'a self, model: &'a Session) -> RowExplainers<'a> {
        RowExplainers::new(model, &self.columns, &self.background, self.permutations, 0)
    }

    /// Effects that are told.
    pub(super) fn top(&self) -> usize {
        self.top
    }

    /// True if they have standard errors.
    pub(super) fn is_sampled(&self) -> bool {
        self.is_sampled
    }
}

/// The effects on the prediction of the row at hand.
pub(super) struct RowEffects<'a> {
    columns: &'a EffectColumns,
    explainers: RowExplainers<'a>,
    model: &'a Session,
    explanation: Option<Explanation>,
    /// Columns, those with the strongest effects first.
    order: Vec<usize>,
}

impl<'a> RowEffects<'a> {
    pub(super) fn new(columns: &'a EffectColumns, model: &'a Session) -> Self {
        let explainers = columns.explainers(model);
        Self { columns, explainers, model, explanation: None, order: Vec::new() }
    }

    /// Explains the answer of a row.
    ///
    /// # Errors
    /// In words.
    pub(super) fn explain(&mut self, row: &Row, answer: &RowPrediction) -> Result<(), String> {
        let inputs = self.model.inputs(row).map_err(|error| error.to_string())?;
        self.explanation = self.explainers.explain(&inputs, answer).map_err(|error| error.to_string())?;
        let Some(Explanation { effects, .. }) = &self.explanation else { return Ok(()) };
        // What columns share mostly does nothing.
        let names = self.columns.columns.names();
        self.order = (0..effects.len()).filter(|j| effects[*j] != 0.0 || names[*j] != SHARED).collect();
        self.order.sort_by(|a, b| effects[*b].abs().total_cmp(&effects[*a].abs()));
        Ok(())
    }

    pub(super) fn top(&self) -> usize {
        self.columns.top
    }

    /// The prediction where no column is known.
    pub(super) fn base(&self) -> Option<f64> {
        self.explanation.as_ref().map(|explanation| explanation.base)
    }

    /// The sum of the effects that are not told.
    pub(super) fn others(&self) -> Option<f64> {
        let Explanation { effects, .. } = self.explanation.as_ref()?;
        Some(self.order.iter().skip(self.top()).fold(0.0, |sum, j| sum + effects[*j]))
    }

    /// A part of the effect with that rank, from 0.
    pub(super) fn value(&self, rank: usize, part: EffectPart) -> Option<AnswerValue<'_>> {
        let Explanation { effects, standard_errors, .. } = self.explanation.as_ref()?;
        let j = *self.order.get(rank)?;
        match part {
            EffectPart::Column => Some(AnswerValue::Name(&self.columns.columns.names()[j])),
            EffectPart::Size => Some(AnswerValue::Number(effects[j])),
            EffectPart::Error => standard_errors.get(j).copied().map(AnswerValue::Number),
        }
    }
}
