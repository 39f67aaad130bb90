//! Features by their ranks among the first rows.

use mercer_core::{Inconsistent, Validate};

/// Makes `σ⁻¹(p)/1.7` of a share `p`: nearly the normal quantile.
const TO_NORMAL: f64 = 1.702;

/// The values of each feature in the first rows, in order.
///
/// A value becomes `ln(p/(1 − p))/1.702` of its rank `p` among them, the middle one of equal
/// values: nearly that of a normal variable, whatever the units and however long the tails. Beyond
/// the first rows it goes on as `ln(1 + u)`, where `u` is how far the value lies beyond them in
/// units of the distance between their quartiles, so that a feature that wanders away still says
/// something.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Ranks {
    sorted: Vec<Vec<f64>>,
}

impl Ranks {
    /// Ranks of row-major `rows` of `dimension` features.
    pub(super) fn from_rows(dimension: usize, rows: &[f64]) -> Self {
        let column = |j: usize| {
            let mut values: Vec<f64> = rows.iter().skip(j).step_by(dimension).copied().collect();
            values.sort_by(f64::total_cmp);
            values
        };
        Self { sorted: (0..dimension).map(column).collect() }
    }

    /// Features join that were 0 in all rows.
    pub(super) fn grow(&mut self, added: usize) {
        let zeros = vec![0.0; self.sorted.first().map_or(1, Vec::len)];
        self.sorted.resize(self.sorted.len() + added, zeros);
    }

    /// Features.
    pub(super) fn dimension(&self) -> usize {
        self.sorted.len()
    }

    /// `transformed ←` the transformed `x`. `2 log₂ n` comparisons a feature.
    pub(super) fn apply(&self, x: &[f64], transformed: &mut Vec<f64>) {
        transformed.clear();
        transformed.extend(x.iter().zip(&self.sorted).map(|(value, sorted)| {
            let below = sorted.partition_point(|other| other < value);
            let up_to = sorted.partition_point(|other| other <= value);
            let n = sorted.len() as f64 + 1.0;
            // Half a place for the value itself keeps the share within (0, 1).
            let share = (0.5 * (below + up_to) as f64 + 0.5) / n;
            (share / (1.0 - share)).ln() / TO_NORMAL + beyond(sorted, *value)
        }));
    }
}

/// Distance of a value beyond all of these, bent; 0 within them.
fn beyond(sorted: &[f64], value: f64) -> f64 {
    let [Some(first), Some(last)] = [sorted.first(), sorted.last()] else { return 0.0 };
    let far = (value - last).max(0.0) + (value - first).min(0.0);
    let quarter = sorted.len() / 4;
    let quartiles = sorted[sorted.len() - 1 - quarter] - sorted[quarter];
    let unit = if quartiles > 0.0 { quartiles } else { last - first };
    // A value that is all the same has no unit.
    if far == 0.0 || unit <= 0.0 { 0.0 } else { (far.abs() / unit).min(f64::MAX).ln_1p().copysign(far) }
}

impl Validate for Ranks {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.sorted.iter().try_for_each(|sorted| {
            sorted.validate()?;
            Inconsistent::require(sorted.is_sorted(), "ranks of a feature", "values are in order")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_do_not_mind_units_and_are_nearly_normal() {
        let rows: Vec<f64> = (0..999).map(|t| f64::from(t * 37 % 101)).collect();
        let ranks = Ranks::from_rows(1, &rows);
        let other = Ranks::from_rows(1, &rows.iter().map(|value| 1e6 * value - 3.0).collect::<Vec<_>>());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for value in [-1e300, -1.0, 0.0, 0.5, 50.0, 99.9, 100.0, 1e300] {
            ranks.apply(&[value], &mut a);
            other.apply(&[1e6 * value - 3.0], &mut b);
            let far = !(0.0..=100.0).contains(&value);
            assert!((a[0] - b[0]).abs() < 1e-9 && (far || a[0].abs() < 4.5), "{a:?} {b:?}");
        }
        let mut before = f64::NEG_INFINITY;
        for value in [-1e300, -50.0, -0.5, 0.0, 100.0, 100.5, 300.0, 1e300] {
            ranks.apply(&[value], &mut a);
            assert!(a[0] > before && a[0].is_finite(), "{value} {a:?}");
            before = a[0];
        }
        ranks.apply(&[50.0], &mut a);
        assert!(a[0].abs() < 0.02, "the median becomes {}", a[0]);
    }
}
