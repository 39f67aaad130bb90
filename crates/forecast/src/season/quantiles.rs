//! Quantiles around the mixture's forecasts, for each horizon.
//!
//! `s_h²` is a running mean over `n_h = min(rows, 30)` of the squared errors of `h` steps, the root
//! of which counts as `8 σ_h` at most from the 31st on. Few errors say little, so the scale has a
//! prior of 6 rows, the mean of what errors of fewer steps say, which grow like `h^.35`:
//!
//! ```text
//! σ_h² = (n_h s_h² + 6 p_h)/(n_h + 6),   p_h = mean of s_1² h^.7 and s_k² (h/k)^.7, k = h/2, h/4
//! ```
//!
//! The residuals `r = e/σ_h`, with `σ_h` as it was before and within ±8, are kept by bucket of `w`
//! horizons. With `n` of them by `w`, a quantile is
//!
//! ```text
//! ŷ_h + κ σ_h (1 + 1.5/(n̄ + 2)) (n Q_p'(r) + 10 Λ_p)/(n + 10),   p' = p (1 + 1/n) above the
//! middle
//! ```
//!
//! and its mirror image below, where `Λ` is the logistic quantile near the normal one, and `n̄` the
//! mean of `n` over the buckets so far. `κ` holds the share of rows beyond the interval of the
//! given coverage on each side: the adaptive level of conformal inference (Gibbs and Candès 2021)
//! as a width, with three rates at once that are weighed by their pinball losses (Gibbs and Candès
//! 2024). A quantile stays on its side of the forecast.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::exp;

use super::buckets::{bucket, widths};
use super::coordinates::ln;

/// Residuals kept of a bucket of one horizon; wider ones keep up to four times as many.
const KEPT: usize = 300;
/// Residuals that quantiles are taken from at least.
const FEWEST: usize = 20;
/// Errors that `s_h²` is the mean of.
const MEMORY: usize = 30;
/// `|r|` at most: what lies beyond is no error of the kind that is to come.
const FARTHEST: f64 = 8.0;
/// Rows that the prior of a scale counts as, and the power of the steps that it grows with.
const PRIOR: f64 = 6.0;
const GROWTH: f64 = 0.7;
/// Errors of a horizon that others take their prior from at least.
const TELLING: usize = 5;
/// The smallest scale, as a share of the size of a change.
const LEAST: f64 = 1e-3;
/// Residuals that the logistic quantile counts as.
const LOGISTIC: f64 = 10.0;
/// Widening where few errors are known.
const DOUBT: f64 = 1.5;

/// Rates of a side's widths, as multiples of the rate given; rows that their losses are kept for.
const RATES: [f64; 3] = [0.0, 1.0, 2.0];
const LOSS_MEMORY: f64 = 200.0;
/// How sharply losses weigh the rates.
const SHARPNESS: f64 = 8.0;
/// `|ln κ|` at most, and the largest distance of an error, in scales, that a loss counts.
const WIDEST: f64 = 1.5;
const FARTHEST_LOSS: f64 = 15.0;

/// `ln κ` of one side by each rate, and what they lost.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Widths {
    widths: [f64; RATES.len()],
    losses: [f64; RATES.len()],
}

/// The residuals of a bucket.
///
/// # Invariants
/// `sorted` holds the numbers of `recent`, in order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Residuals {
    recent: VecDeque<f64>,
    sorted: Vec<f64>,
    /// Below the forecast and above it.
    sides: [Widths; 2],
    /// Horizons of the bucket.
    horizons: usize,
}

/// Errors of all horizons, as far as they are known.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Quantiles {
    /// `s_h²`
    squares: Vec<f64>,
    counted: Vec<usize>,
    residuals: Vec<Residuals>,
}

/// Residuals kept of a bucket of so many horizons.
fn kept(horizons: usize) -> usize {
    KEPT * horizons.min(4)
}

/// `x^.7`
fn growth(x: f64) -> f64 {
    exp(GROWTH * ln(x))
}

