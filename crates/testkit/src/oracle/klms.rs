//! KLMS (Liu, Pokharel and Principe 2008): `x` joins with `ηωe`, for weights
//! above 1 no more than draws `f(x)` to its target; once the dictionary is full
//! nothing is learnt.

use super::filter::{pass, rate};
use super::{KernelFn, Trace, WeightedExample};

/// KLMS by its definition, for one output.
pub fn klms(stream: &[WeightedExample], kernel: KernelFn, eta: f64, max_dictionary: usize) -> Trace {
    pass(stream, kernel, |filter, t, example| {
        let e = example.y[0] - filter.f(&example.x);
        if filter.points.len() < max_dictionary {
            let moves = kernel(&example.x, &example.x);
            filter.join(t, rate(eta, moves, example.weight) * e);
        }
    })
}
