//! FOGD: Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).
//!
//! `w ← w − η g z(x)` on the `2D` random Fourier features of the Gaussian kernel, no projection. `Dd + 4D` multiply-adds
//! and `D` sines and cosines a round.

use mercer_kernels::RandomFourier;

use crate::regression::on_features::OnFeatures;
use crate::regression::update::{GradientStep, StepSize};
use crate::{Error, ParameterError};

/// Parameters of [`Fogd`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FogdParams {
    /// Width `σ > 0` of the Gaussian kernel.
    pub sigma: f64,
    /// Number of frequencies `D ≥ 1`; there are `2D` coordinates.
    pub features: usize,
    /// Step `η > 0`; the paper tunes it over `{1, 10, 100, 1000}/√T`.
    pub step: f64,
    /// Seed of the frequencies.
    pub seed: u64,
}

impl Default for FogdParams {
    fn default() -> Self {
        Self { sigma: 1.0, features: 400, step: 0.1, seed: 0 }
    }
}

/// Fourier online gradient descent.
pub type Fogd = OnFeatures<RandomFourier, GradientStep>;

impl Fogd {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(dimension: usize, params: FogdParams) -> Result<Self, Error> {
        let FogdParams { sigma, features, step, seed } = params;
        let map = RandomFourier::draw(dimension, sigma, ParameterError::at_least_one("features", features)?, seed)?;
        let update =
            GradientStep::new(map.dimension(), StepSize::Constant(ParameterError::positive("step", step)?), None);
        Ok(Self::from_parts(map, update))
    }
}
