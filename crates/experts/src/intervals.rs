//! Prediction intervals that hold their coverage whatever the data: adaptive conformal inference
//! (Gibbs and Candès 2021).
//!
//! For each output, the interval is `ŷ ± r`, `r` the `(1 − α_t)` quantile of the last `window`
//! absolute errors, and
//!
//! ```text
//! α_{t+1} = α_t + η (α − [y_t outside])
//! ```
//!
//! so that misses widen and hits narrow it until the share of misses is `α = 1 − coverage`. Nothing
//! is assumed of the learner or the data.
//!
//! **Below 0** the level asks for more than the largest error remembered. The paper then takes the
//! whole line. Here the radius is `r = 2^{−α_t/η} max`: that error doubled for each miss. Widths
//! stay finite, so that they have a mean.
//!
//! **The bound.** To miss `k` times in a row from level 0, errors must grow `2^{k²/2}`-fold. For
//! errors that never do, `α_t` stays above `−(k + 1)η`, and the share of misses in any `T`
//! successive rows is within `(1 + (k + 2)η)/(ηT)` of `α`. The numbers of a machine allow `k ≤ 65`,
//! so there is such a bound for every sequence.
//!
//! **At 1** the interval is the prediction alone, and no interval is narrower. So an error of
//! exactly 0 leaves the level as it is.
//!
//! **Scaled errors.** What is remembered may be `|e|/σ(x)` instead, with the learner's deviation
//! `σ(x)`, and the interval `ŷ ± r σ(x)` ([`ConformalIntervals::observe_scaled`]).
//!
//! With too few errors for the quantile the interval is the whole line, until the window is full.
//! Cost: `O(window)` moves a row and output, no allocation.

use std::collections::VecDeque;

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate, parameters};

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

