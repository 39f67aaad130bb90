//! KRLS-T: the kernel recursive least-squares tracker (Van Vaerenbergh, Lázaro-Gredilla and
//! Santamaría 2012).
//!
//! `f` is a Gaussian process with covariance `k`, observed with noise of variance `σ²/ω`, `ω` being
//! the weight of the example; the posterior at the kept points is carried on. Every point joins;
//! beyond `M` points the one leaves whose removal moves `f` least, `|(K⁻¹μ)_i|/[K⁻¹]_ii`, and is
//! marginalised. Between two rounds the past is forgotten, by a rule: back to the prior (`b2p`),
//! `Σ ← λΣ + (1−λ)K`, `μ ← √λ μ`, or by injected uncertainty (`ui`), `Σ ← Σ/λ`. A prediction is
//! made after forgetting; its variance is `s₀² s_y`, where `s_y = σ² + Var f(x)` and
//! `s₀² = Σλ(y − m)²/s_y ÷ Σλ` is the scale of the targets (the first round counts 1 and not `λ`).
//! With `λ = 1` and no budget it is the Gaussian process.
//!
//! The paper recurses `K⁻¹`. Here the posterior stands in Newton coordinates: `f(x) = cᵀφ` with
//! `c ~ N(w, σ²P)`, `w` and `P` being those of [`LeastSquares`] with ridge `σ²`. There the prior of
//! `c` is the identity, `b2p` is `P ← λP + (1−λ)I/σ²`, and marginalising drops a coordinate.
//! `k(x, x)` of an example is raised by a jitter, so that repeated points may join; this loses no
//! digits at small jitters, where the recursion of `K⁻¹` does. `Jd + 8J²` multiply-adds a round,
//! `Jd + J²` numbers of memory.
//!
//! Differences from the paper: with `ui` the prior fades to `10⁻⁶` of itself and no further, see
//! [`Forgetting::Exponential`]; without jitter a point in the span of the kept ones does not join.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_sparsify::EveryPoint;

use crate::engines::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::engines::update::{
    ByValues, Coefficients, Forgetting, GrowingUpdate, LeastSquares, LinearBlocks, LinearUpdate, LinearVariance,
    NormalSystem, finite,
};
use crate::entry::{Entry, Learner, Parameters, choices};
use crate::example::{Problem, Target};
use crate::parameters::parameters;
use crate::{Error, Scratch};

/// The rule by which [`KrlsT`] forgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum KrlsTRule {
    /// Back to the prior: what is not seen again fades.
    #[default]
    BackToPrior,
    /// Uncertainty is injected: what is not seen again stays, and counts less against new examples.
    UncertaintyInjection,
}

parameters! {
    /// Parameters of [`KrlsT`].
    #[derive(Copy)]
    pub struct KrlsTParams {
        /// share of the past that a row leaves: about 1/(1 − λ) rows are remembered; 1 forgets
        /// nothing
        forgetting: f64 = 0.999 => "λ" FRACTION,
        /// variance of the noise
        noise: f64 = 0.1 => "σ²" POSITIVE.search(0.0001, 1.0),
        /// added to k(x,x)
        jitter: f64 = 1e-6 => "" NOT_NEGATIVE,
        /// most points kept
        max_dictionary: Option<usize> = Some(200) => "" COUNT.unlimited(),
        /// how it forgets: back to the prior, or by injected uncertainty
        rule: KrlsTRule = KrlsTRule::BackToPrior => "" "b2p or ui",
    }
}

/// The kernel recursive least-squares tracker.
pub type KrlsT<K> = OnDictionary<Jittered<K>, EveryPoint, ScaledSquares, GrowThenStep>;

impl<K: Kernel> KrlsT<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KrlsTParams) -> Result<Self, Error> {
        params.check()?;
        let KrlsTParams { forgetting, noise, jitter, max_dictionary, rule } = params;
        let forgets = match rule {
            KrlsTRule::BackToPrior => Forgetting::ToPrior,
            KrlsTRule::UncertaintyInjection => Forgetting::Exponential,
        };
        let squares = LeastSquares::new(noise, forgetting)?.forgetting_by(forgets)?;
        let kernel = Jittered { kernel, jitter };
        let update = ScaledSquares { squares, sum: 0.0, count: 0.0 };
        let learner = Self::from_parts(kernel, dimension, EveryPoint, update, max_dictionary)?;
        Ok(learner.evicting(Eviction::LeastSignificant(Removal::Marginalise)))
    }

    /// The variance `s₀² s_y` of a target at `x`, whose mean is the prediction; `None` before the
    /// first round. `Jd + J²`.
    ///
    /// # Errors
    /// As [`Regressor::predict_into`](crate::Regressor::predict_into).
    pub fn predict_variance(&self, x: &[f64], scratch: &mut Scratch) -> Result<Option<f64>, Error> {
        self.coordinates(x, scratch)?;
        let squares = self.linear().squares();
        let (_, s) = squares.fit(scratch.probe.coordinates());
        let variance = squares.ridge() * (1.0 + s) + scratch.probe.residual();
        self.linear().scale().map(|scale| finite(scale * variance)).transpose()
    }
}

