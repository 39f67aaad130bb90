//! NONS-ALD: Nyström online Newton step on an ALD dictionary (\[A\] Algorithm 3).
//!
//! In the orthonormal coordinates `φ` of the dictionary, with `g = 2(ŷ − y)` and `η = 1/(4(U² + Y²))` for the squared loss (logistic and
//! softmax: see [`NewtonStep`]):
//! `A ← A + η g² φφᵀ`, `w ← w − A⁻¹gφ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U`. A point with residual above `α` joins
//! the dictionary: `w ← [w; 0]`, `A ← diag(A, μ)` (Lemmas 4.2 and 4.3; exact in Newton coordinates). `Jd + 2J²`
//! multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! Where the printed algorithm and this differ: it skips prediction and update on a round that enlarges the dictionary;
//! the paper's text and its Table 3 do not, and neither does this. The projection uses the coordinates before growth.

use mercer_core::cost;
use mercer_kernels::Kernel;
use mercer_sparsify::Ald;

use crate::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::catalogue::{Entry, Takes, keys};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::update::NewtonStep;
use crate::{Error, ParameterError};

parameters! {
    /// Parameters of [`NonsAld`].
    #[derive(Copy)]
    pub struct NonsAldParams {
        /// Regulariser `μ > 0`, `A_0 = μI`.
        mu: f64 = 1.0,
        /// ALD threshold `α ≥ 0` on the squared distance; the paper takes `25/T`.
        alpha: f64 = 1e-3,
        /// Bound `U > 0` on the predictions.
        radius: f64 = 1.0,
        /// Bound `Y > 0` on the targets.
        label_bound: f64 = 1.0,
        /// Largest dictionary; `None` leaves its size to the ALD test. The default keeps an ill-chosen width affordable.
        max_dictionary: Option<usize> = Some(1000),
        /// What is minimised: squared, logistic or softmax.
        loss: Loss = Loss::SQUARED,
        /// Number of outputs: 1, or the classes of softmax.
        outputs: usize = 1,
        /// Which point leaves a full dictionary; by default none does, and no further one is kept.
        eviction: Eviction = Eviction::Never,
    }
}

/// Nyström online Newton step on an ALD dictionary.
pub type NonsAld<K> = OnDictionary<K, Ald, NewtonStep, GrowThenStep>;

impl<K: Kernel> NonsAld<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NonsAldParams) -> Result<Self, Error> {
        let NonsAldParams { mu, alpha, radius, label_bound, max_dictionary, loss, outputs, eviction } = params;
        let outputs = ParameterError::at_least_one("outputs", outputs)?;
        let update = NewtonStep::new(ParameterError::positive("mu", mu)?, radius, label_bound, loss, outputs)?;
        let update = if eviction == Eviction::Never { update } else { update.with_short_steps() };
        Self::from_parts(kernel, dimension, Ald::new(alpha)?, update, max_dictionary)
            .map(|learner| learner.evicting(eviction))
    }
}

/// Radius for classes: scores within it reach probabilities from 0.12 to 0.88. A larger one makes the curvature, and with it the gain over
/// gradient steps, vanish exponentially.
const RADIUS_FOR_CLASSES: f64 = 2.0;

pub(crate) const NONS_ALD: Entry = Entry {
    name: "nons-ald",
    summary: "Nyström online Newton step on an ALD dictionary",
    keys: &[
        keys::mu(|| NonsAldParams::default().mu.into()),
        keys::alpha_of_ald(|| NonsAldParams::default().alpha.into()),
        keys::number(
            "radius",
            "U",
            || NonsAldParams::default().radius.into(),
            keys::POSITIVE,
            "bound on the predictions; with classes the default is 2",
        )
        .for_classes(|_| RADIUS_FOR_CLASSES.into()),
        keys::number(
            "label_bound",
            "Y",
            || NonsAldParams::default().label_bound.into(),
            keys::POSITIVE,
            "bound on the targets; with U sets the curvature 1/(4(U² + Y²))",
        ),
        keys::max_dictionary(|| NonsAldParams::default().max_dictionary.into()),
        keys::loss(|| NonsAldParams::default().loss.into(), "squared, logistic or softmax"),
        keys::removal(),
    ],
    time: cost!(1.0 J d, 2.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Li and Liao, Algorithm 3",
    bound: Some("radius"),
    remedy: Some("raise mu"),
    takes: Takes::NEWTON,
    advice: "accuracy for its cost; `│y│ ≤ Y` known",
    start: "`alpha=25/T` (or 1e-3), `mu=1`, `radius = label_bound = max│y│`",
    search: &[keys::search("mu", 0.001, 10.0), keys::search("alpha", 0.0001, 0.1)],
    make: |kernel, context, values| {
        let params = NonsAldParams::default()
            .mu(values.number("mu")?)
            .alpha(values.number("alpha")?)
            .radius(values.number("radius")?)
            .label_bound(values.number("label_bound")?)
            .max_dictionary(values.max_dictionary()?)
            .eviction(keys::eviction(context, values)?)
            .loss(values.named("loss")?)
            .outputs(context.outputs);
        Ok(NonsAld::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
