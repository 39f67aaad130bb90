//! KONS: the kernelised online Newton step (\[A\] Algorithm 2; Calandriello, Lazaric and Valko
//! 2017b).
//!
//! `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection
//! on `|f(x_{t+1})| ≤ C` in the norm of `A_t`. Run in the dual on a bordered Cholesky factor:
//! `td + ½t²` multiply-adds a round and `½t²` numbers: **memory grows with the square of the
//! stream's length**. [`NonsAld`](crate::NonsAld) is its approximation.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};

use crate::Error;
use crate::engines::dual_newton::{Curvature, DualNewton};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::newton::NewtonSteps;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Kons`].
    #[derive(Copy)]
    pub struct KonsParams {
        /// regulariser: the curvature starts at μI
        mu: f64 = 1.0 => "μ" POSITIVE.search(0.01, 100.0),
        /// curvature: 1/(4(U² + Y²)) for predictions within U and targets within Y
        eta: f64 = 0.125 => "η" POSITIVE.search(0.01, 10.0),
        /// bound on the predictions
        clip: Option<f64> = None => "C" POSITIVE.none("predictions are not bounded"),
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared or logistic",
        /// length of steps: short ones never pass their own target, printed ones are the papers'
        steps: NewtonSteps = NewtonSteps::Short => "" "short or printed",
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
        params.check()?;
        let KonsParams { mu, eta, clip, loss, steps } = params;
        Self::from_parts(kernel, dimension, EveryRound, loss, [mu, eta], clip, steps)
    }
}

#[doc(hidden)]
pub const KONS: Learner<Kons<AnyKernel>> = Entry {
    name: "kons",
    summary: "kernelised online Newton step; every example is kept",
    keys: KonsParams::KEYS,
    time: cost!(1.0 t d, 0.5 t t),
    memory: cost!(1.0 t d, 0.5 t t),
    growth: Some("every example is kept, and memory and time grow with the square of their number"),
    source: "Calandriello et al. 2017b; Li and Liao, Algorithm 2",
    bound: Some("clip"),
    remedy: Some("raise mu"),
    takes: Takes::DUAL_NEWTON,
    advice: "yardstick of second order; some thousand rows",
    start: "`mu=1`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Kons::new(kernel, context.dimension, values.parameters(context)?)?));
