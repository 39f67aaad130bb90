//! A function `f = Σ a_j k(x_j, ·)` that moves by gradient steps and keeps every point.
//!
//! `f_k ← f_k − η ω g_k k(x, ·)` for each output, `g = ∂ℓ/∂z` at `z = f(x)` (for weights `ω`
//! above 10 see `update/importance.rs`), then a projection on the ball `‖f‖ ≤ U`. The squared norm
//! follows `‖f − s k_x‖² = ‖f‖² − 2s f(x) + s² k(x,x)`, so no Gram matrix is formed and exact
//! duplicates are harmless. `O(td)` a round.

use mercer_core::{ExampleError, Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_simd::{dot, scale};

use crate::engines::update::importance::{Ball, LARGE, add_rest};
use crate::engines::update::{Coefficients, StepSize, finite};
use crate::example::Target;
use crate::learner::check_scores;
use crate::loss::Loss;
use crate::{Error, Growth, Problem, Shape};

/// A kernel expansion under gradient descent.
///
/// # Invariants
/// The coefficients meant are `factor · coefficients`, so that shrinking `f` costs `O(1)`;
/// `squared_norm` is `‖f‖²`, summed over the outputs.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelExpansion<K> {
    kernel: K,
    points: Points,
    coefficients: Coefficients,
    factor: f64,
    squared_norm: f64,
    step_size: StepSize,
    radius: Option<f64>,
    loss: Loss,
    #[cfg_attr(feature = "serde", serde(skip))]
    gradient: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    after: Vec<f64>,
}

impl<K: Validate> Validate for KernelExpansion<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "kernel expansion";
        self.kernel.validate()?;
        self.points.validate()?;
        self.coefficients.validate()?;
        self.step_size.validate()?;
        self.loss.validate()?;
        Inconsistent::positive(self.factor, "common factor of coefficients")?;
        Inconsistent::non_negative(self.squared_norm, "squared norm")?;
        self.radius.map_or(Ok(()), |radius| Inconsistent::positive(radius, "radius"))?;
        let fits = self.coefficients.coordinates() == self.points.len();
        Inconsistent::require(fits, WHAT, "it has a coefficient for each point")
    }
}

impl<K: Kernel> KernelExpansion<K> {
    /// `f = 0` on inputs of dimension `dimension`, with `outputs ≥ 1` outputs under this loss.
    pub fn new(
        kernel: K,
        dimension: usize,
        outputs: usize,
        loss: Loss,
        step_size: StepSize,
        radius: Option<f64>,
    ) -> Self {
        let (points, coefficients) = (Points::new(dimension), Coefficients::zeros(outputs, 0));
        Self::resume(kernel, points, coefficients, 0.0, GradientRule { loss, step_size, radius })
    }

