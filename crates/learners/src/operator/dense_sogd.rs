//! Stochastic operator gradient descent on all points. (interface)

use crate::Error;
use crate::operator::{KernelOperator, OperatorLearner, OperatorStep, StepSize};
use mercer_kernels::Kernel;

/// Parameters of [`DenseSogd`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DenseSogdParams {
    /// Step size `η_t`; a step needs `η_t(k(x, x) + λ) < 2`.
    pub step: StepSize,
    /// Regulariser `λ ≥ 0`.
    pub lambda: f64,
}

impl Default for DenseSogdParams {
    /// `η = 0.3`, `λ = 0`.
    fn default() -> Self {
        Self { step: StepSize::Constant(0.3), lambda: 0.0 }
    }
}

/// Stochastic operator gradient descent that keeps every pair.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DenseSogd<K, L = K> {
    operator: KernelOperator<K, L>,
    step: StepSize,
    lambda: f64,
}

impl<K: Kernel, L: Kernel> DenseSogd<K, L> {
    /// A learner for inputs of dimension `input_dimension` and outputs of dimension `output_dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the first step would be unstable at every input.
    pub fn new(
        input_kernel: K,
        input_dimension: usize,
        output_kernel: L,
        output_dimension: usize,
        params: DenseSogdParams,
    ) -> Result<Self, Error> {
        let _ = (input_kernel, input_dimension, output_kernel, output_dimension, params);
        todo!()
    }
}

impl<K: Kernel, L: Kernel> OperatorLearner<K, L> for DenseSogd<K, L> {
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error> {
        let _ = (x, x_plus, self.step, self.lambda);
        todo!()
    }

    fn operator(&self) -> &KernelOperator<K, L> {
        &self.operator
    }

    fn rounds(&self) -> u64 {
        todo!()
    }
}
