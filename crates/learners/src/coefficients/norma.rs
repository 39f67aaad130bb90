//! NORMA: naive online regularised risk minimisation (Kivinen, Smola and Williamson 2004).
//!
//! In round `t`, with `η_t` the step size and `ℓ′` the derivative of the loss at the prediction `f(x)`: all coefficients leak, `α ← (1 − λη_t) α`, and
//! `x` joins with the coefficient `−η_t ω ℓ′`, `ω` being the weight of the example. Of more than `τ` points the oldest leaves. Where the loss is flat,
//! `x` joins with 0. `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.
//!
//! The squared loss counts half here, as in the paper: `−ℓ′ = y − f(x)`, so that steps compare with those of [`Klms`](crate::Klms). The other losses
//! are those of [`Loss`]. The paper takes the derivative before the leak; [`Leak::First`] takes it after. Examples of weight 0 are no rounds.
//! The paper's falling steps `η/√t` belong to a learner that keeps every point: the sum of the last
//! `τ` of them goes to 0. Here they fall until the window is full, `η/√min(t, τ)`.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::Kernel;
use mercer_sparsify::EveryPoint;

use super::{CoefficientUpdate, OnCoefficients, Seen};
use crate::catalogue::{Entry, Takes, keys};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::update::{Coefficients, finite};
use crate::{Error, ParameterError};

/// Where the derivative of the loss is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Leak {
    /// At `f(x)`; the coefficients leak after.
    #[default]
    After,
    /// At `(1 − λη_t) f(x)`; the coefficients leak first.
    First,
}

impl Leak {
    /// Both.
    pub const ALL: [Self; 2] = [Self::After, Self::First];
    /// Their names, as the catalogue knows them.
    pub const NAMES: [&'static str; 2] = ["after", "first"];
}

/// How the step size goes with the rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Schedule {
    /// `η_t = η`
    #[default]
    Constant,
    /// `η_t = η/√min(t, τ)`
    Sqrt,
}

impl Schedule {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Constant, Self::Sqrt];
    /// Their names, as the catalogue knows them.
    pub const NAMES: [&'static str; 2] = ["constant", "sqrt"];
}

parameters! {
    /// Parameters of [`Norma`].
    #[derive(Copy)]
    pub struct NormaParams {
        /// Step size `η > 0`.
        eta: f64 = 0.1,
        /// Regulariser `λ ≥ 0`, with `λη ≤ 1`: a coefficient shrinks by the factor `1 − λη` a round.
        lambda: f64 = 0.002,
        /// Points kept `τ ≥ 1`, the latest ones.
        tau: usize = 500,
        /// What is minimised; any but softmax.
        loss: Loss = Loss::SQUARED,
        /// Where the derivative of the loss is taken.
        leak: Leak = Leak::After,
        /// How the step size goes with the rounds.
        schedule: Schedule = Schedule::Constant,
    }
}

/// Naive online regularised risk minimisation.
pub type Norma<K> = OnCoefficients<K, EveryPoint, NormaStep>;

impl<K: Kernel> Norma<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the loss is softmax.
    pub fn new(kernel: K, dimension: usize, params: NormaParams) -> Result<Self, Error> {
        Self::from_parts(kernel, dimension, EveryPoint, NormaStep::new(params)?, (1, None))
    }
}

/// `η` and `λ`, if `η > 0`, `λ ≥ 0` and a leak by `1 − λη` turns no sign.
pub(super) fn leaking_step(eta: f64, lambda: f64) -> Result<(f64, f64), ParameterError> {
    let eta = ParameterError::positive("eta", eta)?;
    let lambda = ParameterError::non_negative("lambda", lambda)?;
    ParameterError::require(lambda * eta <= 1.0, "lambda", "at most 1/eta", lambda)?;
    Ok((eta, lambda))
}

/// `α ← (1 − λη_t) α`, and `−η_t ω ℓ′` for the point that joins.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NormaStep {
    eta: f64,
    lambda: f64,
    tau: usize,
    loss: Loss,
    leak: Leak,
    schedule: Schedule,
    /// Rounds learnt.
    rounds: u64,
}

