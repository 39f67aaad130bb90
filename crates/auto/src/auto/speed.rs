//! Time that a mixture costs on this machine: a budget in microseconds becomes one in
//! multiply-adds.

use std::time::Instant;

use mercer_core::ParameterError;
use mercer_learners::{Error, Rows, Targets};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::ahead::{Ahead, FeatureBlock, PIECE, in_blocks};
use super::grid::filling;
use super::nearest::Nearest;
use super::plan::{Past, Size};
use super::scales::{ScaledRow, ScaledRows};
use super::{Auto, AutoParams};

/// ChaCha8 stream of the rows, apart from other draws.
const STREAM: u64 = 0x7370_6565;
/// The same for what fills the windows.
const WINDOW: u64 = STREAM + 1;
/// Rows that a time is taken over, in so many rounds of which the quickest counts.
const ROWS: usize = 2 * PIECE;
const ROUNDS: usize = 3;
/// The largest budget that is tried; above it time goes with the budget.
const LARGEST: f64 = 2e6;
/// Examples that fill the windows, as a multiple of what the budget pays for where a search looks
/// at all of them: windows grow.
const FILLED: usize = 2;
/// Halvings of the range, which leave a tenth of the budget.
const HALVINGS: usize = 7;

impl Auto {
    /// The budget in multiply-adds whose rounds take `microseconds` on this machine, on one core,
    /// with full dictionaries and windows: rounded down to two digits; the rounds in which
    /// relevance is learnt are not counted. The other parameters are those of `params`.
    ///
    /// It is measured in a few seconds, on rows drawn at random, and another run may find another
    /// number. Give [`budget`](AutoParams::budget) the number to repeat a run.
    ///
    /// # Errors
    /// When the smallest mixture takes longer, or the time is not a positive number.
    pub fn budget_within(microseconds: f64, dimension: usize, params: AutoParams) -> Result<usize, Error> {
        ParameterError::positive("budget", microseconds)?;
        let speed = Speed::new(dimension, params);
        let (mut low, mut high) = (1000.0, LARGEST);
        let slowest = speed.microseconds(high)?;
        if slowest <= microseconds {
            return Ok(two_digits((high * microseconds / slowest).min(super::LARGEST_BUDGET as f64)));
        }
        let quickest = speed.microseconds(low)?;
        let rule = "a time in which this machine learns a row by the smallest mixture";
        ParameterError::require(quickest <= microseconds, "budget", rule, microseconds)?;
        for _ in 0..HALVINGS {
            let middle = (low * high).sqrt();
            if speed.microseconds(middle)? <= microseconds { low = middle } else { high = middle }
        }
        Ok(two_digits(low))
    }
}

/// The number rounded down to two digits.
fn two_digits(number: f64) -> usize {
    let unit = 10.0_f64.powi(number.log10() as i32 - 1);
    ((number / unit).floor() * unit) as usize
}

fn rng(stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    rng.set_stream(stream);
    rng
}

/// Rows on which mixtures are timed.
struct Speed {
    dimension: usize,
    params: AutoParams,
    rows: Vec<f64>,
    targets: Vec<f64>,
}

impl Speed {
    fn new(dimension: usize, params: AutoParams) -> Self {
        let mut rng = rng(STREAM);
        let count = filling(dimension, in_blocks(LARGEST)) + ROUNDS * ROWS;
        let mut uniform = |numbers: usize| (0..numbers).map(|_| rng.random_range(-1.0..1.0)).collect();
        Self { dimension, params, rows: uniform(count * dimension), targets: uniform(count * params.outputs) }
    }

    fn block(&self, first: usize, end: usize) -> Result<FeatureBlock<'_>, Error> {
        let (d, m) = (self.dimension, self.params.outputs);
        let (straight, targets) = (&self.rows[first * d..end * d], &self.targets[first * m..end * m]);
        Ok(FeatureBlock { rows: Rows::new(straight, d, Targets::new(targets, &[], m)?)?, straight })
    }

    /// Microseconds of a row with this budget, once dictionaries and windows are full.
    fn microseconds(&self, budget: f64) -> Result<f64, Error> {
        let (d, m) = (self.dimension, self.params.outputs);
        let params = self.params.budget(budget as usize);
        let size = Size::choose((d, m), params);
        // Uniform on [−1, 1]: the mean squared distance is ⅔d.
        let unit = (2.0 / 3.0 * d.max(1) as f64).sqrt();
        let [straight, bent] = [self.rows[..PIECE * d].to_vec(), self.rows[..PIECE * d].to_vec()];
        let (few, targets) = (ScaledRows { straight, bent }, &self.targets[..PIECE * m]);
        let mut ahead = Ahead::new((d, m), unit, &few, size, params)?;
        let warm = filling(d, in_blocks(budget));
        let mut predictions = Vec::new();
        ahead.learn_in_pieces(self.block(0, warm.max(PIECE))?, false, |made| predictions.extend_from_slice(made))?;
        let given = ahead.len();
        predictions.truncate(PIECE * given * m);
        let predictions = &predictions;
        let past = Past { width: d, outputs: m, given, scaled: &few, targets, weights: &[], predictions };
        let mut nearest = Nearest::learn(unit, size, params.rule, past, None)?;
        let (mut rng, mut row) = (rng(WINDOW), vec![0.0; d + m]);
        for _ in 0..FILLED * size.window {
            row.iter_mut().for_each(|value| *value = rng.random_range(-1.0..1.0));
            let (x, y) = row.split_at(d);
            nearest.fill(ScaledRow { straight: x, bent: x }, y);
        }
        let mut quickest = f64::INFINITY;
        for round in 0..ROUNDS {
            let block = self.block(warm + round * ROWS, warm + (round + 1) * ROWS)?;
            let (mut row, mut views) = (0, vec![0.0; m]);
            let began = Instant::now();
            ahead.learn_in_pieces(block, false, |given| {
                nearest.round(block.row(row), given, block.rows.target(row), &mut views);
                row += 1;
            })?;
            quickest = quickest.min(began.elapsed().as_secs_f64());
        }
        Ok(1e6 * quickest / ROWS as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_time_is_a_larger_budget_and_too_short_a_time_is_refused() -> Result<(), Error> {
        let params = AutoParams::default();
        assert!(Auto::budget_within(1e5, 3, params)? >= LARGEST as usize / 100);
        for time in [0.0, -1.0, f64::NAN, 1e-6] {
            assert!(Auto::budget_within(time, 3, params).is_err(), "{time}");
        }
        Ok(())
    }

    #[test]
    fn two_digits_are_left() {
        assert_eq!([1000.0, 1234.0, 98_765.0, 4e6].map(two_digits), [1000, 1200, 98_000, 4_000_000]);
    }
}
