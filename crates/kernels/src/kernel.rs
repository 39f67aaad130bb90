//! Kernels, as the learners see them.

use mercer_simd::AlignedVec;

use crate::points::Points;
use crate::scratch::scratch;

/// A positive semidefinite kernel `k : ℝᵈ × ℝᵈ → ℝ`.
///
/// A kernel of your own needs [`evaluate`](Self::evaluate) and [`self_value`](Self::self_value);
/// those of this crate bring vectorised rows.
///
/// # Inputs that gain coordinates
///
/// A stream may bring features that its first inputs did not have. Earlier points then [count as
/// 0](Points::grow) there, so a kernel must take inputs of any dimension, and its value must stay
/// when both inputs are extended by zeros. All kernels of this crate do so: those of the distance
/// and of the inner product, their mixtures, and products, where the coordinates come to the second
/// part. A kernel of your own with a parameter for each coordinate serves inputs of one dimension
/// only.
pub trait Kernel: Send + Sync {
    /// `k(x, z)`; symmetric. `O(d)`.
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64;

    /// `k(x, x)`. `O(d)`, and `O(1)` for stationary kernels.
    fn self_value(&self, x: &[f64]) -> f64;

    /// `row[j] ← k(z_j, x)` for every point, with zero padding. `O(Jd)`; allocates only when `row`
    /// must grow.
    fn row(&self, points: &Points, x: &[f64], row: &mut AlignedVec) {
        self.row_of_part(points, 0, x, row);
    }

    /// `row[j] ← k(z'_j, x)`, where `z'_j` are the coordinates of `z_j` from `offset` on, as many
    /// as `x` has: what a [`Product`](crate::Product) asks of its factors. `O(Jd)`; allocates only
    /// when `row` must grow.
    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        row.resize(points.len());
        scratch(|z| {
            z.resize(points.dimension());
            for j in 0..points.len() {
                points.copy_point(j, z);
                row[j] = self.evaluate(&z[offset..offset + x.len()], x);
            }
        });
    }

    /// `rows[i] ← (k(z_1, q_i), …, k(z_J, q_i))` for every query: a kernel block. `O(IJd)`;
    /// allocates only when `rows` must grow.
    fn block(&self, points: &Points, queries: &Points, rows: &mut Vec<AlignedVec>) {
        rows.resize_with(queries.len(), AlignedVec::new);
        scratch(|query| {
            query.resize(queries.dimension());
            for (i, row) in rows.iter_mut().enumerate() {
                queries.copy_point(i, query);
                self.row(points, query, row);
            }
        });
    }
}

/// A number that saturates.
fn counted(number: u128) -> String {
    if number == u128::MAX { "more than 10^38".to_owned() } else { number.to_string() }
}

/// Why a kernel could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A width that is not a number from 1e-150 to 1e150.
    #[error(
        "the width sigma must be a positive number, from 1e-150 to 1e150, got {0:?}; give for example gaussian:1.5"
    )]
    Width(f64),
    /// A polynomial degree of zero, or above 1000.
    #[error("the degree of a polynomial kernel must be at least 1 and at most 1000, got {0}")]
    Degree(u32),
    /// A polynomial offset that is negative or not finite, which would not be positive
    /// semidefinite.
    #[error("the offset of a polynomial kernel must be a number ≥ 0, got {0:?}")]
    Offset(f64),
    /// A mixture weight that is not a positive finite number.
    #[error("a mixture weight must be a positive number, got {0:?}")]
    Weight(f64),
    /// A mixture without a kernel.
    #[error("a mixture needs at least one kernel: mix:WEIGHT*KERNEL+WEIGHT*KERNEL")]
    EmptyMixture,
    /// More Taylor features than fit the memory allowed.
    #[error(
        "{} Taylor features of degree {degree} in dimension {dimension} need {} bytes for their matrix; take a smaller degree, \
         fewer inputs, or a wider kernel on inputs scaled to a smaller range",
        counted(*count),
        counted(*bytes)
    )]
    TooManyFeatures {
        /// Input dimension `d`.
        dimension: usize,
        /// Degree `M`.
        degree: usize,
        /// `C(d + M, M)`; [`u128::MAX`] when it cannot be counted.
        count: u128,
        /// Bytes that half a symmetric matrix of that dimension takes.
        bytes: u128,
    },
    /// A text that names no kernel.
    #[error(
        "no kernel is called {0:?}; use gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA, \
         polynomial:DEGREE,OFFSET, linear, mix:WEIGHT*KERNEL+WEIGHT*KERNEL or median"
    )]
    Unknown(String),
    /// A parameter that is not a number.
    #[error("in the kernel {spec:?}, {value:?} is not a number; write it like {example}")]
    NotANumber {
        /// The whole text.
        spec: String,
        /// The part that should be a number.
        value: String,
        /// A well-formed kernel of this kind.
        example: &'static str,
    },
}
