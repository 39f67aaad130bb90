//! Eigenvalues and eigenfunctions of the learnt operator. (interface)

use crate::Error;
use crate::operator::KernelOperator;
use mercer_kernels::{Kernel, Points};

/// An eigenvalue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Eigenvalue {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Eigenvalue {
    /// `|μ|`
    #[must_use]
    pub fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }
}

/// The leading eigenpairs of a Koopman operator, by decreasing modulus; of a complex pair, the one with positive imaginary
/// part comes first.
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
        todo!()
    }

    /// The `count` leading eigenpairs (all, if there are fewer). `O(m³)`.
    ///
    /// # Errors
    /// As [`eigenvalues`](Self::eigenvalues).
    pub fn eigen(&self, count: usize) -> Result<Eigenfunctions, Error> {
        let _ = count;
        todo!()
    }

    /// The real parts of eigenfunctions at many points, `values[function][point]`. `O(m(d + functions))` a point.
    ///
    /// # Errors
    /// When the points have another dimension than the inputs, or the eigenfunctions are not of this operator.
    pub fn evaluate_real_parts(&self, functions: &Eigenfunctions, points: &Points) -> Result<Vec<Vec<f64>>, Error> {
        let functions: Vec<&[f64]> = functions.re.iter().map(Vec::as_slice).collect();
        self.evaluate_all(&functions, points)
    }
}
