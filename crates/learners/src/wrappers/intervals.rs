//! [Conformal intervals](ConformalIntervals) around a learner's predictions, of one width or wider
//! where it knows less.
//!
//! **Sides.** With [`IntervalScale::Sides`] each end has a quantile of its own, and so have low,
//! middle and high predictions: three thirds of the last 300. For errors `e` in deviations the
//! upper end follows the `1 − α/2` quantile of `max(e, 0)` and the lower one that of `max(−e, 0)`,
//! each by adaptive conformal inference, so that each is missed by `α/2` of the rows of a third. An
//! end goes no farther than the targets have gone, where their least or largest has stood for
//! `10/α` rows: of targets in any order one in so many rows goes beyond it. In the first `10/α`
//! rows the thirds are one.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_experts::{ConformalIntervals, IntervalParams};

use crate::input::Input;
use crate::learner::predict_input;
use crate::{Error, Regressor, RegressorExt, Scratch, Target};

/// In which units errors are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum IntervalScale {
    /// Units of the output, so that intervals are as wide everywhere.
    #[default]
    Error,
    /// Standard deviations that the learner tells with each prediction
    /// ([`RegressorExt::predict_variance_into`]), so that intervals are wider where it knows less.
    /// Those of the noise are the unit ([`RegressorExt::noise`]): `√(1 + s)` for least squares. So
    /// the scale depends on the input and not on an estimate that drifts for thousands of rows
    /// after a change.
    Deviation,
    /// The same, with an end of its own to either side, within the targets seen.
    Sides,
}

/// The same with what is known of the sides. New variants come last, since files count them from 0.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum ErrorUnits {
    Error,
    Deviation,
    /// The targets and predictions of each output, and the share that both sides are to hold.
    Sides(Vec<SeenOutput>, f64),
}

/// Parts of the predictions that have quantiles of their own, and the predictions that tell them.
const PARTS: usize = 3;
const RECENT: usize = 300;
/// Sides of the parts of an output.
const TRACKERS: usize = 2 * PARTS;
/// Misses that are expected before the parts are apart, and before the least target bounds
/// intervals.
const KNOWN: f64 = 10.0;

/// The targets and the predictions of an output so far.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SeenOutput {
    /// The least and the largest target, and for how many rows each has stood.
    ends: [f64; 2],
    stood: [u64; 2],
    /// Rows, and those of them whose interval held the target.
    counted: u64,
    held: u64,
    /// The last predictions; the next replaces that in place `counted` mod [`RECENT`].
    recent: Vec<f64>,
}

impl SeenOutput {
    /// The part of the predictions where this one lies.
    fn part(&self, prediction: f64) -> usize {
        let count = |less: fn(f64, f64) -> bool| self.recent.iter().filter(|other| less(**other, prediction)).count();
        let twice = count(|a, b| a < b) + count(|a, b| a <= b);
        (PARTS * twice / (2 * self.recent.len()).max(1)).min(PARTS - 1)
    }

    /// True if the parts are apart, in intervals that are missed by a share `miss` of the rows.
    fn is_known(&self, miss: f64) -> bool {
        self.counted as f64 >= KNOWN / miss
    }

    /// Bounds how far an interval goes from the prediction, if its quantiles say so much.
    fn bound(&self, prediction: f64, reach: [f64; 2], miss: f64) -> [f64; 2] {
        let gaps = [prediction - self.ends[0], self.ends[1] - prediction];
        std::array::from_fn(|side| {
            let known = self.stood[side] as f64 >= KNOWN / miss;
            if known { reach[side].min(gaps[side].max(0.0)) } else { reach[side] }
        })
    }

    fn see(&mut self, prediction: f64, y: f64, held: bool) {
        let beyond = [y < self.ends[0], y > self.ends[1]].map(|beyond| beyond || self.counted == 0);
        for side in 0..2 {
            (self.ends[side], self.stood[side]) =
                if beyond[side] { (y, 0) } else { (self.ends[side], self.stood[side] + 1) };
        }
        match self.recent.get_mut(self.counted as usize % RECENT) {
            Some(oldest) => *oldest = prediction,
            None => self.recent.push(prediction),
        }
        self.counted += 1;
        self.held += u64::from(held);
    }

