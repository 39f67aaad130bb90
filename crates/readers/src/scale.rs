//! Min-max scaling, as the papers' experiments do it: each column by its own range over a whole
//! file.
//!
//! A value goes to its share u ∈ [0, 1] of its column's [`ValueRange`], or to 2u − 1 for the span
//! [−1, 1]; a constant column goes to 0. Ranges learned from one file may scale another, whose
//! values then may lie outside the span.

use mercer_core::{Inconsistent, Validate, ValueRange};

use crate::dataset::Dataset;
use crate::error::{Column, DataError};

/// Where a column's range goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Span {
    /// [0, 1].
    ZeroOne,
    /// [−1, 1].
    MinusOneOne,
}

/// Where features and target go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scheme {
    /// The span of every feature.
    pub features: Span,
    /// The span of the target, of every one if there are several. Classes are not scaled.
    pub target: Span,
}

impl Scheme {
    /// Features to [−1, 1], target to [0, 1] (the command's `paper01`).
    pub const PAPER01: Self = Self { features: Span::MinusOneOne, target: Span::ZeroOne };
    /// Features to [−1, 1], target to [−1, 1] (the command's `paper11`).
    pub const PAPER11: Self = Self { features: Span::MinusOneOne, target: Span::MinusOneOne };
}

impl Span {
    /// Where the share of a range that a value has goes.
    fn of_share(self, share: f64) -> f64 {
        match self {
            Self::ZeroOne => share,
            Self::MinusOneOne => 2.0 * share - 1.0,
        }
    }

    /// A value of a column, which the span has in place of it; 0 in a constant column.
    fn scale(self, value: f64, range: ValueRange) -> f64 {
        range.share(value).map_or(0.0, |share| self.of_share(share))
    }

    /// The value of a column that the span has a number for.
    fn back(self, scaled: f64, range: ValueRange) -> f64 {
        range.at(match self {
            Self::ZeroOne => scaled,
            Self::MinusOneOne => (scaled + 1.0) / 2.0,
        })
    }
}

/// The ranges of all columns, gathered row by row in one pass.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ranges {
    features: Vec<ValueRange>,
    /// One a target, and at least one.
    targets: Vec<ValueRange>,
}

impl Ranges {
    /// No row yet, of `dimension` features and one target.
    pub fn new(dimension: usize) -> Self {
        Self::several(dimension, 1)
    }

    /// No row yet, of `dimension` features and `outputs` targets; 0 targets count as one that is
    /// never observed.
    pub fn several(dimension: usize, outputs: usize) -> Self {
        Self { features: vec![ValueRange::NOTHING; dimension], targets: vec![ValueRange::NOTHING; outputs.max(1)] }
    }

    /// The ranges of a table. Classes have none.
    pub fn from_table(table: &Dataset) -> Self {
        let mut ranges = Self::several(table.dimension(), table.outputs());
        for (row, targets) in table.rows() {
            ranges.widen(row, if table.classes().is_none() { targets } else { &[] });
        }
        ranges
    }

    /// Takes one more row into account, with all its targets, or without any where they are labels.
    /// O(d + m).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for a row of another width or with another number of targets; the
    /// ranges are then unchanged.
    pub fn observe(&mut self, row: &[f64], targets: &[f64]) -> Result<(), DataError> {
        check_width(self.features.len(), row.len())?;
        if !targets.is_empty() {
            check_targets(self.targets.len(), targets.len())?;
        }
        self.widen(row, targets);
        Ok(())
    }

    fn widen(&mut self, row: &[f64], targets: &[f64]) {
        for (range, &value) in self.features.iter_mut().zip(row).chain(self.targets.iter_mut().zip(targets)) {
            range.observe(value);
        }
    }
}

/// A scaling: ranges and the spans they go to.
///
/// ```
/// use mercer_readers::{Dataset, Ranges, Scaling, Scheme};
///
/// let mut table = Dataset::new("t", 2, vec![0.0, 7.0, 5.0, 7.0, 10.0, 7.0], vec![100.0, 150.0, 300.0])?;
/// let scaling = Scaling::new(Ranges::from_table(&table), Scheme::PAPER01);
/// scaling.apply(&mut table)?;
/// assert_eq!(table.features(), [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
/// assert_eq!(table.targets(), [0.0, 0.25, 1.0]);
/// let mut answer = [0.25];
/// scaling.invert_targets(&mut answer)?;
/// assert_eq!(answer, [150.0]);
/// # Ok::<(), mercer_readers::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scaling {
    ranges: Ranges,
    scheme: Scheme,
}

