//! Choosing the instruction set when the program runs.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::backend::{FEW, Simd};
#[cfg(any(target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
use crate::narrow::{self, Narrow};
use crate::scalar::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Avx2, Avx512};

/// A computation written over [`Simd`].
///
/// Implement it on a struct that borrows its operands and mark `run` `#[inline(always)]`: a plain
/// closure would not be compiled for the chosen instruction set.
pub trait Op {
    /// The result of the computation.
    type Output;
    /// Runs the computation with the instruction set that `simd` stands for.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// Portable code.
    Scalar = 1,
    /// Portable code that takes its operands in the order for many registers, as AVX-512 does, so
    /// that every machine can test that order.
    #[cfg(feature = "wide-order")]
    ScalarWide,
    /// Vectors of two: NEON on aarch64, relaxed SIMD in WebAssembly where its multiply-add rounds
    /// once.
    Narrow,
    /// x86-64 with AVX2 and FMA (x86-64-v3).
    Avx2,
    /// x86-64 with AVX-512 F, BW, CD, DQ and VL (x86-64-v4).
    Avx512,
}

/// The level given to [`prefer`]; 0 for none.
static PREFERRED: AtomicU8 = AtomicU8::new(0);

impl Level {
    /// The instruction sets of this machine, widest last; never empty.
    #[must_use]
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self::Scalar];
        #[cfg(feature = "wide-order")]
        levels.push(Self::ScalarWide);
        #[cfg(any(target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
        levels.extend(narrow::token().map(|_| Self::Narrow));
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(pulp::x86::V3::try_new().map(|_| Self::Avx2));
            levels.extend(pulp::x86::V4::try_new().map(|_| Self::Avx512));
        }
        levels
    }
}

/// From now on every [`dispatch`] of this process uses `level`, or again the widest one if it is
/// `None` or the machine does not have it. For tests and measurements: results do not depend on it.
pub fn prefer(level: Option<Level>) {
    PREFERRED.store(level.map_or(0, |level| level as u8), Ordering::Relaxed);
}

/// Runs `op` with the widest instruction set of this machine. Costs a few nanoseconds.
#[inline]
pub fn dispatch<O: Op>(op: O) -> O::Output {
    let preferred = PREFERRED.load(Ordering::Relaxed);
    if preferred == Level::Scalar as u8 {
        return op.run(Scalar::<FEW>);
    }
    #[cfg(feature = "wide-order")]
    if preferred == Level::ScalarWide as u8 {
        return op.run(Scalar::<{ crate::backend::MANY }>);
    }
    #[cfg(target_arch = "x86_64")]
    {
        if preferred != Level::Avx2 as u8
            && let Some(token) = pulp::x86::V4::try_new()
        {
            return token.vectorize(Run(op, Avx512(token)));
        }
        if let Some(token) = pulp::x86::V3::try_new() {
            return token.vectorize(Run(op, Avx2(token)));
        }
    }
    #[cfg(any(target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
    if let Some(token) = narrow::token() {
        return token.vectorize(Run(op, Narrow(token)));
    }
    op.run(Scalar::<FEW>)
}

/// Runs `op` with one instruction set, for tests and benches; `None` when this machine does not
/// have it.
pub fn dispatch_at<O: Op>(level: Level, op: O) -> Option<O::Output> {
    match level {
        Level::Scalar => Some(op.run(Scalar::<FEW>)),
        #[cfg(feature = "wide-order")]
        Level::ScalarWide => Some(op.run(Scalar::<{ crate::backend::MANY }>)),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => pulp::x86::V3::try_new().map(|token| token.vectorize(Run(op, Avx2(token)))),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => pulp::x86::V4::try_new().map(|token| token.vectorize(Run(op, Avx512(token)))),
        #[cfg(any(target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
        Level::Narrow => narrow::token().map(|token| token.vectorize(Run(op, Narrow(token)))),
        #[allow(unreachable_patterns, reason = "no machine has all levels")]
        _ => None,
    }
}

/// `op.run(token)` as the named callable that pulp inlines into a function with the target
/// features.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "relaxed-simd")
))]
struct Run<O, S>(O, S);

#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "relaxed-simd")
))]
impl<O: Op, S: Simd> pulp::NullaryFnOnce for Run<O, S> {
    type Output = O::Output;
    #[inline(always)]
    fn call(self) -> Self::Output {
        // What does not fit the registers goes to the stack. It is aligned for vectors, none of
        // which then lies across two cache lines, only in a function with a local of that
        // alignment.
        let aligned = std::mem::MaybeUninit::<crate::aligned::Lane>::uninit();
        std::hint::black_box(aligned.as_ptr());
        self.0.run(self.1)
    }
}

#[cfg(all(test, target_arch = "aarch64"))]
mod tests {
    use super::Level;

    #[test]
    fn every_aarch64_has_neon() {
        assert_eq!(Level::available().last(), Some(&Level::Narrow));
    }
}
