//! KNLMS (Richard, Bermudez and Honeine 2009), over plain vectors.
//!
//! The first point is kept with `α = 0`. Then `c = max |k_i|/√(k(x,x) k(d_i,d_i))`, and `c ≤ μ₀`
//! keeps `x` with `α = 0`. In every round, the first included, `α += ηe k/(ε + kᵀk)` over the
//! dictionary that has perhaps grown, with the error `e` made before.

use super::{Example, KernelFn, Trace};

/// Parameters of [`knlms`].
#[derive(Clone, Copy, Debug)]
pub struct KnlmsParams {
    /// Step size `η`.
    pub eta: f64,
    /// Coherence threshold `μ₀`.
    pub mu0: f64,
    /// `ε`
    pub eps: f64,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// KNLMS by its definition.
pub fn knlms(stream: &[Example], kernel: KernelFn, params: KnlmsParams) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<&[f64]> = Vec::new();
    let mut alpha: Vec<f64> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let mut k: Vec<f64> = points.iter().map(|d| kernel(d, x)).collect();
        let prediction: f64 = alpha.iter().zip(&k).map(|(a, k)| a * k).sum();
        trace.predictions.push(prediction);
        let e = y - prediction;
        let coherence = |(k, d): (&f64, &&[f64])| k.abs() / (kernel(x, x) * kernel(d, d)).sqrt();
        let c = k.iter().zip(&points).map(coherence).fold(0.0, f64::max);
        if points.len() < params.max_dictionary && c <= params.mu0 {
            points.push(x);
            alpha.push(0.0);
            k.push(kernel(x, x));
            trace.dictionary.push(t);
        }
        let squared: f64 = k.iter().map(|k| k * k).sum();
        for (a, k) in alpha.iter_mut().zip(&k) {
            *a += params.eta * e * k / (params.eps + squared);
        }
    }
    trace
}
