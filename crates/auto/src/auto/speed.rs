//! What a mixture costs in time on this machine: a budget in microseconds becomes one in
//! multiply-adds.

use std::time::Instant;

use mercer_core::ParameterError;
use mercer_experts::Rule;
use mercer_learners::{Error, Mixture, RegressorExt, Rows, Targets};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::grid::{PIECE, grid, learn_in_pieces, most_points};
use super::metrics::Row;
use super::nearest::Nearest;
use super::plan::{Past, Size};
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
        let count = most_points(dimension, LARGEST, true) + ROUNDS * ROWS;
        let mut uniform = |numbers: usize| (0..numbers).map(|_| rng.random_range(-1.0..1.0)).collect();
        Self { dimension, params, rows: uniform(count * dimension), targets: uniform(count * params.outputs) }
    }

    fn rows(&self, first: usize, end: usize) -> Result<Rows<'_>, Error> {
        let (d, m) = (self.dimension, self.params.outputs);
        Rows::new(&self.rows[first * d..end * d], d, Targets::new(&self.targets[first * m..end * m], &[], m)?)
    }

    /// Of a row with this budget, once dictionaries and windows are full.
    fn microseconds(&self, budget: f64) -> Result<f64, Error> {
        let (d, m) = (self.dimension, self.params.outputs);
        let size = Nearest::size(0.75 * budget, (d, m), self.params.neighbours);
        // Uniform on [−1, 1]: the mean squared distance is ⅔d.
        let unit = (2.0 / 3.0 * d.max(1) as f64).sqrt();
        let members = grid((d, m), unit, &self.targets, budget as usize, size.is_some())?;
        let mut experts = Mixture::new(members, Rule::default())?;
        let mut made = Vec::new();
        let warm = most_points(d, budget, true);
        experts.learn_rows(self.rows(0, warm)?, &mut made)?;
        let mut nearest = size.map(|size| self.nearest(unit, size)).transpose()?;
        let mut quickest = f64::INFINITY;
        for round in 0..ROUNDS {
            let rows = self.rows(warm + round * ROWS, warm + (round + 1) * ROWS)?;
            let (mut row, mut prediction) = (0, vec![0.0; m]);
            let began = Instant::now();
            learn_in_pieces(&mut experts, rows, &mut made, false, |predictions| {
                for grid in predictions.chunks_exact(m) {
                    if let Some(nearest) = &mut nearest {
                        let input = Row { raw: rows.input(row), scaled: rows.input(row) };
                        nearest.round(input, grid, rows.target(row), &mut prediction);
                    }
                    row += 1;
                }
            })?;
            quickest = quickest.min(began.elapsed().as_secs_f64());
        }
        Ok(1e6 * quickest / ROWS as f64)
    }

    /// With full windows.
    fn nearest(&self, unit: f64, size: Size) -> Result<Nearest, Error> {
        let (d, m) = (self.dimension, self.params.outputs);
        let (rows, targets) = (&self.rows[..PIECE * d], &self.targets[..PIECE * m]);
        let past =
            Past { dimension: d, outputs: m, raw: rows, scaled: rows, targets, weights: &[], predictions: targets };
        let mut nearest = Nearest::learn(unit, size, self.params.rule, past, None)?;
        let (mut rng, mut row) = (rng(WINDOW), vec![0.0; d + m]);
        for _ in 0..FILLED * size.window {
            row.iter_mut().for_each(|value| *value = rng.random_range(-1.0..1.0));
            let (x, y) = row.split_at(d);
            nearest.fill(Row { raw: x, scaled: x }, y);
        }
        Ok(nearest)
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
