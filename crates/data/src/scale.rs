//! Min-max scaling, as the papers' experiments do it: each column by its own range over a whole file.
//!
//! A value x of a column with range [a, b] goes to u = (x − a)/(b − a) ∈ [0, 1], or to 2u − 1 for the span [−1, 1]; a constant
//! column goes to 0. Ranges learned from one file may scale another, whose values then may lie outside the span. Where b − a or
//! x − a overflows (columns of ±1e308), u is computed from halves, which cannot.

use mercer_core::{Inconsistent, Validate};

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
    /// The span of the target.
    pub target: Span,
}

impl Scheme {
    /// Features to [−1, 1], target to [0, 1] (the command's `paper01`).
    pub const PAPER01: Self = Self { features: Span::MinusOneOne, target: Span::ZeroOne };
    /// Features to [−1, 1], target to [−1, 1] (the command's `paper11`).
    pub const PAPER11: Self = Self { features: Span::MinusOneOne, target: Span::MinusOneOne };
}

/// The smallest and largest value of a column; `low > high` before the first.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const NOTHING: Self = Self { low: f64::MAX, high: f64::MIN };

    fn observe(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    fn to_span(self, value: f64, span: Span) -> f64 {
        if self.low >= self.high {
            return 0.0;
        }
        let (above, width) = (value - self.low, self.high - self.low);
        let unit = if above.is_finite() && width.is_finite() {
            above / width
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        match span {
            Span::ZeroOne => unit,
            Span::MinusOneOne => 2.0 * unit - 1.0,
        }
    }

    fn back_from(self, value: f64, span: Span) -> f64 {
        if self.low >= self.high {
            return self.low;
        }
        let unit = match span {
            Span::ZeroOne => value,
            Span::MinusOneOne => (value + 1.0) / 2.0,
        };
        let width = self.high - self.low;
        if width.is_finite() { self.low + unit * width } else { self.low * (1.0 - unit) + self.high * unit }
    }
}

/// The ranges of all columns, gathered row by row in one pass.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ranges {
    features: Vec<Range>,
    target: Range,
}

impl Ranges {
    /// No row yet, of `dimension` features.
    pub fn new(dimension: usize) -> Self {
        Self { features: vec![Range::NOTHING; dimension], target: Range::NOTHING }
    }

    /// The ranges of a table.
    pub fn of(table: &Dataset) -> Self {
        let mut ranges = Self::new(table.dimension());
        for (row, target) in table.iter() {
            ranges.widen(row, target);
        }
        ranges
    }

    /// Takes one more row into account. O(d).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for a row of another width; the ranges are then unchanged.
    pub fn observe(&mut self, row: &[f64], target: f64) -> Result<(), DataError> {
        check_width(self.features.len(), row.len())?;
        self.widen(row, target);
        Ok(())
    }

    fn widen(&mut self, row: &[f64], target: f64) {
        for (range, &value) in self.features.iter_mut().zip(row) {
            range.observe(value);
        }
        self.target.observe(target);
    }
}

/// A scaling: ranges and the spans they go to.
///
/// ```
/// use mercer_data::{Dataset, Ranges, Scaling, Scheme};
///
/// let mut table = Dataset::new("t", 2, vec![0.0, 7.0, 5.0, 7.0, 10.0, 7.0], vec![100.0, 150.0, 300.0])?;
/// let scaling = Scaling::new(Ranges::of(&table), Scheme::PAPER01);
/// scaling.apply(&mut table)?;
/// assert_eq!(table.features(), [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
/// assert_eq!(table.targets(), [0.0, 0.25, 1.0]);
/// assert_eq!(scaling.invert_target(0.25), 150.0);
/// # Ok::<(), mercer_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scaling {
    ranges: Ranges,
    scheme: Scheme,
}

impl Validate for Scaling {
    fn validate(&self) -> Result<(), Inconsistent> {
        let mut ranges = self.ranges.features.iter().chain([&self.ranges.target]);
        ranges.try_for_each(|range| (range.low, range.high).validate())
    }
}

impl Scaling {
    /// The scaling that takes `ranges` to the spans of `scheme`. A column without any value counts as constant.
    pub fn new(ranges: Ranges, scheme: Scheme) -> Self {
        Self { ranges, scheme }
    }

    /// Number of features, d.
    pub fn dimension(&self) -> usize {
        self.ranges.features.len()
    }

    /// Scales a whole table in place. O(nd).
    ///
    /// # Errors
    /// [`DataError::Dimension`] or [`DataError::Unscalable`]; the table is then unchanged.
    pub fn apply(&self, table: &mut Dataset) -> Result<(), DataError> {
        for (row, target) in table.iter() {
            self.check_row(row)?;
            self.target(target)?;
        }
        for (row, target) in table.rows_mut() {
            self.scale_row(row);
            *target = self.ranges.target.to_span(*target, self.scheme.target);
        }
        Ok(())
    }

    /// Scales the features of one row in place. O(d).
    ///
    /// # Errors
    /// [`DataError::Dimension`] for a row of another width, [`DataError::Unscalable`] if a value would not be finite (possible
    /// only far outside the learned range, or for a value not finite before); the row is then unchanged.
    pub fn row(&self, row: &mut [f64]) -> Result<(), DataError> {
        self.check_row(row)?;
        self.scale_row(row);
        Ok(())
    }

