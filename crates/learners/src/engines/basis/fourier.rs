//! Random Fourier features.

use mercer_kernels::{AlignedVec, RandomFourier};

use super::FeatureMap;
use crate::Error;

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
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        Self::grow(self, added);
        Ok(())
    }
}
