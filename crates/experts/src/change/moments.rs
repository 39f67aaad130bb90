//! Mean and deviation of values, added one by one or merged.

use mercer_core::{Inconsistent, Validate};

/// Values beyond this count as this, so that squares of any number of them are finite.
const LARGEST: f64 = 1e100;

/// Deviations above the mean at which values are clipped.
const CLIP: f64 = 10.0;

/// Deviations and differences of means below this part of the values are rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// Count, mean and sum of squared deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Moments {
    count: u64,
    mean: f64,
    /// `Σ (x − mean)²`
    squares: f64,
}

impl Moments {
    pub(super) const EMPTY: Self = Self { count: 0, mean: 0.0, squares: 0.0 };

    pub(super) fn from_value(value: f64) -> Self {
        Self { count: 1, mean: value, squares: 0.0 }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the values, `Σ (x − mean)²/n`.
    pub(super) fn variance(&self) -> f64 {
        self.squares / self.count.max(1) as f64
    }

    /// The square root of the variance, 0 where it is rounding.
    pub(super) fn deviation(&self) -> f64 {
        let deviation = self.variance().sqrt();
        if deviation > ROUNDING * self.mean.abs() { deviation } else { 0.0 }
    }

    /// Moments of both together (Chan, Golub and LeVeque 1983).
    pub(super) fn merged(&self, other: &Self) -> Self {
        let count = self.count + other.count;
        let (n, own, others) = (count.max(1) as f64, self.count as f64, other.count as f64);
        let difference = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + difference * (others / n),
            squares: self.squares + other.squares + difference * difference * (own * others / n),
        }
    }

    /// `value`, at most ten deviations above the mean of these values. Where they do not deviate it
    /// is left as it is. NaN is the mean, which says nothing.
    pub(super) fn clip(&self, value: f64) -> f64 {
        let value = if value.is_nan() { self.mean } else { value.clamp(-LARGEST, LARGEST) };
        let deviation = self.deviation();
        if deviation > 0.0 { value.min(self.mean + CLIP * deviation) } else { value }
    }
}

impl Validate for Moments {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.mean.validate()?;
        Inconsistent::non_negative(self.squares, "deviation")
    }
}
