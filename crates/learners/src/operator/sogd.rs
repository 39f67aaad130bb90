//! Sparse stochastic operator gradient descent. (interface)

use crate::Error;
use crate::operator::{Budget, BudgetTest, DictionaryShape, KernelOperator, OperatorLearner, OperatorStep, StepSize};
use mercer_kernels::Kernel;
use mercer_sparsify::MatchingPursuit;

/// Parameters of [`Sogd`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SogdParams {
    /// Step size `η_t`; a step needs `η_t(k(x, x) + λ) < 2`.
    pub step: StepSize,
    /// Regulariser `λ ≥ 0`.
    pub lambda: f64,
    /// Sparsification budget `ε_t ≥ 0`.
    pub budget: Budget,
    /// What is compared with the budget.
    pub test: BudgetTest,
    /// Whether the two dictionaries grow together.
    pub shape: DictionaryShape,
    /// A point with `δ ≤ rank_guard · k(x, x)` counts as dependent and is not kept, in `[0, 1)`.
    pub rank_guard: f64,
    /// Largest dictionary of either side; `None` leaves the size to the budget.
    pub max_dictionary: Option<usize>,
}

impl Default for SogdParams {
    /// `η = 0.3`, `λ = 0`, `ε = 0.1 η²` on the norm, paired, guard 1e−6, at most 1000 pairs.
    fn default() -> Self {
        Self {
            step: StepSize::Constant(0.3),
            lambda: 0.0,
            budget: Budget::EtaSquared(0.1),
            test: BudgetTest::Norm,
            shape: DictionaryShape::Paired,
            rank_guard: 1e-6,
            max_dictionary: Some(1000),
        }
    }
}

/// Sparse stochastic operator gradient descent: `K` is the kernel on inputs, `L` that on outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sogd<K, L = K> {
    operator: KernelOperator<K, L>,
    pursuit: MatchingPursuit,
    step: StepSize,
    lambda: f64,
    rounds: u64,
    forced_rejections: u64,
    input_rounds: Vec<u64>,
    output_rounds: Vec<u64>,
}

impl<K: Kernel + Clone> Sogd<K> {
    /// A learner whose inputs and outputs are states of dimension `dimension` with one kernel.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on_states(kernel: K, dimension: usize, params: SogdParams) -> Result<Self, Error> {
        Self::new(kernel.clone(), dimension, kernel, dimension, params)
    }
}

impl<K: Kernel, L: Kernel> Sogd<K, L> {
    /// A learner for inputs `x` of dimension `input_dimension` (a state, or state and action) and outputs `x⁺` of dimension
    /// `output_dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the first step would be unstable at every input.
    pub fn new(
        input_kernel: K,
        input_dimension: usize,
        output_kernel: L,
        output_dimension: usize,
        params: SogdParams,
    ) -> Result<Self, Error> {
        let _ = (input_kernel, input_dimension, output_kernel, output_dimension, params);
        todo!()
    }

    /// Pairs whose error exceeded the budget, but which the rank guard kept out.
    #[must_use]
    pub fn forced_rejections(&self) -> u64 {
        self.forced_rejections
    }

    /// Rounds, counted from 0, whose `x` is in the input dictionary: oldest first.
    #[must_use]
    pub fn input_rounds(&self) -> &[u64] {
        &self.input_rounds
    }

    /// Rounds, counted from 0, whose `x⁺` is in the output dictionary: oldest first.
    #[must_use]
    pub fn output_rounds(&self) -> &[u64] {
        &self.output_rounds
    }

    /// The operator, without the means to learn on.
    #[must_use]
    pub fn into_operator(self) -> KernelOperator<K, L> {
        self.operator
    }
}

impl<K: Kernel, L: Kernel> OperatorLearner<K, L> for Sogd<K, L> {
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error> {
        let _ = (x, x_plus, self.pursuit, self.step, self.lambda);
        todo!()
    }

    fn operator(&self) -> &KernelOperator<K, L> {
        &self.operator
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }
}
