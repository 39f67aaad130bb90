//! Sketched-KONS: the kernelised online Newton step whose curvature takes only some rounds
//! (Calandriello, Lazaric and Valko 2017b).
//!
//! As [`Kons`](crate::Kons), but a round enters `A ← A + η g² k_x k_xᵀ` with probability
//! `p = max(γ, min(β τ̃, 1))`, without reweighting, where `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q/(1 + q)`,
//! `a = √η g k_x`, `q = aᵀA⁻¹a`, is its leverage in the current sketch. This is our reading of the
//! algorithm from its use in \[A\] and by Jézéquel et al. (2019). `f` still moves in every round,
//! so **memory grows with the stream**: `td + ½J²` multiply-adds a round with `J ≥ γt` rounds in
//! the sketch.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::Error;
use crate::engines::dual_newton::{Curvature, DualNewton};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::newton::NewtonSteps;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`SketchedKons`].
    #[derive(Copy)]
    pub struct SketchedKonsParams {
        /// regulariser: the curvature starts at μI
        mu: f64 = 1.0 => "μ" POSITIVE.search(0.01, 100.0),
        /// curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y
        eta: f64 = 0.125 => "η" POSITIVE.search(0.01, 10.0),
        /// smallest probability that a round enters the curvature
        gamma: f64 = 0.3 => "γ" UNIT_INTERVAL,
        /// oversampling of the leverage scores; larger enters more rounds
        beta: f64 = 1.0 => "β" POSITIVE,
        /// seed of what is drawn
        seed: u64 = 0 => context seed,
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared or logistic",
        /// length of steps: short ones never pass their own target, printed ones are the papers'
        steps: NewtonSteps = NewtonSteps::Short => "" "short or printed",
    }
}

/// ChaCha8 stream of the coins, apart from other draws with the same seed.
const STREAM: u64 = 0x736b_6f6e;

/// A round enters with probability `max(γ, min(β τ̃, 1))`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeverageCoins {
    gamma: f64,
    beta: f64,
    uniform: f64,
    rng: ChaCha8Rng,
}

impl LeverageCoins {
    /// The uniform number in `[0, 1)` that decides next.
    #[must_use]
    pub fn uniform(&self) -> f64 {
        self.uniform
    }
}

impl Validate for LeverageCoins {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.beta, "oversampling of leverage scores")?;
        Inconsistent::require((0.0..=1.0).contains(&self.gamma), "smallest probability", "it is between 0 and 1")?;
        Inconsistent::require((0.0..1.0).contains(&self.uniform), "coin", "it is at least 0 and below 1")
    }
}

impl Curvature for LeverageCoins {
    fn enters(&self, q: f64) -> bool {
        self.uniform < self.gamma.max((self.beta * q / (1.0 + q)).min(1.0))
    }
    fn next(&mut self) {
        self.uniform = self.rng.random();
    }
}

/// The kernelised online Newton step with a sampled curvature.
pub type SketchedKons<K> = DualNewton<K, LeverageCoins>;

impl<K: Kernel> SketchedKons<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: SketchedKonsParams) -> Result<Self, Error> {
        params.check()?;
        let SketchedKonsParams { mu, eta, gamma, beta, seed, loss, steps } = params;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let coins = LeverageCoins { gamma, beta, uniform: rng.random(), rng };
        Self::from_parts(kernel, dimension, coins, loss, [mu, eta], None, steps)
    }
}

#[doc(hidden)]
pub const SKETCHED_KONS: Learner<SketchedKons<AnyKernel>> = Entry {
    name: "sketched-kons",
    summary: "kernelised online Newton step whose curvature takes only some rounds",
    keys: SketchedKonsParams::KEYS,
    time: cost!(1.0 t d, 0.5 J J),
    memory: cost!(1.0 t d, 0.5 J J),
    growth: Some("every example is kept; J counts the rounds in the curvature, at least the share gamma of them"),
    source: "Calandriello et al. 2017b",
    remedy: Some("raise mu"),
    takes: Takes::DUAL_NEWTON,
    advice: "to compare",
    trial: &["gamma=0.3"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(SketchedKons::new(kernel, context.dimension, values.parameters(context)?)?));
