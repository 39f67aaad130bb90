//! The units in which everything is learnt: each column less its mean, over its deviation.

use mercer_core::{Inconsistent, Validate};

/// A column whose deviation is below this part of its size is constant to rounding.
const CONSTANT: f64 = 1e-13;

/// Deviations beyond which a state is not of the kind that told the units.
const FAR: f64 = 100.0;

/// Means and deviations of the columns of `x`.
///
/// # Invariants
/// As many deviations as means; deviations are positive.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ColumnScale {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Validate for ColumnScale {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "scale of a state";
        Inconsistent::require(self.means.len() == self.deviations.len(), WHAT, "a deviation for each mean")?;
        self.means.validate()?;
        self.deviations.iter().try_for_each(|deviation| Inconsistent::positive(*deviation, WHAT))
    }
}

impl ColumnScale {
    /// That of a row-major table of `dimension` columns. A constant column keeps its unit.
    pub(crate) fn from_rows(rows: &[f64], dimension: usize) -> Self {
        let count = (rows.len() / dimension.max(1)).max(1) as f64;
        let column = |j: usize| rows.iter().skip(j).step_by(dimension.max(1));
        let means: Vec<f64> = (0..dimension).map(|j| column(j).map(|x| x / count).sum()).collect();
        let deviations = means.iter().enumerate().map(|(j, mean)| {
            let largest = column(j).fold(0.0, |most: f64, x| most.max(x.abs()));
            let deviation = column(j).map(|x| (x - mean) * (x - mean) / count).sum::<f64>().sqrt();
            if deviation > CONSTANT * largest && deviation.is_normal() { deviation } else { 1.0 }
        });
        Self { deviations: deviations.collect(), means }
    }

    /// Numbers of `x`.
    pub(crate) fn dimension(&self) -> usize {
        self.means.len()
    }

    /// The means of the columns.
    pub(crate) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The units of the columns.
    pub(crate) fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Appends the leading columns of `x`, scaled.
    pub(crate) fn push(&self, x: &[f64], scaled: &mut Vec<f64>) {
        let units = self.means.iter().zip(&self.deviations);
        scaled.extend(x.iter().zip(units).map(|(x, (mean, deviation))| (x - mean) / deviation));
    }

    /// True if a column of `x` is more than a hundred deviations away from its mean.
    pub(crate) fn is_far(&self, x: &[f64]) -> bool {
        let units = self.means.iter().zip(&self.deviations);
        x.iter().zip(units).any(|(x, (mean, deviation))| ((x - mean) / deviation).abs() > FAR)
    }

    /// True if the squares of polynomials of the scaled numbers stay in range.
    pub(crate) fn fits(&self, x: &[f64]) -> bool {
        let units = self.means.iter().zip(&self.deviations);
        x.iter().zip(units).all(|(x, (mean, deviation))| ((x - mean) / deviation).abs() < 1e25)
    }

    /// Least and largest of the leading columns, scaled.
    pub(crate) fn range(&self, range: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let units = self.means.iter().zip(&self.deviations);
        range.iter().zip(units).map(|(ends, (mean, deviation))| ends.map(|x| (x - mean) / deviation)).collect()
    }

    /// The leading columns in the user's units again.
    pub(crate) fn undo(&self, scaled: &[f64]) -> Vec<f64> {
        let units = self.means.iter().zip(&self.deviations);
        scaled.iter().zip(units).map(|(z, (mean, deviation))| mean + z * deviation).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_mean_zero_and_deviation_one_and_constants_keep_their_unit() {
        let scale = ColumnScale::from_rows(&[1e6, 7.0, 3e6, 7.0], 2);
        let mut scaled = Vec::new();
        scale.push(&[1e6, 7.0], &mut scaled);
        scale.push(&[3e6, 9.0], &mut scaled);
        assert_eq!(scaled, [-1.0, 0.0, 1.0, 2.0]);
        assert_eq!(scale.undo(&[1.0, 2.0]), [3e6, 9.0]);
        assert!(scale.fits(&[1e30, 0.0]) && !scale.fits(&[1e33, 0.0]));
    }
}
