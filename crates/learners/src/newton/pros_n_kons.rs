//! PROS-N-KONS and CON-KONS: the online Newton step on a KORS dictionary (Calandriello, Lazaric and
//! Valko 2017a).
//!
//! `A ← A + ½σ g² φφᵀ` with `½σ = 1/(16C²)`, `w ← w − A⁻¹gφ`, projection on `|wᵀφ(x_{t+1})| ≤ C`,
//! in the orthonormal coordinates of a dictionary sampled by ridge leverage scores. A kept point
//! acts from the next round on. (The paper skips the projection in that round. After a restart
//! there is nothing to project; CON-KONS would predict beyond `C`, and projects.) PROS-N-KONS then
//! restarts with `A = αI`, `w = 0`; CON-KONS carries what it has: a coordinate is appended with `A
//! ← diag(A, α)`, `w ← [w; 0]`. (\[A\] section A.1 prints CON-KONS's matrix as `QAQᵀ`, which is
//! singular in the new direction; `αI + Q(A − αI)Qᵀ` is meant here.) The first point is kept
//! without a coin: prediction 0, no step. A point kept in the span of the others changes neither
//! dictionary nor learner.
//! `Jd + 2½J²` multiply-adds a round (a factor and two inverses), `Jd + 1½J²` numbers of memory.

use mercer_core::cost;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::Kors;

use crate::engines::basis::{GrowthTiming, OnDictionary, StepThenGrow, StepThenRestart};
use crate::engines::update::NewtonStep;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::newton::NewtonSteps;
use crate::parameters::parameters;
use crate::{Error, ParameterError};

/// Both learners have these parameters; what a restart costs asks for another default.
macro_rules! sampled_params {
    ($name:ident, $about:literal, gamma = $gamma:literal to $highest:literal) => {
        parameters! {
            #[doc = $about]
            #[derive(Copy)]
            pub struct $name {
                /// regulariser: the curvature starts at αI
                alpha: f64 = 5.0 => "α" POSITIVE.search(0.01, 100.0),
                /// regulariser of the leverage scores; larger keeps fewer points
                gamma: f64 = $gamma => "γ" POSITIVE.search(0.1, $highest),
                /// oversampling of the leverage scores; larger keeps more points
                beta: f64 = 1.0 => "β" POSITIVE,
                /// accuracy of the leverage scores
                epsilon: f64 = 0.5 => "ε" NOT_NEGATIVE,
                /// bound on the predictions, also sets the curvature 1/(16C²)
                clip: f64 = 1.0 => "C" POSITIVE,
                /// most points kept
                max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
                /// seed of what is drawn
                seed: u64 = 0 => context seed,
                /// what is minimised; with classes the default is logistic, softmax for more than
                /// two
                loss: Loss = Loss::SQUARED => "" "squared, logistic or softmax",
                /// outputs of a prediction
                outputs: usize = 1 => context outputs,
                /// length of steps: short ones never pass their own target, printed ones are the
                /// papers'
                steps: NewtonSteps = NewtonSteps::Short => "" "short or printed",
            }
        }

        impl $name {
            /// The learner with these parameters.
            fn learner<K: Kernel, T: GrowthTiming>(
                self,
                kernel: K,
                dimension: usize,
            ) -> Result<OnDictionary<K, Kors, NewtonStep, T>, Error> {
                self.check()?;
                let Self { alpha, gamma, beta, epsilon, clip, max_dictionary, seed, loss, outputs, steps } = self;
                let update = newton_step(alpha, clip, loss, outputs)?.with_steps(steps);
                OnDictionary::from_parts(
                    kernel,
                    dimension,
                    Kors::new(gamma, beta, epsilon, seed)?,
                    update,
                    max_dictionary,
                )
            }
        }
    };
}

// Each kept point costs a learner that restarts all that it has learnt. With `γ = 1` it is worse
// than the mean on half of the streams that defaults were tried on (`mercer-benches`,
// `--bin defaults`).
sampled_params!(ProsNKonsParams, "Parameters of [`ProsNKons`].", gamma = 100.0 to 1000.0);
sampled_params!(ConKonsParams, "Parameters of [`ConKons`].", gamma = 1.0 to 10.0);

impl From<ConKonsParams> for ProsNKonsParams {
    /// The same settings, `γ` included.
    fn from(params: ConKonsParams) -> Self {
        let ConKonsParams { alpha, gamma, beta, epsilon, clip, max_dictionary, seed, loss, outputs, steps } = params;
        Self { alpha, gamma, beta, epsilon, clip, max_dictionary, seed, loss, outputs, steps }
    }
}

/// The online Newton step on a KORS dictionary, restarted when a point is kept.
pub type ProsNKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenRestart>;

/// The online Newton step on a KORS dictionary, carried on when a point is kept.
pub type ConKons<K> = OnDictionary<K, Kors, NewtonStep, StepThenGrow>;

impl<K: Kernel> ProsNKons<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: ProsNKonsParams) -> Result<Self, Error> {
        params.learner(kernel, dimension)
    }
}

impl<K: Kernel> ConKons<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: ConKonsParams) -> Result<Self, Error> {
        params.learner(kernel, dimension)
    }
}

/// The step under this loss; of the squared loss with the papers' curvature `1/(16C²)`.
fn newton_step(alpha: f64, clip: f64, loss: Loss, outputs: usize) -> Result<NewtonStep, Error> {
    if loss == Loss::SQUARED && outputs == 1 {
        let curvature = ParameterError::positive("1/(16 clip²)", 1.0 / (16.0 * clip * clip))?;
        return NewtonStep::with_curvature(alpha, curvature, clip, loss, outputs);
    }
    NewtonStep::new(alpha, clip, clip, loss, outputs)
}

#[doc(hidden)]
pub const PROS_N_KONS: Learner<ProsNKons<AnyKernel>> = Entry {
    name: "pros-n-kons",
    summary: "online Newton step on a KORS dictionary, restarted when a point is kept",
    keys: ProsNKonsParams::KEYS,
    time: cost!(1.0 J d, 2.5 J J),
    memory: cost!(1.0 J d, 1.5 J J),
    source: "Calandriello et al. 2017a",
    bound: Some("clip"),
    remedy: Some("raise alpha"),
    takes: Takes::NEWTON,
    advice: "to compare; it restarts at each kept point",
    start: "`alpha=5`, `gamma=100`, `beta=1`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(ProsNKons::new(kernel, context.dimension, values.parameters(context)?)?));

#[doc(hidden)]
pub const CON_KONS: Learner<ConKons<AnyKernel>> = Entry {
    name: "con-kons",
    summary: "online Newton step on a KORS dictionary, carried on when a point is kept",
    keys: ConKonsParams::KEYS,
    source: "Calandriello et al. 2017a; Li and Liao, section A.1",
    advice: "points sampled by leverage rather than by distance",
    start: "`alpha=5`, `gamma=1`, `beta=1`",
    ..PROS_N_KONS.entry
}
.made_by(|kernel, context, values| Ok(ConKons::new(kernel, context.dimension, values.parameters(context)?)?));
