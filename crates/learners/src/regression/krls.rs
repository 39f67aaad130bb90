//! KRLS: kernel recursive least squares on an ALD dictionary (Engel, Mannor and Meir 2004).
//!
//! In the orthonormal coordinates of the dictionary it is recursive least squares, [`LeastSquares`]: predictions are those
//! of the least-squares fit to all rounds, each represented by its projection on the dictionary of its time. Engel's
//! recursion keeps `K⁻¹` and a second matrix and loses digits for small thresholds; this one keeps a Cholesky factor and
//! one inverse and does not. `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! A ridge and forgetting are extensions; see [`LeastSquares`] for what they do.

use mercer_core::cost;
use mercer_kernels::Kernel;
use mercer_sparsify::Ald;

use crate::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::catalogue::{BuildError, Entry, Takes, keys};
use crate::parameters::parameters;
use crate::update::{Forgetting, LeastSquares};
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`Krls`].
    #[derive(Copy)]
    pub struct KrlsParams {
        /// ALD threshold `ν ≥ 0` on the squared distance.
        nu: f64 = 1e-3,
        /// Ridge `λ ≥ 0`; 0 is Engel's algorithm. The catalogue and the command take 0.1, for classes 0.01.
        lambda: f64 = 0.0,
        /// Forgetting `γ ∈ (0, 1]`; 1 forgets nothing.
        forgetting: f64 = 1.0,
        /// Largest dictionary; `None` leaves its size to the ALD test. The default keeps an ill-chosen width affordable.
        max_dictionary: Option<usize> = Some(1000),
        /// How a factor below 1 forgets.
        forgets: Forgetting = Forgetting::Directional,
        /// Number of outputs, at least 1.
        outputs: usize = 1,
        /// Which point leaves a full dictionary; by default none does, and no further one is kept.
        eviction: Eviction = Eviction::Never,
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
        let KrlsParams { nu, lambda, forgetting, max_dictionary, forgets, outputs, eviction } = params;
        let outputs = ParameterError::at_least_one("outputs", outputs)?;
        let rule = Ald::new(nu).map_err(|error| ParameterError { name: "nu", ..error })?;
        let update = LeastSquares::new(lambda, forgetting)?.forgetting_by(forgets)?.with_outputs(outputs);
        Self::from_parts(kernel, dimension, rule, update, max_dictionary).map(|learner| learner.evicting(eviction))
    }
}

/// The catalogue's ridge for numbers, and for classes, whose targets are exact. Without one, noise is fitted as soon as the points span the stream: the score is then worse
/// than that of the mean on a third of the streams that defaults were tried on (`mercer-benches`, `--bin defaults`). [`KrlsParams`] keeps Engel's 0.
const RIDGE: [f64; 2] = [0.1, 0.01];

/// Ways of forgetting by name.
const WAYS: [(&str, Forgetting); 3] = [
    ("directional", Forgetting::Directional),
    ("exponential", Forgetting::Exponential),
    ("prior", Forgetting::ToPrior),
];

pub(crate) const KRLS: Entry = Entry {
    name: "krls",
    summary: "kernel recursive least squares on an ALD dictionary",
    keys: &[
        keys::number(
            "nu",
            "ν",
            || KrlsParams::default().nu.into(),
            keys::NOT_NEGATIVE,
            "ALD threshold on the squared distance; larger keeps fewer points",
        ),
        keys::number(
            "lambda",
            "λ",
            || RIDGE[0].into(),
            keys::NOT_NEGATIVE,
            "ridge: the variance of the noise where k(x, x) is that of the function; for classes 0.01; 0 is Engel's algorithm",
        )
        .for_classes(|_| RIDGE[1].into()),
        keys::number(
            "forgetting",
            "γ",
            || KrlsParams::default().forgetting.into(),
            "a number above 0, at most 1",
            "share of the past that a row leaves: exponentially, 1/(1 − γ) rows are remembered; directionally, about J times as many; \
             1 forgets nothing",
        ),
        keys::max_dictionary(|| KrlsParams::default().max_dictionary.into()),
        keys::name(
            "forgets",
            &[WAYS[0].0, WAYS[1].0, WAYS[2].0],
            || WAYS.iter().find(|(_, way)| *way == KrlsParams::default().forgets).map(|(name, _)| *name).into(),
            "directional, exponential or prior",
            "how: where the input lies, everywhere, or back to the ridge's prior (which needs lambda > 0)",
        ),
        keys::removal(),
    ],
    time: cost!(1.0 J d, 2.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Engel et al. 2004",
    remedy: Some("raise lambda or nu"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "no bound on targets; drift",
    start: "defaults; `lambda=1` where there is much noise, 0.01 where there is little",
    search: &[keys::search("nu", 0.0001, 0.1), keys::search("lambda", 0.0001, 10.0)],
    make: |kernel, context, values| {
        let name: String = values.named("forgets")?;
        let way = WAYS.iter().find(|(known, _)| *known == name).ok_or(BuildError::OtherKind("forgets"))?;
        let params = KrlsParams::default()
            .nu(values.number("nu")?)
            .lambda(values.number("lambda")?)
            .forgetting(values.number("forgetting")?)
            .max_dictionary(values.max_dictionary()?)
            .forgets(way.1)
            .eviction(keys::eviction(context, values)?)
            .outputs(context.outputs);
        Ok(Krls::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};

/// Engel's algorithm by its own name.
pub(crate) const ALD_KRLS: Entry = Entry {
    name: "ald-krls",
    summary: "kernel recursive least squares as published: an ALD dictionary, no ridge, no forgetting",
    keys: &[KRLS.keys[0], KRLS.keys[3]],
    start: "`nu=1e-3`",
    search: &[keys::search("nu", 0.0001, 0.1)],
    make: |kernel, context, values| {
        let params = KrlsParams::default().nu(values.number("nu")?).max_dictionary(values.max_dictionary()?);
        Ok(Krls::new(kernel, context.dimension, params.outputs(context.outputs))?.into())
    },
    ..KRLS
};
