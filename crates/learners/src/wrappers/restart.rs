//! Learners that start anew when their loss tells that the target has changed.
//!
//! [`Restarting`] is any learner with a [`ChangeDetector`] on its loss. After each round the loss
//! of the round's prediction, `ℓ(ŷ_t, y_t)`, whatever the weight of the example, goes to the
//! detector. When that alarms, because the loss has risen, the learner is replaced by what it was
//! before it learnt anything, and the detector begins anew, for the losses of another learner are
//! no continuation. The first 30 losses after a start are not shown to it: they are those of a
//! learner that knows nothing yet.
//!
//! The new learner knows nothing of the rows between the change and the alarm. (Starting a second
//! learner in the background at a warning would save those, at the price of two learners a row; in
//! a [`Mixture`](crate::Mixture) members that forget cover the gap for less.)
//!
//! Cost: that of the learner, the learner's untrained state once more in memory, and the detector's
//! `O(log t)` or `O(1)` a round. Blocks are learnt as the learner learns them; the rest of a block
//! is learnt again after an alarm in it.

use mercer_core::{Cost, Inconsistent, Validate, validate_nested};
use mercer_experts::{Adwin, AnyDetector, ChangeDetector, PageHinkley};

use crate::entry::keys::join;
use crate::entry::{BuildError, Context, Entry, Key, Kind, Parameters, Takes, Values, choices};
use crate::example::{Rows, Target};
use crate::input::Input;
use crate::learner::{Tokens, predict_input, step_input};
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Variance};

/// Losses after a start that the detector is not shown.
const WARM_UP: u64 = 30;

/// A learner that starts anew when a detector finds that its loss has risen.
///
/// ```
/// use mercer_experts::Adwin;
/// use mercer_kernels::Gaussian;
/// use mercer_learners::{Krls, KrlsParams, RegressorExt, Restarting};
///
/// let krls = Krls::new(Gaussian::new(0.5)?, 1, KrlsParams::default().lambda(0.1))?;
/// let mut learner = Restarting::new(krls, Adwin::default());
/// for t in 0..1000 {
///     let x = (0.7 * f64::from(t)).sin();
///     let sign = if t < 600 { 1.0 } else { -1.0 };
///     learner.update(&[x], sign * (3.0 * x).sin())?;
/// }
/// assert_eq!(learner.restarts(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "R: serde::Serialize, D: serde::Serialize",
        deserialize = "R: serde::Deserialize<'de>, D: serde::Deserialize<'de>"
    ))
)]
pub struct Restarting<R, D = AnyDetector> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    learner: R,
    /// The learner before it learnt anything.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    untrained: R,
    detector: D,
    /// Rounds learnt since the last start.
    rounds: u64,
    restarts: u64,
}

impl<R: Regressor + Clone, D: ChangeDetector> Restarting<R, D> {
    /// `learner`, which has learnt nothing yet, watched by `detector`. What it has learnt already
    /// it would keep after a restart.
    #[must_use]
    pub fn new(learner: R, detector: D) -> Self {
        Self { untrained: learner.clone(), learner, detector, rounds: 0, restarts: 0 }
    }

    /// Shows the detector the loss of a round that was learnt; whether the learner was replaced.
    fn watch(&mut self, scores: &[f64], y: &[f64]) -> bool {
        self.rounds += 1;
        if self.rounds <= WARM_UP || !self.detector.observe(self.learner.loss().value_of_predictions(scores, y)) {
            return false;
        }
        self.learner = self.untrained.clone();
        self.detector.reset();
        self.rounds = 0;
        self.restarts += 1;
        true
    }
}

impl<R, D> Restarting<R, D> {
    /// The learner as it is now.
    #[must_use]
    pub fn learner(&self) -> &R {
        &self.learner
    }

    /// Number of times it has started anew.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Rounds that the learner of now has learnt.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }
}

impl<R: Regressor + Validate, D: Validate> Validate for Restarting<R, D> {
    fn validate(&self) -> Result<(), Inconsistent> {
        validate_nested(|| self.learner.validate())?;
        validate_nested(|| self.untrained.validate())?;
        self.detector.validate()?;
        let same = self.learner.problem() == self.untrained.problem();
        Inconsistent::require(same, "learner that starts anew", "the learners before and after are of one kind")?;
        let counted = self.rounds < u64::MAX && self.restarts < u64::MAX;
        Inconsistent::require(counted, "learner that starts anew", "its rounds can be counted on")
    }
}

impl<R: Regressor + Clone, D: ChangeDetector> Regressor for Restarting<R, D> {
    fn problem(&self) -> Problem {
        self.learner.problem()
    }

