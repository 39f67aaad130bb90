//! QKLMS (Chen, Zhao, Zhu and Príncipe 2012), over plain vectors.
//!
//! The kept point nearest to `x` in input space, the first of several: within `ε` its `α_j += ηe`,
//! otherwise `x` is kept with `ηe`; the first point is kept with `ηy`. In a full dictionary a point
//! farther than `ε` from all of it changes nothing.

use super::{Example, KernelFn, Trace};

/// QKLMS by its definition, with step `eta`, radius `epsilon` and at most `max_dictionary` points.
pub fn qklms(stream: &[Example], kernel: KernelFn, eta: f64, epsilon: f64, max_dictionary: usize) -> Trace {
    let mut trace = Trace::default();
    let mut points: Vec<&[f64]> = Vec::new();
    let mut alpha: Vec<f64> = Vec::new();
    for (t, (x, y)) in stream.iter().enumerate() {
        let prediction: f64 = alpha.iter().zip(&points).map(|(a, d)| a * kernel(d, x)).sum();
        trace.predictions.push(prediction);
        let e = y - prediction;
        let distance = |d: &[f64]| d.iter().zip(x).map(|(d, x)| (d - x) * (d - x)).sum::<f64>().sqrt();
        let mut nearest = None;
        for (j, d) in points.iter().enumerate() {
            if nearest.is_none_or(|(_, least)| distance(d) < least) {
                nearest = Some((j, distance(d)));
            }
        }
        match nearest {
            Some((j, least)) if least <= epsilon => alpha[j] += eta * e,
            _ if points.len() < max_dictionary => {
                points.push(x);
                alpha.push(eta * e);
                trace.dictionary.push(t);
            }
            _ => {}
        }
    }
    trace
}
