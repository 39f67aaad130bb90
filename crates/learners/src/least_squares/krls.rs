//! KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).
//!
//! In the orthonormal coordinates of the dictionary it is recursive least squares,
//! [`LeastSquares`]: predictions are those of the least-squares fit to all rounds, each represented
//! by its projection on the dictionary of its time. Engel's recursion keeps `K⁻¹` and a second
//! matrix and loses digits for small thresholds; this one keeps a Cholesky factor and one inverse
//! and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! A ridge and forgetting are extensions; see [`LeastSquares`] for what they do.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::Ald;

use crate::Error;
use crate::engines::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::engines::update::{Forgetting, LeastSquares};
use crate::entry::{Entry, Learner, Parameters, Takes, choices};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Krls`].
    #[derive(Copy)]
    pub struct KrlsParams {
        /// ALD threshold on the squared distance; larger keeps fewer points
        nu: f64 = 1e-3 => "ν" NOT_NEGATIVE.search(0.0001, 0.1),
        /// ridge: the variance of the noise where k(x, x) is that of the function; for classes
        /// 0.01; 0 is Engel's algorithm
        lambda: f64 = 0.1 => "λ" NOT_NEGATIVE.for_classes(|_| RIDGE_FOR_CLASSES.into()).search(0.0001, 10.0),
        /// share of the past that a row leaves: exponentially, 1/(1 − γ) rows are remembered;
        /// directionally, about J times as many; 1 forgets nothing
        forgetting: f64 = 1.0 => "γ" FRACTION,
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// how: where the input lies, everywhere, or back to the ridge's prior (which needs
        /// lambda > 0)
        forgets: Forgetting = Forgetting::Directional => "" "directional, exponential or prior",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
        /// which point leaves when the dictionary is full; never keeps the first ones
        eviction: Eviction = Eviction::Never => "" "never, oldest, random, smallest or least-significant".called("removal"),
    }
}

parameters! {
    /// Parameters of [`Krls`] as Engel et al. published it: without ridge and forgetting.
    #[derive(Copy)]
    pub struct AldKrlsParams {
        /// ALD threshold on the squared distance; larger keeps fewer points
        nu: f64 = 1e-3 => "ν" NOT_NEGATIVE.search(0.0001, 0.1),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Kernel recursive least squares on an ALD dictionary.
pub type Krls<K> = OnDictionary<K, Ald, LeastSquares, GrowThenStep>;

impl<K: Kernel> Krls<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KrlsParams) -> Result<Self, Error> {
        params.check()?;
        let KrlsParams { nu, lambda, forgetting, max_dictionary, forgets, outputs, eviction } = params;
        let update = LeastSquares::new(lambda, forgetting)?.forgetting_by(forgets)?.with_outputs(outputs);
        Self::from_parts(kernel, dimension, Ald::new(nu)?, update, max_dictionary)
            .map(|learner| learner.evicting(eviction))
    }
}

/// Classes are exact, so their ridge is small. Without one, noise is fitted as soon as the points
/// span the stream: the score is then worse than that of the mean on a third of the streams that
/// defaults were tried on (`mercer-benches`, `--bin defaults`).
const RIDGE_FOR_CLASSES: f64 = 0.01;

choices!(Forgetting { "directional" = Directional, "exponential" = Exponential, "prior" = ToPrior });

impl From<AldKrlsParams> for KrlsParams {
    fn from(AldKrlsParams { nu, max_dictionary, outputs }: AldKrlsParams) -> Self {
        Self { nu, lambda: 0.0, max_dictionary, outputs, ..Self::default() }
    }
}

#[doc(hidden)]
pub const KRLS: Learner<Krls<AnyKernel>> = Entry {
    name: "krls",
    summary: "kernel recursive least squares on an ALD dictionary",
    keys: KrlsParams::KEYS,
    time: cost!(1.0 J d, 2.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Engel et al. 2004",
    remedy: Some("raise lambda or nu"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "no bound on targets; drift, with forgetting",
    start: "defaults; `lambda=1` where there is much noise, 0.01 where there is little",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Krls::new(kernel, context.dimension, values.parameters(context)?)?));

/// Engel's algorithm by its own name.
#[doc(hidden)]
pub const ALD_KRLS: Learner<Krls<AnyKernel>> = Entry {
    name: "ald-krls",
    summary: "kernel recursive least squares as published: an ALD dictionary, no ridge, no forgetting",
    keys: AldKrlsParams::KEYS,
    start: "`nu=1e-3`",
    ..KRLS.entry
}
.made_by(|kernel, context, values| {
    let params: AldKrlsParams = values.parameters(context)?;
    Ok(Krls::new(kernel, context.dimension, params.into())?)
});
