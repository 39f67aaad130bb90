//! Quantiles around the mixture's forecasts, for each horizon.
//!
//! `s_h²` is a running mean over `min(n, 30)` of the squared errors of `h` steps, the root of which
//! counts as `5 σ_h` at most from the 31st on. As few rows tell little of a long horizon, what
//! shorter ones say of it counts as six more rows: `σ_h²` is the mean of `s_h²`, of weight `n`, and
//! of `s_g² (h/g)^0.7` for `g` of 1, `h/4` and `h/2`, of weight 6 together. The residuals
//! `r = e/σ_h`, with `σ_h` as it was before and within ±5, are kept by bucket of horizons. A
//! quantile is
//!
//! ```text
//! ŷ_h + κ σ_h (1 + 1.5/(n + 2)) (n quantile_p'(r) + 10 logistic_p)/(n + 10)
//! ln κ ← ln κ + rate ([y outside its interval] − (1 − coverage))/w
//! ```
//!
//! with `p' = p (1 + 1/n)` above the middle, and its mirror image below, and `n` residuals.
//! So residuals may lean to one side, and `κ`, one a bucket of `w` horizons, holds the share of
//! rows that the intervals of the given coverage hold: the adaptive level of conformal inference
//! (Gibbs and Candès 2021), as a width, which does not end at the largest residual kept. A quantile
//! stays on its side of the forecast.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::exp;

use super::buckets::{bucket, widths};
use super::coordinates::ln;

/// Residuals kept of a bucket of one horizon; wider ones keep up to four times as many.
const KEPT: usize = 300;
/// Residuals that quantiles are taken from at least.
const FEWEST: usize = 10;
/// Errors that `σ` is the mean of.
const MEMORY: usize = 30;
/// `|r|` at most: what lies beyond is no error of the kind that is to come.
const FARTHEST: f64 = 5.0;
/// Rows that shorter horizons count as, and the power with which variances grow with the steps.
const BORROWED: f64 = 6.0;
const GROWTH: f64 = 0.7;
/// Residuals that the logistic distribution counts as.
const LOGISTIC: f64 = 10.0;
/// `|ln κ|` at most.
const WIDEST: f64 = 2.0;

/// The residuals of a bucket.
///
/// # Invariants
/// `sorted` holds the numbers of `recent`, in order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Residuals {
    recent: VecDeque<f64>,
    sorted: Vec<f64>,
    /// `ln κ`
    width: f64,
    /// Horizons of the bucket.
    horizons: usize,
}

/// Errors of all horizons, as far as they are known.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Quantiles {
    /// `σ_h²`
    squares: Vec<f64>,
    counted: Vec<usize>,
    residuals: Vec<Residuals>,
}

/// Residuals kept of a bucket of so many horizons.
fn kept(horizons: usize) -> usize {
    KEPT * horizons.min(4)
}

/// A quantile below the middle is not above the forecast, and one above it not below: an interval
/// holds its forecast, also where all late errors were of one sign.
fn on_its_side(p: f64, value: f64) -> f64 {
    match p.total_cmp(&0.5) {
        std::cmp::Ordering::Less => value.min(0.0),
        std::cmp::Ordering::Equal => value,
        std::cmp::Ordering::Greater => value.max(0.0),
    }
}

/// The quantile of the logistic distribution that is near the normal one.
fn logistic(p: f64) -> f64 {
    ln(p / (1.0 - p)) / 1.7
}

impl Residuals {
    fn new(horizons: usize) -> Self {
        let kept = kept(horizons);
        Self { recent: VecDeque::with_capacity(kept + 1), sorted: Vec::with_capacity(kept + 1), width: 0.0, horizons }
    }

    fn push(&mut self, residual: f64) {
        if self.recent.len() == kept(self.horizons)
            && let Some(oldest) = self.recent.pop_front()
        {
            let place = self.sorted.partition_point(|r| *r < oldest);
            self.sorted.remove(place);
        }
        self.recent.push_back(residual);
        let place = self.sorted.partition_point(|r| *r < residual);
        self.sorted.insert(place, residual);
    }

    /// The quantile of the residuals, with `κ`.
    fn quantile(&self, p: f64) -> f64 {
        // Residuals of one forecast are alike, and so are those of forecasts that overlap: a bucket
        // of `w` horizons has forecasts of about `w` steps, so `w²` residuals count as one.
        let count = (self.sorted.len() / (self.horizons * self.horizons)) as f64;
        let n = count.max(8.0);
        let expected = logistic(p);
        let outward = |p: f64| (p * (1.0 + 1.0 / n)).min(1.0);
        let p = if p > 0.5 { outward(p) } else { 1.0 - outward(1.0 - p) };
        let place = p * (self.sorted.len() - 1) as f64;
        let below = place as usize;
        let above = (below + 1).min(self.sorted.len() - 1);
        let value = self.sorted[below] + (place - below as f64) * (self.sorted[above] - self.sorted[below]);
        let value = (count * value + LOGISTIC * expected) / (count + LOGISTIC);
        on_its_side(p, value * (1.0 + 1.5 / (count + 2.0)) * exp(self.width))
    }
}

impl Quantiles {
    pub(super) fn new(horizons: usize) -> Self {
        Self {
            squares: vec![0.0; horizons],
            counted: vec![0; horizons],
            residuals: widths(horizons).into_iter().map(Residuals::new).collect(),
        }
    }

    /// `σ²` of `h + 1` steps.
    fn square(&self, h: usize) -> f64 {
        let steps = h + 1;
        let (mut sum, mut count) = (0.0, 0.0);
        for shorter in [1, steps / 4, steps / 2] {
            if (1..steps).contains(&shorter) && self.counted[shorter - 1] >= 3 {
                sum += self.squares[shorter - 1] * exp(GROWTH * ln(steps as f64 / shorter as f64));
                count += 1.0;
            }
        }
        let own = self.counted[h].min(MEMORY) as f64;
        if count == 0.0 || own == 0.0 {
            self.squares[h]
        } else {
            (own * self.squares[h] + BORROWED * sum / count) / (own + BORROWED)
        }
    }

