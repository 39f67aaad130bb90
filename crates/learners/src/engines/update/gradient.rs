//! The online gradient step `W ← W − η ω φgᵀ`, `g = ∂ℓ/∂z` at `z = Wᵀφ`, with an optional
//! projection on the ball `‖W‖ ≤ U`.
//!
//! `ω` is the weight of the example; `update/importance.rs` says what becomes of one above 10. In
//! orthonormal coordinates `‖W‖² = Σ_k ‖w_k‖²` is the squared norm of the function, summed over the
//! outputs. `O(mn)` a step.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_simd::{dot, scale};

use crate::Error;
use crate::engines::update::importance::{Ball, LARGE, add_rest};
use crate::engines::update::{
    ByValues, Coefficients, GrowingUpdate, LinearBlocks, LinearUpdate, LinearVariance, NormalSystem, finite, make_room,
};
use crate::example::{Problem, Shape, Target};
use crate::loss::Loss;

/// Length of a gradient step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
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
                // At the end of the range of numbers the sum stays, and the step with it.
                let squared_gradients = (squared_gradients + squared).min(f64::MAX);
                (radius / (1.0 + squared_gradients).sqrt(), Self::Adaptive { radius, squared_gradients })
            }
        }
    }
}

/// Norms below this leave every number of a step finite.
const FAR_FROM_OVERFLOW: f64 = 1e150;

#[cfg(feature = "serde")]
fn unknown() -> f64 {
    f64::INFINITY
}

/// Online gradient descent on coordinates, for any loss and any number of outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GradientStep {
    w: Coefficients,
    step_size: StepSize,
    radius: Option<f64>,
    loss: Loss,
    /// At least `‖W‖`; infinite where nobody knows.
    #[cfg_attr(feature = "serde", serde(skip, default = "unknown"))]
    norm_bound: f64,
    /// The gradient in the scores, then the steps.
    #[cfg_attr(feature = "serde", serde(skip))]
    gradient: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    after: Vec<f64>,
}

impl GradientStep {
    /// `n` zero coefficients for each of `outputs ≥ 1` outputs under this loss; `radius` bounds
    /// `‖W‖`.
    #[must_use]
    pub fn new(n: usize, outputs: usize, loss: Loss, step_size: StepSize, radius: Option<f64>) -> Self {
        Self::with_weights(Coefficients::zeros(outputs, n), loss, step_size, radius)
    }

    /// The same rule going on from coefficients `w`.
    #[must_use]
    pub fn with_weights(w: Coefficients, loss: Loss, step_size: StepSize, radius: Option<f64>) -> Self {
        Self { w, step_size, radius, loss, norm_bound: f64::INFINITY, gradient: Vec::new(), after: Vec::new() }
    }

    /// The coefficients.
    #[must_use]
    pub fn weights(&self) -> &Coefficients {
        &self.w
    }

    /// The rule of the step size with what it has summed so far.
    #[must_use]
    pub fn step_size(&self) -> StepSize {
        self.step_size
    }
}

/// `‖W + φsᵀ‖²` before any change, so that a step out of range is refused whole; 0 where there is
/// no ball to stay in and the bound on the norm tells that the step is within the range of numbers.
#[inline(always)]
fn squared_after(
    w: &Coefficients,
    norm_bound: &mut f64,
    radius: Option<f64>,
    (steps, scores): (&[f64], &[f64]),
    phi_squared: f64,
) -> Result<f64, Error> {
    if radius.is_none() {
        let length: f64 = steps.iter().map(|s| s.abs()).sum();
        let norm = *norm_bound + length * phi_squared.sqrt();
        if norm < FAR_FROM_OVERFLOW {
            *norm_bound = norm;
            return Ok(0.0);
        }
    }
    let mut squared = w.squared_norm();
    for (s, z) in steps.iter().zip(scores) {
        squared = squared + 2.0 * s * z + s * s * phi_squared;
    }
    *norm_bound = finite(squared)?.max(0.0).sqrt();
    Ok(squared)
}

