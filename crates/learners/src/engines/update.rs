//! The rows of the grid: how coefficients move, given coordinates.

mod block;
mod coefficients;
mod gradient;
pub(crate) mod importance;
mod information;
mod least_squares;
pub(crate) mod margin;
mod newton;
mod normal_equations;
mod projection;
mod readout;
mod residuals;
mod when_wrong;

use mercer_core::ExampleError;
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations, SymmetricMatrix};

use crate::Error;
use crate::example::{Problem, Target, Targets};
use crate::learner::{check_scores, learn_in_order};
use crate::loss::Loss;

pub use coefficients::Coefficients;
pub use gradient::{GradientStep, StepSize};
pub(crate) use least_squares::Enlargement;
pub use least_squares::{Forgetting, LeastSquares};
pub use newton::NewtonStep;
pub use normal_equations::NormalEquations;
pub use projection::ProjectionStep;
pub use readout::{Awv, Readout, Ridge};
pub use residuals::Residuals;
pub use when_wrong::WhenWrong;

/// An online linear learner `f(x) = Wᵀφ(x)` with a column of `W` for each output.
///
/// Regularisers and projections are those of `‖W‖`, so on a dictionary the coordinates must be
/// orthonormal: [`OnDictionary`](crate::OnDictionary) has an
/// [`Orthonormal`](mercer_sparsify::Orthonormal) basis. Fixed features span a space of their own,
/// in which they are; a dictionary also asks for a [`GrowingUpdate`].
///
/// What an update is or can do has no default, so that an update around another one says of all of
/// it whether it passes it on. The methods with a body follow from the others.
pub trait LinearUpdate: Clone + Send + Sync {
    /// The numbers of coordinates and outputs, and what it minimises.
    fn problem(&self) -> Problem;

    /// The coefficients `W`, for rules that remove the point that counts least; without them the
    /// oldest of those rules' points leaves.
    fn coefficients(&self) -> Option<&Coefficients>;

    /// The prediction at coordinates `phi`.
    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]);

    /// Learns a target of positive weight at `phi` and gives the prediction made before. With
    /// `growth = Some(√δ)` the example itself is appended to the basis: the update gains a
    /// coordinate and pushes `√δ` on `phi`. An update that looks at the error may decline and gain
    /// none; the point then stays out. (The rule must be one without state, and the update one that
    /// takes no blocks.)
    ///
    /// # Errors
    /// [`ExampleError::Diverged`] when the step is not finite; `self` is unchanged (`phi` need not
    /// be).
    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error>;

    /// Predictions made of values alone, for updates that take no more of `φ`.
    fn by_values(&self) -> Option<&dyn ByValues>;

    /// Variances, of updates that have them.
    fn variance(&self) -> Option<&dyn LinearVariance>;

    /// Blocks, of updates that can look ahead.
    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks>;

    /// The normal equations that the state solves, of updates to which rounds only add.
    fn equations(&mut self) -> Option<&mut dyn NormalSystem>;

    /// Gains an output, a copy of output `like` or zero.
    ///
    /// # Errors
    /// [`Error::FixedOutputs`] when it cannot.
    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error>;

    /// Number of coordinates.
    #[inline]
    fn coordinates(&self) -> usize {
        self.problem().shape.inputs
    }

    /// Number of outputs.
    #[inline]
    fn outputs(&self) -> usize {
        self.problem().shape.outputs
    }

    /// The loss that it minimises.
    #[inline]
    fn loss(&self) -> Loss {
        self.problem().loss
    }

    /// [`LinearVariance::noise_variance`], where there is one.
    fn noise(&self, output: usize) -> Option<f64> {
        self.variance()?.noise_variance(output)
    }

    /// [`LinearVariance::predict_with_variance`]; of updates without variances a prediction, NaN
    /// and false.
    fn predict_variance(&self, phi: &AlignedVec, outside: f64, scores: &mut [f64], variances: &mut [f64]) -> bool {
        if let Some(variance) = self.variance() {
            return variance.predict_with_variance(phi, outside, scores, variances);
        }
        self.predict(phi, scores);
        variances.fill(f64::NAN);
        false
    }

    /// Rounds that [`learn_block`](Self::learn_block) likes to see at once; 1 when it takes them
    /// one by one.
    fn block_size(&mut self) -> usize {
        self.blocks().map_or(1, LinearBlocks::size)
    }

    /// Learns `targets` at `phis` in order, as [`step`](Self::step) would one by one without
    /// growth, and appends the predictions; those of weight 0 are only predicted. Predictions of
    /// [`blocks`](Self::blocks) agree to rounding.
    ///
    /// # Errors
    /// The first refused round's; those before it are learnt, and `scores` tells how many they are.
    fn learn_block(
        &mut self,
        phis: &mut [AlignedVec],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        match self.blocks() {
            Some(blocks) => blocks.learn_together(phis, targets, scores),
            None => learn_each(self, phis, targets, scores),
        }
    }
}

/// A linear learner whose coordinates join and leave.
pub trait GrowingUpdate: LinearUpdate {
    /// Gains a coordinate of which nothing is known yet; what was learnt stays.
    ///
    /// # Errors
    /// When it has no prior for one; nothing has changed then.
    fn grow(&mut self) -> Result<(), Error>;