/// The logistic quantile near the normal one.
fn logistic(p: f64) -> f64 {
    ln(p / (1.0 - p)) / 1.7
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

impl Widths {
    /// `ln κ`: the widths by what they lost.
    fn width(&self) -> f64 {
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let weights = self.losses.map(|loss| exp(SHARPNESS * (least - loss)));
        let sum: f64 = weights.iter().sum();
        weights.iter().zip(self.widths).map(|(weight, width)| weight * width).sum::<f64>() / sum
    }

    /// Learns an error of so many scales beside the quantile of `p` without a width.
    fn learn(&mut self, p: f64, error: f64, quantile: f64, rate: f64, share: f64) {
        let tail = p.min(1.0 - p);
        for ((width, loss), multiple) in self.widths.iter_mut().zip(&mut self.losses).zip(RATES) {
            let placed = quantile * exp(*width);
            let beyond = (error - placed).clamp(-FARTHEST_LOSS, FARTHEST_LOSS);
            *loss = *loss * (1.0 - share / LOSS_MEMORY) + share * (p * beyond).max((p - 1.0) * beyond);
            let missed = if p > 0.5 { error > placed } else { error < placed };
            let moved = 2.0 * rate * multiple * (f64::from(u8::from(missed)) - tail) * share;
            *width = (*width + moved).clamp(-WIDEST, WIDEST);
        }
    }
}

impl Residuals {
    fn new(horizons: usize) -> Self {
        let kept = kept(horizons);
        let (recent, sorted) = (VecDeque::with_capacity(kept + 1), Vec::with_capacity(kept + 1));
        Self { recent, sorted, sides: [Widths::default(); 2], horizons }
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

    /// Rows that the residuals are of: those of one forecast are alike.
    fn rows(&self) -> f64 {
        self.sorted.len() as f64 / self.horizons as f64
    }

    /// The quantile of the residuals, beside the logistic one.
    fn quantile(&self, p: f64) -> f64 {
        // Residuals of one forecast are alike, and so are those of forecasts that overlap: a bucket
        // of `w` horizons has forecasts of about `w` steps, so `w²` residuals count as one.
        let n = (self.sorted.len() / (self.horizons * self.horizons)).max(8) as f64;
        let outward = |p: f64| (p * (1.0 + 1.0 / n)).min(1.0);
        let placed = if p > 0.5 { outward(p) } else { 1.0 - outward(1.0 - p) };
        let place = placed * (self.sorted.len() - 1) as f64;
        let below = place as usize;
        let above = (below + 1).min(self.sorted.len() - 1);
        let value = self.sorted[below] + (place - below as f64) * (self.sorted[above] - self.sorted[below]);
        (self.rows() * value + LOGISTIC * logistic(p)) / (self.rows() + LOGISTIC)
    }

    /// `κ` of a distance from the forecast.
    fn widened(&self, distance: f64) -> f64 {
        distance * exp(self.sides[usize::from(distance > 0.0)].width())
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

    /// `σ_h` of a number of steps; `unit` is the size of a change while no error is known.
    fn scale(&self, step: usize, unit: f64) -> f64 {
        let h = step - 1;
        let first = if self.counted[0] >= 3 { self.squares[0] } else { unit * unit };
        let nearer = [h / 2, h / 4].into_iter().filter(|k| *k > 0 && self.counted[*k] >= TELLING);
        let grown = nearer.map(|k| self.squares[k] * growth((h + 1) as f64 / (k + 1) as f64));
        let (sum, count) = grown.fold((first * growth(step as f64), 1.0), |(sum, n), square| (sum + square, n + 1.0));
        let n = self.counted[h].min(MEMORY) as f64;
        ((n * self.squares[h] + PRIOR * sum / count) / (n + PRIOR)).sqrt().max(LEAST * unit)
    }

    /// By what errors of so many steps are larger than those of one, 1 at least.
    pub(super) fn growth(&self, step: usize, unit: f64) -> f64 {
        let known = step.min(self.squares.len());
        let (first, late) = (self.scale(1, unit), self.scale(known, unit));
        if late > first && first > 0.0 { late / first } else { 1.0 }
    }

    /// The quantile of `p` of errors of so many steps, in scales, before `κ`.
    fn standard(&self, p: f64, step: usize) -> f64 {
        let own = &self.residuals[..=bucket(step, self.squares.len())];
        let rows = own.iter().map(Residuals::rows).sum::<f64>() / own.len() as f64;
        let enough = own.iter().rev().find(|residuals| residuals.sorted.len() >= FEWEST);
        let quantile = enough.map_or_else(|| logistic(p), |residuals| residuals.quantile(p));
        on_its_side(p, quantile * (1.0 + DOUBT / (rows.max(1.0) + 2.0)))
    }

    /// Learns the error `y − ŷ` of a forecast of `step` steps.
    pub(super) fn learn(&mut self, step: usize, error: f64, unit: f64, coverage: f64, rate: f64) {
        let (horizons, h) = (self.squares.len(), step - 1);
        let sigma = self.scale(step, unit);
        if sigma > 0.0 {
            let residual = error / sigma;
            let tail = (1.0 - coverage) / 2.0;
            let standard = [tail, 1.0 - tail].map(|p| (p, self.standard(p, step)));
            let residuals = &mut self.residuals[bucket(step, horizons)];
            let share = 1.0 / residuals.horizons as f64;
            for (side, (p, quantile)) in residuals.sides.iter_mut().zip(standard) {
                side.learn(p, residual, quantile, rate, share);
            }
            residuals.push(residual.clamp(-FARTHEST, FARTHEST));
        }
        let error = if self.counted[h] >= MEMORY { error.abs().min(FARTHEST * sigma) } else { error };
        self.counted[h] = (self.counted[h] + 1).min(usize::MAX / 4);
        self.squares[h] += (error * error - self.squares[h]) / self.counted[h].min(MEMORY) as f64;
    }

    /// Distance of the quantile of `p` from the forecast of `step` steps. Beyond the largest
    /// horizon the deviation grows like the root of the steps; `unit` is that of one step while no
    /// error is known.
    pub(super) fn offset(&self, p: f64, step: usize, unit: f64) -> f64 {
        let horizons = self.squares.len();
        let known = step.min(horizons);
        let sigma = self.scale(known, unit) * (step as f64 / known as f64).sqrt();
        self.residuals[bucket(step, horizons)].widened(sigma * self.standard(p, known))
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
            let moved = residuals.sides.iter().flat_map(|side| side.widths);
            let within = moved.into_iter().all(|width| width.abs() <= WIDEST);
            let lost = residuals.sides.iter().flat_map(|side| side.losses).all(|loss| (0.0..1e6).contains(&loss));
            Inconsistent::require(within && lost, WHAT, "widths are in their range")?;
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
            (1..=3).for_each(|step| quantiles.learn(step, error, 1.0, 0.9, 0.0));
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
            (1..=2).for_each(|step| quantiles.learn(step, 5.0 + uniform(), 1.0, 0.9, 0.02));
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
            quantiles.learn(1, error, 1.0, 0.9, 0.02);
        }
        assert!((f64::from(held) / 4000.0 - 0.9).abs() < 0.015, "{held}");
    }
}