    fn dictionary_size(&self) -> usize {
        self.learner.dictionary_size()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.learner.predict_into(x, scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.step_input(x.into(), target, scores)
    }

    fn variance(&self) -> Option<&dyn Variance> {
        self.learner.variance()
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        self.learner.tokens().map(|_| self as &dyn Tokens)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        if self.learner.tokens().is_some() { Some(self) } else { None }
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        let mut untrained = self.untrained.clone();
        untrained.reshape(growth)?;
        self.learner.reshape(growth)?;
        self.untrained = untrained;
        Ok(())
    }
}

impl<R: Regressor + Clone, D: ChangeDetector> Tokens for Restarting<R, D> {
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        predict_input(&self.learner, input, scratch, scores)
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        step_input(&mut self.learner, input, target, scores)?;
        self.watch(scores, target.y);
        Ok(())
    }

    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        self.learner.tokens()?.token_weight(key, output)
    }
}

impl<R: Regressor + Clone, D: ChangeDetector> Blocks for Restarting<R, D> {
    /// The learner learns the block in its own way. After an alarm it is replaced, so what it
    /// learnt of the later rows is lost with it, and its successor learns them.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let outputs = self.outputs();
        let mut first = 0;
        loop {
            let before = scores.len();
            let learnt = self.learner.learn_rows(rows.range(first, rows.len()), scores);
            let count = (scores.len() - before) / outputs;
            let alarm = (0..count).find(|row| {
                let target = rows.target(first + row);
                target.weight != 0.0 && self.watch(&scores[before + row * outputs..][..outputs], target.y)
            });
            let Some(row) = alarm else { return learnt };
            scores.truncate(before + (row + 1) * outputs);
            first += row + 1;
        }
    }

    fn limit_threads(&mut self, threads: usize) {
        self.learner.set_threads(threads);
        self.untrained.set_threads(threads);
    }
}

/// The detectors by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Detector {
    /// A cumulative sum.
    PageHinkley,
    /// A window that is cut where its mean changed.
    Adwin,
}

choices!(Detector { "page-hinkley" = PageHinkley, "adwin" = Adwin });

parameters! {
    /// Parameters of the detector that watches the loss of a [`Restarting`] learner.
    pub struct DetectorParams {
        /// what watches the loss: a cumulative sum, or a window that is cut where its mean changed
        detector: Detector = Detector::PageHinkley => "" "page-hinkley or adwin",
        /// of page-hinkley: deviations above the mean, in sum, that are an alarm
        threshold: f64 = PageHinkley::THRESHOLD => "λ" POSITIVE.search(5.0, 500.0),
        /// of page-hinkley: deviations above the mean that do not count, in a round
        tolerance: f64 = PageHinkley::TOLERANCE => "α" NOT_NEGATIVE,
        /// of adwin: bound on the probability of a false alarm in a round
        delta: f64 = Adwin::DELTA => "δ" "a number above 0, below 1",
    }
}

pub(crate) const LEARNER: Key = Key::written(
    Kind::Learner,
    [
        "learner",
        "NAME KEY=VALUE …, with kernel=SPEC among the settings; in parentheses where it is a setting of a member",
        "the learner around which this one works",
    ],
    || "krls".into(),
);

#[doc(hidden)]
pub const RESTART: Entry = Entry {
    name: "restart",
    summary: "a learner that starts anew when its loss has risen",
    keys: &join::<5>(&[LEARNER], DetectorParams::KEYS),
    time: Cost::Members,
    memory: Cost::Members,
    growth: Some("as its learner's does"),
    source: "Page 1954; Bifet and Gavaldà 2007",
    remedy: Some("replace the learner, or change its settings"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "sudden changes; as a member of `experts`",
    start: "`learner='krls lambda=0.1'`, Page–Hinkley",
    trial: &["learner=krls"],
    ..Entry::PLAIN
};

/// The learner around the one that `learner` names.
///
/// # Errors
/// When a value is out of its range, or there is no learner.
pub fn restarting<R: Regressor + Clone>(
    context: &Context<'_>,
    values: &Values<'_>,
    members: &[(String, R)],
) -> Result<Restarting<R, AnyDetector>, BuildError> {
    let (_, learner) = members.first().ok_or(BuildError::NoSuchKey("learner"))?;
    let DetectorParams { detector, threshold, tolerance, delta } = values.parameters(context)?;
    let adwin = Adwin::new(delta).map_err(Error::from)?;
    let test = PageHinkley::new(tolerance, threshold).map_err(Error::from)?;
    let detector = if detector == Detector::PageHinkley { AnyDetector::from(test) } else { adwin.into() };
    Ok(Restarting::new(learner.clone(), detector))
}
