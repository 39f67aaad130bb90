//! KLMS-CSL1 and KLMS-CSAL1 (Gao et al. 2013): admission as for KNLMS, `α ← α + ηωek`, a soft
//! threshold `λ` (CSAL1: `λ/|α + ε|` with the `α` from before, `λ` for the new point), and points
//! of coefficient 0 leave. An emptied dictionary starts again.

use super::filter::{pass, rate};
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`klms_csl1`].
#[derive(Clone, Copy, Debug)]
pub struct KlmsCsl1Params {
    /// Step size `η`.
    pub eta: f64,
    /// Coherence threshold `μ₀`.
    pub mu0: f64,
    /// Threshold `λ`.
    pub lambda: f64,
    /// `ε` of CSAL1, `None` for CSL1.
    pub eps_alpha: Option<f64>,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// Both by their definition.
pub fn klms_csl1(stream: &[WeightedExample], kernel: KernelFn, params: KlmsCsl1Params) -> Trace {
    pass(stream, kernel, |filter, t, example| {
        let error = example.y[0] - filter.f(&example.x);
        let weight = |alpha: &f64| params.eps_alpha.map_or(1.0, |eps| 1.0 / (alpha + eps).abs());
        let mut weights: Vec<f64> = filter.alpha.iter().map(weight).collect();
        if filter.points.len() < params.max_dictionary && filter.is_incoherent(&example.x, params.mu0) {
            filter.join(t, 0.0);
            weights.push(1.0);
        }
        let k = filter.k(&example.x);
        let step = rate(params.eta, k.iter().map(|k| k * k).sum(), example.weight) * error;
        for i in 0..k.len() {
            let moved = filter.alpha[i] + step * k[i];
            filter.alpha[i] = moved.signum() * (moved.abs() - params.lambda * weights[i]).max(0.0);
        }
        for i in (0..k.len()).rev() {
            if filter.alpha[i] == 0.0 {
                filter.drop(i);
            }
        }
    })
}
