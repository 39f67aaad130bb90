//! Tables beside the report, whose rows are values of a series: the options that ask for them, and
//! the columns that all of them begin with.

use std::path::{Path, PathBuf};

use clap::Args;
use mercer_session::series::UsualShare;

use super::feed::SeriesFeed;
use super::pass::SeriesPass;
use crate::model::cells::AnswerValue;
use crate::report::failure::Failure;
use crate::report::result_table::ResultTable;

/// Where they go.
#[derive(Args)]
pub(super) struct TableArguments {
    /// Write the forecasts that --backtest scores to this table, .csv, .ndjson, .parquet or .arrow:
    /// a row for each step of each origin, with what came
    ///
    /// Columns: origin (the number of rows that were known), step, time, y, forecast, the ends of
    /// --intervals, --quantiles, and scale, the unit of MASE: the mean over the origins
    /// of the mean of |y - forecast|/scale is the MASE told.
    #[arg(long, value_name = "OUT.csv", requires = "steps")]
    pub(super) backtest_rows: Option<PathBuf>,
    /// Write the parts of the forecasts of --method season to this table: of each row's, made
    /// before it was seen, and of the rows to come. --plot and --json have them, too
    ///
    /// Columns: k (the number of the row, from 0), time, y, forecast, trend, season (the shortest),
    /// season_2, …, effect_NAME of each --known, rest, and remainder, which is y - forecast. Trend,
    /// seasons, effects and rest sum to the forecast. Trend and seasons are those of the filters
    /// that know them, with their weights among themselves; what other experts add is in the rest.
    #[arg(long, value_name = "OUT.csv")]
    pub(super) parts: Option<PathBuf>,
    /// Write the rows that lay outside of the band of their forecast of one step to this table,
    /// with its ends; they are also told, and marked in the picture
    #[arg(long, value_name = "OUT.csv")]
    pub(super) anomalies: Option<PathBuf>,
    /// The share of the values that lie in the band of --anomalies: of ordinary rows one in a
    /// hundred lies outside of 0.99. Without --anomalies the rows are told, and marked in the
    /// picture [default: 0.99]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(super) anomaly_share: Option<UsualShare>,
}

fn share(text: &str) -> Result<UsualShare, &'static str> {
    text.trim().parse().unwrap_or(f64::NAN).try_into()
}

impl TableArguments {
    /// True if a table is to be written, which is there at the end.
    pub(super) fn are_asked(&self) -> bool {
        self.backtest_rows.is_some() || self.parts.is_some() || self.usual().is_some()
    }

    /// The share of the values that are usual, if others are to be told.
    pub(super) fn usual(&self) -> Option<UsualShare> {
        self.anomaly_share.or(self.anomalies.is_some().then(UsualShare::default))
    }

    /// Refuses what forecasters other than season mixtures do not know.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let asked = [("--parts", self.parts.is_some()), ("--anomalies", self.usual().is_some())];
        match asked.iter().find(|(_, asked)| *asked) {
            Some((option, _)) => Err(Failure::usage(format!(
                "{option} is for --method season, which knows them; use that, or leave it out"
            ))),
            None => Ok(()),
        }
    }
}

/// A table of values of series.
pub(super) struct SeriesTable {
    table: ResultTable,
    /// Numbers that say which row it is.
    keys: usize,
    /// True if the first column names groups or scenarios.
    has_first: bool,
    has_times: bool,
    /// True if there are several columns that are forecast.
    has_names: bool,
}

/// The value that a row of the table is about.
#[derive(Clone, Copy)]
pub(super) struct TableRow<'a, const KEYS: usize> {
    pub(super) scenario: Option<&'a str>,
    pub(super) keys: [usize; KEYS],
    pub(super) time: Option<f64>,
    pub(super) output: usize,
    pub(super) values: &'a [Option<f64>],
}

impl SeriesTable {
    /// A table for an `option`, with columns of these names behind the first, which are the group
    /// (or the scenario, in a table of `scenarios`), the `keys`, the time, and the name of the
    /// column that is forecast.
    pub(super) fn create(
        (option, path): (&str, &Path),
        read: &[&Path],
        (pass, feed): (&SeriesPass, &SeriesFeed),
        (keys, scenarios): (&[&str], bool),
        values: impl IntoIterator<Item = String>,
    ) -> Result<Self, Failure> {
        let first = feed.group_column().or(scenarios.then_some("scenario")).map(|name| (name.to_owned(), true));
        let (has_first, has_times) = (first.is_some(), feed.clock().is_some());
        let has_names = pass.columns().outputs.len() > 1;
        let time = has_times.then(|| ("time".to_owned(), true));
        let name = has_names.then(|| ("column".to_owned(), true));
        let numbers = keys.iter().map(|key| ((*key).to_owned(), false));
        let values = values.into_iter().map(|name| (name, false));
        let columns = first.into_iter().chain(numbers).chain(time).chain(name).chain(values).collect();
        let table = ResultTable::create(option, path, read, columns)?;
        Ok(Self { table, keys: keys.len(), has_first, has_times, has_names })
    }

    /// Adds a row, of the group that the feed has turned to.
    pub(super) fn push<const KEYS: usize>(
        &mut self,
        pass: &SeriesPass,
        feed: &SeriesFeed,
        row: &TableRow<'_, KEYS>,
    ) -> Result<(), Failure> {
        debug_assert_eq!(self.keys, KEYS);
        let time = row.time.and_then(|time| Some(feed.clock()?.text(time)));
        let mut cells: Vec<Option<AnswerValue<'_>>> = Vec::new();
        cells.extend(self.has_first.then(|| feed.group().or(row.scenario).map(AnswerValue::Name)));
        cells.extend(row.keys.iter().map(|key| Some(AnswerValue::Number(*key as f64))));
        cells.extend(self.has_times.then(|| time.as_deref().map(AnswerValue::Name)));
        cells.extend(self.has_names.then(|| Some(AnswerValue::Name(pass.columns().output_name(row.output)))));
        cells.extend(row.values.iter().map(|value| value.filter(|value| value.is_finite()).map(AnswerValue::Number)));
        self.table.push(&cells)
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.table.finish()
    }
}
