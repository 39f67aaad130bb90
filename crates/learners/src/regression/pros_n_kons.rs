//! PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).
//!
//! `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
//! coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on, and that round
//! skips the projection. PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
//! appended with `A ← diag(A, α)`, `w ← [w; 0]`. (\[A\] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
//! the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
//! kept in the span of the others changes neither dictionary nor learner.
//! `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

use mercer_kernels::Kernel;
use mercer_sparsify::Kors;

use crate::regression::on_dictionary::{GrowthTiming, OnDictionary, StepThenGrow, StepThenRestart};
use crate::regression::update::NewtonStep;
use crate::{Error, ParameterError};

/// Parameters of [`ProsNKons`] and [`ConKons`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SampledKonsParams {
    /// Regulariser `α > 0` of the Newton step.
    pub alpha: f64,
    /// Regulariser `γ > 0` of the leverage scores; larger keeps fewer points.
    pub gamma: f64,
    /// Oversampling `β > 0`.
    pub beta: f64,
    /// Accuracy `ε ≥ 0` of the scores.
    pub epsilon: f64,
    /// Bound `C > 0` on the predictions.
    pub clip: f64,
    /// Largest dictionary; `None` leaves its size to the sampler. The default keeps an ill-chosen width affordable.
    pub max_dictionary: Option<usize>,
    /// Seed of the coins.
    pub seed: u64,
}

impl Default for SampledKonsParams {
    fn default() -> Self {
        Self { alpha: 5.0, gamma: 1.0, beta: 1.0, epsilon: 0.5, clip: 1.0, max_dictionary: Some(1000), seed: 0 }
    }
}

/// The online Newton step on a KORS dictionary, restarted when a point is kept.
pub type ProsNKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenRestart>;

/// The online Newton step on a KORS dictionary, carried on when a point is kept.
pub type ConKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenGrow>;

impl<K: Kernel, T: GrowthTiming> OnDictionary<K, Kors, NewtonStep, T> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: SampledKonsParams) -> Result<Self, Error> {
        let SampledKonsParams { alpha, gamma, beta, epsilon, clip, max_dictionary, seed } = params;
        let clip = ParameterError::positive("clip", clip)?;
        let update = NewtonStep::new(ParameterError::positive("alpha", alpha)?, 1.0 / (16.0 * clip * clip), clip);
        Ok(Self::from_parts(kernel, dimension, Kors::new(gamma, beta, epsilon, seed)?, update, max_dictionary))
    }
}
