//! The engine of the fixed-feature columns of the grid: a [`FeatureMap`] and a [`LinearUpdate`].

use mercer_kernels::{AlignedVec, RandomFourier};

use crate::regression::regressor::{check_example, check_input};
use crate::regression::update::LinearUpdate;
use crate::{Error, Regressor, Scratch};

/// Coordinates that do not change while learning.
pub trait FeatureMap {
    /// Input dimension `d`.
    fn input_dimension(&self) -> usize;
    /// What the learner reports as its dictionary size.
    fn size(&self) -> usize;
    /// `features ← z(x)`; `work` is memory for intermediate results.
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec);
}

impl FeatureMap for RandomFourier {
    fn input_dimension(&self) -> usize {
        Self::input_dimension(self)
    }
    fn size(&self) -> usize {
        self.frequencies()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, _: &mut AlignedVec) {
        Self::map(self, x, features);
    }
}

/// A linear update on fixed features.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnFeatures<F, U> {
    map: F,
    update: U,
    #[cfg_attr(feature = "serde", serde(skip))]
    features: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: AlignedVec,
}

impl<F: FeatureMap, U: LinearUpdate> OnFeatures<F, U> {
    /// The learner with these features and this update, whose dimensions must agree.
    pub fn from_parts(map: F, update: U) -> Self {
        Self { map, update, features: AlignedVec::new(), work: AlignedVec::new() }
    }

    /// The feature map.
    pub fn feature_map(&self) -> &F {
        &self.map
    }

    /// The linear learner on the features.
    pub fn linear(&self) -> &U {
        &self.update
    }
}

impl<F: FeatureMap, U: LinearUpdate> Regressor for OnFeatures<F, U> {
    fn dimension(&self) -> usize {
        self.map.input_dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.map.size()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        self.map.map(x, &mut scratch.features, &mut scratch.work);
        Ok(self.update.predict(&scratch.features))
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        self.map.map(x, &mut self.features, &mut self.work);
        self.update.step(&mut self.features, None, y)
    }
}
