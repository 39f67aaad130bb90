//! The one batch factorisation that an online learner needs: the eigen-decomposition of a small
//! symmetric matrix.

use faer::{Mat, Side};

/// Eigenvalues, largest first, and eigenvectors of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// The eigenvalues, largest first.
    pub values: Vec<f64>,
    /// The eigenvectors, in the order of the values; each has unit norm.
    pub vectors: Vec<Vec<f64>>,
}

/// The eigenvalue iteration did not converge, or the matrix holds a number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the eigen-decomposition did not converge: the matrix holds numbers that are not finite")]
pub struct NoConvergence;

impl SymmetricEigen {
    /// The decomposition of the `n × n` matrix with entries `entry(i, j)`, of which `i ≥ j` are
    /// read. `O(n³)`, sequential.
    ///
    /// # Errors
    /// [`NoConvergence`] when an entry is not finite.
    pub fn new(n: usize, entry: impl Fn(usize, usize) -> f64) -> Result<Self, NoConvergence> {
        let matrix = Mat::from_fn(n, n, |i, j| entry(i.max(j), i.min(j)));
        if matrix.col_iter().any(|column| column.iter().any(|value| !value.is_finite())) {
            return Err(NoConvergence);
        }
        let eigen = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| NoConvergence)?;
        let values = (0..n).rev().map(|i| eigen.S()[i]).collect();
        let vectors = (0..n).rev().map(|i| eigen.U().col(i).iter().copied().collect()).collect();
        Ok(Self { values, vectors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_by_hand() -> Result<(), NoConvergence> {
        let eigen = SymmetricEigen::new(2, |i, j| if i == j { 2.0 } else { 1.0 })?;
        assert!((eigen.values[0] - 3.0).abs() < 1e-15 && (eigen.values[1] - 1.0).abs() < 1e-15);
        assert!((eigen.vectors[0][0] - eigen.vectors[0][1]).abs() < 1e-15);
        assert_eq!(SymmetricEigen::new(1, |_, _| f64::NAN), Err(NoConvergence));
        Ok(())
    }
}
