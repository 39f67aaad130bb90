//! Stochastic operator gradient descent on all points (\[K\] eq. 28).
//!
//! With every pair kept the step is written in the weights themselves,
//! `U = Σ W_ij k_Y(x_i⁺, ·) ⊗ k_X(x_j, ·)`:
//!
//! ```text
//! W ← [[(1 − λη) W, −η W k_X(x)], [0, η]]
//! ```
//!
//! Repeated points do no harm, for nothing is inverted. `td + t²` multiply-adds and `t²` numbers
//! (up to 2.25 times that while it grows) in round `t`: a reference for a few thousand pairs. On
//! longer streams take [`Sogd`](crate::Sogd) with the budget 0 and the rank guard 1e−12, which
//! keeps the same operator to that accuracy in as many points as the stream has directions.

use mercer_core::{ExampleError, Inconsistent, ParameterError, Validate, check_input, parameters};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::StateMatrix;
use mercer_simd::scale;
use mercer_sparsify::Probe;

use crate::Error;
use crate::learner::check_pairs;
use crate::side::Side;
use crate::step_schedule::check_stability;
use crate::{KernelOperator, OperatorLearner, OperatorStep, StepSchedule, Verdict};

parameters! {
    /// Parameters of [`DenseSogd`].
    #[derive(Copy)]
    pub struct DenseSogdParams {
        /// Step size `η_t`; a step needs `η_t(k(x, x) + λ) < 2`.
        step: StepSchedule = StepSchedule::Constant(0.3),
        /// Regulariser `λ ≥ 0`.
        lambda: f64 = 0.0,
    }
}

/// Stochastic operator gradient descent that keeps every pair: the operator grows with the stream
/// by definition.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DenseSogd<K, L = K> {
    operator: KernelOperator<K, L>,
    step: StepSchedule,
    lambda: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: (Probe, AlignedVec),
}

impl<K: Kernel, L: Kernel> DenseSogd<K, L> {
    /// A learner for inputs of dimension `input_dimension` and outputs of dimension
    /// `output_dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or the first step would be unstable at the origin
    /// (with a stationary kernel: everywhere).
    pub fn new(
        input_kernel: K,
        input_dimension: usize,
        output_kernel: L,
        output_dimension: usize,
        params: DenseSogdParams,
    ) -> Result<Self, Error> {
        let step = params.step.checked()?;
        let lambda = ParameterError::non_negative("lambda", params.lambda)?;
        check_stability(step.at(1), input_kernel.self_value(&vec![0.0; input_dimension]), lambda)?;
        let operator = KernelOperator {
            input: Side::Kernels { kernel: input_kernel, points: Points::new(input_dimension) },
            output: Side::Kernels { kernel: output_kernel, points: Points::new(output_dimension) },
            core: StateMatrix::new(),
        };
        Ok(Self { operator, step, lambda, scratch: Default::default() })
    }

    /// The step from `k_X(x)` in `probe`; a refused step changes nothing.
    fn learn(
        &mut self,
        x: &[f64],
        x_plus: &[f64],
        probe: &Probe,
        column: &mut AlignedVec,
    ) -> Result<OperatorStep, Error> {
        let self_value = self.operator.input_kernel().self_value(x);
        if !self_value.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        let eta = self.step.at(self.rounds() + 1);
        check_stability(eta, self_value, self.lambda)?;
        self.operator.core.product(probe.coordinates(), column);
        scale(-eta, column);
        if column.iter().any(|weight| !weight.is_finite()) {
            return Err(ExampleError::Diverged.into());
        }
        column.push(eta);
        self.operator.core.decay(1.0 - self.lambda * eta);
        self.operator.core.grow_row();
        self.operator.core.append_column(column);
        self.operator.input.append(x, probe.coordinates(), 0.0);
        self.operator.output.append(x_plus, probe.coordinates(), 0.0);
        let verdict = Verdict::Admit { input: true, output: true };
        Ok(OperatorStep { verdict, eta, budget: 0.0, error: None, loss: None })
    }
}

impl<K: Kernel + Validate, L: Kernel + Validate> Validate for DenseSogd<K, L> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.operator.validate()?;
        self.step.validate()?;
        Inconsistent::non_negative(self.lambda, "regulariser")?;
        let plain = !self.operator.input.is_orthonormal() && !self.operator.output.is_orthonormal();
        let square = self.operator.inputs().len() == self.operator.outputs().len();
        Inconsistent::require(plain && square, "operator learner", "it keeps every pair as it is")
    }
}

impl<K: Kernel, L: Kernel> OperatorLearner<K, L> for DenseSogd<K, L> {
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error> {
        check_input(x, self.operator.input_dimension())?;
        check_input(x_plus, self.operator.output_dimension())?;
        // The memory is taken out while in use.
        let (mut probe, mut column) = std::mem::take(&mut self.scratch);
        self.operator.input.probe(x, &mut probe);
        let learnt = self.learn(x, x_plus, &probe, &mut column);
        self.scratch = (probe, column);
        learnt
    }

    fn learn_block(&mut self, xs: &[f64], xs_plus: &[f64], steps: &mut Vec<OperatorStep>) -> Result<(), Error> {
        let (d, d_plus) = (self.operator.input_dimension(), self.operator.output_dimension());
        check_pairs(xs, d, xs_plus, d_plus)?;
        for (x, x_plus) in xs.chunks_exact(d.max(1)).zip(xs_plus.chunks_exact(d_plus.max(1))) {
            steps.push(self.update(x, x_plus)?);
        }
        Ok(())
    }

    fn operator(&self) -> &KernelOperator<K, L> {
        &self.operator
    }

    fn rounds(&self) -> u64 {
        self.operator.inputs().len() as u64
    }
}
