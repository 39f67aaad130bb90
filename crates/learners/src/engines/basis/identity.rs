//! The inputs themselves as coordinates: linear learners.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;

use super::FeatureMap;

/// `z(x) = [x, 1]`, or `x` alone; with [units](Self::set_units) `(x_j − c_j)/u_j` for `x_j`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Identity {
    dimension: usize,
    intercept: bool,
    /// `(c_j, 1/u_j)` of each input; empty where inputs stay as they are.
    units: Vec<(f64, f64)>,
}

impl Identity {
    /// Inputs of dimension `dimension`; with `intercept` a coordinate that is always 1 stands
    /// behind them.
    #[must_use]
    pub fn new(dimension: usize, intercept: bool) -> Self {
        Self { dimension, intercept, units: Vec::new() }
    }

    /// True if the last coordinate is always 1.
    #[must_use]
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// True if the inputs are told in units of their own.
    #[must_use]
    pub fn has_units(&self) -> bool {
        !self.units.is_empty()
    }

    /// The `(c_j, s_j)` by which inputs are told as `(x_j − c_j) s_j`; empty where they stay as
    /// they are.
    #[must_use]
    pub fn units(&self) -> &[(f64, f64)] {
        &self.units
    }

    /// Tells input `j` from now on as `(x_j − c_j) s_j`, `(c_j, s_j)` being `units[j]`.
    ///
    /// # Panics
    /// If there is not one for each input.
    pub fn set_units(&mut self, units: Vec<(f64, f64)>) {
        assert_eq!(units.len(), self.dimension, "a unit for each input");
        self.units = units;
    }
}

impl Validate for Identity {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "units of a linear learner";
        Inconsistent::size(self.dimension, "dimension of a linear learner")?;
        let numbers = self.units.iter().all(|(centre, scale)| centre.is_finite() && scale.is_finite());
        let each = self.units.is_empty() || self.units.len() == self.dimension;
        Inconsistent::require(numbers && each, WHAT, "each input has one")
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
        for (z, (centre, scale)) in features.iter_mut().zip(&self.units) {
            *z = (*z - centre) * scale;
        }
        if self.intercept {
            features[self.dimension] = 1.0;
        }
    }
    fn identity(&self) -> Option<&Identity> {
        Some(self)
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        Some(self)
    }
}
