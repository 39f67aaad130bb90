//! Lemmas of the paper on the Koopman operator, on a chain of few states, where operators are
//! matrices.
//!
//! The features of state i are row i of the Cholesky factor of the kernel matrix, so that
//! Hilbert–Schmidt norms are Frobenius norms. The chain goes from i to 2i mod n, or with
//! probability 0.6 anywhere; its law is uniform and it mixes like 0.4ˢ.

use mercer_streams::FiniteChain;
use mercer_testkit::oracle::gaussian;
use nalgebra::{DMatrix, DVector};

use super::matrix;

const STATES: usize = 9;
const LAMBDA: f64 = 1.0;
/// `k(x, x)`.
const B_INFINITY: f64 = 1.0;
/// `B`, without sparsification.
const B: f64 = B_INFINITY + LAMBDA;
/// `B̌ = 98B² + 32B`.
const B_CHECK: f64 = 98.0 * B * B + 32.0 * B;

struct Small {
    chain: FiniteChain,
    features: Vec<DVector<f64>>,
    transition: DMatrix<f64>,
}

impl Small {
    fn new() -> Self {
        let states: Vec<f64> = (0..STATES).map(|i| 0.5 * i as f64).collect();
        let entry = |i: usize, j: usize| 0.6 / STATES as f64 + 0.4 * f64::from(u8::from(j == 2 * i % STATES));
        let transition = DMatrix::from_fn(STATES, STATES, entry);
        let rows = transition.transpose().as_slice().to_vec();
        let kernel = gaussian(0.8);
        let gram = DMatrix::from_fn(STATES, STATES, |i, j| kernel(&[states[i]], &[states[j]]));
        let factor = gram.cholesky().unwrap().l();
        let features = (0..STATES).map(|i| factor.row(i).transpose()).collect();
        Self { chain: FiniteChain::new(1, states, rows).unwrap(), features, transition }
    }

    /// `∇̃R(x, x⁺; U)`
    fn stochastic(&self, u: &DMatrix<f64>, i: usize, next: usize) -> DMatrix<f64> {
        let (x, x_next) = (&self.features[i], &self.features[next]);
        (u * x - x_next) * x.transpose() + LAMBDA * u
    }

    /// Its mean when the state has this law.
    fn mean(&self, u: &DMatrix<f64>, law: impl Fn(usize) -> f64) -> DMatrix<f64> {
        let mut mean = DMatrix::zeros(STATES, STATES);
        for i in 0..STATES {
            for j in 0..STATES {
                mean += law(i) * self.transition[(i, j)] * self.stochastic(u, i, j);
            }
        }
        mean
    }

    /// `∇R(U)`
    fn gradient(&self, u: &DMatrix<f64>) -> DMatrix<f64> {
        self.mean(u, |_| 1.0 / STATES as f64)
    }

    /// `U_λ = C⁺(C + λ)⁻¹`
    fn minimiser(&self) -> DMatrix<f64> {
        let zero = DMatrix::zeros(STATES, STATES);
        let cross = -self.gradient(&zero);
        let mut covariance = LAMBDA * DMatrix::<f64>::identity(STATES, STATES);
        for x in &self.features {
            covariance += x * x.transpose() / STATES as f64;
        }
        cross * covariance.try_inverse().unwrap()
    }

    /// The largest distance in total variation of the law after `steps` from the stationary one.
    fn distance(&self, steps: u32) -> f64 {
        let power = self.transition.pow(steps);
        let row = |i: usize| power.row(i).iter().map(|p| (p - 1.0 / STATES as f64).abs()).sum::<f64>() / 2.0;
        (0..STATES).map(row).fold(0.0, f64::max)
    }

    /// The squared distances from the minimiser along a path, from `U_0 = 0`.
    fn errors(&self, eta: f64, steps: usize, seed: u64) -> Vec<f64> {
        let (target, path) = (self.minimiser(), self.chain.path(steps, seed));
        let mut u = DMatrix::zeros(STATES, STATES);
        let step = |pair: &[usize]| {
            u -= eta * self.stochastic(&u, pair[0], pair[1]);
            (&u - &target).norm_squared()
        };
        path.windows(2).map(step).collect()
    }
}

