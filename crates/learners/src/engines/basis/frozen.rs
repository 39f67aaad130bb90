//! The orthonormal coordinates of a dictionary that keeps no further point.

use mercer_kernels::{AlignedVec, Kernel};
use mercer_simd::dot;
use mercer_sparsify::NewtonBasis;

use super::{FeatureMap, Identity};
use crate::Error;

impl<K: Kernel> FeatureMap for NewtonBasis<K> {
    fn input_dimension(&self) -> usize {
        self.dimension()
    }
    fn coordinates(&self) -> usize {
        self.len()
    }
    fn size(&self) -> usize {
        self.len()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec) {
        self.kernel().row(self.points(), x, work);
        self.factor().forward_solve(work, features);
    }
    fn identity(&self) -> Option<&Identity> {
        None
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        None
    }
    fn outside(&self, x: &[f64], features: &AlignedVec) -> f64 {
        (self.kernel().self_value(x) - dot(features.lanes(), features.lanes())).max(0.0)
    }
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        Self::grow(self, added);
        Ok(())
    }
}