    /// The scaled value of one target.
    ///
    /// # Errors
    /// [`DataError::Unscalable`], as in [`row`](Self::row).
    pub fn target(&self, value: f64) -> Result<f64, DataError> {
        let scaled = self.ranges.target.to_span(value, self.scheme.target);
        if value.is_finite() && scaled.is_finite() {
            Ok(scaled)
        } else {
            Err(unscalable(self.dimension(), Some("target"), value, self.ranges.target))
        }
    }

    /// The original value of a scaled target, or of a prediction of one: the inverse of [`target`](Self::target). For a constant
    /// target it is the constant.
    pub fn invert_target(&self, scaled: f64) -> f64 {
        self.ranges.target.back_from(scaled, self.scheme.target)
    }

    /// Where columns are scaled to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The smallest and the largest target, equal if there was but one value, or none.
    pub fn target_range(&self) -> (f64, f64) {
        let Range { low, high } = self.ranges.target;
        (low, high.max(low))
    }

    /// How much one scaled unit of the target is in its own units: 0 for a constant target.
    pub fn target_unit(&self) -> f64 {
        self.invert_target(1.0) - self.invert_target(0.0)
    }

    fn check_row(&self, row: &[f64]) -> Result<(), DataError> {
        check_width(self.dimension(), row.len())?;
        for (column, (&value, range)) in row.iter().zip(&self.ranges.features).enumerate() {
            if !value.is_finite() || !range.to_span(value, self.scheme.features).is_finite() {
                return Err(unscalable(column, None, value, *range));
            }
        }
        Ok(())
    }

    fn scale_row(&self, row: &mut [f64]) {
        for (value, range) in row.iter_mut().zip(&self.ranges.features) {
            *value = range.to_span(*value, self.scheme.features);
        }
    }
}

fn check_width(expected: usize, got: usize) -> Result<(), DataError> {
    if expected == got { Ok(()) } else { Err(DataError::Dimension { what: "a row to scale".into(), expected, got }) }
}

fn unscalable(column: usize, name: Option<&str>, value: f64, range: Range) -> DataError {
    let column = Column { number: column + 1, name: name.map(str::to_owned) };
    DataError::Unscalable { column, value, low: range.low, high: range.high }
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
        Scaling::new(Ranges::of(&table), scheme).apply(&mut table).unwrap();
        table
    }

    #[test]
    fn huge_ranges_do_not_overflow() {
        assert_eq!(scaled(&[-1.7e308, 0.0, 1.7e308], Scheme::PAPER01).features(), [-1.0, 0.0, 1.0]);
        assert_eq!(scaled(&[f64::MIN, f64::MAX, f64::MAX / 2.0], Scheme::PAPER01).features(), [-1.0, 1.0, 0.5]);
        let mut target = Dataset::new("t", 1, vec![0.0; 3], vec![-1.6e308, 1.6e308, 0.8e308]).unwrap();
        let scaling = Scaling::new(Ranges::of(&target), Scheme::PAPER11);
        scaling.apply(&mut target).unwrap();
        assert_eq!(target.targets(), [-1.0, 1.0, 0.5]);
        assert_eq!([-1.0, 1.0].map(|y| scaling.invert_target(y)), [-1.6e308, 1.6e308]);
        assert!((scaling.invert_target(0.5) / 0.8e308 - 1.0).abs() < 1e-15);
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
        ranges.observe(&[1.0], 7.0).unwrap();
        let scaling = Scaling::new(ranges, Scheme::PAPER11);
        assert_eq!((scaling.target(9.0).unwrap(), scaling.invert_target(0.3)), (0.0, 7.0));
    }

    #[test]
    fn ranges_of_another_file_reach_outside_the_span() {
        let scaling = Scaling::new(Ranges::of(&column(&[0.0, 10.0])), Scheme::PAPER01);
        let mut row = [15.0];
        scaling.row(&mut row).unwrap();
        assert_eq!(row, [2.0]);
    }

    #[test]
    fn what_cannot_be_scaled_is_refused_and_untouched() {
        let scaling = Scaling::new(Ranges::of(&column(&[0.0, 1e-10])), Scheme::PAPER01);
        let mut table = column(&[0.0, 1e308]);
        let message = scaling.apply(&mut table).unwrap_err().to_string();
        assert!(message.starts_with("column 1: 1"), "{message}");
        assert!(message.ends_with("take the ranges from data that cover it"), "{message}");
        assert_eq!(table, column(&[0.0, 1e308]));
        assert!(scaling.row(&mut [f64::NAN]).is_err());
        assert!(scaling.target(f64::NAN).unwrap_err().to_string().starts_with("column 2 (\"target\"): NaN"));
        let message = scaling.row(&mut [0.0, 0.0]).unwrap_err().to_string();
        assert!(message.starts_with("a row to scale: dimension 2 where 1 is needed"), "{message}");
        assert!(Ranges::new(1).observe(&[], 0.0).is_err());
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
            let scaling = Scaling::new(Ranges::of(&table), Scheme::PAPER01);
            let mut result = table.clone();
            scaling.apply(&mut result).unwrap();
            for (i, value) in values.into_iter().enumerate() {
                let (feature, target) = (result.row(i)[0], result.target(i));
                prop_assert!((feature - (-1.0 + 2.0 * (value - low) / (high - low))).abs() < 1e-14);
                prop_assert!((target - (value - low) / (high - low)).abs() < 1e-14);
                prop_assert!((-1.0..=1.0).contains(&feature) && (0.0..=1.0).contains(&target));
                prop_assert!((scaling.invert_target(target) - value).abs() < 1e-9);
            }
        }
    }
}
