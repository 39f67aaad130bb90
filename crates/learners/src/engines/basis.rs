//! The columns of the grid: how an input becomes coordinates, and the engines that put an update on
//! them.
//!
//! There are two kinds. A [`FeatureMap`] is fixed: random frequencies, Taylor features, points
//! given in advance, or the [input itself](Identity); [`OnFeatures`] learns on it. Points join and
//! leave a [`Basis`](mercer_sparsify::Basis) while learning, so an [admission
//! rule](mercer_sparsify::Admission) belongs to it: [`OnDictionary`] learns in its orthonormal
//! coordinates, [`OnCoefficients`](crate::OnCoefficients) moves the coefficients of the kernel
//! values themselves.

pub(crate) mod dictionary;
mod eviction;
pub(crate) mod features;
mod fourier;
mod frozen;
mod identity;
pub(crate) mod inverse_diagonal;
pub(crate) mod kernel_coefficients;
mod nystrom;
mod taylor;
pub(crate) mod timing;

use mercer_kernels::AlignedVec;

use crate::Error;

pub use dictionary::OnDictionary;
pub use eviction::Eviction;
pub use features::OnFeatures;
pub use identity::Identity;
pub use nystrom::FrozenNystrom;
pub use timing::{GrowThenStep, GrowthTiming, StepThenGrow, StepThenRestart};

/// Coordinates that do not change while learning.
pub trait FeatureMap: Send + Sync {
    /// Input dimension `d`.
    fn input_dimension(&self) -> usize;
    /// Number of coordinates.
    fn coordinates(&self) -> usize;
    /// Dictionary size that the learner reports.
    fn size(&self) -> usize;
    /// `features ← z(x)`; `work` is memory for intermediate results.
    fn map(&self, x: &[f64], features: &mut AlignedVec, work: &mut AlignedVec);

    /// The map if it is the inputs themselves: sums on it are about the mean of the inputs and know
    /// their units.
    fn identity(&self) -> Option<&Identity>;

    /// The same, to be told in other units.
    fn identity_mut(&mut self) -> Option<&mut Identity>;

    /// [`map`](Self::map) for the rows of a row-major block, the same bits; maps that share work
    /// between rows override it.
    fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        let d = self.input_dimension();
        for (row, features) in features.iter_mut().enumerate() {
            self.map(&xs[row * d..(row + 1) * d], features, work);
        }
    }

    /// The squared distance from the kernel function of `x`, of which these are the features, to
    /// the span of the features; 0 for maps that span the space in which they learn.
    fn outside(&self, x: &[f64], features: &AlignedVec) -> f64 {
        let _ = (x, features);
        0.0
    }

    /// Inputs have `added` coordinates more from now on, which were 0 in the past; the number of
    /// features stays.
    ///
    /// # Errors
    /// [`Error::FixedInputs`] for maps that cannot, which are then unchanged.
    fn grow(&mut self, added: usize) -> Result<(), Error> {
        let _ = added;
        Err(Error::FixedInputs)
    }
}
