//! The effect of known inputs on a series, such as promotions or holidays, row by row.
//!
//! ```text
//! y_t = r_t + βᵀ x_t,     x = (u − u_0)/s
//! ```
//!
//! with the first input `u_0` and, for each input, its first change `s` as unit. `r` goes its own
//! way, so `β` is found from differences, in which `r` is nearly noise: those of neighbours, those
//! over a season, or the differences of these. Three regressions with the ridge ½ run side by side,
//! and the one of the smallest error for the size of its inputs counts. Cost a row: `3q²`.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};
use mercer_linalg_incremental::{AlignedVec, SquareRootRls, SquareRootScratch};

/// Longest season of which differences are taken.
const LONGEST: usize = 400;

/// The regulariser, in units of rows.
const RIDGE: f64 = 0.5;

/// Share of the mean errors of a regression that is forgotten in a row.
const FORGETS: f64 = 0.01;

/// A regression of differences.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct DifferenceRegression {
    factor: SquareRootRls,
    /// Mean squares of errors and of inputs, over rows that decay.
    error: f64,
    size: f64,
    rows: f64,
}

/// The effect of a known input on an output, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputEffect {
    /// What one unit of the input more adds to the output; 0 while the input has not changed.
    pub per_unit: f64,
    /// The standard error of that, by least squares, as if the differences that it is found from
    /// had errors without memory. Infinite while the input has not changed.
    pub standard_error: f64,
    /// The share, from 0 to 1, of the forecast of one step that is made with the inputs: what their
    /// effects were worth. The forecast moves by `share · per_unit` when the input does.
    pub share: f64,
    /// The effect of a unit in units of the output's [mean](crate::Seasons::mean), if both are
    /// known and the mean is not 0.
    pub of_mean: Option<f64>,
}

impl InputEffect {
    /// False while the input has not changed, so that nothing is known of it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.standard_error.is_finite()
    }

    /// The effect on an output of this mean.
    pub(super) fn beside(mut self, mean: f64) -> Self {
        self.of_mean = (self.is_known() && mean != 0.0).then(|| self.per_unit / mean.abs());
        self
    }
}

/// The effect of `q` inputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Effect {
    first: Option<Vec<f64>>,
    /// 0 until an input has changed.
    units: Vec<f64>,
    /// The last rows, `x` before `y`, which may be missing.
    past: VecDeque<Option<f64>>,
    /// The season of the two last ways, 0 for none.
    season: usize,
    ways: Vec<DifferenceRegression>,
    coefficients: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: (AlignedVec, SquareRootScratch),
}

impl DifferenceRegression {
    fn new(inputs: usize) -> Self {
        Self { factor: SquareRootRls::new(&vec![RIDGE; inputs], 1), error: 0.0, size: 0.0, rows: 0.0 }
    }

    fn learn(&mut self, x: &AlignedVec, y: f64, scratch: &mut SquareRootScratch) {
        let size: f64 = x.iter().map(|x| x * x).sum();
        let mut guess = [0.0];
        // A row out of range is not learnt; what comes before it stands.
        if self.factor.predict_then_update(x, &[y], x.len(), &mut guess, scratch).is_ok() {
            let error = (y - guess[0]) * (y - guess[0]);
            self.error += FORGETS * (error - self.error);
            self.size += FORGETS * (size - self.size);
            self.rows += FORGETS * (1.0 - self.rows);
        }
    }

    /// The standard error of a coefficient: `√(σ² (V⁻¹)ᵢᵢ)` with the mean square of errors as `σ²`.
    fn standard_error(&self, coefficient: usize) -> f64 {
        let mut unit = AlignedVec::zeros(self.factor.dimension());
        unit[coefficient] = 1.0;
        let square = self.factor.predict(&unit, unit.len(), &mut [0.0], &mut SquareRootScratch::default()) - 1.0;
        (self.error / self.rows * square).sqrt()
    }

