//! Forecasts that wait for their rows, and what their rows teach.

use super::SettledSeries;
use crate::season::free::FreeExperts;
use crate::season::params::SeasonParams;

/// A forecast of all horizons that was made before row `row`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WaitingForecast {
    pub(super) row: usize,
    /// True if the level has shifted since: it teaches nothing.
    pub(super) stale: bool,
    pub(super) mixture: Vec<f64>,
    /// The paths of all experts, those that learn before the free ones.
    pub(super) experts: Vec<f64>,
}

/// A row that forecasts are judged by.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    pub(super) y: f64,
    /// False if it is set aside, and teaches nothing.
    pub(super) learnt: bool,
    pub(super) periods: usize,
}

impl SettledSeries {
    /// Learns what came of a forecast of `step` steps.
    pub(super) fn judge(
        &mut self,
        step: usize,
        mixture: &[f64],
        experts: &[f64],
        judged: Judged,
        params: &SeasonParams,
    ) {
        let Judged { y, learnt, periods } = judged;
        let (steps, h) = (mixture.len(), step - 1);
        if learnt {
            let forecasts = experts.chunks_exact(steps).map(|path| path[h]);
            self.buckets.learn(step, params.horizons, forecasts, y);
            self.quantiles.learn(step, y - mixture[h], self.change, params.coverage, params.rate);
        }
        if step == 1 {
            self.scores.one_step.push(beside(mixture, experts, h, periods), y);
        }
    }

    /// Learns what came of the forecasts that wait for this row, but for those of one step.
    pub(super) fn judge_waiting(&mut self, row: usize, judged: Judged, params: &SeasonParams) {
        for i in 0..self.waiting.len() {
            let waiting = std::mem::take(&mut self.waiting[i]);
            let step = row - waiting.row + 1;
            if step > 1 {
                let judged = Judged { learnt: judged.learnt && !waiting.stale, ..judged };
                self.judge(step, &waiting.mixture, &waiting.experts, judged, params);
            }
            let made = beside(&waiting.mixture, &waiting.experts, step - 1, judged.periods);
            self.scores.horizons.push(made, judged.y);
            self.waiting[i] = waiting;
        }
    }

    /// Lets go of the forecasts whose last row this was.
    pub(super) fn retire(&mut self, row: usize, horizons: usize, spare: &mut Vec<WaitingForecast>) {
        while self.waiting.front().is_some_and(|waiting| row + 1 >= waiting.row + horizons) {
            spare.extend(self.waiting.pop_front());
        }
    }
}

/// The forecasts of a step that are scored beside each other.
fn beside(mixture: &[f64], experts: &[f64], h: usize, periods: usize) -> [f64; 4] {
    let steps = mixture.len();
    let free = &experts[experts.len() - FreeExperts::count(periods) * steps..];
    let (last, mean) = (free[h], free[steps + h]);
    let seasonal = free.get(2 * steps + h).copied().unwrap_or(last);
    [mixture[h], seasonal, last, mean]
}