    /// Loses a coordinate: `rotations` bring it last, and it is dropped as `how` says. `O(n²)`
    /// where there is a matrix, `O(n)` where there is none.
    fn remove(&mut self, rotations: &Rotations, how: Removal);

    /// Forgets everything; `n` coordinates from now on.
    ///
    /// # Errors
    /// When it has no prior for them; nothing has changed then.
    fn restart(&mut self, n: usize) -> Result<(), Error>;
}

/// Predictions that the values `Wᵀφ` alone make.
pub trait ByValues {
    /// Function number `index` of those whose values `wᵀφ` alone make the predictions, one an
    /// output; `None` past the last.
    fn function(&self, index: usize) -> Option<&AlignedVec>;

    /// Turns values into predictions; clipping lives here.
    fn read(&self, values: &mut [f64]);
}

/// Variances of a [`LinearUpdate`].
pub trait LinearVariance {
    /// [`Variance::noise_variance`](crate::Variance::noise_variance).
    fn noise_variance(&self, output: usize) -> Option<f64>;

    /// [`LinearUpdate::predict`] with the variance of a target at `phi`, as
    /// [`Variance::predict_with_variance`](crate::Variance::predict_with_variance) has it.
    /// `outside` is the squared distance from the input's feature to the span of the basis.
    fn predict_with_variance(&self, phi: &AlignedVec, outside: f64, scores: &mut [f64], variances: &mut [f64]) -> bool;
}

/// A state that solves normal equations, of a [`LinearUpdate`].
pub trait NormalSystem {
    /// The equations; `None` where rounding has made the state indefinite. `n³`.
    fn normal_equations(&self) -> Option<NormalEquations>;

    /// Solves `equations`, to go on as this state would, without the residuals of their rounds.
    /// False, and nothing is changed, where rounding has made them singular. `n³`.
    fn solve(&mut self, equations: &NormalEquations) -> bool;

    /// The residuals, which the equations do not tell.
    fn residuals(&mut self) -> &mut Residuals;
}

/// Rounds that a [`LinearUpdate`] learns together.
pub trait LinearBlocks {
    /// Rounds that it likes to see at once; 1 while it would take them one by one.
    fn size(&mut self) -> usize;

    /// [`LinearUpdate::learn_block`].
    ///
    /// # Errors
    /// The first refused round's; those before it are learnt, and `scores` tells how many they are.
    fn learn_together(
        &mut self,
        phis: &mut [AlignedVec],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error>;
}

/// [`LinearUpdate::learn_block`] one by one.
pub(crate) fn learn_each<U: LinearUpdate>(
    update: &mut U,
    phis: &mut [AlignedVec],
    targets: Targets<'_>,
    scores: &mut Vec<f64>,
) -> Result<(), Error> {
    learn_in_order(phis.len(), update.outputs(), scores, |row, made| {
        let (phi, target) = (&mut phis[row], targets.get(row));
        if target.weight == 0.0 {
            update.predict(phi, made);
            return check_scores(made);
        }
        update.step(phi, None, target, made)
    })
}

/// Coefficients move by no more than this in one round: sums of such steps stay in the range of
/// numbers.
pub(crate) const LARGEST_STEP: f64 = 1e300;

/// [`ExampleError::Diverged`] for a step of coefficients that is too long, or not a number.
pub(crate) fn in_range(step: f64) -> Result<(), Error> {
    if step.abs() <= LARGEST_STEP { Ok(()) } else { Err(ExampleError::Diverged.into()) }
}

/// Takes a coordinate out of `w` and `P`: [`LinearUpdate::remove`] for updates with a matrix.
/// Returns `P_jj` of the coordinate that left, and leaves `P_j/P_jj` in `c`.
pub(crate) fn remove_coordinate(
    w: &mut Coefficients,
    p: &mut SymmetricMatrix,
    c: &mut AlignedVec,
    rotations: &Rotations,
    how: Removal,
) -> f64 {
    w.rotate(rotations);
    p.rotate(rotations);
    let corner = p.drop_last(how, c);
    if corner > 0.0 {
        c.iter_mut().for_each(|c| *c /= corner);
    }
    w.drop_last((how == Removal::Condition).then_some(c));
    corner
}

/// Room for so many numbers, which is there already except for the first time.
#[inline(always)]
pub(crate) fn make_room(numbers: &mut Vec<f64>, count: usize) {
    if numbers.len() != count {
        numbers.resize(count, 0.0);
    }
}

/// Refuses a step of `along · Pφ` that is too long for [`in_range`]. No entry of `Pφ` exceeds
/// `√(s · largest)`, where `s = φᵀPφ` and `largest` is a bound on the diagonal of `P`.
#[inline(always)]
pub(crate) fn move_in_range(along: f64, s: f64, largest: f64) -> Result<(), Error> {
    // Far from the limit nothing need be computed.
    const FAR: f64 = 1e100;
    if along.abs() < FAR && s < FAR && largest < FAR {
        return Ok(());
    }
    // A step is never longer than its bound, for entries below 1.
    in_range(along * (s.max(0.0).sqrt() * largest.sqrt()).max(1.0))
}

/// `value`, or [`ExampleError::Diverged`] when it is not finite.
#[inline]
pub(crate) fn finite(value: f64) -> Result<f64, Error> {
    if value.is_finite() { Ok(value) } else { Err(ExampleError::Diverged.into()) }
}
