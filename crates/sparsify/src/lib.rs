//! Dictionaries: the points of a stream that a learner keeps, and the coordinates of an input in
//! them.
//!
//! A [`Basis`] holds the kept points and turns an input into one coordinate a point. The
//! coordinates of [`KernelBasis`] are the kernel values. [`NewtonBasis`] also holds the Cholesky
//! factor `L` of the points' Gram matrix. Its [`probe`](NewtonBasis::probe) computes orthonormal
//! coordinates `φ(x) = L⁻¹ k_S(x)` and the squared distance `δ = k(x,x) − ‖φ(x)‖²` of `k(x,·)` from
//! the span. An [`Admission`] rule reads the probe and decides whether to keep the point:
//!
//! | rule | keeps `x` when | state | source |
//! |---|---|---|---|
//! | [`Ald`] | `δ > α` | none | approximate linear dependence, Engel et al. 2004; \[A\] eq. (4)–(5) |
//! | [`Kors`] | `u < min(β τ, 1)`, `τ` its ridge leverage score, and it is not in the span | a covariance, a coin | Calandriello et al. 2017 |
//! | [`Coherence`] | <code>max \|k(d_i, x)\|/√(k(x,x) k(d_i,d_i)) ≤ μ₀</code> | none | Richard et al. 2009 |
//! | [`Quantised`] | no kept point is within `ε`; merges it into the nearest otherwise | none | Chen et al. 2012 |
//! | [`Novelty`] | no kept point is within `δ₁` | none | Platt 1991; the criterion's other half is an update's |
//! | [`EveryPoint`] | always | none | |
//! | [`DistinctPoints`] | no kept point equals it; merges it into that point otherwise | none | |
//! | [`FirstB`] | fewer than `B` points are kept | none | uniform sampling of a permuted stream |
//!
//! [`Ald`], [`Kors`] and [`FirstB`] need the residual `δ`, so they need an [`Orthonormal`] basis.
//! The other rules work with any basis.
//!
//! A learner of operators keeps pairs of points. For these, [`MatchingPursuit`] decides from the
//! residuals of both points and the length of the step.
//!
//! (\[A\] is Li and Liao, *Nearly optimal algorithms with sublinear computational complexity for
//! online kernel regression*.)
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod admission;
mod ald;
mod basis;
mod coherence;
mod distinct_points;
mod every_point;
mod first_b;
mod kernel_basis;
mod kors;
mod matching_pursuit;
mod newton_basis;
mod novelty;
mod probe;
mod quantised;

pub use admission::{Admission, Answer};
pub use ald::Ald;
pub use basis::{Basis, Orthonormal};
pub use coherence::Coherence;
pub use distinct_points::DistinctPoints;
pub use every_point::EveryPoint;
pub use first_b::FirstB;
pub use kernel_basis::KernelBasis;
pub use kors::{Kors, KorsDecision};
pub use matching_pursuit::{Budget, BudgetTest, Candidate, DictionaryShape, MatchingPursuit, Verdict};
pub use mercer_core::ParameterError;
pub use mercer_kernels as kernels;
pub use mercer_linalg_incremental::SOLVES_TOGETHER;
pub use newton_basis::NewtonBasis;
pub use novelty::Novelty;
pub use probe::Probe;
pub use quantised::Quantised;
