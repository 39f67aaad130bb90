//! FOGD: Fourier online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).
//!
//! `w ← w − η g z(x)` on the `2D` random Fourier features of the Gaussian kernel, no projection.
//! `Dd + 4D` multiply-adds and `D` sines and cosines a round.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, RandomFourier};

use crate::Error;
use crate::engines::basis::OnFeatures;
use crate::engines::update::{GradientStep, StepSize};
use crate::entry::{BuildError, Entry, Learner, NEEDS_GAUSSIAN, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Fogd`].
    #[derive(Copy)]
    pub struct FogdParams {
        /// width `σ > 0` of the Gaussian kernel
        sigma: f64 = 1.0,
        /// random frequencies; each gives a cosine and a sine
        features: usize = 400 => "D" COUNT,
        /// step of the gradient descent; 1 and more tends to diverge
        step: f64 = 0.1 => "η" POSITIVE
            .search(0.001, 1.0),
        /// seed of what is drawn
        seed: u64 = 0 => context seed,
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
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
        params.check()?;
        let FogdParams { sigma, features, step, seed, loss, outputs } = params;
        let step_size = StepSize::Constant(step);
        let map = RandomFourier::draw(dimension, sigma, features, seed)?;
        let update = GradientStep::new(map.dimension(), outputs, loss, step_size, None);
        Self::from_parts(map, update)
    }
}

/// The table of frequencies may hold this many numbers (1 GiB), lest a slip of the pen exhaust the
/// memory.
const MOST_FREQUENCIES: usize = 1 << 27;

#[doc(hidden)]
pub const FOGD: Learner<Fogd> = Entry {
    name: "fogd",
    summary: "Fourier online gradient descent on random features of a Gaussian kernel",
    keys: FogdParams::KEYS,
    time: cost!(1.0 D d, 4.0 D),
    memory: cost!(1.0 D d, 2.0 D),
    source: "Lu et al. 2016",
    remedy: Some("take a smaller step"),
    gaussian: true,
    takes: Takes::ALL,
    advice: "speed; Gaussian kernel",
    start: "`features=400`, `step=auto` (`10/√T`)",
    trial: &["features=8"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| {
    let AnyKernel::Gaussian(gaussian) = kernel else { return Err(BuildError::Kernel(NEEDS_GAUSSIAN)) };
    let params: FogdParams = values.parameters(context)?;
    if params.features.saturating_mul(context.dimension) > MOST_FREQUENCIES {
        return Err(BuildError::TooLarge("that many frequencies take more than 1 GiB"));
    }
    Ok(Fogd::new(context.dimension, params.sigma(gaussian.sigma()))?)
});
