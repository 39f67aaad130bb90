//! When a kept point begins to act.

use crate::Error;
use crate::engines::update::GrowingUpdate;

/// When a kept point begins to act.
pub trait GrowthTiming: Send + Sync {
    /// True if the point is part of the basis when its own example is learnt.
    const BEFORE_STEP: bool;
    /// Makes the update fit a basis that gained a point after the step; `n` coordinates from now
    /// on.
    ///
    /// # Errors
    /// When the update cannot have a coordinate before its example.
    fn after_step(update: &mut impl GrowingUpdate, n: usize) -> Result<(), Error>;
}

/// The point joins first, then the example is learnt in the enlarged basis (NONS-ALD, AOGD-ALD,
/// KRLS).
#[derive(Clone, Copy, Debug, Default)]
pub struct GrowThenStep;

/// The example is learnt in the old basis; from the next round on there is one more coordinate
/// (CON-KONS).
#[derive(Clone, Copy, Debug, Default)]
pub struct StepThenGrow;

/// The example is learnt in the old basis; then the update starts anew in the enlarged one
/// (PROS-N-KONS).
#[derive(Clone, Copy, Debug, Default)]
pub struct StepThenRestart;

impl GrowthTiming for GrowThenStep {
    const BEFORE_STEP: bool = true;
    fn after_step(_: &mut impl GrowingUpdate, _: usize) -> Result<(), Error> {
        Ok(())
    }
}

impl GrowthTiming for StepThenGrow {
    const BEFORE_STEP: bool = false;
    fn after_step(update: &mut impl GrowingUpdate, _: usize) -> Result<(), Error> {
        update.grow()
    }
}

impl GrowthTiming for StepThenRestart {
    const BEFORE_STEP: bool = false;
    fn after_step(update: &mut impl GrowingUpdate, n: usize) -> Result<(), Error> {
        update.restart(n)
    }
}