impl GradientStep {
    #[inline(always)]
    fn step_outputs(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        self.w.values(phi, scores);
        let phi_squared = dot(phi.lanes(), phi.lanes()) + growth.map_or(0.0, |new| new * new);
        make_room(&mut self.gradient, scores.len());
        let gradient = &mut self.gradient[..scores.len()];
        self.loss.gradient(scores, target.y, gradient);
        let mut squared_gradient = 0.0;
        for g in &mut *gradient {
            *g *= target.weight.min(LARGE);
            squared_gradient += *g * *g;
        }
        let (eta, step_size) = self.step_size.next(finite(squared_gradient * phi_squared)?);
        for s in &mut *gradient {
            *s = -finite(eta * *s)?;
        }
        if target.weight > LARGE {
            let ball = self.radius.map(|radius| Ball { radius, squared_norm: self.w.squared_norm() });
            add_rest(self.loss, (eta, ball), phi_squared, target, (&mut *gradient, &*scores), &mut self.after)?;
        }
        let moves = (&*gradient, &*scores);
        let squared = squared_after(&self.w, &mut self.norm_bound, self.radius, moves, phi_squared)?;
        if let Some(new) = growth {
            self.w.grow();
            phi.push(new);
        }
        self.step_size = step_size;
        self.w.add(gradient, phi);
        if let Some(radius) = self.radius
            && squared > radius * radius
        {
            self.w.vectors_mut().iter_mut().for_each(|w| scale(radius / squared.sqrt(), w));
        }
        self.loss.predictions(scores);
        Ok(())
    }
}

impl Validate for StepSize {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Constant(eta) => Inconsistent::positive(*eta, "step size"),
            Self::Adaptive { radius, squared_gradients } => {
                Inconsistent::positive(*radius, "step size")?;
                Inconsistent::non_negative(*squared_gradients, "sum of squared gradients")
            }
        }
    }
}

impl Validate for GradientStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.w.validate()?;
        self.step_size.validate()?;
        self.loss.validate()?;
        self.radius.map_or(Ok(()), |radius| Inconsistent::positive(radius, "radius"))
    }
}

impl LinearUpdate for GradientStep {
    fn problem(&self) -> Problem {
        Problem { shape: Shape { inputs: self.w.coordinates(), outputs: self.w.outputs() }, loss: self.loss }
    }

    fn coefficients(&self) -> Option<&Coefficients> {
        Some(&self.w)
    }

    fn predict(&self, phi: &AlignedVec, scores: &mut [f64]) {
        self.w.values(phi, scores);
        self.read(scores);
    }

    fn step(
        &mut self,
        phi: &mut AlignedVec,
        growth: Option<f64>,
        target: Target<'_>,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        // The compiler knows the length in the common case.
        match scores {
            [score] => self.step_outputs(phi, growth, target, std::slice::from_mut(score)),
            scores => self.step_outputs(phi, growth, target, scores),
        }
    }

    fn by_values(&self) -> Option<&dyn ByValues> {
        Some(self)
    }

    fn variance(&self) -> Option<&dyn LinearVariance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn LinearBlocks> {
        None
    }

    fn equations(&mut self) -> Option<&mut dyn NormalSystem> {
        None
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.norm_bound = f64::INFINITY;
        self.w.add_output(like);
        Ok(())
    }
}

impl ByValues for GradientStep {
    fn function(&self, index: usize) -> Option<&AlignedVec> {
        self.w.vectors().get(index)
    }

    fn read(&self, values: &mut [f64]) {
        self.loss.predictions(values);
    }
}

impl GrowingUpdate for GradientStep {
    fn grow(&mut self) -> Result<(), Error> {
        self.w.grow();
        Ok(())
    }

    fn remove(&mut self, rotations: &Rotations, _: Removal) {
        self.w.rotate(rotations);
        self.w.drop_last(None);
    }

    fn restart(&mut self, n: usize) -> Result<(), Error> {
        self.norm_bound = 0.0;
        if let StepSize::Adaptive { squared_gradients, .. } = &mut self.step_size {
            *squared_gradients = 0.0;
        }
        self.w.restart(n);
        Ok(())
    }
}
