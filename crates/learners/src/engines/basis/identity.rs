//! The inputs themselves as coordinates: linear learners.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;

use super::FeatureMap;

/// `z(x) = [x, 1]`, or `x` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Identity {
    dimension: usize,
    intercept: bool,
}

impl Identity {
    /// Inputs of dimension `dimension`; with `intercept` a coordinate that is always 1 stands
    /// behind them.
    #[must_use]
    pub fn new(dimension: usize, intercept: bool) -> Self {
        Self { dimension, intercept }
    }
}

impl Validate for Identity {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.dimension, "dimension of a linear learner")
    }
}

impl FeatureMap for Identity {
    fn input_dimension(&self) -> usize {
        self.dimension
    }
    fn coordinates(&self) -> usize {
        self.dimension + usize::from(self.intercept)
    }
    fn size(&self) -> usize {
        self.coordinates()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, _: &mut AlignedVec) {
        features.resize(self.coordinates());
        features[..self.dimension].copy_from_slice(x);
        if self.intercept {
            features[self.dimension] = 1.0;
        }
    }
}
