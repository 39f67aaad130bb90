//! The unit of a target: its middle, and half the range of the targets that tell it.

use mercer_core::{Inconsistent, Validate};

use crate::scale::divided;

/// Interquartile ranges beyond the quartiles where a target does not count.
const FAR: f64 = 10.0;
/// Half a range below this part of the middle is rounding.
const ROUNDING: f64 = 1e-13;

/// The scale of a target: `z = (y − centre)/scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TargetScale {
    centre: f64,
    scale: f64,
}

impl TargetScale {
    /// That of some finite targets: their middle and half their range, without those far from the
    /// others. Targets that are all the same, `c`, have scale `|c|`, or 1 for 0. `O(n log n)`.
    #[must_use]
    pub fn from_targets(targets: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = targets.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return Self { centre: 0.0, scale: 1.0 } };
        let (low, high) = (sorted[sorted.len() / 4], sorted[last - sorted.len() / 4]);
        let far = FAR * (high - low);
        let near = |y: &f64| far == 0.0 || (low - far..=high + far).contains(y);
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for y in sorted.into_iter().filter(near) {
            (low, high) = (low.min(y), high.max(y));
        }
        let (centre, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
        if half.is_normal() && half > ROUNDING * centre.abs() {
            Self { centre, scale: half }
        } else {
            Self { centre: low, scale: if low.is_normal() { low.abs() } else { 1.0 } }
        }
    }

    /// `z`, finite for a finite `y`.
    #[must_use]
    pub fn apply(self, y: f64) -> f64 {
        divided(y, self.centre, self.scale).clamp(-f64::MAX, f64::MAX)
    }

    /// `y`; a number beyond the largest becomes the largest.
    #[must_use]
    pub fn undo(self, z: f64) -> f64 {
        (self.centre + self.scale * z).clamp(-f64::MAX, f64::MAX)
    }

    /// One scaled unit in units of the target.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }
}

impl Validate for TargetScale {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.centre.validate()?;
        Inconsistent::non_negative(self.scale, "scale of a target")
    }
}
