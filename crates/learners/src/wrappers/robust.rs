//! Learners that wrong targets do not move: what an example counts for falls with its residual.
//!
//! Let `r = ‖y − f(x)‖` be the error of the prediction made before the example is learnt, and
//! `u = r/σ̂`. The weight of the example is multiplied by
//!
//! | loss | factor | source |
//! |---|---|---|
//! | Huber | `min(1, c/u)` | Zou, Chan and Ng 2000: recursive least M-estimates |
//! | correntropy | `exp(−u²/2c²)` | Wu, Shi, Zhang, Ma and Chen 2015: maximum correntropy |
//!
//! so that least squares minimises Huber's loss, or maximises correntropy, with the weights that
//! the rows before give. Under Huber's weights no example pulls harder than one at `cσ̂`. Under
//! those of correntropy a distant one teaches nothing.
//!
//! `σ̂ = 1.4826 med(r)` over the last 50 residuals, which is the standard deviation of normal
//! errors; half of the residuals may be of any size (Zou et al. take the median for the same
//! reason). Every residual enters, so that a stream that has changed is learnt again after 25 rows.
//! Without a scale (the first nine rows, or a median of 0) an example counts in full. The default
//! `c` has 95 % of the efficiency of least squares at normal errors (Holland and Welsch 1977).
//!
//! Cost: that of the learner and one prediction more; rows are learnt one by one.

use mercer_core::{Cost, Inconsistent, Validate, validate_nested};

use crate::engines::update::finite;
use crate::entry::keys::join;
use crate::entry::{BuildError, Context, Entry, Parameters, Takes, Values, choices};
use crate::example::Target;
use crate::input::Input;
use crate::learner::{Tokens, predict_input, step_input};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::wrappers::restart::LEARNER;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Variance};

/// Residuals that the scale is the median of, and fewest of them.
const WINDOW: usize = 50;
const FEWEST: usize = 9;
/// Standard deviation as a multiple of the median of absolute errors, where errors are normal.
const NORMAL: f64 = 1.4826;
/// A weight below `e^−60` of its own is none.
const OUTLIES: f64 = 60.0;

/// The way in which the weight of an example falls with its residual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Weights {
    /// `min(1, c/u)`
    #[default]
    Huber,
    /// `exp(−u²/2c²)`
    Correntropy,
}

choices!(Weights { "huber" = Huber, "correntropy" = Correntropy });

impl Weights {
    /// The `c` of 95 % efficiency.
    fn usual(self) -> f64 {
        match self {
            Self::Huber => 1.345,
            Self::Correntropy => 2.11,
        }
    }

    /// The factor of a residual, given in units of `c`.
    fn factor(self, residual: f64) -> f64 {
        let exponent = 0.5 * residual * residual;
        match self {
            Self::Huber => (1.0 / residual).min(1.0),
            Self::Correntropy if exponent > OUTLIES => 0.0,
            Self::Correntropy => mercer_simd::exp(-exponent),
        }
    }
}

parameters! {
    /// Parameters of [`Robust`].
    #[derive(Copy)]
    pub struct RobustParams {
        /// how the weight of a row falls with its error: as 1/error beyond the cut, or to nothing
        weights: Weights = Weights::Huber => "" "huber or correntropy",
        /// where it falls, in units of the scale
        cut: Option<f64> = None => "c" POSITIVE.none("1.345 for huber, 2.11 for correntropy"),
        /// usual size of an error
        scale: Option<f64> = None => "σ" POSITIVE.none("1.4826 times the median of the last 50 errors"),
    }
}

/// A learner that counts an example for less, the larger the error of its prediction.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(serialize = "R: serde::Serialize", deserialize = "R: serde::Deserialize<'de>"))
)]
pub struct Robust<R> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "mercer_core::nested"))]
    learner: R,
    weights: Weights,
    cut: f64,
    scale: Option<f64>,
    /// The last ones, and the place of the next; none where the scale is fixed.
    residuals: Vec<f64>,
    next: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
    #[cfg_attr(feature = "serde", serde(skip))]
    ordered: Vec<f64>,
}

