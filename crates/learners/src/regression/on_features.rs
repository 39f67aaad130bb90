//! The engine of the fixed-feature columns of the grid: a [`FeatureMap`] and a [`LinearUpdate`].

use mercer_kernels::{AlignedVec, RandomFourier};
use mercer_state::{Inconsistent, Validate};

use crate::regression::regressor::{check_block, check_example, check_input};
use crate::regression::update::LinearUpdate;
use crate::{Error, Regressor, Scratch};

/// Coordinates that do not change while learning.
pub trait FeatureMap {
    /// Input dimension `d`.
    fn input_dimension(&self) -> usize;
    /// Number of coordinates.
    fn coordinates(&self) -> usize;
    /// What the learner reports as its dictionary size.
    fn size(&self) -> usize;
    /// `features ← z(x)`; `work` is memory for intermediate results.
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec);

    /// [`map`](Self::map) for the rows of a row-major block, the same bits; maps that share work between rows override it.
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        for (x, features) in xs.chunks_exact(self.input_dimension().max(1)).zip(features) {
            self.map(x, features, work);
        }
    }
}

impl FeatureMap for RandomFourier {
    fn input_dimension(&self) -> usize {
        Self::input_dimension(self)
    }
    fn coordinates(&self) -> usize {
        self.dimension()
    }
    fn size(&self) -> usize {
        self.frequencies()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, _: &mut AlignedVec) {
        Self::map(self, x, features);
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], _: &mut AlignedVec) {
        Self::map_block(self, xs, features);
    }
}

/// Rows that a map takes together at least.
const ROWS_TOGETHER: usize = 8;

/// A linear update on fixed features.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnFeatures<F, U> {
    map: F,
    update: U,
    #[cfg_attr(feature = "serde", serde(skip))]
    features: Vec<AlignedVec>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: AlignedVec,
}

impl<F: FeatureMap, U: LinearUpdate> OnFeatures<F, U> {
    /// The learner with these features and this update, whose dimensions must agree.
    pub fn from_parts(map: F, update: U) -> Self {
        Self { map, update, features: Vec::new(), work: AlignedVec::new() }
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

impl<F: FeatureMap + Validate, U: LinearUpdate + Validate> Validate for OnFeatures<F, U> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.map.validate()?;
        self.update.validate()?;
        let fits = self.update.coordinates() == self.map.coordinates();
        Inconsistent::require(fits, "learner on features", "it has a coefficient for each feature")
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
        self.features.resize(self.features.len().max(1), AlignedVec::new());
        let features = &mut self.features[0];
        self.map.map(x, features, &mut self.work);
        self.update.step(features, None, y)
    }

    /// Maps the rows of a block together, and lets the update look ahead over them.
    fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        let d = self.dimension();
        check_block(xs, ys, d)?;
        let rows = self.update.block_size().max(ROWS_TOGETHER);
        self.features.resize(self.features.len().max(rows), AlignedVec::new());
        for (xs, ys) in xs.chunks(rows * d.max(1)).zip(ys.chunks(rows)) {
            let examples = || xs.chunks_exact(d.max(1)).zip(ys);
            let good = examples().take_while(|(x, y)| check_example(x, **y, d).is_ok()).count();
            let features = &mut self.features[..good];
            self.map.map_block(&xs[..good * d], features, &mut self.work);
            self.update.learn_block(features, &ys[..good], predictions)?;
            examples().nth(good).map_or(Ok(()), |(x, y)| check_example(x, *y, d))?;
        }
        Ok(())
    }
}
