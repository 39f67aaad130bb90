//! KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).
//!
//! In the orthonormal coordinates of the dictionary it is recursive least squares, [`LeastSquares`]: predictions are those
//! of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
//! recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
//! one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! A ridge and forgetting are extensions; see [`LeastSquares`] for what they do.

use mercer_kernels::Kernel;
use mercer_sparsify::Ald;

use crate::regression::on_dictionary::{GrowThenStep, OnDictionary};
use crate::regression::update::LeastSquares;
use crate::{Error, ParameterError};

/// Parameters of [`Krls`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KrlsParams {
    /// ALD threshold `ν ≥ 0` on the squared distance.
    pub nu: f64,
    /// Ridge `λ ≥ 0`; 0 is Engel's algorithm.
    pub lambda: f64,
    /// Forgetting `γ ∈ (0, 1]`; 1 forgets nothing.
    pub forgetting: f64,
    /// Largest dictionary; `None` leaves its size to the ALD test. The default keeps an ill-chosen width affordable.
    pub max_dictionary: Option<usize>,
}

impl Default for KrlsParams {
    fn default() -> Self {
        Self { nu: 1e-3, lambda: 0.0, forgetting: 1.0, max_dictionary: Some(1000) }
    }
}

/// Kernel recursive least squares on an ALD dictionary.
pub type Krls<K> = OnDictionary<K, Ald, LeastSquares, GrowThenStep>;

impl<K: Kernel> Krls<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KrlsParams) -> Result<Self, Error> {
        let KrlsParams { nu, lambda, forgetting, max_dictionary } = params;
        ParameterError::require(forgetting > 0.0 && forgetting <= 1.0, "forgetting", "a number in (0, 1]", forgetting)?;
        let rule = Ald::new(ParameterError::non_negative("nu", nu)?)?;
        let update = LeastSquares::new(ParameterError::non_negative("lambda", lambda)?, forgetting);
        Ok(Self::from_parts(kernel, dimension, rule, update, max_dictionary))
    }
}
