//! Columns that have a value in a few rows only.
//!
//! Least squares upon lags learns from rows in which all outputs are there. A column with a value
//! in every 37th row would leave it one row of 37, and lags that are nearly all made up. So a
//! column whose values are more than [`RARE`] rows apart is forecast by itself: by the mean of its
//! last [`MEMORY`] values, or by the last one, whichever erred less. That also stands for it where
//! it is missing, so the other columns are learnt from every row.

use mercer_core::{Inconsistent, Validate};

/// Rows from value to value, on average, above which a column is rare.
const RARE: f64 = 8.0;

/// Longest distance that counts: one long outage makes no column rare.
const LONGEST: f64 = 40.0;

/// Weight of the newest distance in their mean.
const NEWEST: f64 = 0.1;

/// Values that a mean is of.
const MEMORY: f64 = 30.0;

/// What is known of a column by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RareColumn {
    /// Mean distance of values, in rows.
    distance: f64,
    /// Values so far, at most [`MEMORY`].
    values: f64,
    mean: f64,
    last: f64,
    /// Mean absolute errors of the mean and of the last value.
    errors: [f64; 2],
}

impl RareColumn {
    /// A column before its first row.
    pub(crate) fn new() -> Self {
        Self { distance: 1.0, values: 0.0, mean: 0.0, last: 0.0, errors: [0.0; 2] }
    }

    /// The forecast, where the column is rare.
    pub(crate) fn prediction(&self) -> Option<f64> {
        let [of_mean, of_last] = self.errors;
        (self.distance > RARE && self.values > 0.0).then_some(if of_mean <= of_last { self.mean } else { self.last })
    }

    /// Takes a value, so many rows after the one before.
    pub(crate) fn see(&mut self, y: f64, rows: u32) {
        if self.values > 0.0 {
            self.distance += NEWEST * (f64::from(rows).min(LONGEST) - self.distance);
        }
        let errors = [(y - self.mean).abs(), (y - self.last).abs()];
        self.values = (self.values + 1.0).min(MEMORY);
        if self.values > 1.0 {
            self.errors.iter_mut().zip(errors).for_each(|(mean, error)| *mean += (error - *mean) / self.values);
        }
        self.mean += (y - self.mean) / self.values;
        self.last = y;
    }

    /// The column has a new level.
    pub(crate) fn restart(&mut self) {
        *self = Self { distance: self.distance, ..Self::new() };
    }
}

impl Validate for RareColumn {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "column of a series";
        Inconsistent::positive(self.distance, "distance of values")?;
        Inconsistent::non_negative(self.values, "number of values")?;
        [self.mean, self.last].iter().try_for_each(Validate::validate)?;
        let errors = self.errors.iter().all(|error| *error >= 0.0 && error.is_finite());
        Inconsistent::require(errors, WHAT, "its errors are sizes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_distant_values_are_rare() {
        let mut column = RareColumn::new();
        (0..100).for_each(|t| column.see(f64::from(t % 2), 1));
        assert_eq!(column.prediction(), None);
        column.see(1.0, 100_000);
        assert_eq!(column.prediction(), None, "one outage");
        (0..10).for_each(|t| column.see(f64::from(t % 2), 37));
        let mean = column.prediction().unwrap();
        assert!((mean - 0.5).abs() < 0.1, "values to and fro are best forecast by their mean: {mean}");
        (0..200).for_each(|t| column.see(f64::from(t), 37));
        assert_eq!(column.prediction(), Some(199.0), "a line by its last value");
    }
}
