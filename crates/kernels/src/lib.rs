//! Kernels, sets of points to evaluate them on, and features that approximate them.
//!
//! | kernel | `k(x, z)` | `SPEC` of [`AnyKernel`] |
//! |---|---|---|
//! | [`Gaussian`] | `exp(−‖x−z‖²/2σ²)` | `gaussian:SIGMA` |
//! | [`Laplace`] | `exp(−‖x−z‖/σ)` | `laplace:SIGMA` |
//! | [`Matern32`] | `(1 + r) e⁻ʳ`, `r = √3 ‖x−z‖/σ` | `matern32:SIGMA` |
//! | [`Matern52`] | `(1 + r + r²/3) e⁻ʳ`, `r = √5 ‖x−z‖/σ` | `matern52:SIGMA` |
//! | [`Polynomial`] | `(xᵀz + c)ᵐ` | `polynomial:DEGREE,OFFSET` |
//! | [`Linear`] | `xᵀz` | `linear` |
//! | [`KernelMixture`] | `Σ wᵢ kᵢ(x, z)` | `mix:0.4*gaussian:0.4+0.6*gaussian:0.7` |
//! | [`Product`] | `k₁(x, z) k₂(u, w)` on the two parts of an input | |
//!
//! [`Points`] is a growing set of points, stored dimension by dimension, eight points to a vector.
//! A [kernel row](Kernel::row) `(k(z₁, x), …, k(z_J, x))` costs `J·d` multiply-adds and `J/8`
//! vector exponentials, in one pass over memory. Distances are sums of squared differences. The
//! expansion `‖x‖² + ‖z‖² − 2xᵀz` is faster but loses its digits for close points, so it is never
//! used.
//!
//! For the Gaussian kernel, [`RandomFourier`] draws the random features of Rahimi and Recht (2007),
//! and [`TaylorFeatures`] computes deterministic ones.
//!
//! [`shapley_values`] tells exactly what each input does to a sum of kernels that are products over
//! the inputs.
//!
//! The crate checks parameters but not data. Learners refuse a point with a NaN or of another
//! dimension before they evaluate a kernel.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod any;
mod boxes;
mod dot_product;
mod fourier;
mod kernel;
mod kernel_mixture;
mod median;
mod named;
mod points;
mod product;
mod row;
mod scratch;
mod shapley;
mod stationary;
mod support;
mod taylor;

pub use any::{AnyKernel, KernelSpec};
pub use boxes::Boxes;
pub use dot_product::{Linear, Polynomial};
pub use fourier::RandomFourier;
pub use kernel::{Kernel, KernelError};
pub use kernel_mixture::KernelMixture;
pub use median::{median_width, weighted_median_width};
pub use mercer_simd::AlignedVec;
pub use points::Points;
pub use product::Product;
pub use shapley::{Complex, ShapleyFactor, shapley_values};
pub use stationary::{Gaussian, Laplace, Matern32, Matern52};
pub use taylor::TaylorFeatures;