    /// The function with these points and coefficients, whose squared norm is known.
    pub(crate) fn resume(
        kernel: K,
        points: Points,
        coefficients: Coefficients,
        squared_norm: f64,
        rule: GradientRule,
    ) -> Self {
        let GradientRule { loss, step_size, radius } = rule;
        let (gradient, after) = (Vec::new(), Vec::new());
        Self { kernel, points, coefficients, factor: 1.0, squared_norm, step_size, radius, loss, gradient, after }
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The points of the expansion.
    #[must_use]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The coefficients of the points, one vector an output.
    #[must_use]
    pub fn scaled_coefficients(&self) -> Vec<AlignedVec> {
        let scaled = |vector: &AlignedVec| vector.iter().map(|a| self.factor * a).collect();
        self.coefficients.vectors().iter().map(scaled).collect()
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.coefficients.outputs()
    }

    /// The loss that it minimises.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// `‖f‖²`, summed over the outputs.
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    /// Its gradient rule.
    pub(crate) fn rule(&self) -> GradientRule {
        GradientRule { loss: self.loss, step_size: self.step_size, radius: self.radius }
    }

    /// `f(x)`, with `row` as memory for the kernel row.
    ///
    /// # Errors
    /// [`ExampleError::KernelOverflow`]
    pub(crate) fn values(&self, x: &[f64], row: &mut AlignedVec, scores: &mut [f64]) -> Result<(), Error> {
        self.kernel.row(&self.points, x, row);
        self.coefficients.values(row, scores);
        scores.iter_mut().for_each(|z| *z *= self.factor);
        check_scores(scores)
    }

    /// The prediction at `x`: [`values`](Self::values) in the target's own units.
    ///
    /// # Errors
    /// [`ExampleError::KernelOverflow`]
    pub(crate) fn predict(&self, x: &[f64], row: &mut AlignedVec, scores: &mut [f64]) -> Result<(), Error> {
        self.values(x, row, scores)?;
        self.loss.predictions(scores);
        check_scores(scores)
    }

    /// Learns a target at `x`, keeps `x`, and gives the prediction made before.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`] or [`ExampleError::KernelOverflow`]; nothing is changed.
    pub(crate) fn step(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        row: &mut AlignedVec,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        self.values(x, row, scores)?;
        let self_value = self.kernel.self_value(x);
        if !self_value.is_finite() {
            return Err(ExampleError::KernelOverflow.into());
        }
        self.gradient.resize(scores.len(), 0.0);
        self.loss.gradient(scores, target.y, &mut self.gradient);
        let mut squared_gradient = 0.0;
        for g in &mut self.gradient {
            *g *= target.weight.min(LARGE);
            squared_gradient += *g * *g;
        }
        let squared_gradient = finite(squared_gradient * self_value)?;
        let (eta, step_size) = self.step_size.next(squared_gradient);
        self.gradient.iter_mut().for_each(|s| *s *= -eta);
        let ball = self.radius.map(|radius| Ball { radius, squared_norm: self.squared_norm });
        add_rest(self.loss, (eta, ball), self_value, target, (&mut self.gradient, &*scores), &mut self.after)?;
        let mut squared_norm = self.squared_norm;
        for (s, z) in self.gradient.iter_mut().zip(&*scores) {
            squared_norm = squared_norm + 2.0 * *s * z + *s * *s * self_value;
            // The coefficient that is stored.
            *s = finite(*s / self.factor)?;
        }
        let squared_norm = finite(squared_norm)?.max(0.0);
        self.step_size = step_size;
        self.points.push(x);
        self.coefficients.push(&self.gradient);
        self.squared_norm = squared_norm;
        if let Some(radius) = self.radius
            && squared_norm > radius * radius
        {
            self.factor *= radius / squared_norm.sqrt();
            self.squared_norm = radius * radius;
            // Long before the common factor leaves the range of numbers it is moved into the
            // coefficients.
            if self.factor < 1e-100 {
                self.coefficients.vectors_mut().iter_mut().for_each(|w| scale(self.factor, w));
                self.factor = 1.0;
            }
        }
        self.loss.predictions(scores);
        Ok(())
    }

    /// See [`Regressor::problem`](crate::Regressor::problem).
    pub(crate) fn problem(&self) -> Problem {
        let shape = Shape { inputs: self.points.dimension(), outputs: self.coefficients.outputs() };
        Problem { shape, loss: self.loss }
    }

    /// See [`Regressor::reshape`](crate::Regressor::reshape): it takes on any shape.
    pub(crate) fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => self.points.grow(added),
            Growth::Output { like } => self.add_output(like),
        }
        Ok(())
    }

    fn add_output(&mut self, like: Option<usize>) {
        if let Some(w) = like.and_then(|like| self.coefficients.vectors().get(like)) {
            // ‖f_k‖² = Σ_i w_i f_k(x_i), which the new output adds.
            let (mut row, mut copied) = (AlignedVec::new(), 0.0);
            for (i, w_i) in w.iter().enumerate() {
                self.kernel.row(&self.points, &self.points.point(i), &mut row);
                copied += w_i * dot(w.lanes(), row.lanes());
            }
            self.squared_norm += (self.factor * self.factor * copied).max(0.0);
        }
        self.coefficients.add_output(like);
    }
}

/// The rule of a gradient step: loss, step size and radius.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GradientRule {
    pub(crate) loss: Loss,
    pub(crate) step_size: StepSize,
    pub(crate) radius: Option<f64>,
}
