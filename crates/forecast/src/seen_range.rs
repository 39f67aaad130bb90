//! The range of the values of each output so far, which bounds what fills a gap.

use mercer_core::{Inconsistent, Validate};

use crate::Error;
use crate::forecaster::impute;

/// The smallest and the largest value of each output.
///
/// A prediction that stands for a missing value becomes a lag of the next, so an error would feed
/// itself for as long as values are missing. What fills a gap is therefore kept within one width of
/// the range beyond its ends.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SeenRange(Vec<Option<(f64, f64)>>);

impl SeenRange {
    /// No values of so many outputs.
    pub(crate) fn new(outputs: usize) -> Self {
        Self(vec![None; outputs])
    }

    /// Takes an output in; NaN is no value.
    pub(crate) fn see(&mut self, output: &[f64]) {
        for (range, y) in self.0.iter_mut().zip(output).filter(|(_, y)| !y.is_nan()) {
            let (low, high) = range.unwrap_or((*y, *y));
            *range = Some((low.min(*y), high.max(*y)));
        }
    }

    /// [`impute`], within reach of the range.
    pub(crate) fn impute(&self, output: &[f64], prediction: &[f64], kept: &mut Vec<f64>) -> Result<(), Error> {
        impute(output, prediction, kept)?;
        for ((kept, y), range) in kept.iter_mut().zip(output).zip(&self.0) {
            if let Some((low, high)) = range.filter(|(low, high)| y.is_nan() && low < high) {
                *kept = kept.clamp(2.0 * low - high, 2.0 * high - low);
            }
        }
        Ok(())
    }

    /// [`Validate::validate`] for so many outputs.
    pub(crate) fn validate(&self, outputs: usize) -> Result<(), Inconsistent> {
        self.0.iter().flatten().try_for_each(|(low, high)| (*low, *high).validate())?;
        let fits = self.0.len() == outputs && self.0.iter().flatten().all(|(low, high)| low <= high);
        Inconsistent::require(fits, "range of values", "there is one for each output")
    }
}
