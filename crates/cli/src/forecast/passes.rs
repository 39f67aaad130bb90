//! One pass a group, which share what their experts are worth, and what is kept of them in a file.

use std::num::NonZeroUsize;

use mercer_encoding::Cell;
use mercer_forecast::{AnyForecaster, SharedWeights};
use mercer_session::model::{GroupPredictions, ModelError, Prediction, RowDigest};

use super::beginning::Beginning;
use super::columns::SeriesColumns;
use super::feed::SeriesFeed;
use super::pass::{PassOptions, RowFailure, SeriesPass};
use crate::report::failure::Failure;

/// Most planned rows of a group that are forecast unasked.
const MOST_PLANNED: usize = 1000;

/// The passes of all groups, in the order in which these came; a single one without groups.
pub(super) struct Passes {
    /// The forecaster with which a new group begins.
    fresh: Prediction,
    columns: SeriesColumns,
    wanted: PassOptions,
    all: Vec<SeriesPass>,
    /// Weights, as of so many rows of all groups.
    shared: SharedWeights,
    shared_at: u64,
    seen: RowDigest,
}

impl Passes {
    pub(super) fn new(beginning: Beginning, columns: SeriesColumns, wanted: PassOptions) -> Result<Self, Failure> {
        let seen = beginning.seen();
        let (fresh, known, shared, shared_at) = match beginning {
            Beginning::Series(model) => (*model, Vec::new(), SharedWeights::default(), 0),
            Beginning::Groups(groups) => {
                let GroupPredictions { fresh, groups, shared, shared_at, .. } = *groups;
                (fresh, groups, shared, shared_at)
            }
        };
        let mut passes = Self { fresh, columns, wanted, all: Vec::new(), shared, shared_at, seen };
        for (_, model) in known {
            passes.all.push(passes.begin(model)?);
        }
        if passes.all.is_empty() {
            passes.all.push(passes.begin(passes.fresh.clone())?);
        }
        Ok(passes)
    }

    fn begin(&self, model: Prediction) -> Result<SeriesPass, Failure> {
        SeriesPass::new(model, self.columns.clone(), self.wanted.clone())
    }

    /// The digest of the rows met, after the row of the feed.
    pub(super) fn after(met: RowDigest, feed: &SeriesFeed) -> RowDigest {
        match feed.group() {
            Some(name) => met.after_cells(&[Cell::Text(name)][..], feed.row()),
            None => met.after([feed.row(), &[]]),
        }
    }

    /// Takes the row of the feed in the pass of its group, of which it may be the first.
    pub(super) fn step(&mut self, feed: &SeriesFeed) -> Result<(), Failure> {
        while self.all.len() <= feed.now() {
            // The weights are gathered anew when there are a quarter more rows.
            let rows = self.seen.rows;
            if 4 * rows > 5 * self.shared_at {
                self.shared_at = rows;
                self.shared = SharedWeights::default();
                for seasons in self.all.iter().filter_map(SeriesPass::seasons) {
                    (0..self.columns.outputs.len()).for_each(|output| seasons.mixture(output).share(&mut self.shared));
                }
            }
            let mut model = self.fresh.clone();
            if let AnyForecaster::Seasons(seasons) = &mut model.forecaster {
                seasons.begin_like(&self.shared);
            }
            self.all.push(self.begin(model)?);
        }
        self.all[feed.now()].step(feed.row()).map_err(|error| error.at(&feed.place()))?;
        self.seen = Self::after(self.seen, feed);
        Ok(())
    }

    /// Has the planned rows of each group forecast, and `future` rows behind them; or as many steps
    /// as are asked for.
    pub(super) fn plan(
        &mut self,
        feed: &mut SeriesFeed,
        asked: Option<NonZeroUsize>,
        future: usize,
    ) -> Result<(), Failure> {
        for (group, pass) in self.all.iter_mut().enumerate() {
            feed.turn_to(group);
            let rows = feed.plan();
            if let Some((row, name)) = rows.iter().find_map(|row| Some((row, self.columns.missing_input(&row.values)?)))
            {
                return Err(RowFailure::MissingInput(name.to_owned()).at(&row.place));
            }
            let steps = asked.map_or_else(|| rows.len().min(MOST_PLANNED) + future, usize::from);
            if steps > 0 {
                pass.plan(steps, rows.iter().flat_map(|row| self.columns.inputs_of(&row.values)))?;
            }
        }
        Ok(())
    }

    /// The file of the forecasters as they are, with what is kept of the times of their series.
    pub(super) fn file_bytes(&mut self, feed: &SeriesFeed) -> Result<Vec<u8>, ModelError> {
        for (group, pass) in self.all.iter_mut().enumerate() {
            if let Some(times) = feed.times(group) {
                pass.keep(&times);
            }
        }
        let Some(column) = feed.group_column() else { return self.first().model().to_bytes() };
        let named = feed.group_names().iter().cloned().zip(self.all.iter().map(SeriesPass::model));
        let Self { fresh, shared, shared_at, seen, .. } = self;
        GroupPredictions {
            column: column.to_owned(),
            fresh: &*fresh,
            groups: named.collect(),
            shared: shared.clone(),
            shared_at: *shared_at,
            seen: *seen,
        }
        .to_bytes()
    }

    /// The rows observed.
    pub(super) fn seen(&self) -> RowDigest {
        self.seen
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
