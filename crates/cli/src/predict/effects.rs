//! The strongest effects of columns on the prediction of a row.

use std::num::NonZeroUsize;

use mercer_session::explain::{Explanation, Ground, RowExplainers, SHARED};
use mercer_session::{Row, RowPrediction, Session};

use super::PredictArguments;
use crate::data::rows::TimedSource;
use crate::explain::{asked_output, kept_ground};
use crate::model::cells::{AnswerValue, EffectPart};
use crate::report::failure::Failure;

/// What is told of effects, whatever the rows.
pub(super) struct EffectColumns {
    ground: Ground,
    top: usize,
    permutations: usize,
    /// The place of the number that is explained.
    output: usize,
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
        let output = asked_output(model, arguments.output.as_deref(), &arguments.model)?;
        let ground = kept_ground(model, rows.input().columns().features(), &arguments.model)?;
        let known = ground.names().iter().filter(|name| *name != SHARED).count();
        // Sparse rows have columns of their own, of which there is no end.
        let top = if known == 0 { top.get() } else { top.get().min(known) };
        let mut made = Self { ground, top, permutations: arguments.permutations.get(), output, is_sampled: false };
        let exact = made.explainers(model).is_exact();
        made.is_sampled =
            !exact.map_err(|error| Failure::because(format!("{}: {error}", arguments.model.display())))?;
        Ok(made)
    }

    fn explainers<'a>(&'a self, model: &'a Session) -> RowExplainers<'a> {
        RowExplainers::new(model, &self.ground, self.permutations, 0).output(self.output)
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
    explanation: Option<Explanation>,
    /// Columns, those with the strongest effects first.
    order: Vec<usize>,
}

impl<'a> RowEffects<'a> {
    pub(super) fn new(columns: &'a EffectColumns, model: &'a Session) -> Self {
        let explainers = columns.explainers(model);
        Self { columns, explainers, explanation: None, order: Vec::new() }
    }

    /// Explains the answer of a row.
    ///
    /// # Errors
    /// In words.
    pub(super) fn explain(&mut self, row: &Row, answer: &RowPrediction) -> Result<(), String> {
        self.explanation = self.explainers.explain(row, answer).map_err(|error| error.to_string())?;
        let Some(Explanation { effects, names, .. }) = &self.explanation else { return Ok(()) };
        // What columns share mostly does nothing.
        let names = if names.is_empty() { self.columns.ground.names() } else { names };
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
        let Explanation { effects, standard_errors, names, .. } = self.explanation.as_ref()?;
        let j = *self.order.get(rank)?;
        let names = if names.is_empty() { self.columns.ground.names() } else { names };
        match part {
            EffectPart::Column => Some(AnswerValue::Name(&names[j])),
            EffectPart::Size => Some(AnswerValue::Number(effects[j])),
            EffectPart::Error => standard_errors.get(j).copied().map(AnswerValue::Number),
        }
    }
}
