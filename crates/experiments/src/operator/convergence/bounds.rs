//! The finite-time bounds on `E‖U_t − U_λ‖²` that the proofs of the two corollaries give, before
//! they pass to the Koopman operator (which adds a factor and the unknown norm `B_src`).
//!
//! With `B = B_∞ + λ + B_ε`, `B̌ = 98B² + 32B`, `Ξ = ‖U_λ‖ + 1` and the mixing time
//! `τ(δ) = min{s : R γˢ ≤ δ}`:
//!
//! ```text
//! constant η      4 B_∞²/λ² (1 − λη)^{t−τ_η} + (B̌ τ_η Ξ² + 4 b B_∞/λ) η/λ                               if η τ_η ≤ λ/B̌
//! η/(t + r)ᵃ      4 B_∞²/λ² exp(−λη/(1−a) ((t+r)^{1−a} − (τ+r)^{1−a})) + Θ₄ (2η/λ)/(t + r)ᵃ,
//!                 Θ₄ = 2 (B̌ B_mix (ln((t + r)/η) + 1) Ξ² + 4 b B_∞/λ)
//! ```
//!
//! (The theorem's statement drops the factor `Ξ²` of its proof and of the corollaries; it is kept
//! here.) `R` and `γ` are those of the chain: γ = 0.8 is its second eigenvalue, and R the smallest
//! constant with `sup_x ‖Pˢ(x, ·) − π‖_TV ≤ R γˢ` for s up to 64.

use mercer_streams::FiniteChain;

/// `k(x, x)` of a Gaussian.
const KERNEL_BOUND: f64 = 1.0;
/// The chain's second eigenvalue.
const RATE: f64 = 0.8;
/// Steps over which the mixing constant is fitted.
const HORIZON: i32 = 64;

/// What the bounds are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    lambda: f64,
    /// `b` in `ε_t ≤ b η_t²`.
    budget: f64,
    /// `(‖U_λ‖ + 1)²`
    radius: f64,
    /// `R`
    mixing: f64,
}

impl Constants {
    pub(super) fn of(chain: &FiniteChain, norm: f64, lambda: f64, budget: f64) -> Self {
        Self { lambda, budget, radius: (norm + 1.0).powi(2), mixing: mixing(chain) }
    }

    /// `B̌`, for steps of at most 1.
    pub(super) fn step_constant(&self) -> f64 {
        let b = KERNEL_BOUND + self.lambda + self.budget;
        98.0 * b * b + 32.0 * b
    }

    /// `4B²/λ²`, which holds for every step that the learner takes.
    pub(super) fn trivial(&self) -> f64 {
        4.0 * (KERNEL_BOUND / self.lambda).powi(2)
    }

    /// `τ(δ)`
    fn mixing_time(&self, delta: f64) -> f64 {
        ((self.mixing / delta).ln() / (1.0 / RATE).ln()).ceil().max(1.0)
    }

    /// The largest η (to two digits) with `η τ_η ≤ λ/B̌`.
    pub(super) fn largest_constant_step(&self) -> f64 {
        let most = self.lambda / self.step_constant();
        let mut eta = 1.0;
        while eta * self.mixing_time(eta) > most {
            eta *= 0.99;
        }
        eta
    }

    /// `4 b B_∞/λ`
    fn sparsification(&self) -> f64 {
        4.0 * self.budget * KERNEL_BOUND / self.lambda
    }

    pub(super) fn constant_step(&self, eta: f64, t: f64) -> f64 {
        let tau = self.mixing_time(eta);
        let start = self.trivial() * (1.0 - self.lambda * eta).powf((t - tau).max(0.0));
        start + (self.step_constant() * tau * self.radius + self.sparsification()) * eta / self.lambda
    }

    pub(super) fn diminishing_step(&self, eta: f64, a: f64, r: f64, t: f64) -> f64 {
        let b_mix = (1.0 / (1.0 / RATE).ln()).max((self.mixing / RATE).ln() / (1.0 / RATE).ln());
        let tau = self.mixing_time(eta / (t + r).powf(a)).min(t);
        let reach = (t + r).powf(1.0 - a) - (tau + r).powf(1.0 - a);
        let start = self.trivial() * (-self.lambda * eta / (1.0 - a) * reach).exp();
        let logarithm = ((t + r) / eta).ln() + 1.0;
        let theta = 2.0 * (self.step_constant() * b_mix * logarithm * self.radius + self.sparsification());
        start + theta * 2.0 * eta / self.lambda / (t + r).powf(a)
    }
}

/// The smallest R with `‖Pˢ(x, ·) − π‖_TV ≤ R γˢ` for all x and s = 0 … [`HORIZON`].
fn mixing(chain: &FiniteChain) -> f64 {
    let (n, law) = (chain.len(), chain.stationary());
    let mut power = vec![0.0; n * n];
    (0..n).for_each(|i| power[i * n + i] = 1.0);
    let mut constant = 0.0_f64;
    for s in 0..=HORIZON {
        let distance = |row: &[f64]| row.iter().zip(&law).map(|(p, q)| (p - q).abs()).sum::<f64>() / 2.0;
        let farthest = power.chunks_exact(n).map(distance).fold(0.0, f64::max);
        constant = constant.max(farthest / RATE.powi(s));
        let mut next = vec![0.0; n * n];
        for (row, out) in power.chunks_exact(n).zip(next.chunks_exact_mut(n)) {
            for (p, onward) in row.iter().zip(chain.transition().chunks_exact(n)) {
                out.iter_mut().zip(onward).for_each(|(out, q)| *out += p * q);
            }
        }
        power = next;
    }
    constant
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_streams::Ar1;

    #[test]
    fn constants_by_hand() {
        let constants = Constants { lambda: 0.1, budget: 0.0, radius: 4.0, mixing: 2.0 };
        assert!((constants.step_constant() - (98.0 * 1.21 + 32.0 * 1.1)).abs() < 1e-12);
        assert!((constants.trivial() - 400.0).abs() < 1e-9);
        // 2·0.8ˢ ≤ 0.1 from s = 14 on.
        assert_eq!(constants.mixing_time(0.1), 14.0);
        let eta = constants.largest_constant_step();
        let most = 0.1 / constants.step_constant();
        assert!(eta * constants.mixing_time(eta) <= most && 1.1 * eta * constants.mixing_time(1.1 * eta) > most);
        // Long after the start only the plateau is left, half of it at half the step except for the
        // logarithm.
        let plateau = constants.step_constant() * 14.0 * 4.0;
        assert!((constants.constant_step(0.1, 1e6) / plateau - 1.0).abs() < 1e-9);
        let ratio = constants.diminishing_step(2.0, 0.75, 30.0, 1e8) / constants.diminishing_step(2.0, 0.75, 30.0, 1e7);
        assert!((ratio.log10() + 0.75).abs() < 0.06, "{ratio}");
    }

    #[test]
    fn the_chain_mixes_at_its_rate() {
        let constant = mixing(&Ar1::default().chain(41, 5.0).unwrap());
        assert!((1.0..20.0).contains(&constant), "{constant}");
    }
}
