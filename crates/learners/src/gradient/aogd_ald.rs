//! AOGD-ALD: approximated online gradient descent on an ALD dictionary (\[A\] Algorithm 1).
//!
//! While the dictionary has fewer than `B₀` points, a gradient step in its orthonormal coordinates:
//! an example in the span moves `f` along the projection of `k(x, ·)` (eq. 6), another joins and
//! moves it along `k(x, ·)` itself (eq. 2); both then project on `‖f‖ ≤ U` (eq. 3).
//! `η_t = U/√(1 + Σ_{s≤t} ‖∇̂_s‖²)`. `Jd + ½J²` multiply-adds a round.
//!
//! Past `B₀` every example is kept and learnt by plain kernel gradient descent, whose
//! memory **grows with the stream**; `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` is where that becomes the cheaper
//! of the two ([`AogdAldParams::growth_limit_for`]).

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::Ald;

use crate::engines::basis::{Eviction, GrowThenStep, OnDictionary};
use crate::engines::expansion::{GradientRule, KernelExpansion};
use crate::engines::update::{Coefficients, GradientStep, LinearUpdate, StepSize};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::{Rows, Target};
use crate::learner::{check_input, learn_one_by_one};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::wrappers::{OnOneDictionary, Sharer};
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

parameters! {
    /// Parameters of [`AogdAld`].
    #[derive(Copy)]
    pub struct AogdAldParams {
        /// radius of the ball of functions (bounds predictions), also sets the steps
        radius: f64 = 2.0 => "U" POSITIVE.search(0.1, 10.0),
        /// ALD threshold on the squared distance; larger keeps fewer points
        alpha: f64 = 1e-3 => "α" NOT_NEGATIVE.search(0.001, 0.1),
        /// points from which on every example is kept; 0 is kogd
        growth_limit: Option<usize> = None => "B₀" WHOLE
            .none("never; the dictionary stays as large as alpha makes it"),
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
        /// most points kept, while fewer than growth_limit are
        max_dictionary: Option<usize> = None => "" COUNT.unlimited(),
        /// which point leaves when the dictionary is full; never keeps the first ones
        eviction: Eviction = Eviction::Never => "" "never, oldest, random, smallest or least-significant".called("removal"),
    }
}

impl AogdAldParams {
    /// The paper's `B₀ = ⌊(√(d² + 4dT) − d)/2⌋` for `rounds` = `T` rounds in dimension
    /// `dimension` = `d`.
    #[must_use]
    pub fn growth_limit_for(dimension: usize, rounds: usize) -> usize {
        let (d, t) = (dimension as f64, rounds as f64);
        ((d.mul_add(d, 4.0 * d * t).sqrt() - d) / 2.0) as usize
    }
}

pub(crate) type InSpan<K> = OnDictionary<K, Ald, GradientStep, GrowThenStep>;

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum AogdPhase<K> {
    Dictionary(Box<InSpan<K>>),
    Everything(Box<KernelExpansion<K>>),
}

/// Approximated online gradient descent on an ALD dictionary.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AogdAld<K> {
    radius: f64,
    growth_limit: Option<usize>,
    phase: AogdPhase<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

/// It shares its dictionary while it will never be anything else.
impl<K: Kernel + Clone + Send> Sharer for AogdAld<K> {
    type Kernel = K;

    fn on_dictionary(self) -> Result<OnOneDictionary<K>, Self> {
        match self {
            Self { growth_limit: None, phase: AogdPhase::Dictionary(dictionary), radius, scratch } => {
                dictionary.on_dictionary().map_err(|dictionary| Self {
                    growth_limit: None,
                    phase: AogdPhase::Dictionary(Box::new(dictionary)),
                    radius,
                    scratch,
                })
            }
            other => Err(other),
        }
    }
}