    /// The variance of coefficients, up to a factor.
    fn doubt(&self) -> f64 {
        if self.size > 0.0 { self.error / self.size } else { f64::INFINITY }
    }
}

/// `x` of an input.
fn scaled<'a>(first: Option<&'a [f64]>, units: &'a [f64], input: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let scaled = |((u, first), unit): ((&f64, &f64), &f64)| if *unit > 0.0 { (u - first) / unit } else { 0.0 };
    input.iter().zip(first.unwrap_or(input)).zip(units).map(scaled)
}

impl Effect {
    pub(super) fn new(inputs: usize) -> Self {
        Self {
            first: None,
            units: vec![0.0; inputs],
            past: VecDeque::new(),
            season: 0,
            ways: vec![DifferenceRegression::new(inputs)],
            coefficients: AlignedVec::zeros(inputs),
            work: Default::default(),
        }
    }

    /// Effect of an input on the series.
    pub(super) fn evaluate(&self, input: &[f64]) -> f64 {
        self.evaluate_by(&self.coefficients, input)
    }

    /// The same by other coefficients.
    pub(super) fn evaluate_by(&self, coefficients: &[f64], input: &[f64]) -> f64 {
        let sum: f64 = self.scaled(input).zip(coefficients).map(|(x, beta)| x * beta).sum();
        if sum.is_finite() { sum } else { 0.0 }
    }

    /// What each number of an input adds; their sum is the effect.
    pub(super) fn each(&self, input: &[f64]) -> Vec<f64> {
        let each: Vec<f64> = self.scaled(input).zip(self.coefficients.iter()).map(|(x, beta)| x * beta).collect();
        if each.iter().sum::<f64>().is_finite() { each } else { vec![0.0; each.len()] }
    }

    /// Coefficients of the inputs in their units.
    pub(super) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The effect of each input, of which forecasts have this share.
    pub(super) fn told(&self, share: f64) -> Vec<InputEffect> {
        let best = self.best();
        let one = |(i, (unit, beta)): (usize, (&f64, &f64))| match best.filter(|way| *unit > 0.0 && way.rows > 0.0) {
            Some(way) => {
                let standard_error = way.standard_error(i) / unit;
                InputEffect { per_unit: beta / unit, standard_error, share, of_mean: None }
            }
            None => InputEffect { per_unit: 0.0, standard_error: f64::INFINITY, share, of_mean: None },
        };
        self.units.iter().zip(self.coefficients.iter()).enumerate().map(one).collect()
    }

    pub(super) fn inputs(&self) -> usize {
        self.units.len()
    }

    /// The regression that counts.
    fn best(&self) -> Option<&DifferenceRegression> {
        self.ways.iter().min_by(|a, b| a.doubt().total_cmp(&b.doubt()))
    }

