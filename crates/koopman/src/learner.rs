//! The face of the operator learners.

use mercer_core::ExampleError;
use mercer_kernels::Kernel;
use mercer_sparsify::Verdict;

use crate::Error;
use crate::KernelOperator;

/// Outcome of one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperatorStep {
    /// Verdict on the pair: it joined the dictionaries, or the reason why not.
    pub verdict: Verdict,
    /// The step size `η_t`.
    pub eta: f64,
    /// The budget `ε_t`.
    pub budget: f64,
    /// `e`, the Hilbert–Schmidt norm of what discarding the pair costs or would have cost; `None`
    /// where it is not computed.
    pub error: Option<f64>,
    /// `‖k_Y(x⁺, ·) − U k_X(x, ·)‖²` before the step, the prequential loss; `None` where it does
    /// not come for nothing.
    pub loss: Option<f64>,
}

/// A learner of an operator from a stream of pairs `(x, x⁺)`. The trait is object-safe, and a box
/// of a learner is one.
pub trait OperatorLearner<K: Kernel, L: Kernel>: Send + Sync {
    /// Learns one pair.
    ///
    /// # Errors
    /// When `x` or `x⁺` has another dimension or a coordinate that is not finite, a kernel
    /// overflows, the step is unstable (`η_t(k(x,x) + λ) ≥ 2`) or its outcome is not finite. The
    /// learner is then as it was.
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error>;

    /// Learns the rows of a block in order: `xs` and `xs_plus` are row-major, one row a pair. The
    /// same as [`update`](Self::update) one by one.
    ///
    /// # Errors
    /// When the two tables have not as many rows, and the first refused pair's; the pairs before it
    /// are learnt, and `steps` tells how many they are.
    fn learn_block(&mut self, xs: &[f64], xs_plus: &[f64], steps: &mut Vec<OperatorStep>) -> Result<(), Error>;

    /// The operator learnt so far. Cloning it keeps a snapshot.
    fn operator(&self) -> &KernelOperator<K, L>;

    /// Pairs learnt so far.
    fn rounds(&self) -> u64;
}

impl<K: Kernel, L: Kernel, O: OperatorLearner<K, L> + ?Sized> OperatorLearner<K, L> for Box<O> {
    fn update(&mut self, x: &[f64], x_plus: &[f64]) -> Result<OperatorStep, Error> {
        (**self).update(x, x_plus)
    }
    fn learn_block(&mut self, xs: &[f64], xs_plus: &[f64], steps: &mut Vec<OperatorStep>) -> Result<(), Error> {
        (**self).learn_block(xs, xs_plus, steps)
    }
    fn operator(&self) -> &KernelOperator<K, L> {
        (**self).operator()
    }
    fn rounds(&self) -> u64 {
        (**self).rounds()
    }
}

/// The number of rows of two tables, if it is the same.
pub(crate) fn check_pairs(xs: &[f64], d: usize, xs_plus: &[f64], d_plus: usize) -> Result<usize, Error> {
    let rows = xs_plus.len() / d_plus.max(1);
    if xs_plus.len() != rows * d_plus {
        return Err(ExampleError::Block { inputs: xs_plus.len(), rows, dimension: d_plus }.into());
    }
    if xs.len() == rows * d {
        Ok(rows)
    } else {
        Err(ExampleError::Block { inputs: xs.len(), rows, dimension: d }.into())
    }
}
