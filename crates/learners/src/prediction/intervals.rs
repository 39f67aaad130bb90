//! Prediction intervals that hold their coverage whatever the series: adaptive conformal inference (Gibbs and Candès 2021).
//!
//! For each output, the interval is `ŷ ± r`, `r` the `(1 − α_t)` quantile of the last `window` absolute errors, and
//!
//! ```text
//! α_{t+1} = α_t + η (α − [y_t outside])
//! ```
//!
//! so that misses widen and hits narrow it until the share of misses is `α = 1 − coverage`: over `T` outputs it is within `(1 + η)/(ηT)` of
//! it, for every sequence. Nothing is assumed of the forecaster. With too few errors for the quantile, or after so many misses that `α_t ≤ 0`,
//! the interval is the whole line; for `α_t ≥ 1` it is the prediction alone.
//!
//! Cost: `O(window)` moves a step and output, no allocation.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::Error;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`ConformalIntervals`].
    #[derive(Copy)]
    pub struct IntervalParams {
        /// Share of the outputs that their intervals are to hold, between 0 and 1.
        coverage: f64 = 0.9,
        /// `η > 0`: how fast the level follows the misses.
        rate: f64 = 0.01,
        /// Errors remembered, `≥ 1`.
        window: usize = 500,
    }
}

/// Intervals around the predictions of a forecaster, one an output.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ConformalIntervals {
    params: IntervalParams,
    outputs: Vec<Tracker>,
}

/// # Invariants
/// `sorted` holds the numbers of `recent`, in order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Tracker {
    /// `α_t`
    miss: f64,
    recent: VecDeque<f64>,
    sorted: Vec<f64>,
    held: usize,
    counted: usize,
}

impl ConformalIntervals {
    /// Intervals for `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: IntervalParams) -> Result<Self, ParameterError> {
        let inside = params.coverage > 0.0 && params.coverage < 1.0;
        ParameterError::require(inside, "coverage", "a number between 0 and 1", params.coverage)?;
        ParameterError::positive("rate", params.rate)?;
        let window = ParameterError::at_least_one("window", params.window)?;
        let tracker = || Tracker {
            miss: 1.0 - params.coverage,
            recent: VecDeque::with_capacity(window + 1),
            sorted: Vec::with_capacity(window + 1),
            held: 0,
            counted: 0,
        };
        Ok(Self { params, outputs: (0..outputs).map(|_| tracker()).collect() })
    }

    /// Numbers that have an interval.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How far the next interval of an output reaches to either side of the prediction: `[ŷ − r, ŷ + r]`; infinite for the whole line.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn radius(&self, output: usize) -> f64 {
        self.outputs[output].radius()
    }

    /// Learns what came of the predictions. Outputs that are missing (NaN) are passed over.
    ///
    /// # Errors
    /// When a length is not the number of outputs, a prediction is not finite or an output infinite; nothing is changed then.
    pub fn observe(&mut self, prediction: &[f64], output: &[f64]) -> Result<(), Error> {
        let expected = self.outputs.len();
        for got in [prediction.len(), output.len()] {
            if got != expected {
                return Err(Error::Outputs { expected, got });
            }
        }
        if let Some(value) = prediction.iter().find(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget(*value));
        }
        if let Some(value) = output.iter().find(|value| value.is_infinite()) {
            return Err(Error::NonFiniteTarget(*value));
        }
        for ((tracker, prediction), y) in self.outputs.iter_mut().zip(prediction).zip(output) {
            if !y.is_nan() {
                tracker.observe((y - prediction).abs(), &self.params);
            }
        }
        Ok(())
    }

    /// Share of the outputs observed that lay in their interval; NaN before the first.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn coverage(&self, output: usize) -> f64 {
        self.outputs[output].held as f64 / self.outputs[output].counted as f64
    }

    /// Outputs observed, missing ones not counted.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn counted(&self, output: usize) -> usize {
        self.outputs[output].counted
    }
}

impl Tracker {
    fn radius(&self) -> f64 {
        if self.miss >= 1.0 {
            return 0.0;
        }
        // The smallest error that this share of errors, the coming one among them, does not exceed.
        let rank = ((1.0 - self.miss) * (self.sorted.len() + 1) as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::INFINITY)
    }

