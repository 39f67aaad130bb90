//! KAP (Richard, Bermudez and Honeine 2009): admission as for KNLMS, then
//! `α ← α + ηHᵀ(εI + HHᵀ)⁻¹Ω(y − Hα)` over the last `p` examples, this one included.

use nalgebra::{DMatrix, DVector};

use super::dense::solve;
use super::filter::pass;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`kap`].
#[derive(Clone, Copy, Debug)]
pub struct KapParams {
    /// Step size `η`.
    pub eta: f64,
    /// Coherence threshold `μ₀`.
    pub mu0: f64,
    /// `ε`
    pub eps: f64,
    /// Examples in the window, `p`.
    pub order: usize,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// KAP by its definition.
pub fn kap(stream: &[WeightedExample], kernel: KernelFn, params: KapParams) -> Trace {
    let mut seen: Vec<&WeightedExample> = Vec::new();
    pass(stream, kernel, |filter, t, example| {
        seen.push(example);
        if filter.points.len() < params.max_dictionary && filter.is_incoherent(&example.x, params.mu0) {
            filter.join(t, 0.0);
        }
        let window = &seen[seen.len().saturating_sub(params.order)..];
        let h = DMatrix::from_fn(window.len(), filter.points.len(), |j, i| kernel(filter.point(i), &window[j].x));
        let e = DVector::from_iterator(
            window.len(),
            window.iter().map(|sample| sample.weight * (sample.y[0] - filter.f(&sample.x))),
        );
        let matrix = &h * h.transpose() + params.eps * DMatrix::identity(window.len(), window.len());
        let step = params.eta * h.transpose() * solve(&matrix, &e);
        filter.alpha.iter_mut().zip(step.iter()).for_each(|(alpha, step)| *alpha += step);
    })
}
