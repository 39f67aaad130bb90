//! Projectron and Projectron++: classifiers that learn a mistake inside of the span without a
//! further point (Orabona, Keshet and Caputo 2009).
//!
//! With `δ` the squared distance of `k(x, ·)` from the span of the dictionary: a mistake,
//! `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy` if `√δ > η`, and otherwise, or when the
//! dictionary is full, adds the projection of `ωy k(x, ·)`; `ω` is the weight of the example.
//! Projectron++ learns margins below 1 as well, as [`ProjectionStep`] says, and keeps no point for
//! them. `η` is a distance in units of `√k(x, x)`. Distances that are zero to rounding (1e−13 of
//! `k(x, x)` in the square) count as 0. `Jd + ½J² + 3J` multiply-adds a round, `Jd + ½J² + J`
//! numbers of memory.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::EveryPoint;

use crate::Error;
use crate::engines::basis::{GrowThenStep, OnDictionary};
use crate::engines::update::ProjectionStep;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Projectron`].
    #[derive(Copy)]
    pub struct ProjectronParams {
        /// distance from the span beyond which a mistake is kept; larger keeps fewer points
        eta: f64 = 0.1 => "η" NOT_NEGATIVE.search(0.01, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
    }
}

parameters! {
    /// Parameters of [`ProjectronPlus`].
    #[derive(Copy)]
    pub struct ProjectronPlusParams {
        /// distance from the span beyond which a mistake is kept; larger keeps fewer points and
        /// learns more margins
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
    }
}

/// Projectron.
pub type Projectron<K> = OnDictionary<K, EveryPoint, ProjectionStep<false>, GrowThenStep>;

/// Projectron++.
pub type ProjectronPlus<K> = OnDictionary<K, EveryPoint, ProjectionStep<true>, GrowThenStep>;

impl<K: Kernel> Projectron<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: ProjectronParams) -> Result<Self, Error> {
        params.check()?;
        let update = ProjectionStep::new(params.eta, params.max_dictionary)?;
        Self::from_parts(kernel, dimension, EveryPoint, update, None)
    }
}

impl<K: Kernel> ProjectronPlus<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: ProjectronPlusParams) -> Result<Self, Error> {
        params.check()?;
        let update = ProjectionStep::new(params.eta, params.max_dictionary)?;
        Self::from_parts(kernel, dimension, EveryPoint, update, None)
    }
}

#[doc(hidden)]
pub const PROJECTRON: Learner<Projectron<AnyKernel>> = Entry {
    name: "projectron",
    summary: "perceptron that projects mistakes near its span",
    keys: ProjectronParams::KEYS,
    time: cost!(1.0 J d, 0.5 J J),
    memory: cost!(1.0 J d, 0.5 J J),
    source: "Orabona et al. 2009",
    takes: Takes::SIGNS,
    advice: "two classes; few points",
    start: "`eta=0.1`",
    trial: &["max_dictionary=5"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Projectron::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const PROJECTRON_PLUS: Learner<ProjectronPlus<AnyKernel>> = Entry {
    name: "projectron++",
    summary: "Projectron that learns margins below 1 too",
    keys: ProjectronPlusParams::KEYS,
    advice: "two classes; few points, more accurate than projectron",
    ..PROJECTRON.entry
}
.made_by(|kernel, context, values| Ok(ProjectronPlus::new(kernel, context.dimension, values.parameters(context)?)?));