    fn observe(&mut self, error: f64, params: &IntervalParams) {
        let held = error <= self.radius();
        self.held += usize::from(held);
        self.counted += 1;
        self.miss += params.rate * (1.0 - params.coverage - f64::from(u8::from(!held)));
        if self.recent.len() == params.window
            && let Some(oldest) = self.recent.pop_front()
        {
            let place = self.sorted.partition_point(|e| *e < oldest);
            self.sorted.remove(place);
        }
        self.recent.push_back(error);
        let place = self.sorted.partition_point(|e| *e < error);
        self.sorted.insert(place, error);
    }
}

impl Validate for ConformalIntervals {
    fn validate(&self) -> Result<(), Inconsistent> {
        let IntervalParams { coverage, rate, window } = self.params;
        Inconsistent::require(coverage > 0.0 && coverage < 1.0, "intervals", "their coverage is between 0 and 1")?;
        Inconsistent::positive(rate, "rate of the intervals")?;
        Inconsistent::require(window >= 1, "intervals", "they remember an error")?;
        Inconsistent::size(window, "window of the intervals")?;
        self.outputs.iter().try_for_each(|tracker| tracker.validate(window))
    }
}

impl Tracker {
    fn validate(&self, window: usize) -> Result<(), Inconsistent> {
        self.miss.validate()?;
        self.sorted.validate()?;
        let mut recent: Vec<f64> = self.recent.iter().copied().collect();
        recent.sort_unstable_by(f64::total_cmp);
        let sizes = recent.first().is_none_or(|smallest| *smallest >= 0.0);
        let sound = sizes && recent.len() <= window && recent == self.sorted;
        Inconsistent::require(sound, "intervals", "their errors are in order")?;
        let counted = self.held <= self.counted && recent.len() <= self.counted && self.counted < usize::MAX / 2;
        Inconsistent::require(counted, "intervals", "what they held was counted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_by_hand() -> Result<(), Error> {
        let params = IntervalParams::default().coverage(0.5).rate(1e-9).window(3);
        let mut intervals = ConformalIntervals::new(1, params)?;
        assert_eq!(intervals.radius(0), f64::INFINITY);
        for error in [3.0, 1.0, -2.0] {
            intervals.observe(&[0.0], &[error])?;
        }
        assert_eq!(intervals.radius(0), 2.0); // of 1, 2, 3
        intervals.observe(&[10.0], &[15.0])?; // forgets the 3
        intervals.observe(&[10.0], &[f64::NAN])?;
        assert_eq!((intervals.radius(0), intervals.counted(0), intervals.coverage(0)), (2.0, 4, 0.75));
        Ok(())
    }

    #[test]
    fn coverage_is_held_while_the_errors_grow_a_thousandfold() -> Result<(), Error> {
        let params = IntervalParams::default();
        let mut intervals = ConformalIntervals::new(1, params)?;
        let (mut half, steps) = (0, 8000_u32);
        for t in 0..steps {
            let size = 1.0 + f64::from(t) / 8.0;
            let error = size * (f64::from(t) * 1.234).sin();
            half += usize::from(t >= steps / 2 && error.abs() <= intervals.radius(0));
            intervals.observe(&[0.0], &[error])?;
        }
        assert!((half as f64 / f64::from(steps / 2) - 0.9).abs() < 0.01, "{half}");
        assert!((intervals.coverage(0) - 0.9).abs() < 1.01 / (params.rate * f64::from(steps)));
        Ok(())
    }

    #[test]
    fn refusals_leave_no_trace() -> Result<(), Error> {
        let mut intervals = ConformalIntervals::new(2, IntervalParams::default())?;
        assert!(matches!(intervals.observe(&[0.0], &[1.0, 2.0]), Err(Error::Outputs { .. })));
        assert!(intervals.observe(&[0.0, f64::NAN], &[1.0, 2.0]).is_err());
        assert!(intervals.observe(&[0.0, 0.0], &[1.0, f64::INFINITY]).is_err());
        assert_eq!((intervals.counted(0), intervals.counted(1)), (0, 0));
        for params in [
            IntervalParams::default().coverage(1.0),
            IntervalParams::default().rate(0.0),
            IntervalParams::default().window(0),
        ] {
            assert!(ConformalIntervals::new(1, params).is_err());
        }
        Ok(())
    }
}
