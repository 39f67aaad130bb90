//! NOGD: Nyström online gradient descent (Lu, Hoi, Wang, Zhao and Liu 2016).
//!
//! Until `B` points are kept, plain kernel gradient descent `f ← f − η g k(x, ·)` on all of them.
//! Then the features of the rank-`k` Nyström approximation on those points,
//! `z(x) = Λ_k^{−1/2} U_kᵀ k_B(x)` with `K_B = U Λ Uᵀ` (eigenvalues up to `1e−12 λ_max` are
//! dropped), start from the projection of the same function, and `w ← w − η g z(x)` follows.
//! `Bd + Bk` multiply-adds a round after the switch, which itself costs `O(B³)` once.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};

use crate::engines::basis::{FrozenNystrom, OnFeatures};
use crate::engines::expansion::{GradientRule, KernelExpansion};
use crate::engines::update::{Coefficients, GradientStep, StepSize};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::Target;
use crate::learner::check_input;
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

parameters! {
    /// Parameters of [`Nogd`].
    #[derive(Copy)]
    pub struct NogdParams {
        /// points kept, the first ones; then features are made of them, once, in B³
        budget: usize = 400 => "B" COUNT,
        /// features made of them; above the budget it is the budget
        rank: usize = 400 => "k" COUNT,
        /// step of the gradient descent; 1 and more tends to diverge
        step: f64 = 0.1 => "η" POSITIVE
            .search(0.001, 1.0),
        /// radius of the ball of functions (bounds predictions)
        radius: Option<f64> = None => "U" POSITIVE.none("the function is not bounded"),
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum NogdPhase<K> {
    Collecting(KernelExpansion<K>),
    Frozen(OnFeatures<FrozenNystrom<K>, GradientStep>),
}

/// Nyström online gradient descent.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Nogd<K> {
    budget: usize,
    rank: usize,
    phase: NogdPhase<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K: Kernel + Clone> Nogd<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: NogdParams) -> Result<Self, Error> {
        params.check()?;
        let NogdParams { budget, rank, step, radius, loss, outputs } = params;
        let step_size = StepSize::Constant(step);
        Ok(Self {
            budget,
            rank,
            phase: NogdPhase::Collecting(KernelExpansion::new(kernel, dimension, outputs, loss, step_size, radius)),
            scratch: Scratch::default(),
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        match &self.phase {
            NogdPhase::Collecting(expansion) => expansion.kernel(),
            NogdPhase::Frozen(learner) => learner.feature_map().kernel(),
        }
    }

    /// The points kept.
    #[must_use]
    pub fn points(&self) -> &Points {
        match &self.phase {
            NogdPhase::Collecting(expansion) => expansion.points(),
            NogdPhase::Frozen(learner) => learner.feature_map().points(),
        }
    }

    /// The same function, projected on the features of the points kept.
    fn frozen(&self, expansion: &KernelExpansion<K>) -> Result<NogdPhase<K>, Error> {
        let points = expansion.points();
        let map = FrozenNystrom::new(expansion.kernel().clone(), points.clone(), self.rank)?;
        let mut work = AlignedVec::new();
        // The values of each output at the points.
        let mut values = vec![vec![0.0; points.len()]; expansion.outputs()];
        let mut scores = vec![0.0; expansion.outputs()];
        for i in 0..points.len() {
            expansion.values(&points.point(i), &mut work, &mut scores)?;
            values.iter_mut().zip(&scores).for_each(|(values, score)| values[i] = *score);
        }
        let mut w = Coefficients::zeros(expansion.outputs(), 0);
        for (w, values) in w.vectors_mut().iter_mut().zip(&values) {
            map.project(values, w);
        }
        let GradientRule { loss, step_size, radius } = expansion.rule();
        let update = GradientStep::with_weights(w, loss, step_size, radius);
        Ok(NogdPhase::Frozen(OnFeatures::from_parts(map, update)?))
    }
}

impl<K: Kernel + Validate> Validate for Nogd<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.budget > 0 && self.rank > 0, "budget", "it is at least 1, and so is the rank")?;
        match &self.phase {
            NogdPhase::Collecting(expansion) => {
                expansion.validate()?;
                let room = expansion.points().len() < self.budget;
                Inconsistent::require(room, "expansion", "it has fewer points than the budget")
            }
            NogdPhase::Frozen(learner) => learner.validate(),
        }
    }
}

impl<K: Kernel + Clone> Regressor for Nogd<K> {
    fn problem(&self) -> Problem {
        match &self.phase {
            NogdPhase::Collecting(expansion) => expansion.problem(),
            NogdPhase::Frozen(learner) => learner.problem(),
        }
    }

    fn dictionary_size(&self) -> usize {
        match &self.phase {
            NogdPhase::Collecting(expansion) => expansion.points().len(),
            NogdPhase::Frozen(learner) => learner.dictionary_size(),
        }
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        match &self.phase {
            NogdPhase::Collecting(expansion) => {
                check_input(x, self.dimension())?;
                expansion.predict(x, &mut scratch.vectors[0], scores)
            }
            NogdPhase::Frozen(learner) => learner.predict_into(x, scratch, scores),
        }
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        match &mut self.phase {
            NogdPhase::Collecting(expansion) => {
                let row = &mut self.scratch.vectors[0];
                if expansion.points().len() + 1 < self.budget {
                    return expansion.step(x, target, row, scores);
                }
                // The switch may be refused, so the last point joins a copy first.
                let mut full = expansion.clone();
                full.step(x, target, row, scores)?;
                self.phase = self.frozen(&full)?;
                Ok(())
            }
            NogdPhase::Frozen(learner) => learner.step(x, target, scores),
        }
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match &mut self.phase {
            NogdPhase::Collecting(expansion) => expansion.reshape(growth),
            NogdPhase::Frozen(learner) => learner.reshape(growth),
        }
    }
}

#[doc(hidden)]
pub const NOGD: Learner<Nogd<AnyKernel>> = Entry {
    name: "nogd",
    summary: "Nyström online gradient descent on the features of the first points",
    keys: NogdParams::KEYS,
    time: cost!(1.0 B d, 1.0 B k),
    memory: cost!(1.0 B d, 1.0 B k),
    source: "Lu et al. 2016",
    bound: Some("radius"),
    remedy: Some("take a smaller step"),
    takes: Takes::ALL,
    advice: "a fixed number of points, any kernel",
    start: "`budget=400`, `rank=400`, `step=auto`",
    trial: &["budget=8", "rank=6"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Nogd::new(kernel, context.dimension, values.parameters(context)?)?));
