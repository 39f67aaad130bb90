//! KLMS: kernel least mean squares (Liu, Pokharel and Principe 2008).
//!
//! With `e = y − f(x)`, `x` joins with the coefficient `η ω e`, `ω` being the weight of the
//! example: a step of size `η` along the gradient of `½ω(f(x) − y)²`. No other coefficient moves.
//! A repeated input adds `η ω e` to the coefficient that it has, which is the same function. Once
//! the dictionary is full, inputs that it does not hold teach nothing.
//!
//! `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.
//!
//! The step is that of [`Qklms`](crate::Qklms), of which this is the case without quantisation.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::DistinctPoints;

use super::qklms::QuantisedStep;
use crate::Error;
use crate::engines::coefficients::OnCoefficients;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Klms`].
    #[derive(Copy)]
    pub struct KlmsParams {
        /// step size, below 2/k(x,x)
        eta: f64 = 0.2 => "η" POSITIVE.search(0.01, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.none("every input is kept"),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Kernel least mean squares.
pub type Klms<K> = OnCoefficients<K, DistinctPoints, QuantisedStep>;

impl<K: Kernel> Klms<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KlmsParams) -> Result<Self, Error> {
        params.check()?;
        let KlmsParams { eta, max_dictionary, outputs } = params;
        Self::from_parts(kernel, dimension, DistinctPoints, QuantisedStep::new(eta)?, (outputs, max_dictionary))
    }
}

#[doc(hidden)]
pub const KLMS: Learner<Klms<AnyKernel>> = Entry {
    name: "klms",
    summary: "kernel least mean squares: every input is kept until the dictionary is full",
    keys: KlmsParams::KEYS,
    time: cost!(1.0 J d, 1.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Liu et al. 2008",
    remedy: Some("take a smaller step"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "the yardstick of kernel adaptive filters",
    start: "`eta=0.2`",
    trial: &["max_dictionary=60"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Klms::new(kernel, context.dimension, values.parameters(context)?)?));
