//! PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and Valko 2017a).
//!
//! `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`, in the orthonormal
//! coordinates of a dictionary sampled by ridge leverage scores. A kept point acts from the next round on. (The paper skips
//! the projection in that round. After a restart there is nothing to project; CON-KONS would predict beyond `C`, and projects.)
//! PROS-N-KONS then restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is
//! appended with `A ← diag(A, α)`, `w ← [w; 0]`. (\[A\] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is singular in
//! the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept without a coin: prediction 0, no step. A point
//! kept in the span of the others changes neither dictionary nor learner.
//! `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

use mercer_core::cost;
use mercer_kernels::Kernel;
use mercer_sparsify::Kors;

use crate::basis::{GrowthTiming, OnDictionary, StepThenGrow, StepThenRestart};
use crate::catalogue::{BuildError, Context, Entry, Key, Takes, Values, keys};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::update::NewtonStep;
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`ProsNKons`] and [`ConKons`].
    #[derive(Copy)]
    pub struct SampledKonsParams {
        /// Regulariser `α > 0` of the Newton step.
        alpha: f64 = 5.0,
        /// Regulariser `γ > 0` of the leverage scores; larger keeps fewer points.
        gamma: f64 = 1.0,
        /// Oversampling `β > 0`.
        beta: f64 = 1.0,
        /// Accuracy `ε ≥ 0` of the scores.
        epsilon: f64 = 0.5,
        /// Bound `C > 0` on the predictions.
        clip: f64 = 1.0,
        /// Largest dictionary; `None` leaves its size to the sampler. The default keeps an ill-chosen width affordable.
        max_dictionary: Option<usize> = Some(1000),
        /// Seed of the coins.
        seed: u64 = 0,
        /// What is minimised: squared, logistic or softmax. With the squared loss the curvature is the papers' `1/(16C²)`.
        loss: Loss = Loss::SQUARED,
        /// Number of outputs: 1, or the classes of softmax.
        outputs: usize = 1,
    }
}

/// The online Newton step on a KORS dictionary, restarted when a point is kept.
pub type ProsNKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenRestart>;

/// The online Newton step on a KORS dictionary, carried on when a point is kept.
pub type ConKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenGrow>;

impl<K: Kernel, T: GrowthTiming> OnDictionary<K, Kors, NewtonStep, T> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: SampledKonsParams) -> Result<Self, Error> {
        let SampledKonsParams { alpha, gamma, beta, epsilon, clip, max_dictionary, seed, loss, outputs } = params;
        let clip = ParameterError::positive("clip", clip)?;
        let alpha = ParameterError::positive("alpha", alpha)?;
        let outputs = ParameterError::at_least_one("outputs", outputs)?;
        let update = if loss == Loss::SQUARED && outputs == 1 {
            let curvature = ParameterError::positive("1/(16 clip²)", 1.0 / (16.0 * clip * clip))?;
            NewtonStep::with_curvature(alpha, curvature, clip, loss, outputs)?
        } else {
            NewtonStep::new(alpha, clip, clip, loss, outputs)?
        };
        Self::from_parts(kernel, dimension, Kors::new(gamma, beta, epsilon, seed)?, update, max_dictionary)
    }
}

const KEYS: [Key; 7] = [
    keys::number(
        "alpha",
        "α",
        || SampledKonsParams::default().alpha.into(),
        keys::POSITIVE,
        "regulariser: the curvature starts at αI",
    ),
    keys::number(
        "gamma",
        "γ",
        || SampledKonsParams::default().gamma.into(),
        keys::POSITIVE,
        "regulariser of the leverage scores; larger keeps fewer points",
    ),
    keys::oversampling(|| SampledKonsParams::default().beta.into()),
    keys::accuracy(|| SampledKonsParams::default().epsilon.into()),
    keys::number(
        "clip",
        "C",
        || SampledKonsParams::default().clip.into(),
        keys::POSITIVE,
        "bound on the predictions, also sets the curvature 1/(16C²)",
    ),
    keys::max_dictionary(|| SampledKonsParams::default().max_dictionary.into()),
    keys::loss(|| SampledKonsParams::default().loss.into(), "squared, logistic or softmax"),
];

/// The same with a larger `γ`: each kept point costs a learner that restarts all that it has learnt. With 1 it is worse than the mean on half of the
/// streams that defaults were tried on (`mercer-benches`, `--bin defaults`).
const KEYS_OF_RESTARTS: [Key; 7] = {
    let mut keys = KEYS;
    keys[1] = keys::number("gamma", "γ", || 100.0.into(), keys::POSITIVE, KEYS[1].meaning);
    keys
};

fn params(context: &Context<'_>, values: &Values<'_>) -> Result<SampledKonsParams, BuildError> {
    Ok(SampledKonsParams::default()
        .alpha(values.number("alpha")?)
        .gamma(values.number("gamma")?)
        .beta(values.number("beta")?)
        .epsilon(values.number("epsilon")?)
        .clip(values.number("clip")?)
        .max_dictionary(values.max_dictionary()?)
        .loss(values.named("loss")?)
        .outputs(context.outputs)
        .seed(context.seed))
}

pub(crate) const PROS_N_KONS: Entry = Entry {
    name: "pros-n-kons",
    summary: "online Newton step on a KORS dictionary, restarted when a point is kept",
    keys: &KEYS_OF_RESTARTS,
    time: cost!(1.0 J d, 2.5 J J),
    memory: cost!(1.0 J d, 1.5 J J),
    source: "Calandriello et al. 2017a",
    bound: Some("clip"),
    remedy: Some("raise alpha"),
    takes: Takes::NEWTON,
    advice: "to compare; it restarts at each kept point",
    start: "`alpha=5`, `gamma=100`, `beta=1`",
    search: &[keys::search("alpha", 0.01, 100.0), keys::search("gamma", 0.1, 1000.0)],
    make: |kernel, context, values| Ok(ProsNKons::new(kernel, context.dimension, params(context, values)?)?.into()),
    ..Entry::PLAIN
};

pub(crate) const CON_KONS: Entry = Entry {
    name: "con-kons",
    summary: "online Newton step on a KORS dictionary, carried on when a point is kept",
    keys: &KEYS,
    source: "Calandriello et al. 2017a; Li and Liao, section A.1",
    advice: "points sampled by leverage rather than by distance",
    start: "`alpha=5`, `gamma=1`, `beta=1`",
    search: &[keys::search("alpha", 0.01, 100.0), keys::search("gamma", 0.1, 10.0)],
    make: |kernel, context, values| Ok(ConKons::new(kernel, context.dimension, params(context, values)?)?.into()),
    ..PROS_N_KONS
};
