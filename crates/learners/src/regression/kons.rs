//! KONS: the kernelised online Newton step ([A] Algorithm 2; Calandriello, Lazaric and Valko 2017b).
//!
//! `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection on `|f(x_{t+1})| ≤ C` in
//! the norm of `A_t`. Run in the dual on a bordered Cholesky factor: `td + ½t²` multiply-adds a round and `½t²` numbers:
//! **memory grows with the square of the stream's length**. [`NonsAld`](crate::NonsAld) is its approximation.

use mercer_kernels::Kernel;

use crate::error::positive;
use crate::regression::dual_newton::{DualNewton, DualProbe};
use crate::regressor::{check_example, check_input};
use crate::{Error, Regressor, Scratch};

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

/// The kernelised online Newton step.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kons<K> {
    engine: DualNewton<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    probe: DualProbe,
}

impl<K: Kernel> Kons<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KonsParams) -> Result<Self, Error> {
        let KonsParams { mu, eta, clip } = params;
        let clip = clip.map(|c| positive("clip", c)).transpose()?;
        let engine = DualNewton::new(kernel, dimension, positive("mu", mu)?, positive("eta", eta)?, clip);
        Ok(Self { engine, probe: DualProbe::default() })
    }
}

impl<K: Kernel> Regressor for Kons<K> {
    fn dimension(&self) -> usize {
        self.engine.dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.engine.points()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        self.engine.probe(x, &mut scratch.dual)?;
        Ok(self.engine.prediction(&scratch.dual))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        self.engine.probe(x, &mut self.probe)?;
        let prediction = self.engine.prediction(&self.probe);
        self.engine.step(x, &mut self.probe, y, true)?;
        Ok(prediction)
    }
}
