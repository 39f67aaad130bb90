//! The online gradient step `w ← w − η g φ`, `g = 2(wᵀφ − y)`, with an optional projection on the ball `‖w‖ ≤ U`.
//!
//! In orthonormal coordinates `‖w‖` is the norm of the function. `O(n)` a step.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_simd::{axpy, dot, scale};

use crate::Error;
use crate::regression::update::{LinearUpdate, finite};

/// How long a gradient step is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StepSize {
    /// The same `η` in every round.
    Constant(f64),
    /// `η_t = U/√(1 + Σ_{s≤t} ‖∇_s‖²)`, the round itself included (\[A\] Algorithm 1).
    Adaptive {
        /// The radius `U`.
        radius: f64,
        /// `Σ_{s<t} ‖∇_s‖²`
        squared_gradients: f64,
    },
}

impl StepSize {
    /// The adaptive rule at its start.
    #[must_use]
    pub fn adaptive(radius: f64) -> Self {
        Self::Adaptive { radius, squared_gradients: 0.0 }
    }

    /// `η_t` for a gradient of squared norm `squared`, and the rule after this round.
    pub(crate) fn next(self, squared: f64) -> (f64, Self) {
        match self {
            Self::Constant(eta) => (eta, self),
            Self::Adaptive { radius, squared_gradients } => {
                let squared_gradients = squared_gradients + squared;
                (radius / (1.0 + squared_gradients).sqrt(), Self::Adaptive { radius, squared_gradients })
            }
        }
    }
}

/// Online gradient descent on coordinates.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GradientStep {
    w: AlignedVec,
    step_size: StepSize,
    radius: Option<f64>,
}

impl GradientStep {
    /// `n` zero coefficients; `radius` bounds `‖w‖`.
    #[must_use]
    pub fn new(n: usize, step_size: StepSize, radius: Option<f64>) -> Self {
        Self { w: AlignedVec::zeros(n), step_size, radius }
    }

    /// The same rule going on from coefficients `w`.
    #[must_use]
    pub fn with_weights(w: AlignedVec, step_size: StepSize, radius: Option<f64>) -> Self {
        Self { w, step_size, radius }
    }

    /// The coefficients.
    #[must_use]
    pub fn weights(&self) -> &AlignedVec {
        &self.w
    }

    /// The rule of the step size with what it has summed so far.
    #[must_use]
    pub fn step_size(&self) -> StepSize {
        self.step_size
    }
}

impl Validate for StepSize {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Constant(eta) => Inconsistent::positive(*eta, "step size"),
            Self::Adaptive { radius, squared_gradients } => {
                Inconsistent::positive(*radius, "step size")?;
                // The sum of very many large gradients is infinite, and the step then 0.
                Inconsistent::require(*squared_gradients >= 0.0, "step size", "its sum is not negative")
            }
        }
    }
}

impl Validate for GradientStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.step_size.validate()?;
        self.radius.map_or(Ok(()), |radius| Inconsistent::positive(radius, "radius"))
    }
}

impl LinearUpdate for GradientStep {
    fn coordinates(&self) -> usize {
        self.w.len()
    }

    fn predict(&self, phi: &AlignedVec) -> f64 {
        dot(self.w.lanes(), phi.lanes())
    }

    fn step(&mut self, phi: &mut AlignedVec, growth: Option<f64>, y: f64) -> Result<f64, Error> {
        let z = self.predict(phi);
        let g = 2.0 * (z - y);
        let phi_squared = dot(phi.lanes(), phi.lanes()) + growth.map_or(0.0, |new| new * new);
        let (eta, step_size) = self.step_size.next(finite(g * g * phi_squared)?);
        let s = finite(eta * g)?;
        // ‖w − sφ‖² before any change, so that a step out of range is refused whole.
        let squared = finite(dot(self.w.lanes(), self.w.lanes()) - 2.0 * s * z + s * s * phi_squared)?;
        if let Some(new) = growth {
            self.w.push(0.0);
            phi.push(new);
        }
        self.step_size = step_size;
        axpy(-s, phi.lanes(), self.w.lanes_mut());
        if let Some(radius) = self.radius
            && squared > radius * radius
        {
            scale(radius / squared.sqrt(), &mut self.w);
        }
        Ok(z)
    }

    fn grow(&mut self) {
        self.w.push(0.0);
    }

    fn restart(&mut self, n: usize) {
        self.w.resize(0);
        self.w.resize(n);
    }
}
