//! An example of two classes as the learners see it that decide by its margin.

use mercer_core::ExampleError;
use mercer_kernels::AlignedVec;

use crate::Error;
use crate::engines::update::{Coefficients, finite};
use crate::example::Target;
use crate::learner::check_scores;

/// A score `f(x)` with its target `y = ±1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Margin {
    /// `f(x)`, before the example is learnt.
    pub(crate) f: f64,
    /// `y`
    pub(crate) y: f64,
    /// `ω`
    pub(crate) weight: f64,
}

impl Margin {
    /// The margin at `phi`; the prediction is left in `scores`.
    ///
    /// # Errors
    /// [`ExampleError::KernelOverflow`] when the prediction is not finite,
    /// [`ExampleError::Outputs`] when it is not one number.
    pub(crate) fn compute(
        coefficients: &Coefficients,
        phi: &AlignedVec,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<Self, Error> {
        coefficients.values(phi, scores);
        check_scores(scores)?;
        match (&*scores, target.y) {
            ([f], [y]) => Ok(Self { f: *f, y: *y, weight: target.weight }),
            _ => Err(ExampleError::Outputs { expected: 1, got: scores.len() }.into()),
        }
    }

    /// `y f(x)`
    pub(crate) fn value(self) -> f64 {
        self.y * self.f
    }

    /// `y f(x) ≤ 0`: a score of 0 is a mistake.
    pub(crate) fn is_mistake(self) -> bool {
        self.value() <= 0.0
    }

    /// The hinge loss `max(1 − y f(x), 0)`.
    pub(crate) fn loss(self) -> f64 {
        (1.0 - self.value()).max(0.0)
    }

    /// The coefficient of a subgradient step on the hinge loss that has the length `rate` for
    /// weight 1, `κ = k(x, x)`: `y ω rate`, and for weights above 1 no more than brings the margin
    /// to 1, or weight 1 has. The papers have no weights; a budget of points of the size of the
    /// heaviest would change all scores with each that leaves.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`]
    pub(crate) fn step(self, rate: f64, kappa: f64) -> Result<f64, Error> {
        let whole = self.weight * rate;
        let length = if self.weight > 1.0 { whole.min(rate.max(self.loss() / kappa)) } else { whole };
        coefficient(length * self.y)
    }
}

/// A kernel coefficient, refused where its square is not finite: the predictions of all points
/// together then stay in range.
///
/// # Errors
/// [`ExampleError::Diverged`]
pub(crate) fn coefficient(value: f64) -> Result<f64, Error> {
    finite(value * value).map(|_| value)
}
