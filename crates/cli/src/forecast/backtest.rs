//! Rolling origins: forecasts of all steps are made as the series goes, and scored when their rows
//! have come.
//!
//! Origins are those of [`RollingOrigins`]. Forecasts that cost nothing are scored beside each.
//! MASE is the mean absolute error in units of the mean change over a season before the origin, and
//! the mean of that over the origins.
//!
//! Where inputs are known in advance, they stand in the rows of an origin: the forecaster is kept
//! as it was there until these have come.

use std::path::Path;

use mercer_session::series::{ORIGINS, RollingOrigins};

use super::feed::SeriesFeed;
use super::pass::{RowFailure, SeriesPass};
use super::record::SeriesRecord;
use super::tables::{SeriesTable, TableRow};
use crate::report::failure::Failure;
use crate::report::moments::ErrorSums;
use crate::report::scores::{Baseline, Baselines};

/// The origins.
pub(super) struct Backtest {
    steps: usize,
    most: usize,
    /// True if the rows of each origin are kept.
    keeps_rows: bool,
    /// Those of each group.
    groups: Vec<RollingOrigins<BacktestOrigin, BacktestResult>>,
}

/// A forecast whose rows are to come.
struct BacktestOrigin {
    /// Rows that were known.
    known: usize,
    made: BacktestForecast,
    /// The guesses of the running mean, the last value and a season ago.
    guesses: Vec<[f64; 3]>,
    change: Option<f64>,
    /// Times and values of the rows so far.
    times: Vec<Option<f64>>,
    came: Vec<f64>,
}

/// A forecast from an origin.
enum BacktestForecast {
    Made(Vec<BacktestValue>),
    /// The forecaster as it was, and the inputs that have come.
    Waiting(Box<SeriesPass>, Vec<f64>),
}

/// The forecast of a value, the ends of its interval, and its quantiles.
#[derive(Clone)]
struct BacktestValue {
    forecast: f64,
    ends: Option<[f64; 2]>,
    quantiles: Vec<f64>,
}

/// The outcome of a forecast.
#[derive(Clone, Default)]
struct BacktestResult {
    count: u64,
    /// Errors of the forecast, and of the guesses.
    errors: [ErrorSums; 4],
    change: Option<f64>,
    /// The number of rows that were known, and each value that was forecast with its time and what
    /// came; none unless they are kept.
    known: usize,
    rows: Vec<(Option<f64>, f64, BacktestValue)>,
}

/// The scores of the last origins.
#[derive(serde::Serialize)]
pub(super) struct BacktestScores {
    pub(super) steps: usize,
    pub(super) origins: usize,
    pub(super) rmse: f64,
    pub(super) mae: f64,
    /// Null where the series never changed.
    pub(super) mase: Option<f64>,
    pub(super) baselines: Baselines,
}

impl Backtest {
    /// Forecasts of so many steps, scored over the last `most` origins.
    pub(super) fn new(steps: usize, most: Option<usize>, keeps_rows: bool) -> Self {
        Self { steps, most: most.unwrap_or(ORIGINS), keeps_rows, groups: Vec::new() }
    }

    /// Scores the row that was observed last, and begins a forecast where another has ended.
    pub(super) fn take(
        &mut self,
        pass: &mut SeriesPass,
        feed: &SeriesFeed,
        scored: &SeriesRecord,
    ) -> Result<(), RowFailure> {
        let (group, outputs) = (feed.now(), pass.last()[0].len());
        while self.groups.len() <= group {
            self.groups.push(RollingOrigins::new(self.steps, self.most));
        }
        let origins = &mut self.groups[group];
        if let Some(origin) = origins.row(|origin| origin.take(pass, feed.time(0))) {
            origins.keep(origin.judge(self.steps, outputs, self.keeps_rows)?);
        }
        if origins.is_due(pass.is_scored()) {
            let made = if pass.last_input().is_empty() {
                BacktestForecast::Made(BacktestValue::all(pass, self.steps)?)
            } else {
                BacktestForecast::Waiting(Box::new(pass.clone()), Vec::new())
            };
            let steps = (1..=self.steps).flat_map(|step| (0..outputs).map(move |output| (step, output)));
            let guesses =
                steps.map(|(step, output)| scored.guesses(group, output, pass.period(feed, output), step)).collect();
            let change = scored.change(group..group + 1);
            let (times, came) = (Vec::new(), Vec::new());
            origins.begin(BacktestOrigin { known: pass.rows(), made, guesses, change, times, came });
        }
        Ok(())
    }

    /// What became of the origins of all groups.
    fn done(&self) -> impl Iterator<Item = &BacktestResult> {
        self.groups.iter().flat_map(RollingOrigins::done)
    }

