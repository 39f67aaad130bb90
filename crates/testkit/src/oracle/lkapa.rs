//! LKAPA and NLKAPA (Liu and Principe 2008): with the errors `e` of the last `p` examples, this one
//! included, under the current `f`: `α ← (1 − λη) α`, `x` joins if no kept point equals it, and the
//! coefficients of the `p` inputs gain `ηΩe`, or `η(K + εI)⁻¹Ωe`. The first point joins with `ηωy`;
//! when the dictionary is full, inputs that it does not hold teach nothing.

use nalgebra::{DMatrix, DVector};

use super::dense::solve;
use super::filter::pass;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`lkapa`].
#[derive(Clone, Copy, Debug)]
pub struct LkapaParams {
    /// Step size `η`.
    pub eta: f64,
    /// Regulariser `λ`.
    pub lambda: f64,
    /// Examples in the window, `p`.
    pub order: usize,
    /// `ε` of NLKAPA, `None` for LKAPA.
    pub eps: Option<f64>,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// Both by their definition.
pub fn lkapa(stream: &[WeightedExample], kernel: KernelFn, params: LkapaParams) -> Trace {
    let LkapaParams { eta, lambda, order, eps, max_dictionary } = params;
    let mut seen: Vec<&WeightedExample> = Vec::new();
    pass(stream, kernel, |filter, t, example| {
        let same = filter.place(&example.x);
        if same.is_none() && filter.points.len() >= max_dictionary {
            return;
        }
        seen.push(example);
        if filter.points.is_empty() {
            filter.join(t, eta * example.weight * example.y[0]);
            return;
        }
        let window = &seen[seen.len().saturating_sub(order)..];
        let p = window.len();
        // A step of all of the error, at most: the trace bounds what the rows do together.
        let trace = if eps.is_some() { 1.0 } else { window.iter().map(|sample| kernel(&sample.x, &sample.x)).sum() };
        let most = (1.0 / (eta * trace)).max(1.0);
        let errors = window.iter().map(|sample| sample.weight.min(most) * (sample.y[0] - filter.f(&sample.x)));
        let mut e = DVector::from_iterator(p, errors);
        if let Some(eps) = eps {
            let gram = DMatrix::from_fn(p, p, |i, j| kernel(&window[i].x, &window[j].x));
            e = solve(&(gram + eps * DMatrix::identity(p, p)), &e);
        }
        filter.alpha.iter_mut().for_each(|alpha| *alpha *= 1.0 - lambda * eta);
        if same.is_none() {
            filter.join(t, 0.0);
        }
        for (sample, e) in window.iter().zip(e.iter()) {
            if let Some(j) = filter.place(&sample.x) {
                filter.alpha[j] += eta * e;
            }
        }
    })
}