#[test]
fn gradients_bounds_and_differences() {
    let small = Small::new();
    assert!(small.gradient(&small.minimiser()).norm() < 1e-12);
    let b_kappa = B_INFINITY + LAMBDA;
    for seed in 0..20 {
        let (u, v) = (matrix(seed, STATES, STATES), matrix(100 + seed, STATES, STATES));
        let apart = (&u - &v).norm();
        assert!((small.gradient(&u) - small.gradient(&v)).norm() <= b_kappa * apart);
        for i in 0..STATES {
            let difference =
                small.stochastic(&u, i, seed as usize % STATES) - small.stochastic(&v, i, seed as usize % STATES);
            assert!(difference.norm() <= b_kappa * apart);
            assert!(small.stochastic(&u, i, 0).norm() <= b_kappa * (u.norm() + 1.0));
        }
    }
    assert!(small.minimiser().norm() <= B_INFINITY / LAMBDA);
    // Every pair of times of a path whose steps sum to at most 1/4B.
    let (eta, path) = (0.01, small.chain.path(400, 5));
    let mut iterates = vec![DMatrix::zeros(STATES, STATES)];
    for pair in path.windows(2) {
        let u = iterates.last().unwrap();
        iterates.push(u - eta * small.stochastic(u, pair[0], pair[1]));
    }
    for (s, u) in iterates.iter().enumerate() {
        assert!(u.norm() <= B_INFINITY / LAMBDA);
        for (r, later) in
            iterates.iter().enumerate().skip(s + 1).take_while(|(r, _)| eta * (r - s) as f64 <= 1.0 / (4.0 * B))
        {
            let (sum, apart) = (eta * (r - s) as f64, (u - later).norm());
            assert!(apart <= 2.0 * B * sum * (u.norm() + 1.0));
            assert!(apart <= 4.0 * B * sum * (later.norm() + 1.0));
        }
    }
}

#[test]
fn mixing() {
    let small = Small::new();
    let u = matrix(3, STATES, STATES);
    let truth = small.gradient(&u);
    for steps in 1..12 {
        let (power, delta) = (small.transition.pow(steps), small.distance(steps));
        for start in 0..STATES {
            let bias = (small.mean(&u, |i| power[(start, i)]) - &truth).norm();
            assert!(bias <= 2.0 * (B_INFINITY + LAMBDA) * delta * (u.norm() + 1.0) + 1e-14);
        }
    }
}

/// With steps that meet the conditions, `η τ_η ≤ λ/B̌`: the mean over paths falls from step to step
/// as the lemma says, and stays below the bound of the theorem and the corollary.
#[test]
fn descent_and_constant_steps() {
    let small = Small::new();
    let (eta, steps, paths) = (2e-4, 20_000, 30);
    let tau = (1..).find(|s| small.distance(*s) <= eta).unwrap() as usize;
    assert!(eta * tau as f64 <= LAMBDA / B_CHECK, "{tau}");
    let mut mean = vec![0.0; steps - 1];
    for seed in 0..paths {
        for (sum, error) in mean.iter_mut().zip(small.errors(eta, steps, seed)) {
            *sum += error / paths as f64;
        }
    }
    let radius = (small.minimiser().norm() + 1.0).powi(2);
    let drift = B_CHECK * eta * eta * tau as f64;
    for t in tau..mean.len() - 1 {
        assert!(mean[t + 1] <= (1.0 - 2.0 * eta * LAMBDA + drift) * mean[t] + drift * radius);
    }
    let plateau = drift * radius / (LAMBDA * eta);
    let bound = |t: usize| 4.0 * (B_INFINITY / LAMBDA).powi(2) * (1.0 - LAMBDA * eta).powi((t - tau) as i32) + plateau;
    assert!((tau..mean.len()).all(|t| mean[t] <= bound(t)));
    // It says more than that the iterates are bounded.
    assert!(bound(mean.len()) < 4.0 * (B_INFINITY / LAMBDA).powi(2));
}
