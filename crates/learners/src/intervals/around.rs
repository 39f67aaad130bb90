//! Intervals around a learner's predictions.

use super::{ConformalIntervals, IntervalScale};
use crate::{Error, Regressor, Scratch, Target};

impl ConformalIntervals {
    /// [`Regressor::predict_into`] with the radius of each output's interval, `[ŷ − r, ŷ + r]`: infinite where there is none yet.
    ///
    /// With [`IntervalScale::Deviation`] it costs what [`Regressor::predict_variance_into`] does.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`]; [`Error::Outputs`] when there are other intervals than outputs; [`Error::NoVariance`] when errors are in
    /// deviations and the learner has no variance.
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
        for (radius, tracker) in radii.iter_mut().zip(&self.outputs) {
            *radius = if *radius > 0.0 { tracker.radius(&self.params) * *radius } else { f64::INFINITY };
        }
        Ok(())
    }

    /// The prequential step with intervals: predicts `x` into `scores` with the radius of each output's interval, then `learner` learns
    /// the example, and the intervals learn whether they held its target.
    ///
    /// An example of weight 0 is predicted and teaches the intervals nothing. All others count alike: the promise is one for rows.
    /// With [`IntervalScale::Error`] nothing is computed twice, and [`observe`](Self::observe) after
    /// [`learn_rows`](Regressor::learn_rows) gives the same; with [`IntervalScale::Deviation`] a prediction comes before the step.
    ///
    /// # Errors
    /// As [`Regressor::learn`] and [`predict_into`](Self::predict_into). Learner and intervals are then unchanged.
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
        if target.y.len() != self.outputs.len() {
            return Err(Error::Outputs { expected: self.outputs.len(), got: target.y.len() });
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
        scales.resize(self.outputs.len(), 1.0);
        if self.scale == IntervalScale::Deviation {
            learner.predict_variance_into(x, scratch, scores, scales)?;
            deviations(learner, scales);
        }
        learner.learn(x, target, scores)?;
        for ((radius, deviation), tracker) in radii.iter_mut().zip(&*scales).zip(&self.outputs) {
            let known = *deviation > 0.0;
            *radius = if known { tracker.radius(&self.params) * deviation } else { f64::INFINITY };
        }
        if target.weight == 0.0 {
            return Ok(());
        }
        self.observe_scaled(scores, target.y, |output| scales[output])
    }

    fn check<R: Regressor + ?Sized>(&self, learner: &R) -> Result<(), Error> {
        let (expected, got) = (learner.outputs(), self.outputs.len());
        if expected != got {
            return Err(Error::Outputs { expected, got });
        }
        if self.scale == IntervalScale::Deviation && !learner.has_variance() {
            return Err(Error::NoVariance);
        }
        Ok(())
    }
}

/// Turns the variances of a prediction into deviations in units of the noise: the scale of [`IntervalScale::Deviation`].
pub fn deviations<R: Regressor + ?Sized>(learner: &R, variances: &mut [f64]) {
    for (output, variance) in variances.iter_mut().enumerate() {
        *variance = (*variance / learner.noise(output).unwrap_or(1.0)).sqrt();
    }
}
