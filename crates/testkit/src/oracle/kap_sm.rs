//! KAP-SM (Slavakis, Theodoridis and Yamada 2008): over the last `q ≤ Q` examples, this one
//! included, `β_j = ω_j L_j g_j/(q(g_j² k(x_j, x_j) + 2.2e−16))` with the errors under the current
//! `f`; `x` joins with 0, the last `q` coefficients lose `μβ`, beyond `M` the oldest leaves.

use super::filter::pass;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`kap_sm`].
#[derive(Clone, Copy, Debug)]
pub struct KapSmParams {
    /// Step size `μ`.
    pub mu: f64,
    /// Width `s` of the Huber loss, `None` for the squared loss.
    pub huber: Option<f64>,
    /// Examples in the window, `Q`.
    pub window: usize,
    /// Largest dictionary `M`.
    pub max_dictionary: usize,
}

/// KAP-SM by its definition.
pub fn kap_sm(stream: &[WeightedExample], kernel: KernelFn, params: KapSmParams) -> Trace {
    let mut seen: Vec<&WeightedExample> = Vec::new();
    pass(stream, kernel, |filter, t, example| {
        seen.push(example);
        let window = &seen[seen.len().saturating_sub(params.window)..];
        let q = window.len();
        let beta = |sample: &&WeightedExample| {
            let e = sample.y[0] - filter.f(&sample.x);
            let (loss, slope) = match params.huber {
                None => (e * e, -2.0 * e),
                Some(s) if e.abs() <= s => (e * e / (2.0 * s), -e / s),
                Some(s) => (e.abs() - s / 2.0, -e.signum()),
            };
            let own = kernel(&sample.x, &sample.x);
            // A projection of all of the error, at most.
            let weight = sample.weight.min((1.0 / params.mu).max(1.0));
            weight * loss * slope / (q as f64 * (slope * slope * own + 2.220446049250313e-16))
        };
        let betas: Vec<f64> = window.iter().map(beta).collect();
        filter.join(t, 0.0);
        let first = filter.alpha.len() - q;
        filter.alpha[first..].iter_mut().zip(&betas).for_each(|(alpha, beta)| *alpha -= params.mu * beta);
        if filter.points.len() > params.max_dictionary {
            filter.drop(0);
        }
    })
}
