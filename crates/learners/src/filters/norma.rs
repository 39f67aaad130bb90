//! NORMA: naive online regularised risk minimisation (Kivinen, Smola and Williamson 2004).
//!
//! In round `t`, with `η_t` the step size and `ℓ′` the derivative of the loss at the prediction
//! `f(x)`: all coefficients leak, `α ← (1 − λη_t) α`, and `x` joins with the coefficient
//! `−η_t ω ℓ′`, `ω` being the weight of the example. Of more than `τ` points the oldest leaves.
//! Where the loss is flat, `x` joins with 0. `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of
//! memory.
//!
//! The squared loss counts half here, as in the paper: `−ℓ′ = y − f(x)`, so that steps compare with
//! those of [`Klms`](crate::Klms). The other losses are those of [`Loss`]. The paper takes the
//! derivative before the leak; [`Leak::First`] takes it after. Examples of weight 0 are no rounds.
//! The paper's falling steps `η/√t` belong to a learner that keeps every point: the sum of the last
//! `τ` of them goes to 0. Here they fall until the window is full, `η/√min(t, τ)`.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::EveryPoint;

use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::importance::{LARGE, add_rest, squared_rate};
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters, Takes, choices};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth, ParameterError};

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

choices!(Leak { "after" = After, "first" = First });

/// The step size as a function of the round.
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

choices!(Schedule { "constant" = Constant, "sqrt" = Sqrt });

parameters! {
    /// Parameters of [`Norma`].
    #[derive(Copy)]
    pub struct NormaParams {
        /// step size, below 2/k(x,x)
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// regulariser: coefficients shrink by 1 − λη a round; at most 1/η
        lambda: f64 = 0.002 => "λ" NOT_NEGATIVE.search(1e-5, 0.1),
        /// points kept, the latest ones
        tau: usize = 500 => "τ" COUNT,
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge or squared-hinge",
        /// whether the coefficients shrink after the derivative of the loss is taken, or first
        leak: Leak = Leak::After => "" "after or first",
        /// step size of round t: η, or η/√min(t, τ)
        schedule: Schedule = Schedule::Constant => "" "constant or sqrt",
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

/// Demands `η > 0`, `λ ≥ 0`, and a leak by `1 − λη` that turns no sign.
pub(super) fn leaking_step(eta: f64, lambda: f64) -> Result<(), ParameterError> {
    ParameterError::positive("eta", eta)?;
    ParameterError::non_negative("lambda", lambda)?;
    ParameterError::require(lambda * eta <= 1.0, "lambda", "at most 1/eta", lambda).map(drop)
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
    #[cfg_attr(feature = "serde", serde(skip))]
    after: Vec<f64>,
}

impl NormaStep {
    fn new(params: NormaParams) -> Result<Self, Error> {
        params.check()?;
        let NormaParams { eta, lambda, tau, loss, leak, schedule } = params;
        leaking_step(eta, lambda)?;
        if loss.is_softmax() {
            let instead = "a loss of one score";
            return Err(Error::Loss { update: "NORMA", loss: loss.name(), instead });
        }
        Ok(Self { eta, lambda, tau, loss, leak, schedule, rounds: 0, after: Vec::new() })
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

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { probe, target, leaving, .. } = seen;
        alpha.values(probe.row(), scores);
        let z = finite(scores[0])?;
        let eta = match self.schedule {
            Schedule::Constant => self.eta,
            Schedule::Sqrt => self.eta / (self.rounds.saturating_add(1).min(self.tau as u64) as f64).sqrt(),
        };
        let kept = 1.0 - self.lambda * eta;
        let at = if self.leak == Leak::First { kept * z } else { z };
        let own = probe.self_value();
        let step = if self.loss == Loss::SQUARED {
            squared_rate(eta, own, target.weight) * (target.y[0] - at)
        } else {
            let mut step = [finite(-eta * target.weight.min(LARGE) * self.loss.derivative(at, target.y[0]))?];
            add_rest(self.loss, (eta, None), own, target, (&mut step, &[at]), &mut self.after)?;
            step[0]
        };
        let step = finite(step)?;
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

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        points <= self.tau
    }
}

#[doc(hidden)]
pub const NORMA: Learner<Norma<AnyKernel>> = Entry {
    name: "norma",
    summary: "regularised gradient descent on any loss over a window of points",
    keys: NormaParams::KEYS,
    time: cost!(1.0 J d, 2.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Kivinen et al. 2004",
    remedy: Some("take a smaller step"),
    // Softmax is the last.
    takes: Takes { losses: Loss::NAMES.split_at(9).0, ..Takes::SQUARED },
    advice: "any loss at the price of one kernel row",
    start: "`eta=0.1`, `lambda=0.002`",
    trial: &["tau=40"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Norma::new(kernel, context.dimension, values.parameters(context)?)?));
