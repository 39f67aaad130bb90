//! The vectorised exponential and sine with cosine, at each instruction set of the machine and in
//! the standard library.
//!
//! They would show at once if a computation lost its instruction set on the way through the
//! dispatcher.

use std::hint::black_box;

use mercer_simd::{LANES, Lane, Level, Op, Simd, dispatch_at, exp_lane, sincos_lane};

use super::{EXP, SINCOS};
use crate::{Operation, Workload};

/// Values worked on: 8 KB, which stay in the first cache.
const VALUES: usize = 1024;

/// `exp` and `sincos` of 1024 values in `[−10, 0]`.
#[must_use]
pub fn exp_sincos() -> Vec<Operation> {
    let work = |arithmetic, outputs: usize| Workload { read: 8 * VALUES, updated: 16 * outputs * VALUES, arithmetic };
    let (exp_work, sincos_work) = (work(EXP * VALUES, 1), work(SINCOS * VALUES, 2));
    let input: Vec<f64> = (0..VALUES).map(|i| -10.0 * i as f64 / VALUES as f64).collect();
    let lanes: Vec<Lane> = input.as_chunks::<LANES>().0.iter().map(|chunk| Lane(*chunk)).collect();
    let mut operations = Vec::new();
    for level in Level::available() {
        let (x, mut out) = (lanes.clone(), lanes.clone());
        operations.push(Operation::steady(format!("exp_{}", name(level)), VALUES, exp_work, move || {
            dispatch_at(level, Exp(black_box(&x), black_box(&mut out)));
        }));
        let (u, mut sin, mut cos) = (lanes.clone(), lanes.clone(), lanes.clone());
        operations.push(Operation::steady(format!("sincos_{}", name(level)), VALUES, sincos_work, move || {
            dispatch_at(level, SinCos(black_box(&u), black_box(&mut sin), black_box(&mut cos)));
        }));
    }
    let (x, mut out) = (input.clone(), input.clone());
    operations.push(Operation::steady("exp_std", VALUES, exp_work, move || {
        black_box(&x).iter().zip(black_box(&mut out)).for_each(|(x, out)| *out = x.exp());
    }));
    let (mut sin, mut cos) = (input.clone(), input.clone());
    operations.push(Operation::steady("sincos_std", VALUES, sincos_work, move || {
        for ((u, sin), cos) in black_box(&input).iter().zip(black_box(&mut sin)).zip(black_box(&mut cos)) {
            (*sin, *cos) = u.sin_cos();
        }
    }));
    operations
}

fn name(level: Level) -> String {
    format!("{level:?}").to_lowercase()
}

struct Exp<'a>(&'a [Lane], &'a mut [Lane]);

impl Op for Exp<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (x, out) in self.0.iter().zip(self.1) {
            simd.store(exp_lane(simd, simd.load(x)), out);
        }
    }
}

struct SinCos<'a>(&'a [Lane], &'a mut [Lane], &'a mut [Lane]);

impl Op for SinCos<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for ((u, sin), cos) in self.0.iter().zip(self.1).zip(self.2) {
            let (s, c) = sincos_lane(simd, simd.load(u));
            simd.store(s, sin);
            simd.store(c, cos);
        }
    }
}
