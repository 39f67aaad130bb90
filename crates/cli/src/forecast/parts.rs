//! The parts of forecasts: their table, and how they are told.

use std::path::Path;

use mercer_forecast::{ForecastParts, Seasons};
use serde_json::{Value, json};

use super::feed::SeriesFeed;
use super::pass::SeriesPass;
use super::tables::{SeriesTable, TableRow};
use crate::report::failure::Failure;

/// The table of the parts of each row, and of the rows to come.
pub(super) struct PartsTable {
    table: SeriesTable,
    seasons: usize,
    /// The scenario of the row, if there are several.
    scenario: Option<String>,
}

/// Seasons that an output has at most.
fn most_seasons(pass: &SeriesPass) -> usize {
    pass.seasons().map_or(0, Seasons::most_seasons)
}

impl PartsTable {
    /// A table of no rows, of season mixtures alone.
    pub(super) fn create(
        path: &Path,
        read: &[&Path],
        (pass, feed): (&SeriesPass, &SeriesFeed),
        scenarios: bool,
    ) -> Result<Self, Failure> {
        let seasons = most_seasons(pass);
        let inputs = pass.columns().input_names();
        let first = ["y", "forecast"].map(str::to_owned).into_iter();
        let columns = first.chain(ForecastParts::names(seasons, &inputs)).chain(["remainder".to_owned()]);
        let table = SeriesTable::create(("--parts", path), read, (pass, feed), (&["k"], scenarios), columns)?;
        Ok(Self { table, seasons, scenario: None })
    }

    /// Writes the row that was observed last.
    pub(super) fn row(&mut self, pass: &SeriesPass, feed: &SeriesFeed) -> Result<(), Failure> {
        for (output, (y, parts)) in pass.last()[0].iter().zip(&pass.look().parts).enumerate() {
            let at = (pass.rows() - 1, feed.time(0), output);
            self.write((pass, feed), at, (Some(*y), parts, 0))?;
        }
        Ok(())
    }

    /// Writes the rows to come.
    pub(super) fn ahead(
        &mut self,
        pass: &SeriesPass,
        feed: &SeriesFeed,
        scenario: Option<&str>,
        ahead: &[ForecastParts],
    ) -> Result<(), Failure> {
        let steps = ahead.first().map_or(0, |parts| parts.trend.len());
        self.scenario = scenario.map(str::to_owned);
        for step in 0..steps {
            for (output, parts) in ahead.iter().enumerate() {
                let at = (pass.rows() + step, feed.time(step + 1), output);
                self.write((pass, feed), at, (None, parts, step))?;
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        (pass, feed): (&SeriesPass, &SeriesFeed),
        (k, time, output): (usize, Option<f64>, usize),
        (y, parts, step): (Option<f64>, &ForecastParts, usize),
    ) -> Result<(), Failure> {
        let forecast = parts.sum(step);
        let mut values = vec![y, Some(forecast)];
        values.extend(parts.row(step, self.seasons).map(Some));
        values.push(y.map(|y| y - forecast));
        let scenario = self.scenario.as_deref();
        self.table.push(pass, feed, &TableRow { scenario, keys: [k], time, output, values: &values })
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        self.table.finish()
    }
}

/// The parts of each step and output, as JSON.
pub(crate) fn told(parts: &[ForecastParts], inputs: &[&str]) -> Vec<Vec<Value>> {
    let steps = parts.first().map_or(0, |parts| parts.trend.len());
    let one = |parts: &ForecastParts, step: usize| {
        let seasons: Vec<f64> = parts.seasons.iter().map(|season| season[step]).collect();
        let mut object = json!({ "trend": parts.trend[step], "seasons": seasons });
        if !parts.inputs.is_empty() {
            let effects =
                inputs.iter().zip(&parts.inputs).map(|(name, input)| ((*name).to_owned(), json!(input[step])));
            object["effects"] = Value::Object(effects.collect());
        }
        object["rest"] = json!(parts.rest[step]);
        object
    };
    (0..steps).map(|step| parts.iter().map(|parts| one(parts, step)).collect()).collect()
}
