//! FOGD: Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).
//!
//! `w ← w − η g z(x)` on the `2D` random Fourier features of the Gaussian kernel, no projection. `Dd + 4D` multiply-adds
//! and `D` sines and cosines a round.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, RandomFourier};

use crate::basis::OnFeatures;
use crate::catalogue::{BuildError, Entry, NEEDS_GAUSSIAN, Takes, keys};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::update::{GradientStep, StepSize};
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`Fogd`].
    #[derive(Copy)]
    pub struct FogdParams {
        /// Width `σ > 0` of the Gaussian kernel.
        sigma: f64 = 1.0,
        /// Number of frequencies `D ≥ 1`; there are `2D` coordinates.
        features: usize = 400,
        /// Step `η > 0`; the paper tunes it over `{1, 10, 100, 1000}/√T`.
        step: f64 = 0.1,
        /// Seed of the frequencies.
        seed: u64 = 0,
        /// What is minimised.
        loss: Loss = Loss::SQUARED,
        /// Number of outputs, at least 1.
        outputs: usize = 1,
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
        let FogdParams { sigma, features, step, seed, loss, outputs } = params;
        let outputs = ParameterError::at_least_one("outputs", outputs)?;
        let step_size = StepSize::Constant(ParameterError::positive("step", step)?);
        let map = RandomFourier::draw(dimension, sigma, ParameterError::at_least_one("features", features)?, seed)?;
        let update = GradientStep::new(map.dimension(), outputs, loss, step_size, None);
        Self::from_parts(map, update)
    }
}

/// The table of frequencies may hold this many numbers (1 GiB), lest a slip of the pen exhaust the memory.
const MOST_FREQUENCIES: usize = 1 << 27;

pub(crate) const FOGD: Entry = Entry {
    name: "fogd",
    summary: "Fourier online gradient descent on random features of a Gaussian kernel",
    keys: &[
        keys::count(
            "features",
            "D",
            || FogdParams::default().features.into(),
            "random frequencies; each gives a cosine and a sine",
        ),
        keys::step(|| FogdParams::default().step.into()),
        keys::loss(|| FogdParams::default().loss.into(), keys::ALL_LOSSES),
    ],
    time: cost!(1.0 D d, 4.0 D),
    memory: cost!(1.0 D d, 2.0 D),
    source: "Lu et al. 2016",
    remedy: Some("take a smaller step"),
    gaussian: true,
    takes: Takes::ALL,
    advice: "speed; Gaussian kernel",
    start: "`features=400`, `step=auto` (`10/√T`)",
    trial: &["features=8"],
    search: &[keys::search("step", 0.001, 1.0)],
    make: |kernel, context, values| {
        let AnyKernel::Gaussian(gaussian) = kernel else { return Err(BuildError::Kernel(NEEDS_GAUSSIAN)) };
        let features = values.count("features")?;
        if features.saturating_mul(context.dimension) > MOST_FREQUENCIES {
            return Err(BuildError::TooLarge("that many frequencies take more than 1 GiB"));
        }
        let params = FogdParams::default()
            .sigma(gaussian.sigma())
            .features(features)
            .step(values.number("step")?)
            .loss(values.named("loss")?)
            .outputs(context.outputs)
            .seed(context.seed);
        Ok(Fogd::new(context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
