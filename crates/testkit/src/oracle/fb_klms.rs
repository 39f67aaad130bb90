//! FB-KLMS (Rzepka 2012): `n = kᵀk + ε` over the old dictionary, `α ← α + ηωek/n`; if
//! `min_i (κ − k_i/k(d_i, d_i)) ≥ ν`, `x` joins with `ηωe/n`; beyond `M` the smallest `|α|` leaves,
//! the new one included. The first point joins with `ηωy/κ`. `ε = None` is `κ`.

use super::filter::{pass, rate};
use super::{KernelFn, Trace, WeightedExample};

/// FB-KLMS by its definition, with `[eta, nu]`.
pub fn fb_klms(
    stream: &[WeightedExample],
    kernel: KernelFn,
    [eta, nu]: [f64; 2],
    eps: Option<f64>,
    max_dictionary: usize,
) -> Trace {
    pass(stream, kernel, |filter, t, example| {
        let (x, own) = (&example.x, kernel(&example.x, &example.x));
        let error = example.y[0] - filter.f(x);
        if filter.points.is_empty() {
            filter.join(t, rate(eta, 1.0, example.weight) * error / own);
            return;
        }
        let k = filter.k(x);
        let n = k.iter().map(|k| k * k).sum::<f64>() + eps.unwrap_or(own);
        let distance = |i: usize| own - k[i] / kernel(filter.point(i), filter.point(i));
        let joins = (0..k.len()).map(distance).fold(f64::INFINITY, f64::min) >= nu;
        let squared = k.iter().map(|k| k * k).sum::<f64>() + if joins { own } else { 0.0 };
        let step = rate(eta, squared / n, example.weight) * error;
        filter.alpha.iter_mut().zip(&k).for_each(|(alpha, k)| *alpha += step * k / n);
        if joins {
            filter.join(t, step / n);
        }
        if filter.points.len() > max_dictionary {
            let mut smallest = 0;
            for i in 1..filter.alpha.len() {
                if filter.alpha[i].abs() < filter.alpha[smallest].abs() {
                    smallest = i;
                }
            }
            filter.drop(smallest);
        }
    })
}