    fn is_sound(&self) -> bool {
        let ordered = self.ends[0].is_finite() && self.ends[1].is_finite() && self.ends[0] <= self.ends[1];
        let rows = self.held <= self.counted && self.stood.iter().all(|stood| *stood <= self.counted);
        let recent = self.recent.len() as u64 == self.counted.min(RECENT as u64);
        ordered && rows && recent && self.counted < u64::MAX / 2 && self.recent.iter().all(|made| made.is_finite())
    }
}

/// The share that one of two sides is to hold where both are to hold `share`.
fn of_side(share: f64) -> f64 {
    0.5 * (1.0 + share)
}

/// Intervals around the predictions of a learner, one an output.
///
/// An interval is told by its reach: how far it goes below and above the prediction, two numbers an
/// output, infinite where there is none yet.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LearnerIntervals {
    /// Intervals of each output; for sides, [`TRACKERS`] an output.
    conformal: ConformalIntervals,
    units: ErrorUnits,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: IntervalMemory,
}

/// Memory of a row: its deviations, the reach of its intervals, and for each tracker the prediction
/// and what came of it.
#[derive(Clone, Debug, Default)]
struct IntervalMemory {
    scales: Vec<f64>,
    reach: Vec<f64>,
    sides: [Vec<f64>; 2],
}

impl Validate for LearnerIntervals {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.conformal.validate()?;
        let ErrorUnits::Sides(seen, share) = &self.units else { return Ok(()) };
        let sides = self.conformal.params().coverage == of_side(*share);
        let all = sides && self.conformal.outputs() == TRACKERS * seen.len();
        Inconsistent::require(
            all && seen.iter().all(SeenOutput::is_sound),
            "sides of intervals",
            "they fit the outputs",
        )
    }
}

