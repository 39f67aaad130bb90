//! Eigenvalues and eigenfunctions of a Koopman operator.
//!
//! `Kf = μf` for `f = Σ c_j k_X(x_j, ·)` when `c` is an eigenvector of `M = Wᵀ G_YX`,
//! `(G_YX)_ij = k_X(y_i, x_j)`. With `W = L_Y⁻ᵀ A L_X⁻¹` the similar matrix
//! `L_Xᵀ M L_X⁻ᵀ = Aᵀ L_Y⁻¹ G_YX L_X⁻ᵀ` has entries of moderate size; `c = L_X⁻ᵀ w` for its
//! eigenvectors `w`, and `‖w‖ = ‖f‖`.
//!
//! A constant step leaves noise of its own size in the operator: eigenvalues move in the second
//! digit at a step of 0.3.

use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix};

use crate::Error;
use crate::KernelOperator;
use crate::kernel_operator::check_dimension;

/// The leading eigenpairs of a Koopman operator, by decreasing modulus; of a complex pair, the one
/// with positive imaginary part comes first. An eigenfunction of a learnt operator has unit norm;
/// its phase is fixed, so that the same operator gives the same functions.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Eigenfunctions {
    /// The eigenvalues.
    pub values: Vec<Eigenvalue>,
    /// Real parts of the coefficients on the input dictionary, one vector for each eigenvalue.
    pub re: Vec<Vec<f64>>,
    /// Imaginary parts, alike.
    pub im: Vec<Vec<f64>>,
}

impl<K: Kernel, L: Kernel> KernelOperator<K, L> {
    /// All eigenvalues, by decreasing modulus. `O(m³)`.
    ///
    /// # Errors
    /// When inputs and outputs differ in dimension, or the iteration does not converge.
    pub fn eigenvalues(&self) -> Result<Vec<Eigenvalue>, Error> {
        Ok(GeneralEigen::values(&self.koopman_matrix()?)?)
    }

    /// The `count` leading eigenpairs (all, if there are fewer). `O(m³)`.
    ///
    /// # Errors
    /// As [`eigenvalues`](Self::eigenvalues).
    pub fn eigen(&self, count: usize) -> Result<Eigenfunctions, Error> {
        let GeneralEigen { values, re, im } = GeneralEigen::new(&self.koopman_matrix()?, count)?;
        let coefficients = |parts: Vec<Vec<f64>>| {
            parts.iter().map(|w| self.input.synthesise(&AlignedVec::from_slice(w)).to_vec()).collect()
        };
        Ok(Eigenfunctions { values, re: coefficients(re), im: coefficients(im) })
    }

    /// The real parts of eigenfunctions at many points, `values[function][point]`.
    /// `O(m(d + functions))` a point.
    ///
    /// # Errors
    /// When the points have another dimension than the inputs, or the eigenfunctions are not of
    /// this operator.
    pub fn evaluate_real_parts(&self, functions: &Eigenfunctions, points: &Points) -> Result<Vec<Vec<f64>>, Error> {
        let functions: Vec<&[f64]> = functions.re.iter().map(Vec::as_slice).collect();
        self.evaluate_all(&functions, points)
    }

    /// `Aᵀ L_Y⁻¹ G_YX L_X⁻ᵀ`: the Koopman operator in the frame of the inputs.
    fn koopman_matrix(&self) -> Result<Matrix, Error> {
        check_dimension(self.output_dimension(), self.input_dimension())?;
        Ok(self.core_matrix().transposed_times(&self.output.cross(self.input_kernel(), &self.input)))
    }
}
