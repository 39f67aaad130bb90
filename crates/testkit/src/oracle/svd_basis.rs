//! The explicit feature map of the Nyström projection, `φ_j(x) = Σ^(-1/2) Uᵀ k_S(x)`, by SVD.
//!
//! Li & Liao write `P_j^{1/2} = Σ^(-1/2) Uᵀ Φ_Sᵀ` for the map from H to `R^j`, with `K_S = U Σ Uᵀ`;
//! then `φ_j(x) = P_j^{1/2} k(x,·)`, and the change of basis when S grows is `Q_{j,j-1} = P_j^{1/2}
//! (P_{j-1}^{1/2})ᵀ = Σ_j^(-1/2) U_jᵀ K_{S(j),S(j-1)} U_{j-1} Σ_{j-1}^(-1/2)`.
//!
//! Two choices keep digits, and change no formula. The SVD of a positive definite matrix is its
//! eigen-decomposition, and is computed as one: nalgebra's general SVD rebuilds the Gram matrix of
//! two points 1e-3 apart only to 4e-10. And since the old points are the first of the new ones,
//! `U_jᵀ K_{S(j),S(j-1)} = Σ_j U_jᵀ [I; 0]`, so that
//! `Q = Σ_j^(1/2) U_jᵀ [I; 0] U_{j-1} Σ_{j-1}^(-1/2)`, which saves the digits that the product with
//! `K` would lose.
//!
//! How far to trust it (predictions of NONS-ALD against a code in Newton coordinates, 100 to 300
//! points): to 1e-12 while cond(K_S) is below 1e10 and no pair 1e-3 apart is kept whole; to 4e-12
//! with 50 such pairs, 5e-11 with 150; to 1e-9 when cond(K_S) is also above 1e11. Beyond 1e13 it
//! panics.

use nalgebra::{DMatrix, DVector};

use super::KernelFn;
use super::dense::{ald, gram, kernel_vector};

/// A dictionary and the matrices `Σ^(1/2) Uᵀ` and `Σ^(-1/2) Uᵀ` of its Gram matrix `U Σ Uᵀ`.
pub(super) struct SvdBasis<'a> {
    kernel: KernelFn<'a>,
    points: Vec<Vec<f64>>,
    root: DMatrix<f64>,
    inverse_root: DMatrix<f64>,
}

impl<'a> SvdBasis<'a> {
    pub(super) fn new(kernel: KernelFn<'a>, points: Vec<Vec<f64>>) -> Self {
        let (u, sigma) = decompose(&gram(&points, kernel));
        let root = DMatrix::from_diagonal(&sigma.map(f64::sqrt)) * u.transpose();
        let inverse_root = DMatrix::from_diagonal(&sigma.map(|s| 1.0 / s.sqrt())) * u.transpose();
        Self { kernel, points, root, inverse_root }
    }

    /// The basis after one more point, decomposed anew.
    pub(super) fn enlarged(&self, x: &[f64]) -> Self {
        let mut points = self.points.clone();
        points.push(x.to_vec());
        Self::new(self.kernel, points)
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// `φ_j(x)`.
    pub(super) fn coordinates(&self, x: &[f64]) -> DVector<f64> {
        if self.points.is_empty() {
            return DVector::zeros(0);
        }
        &self.inverse_root * kernel_vector(&self.points, x, self.kernel)
    }

    /// The ALD residual of `x`, from the Gram matrix itself and not from the coordinates.
    pub(super) fn residual(&self, x: &[f64]) -> f64 {
        ald(&self.points, x, self.kernel).0
    }

    /// `Q`, which takes coordinates in `old`, whose points are the first ones here, to coordinates
    /// here, `(j, j_old)`.
    pub(super) fn change_from(&self, old: &Self) -> DMatrix<f64> {
        if old.points.is_empty() {
            return DMatrix::zeros(self.len(), 0);
        }
        self.root.columns(0, old.len()) * old.inverse_root.transpose()
    }
}

/// `rI + Q (A − rI) Qᵀ`: Lemma 4.2, the old `A` seen in the new basis.
pub(super) fn carry(matrix: &DMatrix<f64>, change: &DMatrix<f64>, regulariser: f64) -> DMatrix<f64> {
    let (new, old) = change.shape();
    let fresh = DMatrix::identity(new, new) * regulariser;
    if old == 0 {
        return fresh;
    }
    fresh + change * (matrix - DMatrix::identity(old, old) * regulariser) * change.transpose()
}

/// `Q w`, with the empty vector taken to 0.
pub(super) fn carry_weights(weights: &DVector<f64>, change: &DMatrix<f64>) -> DVector<f64> {
    if weights.is_empty() { DVector::zeros(change.nrows()) } else { change * weights }
}

/// `U` and the diagonal of `Σ`.
fn decompose(gram: &DMatrix<f64>) -> (DMatrix<f64>, DVector<f64>) {
    if gram.is_empty() {
        return (DMatrix::zeros(0, 0), DVector::zeros(0));
    }
    let eigen = gram.clone().symmetric_eigen();
    let (u, sigma) = (eigen.eigenvectors, eigen.eigenvalues);
    let largest = sigma.max();
    let rebuilt = &u * DMatrix::from_diagonal(&sigma) * u.transpose();
    let error = (rebuilt - gram).amax();
    assert!(
        error <= 1e-13 * largest,
        "the decomposition does not rebuild the Gram matrix: error {error:e} of {largest:e}"
    );
    assert!(sigma.min() > 1e-13 * largest, "the dictionary is numerically dependent: the oracle is not defined there");
    (u, sigma)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;
    use crate::streams;

    #[test]
    fn coordinates_reproduce_the_kernel_on_the_dictionary_and_the_change_of_basis_is_an_isometry() {
        let kernel = gaussian(0.7);
        let points: Vec<Vec<f64>> = streams::near_duplicates(1, 12, 3).into_iter().map(|(x, _)| x).collect();
        let old = SvdBasis::new(&kernel, points[..11].to_vec());
        let new = old.enlarged(&points[11]);
        for x in &points {
            for z in &points {
                let inner = new.coordinates(x).dot(&new.coordinates(z));
                assert!((inner - kernel(x, z)).abs() < 1e-12, "{inner} against {}", kernel(x, z));
            }
        }
        let q = new.change_from(&old);
        let as_printed = &new.inverse_root
            * DMatrix::from_fn(12, 11, |i, j| kernel(&points[i], &points[j]))
            * old.inverse_root.transpose();
        let eigenvalues = gram(&points, &kernel).symmetric_eigenvalues();
        let tolerance = 12.0 * f64::EPSILON * eigenvalues.max() / eigenvalues.min();
        assert!(tolerance < 1e-7, "the test is void at {tolerance:e}");
        let error = (as_printed - &q).amax();
        assert!(error < tolerance, "Q differs from its printed form by {error:e}");
        let error = (q.transpose() * &q - DMatrix::identity(11, 11)).amax();
        assert!(error < tolerance, "QᵀQ − I is {error:e}");
    }
}
