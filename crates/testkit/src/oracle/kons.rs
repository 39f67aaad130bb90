//! KONS, literally: the kernel online Newton step (Li & Liao 2023, Algorithm 2), functions as
//! coefficient vectors.
//!
//! `A_0 = μI`, `A_t = A_{t-1} + η g_t² φ_tφ_tᵀ`, `f_{t+1} = f_t − A_t⁻¹ g_t φ_t`, with
//! `φ_t = k(x_t,·)`. With `Ψ` the row of the functions `h_s φ_s`, `h_s = √η g_s`, Lemma D.1 gives
//! `A⁻¹ = (I − Ψ(ΨᵀΨ + μI)⁻¹Ψᵀ)/μ`. So `A⁻¹φ_i` is the function whose coefficients over the points
//! so far are
//!
//! `(e_i − D (DKD + μI)⁻¹ D K e_i)/μ`, `D = diag(h)`, and `K̂ = DKD`.
//!
//! With a bound C the function is first projected, in the norm of A, onto `|f(x_t)| ≤ C`:
//! `f ← f − sign(z)(|z| − C) A⁻¹φ_t/⟨φ_t, A⁻¹φ_t⟩` where `z = f(x_t)`, before the prediction of
//! round t.

use nalgebra::{DMatrix, DVector};

use super::dense::gram;
use super::kogd::expansion;
use super::{Example, KernelFn, Trace, clip_to};

/// KONS with a dense inverse of `K̂ + μI` each round; `clip` is C. Every point is kept.
pub fn kons(stream: &[Example], kernel: KernelFn, mu: f64, eta: f64, clip: Option<f64>) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut coefficients: Vec<f64> = Vec::new();
    let mut h: Vec<f64> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let mut prediction = expansion(&points, &coefficients, x, kernel);
        points.push(x.clone());
        coefficients.push(0.0);
        h.push(0.0); // A does not know round t yet
        if let Some(limit) = clip.filter(|limit| prediction.abs() > *limit) {
            let direction = inverse_applied(&points, &h, t, kernel, mu);
            let curvature = expansion(&points, &direction, x, kernel);
            let excess = prediction.signum() * (prediction.abs() - limit);
            subtract(&mut coefficients, &direction, excess / curvature);
            prediction = clip_to(prediction, limit);
        }
        trace.predictions.push(prediction);
        trace.dictionary.push(t);

        let g = 2.0 * (prediction - y);
        h[t] = eta.sqrt() * g;
        let direction = inverse_applied(&points, &h, t, kernel, mu);
        subtract(&mut coefficients, &direction, g);
    }
    trace
}

/// The coefficients of `A⁻¹ k(x_i,·)` for `A = μI + Σ h_s² k(x_s,·)k(x_s,·)ᵀ`; a weight of 0 leaves
/// its point out of A.
pub(super) fn inverse_applied(points: &[Vec<f64>], h: &[f64], i: usize, kernel: KernelFn, mu: f64) -> Vec<f64> {
    let n = points.len();
    let k = gram(points, kernel);
    let d = DMatrix::from_diagonal(&DVector::from_column_slice(h));
    let k_hat = &d * &k * &d;
    let inverse = (k_hat + DMatrix::identity(n, n) * mu).try_inverse().expect("K̂ + μI is positive definite");
    let mut unit = DVector::zeros(n);
    unit[i] = 1.0;
    let correction = &d * (inverse * (&d * k.column(i)));
    ((unit - correction) / mu).iter().copied().collect()
}

/// `f − factor · direction`, in coefficients.
pub(super) fn subtract(coefficients: &mut [f64], direction: &[f64], factor: f64) {
    for (c, v) in coefficients.iter_mut().zip(direction) {
        *c -= factor * v;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;
    use crate::streams;

    /// One point only (κ(x,x) = 1), y = 1, μ = 1, η = ½: A is a number.
    ///
    /// Round 1: ŷ = 0, g = −2, A = 1 + ½·4 = 3, f = 2/3. Round 2: ŷ = 2/3, g = −2/3, A = 3 + 2/9 =
    /// 29/9, f = 2/3 + 6/29.
    #[test]
    fn three_rounds_by_hand() {
        let stream = vec![(vec![0.0], 1.0); 3];
        let trace = kons(&stream, &gaussian(1.0), 1.0, 0.5, None);
        for (got, want) in trace.predictions.iter().zip([0.0, 2.0 / 3.0, 2.0 / 3.0 + 6.0 / 29.0]) {
            assert!((got - want).abs() < 1e-15, "{got} against {want}");
        }
    }

    /// Theorem 4.1 with no approximation: each past step keeps the `A_τ` of its own time,
    /// `f_{t+1}(x) = −(1/μ) Σ_τ g_τ φ_τᵀφ(x) + (1/μ) Σ_τ g_τ φ_τᵀ Φ̂_τ(Φ̂_τᵀΦ̂_τ + μI)⁻¹ Φ̂_τᵀ
    /// φ(x)`.
    #[test]
    fn it_is_theorem_4_1() {
        let (mu, eta) = (0.7, 0.3);
        let kernel = gaussian(0.6);
        let stream = streams::smooth_noisy(11, 25, 2, 0.2);
        let trace = kons(&stream, &kernel, mu, eta, None);
        let mut h: Vec<f64> = Vec::new();
        let mut g: Vec<f64> = Vec::new();
        for (t, (x, y)) in stream.iter().enumerate() {
            let mut f = 0.0;
            for tau in 0..t {
                let n = tau + 1;
                let k_hat = DMatrix::from_fn(n, n, |i, j| h[i] * kernel(&stream[i].0, &stream[j].0) * h[j]);
                let at_tau = DVector::from_fn(n, |i, _| h[i] * kernel(&stream[i].0, &stream[tau].0));
                let at_x = DVector::from_fn(n, |i, _| h[i] * kernel(&stream[i].0, x));
                let inverse = (k_hat + DMatrix::identity(n, n) * mu).try_inverse().unwrap();
                f -= g[tau] / mu * kernel(&stream[tau].0, x);
                f += g[tau] / mu * at_tau.dot(&(inverse * at_x));
            }
            assert!((f - trace.predictions[t]).abs() < 1e-13, "round {t}: {f} against {}", trace.predictions[t]);
            g.push(2.0 * (f - y));
            h.push(eta.sqrt() * g[t]);
        }
    }
}
