//! The rows of the grid: how coefficients move, given coordinates.

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{BlockRecursion, SymmetricInverse};
use mercer_simd::axpy;

use crate::Error;

mod gradient;
mod least_squares;
mod newton;

pub use gradient::{GradientStep, StepSize};
pub(crate) use least_squares::Enlargement;
pub use least_squares::{Awv, Forecast, LeastSquares, Ridge};
pub use newton::NewtonStep;

/// An online linear learner `f(x) = wᵀφ(x)` in orthonormal coordinates `φ`.
pub trait LinearUpdate: Clone + Send {
    /// Number of coordinates.
    fn coordinates(&self) -> usize;

    /// The prediction at coordinates `phi`; clipping lives here.
    fn predict(&self, phi: &AlignedVec) -> f64;

    /// Learns `y` at `phi` and returns the prediction made before. With `growth = Some(√δ)` the example itself is appended
    /// to the basis: the update gains a coordinate and pushes `√δ` on `phi`.
    ///
    /// # Errors
    /// [`Error::Diverged`] when the step is not finite; `self` is unchanged (`phi` need not be).
    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error>;

    /// Rounds that [`learn_block`](Self::learn_block) likes to see at once; 1 when it takes them one by one.
    fn block_size(&self) -> usize {
        1
    }

    /// Learns `ys` at `phis` in order, as [`step`](Self::step) would one by one without growth, and appends the predictions.
    /// Updates that can look ahead take the whole block at once; predictions agree to rounding.
    ///
    /// # Errors
    /// The first refused round's; those before it are learnt, and `predictions` tells how many they are.
    fn learn_block(&mut self, phis: &mut [AlignedVec], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
        for (phi, y) in phis.iter_mut().zip(ys) {
            predictions.push(self.step(phi, None, *y)?);
        }
        Ok(())
    }

    /// The equations that this state solves, when rounds only add to them (`None` for all other updates). `n³`.
    fn normal_equations(&self) -> Option<NormalEquations> {
        None
    }

    /// The state that solves `equations` and goes on as this one would; `None` where rounding has made them singular, or where
    /// [`normal_equations`](Self::normal_equations) gives none. `n³`.
    fn solving(&self, equations: &NormalEquations) -> Option<Self> {
        let _ = equations;
        None
    }

    /// Gains a coordinate of which nothing is known yet; what was learnt stays.
    fn grow(&mut self);

    /// Forgets everything; `n` coordinates from now on.
    fn restart(&mut self, n: usize);
}

/// `A w = b` with `A = λI + Σ φφᵀ` and `b = Σ yφ`: what rounds come to whose predictions nobody asks for.
#[derive(Clone, Debug)]
pub struct NormalEquations {
    pub(crate) a: SymmetricInverse,
    pub(crate) b: AlignedVec,
}

impl NormalEquations {
    /// Adds a round. `½n²` multiply-adds.
    pub fn add(&mut self, phi: &AlignedVec, y: f64) {
        self.a.subtract(-1.0, phi);
        axpy(y, phi.lanes(), self.b.lanes_mut());
    }
}

/// Fewer rounds than this are faster one by one.
pub(crate) const SHORTEST_BLOCK: usize = 4;

/// What a round does to `w` and `P`, in units of `c = Pφ`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) prediction: f64,
    /// `P ← P − gain · c cᵀ`
    pub(crate) gain: f64,
    /// `w ← w + along · c`
    pub(crate) along: f64,
}

/// The rounds of a block, `round(z, s, y)` being the scalars of one with `z = wᵀφ` and `s = φᵀPφ`.
pub(crate) fn learn_rounds(
    block: &mut BlockRecursion,
    p: &mut SymmetricInverse,
    w: &mut AlignedVec,
    (phis, ys): (&[AlignedVec], &[f64]),
    predictions: &mut Vec<f64>,
    mut round: impl FnMut(f64, f64, f64) -> Result<Round, Error>,
) -> Result<(), Error> {
    block.begin(p, w, phis);
    let mut learnt = Ok(());
    for y in ys {
        match round(block.value(), block.quadratic(), *y) {
            Ok(Round { prediction, gain, along }) => {
                predictions.push(prediction);
                block.advance(gain, along);
            }
            Err(error) => {
                learnt = Err(error);
                break;
            }
        }
    }
    block.finish(p, w);
    learnt
}

/// `value`, or [`Error::Diverged`] when it is not finite.
pub(crate) fn finite(value: f64) -> Result<f64, Error> {
    if value.is_finite() { Ok(value) } else { Err(Error::Diverged) }
}
