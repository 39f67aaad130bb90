//! Rolling origins: forecasts of all steps are made as the series goes, and scored when their rows
//! have come.
//!
//! An origin follows the last row of the one before, so that each row is forecast once. Forecasts
//! that cost nothing are scored beside it. MASE is the mean absolute error in units of the mean
//! change over a season before the origin, and the mean of that over the origins.

use std::collections::VecDeque;

use super::feed::SeriesFeed;
use super::pass::{RowFailure, SeriesPass};
use super::record::SeriesRecord;
use crate::report::moments::ErrorSums;
use crate::report::scores::{Baseline, Baselines};

/// Origins that count unless told.
const ORIGINS: usize = 10;
/// Steps of forecasts that are scored at most.
const MOST_STEPS: usize = 2000;

/// The origins.
pub(super) struct Backtest {
    steps: usize,
    most: usize,
    /// The open origin of each group.
    open: Vec<Option<BacktestOrigin>>,
    done: Vec<VecDeque<BacktestResult>>,
}

/// A forecast whose rows are to come.
struct BacktestOrigin {
    /// Steps that have come.
    come: usize,
    forecast: Vec<f64>,
    /// The guesses of the running mean, the last value and a season ago.
    guesses: Vec<[f64; 3]>,
    outcome: BacktestResult,
}

/// The outcome of a forecast.
#[derive(Clone, Copy, Default)]
struct BacktestResult {
    count: u64,
    /// Errors of the forecast, and of the guesses.
    errors: [ErrorSums; 4],
    change: Option<f64>,
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
    pub(super) fn new(steps: usize, most: Option<usize>) -> Self {
        Self { steps, most: most.unwrap_or(ORIGINS), open: Vec::new(), done: Vec::new() }
    }

    /// Scores the row that was observed last, and begins a forecast where another has ended.
    pub(super) fn take(
        &mut self,
        pass: &mut SeriesPass,
        feed: &SeriesFeed,
        scored: &SeriesRecord,
    ) -> Result<(), RowFailure> {
        let (group, outputs) = (feed.now(), pass.last()[0].len());
        while self.open.len() <= group {
            self.open.push(None);
            self.done.push(VecDeque::new());
        }
        let (open, done) = (&mut self.open[group], &mut self.done[group]);
        if let Some(origin) = open {
            origin.take(pass.last()[0]);
            if origin.come == self.steps {
                if done.len() == self.most {
                    done.pop_front();
                }
                done.extend(open.take().map(|origin| origin.outcome));
            }
        }
        if open.is_none() && pass.is_scored() && self.steps <= MOST_STEPS {
            let forecast = pass.forecast(self.steps)?;
            let steps = (1..=self.steps).flat_map(|step| (0..outputs).map(move |output| (step, output)));
            let guesses =
                steps.map(|(step, output)| scored.guesses(group, output, pass.period(feed, output), step)).collect();
            let outcome = BacktestResult { change: scored.change(group..group + 1), ..BacktestResult::default() };
            *open = Some(BacktestOrigin { come: 0, forecast, guesses, outcome });
        }
        Ok(())
    }

    /// `None` where no origin has all its rows. The value of a season ago is told if there is a
    /// `season`.
    pub(super) fn scores(&self, season: bool) -> Option<BacktestScores> {
        let count: u64 = self.done.iter().flatten().map(|outcome| outcome.count).sum();
        if count == 0 {
            return None;
        }
        let mean = |of: usize| {
            let sum = |part: fn(&ErrorSums) -> f64| {
                self.done.iter().flatten().map(|outcome| part(&outcome.errors[of])).sum::<f64>()
            };
            let [squared, absolute] = [sum(ErrorSums::squared), sum(ErrorSums::absolute)].map(|sum| sum / count as f64);
            (squared, absolute)
        };
        let mase =
            |of: usize| {
                let scaled =
                    self.done.iter().flatten().filter(|outcome| outcome.count > 0).filter_map(|outcome| {
                        Some(outcome.errors[of].absolute() / outcome.count as f64 / outcome.change?)
                    });
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
            origins: self.done.iter().map(VecDeque::len).sum(),
            rmse: mse.sqrt(),
            mae,
            mase: mase(0),
            baselines: Baselines(baselines.collect()),
        })
    }
}

impl BacktestOrigin {
    fn take(&mut self, row: &[f64]) {
        for (output, value) in row.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            let place = self.come * row.len() + output;
            let [mean, last, seasonal] = self.guesses[place];
            self.outcome.count += 1;
            for (errors, guess) in self.outcome.errors.iter_mut().zip([self.forecast[place], mean, last, seasonal]) {
                errors.record(guess - value, 1.0);
            }
        }
        self.come += 1;
    }
}
