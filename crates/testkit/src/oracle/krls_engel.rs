//! KRLS as published: the recursion of Engel et al. (2004) with the two explicit matrices `K⁻¹` and
//! `P`.
//!
//! With `a = K⁻¹k` and `δ = k(x,x) − kᵀa`: if `δ > ν` the point is kept,
//! `K⁻¹ ← [δK⁻¹ + aaᵀ, −a; −aᵀ, 1]/δ`, `P ← diag(P, 1)`, `c ← [c − ae/δ; e/δ]`, with `e = y − kᵀc`;
//! otherwise `q = Pa/(1 + aᵀPa)`, `P ← P − q aᵀP`, `c ← c + K⁻¹ q e`.
//!
//! It solves the same problem as [`krls_qr`](super::krls_qr()) in exact arithmetic and loses digits
//! as ν falls, since it recurses an explicit inverse: a witness for large ν and no reference for
//! small.

use nalgebra::{DMatrix, DVector};

use super::dense::kernel_vector;
use super::{Example, KernelFn, Trace};

/// KRLS by Engel's recursion, with no regulariser.
pub fn krls_engel(stream: &[Example], kernel: KernelFn, nu: f64) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut k_inverse = DMatrix::<f64>::zeros(0, 0);
    let mut p = DMatrix::<f64>::zeros(0, 0);
    let mut c = DVector::<f64>::zeros(0);
    for (t, (x, y)) in stream.iter().enumerate() {
        if points.is_empty() {
            trace.predictions.push(0.0);
            if kernel(x, x) > nu {
                k_inverse = DMatrix::from_element(1, 1, 1.0 / kernel(x, x));
                p = DMatrix::from_element(1, 1, 1.0);
                c = DVector::from_element(1, y / kernel(x, x));
                points.push(x.clone());
                trace.dictionary.push(t);
            }
            continue;
        }
        let k = kernel_vector(&points, x, kernel);
        let prediction = k.dot(&c);
        trace.predictions.push(prediction);
        let e = y - prediction;
        let a = &k_inverse * &k;
        let delta = kernel(x, x) - k.dot(&a);
        if delta > nu {
            let m = points.len();
            let mut larger = DMatrix::zeros(m + 1, m + 1);
            larger.view_mut((0, 0), (m, m)).copy_from(&(&k_inverse * delta + &a * a.transpose()));
            larger.view_mut((0, m), (m, 1)).copy_from(&-&a);
            larger.view_mut((m, 0), (1, m)).copy_from(&-a.transpose());
            larger[(m, m)] = 1.0;
            k_inverse = larger / delta;
            p = p.resize(m + 1, m + 1, 0.0);
            p[(m, m)] = 1.0;
            c = (c - &a * (e / delta)).push(e / delta);
            points.push(x.clone());
            trace.dictionary.push(t);
        } else {
            let pa = &p * &a;
            let q = &pa / (1.0 + a.dot(&pa));
            p -= &q * pa.transpose();
            c += &k_inverse * q * e;
        }
    }
    trace
}
