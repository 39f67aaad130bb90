//! Value iteration on a learnt conditional-mean operator.
//!
//! The inputs of the operator are `z = (x, u)`, state and action, with the kernel `κ_X κ_U`; its
//! outputs are successor states. With `α(x, u) = W k_Z(z)` the expected value of the successor is
//! `E[V(x⁺) | x, u] ≈ Σ α_i V(x_i⁺)`, so that values at the output points are all that is needed
//! (\[K\] §7.2; Grünewälder et al. 2012):
//!
//! ```text
//! V(x_i⁺) ← max_u { r(x_i⁺, u) + γ Σ_l α_l(x_i⁺, u) V(x_l⁺) / Σ_l α_l(x_i⁺, u) }
//! ```
//!
//! **The weights are normalised**: `Σα` is 1 only in the limit, and far below it after small steps;
//! without the division the future weighs too little and the policy is myopic. Where the mass `Σα`
//! is below a floor the data say nothing about the action, and the successor counts as bad as the
//! worst state known. \[K\] writes a minimum of costs; this maximises rewards.
//!
//! **Cost.** `Σ_l α_l V_l = yᵀk_Z(z)` with `y = WᵀV` computed once a sweep (`O(m²)`). The product
//! kernel makes the rest one matrix product, `[κ_X(x_i⁺, x_j)] · [κ_U(u_j, u) y_j]`: `m²`
//! multiply-adds an action and sweep. The greedy policy is `O(m)` an action.

use mercer_core::{ExampleError, ParameterError, check_input, parameters};
use mercer_kernels::{AlignedVec, Kernel, Points, Product};
use mercer_linalg_incremental::Matrix;
use mercer_simd::dot;

use crate::Error;
use crate::KernelOperator;
use crate::kernel_operator::check_dimension;

parameters! {
    /// Parameters of [`value_iteration`].
    #[derive(Copy)]
    pub struct ValueIterationParams {
        /// Discount `γ` in `[0, 1)`.
        discount: f64 = 0.99,
        /// Sweeps at most, at least 1.
        sweeps: usize = 2000,
        /// Stop when no value moves by more than this, at least 0.
        tolerance: f64 = 1e-3,
        /// True if `α` is divided by its sum, so that it weighs like a probability. Without it the
        /// policy is myopic wherever the sum is small.
        normalised: bool = true,
        /// With `normalised`: actions whose sum of weights is below this share of the largest at
        /// any output point count as unknown, in `[0, 1)`.
        least_mass: f64 = 1e-6,
    }
}

/// The greedy policy of a value function, and that function.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Policy<KX> {
    kernel: KX,
    /// The states of the input dictionary.
    states: Points,
    actions: Points,
    discount: f64,
    /// `κ_U(u_j, a) y_j` with `y = WᵀV`, a vector for each action `a`.
    values_seen: Vec<AlignedVec>,
    /// `κ_U(u_j, a) (Wᵀ1)_j`, alike; empty when the weights are not normalised.
    mass_seen: Vec<AlignedVec>,
    least_mass: f64,
    worst: f64,
    /// The value at each output point.
    pub values: Vec<f64>,
    /// Sweeps made.
    pub sweeps: usize,
    /// Change of the values in the last sweep.
    pub last_change: f64,
}

impl ValueIterationParams {
    fn checked(self) -> Result<Self, ParameterError> {
        let Self { discount, sweeps, tolerance, least_mass, .. } = self;
        ParameterError::require((0.0..1.0).contains(&discount), "discount", "a number in [0, 1)", discount)?;
        ParameterError::at_least_one("sweeps", sweeps)?;
        ParameterError::non_negative("tolerance", tolerance)?;
        ParameterError::require((0.0..1.0).contains(&least_mass), "least_mass", "a number in [0, 1)", least_mass)?;
        Ok(self)
    }
}

/// Solves for the values at the output points, from zero. `reward(state, action)` is maximised;
/// `actions` are the candidates everywhere. A sweep costs `m²` multiply-adds an action; memory is
/// `m²`.
///
/// # Errors
/// When a parameter is out of its range, there is no action or no point, dimensions do not fit, a
/// reward is not finite, or the values leave the range of numbers (possible without normalisation).
pub fn value_iteration<KX, KU, L>(
    operator: &KernelOperator<Product<KX, KU>, L>,
    actions: &Points,
    reward: impl Fn(&[f64], &[f64]) -> f64,
    params: ValueIterationParams,
) -> Result<Policy<KX>, Error>
where
    KX: Kernel + Clone,
    KU: Kernel,
    L: Kernel,
{
    let ValueIterationParams { discount, sweeps, tolerance, normalised, least_mass } = params.checked()?;
    ParameterError::at_least_one("actions", actions.len())?;
    ParameterError::at_least_one("dictionary", operator.inputs().len().min(operator.outputs().len()))?;
    let (kernel, split) = (operator.input_kernel(), operator.input_kernel().split());
    check_dimension(operator.output_dimension(), split)?;
    check_dimension(split + actions.dimension(), operator.input_dimension())?;

    let states = coordinates_of(operator.inputs(), 0, split);
    let action_kernel = table(kernel.second(), &coordinates_of(operator.inputs(), split, actions.dimension()), actions);
    let state_kernel = table(kernel.first(), operator.outputs(), &states);
    let rewards = rewards(operator.outputs(), actions, reward)?;
    let seen_by = |values: &[f64]| -> Result<Matrix, Error> {
        let y = operator.pull_back(values)?;
        Ok(Matrix::from_fn(y.len(), actions.len(), |j, a| action_kernel.entry(j, a) * y[j]))
    };
    let points = operator.outputs().len();
    let mass_seen = if normalised { Some(seen_by(&vec![1.0; points])?) } else { None };
    let mass = mass_seen.as_ref().map(|seen| state_kernel.times(seen));
    let largest = mass.as_ref().map_or(0.0, |mass| mass.values().iter().copied().fold(0.0, f64::max));

    let mut policy = Policy {
        kernel: kernel.first().clone(),
        states,
        actions: actions.clone(),
        discount,
        values_seen: Vec::new(),
        mass_seen: mass_seen.iter().flat_map(padded_columns).collect(),
        least_mass: least_mass * largest,
        worst: 0.0,
        values: vec![0.0; points],
        sweeps: 0,
        last_change: f64::INFINITY,
    };
    while policy.sweeps < sweeps && policy.last_change > tolerance {
        policy.sweep(&rewards, &state_kernel.times(&seen_by(&policy.values)?), mass.as_ref())?;
    }
    policy.worst = policy.values.iter().copied().fold(f64::INFINITY, f64::min);
    policy.values_seen = padded_columns(&seen_by(&policy.values)?);
    Ok(policy)
}