impl<K: Kernel + Clone> AogdAld<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: AogdAldParams) -> Result<Self, Error> {
        params.check()?;
        let AogdAldParams { radius, alpha, growth_limit, loss, outputs, max_dictionary, eviction } = params;
        let update = GradientStep::new(0, outputs, loss, StepSize::adaptive(radius), Some(radius));
        let dictionary =
            InSpan::from_parts(kernel, dimension, Ald::new(alpha)?, update, max_dictionary)?.evicting(eviction);
        let phase = AogdPhase::Dictionary(Box::new(dictionary));
        let mut learner = Self { radius, growth_limit, phase, scratch: Scratch::default() };
        learner.switch_if_full();
        Ok(learner)
    }

    /// True if the learner has passed `B₀` and keeps every example.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        matches!(self.phase, AogdPhase::Everything(_))
    }

    /// At `B₀` points the same function goes on as an expansion in the kept points: `β = L⁻ᵀw`.
    fn switch_if_full(&mut self) {
        let AogdPhase::Dictionary(dictionary) = &self.phase else { return };
        let (basis, update) = (dictionary.basis(), dictionary.linear());
        if self.growth_limit.is_none_or(|limit| basis.len() < limit) {
            return;
        }
        let mut coefficients = Coefficients::zeros(update.outputs(), 0);
        for (coefficients, w) in coefficients.vectors_mut().iter_mut().zip(update.weights().vectors()) {
            basis.coefficients(w, coefficients);
        }
        let radius = Some(self.radius);
        self.phase = AogdPhase::Everything(Box::new(KernelExpansion::resume(
            basis.kernel().clone(),
            basis.points().clone(),
            coefficients,
            update.weights().squared_norm(),
            GradientRule { loss: update.loss(), step_size: update.step_size(), radius },
        )));
    }
}

impl<K: Kernel + Validate> Validate for AogdAld<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.radius, "radius")?;
        match &self.phase {
            AogdPhase::Dictionary(dictionary) => {
                let growing = self.growth_limit.is_none_or(|limit| dictionary.basis().len() < limit);
                Inconsistent::require(growing, "AOGD-ALD", "its dictionary is below the limit")?;
                dictionary.validate()
            }
            AogdPhase::Everything(expansion) => expansion.validate(),
        }
    }
}

impl<K: Kernel + Clone> Regressor for AogdAld<K> {
    fn problem(&self) -> Problem {
        match &self.phase {
            AogdPhase::Dictionary(dictionary) => dictionary.problem(),
            AogdPhase::Everything(expansion) => expansion.problem(),
        }
    }

    fn dictionary_size(&self) -> usize {
        match &self.phase {
            AogdPhase::Dictionary(dictionary) => dictionary.dictionary_size(),
            AogdPhase::Everything(expansion) => expansion.points().len(),
        }
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        match &self.phase {
            AogdPhase::Dictionary(dictionary) => dictionary.predict_into(x, scratch, scores),
            AogdPhase::Everything(expansion) => {
                check_input(x, self.dimension())?;
                expansion.predict(x, &mut scratch.vectors[0], scores)
            }
        }
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        match &mut self.phase {
            AogdPhase::Dictionary(dictionary) => {
                dictionary.step(x, target, scores)?;
                self.switch_if_full();
                Ok(())
            }
            AogdPhase::Everything(expansion) => expansion.step(x, target, &mut self.scratch.vectors[0], scores),
        }
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        Some(self)
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match &mut self.phase {
            AogdPhase::Dictionary(dictionary) => dictionary.reshape(growth),
            AogdPhase::Everything(expansion) => expansion.reshape(growth),
        }
    }
}

impl<K: Kernel + Clone> Blocks for AogdAld<K> {
    /// In the dictionary's phase its own blocked pass, with at most `B₀ − J` rows at once, so that
    /// it ends where the dictionary is full; one by one afterwards. The same bits.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let mut first = 0;
        while let AogdPhase::Dictionary(dictionary) = &mut self.phase
            && first < rows.len()
        {
            let room = self.growth_limit.map_or(rows.len(), |limit| limit - dictionary.dictionary_size());
            let end = rows.len().min(first + room);
            dictionary.learn_rows(rows.range(first, end), scores)?;
            self.switch_if_full();
            first = end;
        }
        learn_one_by_one(self, rows.range(first, rows.len()), scores)
    }

    /// It learns on one.
    fn limit_threads(&mut self, _: usize) {}
}

#[doc(hidden)]
pub const AOGD_ALD: Learner<AogdAld<AnyKernel>> = Entry {
    name: "aogd-ald",
    summary: "approximated online gradient descent on an ALD dictionary",
    keys: AogdAldParams::KEYS,
    time: cost!(1.0 J d, 0.5 J J),
    memory: cost!(1.0 J d, 0.5 J J),
    growth: Some("past growth_limit every example is kept; with none it does not grow with the stream"),
    source: "Li and Liao, Algorithm 1",
    bound: Some("radius"),
    takes: Takes::ALL,
    advice: "a dictionary, but cheaper steps",
    start: "`alpha=1e-3` (the paper's is 25/T), `radius=2` (the function's norm, which also sets the steps)",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(AogdAld::new(kernel, context.dimension, values.parameters(context)?)?));