impl LearnerIntervals {
    /// Intervals around `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: IntervalParams, scale: IntervalScale) -> Result<Self, ParameterError> {
        let (units, trackers, coverage) = match scale {
            IntervalScale::Error => (ErrorUnits::Error, outputs, params.coverage),
            IntervalScale::Deviation => (ErrorUnits::Deviation, outputs, params.coverage),
            IntervalScale::Sides => {
                ConformalIntervals::new(outputs, params)?;
                let seen = vec![SeenOutput::default(); outputs];
                (ErrorUnits::Sides(seen, params.coverage), TRACKERS * outputs, of_side(params.coverage))
            }
        };
        let conformal = ConformalIntervals::new(trackers, params.coverage(coverage))?;
        Ok(Self { conformal, units, work: IntervalMemory::default() })
    }

    /// The units of the errors.
    #[must_use]
    pub fn scale(&self) -> IntervalScale {
        match self.units {
            ErrorUnits::Error => IntervalScale::Error,
            ErrorUnits::Deviation => IntervalScale::Deviation,
            ErrorUnits::Sides(..) => IntervalScale::Sides,
        }
    }

    /// Numbers that have an interval.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match &self.units {
            ErrorUnits::Sides(seen, _) => seen.len(),
            _ => self.conformal.outputs(),
        }
    }

    /// The share of targets that they are to hold.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        match &self.units {
            ErrorUnits::Sides(_, share) => *share,
            _ => self.conformal.params().coverage,
        }
    }

    /// The share of the targets of an output that they have held; NaN before the first.
    ///
    /// # Panics
    /// If there is no such output.
    #[must_use]
    pub fn held(&self, output: usize) -> f64 {
        match &self.units {
            ErrorUnits::Sides(seen, _) => seen[output].held as f64 / seen[output].counted as f64,
            _ => self.conformal.coverage(output),
        }
    }

    /// `reach ←` that of the intervals around predictions with these scales
    /// ([`deviations`]; 1 for [`IntervalScale::Error`]).
    ///
    /// # Panics
    /// If there are fewer scales than outputs.
    pub fn reach(&self, predictions: &[f64], scales: &[f64], reach: &mut [f64]) {
        for (output, (prediction, reach)) in predictions.iter().zip(reach.chunks_exact_mut(2)).enumerate() {
            let scale = scales[output];
            let radius = |tracker| if scale > 0.0 { self.conformal.radius(tracker) * scale } else { f64::INFINITY };
            reach.copy_from_slice(&match &self.units {
                ErrorUnits::Sides(seen, share) => {
                    let first = TRACKERS * output + 2 * seen[output].part(*prediction);
                    seen[output].bound(*prediction, [radius(first), radius(first + 1)], 1.0 - share)
                }
                _ => [radius(output); 2],
            });
        }
    }

    /// Learns what came of predictions with these scales. Targets that are missing (NaN) and
    /// outputs whose scale is no positive number are passed over.
    ///
    /// # Errors
    /// As [`ConformalIntervals::observe`]; nothing is changed then.
    ///
    /// # Panics
    /// If there are fewer scales than outputs.
    pub fn observe(&mut self, predictions: &[f64], y: &[f64], scales: &[f64]) -> Result<(), ExampleError> {
        let ErrorUnits::Sides(seen, share) = &self.units else {
            return self.conformal.observe_scaled(predictions, y, |output| scales[output]);
        };
        let IntervalMemory { mut reach, sides: [mut made, mut came], scales: own } = std::mem::take(&mut self.work);
        reach.resize(2 * predictions.len(), 0.0);
        self.reach(predictions, scales, &mut reach);
        made.clear();
        came.clear();
        for ((seen, prediction), y) in seen.iter().zip(predictions).zip(y) {
            let part = seen.part(*prediction);
            for other in 0..PARTS {
                let learns = !y.is_nan() && (other == part || !seen.is_known(1.0 - share));
                made.extend([*prediction; 2]);
                came.extend(if learns { [y.min(*prediction), y.max(*prediction)] } else { [f64::NAN; 2] });
            }
        }
        let learnt = self.conformal.observe_scaled(&made, &came, |tracker| scales[tracker / TRACKERS]);
        if let (Ok(()), ErrorUnits::Sides(seen, _)) = (&learnt, &mut self.units) {
            for (output, (seen, reach)) in seen.iter_mut().zip(reach.chunks_exact(2)).enumerate() {
                let (y, made, scale) = (y[output], predictions[output], scales[output]);
                if !y.is_nan() && scale > 0.0 && scale.is_finite() {
                    seen.see(made, y, (-reach[0]..=reach[1]).contains(&(y - made)));
                }
            }
        }
        self.work = IntervalMemory { reach, sides: [made, came], scales: own };
        learnt
    }

    /// [`Regressor::predict_into`] with the reach of each output's interval.
    ///
    /// With [`IntervalScale::Deviation`] and [`IntervalScale::Sides`] it costs what
    /// [`RegressorExt::predict_variance_into`] does.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`]; [`ExampleError::Outputs`] when there are other intervals
    /// than outputs; [`Error::NoVariance`] when errors are in deviations and the learner has no
    /// variance.
    ///
    /// # Panics
    /// If `scores` has not an entry for each output of the learner, or `reach` two.
    pub fn predict_into<'x, R: Regressor + ?Sized>(
        &self,
        learner: &R,
        input: impl Into<Input<'x>>,
        scratch: &mut Scratch,
        scores: &mut [f64],
        reach: &mut [f64],
    ) -> Result<(), Error> {
        let mut scales = scratch.lend(self.outputs());
        let made = self.predict_scaled(learner, input, scratch, scores, &mut scales, reach);
        scratch.take_back(scales);
        made
    }

    /// [`predict_into`](Self::predict_into) that keeps the scales of the prediction, with which
    /// [`observe`](Self::observe) learns when the target comes later.
    ///
    /// # Errors
    /// As [`predict_into`](Self::predict_into).
    ///
    /// # Panics
    /// As [`predict_into`](Self::predict_into), or if `scales` has not an entry for each output.
    pub fn predict_scaled<'x, R: Regressor + ?Sized>(
        &self,
        learner: &R,
        input: impl Into<Input<'x>>,
        scratch: &mut Scratch,
        scores: &mut [f64],
        scales: &mut [f64],
        reach: &mut [f64],
    ) -> Result<(), Error> {
        self.check(learner)?;
        let input = input.into();
        if self.scale() == IntervalScale::Error {
            predict_input(learner, input, scratch, scores)?;
        }
        self.scales_into(learner, input.numbers, scratch, scores, scales)?;
        self.reach(scores, scales, reach);
        Ok(())
    }

    /// The prequential step with intervals: predicts `x` into `scores` with the reach of each
    /// output's interval, then `learner` learns the example, and the intervals learn whether they
    /// held its target.
    ///
    /// An example of weight 0 is predicted and teaches the intervals nothing. All others count
    /// alike: the promise is one for rows. With [`IntervalScale::Error`] nothing is computed twice,
    /// and [`observe`](Self::observe) after [`learn_rows`](RegressorExt::learn_rows) gives the
    /// same; with the others a prediction comes before the step.
    ///
    /// # Errors
    /// As [`RegressorExt::learn`] and [`predict_into`](Self::predict_into). Learner and intervals
    /// are then unchanged.
    ///
    /// # Panics
    /// If `scores` has not an entry for each output of the learner, or `reach` two.
    pub fn learn<'x, R: Regressor + ?Sized>(
        &mut self,
        learner: &mut R,
        input: impl Into<Input<'x>>,
        target: Target<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
        reach: &mut [f64],
    ) -> Result<(), Error> {
        self.check(learner)?;
        let (input, expected) = (input.into(), self.outputs());
        if target.y.len() != expected {
            return Err(ExampleError::Outputs { expected, got: target.y.len() }.into());
        }
        let mut scales = std::mem::take(&mut self.work.scales);
        scales.resize(expected, 1.0);
        let mut learnt = self.scales_into(learner, input.numbers, scratch, scores, &mut scales);
        learnt = learnt.and_then(|()| learner.learn_input(input, target, scores));
        if learnt.is_ok() {
            self.reach(scores, &scales, reach);
            if target.weight != 0.0 {
                learnt = self.observe(scores, target.y, &scales).map_err(Error::from);
            }
        }
        self.work.scales = scales;
        learnt
    }

    /// `scales ←` those of a prediction at `x`, which goes into `scores` where it is made for them.
    fn scales_into<R: Regressor + ?Sized>(
        &self,
        learner: &R,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        scales: &mut [f64],
    ) -> Result<(), Error> {
        scales.fill(1.0);
        if self.scale() != IntervalScale::Error {
            learner.predict_variance_into(x, scratch, scores, scales)?;
            deviations(learner, scales);
        }
        Ok(())
    }

    fn check<R: Regressor + ?Sized>(&self, learner: &R) -> Result<(), Error> {
        let (expected, got) = (learner.outputs(), self.outputs());
        if expected != got {
            return Err(ExampleError::Outputs { expected, got }.into());
        }
        if self.scale() != IntervalScale::Error && !learner.has_variance() {
            return Err(Error::NoVariance);
        }
        Ok(())
    }
}

/// Turns the variances of a prediction into deviations in units of the noise: the scale of
/// [`IntervalScale::Deviation`].
pub fn deviations<R: Regressor + ?Sized>(learner: &R, variances: &mut [f64]) {
    for (output, variance) in variances.iter_mut().enumerate() {
        *variance = (*variance / learner.noise(output).unwrap_or(1.0)).sqrt();
    }
}
