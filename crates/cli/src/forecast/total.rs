//! The total of groups, whose forecast is the sum of theirs.

use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use mercer_forecast::{TotalMethod, TotalShares};
use mercer_session::model::Prediction;

use super::feed::SeriesFeed;
use super::pass::{PassOptions, RowFailure, SeriesAhead, SeriesPass};
use crate::report::failure::Failure;

/// The name of the total in tables.
pub(super) const TOTAL: &str = "total";

/// A row of a group: its time, or its number where there are no times.
struct GroupRow {
    key: f64,
    group: usize,
    values: Vec<f64>,
    /// Not numbers in the warm-up.
    errors: Vec<f64>,
}

/// The rows of the groups, of which the total is made.
pub(super) struct TotalRows {
    method: TotalMethod,
    rows: Vec<GroupRow>,
}

/// The total behind its last row.
pub(super) struct TotalSeries {
    pub(super) pass: SeriesPass,
    pub(super) ahead: SeriesAhead,
}

impl TotalRows {
    pub(super) fn new(method: TotalMethod) -> Self {
        Self { method, rows: Vec::new() }
    }

    /// Takes the row of a group that was observed last.
    pub(super) fn take(&mut self, pass: &SeriesPass, feed: &SeriesFeed) {
        let [values, predictions] = pass.last();
        let known = pass.is_scored();
        let error = |(y, prediction): (&f64, &f64)| if known { y - prediction } else { f64::NAN };
        self.rows.push(GroupRow {
            key: feed.time(0).unwrap_or((pass.rows() - 1) as f64),
            group: feed.now(),
            values: values.to_vec(),
            errors: values.iter().zip(predictions).map(error).collect(),
        });
    }

    /// Forecasts the total with a fresh forecaster, and makes the forecasts of all groups add up to
    /// it.
    pub(super) fn add_up(
        mut self,
        fresh: Prediction,
        (groups, feed): (&[SeriesPass], &SeriesFeed),
        wanted: PassOptions,
        aheads: &mut [SeriesAhead],
    ) -> Result<TotalSeries, Failure> {
        self.rows.sort_by(|a, b| a.key.total_cmp(&b.key));
        self.check_ends(groups.len(), feed)?;
        let outputs = groups[0].columns().outputs.len();
        let steps = aheads[0].forecast.len() / outputs;
        let mut pass = SeriesPass::new(fresh, groups[0].columns().clone(), wanted)?.named(TOTAL);
        let mut errors: Vec<Vec<Vec<f64>>> = vec![Vec::new(); outputs];
        let mut row = vec![f64::NAN; groups[0].columns().outputs.iter().max().map_or(0, |last| last + 1)];
        let refused = |error: RowFailure| error.at("the total of the groups");
        for rows in self.rows.chunk_by(|a, b| a.key == b.key) {
            for (output, column) in groups[0].columns().outputs.iter().enumerate() {
                // A group that has not begun adds nothing, and one without a value leaves a gap.
                row[*column] = rows.iter().map(|row| row.values[output]).sum();
            }
            pass.step(&row).map_err(refused)?;
            for (output, errors) in errors.iter_mut().enumerate() {
                let [values, predictions] = pass.last();
                let own = if pass.is_scored() { values[output] - predictions[output] } else { f64::NAN };
                let mut all = vec![f64::NAN; groups.len() + 1];
                all[0] = own;
                rows.iter().for_each(|row| all[row.group + 1] = row.errors[output]);
                errors.push(all);
            }
        }
        let mut ahead = pass.ahead_of(steps).map_err(refused)?;
        for (output, errors) in errors.iter().enumerate() {
            let shares = TotalShares::new(self.method, groups.len(), errors);
            for step in 0..steps {
                let place = step * outputs + output;
                let mut parts: Vec<f64> = aheads.iter().map(|ahead| ahead.forecast[place]).collect();
                let mut total = ahead.forecast[place];
                shares.reconcile(&mut total, &mut parts);
                aheads.iter_mut().zip(parts).for_each(|(ahead, part)| ahead.move_to((step, output, outputs), part));
                ahead.move_to((step, output, outputs), total);
            }
        }
        Ok(TotalSeries { pass, ahead })
    }

    /// Refuses groups that do not end at the same time, and one that has the name of the total.
    fn check_ends(&self, groups: usize, feed: &SeriesFeed) -> Result<(), Failure> {
        let last = self.rows.last().map_or(0.0, |row| row.key);
        let mut ends = vec![false; groups];
        self.rows.iter().filter(|row| row.key == last).for_each(|row| ends[row.group] = true);
        let names = feed.group_names();
        if let Some(early) = ends.iter().position(|ends| !ends) {
            return Err(Failure::because(format!(
                "--total: the group {:?} ends before others, so that the rows to come are of other times; give rows until \
                 the same time (empty ones are gaps), or leave --total out",
                names.get(early).map_or("", String::as_str)
            )));
        }
        if names.iter().any(|name| name == TOTAL) {
            return Err(Failure::because(format!(
                "--total: a group has the name {TOTAL:?}, too; rename it, or leave its rows out"
            )));
        }
        Ok(())
    }
}

/// The values of --total.
pub(super) fn methods() -> impl TypedValueParser<Value = TotalMethod> {
    PossibleValuesParser::new(TotalMethod::NAMES).try_map(|name| name.parse::<TotalMethod>())
}

/// Refuses what a total cannot go with.
pub(super) fn check(method: Option<TotalMethod>, known: bool, out: Option<&Path>) -> Result<(), Failure> {
    if method.is_none() {
        return Ok(());
    }
    if known {
        return Err(Failure::usage(
            "--total is of groups without --known: a total has no inputs; leave one of them out",
        ));
    }
    match out {
        Some(_) => Err(Failure::usage(
            "--total with --out: a model of groups does not keep their total; leave one of them out",
        )),
        None => Ok(()),
    }
}
