//! KLMS-CSL1 and KLMS-CSAL1: kernel least mean squares with a coherent dictionary and a plain or
//! adaptive ℓ₁ regulariser (Gao, Chen, Richard, Huang and Flamary 2013).
//!
//! Points join as for [`Knlms`](crate::Knlms), by their [coherence](Coherence), with `α = 0`. With
//! `e = y − f(x)`, `k` the kernel values at the kept points, `x` included if it joined, and `ω` the
//! weight of the example: `α ← α + η ω e k`. Then each coefficient moves towards 0 by its threshold
//! and stops there. For CSL1 the threshold is `λ`. For CSAL1 it is `λ/|α_i + ε|` with the `α` from
//! before the round, and `λ` for the point that joins. Points with a coefficient of exactly 0
//! leave. An emptied dictionary starts again.
//!
//! `Jd + 5J` multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_simd::{axpy, dot};
use mercer_sparsify::Coherence;

use crate::engines::coefficients::window::Move;
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth, ParameterError};

parameters! {
    /// Parameters of [`KlmsCsl1`].
    #[derive(Copy)]
    pub struct KlmsCsl1Params {
        /// step size
        eta: f64 = 0.02 => "η" POSITIVE.search(0.01, 1.0),
        /// largest coherence kept
        mu0: f64 = 0.5 => "μ₀" UNIT_INTERVAL.search_evenly(0.3, 0.95),
        /// what a coefficient loses a round; at 0 its point leaves
        lambda: f64 = 1e-4 => "λ" NOT_NEGATIVE.search(1e-6, 0.01),
        /// most points kept
        max_dictionary: Option<usize> = Some(500) => "" COUNT.unlimited(),
    }
}

parameters! {
    /// Parameters of [`KlmsCsal1`].
    #[derive(Copy)]
    pub struct KlmsCsal1Params {
        /// step size
        eta: f64 = 0.02 => "η" POSITIVE.search(0.01, 1.0),
        /// largest coherence kept
        mu0: f64 = 0.5 => "μ₀" UNIT_INTERVAL.search_evenly(0.3, 0.95),
        /// what a coefficient α loses a round is λ/|α + ε|; at 0 its point leaves
        lambda: f64 = 1e-6 => "λ" NOT_NEGATIVE.search(1e-8, 0.0001),
        /// added to the coefficient that the threshold is divided by
        eps_alpha: f64 = 1e-3 => "ε" NOT_NEGATIVE,
        /// most points kept
        max_dictionary: Option<usize> = Some(500) => "" COUNT.unlimited(),
    }
}

/// Kernel least mean squares with a coherent dictionary and an ℓ₁ regulariser.
pub type KlmsCsl1<K> = OnCoefficients<K, Coherence, ThresholdedStep<false>>;

/// Kernel least mean squares with a coherent dictionary and an adaptive ℓ₁ regulariser.
pub type KlmsCsal1<K> = OnCoefficients<K, Coherence, ThresholdedStep<true>>;

impl<K: Kernel> KlmsCsl1<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KlmsCsl1Params) -> Result<Self, Error> {
        params.check()?;
        let KlmsCsl1Params { eta, mu0, lambda, max_dictionary } = params;
        let update = ThresholdedStep::from_params(eta, lambda, 0.0)?;
        Self::from_parts(kernel, dimension, Coherence::new(mu0)?, update, (1, max_dictionary))
    }
}

impl<K: Kernel> KlmsCsal1<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KlmsCsal1Params) -> Result<Self, Error> {
        params.check()?;
        let KlmsCsal1Params { eta, mu0, lambda, eps_alpha, max_dictionary } = params;
        let update = ThresholdedStep::from_params(eta, lambda, eps_alpha)?;
        Self::from_parts(kernel, dimension, Coherence::new(mu0)?, update, (1, max_dictionary))
    }
}

/// `α + η ω e k`, each coefficient thresholded.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThresholdedStep<const ADAPTIVE: bool> {
    eta: f64,
    lambda: f64,
    eps_alpha: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Move,
}

impl<const ADAPTIVE: bool> Validate for ThresholdedStep<ADAPTIVE> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.lambda, "threshold of coefficients")?;
        Inconsistent::non_negative(self.eps_alpha, "smallest divisor of thresholds")
    }
}

impl<const ADAPTIVE: bool> ThresholdedStep<ADAPTIVE> {
    fn from_params(eta: f64, lambda: f64, eps_alpha: f64) -> Result<Self, ParameterError> {
        Ok(Self { eta, lambda, eps_alpha, moved: Move::default() })
    }

    /// The threshold for a coefficient that was `before`, `None` for the point that joins.
    fn threshold(&self, before: Option<f64>) -> f64 {
        match before {
            // Nothing moves without λ, whatever it is divided by.
            Some(before) if ADAPTIVE && self.lambda > 0.0 => self.lambda / (before + self.eps_alpha).abs(),
            _ => self.lambda,
        }
    }
}

/// `sign(a) · max(|a| − threshold, 0)`
fn soft_threshold(a: f64, threshold: f64) -> f64 {
    if a.abs() > threshold { a - threshold.copysign(a) } else { 0.0 }
}

impl<K: Kernel, const ADAPTIVE: bool> CoefficientUpdate<K> for ThresholdedStep<ADAPTIVE> {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { probe, answer, target, leaving, .. } = seen;
        alpha.values(probe.row(), scores);
        let joins = answer.growth().is_some();
        if joins {
            let own = probe.self_value();
            probe.coordinates_mut().push(own);
        }
        let moves = dot(probe.coordinates().lanes(), probe.coordinates().lanes());
        let step = finite(squared_rate(self.eta, moves, target.weight) * (target.y[0] - scores[0]))?;
        self.moved.begin(alpha, joins);
        axpy(step, probe.coordinates().lanes(), self.moved.next.lanes_mut());
        self.moved.check()?;
        for i in 0..self.moved.next.len() {
            let threshold = self.threshold(alpha.vectors()[0].get(i).copied());
            let thresholded = soft_threshold(self.moved.next[i], threshold);
            self.moved.next[i] = thresholded;
            if thresholded == 0.0 {
                leaving.push(i);
            }
        }
        self.moved.carry_out(alpha);
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, _: usize, _: usize) -> bool {
        true
    }
}

#[doc(hidden)]
pub const KLMS_CSL1: Learner<KlmsCsl1<AnyKernel>> = Entry {
    name: "klms-csl1",
    summary: "kernel least mean squares on a coherent dictionary that an ℓ₁ regulariser thins out",
    keys: KlmsCsl1Params::KEYS,
    time: cost!(1.0 J d, 5.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Gao et al. 2013",
    remedy: Some("take a smaller step or a smaller mu0"),
    advice: "points that are no longer used go by themselves",
    start: "`eta=0.02`, `mu0=0.5`",
    trial: &["mu0=0.3", "lambda=1e-7"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(KlmsCsl1::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const KLMS_CSAL1: Learner<KlmsCsal1<AnyKernel>> = Entry {
    name: "klms-csal1",
    summary: "kernel least mean squares on a coherent dictionary that an adaptive ℓ₁ regulariser thins out",
    keys: KlmsCsal1Params::KEYS,
    trial: &["mu0=0.3", "lambda=1e-9"],
    ..KLMS_CSL1.entry
}
.made_by(|kernel, context, values| Ok(KlmsCsal1::new(kernel, context.dimension, values.parameters(context)?)?));
