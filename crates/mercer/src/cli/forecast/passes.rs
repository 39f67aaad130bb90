//! One pass a group, which share what their experts are worth.

use mercer::forecast::{AnyForecaster, SharedWeights};
use mercer::model::Prediction;

use super::columns::SeriesColumns;
use super::pass::{PassOptions, SeriesPass};
use crate::cli::failure::Failure;

/// The passes of all groups, in the order in which these came; a single one without groups.
pub(super) struct Passes {
    /// What a new group begins with.
    fresh: Prediction,
    columns: SeriesColumns,
    wanted: PassOptions,
    all: Vec<SeriesPass>,
    /// Weights, as of so many rows of all groups.
    shared: SharedWeights,
    rows: usize,
    shared_at: usize,
}

impl Passes {
    pub(super) fn new(model: Prediction, columns: SeriesColumns, wanted: PassOptions) -> Result<Self, Failure> {
        let first = SeriesPass::new(model.clone(), columns.clone(), wanted.clone())?;
        let shared = SharedWeights::default();
        Ok(Self { fresh: model, columns, wanted, all: vec![first], shared, rows: 0, shared_at: 0 })
    }

    /// The pass of a group that has a row, which may be its first.
    pub(super) fn turn_to(&mut self, group: usize) -> Result<&mut SeriesPass, Failure> {
        self.rows += 1;
        while self.all.len() <= group {
            // The weights are gathered anew when there are a quarter more rows.
            if 4 * self.rows > 5 * self.shared_at {
                self.shared_at = self.rows;
                self.shared = SharedWeights::default();
                for seasons in self.all.iter().filter_map(SeriesPass::seasons) {
                    (0..self.columns.outputs.len()).for_each(|output| seasons.mixture(output).share(&mut self.shared));
                }
            }
            let mut model = self.fresh.clone();
            if let AnyForecaster::Seasons(seasons) = &mut model.forecaster {
                seasons.begin_like(&self.shared);
            }
            self.all.push(SeriesPass::new(model, self.columns.clone(), self.wanted.clone())?);
        }
        Ok(&mut self.all[group])
    }

    /// Share of every output's values within their intervals so far, the mean over the groups that
    /// have some.
    pub(super) fn coverage(&self) -> Option<Vec<f64>> {
        let known: Vec<Vec<f64>> = self.all.iter().map(SeriesPass::coverage).collect::<Option<_>>()?;
        let mean = |output: usize| {
            let shares: Vec<f64> = known.iter().map(|shares| shares[output]).filter(|share| !share.is_nan()).collect();
            shares.iter().sum::<f64>() / shares.len() as f64
        };
        Some((0..known[0].len()).map(mean).collect())
    }

    pub(super) fn all(&self) -> &[SeriesPass] {
        &self.all
    }

    pub(super) fn first(&self) -> &SeriesPass {
        &self.all[0]
    }

    pub(super) fn all_mut(&mut self) -> &mut [SeriesPass] {
        &mut self.all
    }
}
