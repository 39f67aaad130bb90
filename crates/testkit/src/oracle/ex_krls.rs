//! EX-KRLS as published (Liu, Park, Wang and Príncipe 2009): the recursion with an explicit `Q`.
//!
//! Round 1: `α = a y/(λβ/ω + κ)`, `ρ = λ/(a² + βqλ)`, `Q = a²/((βλ/ω + κ)(a² + βλq))`. Round `i`:
//! `z = Qk`, `r = βⁱρ/ω + κ − kᵀz`, `α ← a[α − ze/r; e/r]`, `d = a² + βⁱqρ`, `ρ ← ρ/d`,
//! `Q ← a²/(rd) [Qr + zzᵀ, −z; −zᵀ, 1]` with `ρ` from before. An input that equals kept point `j`
//! would repeat its coefficient and its row of `Q`: they are added to those that there are. When
//! the dictionary is full other inputs teach nothing, but `i` counts on.

use nalgebra::{DMatrix, DVector};

use super::dense::kernel_vector;
use super::{KernelFn, Trace, WeightedExample};

/// Parameters of [`ex_krls`].
#[derive(Clone, Copy, Debug)]
pub struct ExKrlsParams {
    /// State transition `a`.
    pub alpha: f64,
    /// Forgetting `β`.
    pub beta: f64,
    /// Regulariser `λ`.
    pub lambda: f64,
    /// State noise `q`.
    pub q: f64,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// EX-KRLS by the recursion of its paper.
pub fn ex_krls(stream: &[WeightedExample], kernel: KernelFn, params: ExKrlsParams) -> Trace {
    let ExKrlsParams { alpha: a, beta, lambda, q: noise, max_dictionary } = params;
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let (mut alpha, mut q, mut rho) = (DVector::<f64>::zeros(0), DMatrix::<f64>::zeros(0, 0), 0.0);
    let mut i = 0;
    for (t, WeightedExample { x, y, weight }) in stream.iter().enumerate() {
        let k = kernel_vector(&points, x, kernel);
        let prediction = if points.is_empty() { 0.0 } else { k.dot(&alpha) };
        trace.predictions.push(prediction);
        if *weight == 0.0 {
            continue;
        }
        i += 1;
        let n = points.len();
        let same = points.iter().position(|point| point == x);
        if n == max_dictionary && same.is_none() {
            continue;
        }
        let own = kernel(x, x);
        if n == 0 {
            let first = lambda * beta / weight + own;
            alpha = DVector::from_element(1, a * y[0] / first);
            rho = lambda / (a * a + beta * noise * lambda);
            q = DMatrix::from_element(1, 1, a * a / (first * (a * a + beta * lambda * noise)));
        } else {
            let (discount, e, z) = (beta.powi(i), y[0] - prediction, &q * &k);
            let r = discount * rho / weight + own - k.dot(&z);
            alpha = (alpha - &z * (e / r)).push(e / r) * a;
            let d = a * a + discount * noise * rho;
            rho /= d;
            let mut larger = (&q * r + &z * z.transpose()).resize(n + 1, n + 1, 0.0);
            larger.view_mut((0, n), (n, 1)).copy_from(&-&z);
            larger.view_mut((n, 0), (1, n)).copy_from(&-z.transpose());
            larger[(n, n)] = 1.0;
            q = larger * (a * a / (r * d));
            if let Some(j) = same {
                // With `S` that adds the last coordinate to that of `j`: `Sα` and `SQSᵀ`.
                let sum = DMatrix::from_fn(n, n + 1, |row, column| f64::from(row == column || (row, column) == (j, n)));
                (alpha, q) = (&sum * &alpha, &sum * &q * sum.transpose());
                continue;
            }
        }
        points.push(x.clone());
        trace.dictionary.push(t);
    }
    trace
}