impl<R: Regressor> Robust<R> {
    /// The learner, which minimises the squared loss, with weights.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the loss is another.
    pub fn around(learner: R, params: RobustParams) -> Result<Self, Error> {
        params.check()?;
        let loss = learner.loss();
        if loss != Loss::SQUARED {
            return Err(Error::Loss { update: "robust", loss: loss.name(), instead: "the squared loss" });
        }
        let RobustParams { weights, cut, scale } = params;
        Ok(Self {
            learner,
            weights,
            cut: cut.unwrap_or_else(|| weights.usual()),
            scale,
            residuals: Vec::with_capacity(WINDOW),
            next: 0,
            scratch: Scratch::default(),
            ordered: Vec::with_capacity(WINDOW),
        })
    }
}

impl<R> Robust<R> {
    /// The learner.
    #[must_use]
    pub fn learner(&self) -> &R {
        &self.learner
    }

    /// The share that is left of the weight of an example with this residual.
    fn share(&mut self, residual: f64) -> f64 {
        let scale = self.scale.unwrap_or_else(|| {
            self.ordered.clone_from(&self.residuals);
            if self.ordered.len() < FEWEST {
                return 0.0;
            }
            let middle = self.ordered.len() / 2;
            NORMAL * *self.ordered.select_nth_unstable_by(middle, f64::total_cmp).1
        });
        if scale > 0.0 { self.weights.factor(residual / scale / self.cut) } else { 1.0 }
    }

    fn record(&mut self, residual: f64) {
        match self.residuals.get_mut(self.next) {
            _ if self.scale.is_some() => return,
            Some(oldest) => *oldest = residual,
            None => self.residuals.push(residual),
        }
        self.next = (self.next + 1) % WINDOW;
    }
}

impl<R: Regressor + Validate> Validate for Robust<R> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner with robust weights";
        validate_nested(|| self.learner.validate())?;
        Inconsistent::require(self.learner.loss() == Loss::SQUARED, WHAT, "it minimises the squared loss")?;
        [Some(self.cut), self.scale]
            .into_iter()
            .flatten()
            .try_for_each(|scale| Inconsistent::positive(scale, "scale"))?;
        self.residuals.iter().try_for_each(|residual| Inconsistent::non_negative(*residual, "residual"))?;
        let len = self.residuals.len();
        let ring = if len < WINDOW { self.next == len } else { len == WINDOW && self.next < WINDOW };
        Inconsistent::require(ring, WHAT, "it has at most 50 residuals")
    }
}

impl<R: Regressor> Regressor for Robust<R> {
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

    /// Returns none: the weight of a row depends on the rows before it.
    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        self.learner.tokens().map(|_| self as &dyn Tokens)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        if self.learner.tokens().is_some() { Some(self) } else { None }
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        self.learner.reshape(growth)
    }
}

impl<R: Regressor> Tokens for Robust<R> {
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        predict_input(&self.learner, input, scratch, scores)
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        predict_input(&self.learner, input, &mut self.scratch, scores)?;
        let errors = target.y.iter().zip(&*scores).map(|(y, z)| y - z);
        let residual = finite(errors.fold(0.0, f64::hypot))?;
        let weight = target.weight * self.share(residual);
        if weight > 0.0 {
            step_input(&mut self.learner, input, Target { weight, ..target }, scores)?;
        }
        self.record(residual);
        Ok(())
    }

    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        self.learner.tokens()?.token_weight(key, output)
    }
}

#[doc(hidden)]
pub const ROBUST: Entry = Entry {
    name: "robust",
    summary: "a least-squares learner in which rows with large errors count for less",
    keys: &join::<4>(&[LEARNER], RobustParams::KEYS),
    time: Cost::Members,
    memory: Cost::Members,
    growth: Some("as its learner's does"),
    source: "Zou et al. 2000; Wu et al. 2015",
    remedy: Some("replace the learner, or change its settings"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "wrong or heavy-tailed targets",
    start: "`learner='krls lambda=0.1'`",
    trial: &["learner=krls"],
    ..Entry::PLAIN
};

/// The learner around the one that `learner` names.
///
/// # Errors
/// When a value is out of its range, there is no learner, or it minimises another loss.
pub fn robust<R: Regressor + Clone>(
    context: &Context<'_>,
    values: &Values<'_>,
    members: &[(String, R)],
) -> Result<Robust<R>, BuildError> {
    let (_, learner) = members.first().ok_or(BuildError::NoSuchKey("learner"))?;
    Ok(Robust::around(learner.clone(), values.parameters(context)?)?)
}
