//! One pass of `auto` over a stream, row by row, and its scores.

use crate::prelude::*;
use std::time::Instant;

use mercer_auto::{Auto, AutoParams};
use mercer_learners::RegressorExt;
use mercer_readers::Dataset;

/// First rows that are scored apart.
pub(super) const FIRST_ROWS: usize = 1000;

/// Rows after which `auto` keeps its scaling and its members.
const SETTLED: usize = 1024;

/// Results of a pass.
#[derive(Clone, Debug)]
pub(super) struct QualityPass {
    /// NMSE over the last half.
    pub(super) nmse: f64,
    /// NMSE over the first rows, from the second on: before the first nothing is known.
    pub(super) first: f64,
    /// The loss over the last half as a share of that of the member with the least loss there,
    /// less 1. None where the last half begins before [`SETTLED`], because members are made anew
    /// until then.
    pub(super) regret: Option<f64>,
    /// That member, or nothing.
    pub(super) best: String,
    /// Time of a row, predicted and learnt.
    pub(super) microseconds: f64,
}

/// Errors beside those of the running mean.
#[derive(Default)]
struct ErrorShare {
    loss: f64,
    of_mean: f64,
}

impl ErrorShare {
    fn add(&mut self, error: f64, of_mean: f64) {
        self.loss += error * error;
        self.of_mean += of_mean * of_mean;
    }

    fn value(&self) -> f64 {
        self.loss / self.of_mean
    }
}

/// Learns the table with this budget.
pub(super) fn pass(table: &Dataset, budget: usize) -> Result<QualityPass> {
    let mut auto = Auto::new(table.dimension(), AutoParams::default().budget(budget))?;
    let (mut last, mut first, mut sum) = (ErrorShare::default(), ErrorShare::default(), 0.0);
    let (half, mut before) = (table.len().div_ceil(2), Vec::new());
    let start = Instant::now();
    for (t, (x, y)) in table.iter().enumerate() {
        if t == half && half > SETTLED {
            before = auto.members().map(|member| member.cumulative_loss).collect();
        }
        let prediction = auto.predict_then_update(x, y)?;
        let mean = sum / t as f64;
        if t >= half {
            last.add(prediction - y, mean - y);
        }
        if (1..FIRST_ROWS).contains(&t) {
            first.add(prediction - y, mean - y);
        }
        sum += y;
    }
    let microseconds = 1e6 * start.elapsed().as_secs_f64() / table.len().max(1) as f64;
    let losses = auto.members().zip(&before).map(|(member, before)| (member.name, member.cumulative_loss - before));
    let best = losses.min_by(|a, b| a.1.total_cmp(&b.1));
    Ok(QualityPass {
        nmse: last.value(),
        first: first.value(),
        regret: best.map(|(_, least)| last.loss / least - 1.0),
        best: best.map_or_else(String::new, |(name, _)| name.to_owned()),
        microseconds,
    })
}
