//! The bounds and rules of the projection paper, as numbers.
//!
//! Every bound is on the *regularised* regret `Σ (ŷ_t − y_t)² − min_f {Σ (f(x_t) − y_t)² + λ‖f‖²}`,
//! which is the form `R_n(f) ≤ λ‖f‖² + …` for all `f` takes at the `f` that makes it tightest. `n`
//! is the number of rounds, `B` the largest `|y_t|`, `κ²` the largest `k(x_t, x_t)`,
//! `d_eff(λ) = tr K(K + λI)⁻¹`.

use mercer_kernels::Kernel;
use mercer_readers::Dataset;

use crate::hindsight::Hindsight;

/// Facts about a stream that the bounds need.
#[derive(Clone, Debug)]
pub(crate) struct BoundFacts {
    /// `n`
    pub(crate) rounds: f64,
    /// `B`
    pub(crate) label_bound: f64,
    /// `κ²`
    pub(crate) largest_self_value: f64,
    /// `max ‖x_t‖`
    pub(crate) radius: f64,
    /// Eigenvalues and best functions.
    pub(crate) hindsight: Hindsight,
}

impl BoundFacts {
    /// The facts of a stream whose kernel matrix is diagonalised already.
    pub(crate) fn new(kernel: &impl Kernel, stream: &Dataset, hindsight: Hindsight) -> Self {
        let most = |value: fn(&[f64]) -> f64| stream.iter().map(|(x, _)| value(x)).fold(0.0, f64::max);
        Self {
            rounds: stream.len() as f64,
            label_bound: stream.targets().iter().fold(0.0, |most, y| y.abs().max(most)),
            largest_self_value: stream.iter().map(|(x, _)| kernel.self_value(x)).fold(0.0, f64::max),
            radius: most(|x| x.iter().map(|x| x * x).sum::<f64>().sqrt()),
            hindsight,
        }
    }

    /// The regularised regret of a cumulative loss.
    pub(crate) fn regret(&self, loss: f64, lambda: f64) -> f64 {
        loss - self.hindsight.ridge(lambda).objective(lambda)
    }

    /// Proposition 1, of Kernel-AWV: `B² Σ ln(1 + λ_k(K)/λ)`.
    pub(crate) fn proposition1(&self, lambda: f64) -> f64 {
        self.label_bound.powi(2) * self.hindsight.log_determinant(lambda)
    }

    /// Proposition 2, of the one before: `B² ln(e + enκ²/λ) d_eff(λ)`.
    pub(crate) fn proposition2(&self, lambda: f64) -> f64 {
        let logarithm = 1.0 + (self.rounds * self.largest_self_value / lambda).ln_1p();
        self.label_bound.powi(2) * logarithm * self.hindsight.effective_dimension(lambda)
    }

    /// Theorem 3, of PKAWV in a fixed subspace that neglects `μ = ‖(I − P)C^{1/2}‖²`: Proposition 1
    /// and `(μ + λ)nμB²/λ²`.
    pub(crate) fn theorem3(&self, lambda: f64, mu: f64) -> f64 {
        let carried = (mu + lambda) * self.rounds * mu / (lambda * lambda);
        self.proposition1(lambda) + self.label_bound.powi(2) * carried
    }

    /// Theorem 4, of PKAWV on Taylor features of sufficient degree: 3/2 of Proposition 1.
    pub(crate) fn theorem4(&self, lambda: f64) -> f64 {
        1.5 * self.proposition1(lambda)
    }

    /// Theorem 6, of PKAWV on a dictionary of `size` points by Proposition 5 with `μ ≤ λ`:
    /// Proposition 2 and `2B²(size + 1)nμ/λ`.
    pub(crate) fn theorem6(&self, lambda: f64, mu: f64, size: usize) -> f64 {
        let carried = 2.0 * (size as f64 + 1.0) * self.rounds * mu / lambda;
        self.proposition2(lambda) + self.label_bound.powi(2) * carried
    }

    /// Proposition 5's bound on the dictionary: `9 d_eff(μ) ln²(2n/δ)`.
    pub(crate) fn proposition5_size(&self, mu: f64, delta: f64) -> f64 {
        9.0 * self.hindsight.effective_dimension(mu) * (2.0 * self.rounds / delta).ln().powi(2)
    }

    /// The bound on the effective dimension of a Gaussian kernel in dimension `d` after Theorem 4:
    /// `3(6 + 41R²/(2dσ²) + (3/d) ln(n/λ))ᵈ`.
    pub(crate) fn gaussian_dimension(&self, d: usize, sigma: f64, lambda: f64) -> f64 {
        let (d, spread) = (d as f64, (self.radius / sigma).powi(2) / 2.0);
        3.0 * (6.0 + 41.0 / d * spread + 3.0 / d * (self.rounds / lambda).ln()).powf(d)
    }

