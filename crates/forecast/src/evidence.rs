//! Evidence for known inputs: a mixture without them runs beside the one with them, and each number
//! of steps ahead takes from both what their errors were worth.
//!
//! In buckets of horizons `1 | 2, 3 | 4 … 7 | …` let `L` be the decaying mean of the absolute
//! errors of the forecasts with the inputs, and `L₀` of those without, over `n` rows, and
//!
//! ```text
//! ρ = ln(L/L₀),   ρ̃_b = (n_b ρ_b + ñ ρ̃_{b−1})/(n_b + ñ),   ñ = min(ñ_{b−1}, 24),   ñ_b = n_b + ñ
//! share of the forecast with the inputs = 1/(1 + e^{q ρ̃}),   q = min(16, ñ_b/6)
//! ```
//!
//! the weights of a [`SeasonMixture`] of two experts. Errors are those of forecasts as they were
//! made, with the coefficients of that time. Cost a row: those of a second mixture.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_simd::exp;

use crate::season::{bucket, bucket_width, ln};
use crate::{ForecastScratch, SeasonMixture, SeasonParams};

/// Rows that errors are remembered for.
const MEMORY: f64 = 300.0;
/// Rows that the errors of fewer steps count as.
const NEARER: f64 = 24.0;
/// The largest `q`, and the rows for each unit of it.
const SHARPEST: f64 = 16.0;
const ROWS_A_POWER: f64 = 6.0;
/// Forecasts that wait together at most.
const WAITING: usize = 8;

/// Errors of a bucket: with the inputs, without, and their rows.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PairLosses {
    losses: [f64; 2],
    rows: f64,
}

/// A forecast of all horizons that was made before row `row`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct WaitingPair {
    row: usize,
    /// Paths with the inputs, but for their effects, and without.
    paths: [Vec<f64>; 2],
    /// Coefficients of the inputs then.
    coefficients: Vec<f64>,
}

/// The mixture without inputs, and what either was worth.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Evidence {
    pub(super) without: SeasonMixture,
    losses: Vec<PairLosses>,
    waiting: VecDeque<WaitingPair>,
    #[cfg_attr(feature = "serde", serde(skip))]
    spare: Vec<WaitingPair>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: ForecastScratch,
}

impl Evidence {
    pub(super) fn new(params: &SeasonParams) -> Result<Self, ParameterError> {
        Ok(Self {
            without: SeasonMixture::new(params.clone())?,
            losses: vec![PairLosses::default(); bucket(params.horizons, params.horizons) + 1],
            waiting: VecDeque::new(),
            spare: Vec::new(),
            scratch: ForecastScratch::default(),
        })
    }

    /// The share of the forecast with the inputs, so many steps ahead; rows that are missing at the
    /// end are steps, too.
    pub(super) fn share(&self, step: usize) -> f64 {
        let (mut rho, mut rows) = (0.0, 0.0_f64);
        for pair in &self.losses[..=bucket(self.without.gap() + step, self.horizons())] {
            let nearer = rows.min(NEARER);
            let own = pair.losses.map(|loss| ln(loss.max(1e-300)));
            if pair.rows > 0.0 {
                rho = (pair.rows * (own[0] - own[1]) + nearer * rho) / (pair.rows + nearer);
            }
            rows = pair.rows + nearer;
        }
        1.0 / (1.0 + exp(SHARPEST.min(rows / ROWS_A_POWER) * rho))
    }

    fn horizons(&self) -> usize {
        self.without.params().horizons
    }

    /// Before a row is learnt: a forecast begins to wait, if it is time for one.
    pub(super) fn foretell(&mut self, with: &SeasonMixture, coefficients: &[f64]) {
        let (row, horizons) = (self.without.time(), self.horizons());
        if !with.warmed_up() || horizons == 1 || !row.is_multiple_of(horizons.div_ceil(WAITING)) {
            return;
        }
        let mut waiting = self.spare.pop().unwrap_or_default();
        waiting.row = row;
        for (path, mixture) in waiting.paths.iter_mut().zip([with, &self.without]) {
            path.resize(horizons, 0.0);
            mixture.forecast_into(path, &mut self.scratch);
        }
        waiting.coefficients.clear();
        waiting.coefficients.extend_from_slice(coefficients);
        self.waiting.push_back(waiting);
    }