    /// Learns the error `y − ŷ` of a forecast of `step` steps.
    pub(super) fn learn(&mut self, step: usize, error: f64, coverage: f64, rate: f64) {
        let (horizons, h) = (self.squares.len(), step - 1);
        let sigma = self.square(h).sqrt();
        if self.counted[h] >= 3 && sigma > 0.0 {
            let residual = (error / sigma).clamp(-FARTHEST, FARTHEST);
            let residuals = &mut self.residuals[bucket(step, horizons)];
            if residuals.sorted.len() >= FEWEST {
                let tail = (1.0 - coverage) / 2.0;
                let held = (residuals.quantile(tail)..=residuals.quantile(1.0 - tail)).contains(&residual);
                let missed = f64::from(u8::from(!held)) - (1.0 - coverage);
                let width = residuals.width + rate * missed / residuals.horizons as f64;
                residuals.width = width.clamp(-WIDEST, WIDEST);
            }
            residuals.push(residual);
        }
        if self.counted[h] >= MEMORY && sigma == 0.0 && error != 0.0 {
            // What ends an exact stretch does not tell the size of the errors after it.
            self.counted[h] = 0;
            return;
        }
        let error = if self.counted[h] >= MEMORY { error.abs().min(FARTHEST * sigma) } else { error };
        self.counted[h] = (self.counted[h] + 1).min(usize::MAX / 4);
        self.squares[h] += (error * error - self.squares[h]) / self.counted[h].min(MEMORY) as f64;
    }

    /// Distance of the quantile of `p` from the forecast of `step` steps. Beyond the largest
    /// horizon, and before errors of as many steps are known, the deviation grows like the root of
    /// the steps; `unit` is that of one step while no error is known.
    pub(super) fn offset(&self, p: f64, step: usize, unit: f64) -> f64 {
        let horizons = self.squares.len();
        let known = (0..step.min(horizons)).rev().find(|h| self.counted[*h] >= 3);
        let sigma = known
            .map_or(unit * (step as f64).sqrt(), |h| self.square(h).sqrt() * (step as f64 / (h + 1) as f64).sqrt());
        let own = &self.residuals[..=bucket(step, horizons)];
        let enough = own.iter().rev().find(|residuals| residuals.sorted.len() >= FEWEST);
        sigma * enough.map_or_else(|| logistic(p), |residuals| residuals.quantile(p))
    }

    pub(super) fn validate(&self, horizons: usize) -> Result<(), Inconsistent> {
        const WHAT: &str = "quantiles of horizons";
        let expected = widths(horizons);
        let whole = self.squares.len() == horizons && self.counted.len() == horizons;
        Inconsistent::require(whole && self.residuals.len() == expected.len(), WHAT, "all horizons have some")?;
        self.squares.validate()?;
        let sizes = self.squares.iter().all(|square| *square >= 0.0);
        Inconsistent::require(sizes, WHAT, "mean squares are not negative")?;
        for (residuals, width) in self.residuals.iter().zip(expected) {
            residuals.sorted.validate()?;
            residuals.width.validate()?;
            let mut recent: Vec<f64> = residuals.recent.iter().copied().collect();
            recent.sort_unstable_by(f64::total_cmp);
            let sound = recent == residuals.sorted && recent.len() <= kept(width) && residuals.horizons == width;
            Inconsistent::require(sound, WHAT, "residuals are in order")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniforms() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }
    }

    #[test]
    fn skewed_errors_have_skewed_quantiles() {
        let (mut quantiles, mut uniform) = (Quantiles::new(3), uniforms());
        for _ in 0..3000 {
            let error = -uniform().ln() - 1.0; // exponential, of mean 0
            (1..=3).for_each(|step| quantiles.learn(step, error, 0.9, 0.0));
        }
        for (p, expected) in [(0.05, -0.949), (0.5, -0.307), (0.95, 1.996)] {
            let offset = quantiles.offset(p, 1, 1.0);
            assert!((offset - expected).abs() < 0.3 * expected.abs().max(0.5), "{p}: {offset}");
        }
        assert!(quantiles.validate(3).is_ok() && quantiles.validate(4).is_err());
    }

    #[test]
    fn an_interval_holds_its_forecast_where_all_errors_were_of_one_sign() {
        let (mut quantiles, mut uniform) = (Quantiles::new(2), uniforms());
        for _ in 0..200 {
            (1..=2).for_each(|step| quantiles.learn(step, 5.0 + uniform(), 0.9, 0.02));
        }
        for step in 1..=4 {
            let (low, high) = (quantiles.offset(0.05, step, 1.0), quantiles.offset(0.95, step, 1.0));
            assert!(low <= 0.0 && high > 0.0, "{step}: {low} {high}");
        }
    }

    /// Errors that grow for ever: residuals alone lag behind, and the width follows.
    #[test]
    fn coverage_is_held() {
        let (mut quantiles, mut uniform) = (Quantiles::new(1), uniforms());
        let mut held = 0;
        for t in 0..6000_u32 {
            let error = exp(f64::from(t) * 0.01) * (uniform() - 0.5);
            let (low, high) = (quantiles.offset(0.05, 1, 1.0), quantiles.offset(0.95, 1, 1.0));
            held += u32::from(t >= 2000 && (low..=high).contains(&error));
            quantiles.learn(1, error, 0.9, 0.02);
        }
        assert!((f64::from(held) / 4000.0 - 0.9).abs() < 0.015, "{held}");
    }
}
