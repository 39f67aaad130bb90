//! Rows that are no rows of the series as it is known: they are set aside, until it is clear what
//! they are.
//!
//! A row is a surprise when it lies outside of the range of late rows and its error is beyond
//! `8 σ γ`, where `σ²` is the mean of squared errors over 300 rows, each within `8 σ`, and `γ` is
//! how errors grow behind missing rows. It counts as missing. When three in a row are off by the
//! same, to `3 σ`, the level has shifted: from there on the series is known less the shift. The
//! level before is known at once when it returns. Three equal numbers are no shift but an outage or
//! a code for a gap, unless the series often stays where it is. When surprises go on for longer
//! than a season (12 rows at least), the series is another one than it was, and is learnt as it is.

use mercer_core::{Inconsistent, Validate};

/// Deviations beyond which a row is a surprise, and within which three are off by the same.
const FAR: f64 = 8.0;
const ALIKE: f64 = 3.0;

/// Rows before which nothing is a surprise, and rows that `σ²` is the mean over.
const FIRST: usize = 30;
const MEMORY: usize = 300;

/// Rows that tell a shift.
const TELLING: usize = 3;

/// Surprises in a row that are set aside at least, whatever the season.
const PATIENCE: usize = 12;

/// The smallest `σ`, as a share of the size of a change.
const LEAST: f64 = 1e-3;

/// How a row is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taken {
    AsItIs,
    /// It is set aside, and counts as missing.
    Aside,
    /// The level has shifted by so much.
    Shifted(f64),
}

/// A row beside its forecast.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedRow {
    pub(super) y: f64,
    pub(super) error: f64,
    /// `γ`, 1 where no row is missing before it.
    pub(super) growth: f64,
    /// True if it lies between late rows.
    pub(super) known: bool,
}

/// What rows are expected to be off by, and the surprises at the end of the series.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Surprises {
    /// `σ²`
    square: f64,
    rows: usize,
    /// Share of late rows that were equal to the one before.
    still: f64,
    last: f64,
    /// Rows and their errors since the last that was none.
    run: Vec<(f64, f64)>,
    /// The last shift.
    shift: Option<f64>,
    /// Rows that were set aside, and shifts.
    counted: (usize, usize),
}

impl Surprises {
    /// Those of a series of whose beginning so many rows were set aside.
    pub(super) fn after(aside: usize) -> Self {
        Self { counted: (aside, 0), ..Self::default() }
    }

    /// Rows that were set aside, and shifts of the level, so far.
    pub(super) fn counted(&self) -> (usize, usize) {
        self.counted
    }

    /// Rows at the end that are set aside.
    pub(super) fn waiting(&self) -> usize {
        self.run.len()
    }

    /// How a row is taken; `unit` is the size of a change.
    pub(super) fn take(&mut self, row: JudgedRow, unit: f64, season: Option<usize>) -> Taken {
        let JudgedRow { y, error, growth, known } = row;
        let sigma = self.square.sqrt().max(LEAST * unit);
        if known || self.rows < FIRST || error.abs() <= FAR * sigma * growth {
            self.learn(y, error / growth, sigma);
            return Taken::AsItIs;
        }
        self.run.push((y, error));
        if self.run.len() > season.unwrap_or(1).max(PATIENCE) {
            *self = Self { counted: self.counted, ..Self::default() };
            return Taken::AsItIs;
        }
        if let Some(shift) = self.back(error, FAR * sigma * growth).or_else(|| self.shift(sigma)) {
            self.counted.0 -= self.run.len().min(TELLING) - 1;
            self.counted.1 += 1;
            self.run.clear();
            self.shift = Some(shift);
            return Taken::Shifted(shift);
        }
        self.counted.0 += 1;
        Taken::Aside
    }

