//! Markov chains on a finite set of points.
//!
//! Given by a matrix P, `P_ij` the probability of going from state i to state j. What a learner
//! should converge to is then a finite computation: with the law at rest π
//! ([`FiniteChain::stationary`]) the covariance operators are `C_XX = Σ_i π_i φ(x_i)⊗φ(x_i)` and
//! `C_X⁺X = Σ_ij π_i P_ij φ(x_j)⊗φ(x_i)`.

use mercer_core::ParameterError;

use crate::random::{NOISE_STREAM, START_STREAM, generator, unit};

use super::Pairs;

/// Largest distance of a row's sum from 1.
const SUM_TOLERANCE: f64 = 1e-9;

/// A chain of n states, each a point of `dimension` numbers.
///
/// *Invariants*: `transition` has n² entries, at least 0, rows sum to 1 within 1e−9; `cumulative`
/// holds the rows' partial sums.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteChain {
    dimension: usize,
    states: Vec<f64>,
    transition: Vec<f64>,
    cumulative: Vec<f64>,
}

impl FiniteChain {
    /// The chain on `states` (row by row, `dimension` numbers each) with transition matrix
    /// `transition` (row by row).
    ///
    /// # Errors
    /// [`ParameterError`] when there is no state, a state is not finite, the matrix has not n²
    /// entries, one of them is negative or not a number, or a row does not sum to 1.
    pub fn new(dimension: usize, states: Vec<f64>, transition: Vec<f64>) -> Result<Self, ParameterError> {
        ParameterError::require(dimension > 0, "dimension", "at least 1", dimension as f64)?;
        let n = states.len() / dimension;
        let whole = n > 0 && states.len() == n * dimension;
        ParameterError::require(
            whole,
            "numbers of states",
            "a multiple of the dimension, at least one state",
            states.len() as f64,
        )?;
        for state in &states {
            ParameterError::require(state.is_finite(), "state", "finite", *state)?;
        }
        let entries = transition.len();
        ParameterError::require(
            entries == n * n,
            "entries of the transition matrix",
            "states squared",
            entries as f64,
        )?;
        for row in transition.chunks_exact(n) {
            for entry in row {
                ParameterError::require(*entry >= 0.0, "transition probability", "at least 0", *entry)?;
            }
            let sum: f64 = row.iter().sum();
            ParameterError::require(
                (sum - 1.0).abs() <= SUM_TOLERANCE,
                "sum of a row of transition probabilities",
                "1",
                sum,
            )?;
        }
        let cumulative = transition.chunks_exact(n).flat_map(partial_sums).collect();
        Ok(Self { dimension, states, transition, cumulative })
    }

    /// Number of states, n.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len() / self.dimension
    }

    /// Never: there is at least one state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Numbers a state.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The point that state `i` is.
    ///
    /// # Panics
    /// If there is no such state.
    #[must_use]
    pub fn state(&self, i: usize) -> &[f64] {
        &self.states[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The transition matrix, row by row.
    #[must_use]
    pub fn transition(&self) -> &[f64] {
        &self.transition
    }

    /// The law π at rest, `πP = π`, of a chain in which every state can be reached from every
    /// other.
    ///
    /// By state reduction (Grassmann, Taksar and Heyman, *Regenerative Analysis and Steady State
    /// Distributions for Markov Chains*, 1985), which subtracts nothing and so keeps the relative
    /// precision of every entry. O(n³).
    #[must_use]
    pub fn stationary(&self) -> Vec<f64> {
        let n = self.len();
        let mut p = self.transition.clone();
        for k in (1..n).rev() {
            let leaving: f64 = p[k * n..k * n + k].iter().sum();
            for i in 0..k {
                p[i * n + k] /= leaving;
                let into = p[i * n + k];
                for j in 0..k {
                    p[i * n + j] += into * p[k * n + j];
                }
            }
        }
        let mut law = vec![1.0];
        for k in 1..n {
            law.push((0..k).map(|i| law[i] * p[i * n + k]).sum());
        }
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|probability| *probability /= total);
        law
    }

    /// The numbers of `steps + 1` states, the first of them drawn from the law at rest. O(n³ +
    /// steps · ln n).
    #[must_use]
    pub fn path(&self, steps: usize, seed: u64) -> Vec<usize> {
        let first =
            draw(&partial_sums(&self.stationary()).collect::<Vec<_>>(), unit(&mut generator(seed, START_STREAM)));
        let mut noise = generator(seed, NOISE_STREAM);
        let n = self.len();
        let mut path = Vec::with_capacity(steps + 1);
        let mut state = first;
        path.push(state);
        for _ in 0..steps {
            state = draw(&self.cumulative[state * n..(state + 1) * n], unit(&mut noise));
            path.push(state);
        }
        path
    }

    /// The `n` pairs of such a path, as points.
    #[must_use]
    pub fn pairs(&self, n: usize, seed: u64) -> Pairs {
        let mut pairs = Pairs::new(self.dimension, self.dimension);
        for step in self.path(n, seed).windows(2) {
            pairs.push(self.state(step[0]), self.state(step[1]));
        }
        pairs
    }
}

