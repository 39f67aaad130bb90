//! Running mean and variance.

use mercer_core::{Inconsistent, Validate};

/// Values beyond this count as this in the sums, so that no square leaves the range of the numbers.
const LARGEST: f64 = 1e150;

/// A deviation below this part of the mean is rounding.
const ROUNDING: f64 = 1e-13;

/// Count, mean and variance of the values so far, in one pass.
///
/// ```text
/// m ← m + (v − m)/n        s² ← s² + ((v − m₀)(v − m) − s²)/n,   m₀ the mean before v
/// ```
///
/// The variance divides by `n`. Values beyond ±10¹⁵⁰ count as ±10¹⁵⁰. `O(1)` a value. Source: B. P.
/// Welford, *Note on a method for calculating corrected sums of squares and products*, 1962.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunningMoments {
    count: u64,
    mean: f64,
    variance: f64,
}

impl RunningMoments {
    /// Takes a finite value in.
    pub fn observe(&mut self, value: f64) {
        let value = value.clamp(-LARGEST, LARGEST);
        self.count += 1;
        let n = self.count as f64;
        let before = value - self.mean;
        self.mean += before / n;
        self.variance += ((before * (value - self.mean)).max(0.0) - self.variance) / n;
    }

    /// Values so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, 0 before the first.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// `√s²`; 0 where all values are the same up to rounding.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let deviation = self.variance.sqrt();
        if deviation > ROUNDING * self.mean.abs() && deviation.is_normal() { deviation } else { 0.0 }
    }
}

impl Validate for RunningMoments {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "running mean";
        let sound = self.mean.abs() <= LARGEST && self.count < u64::MAX / 2;
        Inconsistent::require(sound, WHAT, "it is a number of its range")?;
        Inconsistent::non_negative(self.variance, "running variance")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn observed(values: &[f64]) -> RunningMoments {
        let mut moments = RunningMoments::default();
        values.iter().for_each(|value| moments.observe(*value));
        moments
    }

    #[test]
    fn a_constant_has_no_deviation() {
        assert_eq!(observed(&[0.1; 1000]).deviation(), 0.0);
        assert_eq!(observed(&[0.3, 0.1 + 0.2, 0.3]).deviation(), 0.0);
        assert_eq!(observed(&[]), RunningMoments::default());
        assert_eq!(observed(&[1.0, 3.0]).deviation(), 1.0);
    }

    #[test]
    fn huge_values_stay_finite() {
        let moments = observed(&[f64::MAX, f64::MIN, f64::MAX, 1.0, f64::MIN, f64::MIN]);
        assert_eq!(moments.validate(), Ok(()));
        assert!(moments.deviation() > 1e149);
    }

    proptest! {
        /// Two passes: first the mean, then the squares about it.
        #[test]
        fn agrees_with_two_passes(values in prop::collection::vec(-1e3..1e3_f64, 1..300), shift in -1e6..1e6_f64) {
            let values: Vec<f64> = values.iter().map(|value| value + shift).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            let moments = observed(&values);
            prop_assert!((moments.mean() - mean).abs() <= 1e-14 * shift.abs().max(1e3) * 3.0);
            prop_assert!((moments.variance - variance).abs() <= 1e-9 * variance.max(1e-3));
        }
    }
}
