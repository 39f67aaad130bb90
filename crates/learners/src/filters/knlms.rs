//! KNLMS: kernel normalised least mean squares (Richard, Bermudez and Honeine 2009).
//!
//! With `k` the kernel values `k(d_i, x)` at the kept points and `e = y − f(x)`: `x` joins with
//! `α = 0` when its [coherence](Coherence) is at most `μ₀`, as the first point always does; then,
//! over the dictionary that may have grown, `α ← α + η ω e k/(ε + ‖k‖²)`, `ω` being the weight of
//! the example. Once the dictionary is full no point joins and the steps go on. `Jd + 4J`
//! multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::Coherence;

use super::normalised_step::NormalisedStep;
use crate::Error;
use crate::engines::coefficients::OnCoefficients;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Knlms`].
    #[derive(Copy)]
    pub struct KnlmsParams {
        /// step size, below 2
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// largest coherence kept
        mu0: f64 = 0.7 => "μ₀" UNIT_INTERVAL.search_evenly(0.5, 0.99),
        /// added to the squared norm
        eps: f64 = 1e-4 => "ε" NOT_NEGATIVE.search(0.0001, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Kernel normalised least mean squares.
pub type Knlms<K> = OnCoefficients<K, Coherence, NormalisedStep>;

impl<K: Kernel> Knlms<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KnlmsParams) -> Result<Self, Error> {
        params.check()?;
        let KnlmsParams { eta, mu0, eps, max_dictionary, outputs } = params;
        let update = NormalisedStep::new(eta, eps)?;
        Self::from_parts(kernel, dimension, Coherence::new(mu0)?, update, (outputs, max_dictionary))
    }
}

#[doc(hidden)]
pub const KNLMS: Learner<Knlms<AnyKernel>> = Entry {
    name: "knlms",
    summary: "kernel normalised least mean squares on a coherent dictionary",
    keys: KnlmsParams::KEYS,
    time: cost!(1.0 J d, 4.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Richard et al. 2009",
    remedy: Some("take a smaller step"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "very cheap steps on a dictionary; drift",
    start: "`eta=0.1`, `mu0=0.7`; 0.5 and 0.9 where there is little noise",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Knlms::new(kernel, context.dimension, values.parameters(context)?)?));
