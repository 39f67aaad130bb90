//! A sample of the inputs that a model has learnt: what they are where nothing is known of a row.

use mercer_core::{Inconsistent, Validate};
use serde::{Deserialize, Serialize};

/// Rows that are kept at most, and numbers of them all: 256 KiB.
const MOST_ROWS: usize = 128;
const MOST_NUMBERS: usize = 1 << 15;

/// A sample of the inputs learnt so far, in which every row of the stream is as likely as another:
/// 128 rows at most, and of wide rows as many as have 32,768 numbers.
///
/// Which rows these are depends on nothing but their number, so that two runs over the same rows
/// keep the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackgroundRows {
    /// Inputs of a row.
    width: usize,
    /// Row by row.
    numbers: Vec<f64>,
    /// Rows that were met.
    met: u64,
}

impl BackgroundRows {
    /// A row was learnt. `O(1)`; `O(d)` when it is kept.
    pub fn take(&mut self, inputs: &[f64]) {
        let width = inputs.len();
        if width == 0 {
            return;
        }
        if self.width != width {
            // Columns that joined were 0 before.
            self.widen(width);
        }
        self.met += 1;
        let most = (MOST_NUMBERS / width).clamp(1, MOST_ROWS);
        let kept = self.numbers.len() / width;
        if kept < most {
            self.numbers.extend_from_slice(inputs);
            return;
        }
        // Vitter's algorithm R, its draws by the number of the row.
        let place = (u128::from(scattered(self.met)) * u128::from(self.met)) >> 64;
        if place < kept as u128 {
            self.numbers[place as usize * width..][..width].copy_from_slice(inputs);
        }
    }

    /// The sample of the rows of two shards, each with its share.
    pub(super) fn merge(&mut self, other: &Self) {
        let width = self.width.max(other.width);
        let (own, theirs) = (self.rows(width), other.rows(width));
        let met = self.met + other.met;
        let most = (MOST_NUMBERS / width.max(1)).clamp(1, MOST_ROWS).min(own.len() + theirs.len());
        let share = (most as u128 * u128::from(self.met)).div_ceil(u128::from(met.max(1))) as usize;
        let share = share.max(most - most.min(theirs.len())).min(own.len());
        let rows = own[..share].iter().chain(&theirs).take(most);
        *self = Self { width, numbers: rows.flatten().copied().collect(), met };
    }

    /// Rows so wide, what is new of which is 0; as many as may be kept of these.
    fn widen(&mut self, width: usize) {
        let most = (MOST_NUMBERS / width).clamp(1, MOST_ROWS);
        let before = std::mem::replace(&mut self.width, width);
        let old = std::mem::take(&mut self.numbers);
        for row in old.chunks_exact(before.max(1)).take(most) {
            self.numbers.extend(row.iter().copied().take(width));
            let len = self.numbers.len();
            self.numbers.resize(len.next_multiple_of(width), 0.0);
        }
    }

    /// The rows, each of the `width` inputs of the learner: what joined later is 0.
    #[must_use]
    pub fn rows(&self, width: usize) -> Vec<Vec<f64>> {
        let mut all = self.clone();
        if self.width != width && self.width > 0 {
            all.widen(width);
        }
        all.numbers.chunks_exact(width.max(1)).map(<[f64]>::to_vec).collect()
    }

    /// True if no row is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// A number with the bits of another in disorder (splitmix64).
fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Validate for BackgroundRows {
    fn validate(&self) -> Result<(), Inconsistent> {
        let Self { width, numbers, met } = self;
        let whole = numbers.len().is_multiple_of((*width).max(1)) && (*width > 0 || numbers.is_empty());
        let rows = numbers.len() / (*width).max(1);
        let bounded = rows <= MOST_ROWS && (rows <= 1 || numbers.len() <= MOST_NUMBERS);
        Inconsistent::require(whole && bounded, "sample of rows", "its rows are whole, and bounded")?;
        Inconsistent::require(rows as u64 <= *met, "sample of rows", "all were met")?;
        Inconsistent::require(numbers.iter().all(|x| x.is_finite()), "sample of rows", "numbers are finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_as_likely_as_another() {
        let mut sample = BackgroundRows::default();
        for row in 0..100_000 {
            sample.take(&[f64::from(row), 1.0]);
        }
        let rows = sample.rows(2);
        assert_eq!(rows.len(), MOST_ROWS);
        assert!(sample.validate().is_ok());
        // A mean of 128 uniform numbers is within 4 deviations.
        let mean = rows.iter().map(|row| row[0]).sum::<f64>() / 128.0;
        assert!((mean - 50_000.0).abs() < 4.0 * 28_868.0 / 128f64.sqrt(), "{mean}");
        let early = rows.iter().filter(|row| row[0] < 25_000.0).count();
        assert!((12..=52).contains(&early), "{early} of the first quarter");
    }

    #[test]
    fn wide_rows_are_few_and_grown_ones_keep_their_numbers() {
        let mut sample = BackgroundRows::default();
        (0..50).for_each(|row| sample.take(&[f64::from(row)]));
        sample.take(&[50.0, 7.0]);
        let rows = sample.rows(3);
        assert_eq!((rows.len(), &rows[49], &rows[50]), (51, &vec![49.0, 0.0, 0.0], &vec![50.0, 7.0, 0.0]));
        let mut other = BackgroundRows::default();
        (0..102).for_each(|_| other.take(&[-1.0, 0.0]));
        sample.merge(&other);
        let theirs = sample.rows(2).iter().filter(|row| row[0] == -1.0).count();
        assert_eq!((sample.rows(2).len(), theirs, sample.met), (128, 85, 153));
        let mut wide = BackgroundRows::default();
        (0..50).for_each(|_| wide.take(&[1.0; 4096]));
        assert_eq!(wide.rows(4096).len(), 8);
        assert!(wide.validate().is_ok());
        wide.numbers.pop();
        assert!(wide.validate().is_err(), "a row that is not whole");
    }
}
