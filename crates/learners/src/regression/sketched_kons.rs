//! Sketched-KONS: the kernelised online Newton step whose curvature takes only some rounds (Calandriello, Lazaric and
//! Valko 2017b).
//!
//! As [`Kons`](crate::Kons), but a round enters `A ← A + η g² k_x k_xᵀ` with probability
//! `p = max(γ, min(β τ̃, 1))`, without reweighting, where `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q/(1 + q)`, `a = √η g k_x`, `q = aᵀA⁻¹a`, is its
//! leverage in the current sketch. This is our reading of the algorithm from its use in \[A\] and by Jézéquel et al. (2019).
//! `f` still moves in every round, so **memory grows with the stream**: `td + ½J²` multiply-adds a round with `J ≥ γt`
//! rounds in the sketch.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::regression::dual_newton::{Curvature, DualNewton};
use crate::{Error, ParameterError};

/// Parameters of [`SketchedKons`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SketchedKonsParams {
    /// Regulariser `μ > 0`, `A_0 = μI`.
    pub mu: f64,
    /// Curvature `η > 0`.
    pub eta: f64,
    /// Smallest probability `γ ∈ [0, 1]` to enter the sketch.
    pub gamma: f64,
    /// Oversampling `β > 0` of the leverage scores.
    pub beta: f64,
    /// Seed of the coins.
    pub seed: u64,
}

impl Default for SketchedKonsParams {
    fn default() -> Self {
        Self { mu: 1.0, eta: 0.125, gamma: 0.1, beta: 1.0, seed: 0 }
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
        let SketchedKonsParams { mu, eta, gamma, beta, seed } = params;
        ParameterError::require((0.0..=1.0).contains(&gamma), "gamma", "a number in [0, 1]", gamma)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let coins = LeverageCoins { gamma, beta: ParameterError::positive("beta", beta)?, uniform: rng.random(), rng };
        Ok(Self::from_parts(
            kernel,
            dimension,
            coins,
            ParameterError::positive("mu", mu)?,
            ParameterError::positive("eta", eta)?,
            None,
        ))
    }
}
