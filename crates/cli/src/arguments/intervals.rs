//! `--intervals`: intervals around the predictions of a learner of numbers.

use clap::{Args, ValueEnum};
use mercer_experts::IntervalParams;
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::{Regressor, RegressorExt};

use crate::report::failure::Failure;

/// Options of `eval` and `train` about intervals.
#[derive(Args)]
pub(crate) struct IntervalArguments {
    /// Add intervals that hold this share of the targets, such as 0.9, calibrated as rows come
    ///
    /// The share holds for any data, also while they change. The first rows have no interval; their
    /// number is 1/(1 − SHARE), less one.
    #[arg(long, value_name = "SHARE")]
    intervals: Option<f64>,
    /// Width of the intervals of a time: the same (constant), or wider where the learner knows less
    /// (local: default of `auto`; others have constant)
    ///
    /// `local` divides errors by the standard deviation that the learner tells with each
    /// prediction, in units of the noise. `auto` and least-squares learners have one; rows are then
    /// learnt one by one. With `auto` each end has errors of its own, and goes no farther than the
    /// targets have gone, once their least or largest has stood for long.
    #[arg(long, value_name = "HOW", requires = "intervals")]
    interval_width: Option<Width>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Width {
    Constant,
    Local,
}

impl IntervalArguments {
    /// True if there are to be any.
    pub(crate) fn wanted(&self) -> bool {
        self.intervals.is_some()
    }

    /// The units of their errors, around a learner that chooses by itself or one that does not.
    pub(crate) fn scale(&self, autonomous: bool) -> IntervalScale {
        match (self.interval_width, autonomous) {
            _ if !self.wanted() => IntervalScale::Error,
            (Some(Width::Constant), _) | (None, false) => IntervalScale::Error,
            (Some(Width::Local), false) => IntervalScale::Deviation,
            (Some(Width::Local) | None, true) => IntervalScale::Sides,
        }
    }

    /// The intervals around this learner's predictions, if there are to be any.
    pub(crate) fn make(
        &self,
        learner: &impl Regressor,
        scale: IntervalScale,
    ) -> Result<Option<LearnerIntervals>, Failure> {
        let Some(share) = self.intervals else { return Ok(None) };
        if scale != IntervalScale::Error && !learner.has_variance() {
            return Err(Failure::usage(
                "--interval-width local needs a learner that tells a variance, such as krls; leave it out, or take one of the least-squares \
                 learners",
            ));
        }
        around(learner, share, scale).map(Some)
    }

    /// Refuses intervals around classes.
    pub(crate) fn refuse_for_classes(&self) -> Result<(), Failure> {
        if self.wanted() { Err(for_classes()) } else { Ok(()) }
    }
}

/// Intervals that hold this share.
pub(crate) fn around(learner: &impl Regressor, share: f64, scale: IntervalScale) -> Result<LearnerIntervals, Failure> {
    let params = IntervalParams::default().coverage(share);
    LearnerIntervals::new(learner.outputs(), params, scale)
        .map_err(|error| Failure::usage(format!("--intervals: {error}")))
}

/// Why classes have no intervals.
pub(crate) fn for_classes() -> Failure {
    Failure::usage(
        "--intervals: the target is a class, and intervals are around numbers; leave it out (probabilities and calibration_error tell how \
         sure a class is), or say --task regression",
    )
}
