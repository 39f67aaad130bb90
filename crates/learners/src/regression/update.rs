//! The rows of the grid: how coefficients move, given coordinates.

use mercer_kernels::AlignedVec;

use crate::Error;

mod gradient;
mod least_squares;
mod newton;

pub use gradient::{GradientStep, StepSize};
pub(crate) use least_squares::Enlargement;
pub use least_squares::{Awv, Forecast, LeastSquares, Ridge};
pub use newton::NewtonStep;

/// An online linear learner `f(x) = wᵀφ(x)` in orthonormal coordinates `φ`.
pub trait LinearUpdate {
    /// The prediction at coordinates `phi`; clipping lives here.
    fn predict(&self, phi: &AlignedVec) -> f64;

    /// Learns `y` at `phi` and returns the prediction made before. With `growth = Some(√δ)` the example itself is appended
    /// to the basis: the update gains a coordinate and pushes `√δ` on `phi`.
    ///
    /// # Errors
    /// [`Error::Diverged`] when the step is not finite; `self` is unchanged (`phi` need not be).
    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error>;

    /// Gains a coordinate of which nothing is known yet; what was learnt stays.
    fn grow(&mut self);

    /// Forgets everything; `n` coordinates from now on.
    fn restart(&mut self, n: usize);
}

/// `value`, or [`Error::Diverged`] when it is not finite.
pub(crate) fn finite(value: f64) -> Result<f64, Error> {
    if value.is_finite() { Ok(value) } else { Err(Error::Diverged) }
}
