//! One pass of `auto` over a stream, row by row, and its scores.

use std::time::Instant;

use mercer_data::Dataset;
use mercer_learners::{Auto, AutoParams, Regressor};

use crate::plan::ExperimentError;
use crate::progress::JobProgress;

/// First rows that are scored apart.
pub(super) const FIRST_ROWS: usize = 1000;

/// What a pass gave.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// NMSE over the last half.
    pub(super) nmse: f64,
    /// NMSE over the first rows, from the second on: before the first nothing is known.
    pub(super) first: f64,
    /// The loss over that of the member with the least loss, less 1; the first row is left out.
    pub(super) regret: f64,
    /// That member.
    pub(super) best: String,
    /// Of a row, predicted and learnt.
    pub(super) microseconds: f64,
}

/// Errors beside those of the running mean.
#[derive(Default)]
struct Share {
    loss: f64,
    of_mean: f64,
}

impl Share {
    fn add(&mut self, error: f64, of_mean: f64) {
        self.loss += error * error;
        self.of_mean += of_mean * of_mean;
    }

    fn value(&self) -> f64 {
        self.loss / self.of_mean
    }
}

/// Learns the table with this budget.
pub(super) fn pass(table: &Dataset, budget: usize, bar: &JobProgress) -> Result<Pass, ExperimentError> {
    let mut auto = Auto::new(table.dimension(), AutoParams::default().budget(budget))?;
    let (mut last, mut first, mut sum) = (Share::default(), Share::default(), 0.0);
    let start = Instant::now();
    for (t, (x, y)) in table.iter().enumerate() {
        let prediction = auto.predict_then_update(x, y)?;
        let mean = sum / t as f64;
        if 2 * t >= table.len() {
            last.add(prediction - y, mean - y);
        }
        if (1..FIRST_ROWS).contains(&t) {
            first.add(prediction - y, mean - y);
        }
        sum += y;
        bar.advance(1);
    }
    let microseconds = 1e6 * start.elapsed().as_secs_f64() / table.len().max(1) as f64;
    let unknown = table.targets().first().map_or(0.0, |y| y * y);
    let active = auto.members().filter(|member| member.active);
    let best = active.min_by(|a, b| a.cumulative_loss.total_cmp(&b.cumulative_loss));
    let least = best.as_ref().map_or(f64::NAN, |best| best.cumulative_loss - unknown);
    Ok(Pass {
        nmse: last.value(),
        first: first.value(),
        regret: (auto.cumulative_loss() - unknown) / least - 1.0,
        best: best.map_or_else(String::new, |best| best.name.to_owned()),
        microseconds,
    })
}