fn partial_sums(row: &[f64]) -> impl Iterator<Item = f64> {
    row.iter().scan(0.0, |sum, entry| {
        *sum += entry;
        Some(*sum)
    })
}

/// The first index whose partial sum exceeds `u` times the total, so that a state of probability
/// zero is never drawn.
fn draw(cumulative: &[f64], u: f64) -> usize {
    let total = cumulative.last().copied().unwrap_or(1.0);
    cumulative.partition_point(|sum| *sum <= u * total).min(cumulative.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weather() -> FiniteChain {
        FiniteChain::new(1, vec![-1.0, 0.0, 2.0], vec![0.5, 0.5, 0.0, 0.25, 0.5, 0.25, 0.0, 0.5, 0.5]).unwrap()
    }

    #[test]
    fn the_law_at_rest_by_hand() {
        let law = weather().stationary();
        for (probability, expected) in law.iter().zip([0.25, 0.5, 0.25]) {
            assert!((probability - expected).abs() < 1e-15, "{law:?}");
        }
        // A slow leak: nearly all of the mass is where it leaks to, the rest exact in relative
        // terms.
        let leak =
            FiniteChain::new(1, vec![0.0, 1.0], vec![1.0 - 1e-12, 1e-12, 1e-3, 1.0 - 1e-3]).unwrap().stationary();
        assert!((leak[1] / leak[0] / 1e-9 - 1.0).abs() < 1e-12, "{leak:?}");
    }

    #[test]
    fn a_path_visits_as_the_matrix_says() {
        let chain = weather();
        let path = chain.path(100_000, 3);
        let mut counts = [[0.0; 3]; 3];
        path.windows(2).for_each(|step| counts[step[0]][step[1]] += 1.0);
        for (i, row) in counts.iter().enumerate() {
            let total: f64 = row.iter().sum();
            assert!((total / 100_000.0 - [0.25, 0.5, 0.25][i]).abs() < 0.01, "{counts:?}");
            for (j, count) in row.iter().enumerate() {
                assert!((count / total - chain.transition()[3 * i + j]).abs() < 0.015, "{counts:?}");
            }
        }
        assert_eq!((counts[0][2], counts[2][0]), (0.0, 0.0));
        let pairs = chain.pairs(50, 3);
        let points = pairs.iter().map(|(x, next)| (x[0], next[0]));
        assert!(points.eq(path[..51].windows(2).map(|step| (chain.state(step[0])[0], chain.state(step[1])[0]))));
    }

    #[test]
    fn what_is_no_chain_is_refused() {
        let message = |states: &[f64], matrix: &[f64]| {
            FiniteChain::new(1, states.to_vec(), matrix.to_vec()).unwrap_err().to_string()
        };
        assert!(message(&[], &[]).starts_with("numbers of states must be "));
        assert!(message(&[f64::NAN], &[1.0]).starts_with("state must be "));
        assert!(message(&[0.0, 1.0], &[1.0]).starts_with("entries of the transition matrix must be "));
        assert!(message(&[0.0, 1.0], &[1.0, 0.0, 1.5, -0.5]).starts_with("transition probability must be "));
        assert!(message(&[0.0, 1.0], &[1.0, 0.0, 0.5, 0.4]).ends_with("must be 1, got 0.9"));
        assert!(FiniteChain::new(2, vec![0.0; 3], vec![1.0]).is_err());
    }
}
