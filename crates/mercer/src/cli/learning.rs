//! A regression model that learns row by row, with its file: what `train` and `predict --learn` share.

use mercer::Regressor;
use mercer::model::{Progress, Regression};

use super::bad_rows::BadRows;
use super::failure::Failure;
use super::notes::Watch;
use super::rows::Origin;
use super::saving::Saving;
use super::table::Table;

/// The model and what surrounds it.
pub(crate) struct Learning {
    pub(crate) model: Regression,
    pub(crate) bad: BadRows,
    pub(crate) table: Table,
    pub(crate) saving: Saving,
    pub(crate) watch: Watch,
}

impl Learning {
    /// Predicts the row from there, scaled as the model has it, and learns it. The prediction is in the target's own units; `None`
    /// is a bad row.
    pub(crate) fn learn(
        &mut self,
        origin: &impl Origin,
        features: &mut [f64],
        target: f64,
    ) -> Result<Option<f64>, Failure> {
        // Scaling changes the features, so they are taken note of first.
        let met = self.model.progress.after(features, target);
        match self.step(features, target) {
            Ok(prediction) => {
                self.meet(&met);
                self.saving.checkpoint(met.rows, || self.model.to_bytes())?;
                Ok(Some(prediction))
            }
            Err(why) => {
                self.refuse(format!("{}: {why}", origin.place()), origin, &met)?;
                Ok(None)
            }
        }
    }

    fn step(&mut self, features: &mut [f64], target: f64) -> Result<f64, String> {
        let Regression { learner, scaling, progress, .. } = &mut self.model;
        let mut y = target;
        if let Some(scaling) = scaling {
            scaling.row(features).and_then(|()| scaling.target(target)).map(|scaled| y = scaled).map_err(display)?;
        }
        let prediction = learner.predict_then_update(features, y).map_err(display)?;
        progress.score.record(prediction, y);
        self.watch.record(prediction, y);
        self.table.round(&progress.score, || learner.dictionary_size());
        Ok(scaling.as_ref().map_or(prediction, |scaling| scaling.invert_target(prediction)))
    }

    /// The row from there is no row.
    pub(crate) fn unreadable(&mut self, why: String, origin: &impl Origin) -> Result<(), Failure> {
        let met = self.model.progress.after(&[], f64::NAN);
        self.refuse(why, origin, &met)
    }

    /// A bad row counts as met only when the run goes on, so that one that is mended and resumed sees it again.
    fn refuse(&mut self, why: String, origin: &impl Origin, met: &Progress) -> Result<(), Failure> {
        self.bad.take(why, origin)?;
        self.meet(met);
        self.model.progress.bad += 1;
        self.saving.checkpoint(met.rows, || self.model.to_bytes())
    }

    fn meet(&mut self, met: &Progress) {
        (self.model.progress.rows, self.model.progress.fingerprint) = (met.rows, met.fingerprint);
    }

    /// The last line of the table, and what was left out.
    pub(crate) fn report(&mut self) {
        self.table.end(&self.model.progress.score, self.model.learner.dictionary_size());
        if let Some(report) = self.bad.report() {
            eprintln!("mercer: {report}");
        }
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> &Progress {
        &self.model.progress
    }
}

fn display(error: impl std::fmt::Display) -> String {
    error.to_string()
}
