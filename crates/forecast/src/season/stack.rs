//! The forecast of one step, by least squares upon the mixture and learners of lags.
//!
//! Weights that follow the experts' mean losses know nothing of what experts are worth together.
//! With the mixture's forecast `m` and further ones `f_k`,
//!
//! ```text
//! ŷ = m + Σ_k θ_k (f_k − m),     θ = argmin Σ η^{t−s} (y_s − m_s − Σ_k θ_k (f_{k,s} − m_s))² + λ σ² ‖θ‖²
//! ```
//!
//! `σ²` is the mean of `(y_s − m_s)²`, so few rows leave the mixture as it is. The further
//! forecasts are those of one [`Auto`] upon the last 13 rows and those around one and two seasons
//! ago, which learns the next row as it is, its change, and its change over a season; and the
//! mixture with sharper weights. Where the mixture was nearer in more than three quarters of the
//! last rows, as after a change of level, which the sums remember for long, its forecast stands. A
//! forecast of more steps is the mixture's alone.

use mercer_auto::{Auto, AutoParams};
use mercer_core::{Inconsistent, Validate};
use mercer_learners::{Regressor as _, RegressorExt as _, Target};

use crate::ForecastScratch;

/// Lags next to the row.
const NEAR: usize = 13;
/// `λ`
const RIDGE: f64 = 10.0;
/// `η`
const MEMORY: f64 = 1.0 - 1.0 / 500.0;
/// Rows by which it is told whether the mixture is nearer.
const LATE: f64 = 30.0;
/// Share of them from which on its forecast stands.
const NEARER: f64 = 0.75;
/// Rows from which on the mixture is corrected.
const FIRST: f64 = 5.0;
/// Forecasts of the learner at most: of the next row, its change, and its change over a season.
pub(super) const LEARNT: usize = 3;
/// Forecasts beside the mixture's: the learner's, and that of sharper weights.
const OTHERS: usize = LEARNT + 1;

/// Forecasts of the next row: the mixture's, and those beside it. One that is not a number is not
/// there.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextRow {
    pub(super) mixture: f64,
    pub(super) sharper: f64,
    pub(super) learnt: [f64; LEARNT],
}

impl NextRow {
    /// The learner's are of the series less a shift.
    pub(super) fn new(mixture: f64, sharper: f64, learnt: [f64; LEARNT], shift: f64) -> Self {
        Self { mixture, sharper, learnt: learnt.map(|y| y + shift) }
    }

    /// By how much those beside it are above the mixture's.
    fn differences(&self) -> [f64; OTHERS] {
        let [a, b, c] = self.learnt;
        [a, b, c, self.sharper].map(|f| if f.is_finite() { f - self.mixture } else { 0.0 })
    }
}

/// The learner of lags, and what is known of the forecasts beside the mixture's.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StackedStep {
    learner: Auto,
    lags: Vec<usize>,
    /// `Σ η^{t−s} d dᵀ` and `Σ η^{t−s} d e`, `d_k = f_k − m`, `e = y − m`.
    products: [[f64; OTHERS]; OTHERS],
    errors: [f64; OTHERS],
    /// `Σ η^{t−s} e²` and `Σ η^{t−s}`.
    squares: f64,
    rows: f64,
    /// Share of late rows in which the mixture was nearer.
    nearer: f64,
}

/// The lags of the learner.
fn lags(periods: &[usize]) -> Vec<usize> {
    let seasons = periods.iter().flat_map(|m| [m - 1, *m, m + 1, 2 * m]);
    let mut lags: Vec<usize> = (1..=NEAR).chain(seasons.filter(|lag| *lag > NEAR)).collect();
    lags.sort_unstable();
    lags.dedup();
    lags
}

/// Targets of the learner: the last needs a season.
fn targets(periods: &[usize]) -> usize {
    LEARNT - usize::from(periods.is_empty())
}

