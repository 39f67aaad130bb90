//! Intervals around forecasts of two and more steps, each calibrated by the errors of forecasts of
//! as many steps.
//!
//! A forecast of `h` steps is more uncertain than one of a single step, and how much so depends on
//! the series. So every `h` has [intervals](mercer_experts) of its own. A forecast of all steps is
//! made before each row and waits until its rows have come; then the errors of its `h`-th row teach
//! the intervals of `h`. Those hold their share for every `h` and every series.
//!
//! Errors of `h` steps are made of the same `h` surprises as their neighbours, so misses come in
//! runs, which a share over many rows does not show. Memory: `H²m` numbers for the forecasts that
//! wait, and `2 window` errors a step and output. A row costs `H` observations.

use std::collections::VecDeque;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};

use crate::Error;
use mercer_experts::{ConformalIntervals, IntervalParams};

/// Intervals around forecasts of `2, 3, …, H` steps. Those of one step are a
/// [`ConformalIntervals`].
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HorizonIntervals {
    params: IntervalParams,
    outputs: usize,
    /// Intervals of 2, 3, … steps.
    horizons: Vec<ConformalIntervals>,
    /// The forecasts before each of the last rows, the newest last, with the rows of all steps;
    /// empty where none was made.
    forecasts: VecDeque<Vec<f64>>,
}

impl HorizonIntervals {
    /// Intervals for forecasts of up to `steps` rows of `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, steps: usize, params: IntervalParams) -> Result<Self, ParameterError> {
        ConformalIntervals::new(outputs, params)?;
        let mut intervals = Self { params, outputs, horizons: Vec::new(), forecasts: VecDeque::new() };
        intervals.extend(steps)?;
        Ok(intervals)
    }

    /// Adds the steps up to `steps` that are not there yet; they begin to learn now.
    ///
    /// # Errors
    /// None, when the parameters are those of [`new`](Self::new).
    pub fn extend(&mut self, steps: usize) -> Result<(), ParameterError> {
        while self.steps() < steps {
            self.horizons.push(ConformalIntervals::new(self.outputs, self.params)?);
        }
        Ok(())
    }

    /// `H`, the most steps that have intervals; 1 if there are none.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.horizons.len() + 1
    }

    /// Numbers in a row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The intervals of forecasts of `step` steps, if there are any.
    #[must_use]
    pub fn horizon(&self, step: usize) -> Option<&ConformalIntervals> {
        self.horizons.get(step.checked_sub(2)?)
    }

    /// Takes note of a forecast of the rows to come, `outputs` numbers for each of the next 1, 2, …
    /// steps, or of none (an empty one). Once before every row.
    ///
    /// # Errors
    /// [`ExampleError::Outputs`] when the numbers are no whole rows,
    /// [`ExampleError::NonFiniteTarget`] when one is not finite; nothing is changed then.
    pub fn foretell(&mut self, forecast: &[f64]) -> Result<(), Error> {
        if !forecast.len().is_multiple_of(self.outputs.max(1)) {
            return Err(
                ExampleError::Outputs { expected: self.outputs, got: forecast.len() % self.outputs.max(1) }.into()
            );
        }
        if let Some(value) = forecast.iter().find(|value| !value.is_finite()) {
            return Err(ExampleError::NonFiniteTarget(*value).into());
        }
        let steps = self.steps();
        let mut kept =
            if self.forecasts.len() >= steps { self.forecasts.pop_front() } else { None }.unwrap_or_default();
        kept.clear();
        kept.extend(forecast.iter().take(steps * self.outputs));
        self.forecasts.push_back(kept);
        Ok(())
    }

    /// Learns from a row what came of the forecasts that wait for it. Outputs that are missing
    /// (NaN) are passed over.
    ///
    /// # Errors
    /// As [`ConformalIntervals::observe`]; nothing is changed then.
    pub fn observe(&mut self, output: &[f64]) -> Result<(), Error> {
        let m = self.outputs;
        if output.len() != m {
            return Err(ExampleError::Outputs { expected: m, got: output.len() }.into());
        }
        if let Some(value) = output.iter().find(|value| value.is_infinite()) {
            return Err(ExampleError::NonFiniteTarget(*value).into());
        }
        // The newest was made before this row, which is its first; for the one before it is the
        // second.
        let older = self.forecasts.iter().rev().skip(1);
        for (step, (forecast, intervals)) in (1..).zip(older.zip(&mut self.horizons)) {
            if let Some(prediction) = forecast.get(step * m..(step + 1) * m) {
                intervals.observe(prediction, output)?;
            }
        }
        Ok(())
    }
}

