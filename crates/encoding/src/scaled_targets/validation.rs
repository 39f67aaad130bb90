//! The states in which scaled targets may be.

use mercer_core::{Inconsistent, Validate};
use mercer_learners::{Regressor, RegressorExt as _};

use super::{ScaledTargets, check_loss};
use crate::open_rows::{Open, STAGES};
use crate::screening::Screening;

impl<R: Regressor + Validate> Validate for ScaledTargets<R> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner behind scales of its targets";
        self.inner.validate()?;
        self.scales.validate()?;
        self.screening.validate()?;
        let outputs = self.inner.outputs();
        if let Some(aside) = &self.aside {
            aside.inner.validate()?;
            aside.scales.validate()?;
            let alike = aside.inner.problem() == self.inner.problem() && [0, outputs].contains(&aside.scales.len());
            let on_trial = self.screening.as_ref().is_some_and(Screening::is_on_trial);
            Inconsistent::require(alike && on_trial, WHAT, "a state is put aside for a level on trial")?;
            aside.open.as_ref().map_or(Ok(()), |open| self.validate_open(open, aside.scales.is_empty()))?;
        }
        for row in &self.waiting {
            row.x.validate()?;
            row.y.validate()?;
            let fits = row.x.len() == self.inner.dimension() && row.y.len() == outputs && row.weight > 0.0;
            Inconsistent::require(fits && row.weight.is_finite(), WHAT, "a row that waits is a row")?;
        }
        let scaled = self.scales.is_empty() || self.scales.len() == outputs;
        Inconsistent::require(scaled, WHAT, "it has a scale for each output")?;
        let finds = self.open.as_ref().is_some_and(|open| open.finds);
        if !self.scales.is_empty() || finds {
            Inconsistent::require(check_loss(self.inner.loss()).is_ok(), WHAT, "its loss is squared")?;
        }
        self.open.as_ref().map_or(Ok(()), |open| self.validate_open(open, self.scales.is_empty()))
    }
}

impl<R: Regressor + Validate> ScaledTargets<R> {
    /// The rows so far are whole, in a state with scales or without.
    fn validate_open(&self, open: &Open<R>, no_scales: bool) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner behind scales of its targets";
        let Open { fresh, inputs, tokens, targets, weights, places, finds } = open;
        let (finds, outputs) = (*finds, self.inner.outputs());
        fresh.validate()?;
        inputs.validate()?;
        targets.validate()?;
        let rows = weights.len();
        let alike = fresh.problem() == self.inner.problem();
        let whole = inputs.len() == rows * fresh.dimension() && targets.len() == rows * outputs;
        let whole = whole && (tokens.is_empty() || tokens.len() == rows);
        let whole = whole && places.len() == rows && (finds || self.screening.is_some());
        let early =
            if finds { rows < STAGES[STAGES.len() - 1] && (rows < STAGES[0]) == no_scales } else { rows < STAGES[0] };
        Inconsistent::require(alike && whole && early, WHAT, "it keeps its first rows until the last stage")?;
        let positive = weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite());
        Inconsistent::require(positive, WHAT, "the rows that it keeps have weights")
    }
}
