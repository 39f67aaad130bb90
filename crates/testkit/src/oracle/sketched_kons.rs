//! Sketched-KONS, literally: KONS whose matrix A is updated on a toss of a coin (Calandriello et
//! al. 2017b).
//!
//! `z_t ~ Bernoulli(max(γ, min(β τ̃_t, 1)))`, `A_t = A_{t-1} + z_t η g_t² φ_tφ_tᵀ` without
//! reweighting, `f_{t+1} = f_t − A_t⁻¹ g_t φ_t`. This is our reading of the method from its use in
//! the later papers.
//!
//! The score `τ̃` is the leverage of `a = h φ_t`, `h = √η g_t`, against the sketch before round t.
//! With A that sketch, which contains the regulariser μ, and `q = aᵀA⁻¹a`, Sherman–Morrison gives
//!
//! `τ̃ = aᵀ(A + aaᵀ)⁻¹a = q − q²/(1 + q) = q/(1 + q)`.
//!
//! By Lemma D.1, `q = (h²/μ) r` with `r = k(x_t,x_t) − k̂ᵀ(K̂ + μI)⁻¹k̂`, where `K̂` and `k̂` are
//! over the points of the sketch, each scaled by its own h (and `k̂` not by the h of round t).
//! Hence `τ̃ = h²r/(μ + h²r)`.
//!
//! The gradient of every round enters f, so all points are kept; only the solves are as small as
//! the sketch.

use super::kogd::expansion;
use super::kons::{inverse_applied, subtract};
use super::{Example, KernelFn, Trace};

/// Parameters of [`sketched_kons`].
#[derive(Clone, Copy, Debug)]
pub struct SketchedKonsParams {
    /// Regulariser μ > 0.
    pub mu: f64,
    /// Step η > 0.
    pub eta: f64,
    /// Least probability γ in [0, 1].
    pub gamma: f64,
    /// Weight β ≥ 0 of the leverage score.
    pub beta: f64,
}

/// Sketched-KONS with dense inverses. Round t (from 0) uses `uniforms[t]`, and its coin shows
/// `z = 1` if `u < p`.
///
/// [`Trace::dictionary`] holds the rounds that entered the sketch.
///
/// # Panics
/// If there are fewer uniforms than rounds.
pub fn sketched_kons(stream: &[Example], kernel: KernelFn, params: SketchedKonsParams, uniforms: &[f64]) -> Trace {
    let SketchedKonsParams { mu, eta, gamma, beta } = params;
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut coefficients: Vec<f64> = Vec::new();
    let mut h: Vec<f64> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let prediction = expansion(&points, &coefficients, x, kernel);
        trace.predictions.push(prediction);
        let g = 2.0 * (prediction - y);

        points.push(x.clone());
        coefficients.push(0.0);
        h.push(0.0); // not in the sketch yet
        let by_the_sketch = inverse_applied(&points, &h, t, kernel, mu);
        let q = eta * g * g * expansion(&points, &by_the_sketch, x, kernel);
        let probability = gamma.max((beta * q / (1.0 + q)).min(1.0));
        if uniforms[t] < probability {
            h[t] = eta.sqrt() * g;
            trace.dictionary.push(t);
        }
        let direction = inverse_applied(&points, &h, t, kernel, mu);
        subtract(&mut coefficients, &direction, g);
    }
    trace
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// One point only, y = 1, μ = 1, η = ½. Round 1: g = −2, q = ½·4 = 2, τ̃ = 2/3.
    ///
    /// With β = 1 and u just below 2/3 the update is taken: A = 3, f = 2/3. With u = 2/3 + ε it is
    /// not: A = 1, f = 2.
    #[test]
    fn the_coin_turns_at_the_leverage_score() {
        let stream = vec![(vec![0.0], 1.0); 2];
        let params = SketchedKonsParams { mu: 1.0, eta: 0.5, gamma: 0.0, beta: 1.0 };
        let heads = sketched_kons(&stream, &gaussian(1.0), params, &[2.0 / 3.0 - 1e-9, 1.0]);
        let tails = sketched_kons(&stream, &gaussian(1.0), params, &[2.0 / 3.0 + 1e-9, 1.0]);
        assert_eq!((heads.dictionary.len(), tails.dictionary.len()), (1, 0));
        assert!((heads.predictions[1] - 2.0 / 3.0).abs() < 1e-15);
        assert!((tails.predictions[1] - 2.0).abs() < 1e-15);
    }
}
