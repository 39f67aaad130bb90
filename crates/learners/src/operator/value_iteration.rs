//! Value iteration on a learnt conditional-mean operator. (interface)

use crate::Error;
use crate::operator::KernelOperator;
use mercer_kernels::{Kernel, Product};

/// Parameters of [`ValueIteration`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueIterationParams {
    /// Discount `γ` in `[0, 1)`.
    pub discount: f64,
    /// Sweeps at most.
    pub sweeps: usize,
    /// Stop when no value moves by more than this.
    pub tolerance: f64,
    /// Whether `α` is divided by its sum, so that it weighs like a probability. Without it the policy is myopic wherever the
    /// sum is small.
    pub normalised: bool,
}

impl Default for ValueIterationParams {
    /// `γ = 0.99`, at most 2000 sweeps to 1e−3, normalised.
    fn default() -> Self {
        Self { discount: 0.99, sweeps: 2000, tolerance: 1e-3, normalised: true }
    }
}

/// Value iteration over the output points of an operator with inputs `(state, action)`.
#[derive(Clone, Debug)]
pub struct ValueIteration {}

impl ValueIteration {
    /// Solves for the values at the output points. `reward(state, action)` is maximised; `actions` is row-major, one action a
    /// row. A sweep costs `2m²·actions` multiply-adds in one matrix product, memory is `m²`.
    ///
    /// # Errors
    /// When a parameter is out of its range, there is no action or no point, or a reward is not finite.
    pub fn solve<KX, KU, L>(
        operator: &KernelOperator<Product<KX, KU>, L>,
        actions: &[f64],
        reward: impl Fn(&[f64], &[f64]) -> f64,
        params: ValueIterationParams,
    ) -> Result<Policy<KX>, Error>
    where
        KX: Kernel + Clone,
        KU: Kernel,
        L: Kernel,
    {
        let _ = (operator, actions, reward(&[], &[]), params);
        todo!()
    }
}

/// The greedy policy of a value function, and that function.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy<KX> {
    kernel: KX,
    /// The value at each output point.
    pub values: Vec<f64>,
    /// Sweeps made.
    pub sweeps: usize,
    /// How far the values moved in the last sweep.
    pub last_change: f64,
}

impl<KX: Kernel> Policy<KX> {
    /// `γ E[V(x⁺) | state, action]`-part of each action's value, without the reward: one number an action. `O(m)` an action.
    ///
    /// # Errors
    /// When `state` has another dimension or a coordinate that is not finite.
    pub fn continuation(&self, state: &[f64]) -> Result<Vec<f64>, Error> {
        let _ = (state, &self.kernel);
        todo!()
    }

    /// The best action's index at `state`, and the value of the state: `max_u r(state, u) + γ E[V(x⁺)]`.
    ///
    /// # Errors
    /// As [`continuation`](Self::continuation).
    pub fn greedy(&self, state: &[f64], reward: impl Fn(&[f64], &[f64]) -> f64) -> Result<(usize, f64), Error> {
        let _ = (state, reward(&[], &[]));
        todo!()
    }
}
