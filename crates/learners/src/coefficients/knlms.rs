//! KNLMS: kernel normalised least mean squares (Richard, Bermudez and Honeine 2009).
//!
//! With `k` the kernel values `k(d_i, x)` at the kept points and `e = y − f(x)`: `x` joins with `α = 0` when its [coherence](Coherence) is at
//! most `μ₀`, as the first point always does; then, over the dictionary that may have grown, `α ← α + η ω e k/(ε + ‖k‖²)`, `ω` being the
//! weight of the example. Once the dictionary is full no point joins and the steps go on. `Jd + 4J` multiply-adds a round,
//! `Jd + 2J` numbers of memory.

use mercer_core::cost;
use mercer_kernels::Kernel;
use mercer_sparsify::Coherence;

use super::OnCoefficients;
use super::normalised_step::NormalisedStep;
use crate::Error;
use crate::catalogue::{Entry, Takes, keys};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Knlms`].
    #[derive(Copy)]
    pub struct KnlmsParams {
        /// Step size `η > 0`; below 2 the error at the example itself shrinks.
        eta: f64 = 0.1,
        /// Coherence threshold `μ₀ ∈ [0, 1]`; 1 keeps every point.
        mu0: f64 = 0.7,
        /// `ε ≥ 0`, added to `‖k‖²`.
        eps: f64 = 1e-4,
        /// Largest dictionary; `None` leaves its size to the coherence test.
        max_dictionary: Option<usize> = Some(1000),
        /// Number of outputs, at least 1.
        outputs: usize = 1,
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
        let KnlmsParams { eta, mu0, eps, max_dictionary, outputs } = params;
        let update = NormalisedStep::new(eta, eps)?;
        Self::from_parts(kernel, dimension, Coherence::new(mu0)?, update, (outputs, max_dictionary))
    }
}

pub(crate) const KNLMS: Entry = Entry {
    name: "knlms",
    summary: "kernel normalised least mean squares on a coherent dictionary",
    keys: &[
        keys::number("eta", "η", || KnlmsParams::default().eta.into(), keys::POSITIVE, "step size, below 2"),
        keys::number(
            "mu0",
            "μ₀",
            || KnlmsParams::default().mu0.into(),
            "a number from 0 to 1",
            "largest coherence kept",
        ),
        keys::number("eps", "ε", || KnlmsParams::default().eps.into(), keys::NOT_NEGATIVE, "added to the squared norm"),
        keys::max_dictionary(|| KnlmsParams::default().max_dictionary.into()),
    ],
    time: cost!(1.0 J d, 4.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Richard et al. 2009",
    remedy: Some("take a smaller step"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "very cheap steps on a dictionary; drift",
    start: "`eta=0.1`, `mu0=0.7`; 0.5 and 0.9 where there is little noise",
    search: &[keys::search("eta", 0.01, 1.0), keys::search_evenly("mu0", 0.5, 0.99), keys::search("eps", 0.0001, 1.0)],
    make: |kernel, context, values| {
        let params = KnlmsParams::default().eta(values.number("eta")?).mu0(values.number("mu0")?);
        let params = params.eps(values.number("eps")?).max_dictionary(values.max_dictionary()?);
        Ok(Knlms::new(kernel, context.dimension, params.outputs(context.outputs))?.into())
    },
    ..Entry::PLAIN
};