impl NormaStep {
    fn new(params: NormaParams) -> Result<Self, Error> {
        let NormaParams { eta, lambda, tau, loss, leak, schedule } = params;
        let (eta, lambda) = leaking_step(eta, lambda)?;
        let tau = ParameterError::at_least_one("tau", tau)?;
        if loss.is_softmax() {
            let instead = "a loss of one score";
            return Err(Error::Loss { update: "NORMA", loss: loss.name(), instead });
        }
        Ok(Self { eta, lambda, tau, loss, leak, schedule, rounds: 0 })
    }

    /// `−ℓ′`
    fn descent(&self, z: f64, y: f64) -> f64 {
        if self.loss == Loss::SQUARED { y - z } else { -self.loss.derivative(z, y) }
    }
}

impl Validate for NormaStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "step of NORMA";
        self.loss.validate()?;
        let sound = leaking_step(self.eta, self.lambda).is_ok() && self.tau >= 1;
        Inconsistent::require(sound, WHAT, "its parameters are in range")?;
        Inconsistent::require(!self.loss.is_softmax(), WHAT, "its loss is one of one score")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for NormaStep {
    fn loss(&self) -> Loss {
        self.loss
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: Seen<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let Seen { probe, target, leaving, .. } = seen;
        alpha.values(probe.row(), scores);
        let z = finite(scores[0])?;
        let eta = match self.schedule {
            Schedule::Constant => self.eta,
            Schedule::Sqrt => self.eta / (self.rounds.saturating_add(1).min(self.tau as u64) as f64).sqrt(),
        };
        let kept = 1.0 - self.lambda * eta;
        let at = if self.leak == Leak::First { kept * z } else { z };
        let step = finite(eta * target.weight * self.descent(at, target.y[0]))?;
        // Squares in range keep the predictions of all points together in range.
        finite(step * step)?;
        self.loss.predictions(scores);
        finite(scores[0])?;
        alpha.scale(kept);
        alpha.push(&[step]);
        if alpha.coordinates() > self.tau {
            leaving.push(0);
        }
        self.rounds = self.rounds.saturating_add(1);
        Ok(())
    }

    fn fits(&self, points: usize) -> bool {
        points <= self.tau
    }
}

const LOSSES: &str = "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge or squared-hinge";

pub(crate) const NORMA: Entry = Entry {
    name: "norma",
    summary: "regularised gradient descent on any loss over a window of points",
    keys: &[
        keys::number("eta", "η", || NormaParams::default().eta.into(), keys::POSITIVE, "step size, below 2/k(x,x)"),
        keys::number(
            "lambda",
            "λ",
            || NormaParams::default().lambda.into(),
            keys::NOT_NEGATIVE,
            "regulariser: coefficients shrink by 1 − λη a round; at most 1/η",
        ),
        keys::count("tau", "τ", || NormaParams::default().tau.into(), "points kept, the latest ones"),
        keys::loss(|| NormaParams::default().loss.into(), LOSSES),
        keys::name(
            "leak",
            &Leak::NAMES,
            || Leak::NAMES[0].into(),
            "after or first",
            "whether the coefficients shrink after the derivative of the loss is taken, or first",
        ),
        keys::name(
            "schedule",
            &Schedule::NAMES,
            || Schedule::NAMES[0].into(),
            "constant or sqrt",
            "step size of round t: η, or η/√min(t, τ)",
        ),
    ],
    time: cost!(1.0 J d, 2.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Kivinen et al. 2004",
    remedy: Some("take a smaller step"),
    // Softmax is the last.
    takes: Takes { losses: Loss::NAMES.split_at(9).0, ..Takes::SQUARED },
    advice: "any loss at the price of one kernel row; a target that drifts",
    start: "`eta=0.1`, `lambda=0.002`",
    trial: &["tau=40"],
    search: &[keys::search("eta", 0.01, 1.0), keys::search("lambda", 1e-5, 0.1)],
    make: |kernel, context, values| {
        let params = NormaParams::default().eta(values.number("eta")?).lambda(values.number("lambda")?);
        let params = params.tau(values.count("tau")?).loss(values.named("loss")?);
        let params = params.leak(Leak::ALL[values.place("leak", &Leak::NAMES)?]);
        let params = params.schedule(Schedule::ALL[values.place("schedule", &Schedule::NAMES)?]);
        Ok(Norma::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
