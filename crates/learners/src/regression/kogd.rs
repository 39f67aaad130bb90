//! KOGD: kernelised online gradient descent (Zinkevich 2003; \[A\] eqs. 2–3).
//!
//! `f ← f − η_t g k(x_t, ·)` with `η_t = U/√(1 + Σ_{s≤t} g_s² k(x_s, x_s))`, projected on `‖f‖ ≤ U`. Every example is kept:
//! **memory and the cost of a round grow with the stream**, `O(td)`. It is what [`AogdAld`](crate::AogdAld) approximates.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::regression::expansion::KernelExpansion;
use crate::regression::regressor::{check_example, check_input};
use crate::regression::update::StepSize;
use crate::{Error, ParameterError, Regressor, Scratch};

/// Parameters of [`Kogd`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KogdParams {
    /// Radius `U > 0` of the ball of functions, which also sets the steps.
    pub radius: f64,
}

impl Default for KogdParams {
    fn default() -> Self {
        Self { radius: 2.0 }
    }
}

/// Kernelised online gradient descent.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kogd<K> {
    expansion: KernelExpansion<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K: Kernel> Kogd<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KogdParams) -> Result<Self, Error> {
        let radius = ParameterError::positive("radius", params.radius)?;
        let expansion = KernelExpansion::new(kernel, dimension, StepSize::adaptive(radius), Some(radius));
        Ok(Self { expansion, scratch: Scratch::default() })
    }
}

impl<K: Validate> Validate for Kogd<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.expansion.validate()
    }
}

impl<K: Kernel> Regressor for Kogd<K> {
    fn dimension(&self) -> usize {
        self.expansion.points().dimension()
    }

    fn dictionary_size(&self) -> usize {
        self.expansion.points().len()
    }

    fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
        check_input(x, self.dimension())?;
        self.expansion.value(x, &mut scratch.features)
    }

    fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
        check_example(x, y, self.dimension())?;
        let z = self.expansion.value(x, &mut self.scratch.features)?;
        self.expansion.step(x, z, y)?;
        Ok(z)
    }
}