    /// The smallest `γ` of the capacity condition `d_eff(λ) ≤ (n/λ)^γ`, over `λ` from `10⁻³` to
    /// `n/2`.
    pub(crate) fn capacity(&self) -> f64 {
        let steps = 200;
        let (low, high) = (1e-3f64.ln(), (self.rounds / 2.0).ln());
        (0..=steps)
            .map(|i| (low + (high - low) * f64::from(i) / f64::from(steps)).exp())
            .map(|lambda| self.hindsight.effective_dimension(lambda).ln() / (self.rounds / lambda).ln())
            .fold(0.0, f64::max)
    }
}

/// Proposition 5's oversampling `β = 12 ln(n/δ)`.
pub(crate) fn proposition5_beta(rounds: usize, delta: f64) -> f64 {
    12.0 * (rounds as f64 / delta).ln()
}

/// Choice of Corollaries 7 and 8 for a dictionary of about `m` points, and the rate that they
/// promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tuning {
    /// Regulariser of the leverage scores, `μ = n m^{−1/γ}`.
    pub(crate) mu: f64,
    /// Ridge.
    pub(crate) lambda: f64,
    /// The regret's order, without constants and logarithms; it is `λ` itself.
    pub(crate) rate: f64,
    /// True if `m` is large enough for the optimal rate `n^{γ/(1+γ)}`.
    pub(crate) optimal: bool,
}

/// Corollary 7: inputs that come one by one.
pub(crate) fn corollary7(rounds: usize, m: f64, gamma: f64) -> Tuning {
    tuning(rounds, m, gamma, 2.0 * gamma / (1.0 - gamma * gamma), 0.5 - 0.5 / gamma)
}

/// Corollary 8: inputs known beforehand.
pub(crate) fn corollary8(rounds: usize, m: f64, gamma: f64) -> Tuning {
    tuning(rounds, m, gamma, 2.0 * gamma / (1.0 + gamma), -0.5 / gamma)
}

/// `λ = n^{γ/(1+γ)}` from `m = n^enough` on, `λ = n m^small` before.
fn tuning(rounds: usize, m: f64, gamma: f64, enough: f64, small: f64) -> Tuning {
    let n = rounds as f64;
    let optimal = m >= n.powf(enough);
    let rate = if optimal { n.powf(gamma / (1.0 + gamma)) } else { n * m.powf(small) };
    Tuning { mu: n * m.powf(-1.0 / gamma), lambda: rate, rate, optimal }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One point, `k = 1`, `y = ½`: eigenvalue 1, `d_eff(λ) = 1/(1 + λ)`, and the minimum is
    /// `λy²/(1 + λ)`.
    #[test]
    fn one_point_by_hand() {
        let stream = Dataset::new("t", 2, vec![3.0, 4.0], vec![0.5]).unwrap();
        let kernel: mercer_kernels::AnyKernel = "gaussian:2".parse().unwrap();
        let facts = BoundFacts::new(&kernel, &stream, Hindsight::new(&kernel, &stream).unwrap());
        assert_eq!((facts.radius, facts.label_bound, facts.largest_self_value), (5.0, 0.5, 1.0));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} for {b}");
        let lambda = 3.0;
        near(facts.regret(0.25, lambda), 0.25 - 3.0 * 0.25 / 4.0);
        let first = 0.25 * (4.0f64 / 3.0).ln();
        near(facts.proposition1(lambda), first);
        let second = 0.25 * (1.0 + (4.0f64 / 3.0).ln()) / 4.0;
        near(facts.proposition2(lambda), second);
        near(facts.theorem3(lambda, 0.5), first + 0.25 * 3.5 * 0.5 / 9.0);
        near(facts.theorem4(lambda), 1.5 * first);
        near(facts.theorem6(lambda, 0.5, 4), second + 0.25 * 2.0 * 5.0 * 0.5 / 3.0);
        near(facts.proposition5_size(lambda, 0.1), 9.0 / 4.0 * 20f64.ln().powi(2));
        // R²/2σ² = 25/8, d = 2.
        near(facts.gaussian_dimension(2, 2.0, lambda), 3.0 * (6.0 + 20.5 * 3.125 + 1.5 * (1.0f64 / 3.0).ln()).powi(2));
    }

    #[test]
    fn corollaries_meet_the_optimal_rate_where_they_say() {
        // γ = ½: corollary 7 never does below n, corollary 8 does from m = n^{2/3} on.
        let (n, gamma) = (1_000_000, 0.5);
        let small = corollary7(n, 1e4, gamma);
        assert!(!small.optimal && (small.lambda - 1e4).abs() < 1e-6 && (small.mu - 1e-2).abs() < 1e-12);
        let large = corollary8(n, 2e4, gamma);
        assert!(large.optimal && (large.rate - 1e2).abs() < 1e-9);
        let edge = corollary8(n, 1e4 * (1.0 - 1e-9), gamma);
        assert!((edge.rate / large.rate - 1.0).abs() < 1e-6);
        assert!((proposition5_beta(1000, 0.1) - 12.0 * 1e4f64.ln()).abs() < 1e-12);
    }
}
