//! Sketched-KONS: the kernelised online Newton step whose curvature takes only some rounds (Calandriello, Lazaric and
//! Valko 2017b).
//!
//! As [`Kons`](crate::Kons), but a round enters `A ← A + η g² k_x k_xᵀ` with probability
//! `p = max(γ, min(β τ̃, 1))`, without reweighting, where `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q/(1 + q)`, `a = √η g k_x`, `q = aᵀA⁻¹a`, is its
//! leverage in the current sketch. This is our reading of the algorithm from its use in \[A\] and by Jézéquel et al. (2019).
//! `f` still moves in every round, so **memory grows with the stream**: `td + ½J²` multiply-adds a round with `J ≥ γt`
//! rounds in the sketch.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::Kernel;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::catalogue::{Entry, Takes, keys};
use crate::every_point::{Curvature, DualNewton};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`SketchedKons`].
    #[derive(Copy)]
    pub struct SketchedKonsParams {
        /// Regulariser `μ > 0`, `A_0 = μI`.
        mu: f64 = 1.0,
        /// Curvature `η > 0`.
        eta: f64 = 0.125,
        /// Smallest probability `γ ∈ [0, 1]` to enter the sketch.
        gamma: f64 = 0.3,
        /// Oversampling `β > 0` of the leverage scores.
        beta: f64 = 1.0,
        /// Seed of the coins.
        seed: u64 = 0,
        /// What is minimised: squared or logistic.
        loss: Loss = Loss::SQUARED,
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
        let SketchedKonsParams { mu, eta, gamma, beta, seed, loss } = params;
        ParameterError::require((0.0..=1.0).contains(&gamma), "gamma", "a number in [0, 1]", gamma)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let coins = LeverageCoins { gamma, beta: ParameterError::positive("beta", beta)?, uniform: rng.random(), rng };
        Self::from_parts(kernel, dimension, coins, loss, [mu, eta], None)
    }
}

pub(crate) const SKETCHED_KONS: Entry = Entry {
    name: "sketched-kons",
    summary: "kernelised online Newton step whose curvature takes only some rounds",
    keys: &[
        keys::mu(|| SketchedKonsParams::default().mu.into()),
        keys::eta(|| SketchedKonsParams::default().eta.into()),
        keys::number(
            "gamma",
            "γ",
            || SketchedKonsParams::default().gamma.into(),
            "a number from 0 to 1",
            "smallest probability that a round enters the curvature",
        ),
        keys::number(
            "beta",
            "β",
            || SketchedKonsParams::default().beta.into(),
            keys::POSITIVE,
            "oversampling of the leverage scores; larger enters more rounds",
        ),
        keys::loss(|| SketchedKonsParams::default().loss.into(), "squared or logistic"),
    ],
    time: cost!(1.0 t d, 0.5 J J),
    memory: cost!(1.0 t d, 0.5 J J),
    growth: Some("every example is kept; J counts the rounds in the curvature, at least the share gamma of them"),
    source: "Calandriello et al. 2017b",
    remedy: Some("raise mu"),
    takes: Takes::DUAL_NEWTON,
    advice: "to compare",
    trial: &["gamma=0.3"],
    search: &[keys::search("mu", 0.01, 100.0), keys::search("eta", 0.01, 10.0)],
    make: |kernel, context, values| {
        let params = SketchedKonsParams::default()
            .mu(values.number("mu")?)
            .eta(values.number("eta")?)
            .gamma(values.number("gamma")?)
            .beta(values.number("beta")?)
            .loss(values.named("loss")?)
            .seed(context.seed);
        Ok(SketchedKons::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
