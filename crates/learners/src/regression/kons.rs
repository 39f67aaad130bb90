//! KONS: the kernelised online Newton step (\[A\] Algorithm 2; Calandriello, Lazaric and Valko 2017b).
//!
//! `A_t = A_{t−1} + η g² k_x k_xᵀ`, `A_0 = μI`, `f ← f − A_t⁻¹ g k_x`, with an optional projection on `|f(x_{t+1})| ≤ C` in
//! the norm of `A_t`. Run in the dual on a bordered Cholesky factor: `td + ½t²` multiply-adds a round and `½t²` numbers:
//! **memory grows with the square of the stream's length**. [`NonsAld`](crate::NonsAld) is its approximation.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::Kernel;

use crate::Error;
use crate::catalogue::{Entry, Takes, keys};
use crate::every_point::{Curvature, DualNewton};
use crate::loss::Loss;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Kons`].
    #[derive(Copy)]
    pub struct KonsParams {
        /// Regulariser `μ > 0`, `A_0 = μI`.
        mu: f64 = 1.0,
        /// Curvature `η > 0`; `1/(4(U² + Y²))` for predictions and targets within `U` and `Y`, `½e^{−U}` for the logistic loss.
        eta: f64 = 0.125,
        /// Bound `C > 0` on the predictions; `None` does not project.
        clip: Option<f64> = None,
        /// What is minimised: squared or logistic.
        loss: Loss = Loss::SQUARED,
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
        let KonsParams { mu, eta, clip, loss } = params;
        Self::from_parts(kernel, dimension, EveryRound, loss, [mu, eta], clip)
    }
}

pub(crate) const KONS: Entry = Entry {
    name: "kons",
    summary: "kernelised online Newton step; every example is kept",
    keys: &[
        keys::mu(|| KonsParams::default().mu.into()),
        keys::eta(|| KonsParams::default().eta.into()),
        keys::number("clip", "C", || KonsParams::default().clip.into(), keys::POSITIVE, "bound on the predictions")
            .or_none("predictions are not bounded", "a number > 0, or none"),
        keys::loss(|| KonsParams::default().loss.into(), "squared or logistic"),
    ],
    time: cost!(1.0 t d, 0.5 t t),
    memory: cost!(1.0 t d, 0.5 t t),
    growth: Some("every example is kept, and memory and time grow with the square of their number"),
    source: "Calandriello et al. 2017b; Li and Liao, Algorithm 2",
    bound: Some("clip"),
    remedy: Some("raise mu"),
    takes: Takes::DUAL_NEWTON,
    advice: "yardstick of second order; some thousand rows",
    start: "`mu=1`",
    search: &[keys::search("mu", 0.01, 100.0), keys::search("eta", 0.01, 10.0)],
    make: |kernel, context, values| {
        let params = KonsParams::default()
            .mu(values.number("mu")?)
            .eta(values.number("eta")?)
            .clip(values.optional_number("clip")?)
            .loss(values.named("loss")?);
        Ok(Kons::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
