//! QKLMS-FB (Zhao, Chen, Zhu and Principe 2013), for a Gaussian of width `σ`: QKLMS with
//! significance `E` and influence `L`, `c = πσ²/2`.
//!
//! A merge into `j`, `s = ηωe`: `E_i ← βE_i + c|α_i|k(d_i, d_j)` for `i ≠ j`,
//! `E_j ← |α_j + s|(βE_j/|α_j| + c)`, for `α_j = 0` just `c|α_j + s|`, with the `α_j` from before;
//! `L ← βL`, `L_j += 1`. Joining: `E ← β[E; 0] + c|s|k(·, x)`, `L ← [βL; 1]`. In a full dictionary
//! `l = argmin E` leaves first, `E −= L_l c|α|k(·, d_l)`, and `e` is computed again.

use super::filter::pass;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`qklms_fb`].
#[derive(Clone, Copy, Debug)]
pub struct QklmsFbParams {
    /// Step size `η`.
    pub eta: f64,
    /// Radius `ε`.
    pub epsilon: f64,
    /// Forgetting factor `β`.
    pub beta: f64,
    /// Largest dictionary.
    pub max_dictionary: usize,
    /// Width of the Gaussian.
    pub sigma: f64,
}

/// QKLMS-FB by its definition.
pub fn qklms_fb(stream: &[WeightedExample], kernel: KernelFn, params: QklmsFbParams) -> Trace {
    let QklmsFbParams { eta, epsilon, beta, max_dictionary, sigma } = params;
    let c = std::f64::consts::PI * sigma * sigma / 2.0;
    let (mut significance, mut influence): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    pass(stream, kernel, |filter, t, example| {
        let x = &example.x;
        let rate = eta * example.weight;
        let mut nearest = None;
        for i in 0..filter.points.len() {
            let square: f64 = filter.point(i).iter().zip(x).map(|(d, x)| (d - x) * (d - x)).sum();
            if nearest.is_none_or(|(_, least)| square.sqrt() < least) {
                nearest = Some((i, square.sqrt()));
            }
        }
        if let Some((j, _)) = nearest.filter(|(_, distance)| *distance <= epsilon) {
            let s = rate * (example.y[0] - filter.f(x));
            let old = filter.alpha.clone();
            for i in 0..old.len() {
                significance[i] = if i != j {
                    beta * significance[i] + c * old[i].abs() * kernel(filter.point(i), filter.point(j))
                } else if old[j] == 0.0 {
                    c * (old[j] + s).abs()
                } else {
                    (old[j] + s).abs() * (beta * significance[j] / old[j].abs() + c)
                };
                influence[i] *= beta;
            }
            influence[j] += 1.0;
            filter.alpha[j] += s;
            return;
        }
        if filter.points.len() >= max_dictionary {
            let mut l = 0;
            for i in 1..significance.len() {
                if significance[i] < significance[l] {
                    l = i;
                }
            }
            for i in 0..significance.len() {
                let k = kernel(filter.point(i), filter.point(l));
                significance[i] -= influence[l] * c * filter.alpha[i].abs() * k;
            }
            significance.remove(l);
            influence.remove(l);
            filter.drop(l);
        }
        let s = rate * (example.y[0] - filter.f(x));
        filter.join(t, s);
        significance.push(0.0);
        for (value, k) in significance.iter_mut().zip(filter.k(x)) {
            *value = beta * *value + c * s.abs() * k;
        }
        influence.iter_mut().for_each(|influence| *influence *= beta);
        influence.push(1.0);
    })
}
