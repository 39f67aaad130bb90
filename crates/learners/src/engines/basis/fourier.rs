//! Random Fourier features.

use mercer_kernels::{AlignedVec, RandomFourier};

use super::{FeatureMap, Identity};
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
    fn identity(&self) -> Option<&Identity> {
        None
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        None
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], _: &mut AlignedVec) {
        Self::map_block(self, xs, features);
    }
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        Self::grow(self, added);
        Ok(())
    }
}
