//! Projectron and Projectron++ (Orabona et al. 2009), in kernel coefficients with dense solves.
//!
//! `f(x) = Σ α_i k(d_i, x)`, `K` the Gram matrix of the kept points, `k` the vector `k(d_i, x)`,
//! `d = K⁻¹k`, `P = kᵀd`, `δ² = max(κ − P, 0)` with `κ = k(x, x)`. A mistake, `y f ≤ 0`, keeps `x`
//! with `ωy` if `√δ² > η` and the dictionary has room, otherwise `α += ωy d`. Projectron++: also
//! where `0 < y f < 1`, with `ℓ = 1 − y f` and `r = ℓ − √δ²/η > 0`, `α += ωyτ d`,
//! `τ = min(ℓ/P, 2r/P, 1)`.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::dense::gram;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`projectron`].
#[derive(Clone, Copy, Debug)]
pub struct ProjectronParams {
    /// `η`
    pub eta: f64,
    /// Largest dictionary.
    pub max_dictionary: usize,
    /// True if margins below 1 are learnt: Projectron++.
    pub margins: bool,
}

/// Projectron or Projectron++ by its definition.
pub fn projectron(stream: &[WeightedExample], kernel: KernelFn, params: ProjectronParams) -> Trace {
    let ProjectronParams { eta, max_dictionary, margins } = params;
    let inputs: Vec<Vec<f64>> = stream.iter().map(|example| example.x.clone()).collect();
    let values = gram(&inputs, kernel);
    let mut trace = Trace::default();
    let mut alpha: Vec<f64> = Vec::new();
    // Of the Gram matrix of the kept points.
    let mut factor: Option<Cholesky<f64, Dyn>> = None;
    for (t, WeightedExample { y, weight, .. }) in stream.iter().enumerate() {
        let (y, points) = (y[0], &trace.dictionary);
        let k = DVector::from_iterator(points.len(), points.iter().map(|i| values[(*i, t)]));
        let f: f64 = alpha.iter().zip(k.iter()).map(|(a, k)| a * k).sum();
        trace.predictions.push(f);
        let (mistake, loss) = (y * f <= 0.0, 1.0 - y * f);
        if *weight == 0.0 || !(mistake || margins && loss > 0.0) {
            continue;
        }
        let d = factor.as_ref().map_or_else(|| DVector::zeros(0), |factor| factor.solve(&k));
        let p = k.dot(&d);
        let distance = (values[(t, t)] - p).max(0.0).sqrt();
        if mistake && distance > eta && points.len() < max_dictionary {
            let own = values[(t, t)];
            factor = match &factor {
                None => DMatrix::from_element(1, 1, own).cholesky(),
                Some(factor) => Some(factor.insert_column(points.len(), k.push(own))),
            };
            trace.dictionary.push(t);
            alpha.push(weight * y);
            continue;
        }
        let rest = loss - distance / eta;
        let tau = match mistake {
            true => 1.0,
            false if rest > 0.0 => (loss / p).min(2.0 * rest / p).min(1.0),
            false => 0.0,
        };
        alpha.iter_mut().zip(d.iter()).for_each(|(a, d)| *a += weight * y * tau * d);
    }
    trace
}
