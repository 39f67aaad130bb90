//! Eight-lane vector arithmetic with run-time dispatch. No other crate of Mercer knows instruction
//! sets.
//!
//! The inner loops above this crate are generic over [`Simd`]: each is written once, as if the
//! machine had vectors of eight `f64`. [`dispatch`] picks the widest instruction set of the machine
//! when the program runs: AVX-512, AVX2 with FMA, NEON, relaxed SIMD of WebAssembly, or portable
//! code. **All instruction sets give the same bits**, because the number of lanes, the order of
//! every sum and the fused multiply-adds are part of the definition. So the portable code is the
//! test oracle of the others. Only the order in which a loop visits its operands may differ:
//! [`Simd::REGISTERS`] tells a loop how many vectors it can hold at once.
//!
//! | item | what it is |
//! |---|---|
//! | [`Lane`], [`AlignedVec`] | eight `f64` on a 64-byte boundary; a growable vector of them, padded with zeros |
//! | [`Simd`], [`Op`], [`dispatch`] | the operations, a computation written over them, and the call that runs it |
//! | [`prefer`], [`Level`] | another instruction set than the widest, for tests and measurements |
//! | [`dot`], [`axpy`], [`scale`] | vector primitives |
//! | [`exp`], [`exp_in_place`] | the exponential, within 1 ulp of the system's on `[-700, 0]` |
//! | [`sincos_quarter_turns`] | sine and cosine of an angle given in quarter turns, so that range reduction is exact |
//!
//! This is no general vector library. It holds the operations of kernel rows, triangular solves and
//! symmetric updates, for `f64` alone.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod aligned;
mod backend;
mod dispatch;
mod exp;
#[cfg(any(target_arch = "aarch64", all(target_arch = "wasm32", target_feature = "relaxed-simd")))]
mod narrow;
mod scalar;
mod sincos;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use aligned::{AlignedVec, LANES, Lane};
pub use backend::Simd;
pub use dispatch::{Level, Op, dispatch, dispatch_at, prefer};
pub use exp::{exp, exp_in_place, exp_lane};
pub use sincos::{sincos_lane, sincos_quarter_turns};
pub use vector::{axpy, axpy_lanes, dot, dot_lanes, scale};