impl StackedStep {
    /// With a learner of this budget, which knows nothing; none where the budget is too small.
    pub(super) fn new(periods: &[usize], budget: usize) -> Option<Self> {
        let lags = lags(periods);
        let params = AutoParams::default().budget(budget).outputs(targets(periods));
        let learner = Auto::new(lags.len(), params).ok()?;
        let (products, errors) = Default::default();
        Some(Self { learner, lags, products, errors, squares: 0.0, rows: 0.0, nearer: 0.5 })
    }

    /// `row ←` the lags after `recent`, what is before the first row being the first. Returns what
    /// the targets are counted from.
    fn row(&self, recent: &[f64], periods: &[usize], row: &mut Vec<f64>) -> [f64; LEARNT] {
        let value = |lag: usize| recent.get(recent.len().saturating_sub(lag)).copied().unwrap_or(0.0);
        row.clear();
        row.extend(self.lags.iter().map(|lag| value(*lag)));
        [0.0, value(1), periods.first().map_or(0.0, |period| value(*period))]
    }

    /// The learner's forecasts of the row after `recent`.
    pub(super) fn predict(&self, recent: &[f64], periods: &[usize], scratch: &mut ForecastScratch) -> [f64; LEARNT] {
        let ForecastScratch { learner: scratch, lags: row, .. } = scratch;
        let (anchors, mut made) = (self.row(recent, periods, row), [f64::NAN; LEARNT]);
        // Where it has none, the mixture's stands.
        let _ = self.learner.predict_into(row, scratch, &mut made[..targets(periods)]);
        std::array::from_fn(|k| anchors[k] + made[k])
    }

    /// The same, and then the learner learns the row.
    pub(super) fn learn(
        &mut self,
        recent: &[f64],
        periods: &[usize],
        y: f64,
        scratch: &mut ForecastScratch,
    ) -> [f64; LEARNT] {
        let row = &mut scratch.lags;
        let (anchors, mut made) = (self.row(recent, periods, row), [f64::NAN; LEARNT]);
        let (target, count) = (anchors.map(|anchor| y - anchor), targets(periods));
        // A row that it refuses is not learnt.
        let _ = self.learner.learn(row, Target::new(&target[..count]), &mut made[..count]);
        std::array::from_fn(|k| anchors[k] + made[k])
    }

    /// The forecast: `ŷ`, or the mixture's.
    pub(super) fn forecast(&self, next: &NextRow) -> f64 {
        if self.nearer > NEARER { next.mixture } else { self.corrected(next) }
    }

    /// `ŷ`
    fn corrected(&self, next: &NextRow) -> f64 {
        let ridge = RIDGE * self.squares / self.rows;
        if self.rows < FIRST || ridge <= 0.0 {
            return next.mixture;
        }
        // V = Σ d dᵀ + λσ²: θᵀd = Σ θ d with Vθ = Σ d e, by elimination.
        let (mut v, mut theta) = (self.products, self.errors);
        (0..OTHERS).for_each(|k| v[k][k] += ridge);
        for j in 0..OTHERS {
            for i in j + 1..OTHERS {
                let factor = v[i][j] / v[j][j];
                (j..OTHERS).for_each(|k| v[i][k] -= factor * v[j][k]);
                theta[i] -= factor * theta[j];
            }
        }
        for i in (0..OTHERS).rev() {
            (i + 1..OTHERS).for_each(|k| theta[i] -= v[i][k] * theta[k]);
            theta[i] /= v[i][i];
        }
        let corrected = next.mixture + theta.iter().zip(next.differences()).map(|(t, d)| t * d).sum::<f64>();
        if corrected.is_finite() { corrected } else { next.mixture }
    }

    /// Learns what came of the forecasts.
    pub(super) fn judge(&mut self, next: &NextRow, y: f64) {
        let (d, e) = (next.differences(), y - next.mixture);
        let corrected = (y - self.corrected(next)).abs();
        if corrected != e.abs() {
            self.nearer += (f64::from(u8::from(e.abs() < corrected)) - self.nearer) / LATE;
        }
        for (i, (products, error)) in self.products.iter_mut().zip(&mut self.errors).enumerate() {
            products.iter_mut().zip(d).for_each(|(product, other)| *product = MEMORY * *product + d[i] * other);
            *error = MEMORY * *error + d[i] * e;
        }
        self.squares = MEMORY * self.squares + e * e;
        self.rows = MEMORY * self.rows + 1.0;
    }

