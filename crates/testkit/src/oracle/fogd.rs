//! FOGD, literally: gradient descent on random Fourier features (Lu et al. 2016).
//!
//! `φ(x) = [cos Wx; sin Wx]/√D` with the D rows of W drawn from `N(0, I/σ²)`; `ŷ = wᵀφ(x)`,
//! `w ← w − η g φ`. No projection.

use super::{Example, Trace};

/// FOGD with the frequencies given, one vector a feature. It keeps no points.
pub fn fogd(stream: &[Example], frequencies: &[Vec<f64>], step: f64) -> Trace {
    let mut trace = Trace::default();
    let mut w = vec![0.0; 2 * frequencies.len()];
    for (x, y) in stream {
        let phi = fourier_features(frequencies, x);
        let prediction: f64 = w.iter().zip(&phi).map(|(w, p)| w * p).sum();
        trace.predictions.push(prediction);
        let g = 2.0 * (prediction - y);
        for (w, p) in w.iter_mut().zip(&phi) {
            *w -= step * g * p;
        }
    }
    trace
}

/// `[cos Wx; sin Wx]/√D`, all cosines first.
pub fn fourier_features(frequencies: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let scale = 1.0 / (frequencies.len() as f64).sqrt();
    let angle = |frequency: &Vec<f64>| -> f64 { frequency.iter().zip(x).map(|(w, v)| w * v).sum() };
    let cosines = frequencies.iter().map(|w| angle(w).cos() * scale);
    let sines = frequencies.iter().map(|w| angle(w).sin() * scale);
    cosines.chain(sines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams;

    /// One frequency 1, σ irrelevant: k̂(x,z) = cos(x − z). Round 1 at 0 with y = 1: g = −2, w =
    /// 2η[1; 0]. Round 2 at 1: ŷ = 2η cos 1.
    #[test]
    fn two_rounds_by_hand() {
        let trace = fogd(&[(vec![0.0], 1.0), (vec![1.0], 0.0)], &[vec![1.0]], 0.25);
        assert_eq!(trace.predictions[0], 0.0);
        assert!((trace.predictions[1] - 0.5 * 1.0_f64.cos()).abs() < 1e-16);
    }

    #[test]
    fn many_features_approach_the_gaussian_kernel() {
        let frequencies = streams::frequencies(3, 20_000, 2, 0.8);
        let (x, z) = ([0.1, -0.4], [0.5, 0.2]);
        let inner: f64 =
            fourier_features(&frequencies, &x).iter().zip(fourier_features(&frequencies, &z)).map(|(a, b)| a * b).sum();
        let exact = crate::oracle::gaussian(0.8)(&x, &z);
        assert!((inner - exact).abs() < 0.02, "{inner} against {exact}"); // standard error below 0.005
    }
}