/// Intervals around the predictions of a learner or a forecaster, one an output.
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
        let outputs = (0..outputs).map(|_| tracker()).collect();
        Ok(Self { params, outputs })
    }

    /// The parameters.
    #[must_use]
    pub fn params(&self) -> &IntervalParams {
        &self.params
    }

    /// Numbers that have an interval.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Reach of the next interval of an output to either side of the prediction: `[ŷ − r, ŷ + r]`;
    /// infinite for the whole line. With scaled errors it counts the scale of the prediction.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn radius(&self, output: usize) -> f64 {
        self.outputs[output].radius(&self.params)
    }

    /// Learns what came of the predictions. Outputs that are missing (NaN) are passed over.
    ///
    /// # Errors
    /// When a length is not the number of outputs, a prediction is not finite or an output
    /// infinite; nothing is changed then.
    pub fn observe(&mut self, prediction: &[f64], output: &[f64]) -> Result<(), ExampleError> {
        self.observe_scaled(prediction, output, |_| 1.0)
    }

    /// [`observe`](Self::observe) with the scale of each output's prediction. Outputs whose scale
    /// is no positive number are passed over.
    ///
    /// # Errors
    /// As [`observe`](Self::observe).
    pub fn observe_scaled(
        &mut self,
        prediction: &[f64],
        output: &[f64],
        scale: impl Fn(usize) -> f64,
    ) -> Result<(), ExampleError> {
        let expected = self.outputs.len();
        for got in [prediction.len(), output.len()] {
            if got != expected {
                return Err(ExampleError::Outputs { expected, got });
            }
        }
        if let Some(value) = prediction.iter().find(|value| !value.is_finite()) {
            return Err(ExampleError::NonFiniteTarget(*value));
        }
        if let Some(value) = output.iter().find(|value| value.is_infinite()) {
            return Err(ExampleError::NonFiniteTarget(*value));
        }
        for (index, (tracker, (prediction, y))) in
            self.outputs.iter_mut().zip(prediction.iter().zip(output)).enumerate()
        {
            let scale = scale(index);
            if !y.is_nan() && scale > 0.0 && scale.is_finite() {
                tracker.observe(((y - prediction).abs() / scale).min(f64::MAX), &self.params);
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
    fn radius(&self, params: &IntervalParams) -> f64 {
        if self.miss >= 1.0 {
            return 0.0;
        }
        let known = self.sorted.len();
        // The smallest error that this share of errors, the coming one among them, does not exceed.
        let rank = |share: f64| ((share * (known + 1) as f64).ceil() as usize).max(1);
        match (self.sorted.get(rank(1.0 - self.miss) - 1), self.sorted.last()) {
            (Some(error), _) => *error,
            (None, Some(largest)) if rank(params.coverage) <= known || known == params.window => {
                largest * (-self.miss / params.rate).max(0.0).exp2()
            }
            _ => f64::INFINITY,
        }
    }

    fn observe(&mut self, error: f64, params: &IntervalParams) {
        let radius = self.radius(params);
        let held = error <= radius;
        self.held += usize::from(held);
        self.counted += 1;
        // No interval is narrower.
        if radius > 0.0 || error > 0.0 {
            self.miss += params.rate * (1.0 - params.coverage - f64::from(u8::from(!held)));
        }
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

    type TestResult = Result<(), Box<dyn std::error::Error>>;

    #[test]
    fn radii_by_hand() -> TestResult {
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
    fn coverage_is_held_while_the_errors_grow_a_thousandfold() -> TestResult {
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

    /// Pseudo-random numbers in (0, 1).
    fn uniforms() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }
    }

    /// Errors become a thousand times larger, and later smaller again: no window of 2,000 rows is
    /// off by more than 0.02, and only the first intervals are the whole line.
    #[test]
    fn after_a_switch_any_two_thousand_rows_hold_their_share() -> TestResult {
        let mut uniform = uniforms();
        let mut intervals = ConformalIntervals::new(1, IntervalParams::default())?;
        let mut held = Vec::new();
        for t in 0..24_000_usize {
            let size = [1.0, 1000.0, 1.0, 30.0, 0.01, 0.1][t / 4000];
            let error = size * (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            let radius = intervals.radius(0);
            assert_eq!(radius.is_infinite(), t < 9, "row {t}");
            held.push(error.abs() <= radius);
            intervals.observe(&[0.0], &[error])?;
        }
        for (start, window) in held.windows(2000).enumerate() {
            let share = window.iter().filter(|held| **held).count() as f64 / 2000.0;
            assert!((share - 0.9).abs() <= 0.02, "{share} in the 2,000 rows from {start}");
        }
        Ok(())
    }

    /// Errors that are as small as a miss allows, and never more than a thousand times the largest
    /// of their window: misses are paid for.
    #[test]
    fn the_worst_sequence_pays_for_its_misses() -> TestResult {
        let mut intervals = ConformalIntervals::new(1, IntervalParams::default())?;
        let (mut deepest, mut misses) = (0.0_f64, 0);
        for t in 0..20_000_u32 {
            let radius = intervals.radius(0);
            let largest = intervals.outputs[0].sorted.last().copied().unwrap_or(0.0).max(1e-300);
            let error = if radius < largest * 1e3 && radius < 1e300 { radius.max(1e-300) * 1.001 } else { 0.0 };
            misses += u32::from(error > radius);
            intervals.observe(&[0.0], &[error])?;
            deepest = deepest.min(intervals.outputs[0].miss);
            let bound = (1.0 + 12.0 * 0.01) / (0.01 * f64::from(t + 1));
            assert!(f64::from(misses) / f64::from(t + 1) <= 0.1 + bound, "{misses} misses in {} rows", t + 1);
        }
        assert!((-0.11..-0.05).contains(&deepest), "{deepest}");
        Ok(())
    }

    #[test]
    fn exact_predictions_are_not_paid_for() -> TestResult {
        let mut intervals = ConformalIntervals::new(1, IntervalParams::default())?;
        (0..5000).try_for_each(|_| intervals.observe(&[1.0], &[1.0]))?;
        assert_eq!((intervals.radius(0), intervals.coverage(0)), (0.0, 1.0));
        let mut uniform = uniforms();
        let mut held = 0;
        for _ in 0..2000 {
            let y = uniform();
            held += usize::from(y <= intervals.radius(0));
            intervals.observe(&[0.0], &[y])?;
        }
        assert!((held as f64 / 2000.0 - 0.9).abs() < 0.06, "{held}");
        Ok(())
    }

    #[test]
    fn refusals_leave_no_trace() -> TestResult {
        let mut intervals = ConformalIntervals::new(2, IntervalParams::default())?;
        assert!(matches!(intervals.observe(&[0.0], &[1.0, 2.0]), Err(ExampleError::Outputs { .. })));
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
