//! An update that keeps a point only where it is wrong: the second half of the novelty criterion
//! (Platt 1991; Liu and Príncipe 2010).
//!
//! Where the rule of the dictionary would keep `x`, it is kept if `|y − f(x)| > δ₂`, for several
//! outputs if this holds for one of them; otherwise `x` is learnt as a point that is not kept. The
//! first point is always kept. With [`Novelty`](mercer_sparsify::Novelty) this is the novelty
//! criterion. A prediction more, `O(mJ)`, in rounds in which the rule would keep the point.
//!
//! It works on both engines: with [`GrowThenStep`](crate::GrowThenStep) in orthonormal coordinates,
//! as a [`LinearUpdate`], and on kernel coefficients, as a
//! [`CoefficientUpdate`](crate::CoefficientUpdate). The rule must be one without state, for it does
//! not hear that its point was declined.

use mercer_core::{Inconsistent, ParameterError, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations};

use crate::Error;
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LinearBlocks, LinearUpdate, LinearVariance, NormalSystem,
};
use crate::example::{Problem, Target};

/// The update `U`, which keeps points only where the error exceeds `δ₂`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WhenWrong<U> {
    pub(crate) inner: U,
    smallest: f64,
}

impl<U> WhenWrong<U> {
    /// `inner`, where errors up to `delta2 ≥ 0` keep no point. Its targets are numbers: under the
    /// softmax loss, where they are classes, a class counts as the number that stands for it, so
    /// that the error means nothing.
    ///
    /// # Errors
    /// When `delta2` is negative or not finite.
    pub fn new(inner: U, delta2: f64) -> Result<Self, ParameterError> {
        Ok(Self { inner, smallest: ParameterError::non_negative("delta2", delta2)? })
    }

    /// True if the error at these predictions is large enough to keep the point.
    pub(crate) fn keeps(&self, target: Target<'_>, scores: &[f64]) -> bool {
        target.y.iter().zip(scores).any(|(y, z)| (y - z).abs() > self.smallest)
    }
}

impl<U: Validate> Validate for WhenWrong<U> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::non_negative(self.smallest, "smallest error of the novelty criterion")?;
        self.inner.validate()
    }
}

impl<U: LinearUpdate> LinearUpdate for WhenWrong<U> {
    fn problem(&self) -> Problem {
        self.inner.problem()
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        self.inner.coefficients()
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.inner.predict(phi, scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let mut growth = growth;
        if growth.is_some() && self.coordinates() > 0 {
            self.inner.predict(phi, scores);
            growth = growth.filter(|_| self.keeps(target, scores));
        }
        self.inner.step(phi, growth, target, scores)
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        self.inner.by_values()
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        self.inner.variance()
    }

    /// Every round is asked whether it keeps its point.
    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        None
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        self.inner.equations()
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.inner.add_output(like)
    }
}

impl<U: GrowingUpdate> GrowingUpdate for WhenWrong<U> {
    fn grow(&mut self) -> Result<(), Error> {
        self.inner.grow()
    }

    fn remove(&mut self, rotations: &Rotations, how: Removal) {
        self.inner.remove(rotations, how);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.inner.restart(n)
    }
}
