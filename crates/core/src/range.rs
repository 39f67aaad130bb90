//! The range of the values of a column, and where in it a value lies: min-max scaling.

use crate::{Inconsistent, Validate};

/// The smallest and the largest value of a column.
///
/// A value x of a range [a, b] has the share (x − a)/(b − a). Where b − a or x − a overflows
/// (columns of ±1e308), it is computed from halves, which cannot.
///
/// ```
/// use mercer_core::ValueRange;
///
/// let mut range = ValueRange::NOTHING;
/// assert_eq!(range.share(3.0), None);
/// [5.0, 1.0].map(|value| range.observe(value));
/// assert_eq!(range.ends(), Some((1.0, 5.0)));
/// assert_eq!((range.share(2.0), range.at(0.25)), (Some(0.25), 2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueRange {
    low: f64,
    high: f64,
}

impl ValueRange {
    /// That of no value.
    pub const NOTHING: Self = Self { low: f64::MAX, high: f64::MIN };

    /// That of these ends, in order.
    #[must_use]
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Takes a value in.
    pub fn observe(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// The smallest and the largest value, if there was one.
    #[must_use]
    pub fn ends(self) -> Option<(f64, f64)> {
        (self.low <= self.high).then_some((self.low, self.high))
    }

    /// 0 for the smallest value and 1 for the largest; none where all are the same.
    #[must_use]
    pub fn share(self, value: f64) -> Option<f64> {
        if self.low >= self.high {
            return None;
        }
        let (above, width) = (value - self.low, self.high - self.low);
        Some(if above.is_finite() && width.is_finite() {
            above / width
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        })
    }

    /// The value of a share; the only value where all are the same.
    #[must_use]
    pub fn at(self, share: f64) -> f64 {
        if self.low >= self.high {
            return self.low;
        }
        let width = self.high - self.low;
        if width.is_finite() { self.low + share * width } else { self.low * (1.0 - share) + self.high * share }
    }
}

impl Default for ValueRange {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Validate for ValueRange {
    fn validate(&self) -> Result<(), Inconsistent> {
        (self.low, self.high).validate()
    }
}