impl Validate for Scaling {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(!self.ranges.targets.is_empty(), "scaling", "it has a range for a target")?;
        let mut ranges = self.ranges.features.iter().chain(&self.ranges.targets);
        ranges.try_for_each(Validate::validate)
    }
}

impl Scaling {
    /// The scaling that takes `ranges` to the spans of `scheme`. A column without any value counts
    /// as constant.
    pub fn new(ranges: Ranges, scheme: Scheme) -> Self {
        Self { ranges, scheme }
    }

    /// Number of features, d.
    pub fn dimension(&self) -> usize {
        self.ranges.features.len()
    }

    /// Number of targets, m: at least 1.
    pub fn outputs(&self) -> usize {
        self.ranges.targets.len()
    }

    /// Scales a whole table in place: features, and all targets that are numbers. O(n(d + m)).
    ///
    /// # Errors
    /// [`DataError::Dimension`] or [`DataError::Unscalable`]; the table is then unchanged.
    pub fn apply(&self, table: &mut Dataset) -> Result<(), DataError> {
        let numbers = table.classes().is_none();
        for (row, targets) in table.rows() {
            self.check_row(row)?;
            if numbers {
                self.check_targets(targets)?;
            }
        }
        for (row, targets) in table.rows_mut() {
            self.scale_row(row);
            if numbers {
                self.scale_targets(targets);
            }
        }
        Ok(())
    }

    /// Scales the features of one row in place. O(d).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for a row of another width, [`DataError::Unscalable`] if a value
    /// would not be finite (possible only far outside the learned range, or for a value not finite
    /// before); the row is then unchanged.
    pub fn row(&self, row: &mut [f64]) -> Result<(), DataError> {
        self.check_row(row)?;
        self.scale_row(row);
        Ok(())
    }

    /// Scales all targets of one row in place. O(m).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for another number of targets, [`DataError::Unscalable`] as in
    /// [`row`](Self::row); the targets are then unchanged.
    pub fn targets(&self, targets: &mut [f64]) -> Result<(), DataError> {
        self.check_targets(targets)?;
        self.scale_targets(targets);
        Ok(())
    }

    /// The original values of the scaled targets of one row, or of predictions of them, in place:
    /// the inverse of [`targets`](Self::targets). A constant target is the constant. O(m).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for another number of targets, which are then unchanged.
    pub fn invert_targets(&self, scaled: &mut [f64]) -> Result<(), DataError> {
        check_targets(self.outputs(), scaled.len())?;
        for (value, range) in scaled.iter_mut().zip(&self.ranges.targets) {
            *value = self.scheme.target.back(*value, *range);
        }
        Ok(())
    }

    /// Where columns are scaled to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The smallest and the largest value of every target; equal if there was but one, and 0 if
    /// there was none.
    pub fn target_ranges(&self) -> impl ExactSizeIterator<Item = (f64, f64)> {
        self.ranges.targets.iter().map(|range| range.ends().unwrap_or_default())
    }

    /// Size of one scaled unit of every target in its own units: 0 for a constant target.
    pub fn target_units(&self) -> impl ExactSizeIterator<Item = f64> {
        let span = self.scheme.target;
        self.ranges.targets.iter().map(move |range| span.back(1.0, *range) - span.back(0.0, *range))
    }

    fn check_targets(&self, targets: &[f64]) -> Result<(), DataError> {
        check_targets(self.outputs(), targets.len())?;
        for (place, (&value, range)) in targets.iter().zip(&self.ranges.targets).enumerate() {
            if !value.is_finite() || !self.scheme.target.scale(value, *range).is_finite() {
                let name = if targets.len() == 1 { "target".to_owned() } else { format!("target {}", place + 1) };
                return Err(unscalable(self.dimension() + place, Some(&name), value, *range));
            }
        }
        Ok(())
    }

    fn scale_targets(&self, targets: &mut [f64]) {
        for (value, range) in targets.iter_mut().zip(&self.ranges.targets) {
            *value = self.scheme.target.scale(*value, *range);
        }
    }

    fn check_row(&self, row: &[f64]) -> Result<(), DataError> {
        check_width(self.dimension(), row.len())?;
        for (column, (&value, range)) in row.iter().zip(&self.ranges.features).enumerate() {
            if !value.is_finite() || !self.scheme.features.scale(value, *range).is_finite() {
                return Err(unscalable(column, None, value, *range));
            }
        }
        Ok(())
    }

    fn scale_row(&self, row: &mut [f64]) {
        for (value, range) in row.iter_mut().zip(&self.ranges.features) {
            *value = self.scheme.features.scale(*value, *range);
        }
    }
}

