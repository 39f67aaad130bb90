//! Gram matrices and kernel vectors, entry by entry, and solves that rebuild everything.

use nalgebra::{DMatrix, DVector};

use super::KernelFn;

/// The Gram matrix `K[i][j] = k(x_i, x_j)` of a set of points, `(n, n)`.
pub fn gram(points: &[Vec<f64>], kernel: KernelFn) -> DMatrix<f64> {
    DMatrix::from_fn(points.len(), points.len(), |i, j| kernel(&points[i], &points[j]))
}

/// The vector `k_S(x)`.
pub(super) fn kernel_vector(points: &[Vec<f64>], x: &[f64], kernel: KernelFn) -> DVector<f64> {
    DVector::from_iterator(points.len(), points.iter().map(|z| kernel(z, x)))
}

/// The matrix with another row and column at its end.
pub(super) fn bordered(matrix: DMatrix<f64>, border: &DVector<f64>, corner: f64) -> DMatrix<f64> {
    let n = border.len();
    let mut larger = matrix.resize(n + 1, n + 1, corner);
    larger.view_mut((0, n), (n, 1)).copy_from(border);
    larger.view_mut((n, 0), (1, n)).tr_copy_from(border);
    larger
}

/// The matrix without this row and this column.
pub(super) fn without(matrix: DMatrix<f64>, index: usize) -> DMatrix<f64> {
    matrix.remove_row(index).remove_column(index)
}

/// `M⁻¹ b` by an LU factorisation made for this one solve; the empty system has the empty solution.
///
/// # Panics
/// If the matrix is exactly singular.
pub(super) fn solve(matrix: &DMatrix<f64>, right_side: &DVector<f64>) -> DVector<f64> {
    if right_side.is_empty() {
        return DVector::zeros(0);
    }
    matrix.clone().lu().solve(right_side).expect("the oracle met a singular matrix")
}

/// The ALD residual `α = k(x,x) − k_Sᵀ K_S⁻¹ k_S` of Li & Liao's (4) and the coefficients
/// `β* = K_S⁻¹ k_S`.
///
/// The residual is a squared distance, so rounding below 0 is cut off.
pub(super) fn ald(points: &[Vec<f64>], x: &[f64], kernel: KernelFn) -> (f64, DVector<f64>) {
    let k = kernel_vector(points, x, kernel);
    let beta = solve(&gram(points, kernel), &k);
    ((kernel(x, x) - k.dot(&beta)).max(0.0), beta)
}
