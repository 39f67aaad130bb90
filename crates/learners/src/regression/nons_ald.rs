//! NONS-ALD: Nyström online Newton step on an ALD dictionary (\[A\] Algorithm 3).
//!
//! In the orthonormal coordinates `φ` of the dictionary, with `g = 2(ŷ − y)` and `η = 1/(4(U² + Y²))`:
//! `A ← A + η g² φφᵀ`, `w ← w − A⁻¹gφ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U`. A point with residual above `α` joins
//! the dictionary: `w ← [w; 0]`, `A ← diag(A, μ)` (Lemmas 4.2 and 4.3; exact in Newton coordinates). `Jd + 2J²`
//! multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! Where the printed algorithm and this differ: it skips prediction and update on a round that enlarges the dictionary;
//! the paper's text and its Table 3 do not, and neither does this. The projection uses the coordinates before growth.

use mercer_kernels::Kernel;
use mercer_sparsify::Ald;

use crate::regression::on_dictionary::{GrowThenStep, OnDictionary};
use crate::regression::update::NewtonStep;
use crate::{Error, ParameterError};

/// Parameters of [`NonsAld`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NonsAldParams {
    /// Regulariser `μ > 0`, `A_0 = μI`.
    pub mu: f64,
    /// ALD threshold `α ≥ 0` on the squared distance; the paper takes `25/T`.
    pub alpha: f64,
    /// Bound `U > 0` on the predictions.
    pub radius: f64,
    /// Bound `Y > 0` on the targets.
    pub label_bound: f64,
    /// Largest dictionary; `None` leaves its size to the ALD test. The default keeps an ill-chosen width affordable.
    pub max_dictionary: Option<usize>,
}

impl Default for NonsAldParams {
    fn default() -> Self {
        Self { mu: 1.0, alpha: 1e-3, radius: 1.0, label_bound: 1.0, max_dictionary: Some(1000) }
    }
}

/// Nyström online Newton step on an ALD dictionary.
pub type NonsAld<K> = OnDictionary<K, Ald, NewtonStep, GrowThenStep>;

impl<K: Kernel> NonsAld<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NonsAldParams) -> Result<Self, Error> {
        let NonsAldParams { mu, alpha, radius, label_bound, max_dictionary } = params;
        let (radius, label_bound) =
            (ParameterError::positive("radius", radius)?, ParameterError::positive("label_bound", label_bound)?);
        let eta = 1.0 / (4.0 * (radius * radius + label_bound * label_bound));
        let update = NewtonStep::new(ParameterError::positive("mu", mu)?, eta, radius);
        Ok(Self::from_parts(kernel, dimension, Ald::new(alpha)?, update, max_dictionary))
    }
}
