//! NOGD: Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).
//!
//! Until `B` points are kept, plain kernel gradient descent `f ← f − η g k(x, ·)` on all of them. Then the features of the
//! rank-`k` Nyström approximation on those points, `z(x) = Λ_k^{−1/2} U_kᵀ k_B(x)` with `K_B = U Λ Uᵀ` (eigenvalues up to
//! `1e−12 λ_max` are dropped), start from the projection of the same function, and `w ← w − η g z(x)` follows. `Bd + Bk`
//! multiply-adds a round after the switch, which itself costs `O(B³)` once.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Linear, Points};
use mercer_linalg_incremental::SymmetricEigen;

use crate::regression::expansion::KernelExpansion;
use crate::regression::on_features::{FeatureMap, OnFeatures};
use crate::regression::regressor::{check_example, check_input};
use crate::regression::update::{GradientStep, StepSize};
use crate::{Error, ParameterError, Regressor, Scratch};

/// Eigenvalues below this share of the largest are taken for zero.
const RANK_TOLERANCE: f64 = 1e-12;

/// Parameters of [`Nogd`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NogdParams {
    /// Number of points `B ≥ 1` kept before the switch.
    pub budget: usize,
    /// Rank `k ≥ 1`, at most `B` of them used.
    pub rank: usize,
    /// Step `η > 0`; the paper tunes it over `{1, 10, 100, 1000}/√T`.
    pub step: f64,
    /// Radius `U > 0` of the ball of functions; `None` does not project.
    pub radius: Option<f64>,
}

impl Default for NogdParams {
    fn default() -> Self {
        Self { budget: 400, rank: 400, step: 0.1, radius: None }
    }
}

/// Features of a Nyström approximation that no longer changes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrozenNystrom<K> {
    kernel: K,
    points: Points,
    /// The rows of `Λ^{−1/2} Uᵀ`: a matrix–vector product is a linear-kernel row on them.
    rows: Points,
}

impl<K: Kernel> FrozenNystrom<K> {
    /// The features of the best rank-`rank` approximation on `points`.
    ///
    /// # Errors
    /// [`Error::KernelOverflow`] when a kernel value is not finite.
    pub fn new(kernel: K, points: Points, rank: usize) -> Result<Self, Error> {
        let mut gram = Vec::new();
        kernel.block(&points, &points, &mut gram);
        let eigen = SymmetricEigen::new(points.len(), |i, j| gram[i][j]).map_err(|_| Error::KernelOverflow)?;
        let smallest = RANK_TOLERANCE * eigen.values.first().copied().unwrap_or(0.0);
        let mut rows = Points::new(points.len());
        for (value, vector) in eigen.values.iter().zip(&eigen.vectors).take(rank) {
            if *value > smallest {
                rows.push(&vector.iter().map(|u| u / value.sqrt()).collect::<Vec<_>>());
            }
        }
        Ok(Self { kernel, points, rows })
    }

    /// Number of features.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rows.len()
    }

    /// The coordinates of the projection of a function with these values at the points.
    fn project(&self, values: &[f64], coordinates: &mut AlignedVec) {
        Linear.row(&self.rows, values, coordinates);
    }
}

impl<K: Validate> Validate for FrozenNystrom<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.kernel.validate()?;
        self.points.validate()?;
        self.rows.validate()?;
        let fits = self.rows.dimension() == self.points.len();
        Inconsistent::require(fits, "Nyström features", "each has a coefficient for each point")
    }
}

impl<K: Kernel> FeatureMap for FrozenNystrom<K> {
    fn input_dimension(&self) -> usize {
        self.points.dimension()
    }

    fn coordinates(&self) -> usize {
        self.rank()
    }

    fn size(&self) -> usize {
        self.points.len()
    }

    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec) {
        self.kernel.row(&self.points, x, work);
        self.project(work, features);
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Phase<K> {
    Collecting(KernelExpansion<K>),
    Frozen(OnFeatures<FrozenNystrom<K>, GradientStep>),
}

/// Nyström online gradient descent.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nogd<K> {
    budget: usize,
    rank: usize,
    phase: Phase<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K: Kernel + Clone> Nogd<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NogdParams) -> Result<Self, Error> {
        let NogdParams { budget, rank, step, radius } = params;
        let radius = radius.map(|radius| ParameterError::positive("radius", radius)).transpose()?;
        let step_size = StepSize::Constant(ParameterError::positive("step", step)?);
        Ok(Self {
            budget: ParameterError::at_least_one("budget", budget)?,
            rank: ParameterError::at_least_one("rank", rank)?,
            phase: Phase::Collecting(KernelExpansion::new(kernel, dimension, step_size, radius)),
            scratch: Scratch::default(),
        })
    }

    /// The same function, projected on the features of the points kept.
    fn frozen(&self, expansion: &KernelExpansion<K>) -> Result<Phase<K>, Error> {
        let points = expansion.points();
        let map = FrozenNystrom::new(expansion.kernel().clone(), points.clone(), self.rank)?;
        let mut work = AlignedVec::new();
        let values: Result<Vec<f64>, Error> =
            (0..points.len()).map(|i| expansion.value(&points.point(i), &mut work)).collect();
        let mut w = AlignedVec::new();
        map.project(&values?, &mut w);
        let update = GradientStep::with_weights(w, expansion.step_size(), expansion.radius());
        Ok(Phase::Frozen(OnFeatures::from_parts(map, update)))
    }
}

impl<K: Kernel + Validate> Validate for Nogd<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.budget > 0 && self.rank > 0, "budget", "it is at least 1, and so is the rank")?;
        match &self.phase {
            Phase::Collecting(expansion) => {
                expansion.validate()?;
                let room = expansion.points().len() < self.budget;
                Inconsistent::require(room, "expansion", "it has fewer points than the budget")
            }
            Phase::Frozen(learner) => learner.validate(),
        }
    }
}

impl<K: Kernel + Clone> Regressor for Nogd<K> {
    fn dimension(&self) -> usize {
        match &self.phase {
            Phase::Collecting(expansion) => expansion.points().dimension(),
            Phase::Frozen(learner) => learner.dimension(),
        }
    }

    fn dictionary_size(&self) -> usize {
        match &self.phase {
            Phase::Collecting(expansion) => expansion.points().len(),
            Phase::Frozen(learner) => learner.dictionary_size(),
        }
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        match &self.phase {
            Phase::Collecting(expansion) => {
                check_input(x, self.dimension())?;
                expansion.value(x, &mut scratch.features)
            }
            Phase::Frozen(learner) => learner.predict_with(x, scratch),
        }
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        match &mut self.phase {
            Phase::Collecting(expansion) => {
                let z = expansion.value(x, &mut self.scratch.features)?;
                if expansion.points().len() + 1 < self.budget {
                    expansion.step(x, z, y)?;
                } else {
                    // The switch may be refused, so the last point joins a copy first.
                    let mut full = expansion.clone();
                    full.step(x, z, y)?;
                    self.phase = self.frozen(&full)?;
                }
                Ok(z)
            }
            Phase::Frozen(learner) => learner.predict_then_update(x, y),
        }
    }
}
