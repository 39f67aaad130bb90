//! Triangular factors and symmetric inverses that change a little at every step of a stream.
//!
//! The crate knows vectors and matrices alone: no data points, no kernels, no labels. It holds what
//! general libraries lack: factors that *grow* row by row, inverses that do a rank-one update and a
//! product in **one pass over memory**, and steps that allocate nothing.
//!
//! | type | holds | per step | memory |
//! |---|---|---|---|
//! | [`GrowingCholesky`] | `L` with `L Lᵀ = K` | solve `½n²` multiply-adds, append `O(n)`, rank-one update or downdate `n²`, removal of row `i` `2(n − i)²` | `½n²` |
//! | [`SymmetricMatrix`] | a symmetric `P`, most often `A⁻¹` | product and deferred Sherman–Morrison update `1½n²`; bordered growth `O(n)`; [`Rotations`] of a removal `4n²` | `½n²` |
//! | [`OuterProducts`] | memory for `Σ ω x xᵀ` of up to 64 vectors at once | `½n²` a vector, as matrix products | `64n` |
//! | [`BlockRecursion`] | `B` rounds on a `SymmetricMatrix` whose inputs are known | the same `1½n²`, as matrix products | `2Bn` |
//! | [`SquareRootRls`] | `R` with `RᵀR = V`, `U = R⁻ᵀS` | predict `½n²`; predict and add a row in one pass, `n²` (`1¼n²` where every second waits); take a row back `1½n²` | `½n²` |
//! | [`StateMatrix`] | a rectangular `A` | product and `A ← κA + u vᵀ` fused, `2n²`; rows and columns of zeros `O(n)` | `n²` |
//!
//! [`SymmetricEigen`], [`GeneralEigen`] and [`Matrix`] compute in one go, not step by step. They
//! call a general library and keep its types private.
//!
//! Vectors are [`AlignedVec`]s. `AlignedVec` pads them with zeros to whole lanes, and the padding
//! of every operand must stay zero. A shape that does not fit is a programming error and panics.
//!
//! The growing factor consists of 8×8 tiles: block `b` of eight rows holds its `b + 1` tiles one
//! after the other. The symmetric matrix has the same tiles, each in two runs of four columns.
//! Growth appends at the end, and a pass reads memory in one direction. The square-root form holds
//! the other triangle and does not grow.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod block;
mod cholesky;
mod eigen;
mod general_eigen;
mod matrix;
mod rank_one;
mod rotations;
mod square_root;
mod state_matrix;
mod symmetric;
mod tiles;

pub use block::BlockRecursion;
pub use cholesky::{GrowingCholesky, SOLVES_TOGETHER};
pub use eigen::{NoConvergence, SymmetricEigen};
pub use general_eigen::{Eigenvalue, GeneralEigen};
pub use matrix::{Matrix, Singular};
pub use mercer_simd::AlignedVec;
pub use symmetric::{OuterProducts, Removal, SymmetricMatrix};

pub use rank_one::RankOneScratch;
pub use rotations::Rotations;
pub use square_root::{OutOfRange, SquareRootRls, SquareRootScratch};
pub use state_matrix::StateMatrix;

/// A downdate that would make the matrix singular or indefinite; the factor or inverse is as it was
/// before the call.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the downdate leaves no positive definite matrix (remaining pivot {pivot}); nothing was changed")]
pub struct NotPositiveDefinite {
    /// Rest of the unit pivot: `1 + σ ‖L⁻¹v‖²` (or `1 + σ vᵀPv`).
    pub pivot: f64,
}
