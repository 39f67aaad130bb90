//! Taylor features of a Gaussian kernel.

use mercer_kernels::{AlignedVec, TaylorFeatures};

use super::{FeatureMap, Identity};

impl FeatureMap for TaylorFeatures {
    fn input_dimension(&self) -> usize {
        Self::input_dimension(self)
    }
    fn coordinates(&self) -> usize {
        self.dimension()
    }
    fn size(&self) -> usize {
        self.dimension()
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
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        Self::map_block(self, xs, features, work);
    }
}
