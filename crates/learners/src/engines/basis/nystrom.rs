//! Features of a Nyström approximation.

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Linear, Points};
use mercer_linalg_incremental::SymmetricEigen;

use super::{FeatureMap, Identity};
use crate::Error;

/// Eigenvalues below this share of the largest are taken for zero.
const RANK_TOLERANCE: f64 = 1e-12;

/// Features of a Nyström approximation that no longer changes.
#[derive(Clone, Debug, PartialEq)]
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
    /// [`ExampleError::KernelOverflow`] when a kernel value is not finite.
    pub fn new(kernel: K, points: Points, rank: usize) -> Result<Self, Error> {
        let mut gram = Vec::new();
        kernel.block(&points, &points, &mut gram);
        let eigen = SymmetricEigen::new(points.len(), |i, j| gram[i][j]).map_err(|_| ExampleError::KernelOverflow)?;
        let smallest = RANK_TOLERANCE * eigen.values.first().copied().unwrap_or(0.0);
        let mut rows = Points::new(points.len());
        for (value, vector) in eigen.values.iter().zip(&eigen.vectors).take(rank) {
            if *value > smallest {
                rows.push(&vector.iter().map(|u| u / value.sqrt()).collect::<Vec<_>>());
            }
        }
        Ok(Self { kernel, points, rows })
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The points of the approximation.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Number of features.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rows.len()
    }

    /// The coordinates of the projection of a function with these values at the points.
    pub(crate) fn project(&self, values: &[f64], coordinates: &mut AlignedVec) {
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

    fn identity(&self) -> Option<&Identity> {
        None
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        None
    }

    fn grow(&mut self, added: usize) -> Result<(), Error> {
        self.points.grow(added);
        Ok(())
    }
}