    pub(super) fn validate(&self, periods: &[usize]) -> Result<(), Inconsistent> {
        const WHAT: &str = "forecast of one step";
        self.learner.validate()?;
        let same = self.lags == lags(periods)
            && (self.learner.dimension(), self.learner.outputs()) == (self.lags.len(), targets(periods));
        Inconsistent::require(same, WHAT, "its learner is that of the periods")?;
        self.products.iter().flatten().chain(&self.errors).try_for_each(Validate::validate)?;
        Inconsistent::require((0.0..=1.0).contains(&self.nearer), WHAT, "it has a share of rows")?;
        let sums = [self.squares, self.rows].iter().all(|sum| (0.0..f64::INFINITY).contains(sum));
        Inconsistent::require(sums, WHAT, "it has sums of squares and of rows")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The correction makes the sum of the definition least: no other coefficients do better.
    #[test]
    fn the_correction_is_that_of_least_squares() {
        let mut stack = StackedStep::new(&[4], 1000).unwrap();
        let noise = |t: usize, k: usize| ((t * 7919 + k * 104_729 + 13) * (t + k + 7) % 1009) as f64 / 1009.0 - 0.5;
        let next = |t: usize| {
            let y = (t as f64 * 0.7).sin();
            let learnt = [y + noise(t, 1), y + 0.5 * noise(t, 2), if t.is_multiple_of(5) { f64::NAN } else { 0.3 * y }];
            (NextRow { mixture: y + noise(t, 0), sharper: 0.9 * y + noise(t, 3), learnt }, y)
        };
        let rows = 60;
        for t in 0..rows {
            let (next, y) = next(t);
            assert!(t > 4 || stack.forecast(&next) == next.mixture);
            stack.judge(&next, y);
        }
        let weight = |t: usize| MEMORY.powi((rows - 1 - t) as i32);
        let total: f64 = (0..rows).map(weight).sum();
        let squares: f64 = (0..rows).map(|t| weight(t) * (next(t).1 - next(t).0.mixture).powi(2)).sum();
        let loss = |theta: &[f64; OTHERS]| {
            let error = |t: usize| {
                let (next, y) = next(t);
                y - next.mixture - theta.iter().zip(next.differences()).map(|(a, d)| a * d).sum::<f64>()
            };
            let fit: f64 = (0..rows).map(|t| weight(t) * error(t).powi(2)).sum();
            fit + RIDGE * squares / total * theta.iter().map(|a| a * a).sum::<f64>()
        };
        // The coefficients, by unit differences.
        let theta: [f64; OTHERS] = std::array::from_fn(|k| {
            let mut learnt = [0.0; LEARNT];
            if k < LEARNT {
                learnt[k] = 1.0;
            }
            stack.forecast(&NextRow { mixture: 0.0, sharper: if k == LEARNT { 1.0 } else { 0.0 }, learnt })
        });
        let least = loss(&theta);
        for k in 0..OTHERS {
            for change in [-1e-4, 1e-4] {
                let mut other = theta;
                other[k] += change;
                assert!(loss(&other) > least, "{theta:?} is not the best in {k}");
            }
        }
        assert_eq!(stack.validate(&[4]), Ok(()));
        assert!(stack.validate(&[]).is_err());
    }

    #[test]
    fn lags_reach_two_seasons_back() {
        assert_eq!(lags(&[]), (1..=13).collect::<Vec<_>>());
        assert_eq!(lags(&[12])[13..], [24]);
        assert_eq!(lags(&[24, 168])[13..], [23, 24, 25, 48, 167, 168, 169, 336]);
    }
}
