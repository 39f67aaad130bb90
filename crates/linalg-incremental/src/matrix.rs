//! A dense matrix for what is computed once and not step by step: products, solves, Gram matrices.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::Solve;
use faer::{Accum, MatMut, MatRef, Par, Side};

/// A system that is singular to rounding, or holds numbers that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system of equations is singular to rounding, or holds numbers that are not finite; take a larger regulariser"
)]
pub struct Singular;

/// A dense `rows × columns` matrix, stored by columns.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// The zero matrix.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// Becomes the zero matrix of this shape, in the memory at hand where it suffices.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.values.clear();
        self.values.resize(rows * columns, 0.0);
    }

    /// The matrix with entries `entry(i, j)`, asked for column by column.
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for j in 0..columns {
            values.extend((0..rows).map(|i| entry(i, j)));
        }
        Self { rows, columns, values }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entry `[i, j]`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.column(j)[i]
    }

    /// Column `j`.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j`, to be written.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.rows..(j + 1) * self.rows]
    }

    /// The entries, column after column.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The transpose.
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self.entry(j, i))
    }

    /// `self · other`, sequential.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.columns);
        product.add_product(1.0, self.view(), other.view());
        product
    }

    /// `selfᵀ · other`, sequential.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[must_use]
    pub fn transposed_times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.columns, other.columns);
        product.add_product(1.0, self.view().transpose(), other.view());
        product
    }

    /// `self · otherᵀ`, sequential.
    ///
    /// # Panics
    /// If the shapes do not fit.
    #[must_use]
    pub fn times_transposed(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.rows);
        product.add_product(1.0, self.view(), other.view().transpose());
        product
    }

    /// `self ← self + a · bᵀ`, sequential.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn add_times_transposed(&mut self, a: &Self, b: &Self) {
        self.add_product(1.0, a.view(), b.view().transpose());
    }

    /// `X` with `self · X = right`, by an LU factorisation with partial pivoting. `O(n³)`,
    /// sequential.
    ///
    /// # Errors
    /// [`Singular`] when the solution is not finite.
    ///
    /// # Panics
    /// If the matrix is not square or the shapes do not fit.
    pub fn solve(&self, right: &Self) -> Result<Self, Singular> {
        let solution = self.view().partial_piv_lu().solve(right.view());
        Self::finite(right.rows, right.columns, |i, j| solution[(i, j)])
    }

    /// `X` with `self · X = right` for a symmetric positive definite matrix, of which the lower
    /// half is read. `O(n³)`, sequential.
    ///
    /// # Errors
    /// [`Singular`] when the matrix is not positive definite to rounding.
    ///
    /// # Panics
    /// If the matrix is not square or the shapes do not fit.
    pub fn solve_positive_definite(&self, right: &Self) -> Result<Self, Singular> {
        let solution = self.view().llt(Side::Lower).map_err(|_| Singular)?.solve(right.view());
        Self::finite(right.rows, right.columns, |i, j| solution[(i, j)])
    }

    fn finite(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Result<Self, Singular> {
        let matrix = Self::from_fn(rows, columns, entry);
        if matrix.values.iter().all(|value| value.is_finite()) { Ok(matrix) } else { Err(Singular) }
    }

    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.columns)
    }

    fn add_product(&mut self, factor: f64, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
        let to = MatMut::from_column_major_slice_mut(&mut self.values, self.rows, self.columns);
        matmul(to, Accum::Add, a, b, factor, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_solves_by_hand() -> Result<(), Singular> {
        let a = Matrix::from_fn(2, 2, |i, j| [[2.0, 1.0], [1.0, 3.0]][i][j]);
        let b = Matrix::from_fn(2, 1, |i, _| [3.0, 5.0][i]);
        assert_eq!(a.times(&b).values(), [11.0, 18.0]);
        assert_eq!(b.transposed_times(&a).values(), [11.0, 18.0]);
        assert_eq!(b.times_transposed(&b).values(), [9.0, 15.0, 15.0, 25.0]);
        for x in [a.solve(&b)?, a.solve_positive_definite(&b)?] {
            assert!((x.entry(0, 0) - 0.8).abs() < 1e-15 && (x.entry(1, 0) - 1.4).abs() < 1e-15);
        }
        assert_eq!(Matrix::zeros(2, 2).solve(&b), Err(Singular));
        assert_eq!(Matrix::zeros(2, 2).solve_positive_definite(&b), Err(Singular));
        Ok(())
    }
}
