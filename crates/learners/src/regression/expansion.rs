//! A function `f = Σ a_j k(x_j, ·)` that moves by gradient steps and keeps every point.
//!
//! `f ← f − η g k(x, ·)`, then a projection on the ball `‖f‖ ≤ U`. The squared norm follows
//! `‖f − s k_x‖² = ‖f‖² − 2s f(x) + s² k(x,x)`, so no Gram matrix is formed and exact duplicates are harmless. `O(td)` a round.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_simd::{dot, scale};

use crate::Error;
use crate::regression::update::StepSize;

/// A kernel expansion under gradient descent.
///
/// # Invariants
/// The coefficients meant are `factor · coefficients`, so that shrinking `f` costs `O(1)`; `squared_norm` is `‖f‖²`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelExpansion<K> {
    kernel: K,
    points: Points,
    coefficients: AlignedVec,
    factor: f64,
    squared_norm: f64,
    step_size: StepSize,
    radius: Option<f64>,
}

impl<K: Validate> Validate for KernelExpansion<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "kernel expansion";
        self.kernel.validate()?;
        self.points.validate()?;
        self.coefficients.validate()?;
        self.step_size.validate()?;
        Inconsistent::positive(self.factor, "common factor of coefficients")?;
        Inconsistent::non_negative(self.squared_norm, "squared norm")?;
        self.radius.map_or(Ok(()), |radius| Inconsistent::positive(radius, "radius"))?;
        Inconsistent::require(self.coefficients.len() == self.points.len(), WHAT, "it has a coefficient for each point")
    }
}

impl<K: Kernel> KernelExpansion<K> {
    /// `f = 0` on inputs of dimension `dimension`.
    pub fn new(kernel: K, dimension: usize, step_size: StepSize, radius: Option<f64>) -> Self {
        let points = Points::new(dimension);
        Self { kernel, points, coefficients: AlignedVec::new(), factor: 1.0, squared_norm: 0.0, step_size, radius }
    }

    /// The function with these points and coefficients, whose squared norm is known.
    pub(crate) fn resume(
        kernel: K,
        points: Points,
        coefficients: AlignedVec,
        squared_norm: f64,
        step_size: StepSize,
        radius: Option<f64>,
    ) -> Self {
        Self { kernel, points, coefficients, factor: 1.0, squared_norm, step_size, radius }
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

    /// `‖f‖²`
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.squared_norm
    }

    pub(crate) fn step_size(&self) -> StepSize {
        self.step_size
    }

    pub(crate) fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// `f(x)`, with `row` as memory for the kernel row.
    ///
    /// # Errors
    /// [`Error::KernelOverflow`]
    pub(crate) fn value(&self, x: &[f64], row: &mut AlignedVec) -> Result<f64, Error> {
        self.kernel.row(&self.points, x, row);
        let value = self.factor * dot(self.coefficients.lanes(), row.lanes());
        if value.is_finite() { Ok(value) } else { Err(Error::KernelOverflow) }
    }

    /// Learns `y` at `x`, where `f(x) = z`, and keeps `x`.
    ///
    /// # Errors
    /// [`Error::Diverged`] or [`Error::KernelOverflow`]; nothing is changed.
    pub(crate) fn step(&mut self, x: &[f64], z: f64, y: f64) -> Result<(), Error> {
        let self_value = self.kernel.self_value(x);
        if !self_value.is_finite() {
            return Err(Error::KernelOverflow);
        }
        let g = 2.0 * (z - y);
        let (eta, step_size) = self.step_size.next(g * g * self_value);
        let s = eta * g;
        let squared_norm = (self.squared_norm - 2.0 * s * z + s * s * self_value).max(0.0);
        if !(g * g * self_value).is_finite() || !squared_norm.is_finite() || !(s / self.factor).is_finite() {
            return Err(Error::Diverged);
        }
        self.step_size = step_size;
        self.points.push(x);
        self.coefficients.push(-s / self.factor);
        self.squared_norm = squared_norm;
        if let Some(radius) = self.radius
            && squared_norm > radius * radius
        {
            self.factor *= radius / squared_norm.sqrt();
            self.squared_norm = radius * radius;
            // Long before the common factor leaves the range of numbers it is moved into the coefficients.
            if self.factor < 1e-100 {
                scale(self.factor, &mut self.coefficients);
                self.factor = 1.0;
            }
        }
        Ok(())
    }
}
