//! KONS: the kernelised online Newton step (\[A\] Algorithm 2; Calandriello, Lazaric and Valko 2017b).
//!
//! `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection on `|f(x_{t+1})| ≤ C` in
//! the norm of `A_t`. Run in the dual on a bordered Cholesky factor: `td + ½t²` multiply-adds a round and `½t²` numbers:
//! **memory grows with the square of the stream's length**. [`NonsAld`](crate::NonsAld) is its approximation.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::regression::dual_newton::{Curvature, DualNewton};
use crate::{Error, ParameterError};

/// Parameters of [`Kons`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KonsParams {
    /// Regulariser `μ > 0`, `A_0 = μI`.
    pub mu: f64,
    /// Curvature `η > 0`; `1/(4(U² + Y²))` for predictions and targets within `U` and `Y`.
    pub eta: f64,
    /// Bound `C > 0` on the predictions; `None` does not project.
    pub clip: Option<f64>,
}

impl Default for KonsParams {
    fn default() -> Self {
        Self { mu: 1.0, eta: 0.125, clip: None }
    }
}

/// Every round enters the curvature.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EveryRound;

impl Validate for EveryRound {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl Curvature for EveryRound {
    fn enters(&self, _: f64) -> bool {
        true
    }
    fn next(&mut self) {}
}

/// The kernelised online Newton step.
pub type Kons<K> = DualNewton<K, EveryRound>;

impl<K: Kernel> Kons<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KonsParams) -> Result<Self, Error> {
        let KonsParams { mu, eta, clip } = params;
        let clip = clip.map(|c| ParameterError::positive("clip", c)).transpose()?;
        Ok(Self::from_parts(
            kernel,
            dimension,
            EveryRound,
            ParameterError::positive("mu", mu)?,
            ParameterError::positive("eta", eta)?,
            clip,
        ))
    }
}