    fn scaled<'a>(&'a self, input: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        scaled(self.first.as_deref(), &self.units, input)
    }

    /// Learns a row; a missing one has no `y`. `season` is the shortest period.
    pub(super) fn learn(&mut self, input: &[f64], y: Option<f64>, season: Option<usize>) {
        let q = self.units.len();
        let first = self.first.get_or_insert_with(|| input.to_vec());
        for ((unit, u), first) in self.units.iter_mut().zip(input).zip(first) {
            if *unit == 0.0 {
                *unit = (u - *first).abs();
            }
        }
        let season = season.filter(|season| *season <= LONGEST).unwrap_or(0);
        if season != self.season {
            self.season = season;
            self.ways.truncate(1);
            self.ways.extend((0..if season > 0 { 2 } else { 0 }).map(|_| DifferenceRegression::new(q)));
        }
        self.past.reserve((self.rows_kept() + 1) * (q + 1));
        let Self { first, units, past, .. } = &mut *self;
        past.extend(scaled(first.as_deref(), units, input).map(Some).chain([y]));
        let (mut x, mut scratch) = std::mem::take(&mut self.work);
        let past = &self.past;
        let value = |lag: usize, i: usize| {
            let place = past.len().checked_sub((lag + 1) * (q + 1));
            place.and_then(|start| past.get(start + i)).copied().flatten().unwrap_or(f64::NAN)
        };
        for (way, kind) in self.ways.iter_mut().zip(0..) {
            let difference = |i: usize| match kind {
                0 => value(0, i) - value(1, i),
                1 => value(0, i) - value(season, i),
                _ => value(0, i) - value(1, i) - (value(season, i) - value(season + 1, i)),
            };
            let dy = difference(q);
            if dy.is_finite() {
                x.resize(q);
                x.iter_mut().enumerate().for_each(|(i, x)| *x = difference(i));
                way.learn(&x, dy, &mut scratch);
            }
        }
        self.work = (x, scratch);
        let mut coefficients = std::mem::take(&mut self.coefficients);
        if let Some(best) = self.best() {
            best.factor.coefficients(q, &mut coefficients);
        }
        self.coefficients = coefficients;
        let kept = self.rows_kept() * (q + 1);
        self.past.drain(..self.past.len().saturating_sub(kept));
    }

    fn rows_kept(&self) -> usize {
        self.season + 1
    }

    pub(super) fn validate(&self, inputs: usize) -> Result<(), Inconsistent> {
        const WHAT: &str = "effect of known inputs";
        self.units.validate()?;
        self.coefficients.validate()?;
        let ways = if self.season == 0 { 1 } else { 3 };
        let fits = self.units.len() == inputs
            && self.coefficients.len() == inputs
            && self.first.as_ref().is_none_or(|first| first.len() == inputs)
            && self.season <= LONGEST
            && self.ways.len() == ways
            && self.past.len().is_multiple_of(inputs + 1)
            && self.past.len() <= self.rows_kept() * (inputs + 1);
        Inconsistent::require(fits, WHAT, "it has a number for each input")?;
        self.first.validate()?;
        self.past.iter().flatten().try_for_each(Validate::validate)?;
        for way in &self.ways {
            way.factor.validate()?;
            let fits = (way.factor.dimension(), way.factor.outputs()) == (inputs, 1);
            let sound = way.error >= 0.0 && way.size >= 0.0 && (0.0..=1.0).contains(&way.rows);
            Inconsistent::require(fits && sound, WHAT, "each regression has all inputs")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A random walk with a wave, and runs of promotions: each way finds the effect, and so does
    /// the best.
    #[test]
    fn effects_are_found_beside_levels_and_seasons() {
        let noise = |t: usize| ((t * 7919 + 13) * (t * 104_729 + 7) % 1009) as f64 / 1009.0 - 0.5;
        let mut effect = Effect::new(2);
        let mut level = 100.0;
        for t in 0..400_usize {
            level += 0.3 * noise(t);
            let wave = 20.0 * (t as f64 * std::f64::consts::TAU / 7.0).sin();
            let input = [f64::from(t * t % 13 < 4), 5.0 + 0.2 * noise(3 * t + 1)];
            let y = level + wave + 15.0 * input[0] - 40.0 * (input[1] - 5.0);
            effect.learn(&input, (t % 11 != 5).then_some(y), Some(7));
        }
        assert_eq!(effect.validate(2), Ok(()));
        let difference = |a: [f64; 2], b: [f64; 2]| effect.evaluate(&a) - effect.evaluate(&b);
        let told = effect.told(0.75);
        for (found, (truth, share)) in told.iter().zip([(15.0, 0.75), (-40.0, 0.75)]) {
            let off = (found.per_unit - truth).abs();
            assert!(off < 3.0 * found.standard_error && found.standard_error < truth.abs() / 5.0, "{found:?}");
            assert_eq!(found.share, share);
        }
        let (promotion, price) = (difference([1.0, 5.0], [0.0, 5.0]), difference([0.0, 5.1], [0.0, 5.0]));
        assert!((promotion - 15.0).abs() < 0.3 && (price + 4.0).abs() < 0.3, "{promotion} {price}");
    }
}
