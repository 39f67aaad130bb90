//! History of a coordinate: the last rows, their range, and their mean.

use mercer_core::{Inconsistent, Validate};

/// The last rows, in order, in one piece of memory.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RecentRows {
    /// Up to twice the rows kept: the older half goes when the memory is full.
    values: Vec<f64>,
    keep: usize,
}

impl RecentRows {
    pub(super) fn new(keep: usize) -> Self {
        Self { values: Vec::with_capacity(2 * keep), keep }
    }

    pub(super) fn push(&mut self, value: f64) {
        if self.values.len() == 2 * self.keep {
            self.values.drain(..self.keep);
        }
        self.values.push(value);
    }

    /// The last rows, the newest last, as many as there are and are kept.
    pub(super) fn rows(&self) -> &[f64] {
        &self.values[self.values.len().saturating_sub(self.keep)..]
    }

    /// Rows that are kept at most.
    pub(super) fn kept(&self) -> usize {
        self.keep
    }

    pub(super) fn validate(&self, keep: usize) -> Result<(), Inconsistent> {
        self.values.validate()?;
        let fits = self.keep == keep && self.values.len() <= 2 * keep;
        Inconsistent::require(fits, "recent rows", "they are as many as the lags need")
    }
}

/// Rows of a block of [`RecentRange`], and blocks.
const BLOCK: usize = 100;
const BLOCKS: usize = 30;

/// The least and the largest of the last 3000 rows, to a block of 100: where forecasts may go, and
/// what an observation counts at most.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RecentRange {
    /// Ends of the blocks, a ring.
    ends: Vec<(f64, f64)>,
    rows: usize,
}

impl RecentRange {
    pub(super) fn new() -> Self {
        Self { ends: vec![(0.0, 0.0); BLOCKS], rows: 0 }
    }

    pub(super) fn push(&mut self, value: f64) {
        let end = &mut self.ends[self.rows / BLOCK % BLOCKS];
        *end = if self.rows.is_multiple_of(BLOCK) { (value, value) } else { (end.0.min(value), end.1.max(value)) };
        self.rows += 1;
    }

    /// The least and the largest, in no order before the first row.
    fn ends(&self) -> (f64, f64) {
        let filled = self.rows.div_ceil(BLOCK).min(BLOCKS);
        let ends = &self.ends[..filled];
        let least = ends.iter().map(|end| end.0).fold(f64::INFINITY, f64::min);
        (least, ends.iter().map(|end| end.1).fold(f64::NEG_INFINITY, f64::max))
    }

    /// True if a value lies between those of the rows.
    pub(super) fn holds(&self, value: f64) -> bool {
        let (least, largest) = self.ends();
        (least..=largest).contains(&value)
    }

    /// One width of the range beyond either end of it.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let (least, largest) = self.ends();
        if least > largest {
            return (0.0, 0.0);
        }
        // Rounding must not clip a constant series.
        let width = largest - least + 1e-9 * least.abs().max(largest.abs());
        (least - width, largest + width)
    }

    /// An observation as it counts: one far outside of all before is pulled to the bound, which it
    /// widens. So a spoilt number does no more harm than an ordinary one, and a change of level is
    /// followed within a few rows. While nothing has varied yet, everything counts as it is.
    pub(super) fn tame(&self, value: f64) -> f64 {
        let (low, high) = self.bounds();
        let varied = high - low > 1e-6 * low.abs().max(high.abs());
        if self.rows < BLOCKS || !varied { value } else { value.clamp(low, high) }
    }
}

impl Validate for RecentRange {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.ends.validate()?;
        let ordered = self.ends.iter().all(|end| end.0 <= end.1);
        let sound = self.ends.len() == BLOCKS && ordered && self.rows < usize::MAX / 4;
        Inconsistent::require(sound, "range", "it has all blocks, their ends in order")
    }
}

/// A running mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Mean {
    value: f64,
    rows: usize,
}

impl Mean {
    pub(super) fn push(&mut self, value: f64) {
        self.rows += 1;
        self.value += (value - self.value) / self.rows as f64;
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

impl Validate for Mean {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.rows < usize::MAX / 4, "mean", "its rows can be counted")?;
        self.value.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_rows_are_the_last() {
        let mut recent = RecentRows::new(3);
        for t in 0..20 {
            recent.push(f64::from(t));
            let expected: Vec<f64> = ((t - 2).max(0)..=t).map(f64::from).collect();
            assert_eq!(recent.rows(), expected);
        }
        assert!(recent.validate(3).is_ok() && recent.validate(4).is_err());
    }

    #[test]
    fn a_spoilt_number_counts_as_the_bound() {
        let mut range = RecentRange::new();
        assert_eq!((range.bounds(), range.tame(7.0)), ((0.0, 0.0), 7.0));
        for t in 0..40 {
            range.push(f64::from(t % 11));
        }
        assert!((range.tame(-9999.0) + 10.0).abs() < 1e-6 && (range.tame(1e100) - 20.0).abs() < 1e-6);
        assert_eq!(range.tame(12.0), 12.0);
        for _ in 0..BLOCK * BLOCKS {
            range.push(5.0);
        }
        assert!((range.bounds().1 - 5.0).abs() < 1e-6);
    }
}