    /// `None` where no origin has all its rows. The value of a season ago is told if there is a
    /// `season`.
    pub(super) fn scores(&self, season: bool) -> Option<BacktestScores> {
        let count: u64 = self.done().map(|outcome| outcome.count).sum();
        if count == 0 {
            return None;
        }
        let mean = |of: usize| {
            let sum = |part: fn(&ErrorSums) -> f64| self.done().map(|outcome| part(&outcome.errors[of])).sum::<f64>();
            let [squared, absolute] = [sum(ErrorSums::squared), sum(ErrorSums::absolute)].map(|sum| sum / count as f64);
            (squared, absolute)
        };
        let mase = |of: usize| {
            let scaled = self
                .done()
                .filter(|outcome| outcome.count > 0)
                .filter_map(|outcome| Some(outcome.errors[of].absolute() / outcome.count as f64 / outcome.change?));
            let scaled: Vec<f64> = scaled.collect();
            (!scaled.is_empty()).then(|| scaled.iter().sum::<f64>() / scaled.len() as f64)
        };
        let names = ["running_mean", "last_value", "seasonal_naive"];
        let baselines = (1..).zip(names).take(if season { 3 } else { 2 }).map(|(of, name)| {
            let (mse, mae) = mean(of);
            Baseline {
                name,
                mse: Some(mse),
                mae: Some(mae),
                rmse: Some(mse.sqrt()),
                mase: mase(of),
                ..Baseline::default()
            }
        });
        let (mse, mae) = mean(0);
        Some(BacktestScores {
            steps: self.steps,
            origins: self.done().count(),
            rmse: mse.sqrt(),
            mae,
            mase: mase(0),
            baselines: Baselines(baselines.collect()),
        })
    }

    /// The table of the rows.
    pub(super) fn table(
        path: &Path,
        read: &[&Path],
        (pass, feed): (&SeriesPass, &SeriesFeed),
    ) -> Result<SeriesTable, Failure> {
        let ends = ["forecast_low", "forecast_high"].into_iter().filter(|_| pass.has_intervals()).map(str::to_owned);
        let quantiles = pass.quantiles().iter().map(|p| format!("forecast_{p}"));
        let first = ["y", "forecast"].map(str::to_owned).into_iter();
        let columns = first.chain(ends).chain(quantiles).chain(["scale".to_owned()]);
        SeriesTable::create(("--backtest-rows", path), read, (pass, feed), (&["origin", "step"], false), columns)
    }

    /// Writes the rows of a group.
    pub(super) fn write(&self, pass: &SeriesPass, feed: &SeriesFeed, table: &mut SeriesTable) -> Result<(), Failure> {
        let outputs = pass.columns().outputs.len();
        for outcome in self.groups.get(feed.now()).into_iter().flat_map(RollingOrigins::done) {
            for (place, (time, y, made)) in outcome.rows.iter().enumerate() {
                let mut values = vec![Some(*y), Some(made.forecast)];
                if pass.has_intervals() {
                    values.extend([0, 1].map(|side| made.ends.map(|ends| ends[side])));
                }
                values.extend(made.quantiles.iter().copied().map(Some));
                values.push(outcome.change);
                let keys = [outcome.known, place / outputs + 1];
                let row = TableRow { scenario: None, keys, time: *time, output: place % outputs, values: &values };
                table.push(pass, feed, &row)?;
            }
        }
        Ok(())
    }
}

impl BacktestValue {
    /// The forecasts of the next rows, one after the other.
    fn all(pass: &mut SeriesPass, steps: usize) -> Result<Vec<Self>, RowFailure> {
        let forecast = pass.forecast(steps)?;
        let outputs = pass.columns().outputs.len();
        let rows = (1..).zip(forecast.chunks_exact(outputs));
        let values = rows.flat_map(|(step, row)| {
            let ends = pass.ends(step, row);
            let quantiles: Vec<Option<Vec<f64>>> =
                pass.quantiles().iter().map(|p| pass.quantile(*p, step, row)).collect();
            (0..outputs).map(move |output| Self {
                forecast: row[output],
                ends: ends[output],
                quantiles: quantiles.iter().flatten().map(|row| row[output]).collect(),
            })
        });
        Ok(values.collect())
    }
}

impl BacktestOrigin {
    fn take(&mut self, pass: &SeriesPass, time: Option<f64>) {
        self.times.push(time);
        self.came.extend(pass.last()[0]);
        if let BacktestForecast::Waiting(_, inputs) = &mut self.made {
            inputs.extend(pass.last_input());
        }
    }

    /// The outcome, when all rows have come.
    fn judge(self, steps: usize, outputs: usize, keeps_rows: bool) -> Result<BacktestResult, RowFailure> {
        let Self { known, made, guesses, change, times, came } = self;
        let made = match made {
            BacktestForecast::Made(made) => made,
            BacktestForecast::Waiting(mut pass, inputs) => {
                pass.foresee(inputs);
                BacktestValue::all(&mut pass, steps)?
            }
        };
        let mut outcome = BacktestResult { change, known, ..BacktestResult::default() };
        let values = came.iter().zip(&made).zip(&guesses).filter(|((value, _), _)| !value.is_nan());
        for ((value, made), [mean, last, seasonal]) in values {
            outcome.count += 1;
            for (errors, guess) in outcome.errors.iter_mut().zip([made.forecast, *mean, *last, *seasonal]) {
                errors.record(guess - value, 1.0);
            }
        }
        if keeps_rows {
            let rows = came.into_iter().zip(made).enumerate();
            outcome.rows = rows.map(|(place, (y, made))| (times[place / outputs], y, made)).collect();
        }
        Ok(outcome)
    }
}
