//! NONS-ALD: Nyström online Newton step on an ALD dictionary (\[A\] Algorithm 3).
//!
//! In the orthonormal coordinates `φ` of the dictionary, with `g = 2(ŷ − y)` and
//! `η = 1/(4(U² + Y²))` for the squared loss (logistic and softmax: see [`NewtonStep`]):
//! `A ← A + η g² φφᵀ`, `w ← w − A⁻¹gφ`, then the projection on `|wᵀφ(x_{t+1})| ≤ U`. A point with
//! residual above `α` joins the dictionary: `w ← [w; 0]`, `A ← diag(A, μ)` (Lemmas 4.2 and 4.3;
//! exact in Newton coordinates). `Jd + 2J²` multiply-adds a round, `Jd + J²` numbers of memory.
//!
//! Where the printed algorithm and this differ: it skips prediction and update on a round that
//! enlarges the dictionary; the paper's text and its Table 3 do not, and neither does this. The
//! projection uses the coordinates before growth.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::Ald;

use crate::Error;
use crate::engines::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::engines::update::NewtonStep;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::newton::NewtonSteps;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`NonsAld`].
    #[derive(Copy)]
    pub struct NonsAldParams {
        /// regulariser: the curvature starts at μI
        mu: f64 = 1.0 => "μ" POSITIVE.search(0.001, 10.0),
        /// ALD threshold on the squared distance; larger keeps fewer points
        alpha: f64 = 1e-3 => "α" NOT_NEGATIVE.search(0.0001, 0.1),
        /// bound on the predictions; with classes the default is 2
        radius: f64 = 1.0 => "U" POSITIVE.for_classes(|_| RADIUS_FOR_CLASSES.into()),
        /// bound on the targets; with U sets the curvature 1/(4(U² + Y²))
        label_bound: f64 = 1.0 => "Y" POSITIVE,
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, logistic or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
        /// which point leaves when the dictionary is full; never keeps the first ones
        eviction: Eviction = Eviction::Never => "" "never, oldest, random, smallest or least-significant".called("removal"),
        /// length of steps: short ones never pass their own target, printed ones are the papers'
        steps: NewtonSteps = NewtonSteps::Short => "" "short or printed",
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
        params.check()?;
        let NonsAldParams { mu, alpha, radius, label_bound, max_dictionary, loss, outputs, eviction, steps } = params;
        let update = NewtonStep::new(mu, radius, label_bound, loss, outputs)?.with_steps(steps);
        let update = if eviction == Eviction::Never { update } else { update.with_short_steps() };
        Self::from_parts(kernel, dimension, Ald::new(alpha)?, update, max_dictionary)
            .map(|learner| learner.evicting(eviction))
    }
}

/// Radius for classes: scores within it reach probabilities from 0.12 to 0.88. A larger one makes
/// the curvature, and with it the gain over gradient steps, vanish exponentially.
const RADIUS_FOR_CLASSES: f64 = 2.0;

#[doc(hidden)]
pub const NONS_ALD: Learner<NonsAld<AnyKernel>> = Entry {
    name: "nons-ald",
    summary: "Nyström online Newton step on an ALD dictionary",
    keys: NonsAldParams::KEYS,
    time: cost!(1.0 J d, 2.0 J J),
    memory: cost!(1.0 J d, 1.0 J J),
    source: "Li and Liao, Algorithm 3",
    bound: Some("radius"),
    remedy: Some("raise mu"),
    takes: Takes::NEWTON,
    advice: "accuracy for its cost; `│y│ ≤ Y` known",
    start: "`alpha=1e-3` (the paper's is 25/T), `mu=1`, `radius = label_bound = max│y│`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(NonsAld::new(kernel, context.dimension, values.parameters(context)?)?));