    fn learn(&mut self, y: f64, error: f64, sigma: f64) {
        self.run.clear();
        self.still += (f64::from(u8::from(y == self.last)) - self.still) / (self.rows + 1).min(MEMORY) as f64;
        self.last = y;
        self.rows = (self.rows + 1).min(usize::MAX / 4);
        let within = if self.rows > FIRST { error.abs().min(FAR * sigma) } else { error };
        self.square += (within * within - self.square) / self.rows.min(MEMORY) as f64;
    }

    /// The shift back to the level before, if a row lies there.
    fn back(&self, error: f64, far: f64) -> Option<f64> {
        self.shift.map(|shift| -shift).filter(|back| (error - back).abs() <= far)
    }

    /// What the last rows are off by, if it is the same.
    fn shift(&self, sigma: f64) -> Option<f64> {
        let last = self.run.last_chunk::<TELLING>()?;
        let mut errors = last.map(|(_, error)| error);
        errors.sort_unstable_by(f64::total_cmp);
        let equal = last.iter().all(|(y, _)| *y == last[0].0);
        let alike = errors[TELLING - 1] - errors[0] <= 2.0 * ALIKE * sigma;
        (alike && (!equal || self.still > 0.5)).then_some(errors[TELLING / 2])
    }
}

impl Validate for Surprises {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "surprises";
        [self.square, self.last, self.shift.unwrap_or(0.0)].validate()?;
        self.run.iter().try_for_each(|(y, error)| [*y, *error].validate())?;
        let counted = [self.rows, self.counted.0, self.counted.1].iter().all(|count| *count < usize::MAX / 4);
        let sound = self.square >= 0.0 && (0.0..=1.0).contains(&self.still);
        Inconsistent::require(counted && sound && self.run.len() < 100_000, WHAT, "they can be counted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(y: f64, error: f64) -> JudgedRow {
        JudgedRow { y, error, growth: 1.0, known: false }
    }

    fn known() -> Surprises {
        let mut surprises = Surprises::default();
        for t in 0..60 {
            let error = if t % 2 == 0 { 1.0 } else { -1.0 };
            assert_eq!(surprises.take(row(f64::from(t), error), 1.0, None), Taken::AsItIs);
        }
        surprises
    }

    #[test]
    fn three_that_are_off_by_the_same_are_a_shift_and_fewer_are_set_aside() {
        let mut surprises = known();
        let taken = [50.0, 51.0, 52.0].map(|off| surprises.take(row(off + 0.1, off), 1.0, None));
        assert_eq!(taken, [Taken::Aside, Taken::Aside, Taken::Shifted(51.0)]);
        assert_eq!((surprises.counted(), surprises.waiting()), ((0, 1), 0));
        assert_eq!(surprises.take(row(7.0, -90.0), 1.0, None), Taken::Aside);
        assert_eq!(surprises.take(row(8.0, 1.0), 1.0, None), Taken::AsItIs);
        // The level before is known when it returns.
        assert_eq!(surprises.take(row(9.0, -50.0), 1.0, None), Taken::Shifted(-51.0));
        assert_eq!(surprises.take(row(60.0, 52.0), 1.0, None), Taken::Shifted(51.0));
        assert_eq!(surprises.counted(), (1, 3));
    }

    #[test]
    fn equal_numbers_are_set_aside_for_a_season_and_then_learnt() {
        let mut surprises = known();
        let taken: Vec<_> =
            (0..25).map(|gap| surprises.take(row(0.0, -100.0 - 0.1 * f64::from(gap)), 1.0, Some(24))).collect();
        assert!(taken[..24].iter().all(|taken| *taken == Taken::Aside) && taken[24] == Taken::AsItIs, "{taken:?}");
        // Where the series often stays where it is, they are a shift.
        let mut surprises = Surprises::default();
        for t in 0..60 {
            surprises.take(row(f64::from(t / 10), f64::from(t % 2) - 0.5), 1.0, None);
        }
        let taken = [1; 3].map(|_| surprises.take(row(90.0, 80.0), 1.0, None));
        assert_eq!(taken[2], Taken::Shifted(80.0));
    }
}
