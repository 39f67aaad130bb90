//! PKAWV and PKRR when all inputs are known beforehand (Jézéquel, Gaillard and Rudi 2019, section
//! 3.2, Corollary 8).
//!
//! Only the targets are revealed one by one. KORS makes a first pass over the inputs, and its
//! dictionary, complete and fixed, gives the subspace of every round: `f̂_t` minimises
//! `Σ_{s<t} (y_s − f(x_s))² + λ‖f‖² + f(x_t)²` over the span of all kept points. Against
//! [`PkawvNystrom`](crate::PkawvNystrom), which learns the inputs as they come, the bound on the
//! regret loses a factor of the dictionary's size in its last term, and nothing of the past is
//! stored or projected anew. The command has no entry for it: there learners are made before the
//! first row is read.
//!
//! It is the cell of frozen Newton coordinates `φ = L⁻¹k_S` and least squares: `md + 2½m²`
//! multiply-adds a round and `md + m²` numbers for `m` kept points; the first pass costs `md + m²`
//! a row.

use mercer_core::ExampleError;
use mercer_kernels::Kernel;
use mercer_sparsify::{Admission, Kors, NewtonBasis, Probe};

use super::projected_ridge::NystromParams;
use crate::engines::basis::OnFeatures;
use crate::engines::update::{Awv, GrowingUpdate, LeastSquares, Readout, Ridge};
use crate::learner::check_input;
use crate::{Error, ParameterError};

/// The Azoury–Warmuth–Vovk forecaster on the dictionary of a first pass.
pub type PkawvFrozen<K> = OnFeatures<NewtonBasis<K>, LeastSquares<Awv>>;

/// Online ridge regression on the dictionary of a first pass.
pub type PkrrFrozen<K> = OnFeatures<NewtonBasis<K>, LeastSquares<Ridge>>;

impl<K: Kernel, F: Readout> OnFeatures<NewtonBasis<K>, LeastSquares<F>> {
    /// Makes the first pass: `inputs` is row-major, `dimension` numbers a row.
    ///
    /// # Errors
    /// When a parameter is out of its range, `inputs` are no whole rows, or one of them is not
    /// finite or overflows the kernel.
    pub fn new(kernel: K, dimension: usize, inputs: &[f64], params: NystromParams) -> Result<Self, Error> {
        let NystromParams { lambda, mu, beta, epsilon, seed } = params;
        ParameterError::positive("mu", mu)?;
        let mut kors = Kors::new(mu, beta, epsilon, seed)?;
        let mut update = LeastSquares::new(ParameterError::positive("lambda", lambda)?, 1.0)?;
        let (mut basis, mut probe) = (NewtonBasis::new(kernel, dimension), Probe::default());
        for x in inputs.chunks(dimension.max(1)) {
            check_input(x, dimension)?;
            basis.probe(x, &mut probe);
            if !probe.is_finite() {
                return Err(ExampleError::KernelOverflow.into());
            }
            // The zero function of a non-stationary kernel is never kept.
            let new_coordinate = if probe.self_value() > 0.0 { kors.admits(&basis, x, &probe) } else { None };
            if let Some(new_coordinate) = new_coordinate {
                basis.append(x, probe.coordinates(), new_coordinate);
            }
        }
        update.restart(basis.len())?;
        Self::from_parts(basis, update)
    }
}
