//! [Conformal intervals](ConformalIntervals) around a learner's predictions, of one width or wider
//! where it knows less.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate};
use mercer_experts::{ConformalIntervals, IntervalParams};

use crate::{Error, Regressor, RegressorExt, Scratch, Target};

/// In which units errors are remembered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum IntervalScale {
    /// Those of the output, so that intervals are as wide everywhere.
    #[default]
    Error,
    /// Standard deviations that the learner tells with each prediction
    /// ([`RegressorExt::predict_variance_into`]), so that intervals are wider where it knows less.
    /// Those of the noise are the unit ([`RegressorExt::noise`]): `√(1 + s)` for least squares. So
    /// the scale depends on the input and not on an estimate that drifts for thousands of rows
    /// after a change.
    Deviation,
}

/// Intervals around the predictions of a learner, one an output.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LearnerIntervals {
    /// What they learn of the errors, in the units of [`scale`](Self::scale).
    pub conformal: ConformalIntervals,
    scale: IntervalScale,
    /// Standard deviations of the row that is learnt.
    #[cfg_attr(feature = "serde", serde(skip))]
    deviations: Vec<f64>,
}

impl Validate for LearnerIntervals {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.conformal.validate()
    }
}

impl LearnerIntervals {
    /// Intervals around `outputs` numbers.
    ///
    /// # Errors
    /// When a parameter is outside its range.
    pub fn new(outputs: usize, params: IntervalParams, scale: IntervalScale) -> Result<Self, ParameterError> {
        Ok(Self { conformal: ConformalIntervals::new(outputs, params)?, scale, deviations: Vec::new() })
    }

    /// The units of the errors.
    #[must_use]
    pub fn scale(&self) -> IntervalScale {
        self.scale
    }

    /// [`Regressor::predict_into`] with the radius of each output's interval, `[ŷ − r, ŷ + r]`:
    /// infinite where there is none yet.
    ///
    /// With [`IntervalScale::Deviation`] it costs what [`RegressorExt::predict_variance_into`]
    /// does.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`]; [`ExampleError::Outputs`] when there are other intervals
    /// than outputs; [`Error::NoVariance`] when errors are in deviations and the learner has no
    /// variance.
    ///
    /// # Panics
    /// If `scores` or `radii` has not an entry for each output of the learner.
    pub fn predict_into<R: Regressor + ?Sized>(
        &self,
        learner: &R,
        x: &[f64],
        scratch: &mut Scratch,
        scores: &mut [f64],
        radii: &mut [f64],
    ) -> Result<(), Error> {
        self.check(learner)?;
        match self.scale {
            IntervalScale::Error => {
                learner.predict_into(x, scratch, scores)?;
                radii.fill(1.0);
            }
            IntervalScale::Deviation => {
                learner.predict_variance_into(x, scratch, scores, radii)?;
                deviations(learner, radii);
            }
        }
        self.scale_radii(radii);
        Ok(())
    }

    /// The prequential step with intervals: predicts `x` into `scores` with the radius of each
    /// output's interval, then `learner` learns the example, and the intervals learn whether they
    /// held its target.
    ///
    /// An example of weight 0 is predicted and teaches the intervals nothing. All others count
    /// alike: the promise is one for rows. With [`IntervalScale::Error`] nothing is computed twice,
    /// and [`observe`](ConformalIntervals::observe) after [`learn_rows`](RegressorExt::learn_rows)
    /// gives the same; with [`IntervalScale::Deviation`] a prediction comes before the step.
    ///
    /// # Errors
    /// As [`RegressorExt::learn`] and [`predict_into`](Self::predict_into). Learner and intervals
    /// are then unchanged.
    ///
    /// # Panics
    /// If `scores` or `radii` has not an entry for each output of the learner.
    pub fn learn<R: Regressor + ?Sized>(
        &mut self,
        learner: &mut R,
        x: &[f64],
        target: Target<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
        radii: &mut [f64],
    ) -> Result<(), Error> {
        self.check(learner)?;
        if target.y.len() != self.conformal.outputs() {
            return Err(ExampleError::Outputs { expected: self.conformal.outputs(), got: target.y.len() }.into());
        }
        let mut deviations = std::mem::take(&mut self.deviations);
        let learnt = self.step(learner, x, target, scratch, (scores, radii), &mut deviations);
        self.deviations = deviations;
        learnt
    }

    fn step<R: Regressor + ?Sized>(
        &mut self,
        learner: &mut R,
        x: &[f64],
        target: Target<'_>,
        scratch: &mut Scratch,
        (scores, radii): (&mut [f64], &mut [f64]),
        scales: &mut Vec<f64>,
    ) -> Result<(), Error> {
        scales.clear();
        scales.resize(self.conformal.outputs(), 1.0);
        if self.scale == IntervalScale::Deviation {
            learner.predict_variance_into(x, scratch, scores, scales)?;
            deviations(learner, scales);
        }
        learner.learn(x, target, scores)?;
        radii[..scales.len()].copy_from_slice(scales);
        self.scale_radii(radii);
        if target.weight == 0.0 {
            return Ok(());
        }
        Ok(self.conformal.observe_scaled(scores, target.y, |output| scales[output])?)
    }

    /// Turns the scales of a prediction into the radii of its intervals.
    fn scale_radii(&self, scales: &mut [f64]) {
        for (output, scale) in scales.iter_mut().enumerate().take(self.conformal.outputs()) {
            *scale = if *scale > 0.0 { self.conformal.radius(output) * *scale } else { f64::INFINITY };
        }
    }

    fn check<R: Regressor + ?Sized>(&self, learner: &R) -> Result<(), Error> {
        let (expected, got) = (learner.outputs(), self.conformal.outputs());
        if expected != got {
            return Err(ExampleError::Outputs { expected, got }.into());
        }
        if self.scale == IntervalScale::Deviation && !learner.has_variance() {
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