impl Validate for HorizonIntervals {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "intervals of several steps";
        self.horizons.validate()?;
        self.forecasts.validate()?;
        let alike =
            |intervals: &ConformalIntervals| intervals.outputs() == self.outputs && *intervals.params() == self.params;
        Inconsistent::require(self.horizons.iter().all(alike), WHAT, "all have the same outputs and parameters")?;
        let most = self.steps().saturating_mul(self.outputs);
        let whole = |row: &Vec<f64>| row.len() <= most && row.len().is_multiple_of(self.outputs.max(1));
        let waiting = self.forecasts.len() <= self.steps() && self.forecasts.iter().all(whole);
        Inconsistent::require(waiting, WHAT, "forecasts that wait are of their steps")?;
        let params = ConformalIntervals::new(0, self.params);
        Inconsistent::require(params.is_ok(), WHAT, "their parameters are in their ranges")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_learns_from_its_own_errors() -> Result<(), Error> {
        let params = IntervalParams::default().coverage(0.5).window(50);
        let mut intervals = HorizonIntervals::new(2, 3, params)?;
        let mut by_hand = [ConformalIntervals::new(2, params)?, ConformalIntervals::new(2, params)?];
        let value = |t: usize| [(t as f64 * 0.7).sin(), (t * t % 17) as f64];
        // Before row t: its prediction and those of the two rows after it, all different.
        let forecast = |t: usize| -> Vec<f64> { (0..6).map(|i| (t * 31 + i * 7) as f64 % 5.0).collect() };
        for t in 0..60_usize {
            // Two rows have no forecast.
            let made = if t % 30 == 11 { Vec::new() } else { forecast(t) };
            intervals.foretell(&made)?;
            intervals.observe(&value(t))?;
            for (step, by_hand) in (1..).zip(&mut by_hand) {
                if let Some(made) = t.checked_sub(step).filter(|made| made % 30 != 11) {
                    by_hand.observe(&forecast(made)[2 * step..2 * step + 2], &value(t))?;
                }
                let horizon = intervals.horizon(step + 1).expect("a horizon that it was made for");
                let facts = |of: &ConformalIntervals| (of.radius(0), of.radius(1), of.counted(0));
                assert_eq!(facts(horizon), facts(by_hand), "row {t}, {} steps", step + 1);
            }
            assert_eq!(intervals.validate(), Ok(()));
        }
        assert!(intervals.horizon(1).is_none() && intervals.horizon(4).is_none());
        // A further step begins where there are forecasts of it.
        intervals.extend(4)?;
        for t in 60..70_usize {
            intervals.foretell(&[forecast(t), vec![1.0, 2.0]].concat())?;
            intervals.observe(&value(t))?;
            assert_eq!(intervals.validate(), Ok(()));
        }
        assert_eq!(intervals.horizon(4).map(|of| of.counted(1)), Some(7));
        Ok(())
    }

    #[test]
    fn refusals_leave_no_trace() -> Result<(), Error> {
        let mut intervals = HorizonIntervals::new(2, 3, IntervalParams::default())?;
        assert!(intervals.foretell(&[1.0]).is_err() && intervals.foretell(&[1.0, f64::NAN]).is_err());
        assert!(intervals.observe(&[1.0]).is_err() && intervals.observe(&[1.0, f64::INFINITY]).is_err());
        assert!(intervals.forecasts.is_empty());
        assert!(HorizonIntervals::new(1, 2, IntervalParams::default().rate(0.0)).is_err());
        Ok(())
    }
}
