//! Learners with several kernels over plain vectors: MKNLMS-CS (Yukawa 2012) and MXKLMS (Pokharel,
//! Seth and Príncipe 2013).

use super::{Example, KernelFn, Trace};

/// Parameters of [`mknlms_cs`].
#[derive(Clone, Copy, Debug)]
pub struct MknlmsCsParams {
    /// Step size `η`.
    pub eta: f64,
    /// Largest kernel value with a kept point, `δ`.
    pub delta: f64,
    /// `ε`
    pub eps: f64,
    /// Largest dictionary.
    pub max_dictionary: usize,
}

/// MKNLMS-CS by its definition: `x` joins if `max_ip K_ip ≤ δ` (the first always), then
/// `A += ηe K/(ε + ΣK²)` over the dictionary that has perhaps grown, with the error `e` made
/// before.
pub fn mknlms_cs(stream: &[Example], kernels: &[KernelFn], params: MknlmsCsParams) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<&[f64]> = Vec::new();
    // A row for each point.
    let mut a: Vec<Vec<f64>> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let values = |points: &[&[f64]]| -> Vec<Vec<f64>> {
            points.iter().map(|d| kernels.iter().map(|kernel| kernel(d, x)).collect()).collect()
        };
        let k = values(&points);
        let prediction: f64 = a.concat().iter().zip(k.concat()).map(|(a, k)| a * k).sum();
        trace.predictions.push(prediction);
        let largest = k.concat().into_iter().fold(f64::NEG_INFINITY, f64::max);
        if points.len() < params.max_dictionary && largest <= params.delta {
            points.push(x);
            a.push(vec![0.0; kernels.len()]);
            trace.dictionary.push(t);
        }
        let k = values(&points);
        let squared: f64 = k.concat().iter().map(|k| k * k).sum();
        let step = params.eta * (y - prediction) / (params.eps + squared);
        for (a, k) in a.iter_mut().flatten().zip(k.iter().flatten()) {
            *a += step * k;
        }
    }
    trace
}

/// MXKLMS by its definition, with steps `eta` and `mu` and at most `max_dictionary` points:
/// `ψ = e^v/Σe^v`, `f = Σ_p ψ_p y_p`, `v_p += 2μe ψ_p(y_p − f)`, then `x` joins with the row `ηψe`
/// of the new `ψ`, or adds it to the row that it has. A full dictionary learns from inputs that it
/// holds.
pub fn mxklms(stream: &[Example], kernels: &[KernelFn], eta: f64, mu: f64, max_dictionary: usize) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<&[f64]> = Vec::new();
    let mut a: Vec<Vec<f64>> = Vec::new();
    let mut v = vec![0.0; kernels.len()];
    let softmax = |v: &[f64]| -> Vec<f64> {
        let sum: f64 = v.iter().map(|v| v.exp()).sum();
        v.iter().map(|v| v.exp() / sum).collect()
    };
    for (t, (x, y)) in stream.iter().enumerate() {
        let psi = softmax(&v);
        let part = |p: usize| -> f64 {
            points.iter().zip(&a).map(|(d, a): (&&[f64], &Vec<f64>)| a[p] * kernels[p](d, x)).sum()
        };
        let parts: Vec<f64> = (0..kernels.len()).map(part).collect();
        let prediction: f64 = psi.iter().zip(&parts).map(|(psi, part)| psi * part).sum();
        trace.predictions.push(prediction);
        let same = points.iter().position(|point| point == x);
        if points.len() == max_dictionary && same.is_none() {
            continue;
        }
        let e = y - prediction;
        for p in 0..kernels.len() {
            v[p] += 2.0 * mu * e * psi[p] * (parts[p] - prediction);
        }
        let row: Vec<f64> = softmax(&v).iter().map(|psi| eta * psi * e).collect();
        if let Some(j) = same {
            a[j].iter_mut().zip(row).for_each(|(a, more)| *a += more);
            continue;
        }
        a.push(row);
        points.push(x);
        trace.dictionary.push(t);
    }
    trace
}