impl<KX: Kernel> Policy<KX> {
    /// One sweep, from what is `expected` of the values and, where they are normalised, its mass.
    fn sweep(&mut self, rewards: &Matrix, expected: &Matrix, mass: Option<&Matrix>) -> Result<(), Error> {
        self.worst = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        self.last_change = 0.0;
        for i in 0..self.values.len() {
            let value = |a: usize| {
                let mass = mass.map(|mass| mass.entry(i, a));
                rewards.entry(i, a) + self.discount * self.expectation(expected.entry(i, a), mass)
            };
            let best = (0..self.actions.len()).map(value).fold(f64::NEG_INFINITY, f64::max);
            if !best.is_finite() {
                return Err(ExampleError::Diverged.into());
            }
            self.last_change = self.last_change.max((best - self.values[i]).abs());
            self.values[i] = best;
        }
        self.sweeps += 1;
        Ok(())
    }

    /// The candidate actions.
    #[must_use]
    pub fn actions(&self) -> &Points {
        &self.actions
    }

    /// `γ E[V(x⁺) | x, u]` for each action `u`: what its value is beside the reward. `md + 2m`
    /// multiply-adds an action at most.
    ///
    /// # Errors
    /// When `state` has another dimension or a coordinate that is not finite.
    pub fn continuation(&self, state: &[f64]) -> Result<Vec<f64>, Error> {
        check_input(state, self.states.dimension())?;
        let mut row = AlignedVec::new();
        self.kernel.row(&self.states, state, &mut row);
        let seen = |by: &AlignedVec| dot(by.lanes(), row.lanes());
        Ok((0..self.actions.len())
            .map(|a| self.discount * self.expectation(seen(&self.values_seen[a]), self.mass_seen.get(a).map(seen)))
            .collect())
    }

    /// The index of the best action at `state` (the first of equals), and the value of the state,
    /// `max_u r(x, u) + γ E[V(x⁺) | x, u]`.
    ///
    /// # Errors
    /// As [`continuation`](Self::continuation).
    pub fn greedy(&self, state: &[f64], reward: impl Fn(&[f64], &[f64]) -> f64) -> Result<(usize, f64), Error> {
        let (mut action, mut best) = (vec![0.0; self.actions.dimension()], (0, f64::NEG_INFINITY));
        for (a, continuation) in self.continuation(state)?.into_iter().enumerate() {
            self.actions.copy_point(a, &mut action);
            let value = reward(state, &action) + continuation;
            if value > best.1 {
                best = (a, value);
            }
        }
        Ok(best)
    }

    /// `Σ α_l V_l`, divided by the mass if there is one; the worst value where there is not enough
    /// of it.
    fn expectation(&self, weighted: f64, mass: Option<f64>) -> f64 {
        match mass {
            None => weighted,
            Some(mass) if mass > self.least_mass => weighted / mass,
            Some(_) => self.worst,
        }
    }
}

/// The coordinates `first..first + count` of each point.
fn coordinates_of(points: &Points, first: usize, count: usize) -> Points {
    let mut part = Points::with_capacity(count, points.len());
    for i in 0..points.len() {
        part.push(&points.point(i)[first..first + count]);
    }
    part
}

/// `k(a_i, b_j)`
fn table(kernel: &impl Kernel, a: &Points, b: &Points) -> Matrix {
    let (mut row, mut table) = (AlignedVec::new(), Matrix::zeros(a.len(), b.len()));
    for j in 0..b.len() {
        kernel.row(a, &b.point(j), &mut row);
        table.column_mut(j).copy_from_slice(&row);
    }
    table
}

fn rewards(states: &Points, actions: &Points, reward: impl Fn(&[f64], &[f64]) -> f64) -> Result<Matrix, Error> {
    let mut rewards = Matrix::zeros(states.len(), actions.len());
    for a in 0..actions.len() {
        let action = actions.point(a);
        check_input(&action, actions.dimension())?;
        for (i, value) in rewards.column_mut(a).iter_mut().enumerate() {
            *value = reward(&states.point(i), &action);
            if !value.is_finite() {
                return Err(ExampleError::NonFiniteTarget(*value).into());
            }
        }
    }
    Ok(rewards)
}

fn padded_columns(matrix: &Matrix) -> Vec<AlignedVec> {
    (0..matrix.columns()).map(|j| AlignedVec::from_slice(matrix.column(j))).collect()
}
