//! Feature maps that are fixed before the first row, behind one type: what can be summed up over
//! shards.

use std::fmt;
use std::sync::Arc;

use mercer_core::{ExampleError, Inconsistent, Validate, check_input};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points, RandomFourier, TaylorFeatures};
use mercer_sparsify::{Admission, Ald, NewtonBasis, Probe};

use crate::Error;
use crate::engines::basis::{FeatureMap, Identity};

/// Points whose squared distance to the span of those before is at most this share of `k(x, x)` are
/// left out.
const DEPENDENT: f64 = 1e-10;

/// A feature map that is chosen when the program runs. Two are equal when they give the same
/// features, so that sums on them may be added.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum FixedMap<K> {
    /// The inputs themselves.
    Identity(Identity),
    /// Taylor features of a Gaussian kernel.
    Taylor(TaylorFeatures),
    /// Random Fourier features of a Gaussian kernel.
    Fourier(RandomFourier),
    /// The orthonormal coordinates of given points: a Nyström approximation of any kernel.
    Nystrom(NewtonBasis<K>),
}

/// Why a map could not be made of given points.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// A point is refused.
    #[error("point {row}: {source}")]
    Point {
        /// Which point, from 1.
        row: usize,
        /// Why.
        source: Error,
    },
    /// No point is left.
    #[error("the points span nothing: give at least one at which the kernel is not zero")]
    Empty,
}

impl<K: Kernel> FixedMap<K> {
    /// The Nyström approximation on `points`. Points in the span of those before (to
    /// `1e−10 k(x,x)`) are left out. `½J³` for `J` points.
    ///
    /// # Errors
    /// When a point is not finite or overflows the kernel, or no point is left.
    pub fn nystrom(kernel: K, points: &Points) -> Result<Self, MapError> {
        Self::thinned(kernel, points, DEPENDENT)
    }

    /// The same where points whose squared distance to the span of those before is at most
    /// `alpha · k(x, x)` are left out.
    pub(super) fn thinned(kernel: K, points: &Points, alpha: f64) -> Result<Self, MapError> {
        let (mut basis, mut probe) = (NewtonBasis::new(kernel, points.dimension()), Probe::default());
        for index in 0..points.len() {
            let x = points.point(index);
            let refused = |source| MapError::Point { row: index + 1, source };
            check_input(&x, points.dimension()).map_err(|error| refused(error.into()))?;
            basis.probe(&x, &mut probe);
            if !probe.is_finite() {
                return Err(refused(ExampleError::KernelOverflow.into()));
            }
            let rule = Ald::new(alpha.max(DEPENDENT) * probe.self_value()).map_err(|error| refused(error.into()))?;
            if let Some(new_coordinate) = rule.decide(&basis, &x, &probe).growth() {
                basis.append(&x, probe.coordinates(), new_coordinate);
            }
        }
        if basis.is_empty() { Err(MapError::Empty) } else { Ok(Self::Nystrom(basis)) }
    }

    /// The map behind the variant.
    fn inner(&self) -> &dyn FeatureMap {
        match self {
            Self::Identity(map) => map,
            Self::Taylor(map) => map,
            Self::Fourier(map) => map,
            Self::Nystrom(map) => map,
        }
    }
}

impl fmt::Display for FixedMap<AnyKernel> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (d, r) = (self.input_dimension(), self.coordinates());
        match self {
            Self::Identity(_) => write!(f, "the {d} inputs ({r} features)"),
            Self::Taylor(_) => write!(f, "{r} Taylor features of {d} inputs"),
            Self::Fourier(map) => write!(f, "{} random frequencies of {d} inputs ({r} features)", map.frequencies()),
            Self::Nystrom(map) => write!(f, "{r} points of {d} inputs with the kernel {}", map.kernel()),
        }
    }
}

impl<K: Kernel> FeatureMap for FixedMap<K> {
    fn input_dimension(&self) -> usize {
        self.inner().input_dimension()
    }
    fn coordinates(&self) -> usize {
        self.inner().coordinates()
    }
    fn size(&self) -> usize {
        self.inner().size()
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec) {
        self.inner().map(x, features, work);
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        self.inner().map_block(xs, features, work);
    }
    fn identity(&self) -> Option<&Identity> {
        self.inner().identity()
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        match self {
            Self::Identity(map) => Some(map),
            Self::Taylor(_) | Self::Fourier(_) | Self::Nystrom(_) => None,
        }
    }
    fn outside(&self, x: &[f64], features: &AlignedVec) -> f64 {
        self.inner().outside(x, features)
    }
}

/// Thousands of states may share one map.
impl<F: FeatureMap + Clone> FeatureMap for Arc<F> {
    fn input_dimension(&self) -> usize {
        F::input_dimension(self)
    }
    fn coordinates(&self) -> usize {
        F::coordinates(self)
    }
    fn size(&self) -> usize {
        F::size(self)
    }
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec) {
        F::map(self, x, features, work);
    }
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        F::map_block(self, xs, features, work);
    }
    fn identity(&self) -> Option<&Identity> {
        F::identity(self)
    }
    fn identity_mut(&mut self) -> Option<&mut Identity> {
        Self::make_mut(self).identity_mut()
    }
    fn outside(&self, x: &[f64], features: &AlignedVec) -> f64 {
        F::outside(self, x, features)
    }
}

impl<K: Validate + Kernel> Validate for FixedMap<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Identity(map) => map.validate()?,
            Self::Taylor(map) => map.validate()?,
            Self::Fourier(map) => map.validate()?,
            Self::Nystrom(map) => map.validate()?,
        }
        Inconsistent::require(self.coordinates() > 0, "feature map", "it has a feature")
    }
}
