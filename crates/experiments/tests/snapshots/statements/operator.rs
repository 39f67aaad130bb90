//! Lemmas of the paper on the Koopman operator, on a chain of few states, where operators are
//! matrices.
//!
//! The features of state i are row i of the Cholesky factor of the kernel matrix, so that
//! Hilbert–Schmidt norms are Frobenius norms. The chain goes from i to 2i mod n, or with
//! probability 0.6 anywhere; its law is uniform and it mixes like 0.4ˢ.

use mercer_streams::FiniteChain;
use mercer_testkit::oracle::gaussian;
use nalgebra::{DMatrix, DVector};

use super::{breaks, matrix};

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

    /// The squared distances from the minimiser along a path, from `U_0 = 0`, of a learner to which
    /// the next state is `next` times what it is.
    fn errors(&self, eta: f64, steps: usize, seed: u64, next: f64) -> Vec<f64> {
        let (target, path) = (self.minimiser(), self.chain.path(steps, seed));
        let mut u = DMatrix::zeros(STATES, STATES);
        let step = |pair: &[usize]| {
            let (x, x_next) = (&self.features[pair[0]], &self.features[pair[1]]);
            let residual = &u * x - next * x_next;
            u.ger(-eta, &residual, x, 1.0 - eta * LAMBDA);
            (&u - &target).norm_squared()
        };
        path.windows(2).map(step).collect()
    }
}

#[test]
fn gradients_bounds_and_differences() {
    let small = Small::new();
    assert!(small.gradient(&small.minimiser()).norm() < 1e-12);
    breaks("the embedding of no step", small.gradient(&DMatrix::identity(STATES, STATES)).norm() < 1e-12);
    // With a constant in place of B + λ.
    let lipschitz = |b_kappa: f64| {
        (0..20).all(|seed| {
            let (u, v) = (matrix(seed, STATES, STATES), matrix(100 + seed, STATES, STATES));
            let (apart, next) = ((&u - &v).norm(), seed as usize % STATES);
            (small.gradient(&u) - small.gradient(&v)).norm() <= b_kappa * apart
                && (0..STATES).all(|i| {
                    let difference = small.stochastic(&u, i, next) - small.stochastic(&v, i, next);
                    difference.norm() <= b_kappa * apart
                        && small.stochastic(&u, i, 0).norm() <= b_kappa * (u.norm() + 1.0)
                })
        })
    };
    assert!(lipschitz(B_INFINITY + LAMBDA));
    breaks("half the constant", lipschitz(0.5 * (B_INFINITY + LAMBDA)));
    assert!(small.minimiser().norm() <= B_INFINITY / LAMBDA);
    // Every pair of times of a path whose steps sum to at most 1/4B.
    let (eta, path) = (0.01, small.chain.path(400, 5));
    let iterates = |eta: f64| {
        let mut iterates = vec![DMatrix::zeros(STATES, STATES)];
        for pair in path.windows(2) {
            let u = iterates.last().unwrap();
            iterates.push(u - eta * small.stochastic(u, pair[0], pair[1]));
        }
        iterates
    };
    let bounded = |iterates: &[DMatrix<f64>]| iterates.iter().all(|u| u.norm() <= B_INFINITY / LAMBDA);
    let path = iterates(eta);
    assert!(bounded(&path));
    breaks("a step up the gradient", bounded(&iterates(-eta)));
    let near = |b: f64| {
        path.iter().enumerate().all(|(s, u)| {
            let later = path.iter().enumerate().skip(s + 1);
            later.take_while(|(r, _)| eta * (r - s) as f64 <= 1.0 / (4.0 * B)).all(|(r, later)| {
                let (sum, apart) = (eta * (r - s) as f64, (u - later).norm());
                apart <= 2.0 * b * sum * (u.norm() + 1.0) && apart <= 4.0 * b * sum * (later.norm() + 1.0)
            })
        })
    };
    assert!(near(B));
    breaks("an eighth of the constant", near(B / 8.0));
}

#[test]
fn mixing() {
    let small = Small::new();
    let u = matrix(3, STATES, STATES);
    let truth = small.gradient(&u);
    // The bound of a chain that has gone so many steps further.
    let holds = |further: u32| {
        (1..12).all(|steps| {
            let (power, delta) = (small.transition.pow(steps), small.distance(steps + further));
            (0..STATES).all(|start| {
                let bias = (small.mean(&u, |i| power[(start, i)]) - &truth).norm();
                bias <= 2.0 * (B_INFINITY + LAMBDA) * delta * (u.norm() + 1.0) + 1e-14
            })
        })
    };
    assert!(holds(0));
    breaks("the distance after eight steps more", holds(8));
}

/// With steps that meet the conditions, `η τ_η ≤ λ/B̌`, and so small that the bound at the end lies
/// below the error of an operator that learns nothing: the mean over paths falls as the lemma says,
/// and stays below the bound of the theorem and the corollary. Over a thousand steps the lemma's
/// decrease is larger than the noise of the mean.
#[test]
fn descent_and_constant_steps() {
    const WINDOW: usize = 50_000;
    let small = Small::new();
    let (eta, steps, paths) = (5e-6, 1_200_000, 4);
    let tau = (1..).find(|s| small.distance(*s) <= eta).unwrap() as usize;
    assert!(eta * tau as f64 <= LAMBDA / B_CHECK, "{tau}");
    let mean = |next: f64| {
        let mut mean = vec![0.0; steps - 1];
        for seed in 0..paths {
            for (sum, error) in mean.iter_mut().zip(small.errors(eta, steps, seed, next)) {
                *sum += error / paths as f64;
            }
        }
        mean
    };
    let radius = (small.minimiser().norm() + 1.0).powi(2);
    let drift = B_CHECK * eta * eta * tau as f64;
    let kept = (1.0 - 2.0 * eta * LAMBDA + drift).powi(WINDOW as i32);
    let added = drift * radius * (1.0 - kept) / (2.0 * eta * LAMBDA - drift);
    let descends = |errors: &[f64]| {
        let ends = (tau..errors.len() - WINDOW).step_by(1000);
        ends.clone().all(|t| errors[t + WINDOW] <= kept * errors[t] + added)
    };
    let plateau = drift * radius / (LAMBDA * eta);
    let bound = |t: usize| 4.0 * (B_INFINITY / LAMBDA).powi(2) * (1.0 - LAMBDA * eta).powi((t - tau) as i32) + plateau;
    let bounded = |errors: &[f64]| (tau..errors.len()).all(|t| errors[t] <= bound(t));
    let learnt = mean(1.0);
    assert!(descends(&learnt) && bounded(&learnt));
    let idle = vec![small.minimiser().norm_squared(); steps - 1];
    breaks("the descent of a learner of nothing", descends(&idle));
    breaks("the bound of a learner of nothing", bounded(&idle));
    breaks("the bound of a learner of minus the target", bounded(&mean(-1.0)));
}