    /// Learns a row and its forecasts, with the inputs and without, behind `gap` missing rows.
    /// `effect` is that of the row's inputs by given coefficients.
    pub(super) fn learn(
        &mut self,
        y: Option<f64>,
        (gap, forecasts): (usize, [f64; 2]),
        effect: impl Fn(&[f64]) -> f64,
    ) {
        let (row, horizons) = (self.without.time() - 1, self.horizons());
        if let Some(y) = y {
            self.judge(gap + 1, forecasts, y);
            for i in 0..self.waiting.len() {
                let WaitingPair { row: first, paths: [with, without], coefficients } = &self.waiting[i];
                let step = row - first + 1;
                let made = [with[step - 1] + effect(coefficients), without[step - 1]];
                if step > 1 {
                    self.judge(step, made, y);
                }
            }
        }
        while self.waiting.front().is_some_and(|waiting| row + 1 >= waiting.row + horizons) {
            self.spare.extend(self.waiting.pop_front());
        }
    }

    fn judge(&mut self, step: usize, forecasts: [f64; 2], y: f64) {
        let b = bucket(step, self.horizons());
        let share = 1.0 / bucket_width(b, self.horizons()) as f64;
        let keeps = 1.0 - share / MEMORY;
        let PairLosses { losses, rows } = &mut self.losses[b];
        for (loss, forecast) in losses.iter_mut().zip(forecasts) {
            *loss = *loss * keeps + share * (forecast - y).abs();
        }
        *rows = *rows * keeps + share;
    }

    /// Forgets all rows but their number.
    pub(super) fn begin_anew(&mut self) {
        self.without.begin_anew();
        self.losses.fill(PairLosses::default());
        self.waiting.clear();
    }

    pub(super) fn validate(&self, inputs: usize) -> Result<(), Inconsistent> {
        const WHAT: &str = "evidence for known inputs";
        self.without.validate()?;
        let (horizons, time) = (self.horizons(), self.without.time());
        let all = self.losses.len() == bucket(horizons, horizons) + 1;
        let sound = |pair: &PairLosses| {
            [pair.losses[0], pair.losses[1], pair.rows].iter().all(|sum| *sum >= 0.0 && sum.is_finite())
        };
        Inconsistent::require(all && self.losses.iter().all(sound), WHAT, "each bucket has its losses")?;
        for waiting in &self.waiting {
            waiting.paths.iter().try_for_each(Validate::validate)?;
            waiting.coefficients.validate()?;
            let whole = waiting.paths.iter().all(|path| path.len() == horizons)
                && waiting.coefficients.len() == inputs
                && (waiting.row..waiting.row.saturating_add(horizons)).contains(&time);
            Inconsistent::require(whole, WHAT, "forecasts that wait are of all horizons")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_formula() -> Result<(), ParameterError> {
        let mut evidence = Evidence::new(&SeasonParams::default().horizons(3))?;
        assert_eq!([1, 4].map(|step| evidence.share(step)), [0.5; 2]);
        let (mut losses, mut rows) = ([0.0, 0.0], 0.0);
        for t in 0..30 {
            let errors = [1.0 + f64::from(t % 3), 2.5];
            evidence.judge(1, errors.map(|error| 10.0 - error), 10.0);
            losses = [0, 1].map(|i| losses[i] * (1.0 - 1.0 / 300.0) + errors[i]);
            rows = rows * (1.0 - 1.0 / 300.0) + 1.0;
        }
        let rho: f64 = (losses[0] / losses[1]).ln();
        let near = 1.0 / (1.0 + (rows / 6.0 * rho).exp());
        // The bucket of two and three steps has no errors of its own, and those of one count 24.
        let far = 1.0 / (1.0 + (4.0 * rho).exp());
        let found = [1, 2, 3].map(|step| evidence.share(step));
        assert!((found[0] - near).abs() < 1e-12 && (found[1] - far).abs() < 1e-12, "{found:?} {near} {far}");
        assert!(near > far && far > 0.5);
        assert_eq!(evidence.validate(1), Ok(()));
        Ok(())
    }
}