fn check_width(expected: usize, got: usize) -> Result<(), DataError> {
    if expected == got { Ok(()) } else { Err(DataError::Dimension { what: "a row to scale".into(), expected, got }) }
}

fn check_targets(expected: usize, got: usize) -> Result<(), DataError> {
    if expected == got {
        Ok(())
    } else {
        Err(DataError::Dimension { what: "the targets to scale".into(), expected, got })
    }
}

fn unscalable(column: usize, name: Option<&str>, value: f64, range: ValueRange) -> DataError {
    let column = Column { number: column + 1, name: name.map(str::to_owned) };
    let (low, high) = range.ends().unwrap_or_default();
    DataError::Unscalable { column, value, low, high }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(values: &[f64]) -> Dataset {
        Dataset::new("t", 1, values.to_vec(), vec![0.0; values.len()]).unwrap()
    }

    fn scaled(values: &[f64], scheme: Scheme) -> Dataset {
        let mut table = column(values);
        Scaling::new(Ranges::from_table(&table), scheme).apply(&mut table).unwrap();
        table
    }

    fn inverted(scaling: &Scaling, scaled: f64) -> f64 {
        let mut target = [scaled];
        scaling.invert_targets(&mut target).unwrap();
        target[0]
    }

    #[test]
    fn huge_ranges_do_not_overflow() {
        assert_eq!(scaled(&[-1.7e308, 0.0, 1.7e308], Scheme::PAPER01).features(), [-1.0, 0.0, 1.0]);
        assert_eq!(scaled(&[f64::MIN, f64::MAX, f64::MAX / 2.0], Scheme::PAPER01).features(), [-1.0, 1.0, 0.5]);
        let mut target = Dataset::new("t", 1, vec![0.0; 3], vec![-1.6e308, 1.6e308, 0.8e308]).unwrap();
        let scaling = Scaling::new(Ranges::from_table(&target), Scheme::PAPER11);
        scaling.apply(&mut target).unwrap();
        assert_eq!(target.targets(), [-1.0, 1.0, 0.5]);
        assert_eq!([-1.0, 1.0].map(|y| inverted(&scaling, y)), [-1.6e308, 1.6e308]);
        assert!((inverted(&scaling, 0.5) / 0.8e308 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn tiny_ranges_do_not_vanish() {
        let tiny = f64::from_bits(1);
        assert_eq!(scaled(&[0.0, tiny, 2.0 * tiny], Scheme::PAPER01).features(), [-1.0, 0.0, 1.0]);
    }

    #[test]
    fn constant_columns_become_zero() {
        let table = scaled(&[7.0, 7.0], Scheme::PAPER11);
        assert_eq!((table.features(), table.targets()), (&[0.0, 0.0][..], &[0.0, 0.0][..]));
        let mut ranges = Ranges::new(1);
        ranges.observe(&[1.0], &[7.0]).unwrap();
        let scaling = Scaling::new(ranges, Scheme::PAPER11);
        let mut target = [9.0];
        scaling.targets(&mut target).unwrap();
        assert_eq!((target, inverted(&scaling, 0.3)), ([0.0], 7.0));
    }

    #[test]
    fn ranges_of_another_file_reach_outside_the_span() {
        let scaling = Scaling::new(Ranges::from_table(&column(&[0.0, 10.0])), Scheme::PAPER01);
        let mut row = [15.0];
        scaling.row(&mut row).unwrap();
        assert_eq!(row, [2.0]);
    }

    #[test]
    fn what_cannot_be_scaled_is_refused_and_untouched() {
        let scaling = Scaling::new(Ranges::from_table(&column(&[0.0, 1e-10])), Scheme::PAPER01);
        let mut table = column(&[0.0, 1e308]);
        let message = scaling.apply(&mut table).unwrap_err().to_string();
        assert!(message.starts_with("column 1: 1"), "{message}");
        assert!(message.ends_with("take the ranges from data that cover it"), "{message}");
        assert_eq!(table, column(&[0.0, 1e308]));
        assert!(scaling.row(&mut [f64::NAN]).is_err());
        assert!(scaling.targets(&mut [f64::NAN]).unwrap_err().to_string().starts_with("column 2 (\"target\"): NaN"));
        let message = scaling.row(&mut [0.0, 0.0]).unwrap_err().to_string();
        assert!(message.starts_with("a row to scale: dimension 2 where 1 is needed"), "{message}");
        assert!(Ranges::new(1).observe(&[], &[0.0]).is_err());
    }

    #[test]
    fn every_target_has_its_own_range() {
        let targets = vec![0.0, 7.0, -5.0, 10.0, 7.0, 5.0, 5.0, 7.0, 0.0];
        let mut table = Dataset::several("t", 1, vec![1.0, 2.0, 3.0], 3, targets.clone()).unwrap();
        let scaling = Scaling::new(Ranges::from_table(&table), Scheme::PAPER01);
        scaling.apply(&mut table).unwrap();
        assert_eq!(table.targets(), [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.5, 0.0, 0.5]);
        assert_eq!(scaling.outputs(), 3);
        assert_eq!(scaling.target_ranges().collect::<Vec<_>>(), [(0.0, 10.0), (7.0, 7.0), (-5.0, 5.0)]);
        assert_eq!(scaling.target_units().collect::<Vec<_>>(), [10.0, 0.0, 10.0]);
        let mut row = [0.25, 0.5, 0.75];
        scaling.invert_targets(&mut row).unwrap();
        assert_eq!(row, [2.5, 7.0, 2.5]);
        scaling.targets(&mut row).unwrap();
        assert_eq!(row, [0.25, 0.0, 0.75]);

        let mut ranges = Ranges::several(1, 3);
        for (i, targets) in targets.chunks_exact(3).enumerate() {
            ranges.observe(&[i as f64 + 1.0], targets).unwrap();
        }
        assert_eq!(Scaling::new(ranges.clone(), Scheme::PAPER01), scaling);
        assert!(ranges.observe(&[1.0], &[1.0]).is_err() && ranges.observe(&[1.0], &[1.0; 4]).is_err());
        let message = scaling.targets(&mut [0.0, 0.0]).unwrap_err().to_string();
        assert!(message.starts_with("the targets to scale: dimension 2 where 3 is needed"), "{message}");
        let mut wrong = [0.0, f64::NAN, 0.0];
        assert!(scaling.targets(&mut wrong).unwrap_err().to_string().starts_with("column 3 (\"target 2\"): NaN"));
        assert_eq!((wrong[0], wrong[2]), (0.0, 0.0));
        assert!(scaling.apply(&mut column(&[1.0])).is_err());
    }

    #[test]
    fn classes_are_not_scaled() {
        let mut classes = crate::Labels::new();
        let labels = ["b", "a", "c"].map(|name| classes.insert(name));
        let mut table = Dataset::labelled("t", 1, vec![1.0, 2.0, 5.0], &labels, &classes).unwrap();
        Scaling::new(Ranges::from_table(&table), Scheme::PAPER11).apply(&mut table).unwrap();
        assert_eq!((table.features(), table.targets()), (&[-1.0, -0.5, 1.0][..], &[1.0, 0.0, 2.0][..]));
        let mut ranges = Ranges::new(1);
        for x in [1.0, 2.0, 5.0] {
            ranges.observe(&[x], &[]).unwrap();
        }
        let mut row = [2.0];
        Scaling::new(ranges, Scheme::PAPER11).row(&mut row).unwrap();
        assert_eq!(row, [-0.5]);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn scalings_read_back() {
        let mut ranges = Ranges::several(2, 3);
        for scaling in [Scaling::new(Ranges::new(1), Scheme::PAPER01), Scaling::new(ranges.clone(), Scheme::PAPER11), {
            ranges.observe(&[1.0, -1.0], &[3.0, 4.0, 5.0]).unwrap();
            Scaling::new(ranges, Scheme::PAPER11)
        }] {
            let read: Scaling = serde_json::from_str(&serde_json::to_string(&scaling).unwrap()).unwrap();
            assert_eq!((&read, read.validate()), (&scaling, Ok(())));
        }
    }

    proptest! {
        /// The formula as it is written, in plain arithmetic, with the range found by sorting.
        #[test]
        fn agrees_with_the_plain_formula(values in prop::collection::vec(-1e6..1e6_f64, 2..40)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
            prop_assume!(high > low);
            let table = Dataset::new("t", 1, values.clone(), values.clone()).unwrap();
            let scaling = Scaling::new(Ranges::from_table(&table), Scheme::PAPER01);
            let mut result = table.clone();
            scaling.apply(&mut result).unwrap();
            for (i, value) in values.into_iter().enumerate() {
                let (feature, target) = (result.row(i)[0], result.target(i));
                prop_assert!((feature - (-1.0 + 2.0 * (value - low) / (high - low))).abs() < 1e-14);
                prop_assert!((target - (value - low) / (high - low)).abs() < 1e-14);
                prop_assert!((-1.0..=1.0).contains(&feature) && (0.0..=1.0).contains(&target));
                prop_assert!((inverted(&scaling, target) - value).abs() < 1e-9);
            }
        }
    }
}
