//! Choosing the instruction set when the program runs.

use crate::backend::Simd;
use crate::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Avx2, Avx512};

/// A computation written over [`Simd`].
///
/// Implement it on a struct that borrows its operands and mark `run` `#[inline(always)]`: a plain closure would not be
/// compiled for the chosen instruction set.
pub trait Op {
    /// What the computation returns.
    type Output;
    /// Runs the computation with the instruction set that `simd` stands for.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Level {
    /// Portable code.
    Scalar,
    /// x86-64 with AVX2 and FMA (x86-64-v3).
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

impl Level {
    /// The instruction sets of this machine, widest last; never empty.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(pulp::x86::V3::try_new().map(|_| Self::Avx2));
            levels.extend(pulp::x86::V4::try_new().map(|_| Self::Avx512));
        }
        levels
    }
}

/// Runs `op` with the widest instruction set of this machine. Costs a few nanoseconds.
#[inline]
pub fn dispatch<O: Op>(op: O) -> O::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(token) = pulp::x86::V4::try_new() {
            return token.vectorize(Run(op, Avx512(token)));
        }
        if let Some(token) = pulp::x86::V3::try_new() {
            return token.vectorize(Run(op, Avx2(token)));
        }
    }
    op.run(Scalar)
}

/// Runs `op` with one instruction set, for tests and benches; `None` when this machine does not have it.
pub fn dispatch_at<O: Op>(level: Level, op: O) -> Option<O::Output> {
    match level {
        Level::Scalar => Some(op.run(Scalar)),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => pulp::x86::V3::try_new().map(|token| token.vectorize(Run(op, Avx2(token)))),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => pulp::x86::V4::try_new().map(|token| token.vectorize(Run(op, Avx512(token)))),
        #[cfg(not(target_arch = "x86_64"))]
        _ => None,
    }
}

/// `op.run(token)` as the named callable that pulp inlines into a function with the target features.
#[cfg(target_arch = "x86_64")]
struct Run<O, S>(O, S);

#[cfg(target_arch = "x86_64")]
impl<O: Op, S: Simd> pulp::NullaryFnOnce for Run<O, S> {
    type Output = O::Output;
    #[inline(always)]
    fn call(self) -> Self::Output {
        self.0.run(self.1)
    }
}
