//! Kernel online row sampling: keep a point with a probability proportional to its ridge leverage score.
//!
//! With the kept points `S`, weights `w_i = 1/√p_i` and `S` also for the diagonal of weights, the score of `x` is
//! `τ = (1 + ε) e/(e + γ)` with `e = k(x,x) − k_SᵀS (S K_S S + γI)⁻¹ S k_S`, and `x` is kept with probability
//! `p = min(βτ, 1)` (Calandriello, Lazaric and Valko 2017). The listing of Jézéquel et al. (2019) prints the weights as
//! `1/p`, which underestimates the scores. The factor of `S K_S S + γI` grows by one row `[w v, √(w²e + γ)]` with
//! `v = F⁻¹ S k_S`: a decision costs one forward solve, `½J²`.

use mercer_linalg_incremental::{GrowingCholesky, ParameterError};
use mercer_simd::{AlignedVec, dot};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::admission::Admission;
use crate::newton_basis::Probe;

/// Smallest residual a kept point enters with, relative to `k(x, x)`: the coin may keep a point of the span. Where rounding in
/// the coordinates exceeds it (a kernel of finite rank with near duplicates, a very wide Gaussian), several such points in a
/// row amplify it until coordinates overflow, which learners report as an error.
const RESIDUAL_FLOOR: f64 = 1e-10;

/// ChaCha8 stream of the coins, apart from other draws with the same seed.
const STREAM: u64 = 0x6b6f_7273;

/// Ridge-leverage-score sampling; the first point is kept without a coin, with weight 1.
///
/// # Invariants
/// `factor` is the Cholesky factor of `S K_S S + γI` over the kept points; `uniform` is the coin of the next decision.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kors {
    gamma: f64,
    beta: f64,
    epsilon: f64,
    factor: GrowingCholesky,
    weights: AlignedVec,
    uniform: f64,
    rng: ChaCha8Rng,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: KorsScratch,
}

/// Memory of a decision and what the last one found, reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct KorsScratch {
    weighted: AlignedVec,
    /// `v = F⁻¹ S k_S`
    solved: AlignedVec,
    /// The weight the point enters with, if it is kept.
    weight: Option<f64>,
    e: f64,
}

impl Kors {
    /// A sampler with regularisation `gamma > 0` (larger keeps fewer), oversampling `beta > 0` and accuracy `epsilon ≥ 0`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(gamma: f64, beta: f64, epsilon: f64, seed: u64) -> Result<Self, ParameterError> {
        let (gamma, beta) = (ParameterError::positive("gamma", gamma)?, ParameterError::positive("beta", beta)?);
        let epsilon = ParameterError::non_negative("epsilon", epsilon)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        let uniform = rng.random();
        Ok(Self {
            gamma,
            beta,
            epsilon,
            factor: GrowingCholesky::new(),
            weights: AlignedVec::new(),
            uniform,
            rng,
            scratch: KorsScratch::default(),
        })
    }

    /// The uniform number in `[0, 1)` that decides next.
    #[must_use]
    pub fn uniform(&self) -> f64 {
        self.uniform
    }

    /// The weights `1/√p` of the kept points.
    #[must_use]
    pub fn weights(&self) -> &AlignedVec {
        &self.weights
    }

    /// What [`Admission::admits`] answers now, changing nothing; [`commit`](Self::commit) with the same memory makes it so.
    #[must_use]
    pub fn decide(&self, probe: &Probe, scratch: &mut KorsScratch) -> Option<f64> {
        let KorsScratch { weighted, solved, weight, e } = scratch;
        weighted.assign(probe.row());
        for (value, weight) in weighted.iter_mut().zip(self.weights.iter()) {
            *value *= weight;
        }
        self.factor.forward_solve(weighted, solved);
        *e = (probe.self_value() - dot(solved.lanes(), solved.lanes())).max(0.0);
        let score = (1.0 + self.epsilon) * *e / (*e + self.gamma);
        let probability = (self.beta * score).min(1.0);
        *weight = if self.weights.is_empty() {
            Some(1.0)
        } else {
            (self.uniform < probability).then(|| 1.0 / probability.sqrt())
        };
        weight.map(|_| probe.residual().max(RESIDUAL_FLOOR * probe.self_value()).sqrt())
    }

    /// Carries out the decision that `scratch` holds, and tosses the next coin.
    pub fn commit(&mut self, scratch: &mut KorsScratch) {
        if !self.weights.is_empty() {
            self.uniform = self.rng.random();
        }
        if let Some(weight) = scratch.weight {
            scratch.solved.iter_mut().for_each(|v| *v *= weight);
            self.factor.append(&scratch.solved, (weight * weight * scratch.e + self.gamma).sqrt());
            self.weights.push(weight);
        }
    }
}

impl Admission for Kors {
    fn admits(&mut self, probe: &Probe) -> Option<f64> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let decision = self.decide(probe, &mut scratch);
        self.commit(&mut scratch);
        self.scratch = scratch;
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewtonBasis;
    use mercer_kernels::Gaussian;

    #[test]
    fn far_points_are_kept_and_repeated_points_seldom() -> Result<(), Box<dyn std::error::Error>> {
        // A far point has e = k(x,x) = 1, so τ = 1.5/(1 + γ) > 1 at γ = 0.4 and it is kept whatever the coin.
        let mut basis = NewtonBasis::new(Gaussian::new(0.1)?, 1);
        let (mut rule, mut probe) = (Kors::new(0.4, 1.0, 0.5, 3)?, Probe::default());
        let mut kept = 0;
        for t in 0..400 {
            let x = [(t % 4) as f64 * 10.0];
            basis.probe(&x, &mut probe);
            if let Some(new_coordinate) = rule.admits(&probe) {
                basis.append(&x, probe.coordinates(), new_coordinate);
                kept += 1;
                assert_eq!(basis.len(), kept);
            }
            assert!(t >= 4 || kept == t + 1);
        }
        // Once kept n times, e/(e+γ) ≈ 1/(n + 1 + …): the expected number grows like √t, far below t.
        assert!((8..200).contains(&kept), "{kept}");
        Ok(())
    }
}
