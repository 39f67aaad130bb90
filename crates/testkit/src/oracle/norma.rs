//! NORMA (Kivinen, Smola and Williamson 2004): `α ← (1 − λη) α`, `x` joins with `−ηωℓ′` of the `f`
//! that has not leaked, beyond `τ` the oldest leaves. The squared loss is `½(z − y)²` here. With
//! `leak_first` the derivative is that of the `f` that has leaked; with `decreasing`, `η` of round
//! `t = 1, 2, …` is `η/√min(t, τ)`.

use super::filter::{pass, rate};
use super::{KernelFn, Trace, WeightedExample, loss_gradient};

/// Parameters of [`norma`].
#[derive(Clone, Copy, Debug)]
pub struct NormaParams {
    /// Step size `η`.
    pub eta: f64,
    /// Regulariser `λ`.
    pub lambda: f64,
    /// Points kept.
    pub tau: usize,
    /// Name of the loss.
    pub loss: &'static str,
    /// True if the derivative is taken after the leak.
    pub leak_first: bool,
    /// True if the step size falls with the root of the rounds.
    pub decreasing: bool,
}

/// NORMA by its definition. Predictions are those of `f`, also where the loss has another unit for
/// them.
pub fn norma(stream: &[WeightedExample], kernel: KernelFn, params: NormaParams) -> Trace {
    let mut round = 0.0f64;
    pass(stream, kernel, |filter, t, example| {
        round += 1.0;
        let eta = if params.decreasing { params.eta / round.min(params.tau as f64).sqrt() } else { params.eta };
        let before = filter.f(&example.x);
        filter.alpha.iter_mut().for_each(|alpha| *alpha *= 1.0 - params.lambda * eta);
        let z = if params.leak_first { filter.f(&example.x) } else { before };
        let half = if params.loss == "squared" { 0.5 } else { 1.0 };
        let slope = half * loss_gradient(params.loss, &[z], &example.y)[0];
        let own = kernel(&example.x, &example.x);
        let squared = params.loss == "squared";
        let step = if squared { rate(eta, own, example.weight) } else { eta * example.weight };
        filter.join(t, -step * slope);
        if filter.points.len() > params.tau {
            filter.drop(0);
        }
    })
}