/// A kernel with a jitter on the diagonal: an example has `k(x, x)` plus the jitter with itself,
/// and `k` with every other, be it at the same place.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Jittered<K> {
    kernel: K,
    jitter: f64,
}

impl<K> Jittered<K> {
    /// The kernel without the jitter.
    #[must_use]
    pub fn plain(&self) -> &K {
        &self.kernel
    }
}

impl<K: Kernel> Kernel for Jittered<K> {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        self.kernel.evaluate(x, z)
    }

    fn self_value(&self, x: &[f64]) -> f64 {
        self.kernel.self_value(x) + self.jitter
    }

    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        self.kernel.row_of_part(points, offset, x, row);
    }

    fn row(&self, points: &Points, x: &[f64], row: &mut AlignedVec) {
        self.kernel.row(points, x, row);
    }
}

impl<K: Validate> Validate for Jittered<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.kernel.validate()?;
        Inconsistent::non_negative(self.jitter, "jitter")
    }
}

/// Least squares with one output that keeps the scale `s₀² = sum/count` of the targets.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScaledSquares {
    squares: LeastSquares,
    sum: f64,
    count: f64,
}

impl ScaledSquares {
    /// The least squares, whose `P` times the noise is the covariance of the coordinates.
    #[must_use]
    pub fn squares(&self) -> &LeastSquares {
        &self.squares
    }

    /// The scale `s₀²` of the targets, after the first round.
    #[must_use]
    pub fn scale(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Validate for ScaledSquares {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.squares.validate()?;
        Inconsistent::non_negative(self.sum, "sum of squared errors")?;
        Inconsistent::non_negative(self.count, "number of rounds")?;
        let fits = self.squares.outputs() == 1 && self.squares.ridge() > 0.0;
        Inconsistent::require(fits, "tracker", "it has one output and a positive noise")
    }
}

impl LinearUpdate for ScaledSquares {
    fn problem(&self) -> Problem {
        self.squares.problem()
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        self.squares.coefficients()
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.squares.predict(phi, scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let noise = self.squares.ridge() / target.weight;
        self.squares.predict(phi, scores);
        let squared = (target.y[0] - scores[0]).powi(2);
        // The variance is at least that of the noise and of what the example adds to the span, so
        // this bounds the sum to come.
        finite(self.sum + squared / (noise + growth.map_or(0.0, |new| new * new)))?;
        self.squares.step(phi, growth, target, scores)?;
        let variance = noise + self.squares.ridge() * self.squares.uncertainty();
        let counts = if self.count > 0.0 { self.squares.forgetting() } else { 1.0 };
        self.sum += counts * squared / variance;
        self.count += counts;
        Ok(())
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        self.squares.by_values()
    }

    /// [`KrlsT::predict_variance`] knows the scale of the targets.
    fn variance(&self) -> Option<&dyn LinearVariance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        None
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    fn add_output(&mut self, _: Option<usize>) -> Result<(), Error> {
        Err(Error::FixedOutputs)
    }
}

impl GrowingUpdate for ScaledSquares {
    fn grow(&mut self) -> Result<(), Error> {
        self.squares.grow()
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        self.squares.remove(rotations, how);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.squares.restart(n)?;
        (self.sum, self.count) = (0.0, 0.0);
        Ok(())
    }
}

choices!(KrlsTRule { "b2p" = BackToPrior, "ui" = UncertaintyInjection });

#[doc(hidden)]
pub const KRLS_T: Learner<KrlsT<AnyKernel>> = Entry {
    name: "krls-t",
    summary: "kernel recursive least-squares tracker: a Gaussian process that forgets, on a budget",
    keys: KrlsTParams::KEYS,
    time: cost!(1.0 J d, 8.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Van Vaerenbergh et al. 2012",
    remedy: Some("raise noise"),
    advice: "drift and switches, with a variance; forgets smoothly",
    start: "`forgetting=0.999`, `noise=0.1`",
    trial: &["max_dictionary=20"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(KrlsT::new(kernel, context.dimension, values.parameters(context)?)?));
