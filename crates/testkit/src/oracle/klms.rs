//! KLMS (Liu, Pokharel and Principe 2008): `x` joins with `ηωe`, for weights
//! above 1 no more than draws `f(x)` to its target, or adds it to the coefficient
//! that it has; once the dictionary is full other inputs teach nothing.

use super::filter::{pass, rate};
use super::{KernelFn, Trace, WeightedExample};

/// KLMS by its definition, for one output.
pub fn klms(stream: &[WeightedExample], kernel: KernelFn, eta: f64, max_dictionary: usize) -> Trace {
    pass(stream, kernel, |filter, t, example| {
        let e = example.y[0] - filter.f(&example.x);
        let step = rate(eta, kernel(&example.x, &example.x), example.weight) * e;
        match filter.place(&example.x) {
            Some(j) => filter.alpha[j] += step,
            None if filter.points.len() < max_dictionary => filter.join(t, step),
            None => {}
        }
    })
}
