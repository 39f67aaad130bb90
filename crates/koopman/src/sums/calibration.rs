//! Intervals of forecasts: quantiles of the errors on pairs that the operator was not learnt from.
//!
//! Split conformal prediction (Vovk, Gammerman and Shafer 2005), for each horizon and coordinate:
//! the half-width with coverage `1 − α` is the `⌈(n + 1)(1 − α)⌉`-th smallest of `n` errors. The
//! errors are those of the latest pairs by the operator of all groups but their own. Successive
//! errors depend on each other, so that coverage is approximate.

use super::blocks::{Group, Sums, sum};
use super::choice::without;
use super::forecaster::{ForecastMemory, Forecaster};
use crate::Error;

/// Forecasts whose errors are taken, for each horizon.
const ORIGINS: usize = 500;

/// The sorted absolute errors by horizon and coordinate, in scaled units.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calibration {
    errors: Vec<Vec<Vec<f64>>>,
}

impl Calibration {
    /// The half-width of the interval `step` steps ahead (from 0) of coordinate `j`; `None` when
    /// there are too few errors for this coverage.
    pub(crate) fn half_width(&self, step: usize, j: usize, coverage: f64) -> Option<f64> {
        let errors = self.errors.get(step)?.get(j)?;
        let rank = ((errors.len() + 1) as f64 * coverage).ceil() as usize;
        errors.get(rank.max(1) - 1).copied()
    }

    /// The squared error `step` steps ahead (from 0), summed over `columns` of the state; `None`
    /// without an error.
    pub(crate) fn mean_square(&self, step: usize, columns: std::ops::Range<usize>) -> Option<f64> {
        let errors = self.errors.get(step)?.get(columns)?;
        let count = errors.first().map_or(0, Vec::len);
        (count > 0).then(|| errors.iter().flatten().map(|error| error * error).sum::<f64>() / count as f64)
    }

    /// Errors over `horizon` steps on scaled pairs `rows` of `width` numbers, the last ones of all
    /// that `groups` hold; `fit` makes a forecaster of sums.
    pub(crate) fn new(
        rows: &[f64],
        (width, state): (usize, usize),
        groups: &[Group<'_>],
        horizon: usize,
        fit: impl Fn(&Sums) -> Result<Forecaster, Error>,
    ) -> Result<Self, Error> {
        let mut errors = vec![vec![Vec::new(); state]; horizon];
        let count = rows.len() / width;
        if groups.len() < 2 {
            return Ok(Self { errors });
        }
        let total = sum(groups);
        let pair = |i: usize| rows[i * width..(i + 1) * width].split_at(width - state);
        let follows = |i: usize| i + 1 < count && pair(i).1 == &pair(i + 1).0[..state];
        let stride = count.div_ceil(ORIGINS).max(1);
        let (mut memory, mut path) = (ForecastMemory::default(), Vec::new());
        // Groups end with the last pair; those of the pairs at hand are the last ones.
        let mut end = count;
        for group in groups.iter().rev() {
            let begin = end.saturating_sub(group.rows().round().max(0.0) as usize);
            let fitted = if begin < end { Some(fit(&without(&total, &group.sums()))?) } else { None };
            for (i, fitted) in (begin..end).zip(fitted.iter().cycle()) {
                if i % stride != 0 {
                    continue;
                }
                let reach = (i..).take_while(|k| *k == i || follows(*k - 1)).take(horizon).take_while(|k| *k < count);
                let reach = reach.count();
                path.resize_with(reach, Vec::new);
                let inputs: Vec<&[f64]> = (1..reach).map(|k| &pair(i + k).0[state..]).collect();
                fitted.path(pair(i).0, &inputs, &mut path, &mut memory);
                for (k, forecast) in path.iter().enumerate() {
                    for (j, (forecast, truth)) in forecast.iter().zip(pair(i + k).1).enumerate() {
                        errors[k][j].push((forecast - truth).abs());
                    }
                }
            }
            end = begin;
        }
        errors.iter_mut().flatten().for_each(|errors| errors.sort_by(f64::total_cmp));
        Ok(Self { errors })
    }
}
