//! BOGD: gradient descent on the hinge loss, on a budget from which points leave at random (Zhao,
//! Wang, Wu, Jin and Hoi 2012).
//!
//! Every round multiplies the coefficients by `1 − ηλ`. If the hinge loss of the score before is
//! positive, `x` joins with the coefficient `ηωy`, `ω` being the weight of the example, but with
//! `ω > 1` no more than `y max(ℓ/κ, η)`, which brings the margin to 1. If there are then more than
//! `B` points, one of the `B` older ones leaves, each as likely as the others, and those that stay
//! are multiplied by `B/(B − 1)`, so that their expected sum is what it was; the new one is not.
//! `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Basis, EveryPoint};

use super::{Draws, Margin, check_budget, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth, ParameterError};

parameters! {
    /// Parameters of [`Bogd`].
    #[derive(Copy)]
    pub struct BogdParams {
        /// most points kept
        budget: usize = 500 => "B" COUNT,
        /// step size
        eta: f64 = 0.5 => "η" POSITIVE.search(0.01, 1.0),
        /// regulariser
        lambda: f64 = 0.001 => "λ" "a number ≥ 0, at most 1/eta".search(1e-5, 0.1),
        /// seed of what is drawn
        seed: u64 = 0 => context seed,
    }
}

/// Budgeted online gradient descent.
pub type Bogd<K> = OnCoefficients<K, EveryPoint, GradientBudget>;

impl<K: Kernel> Bogd<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: BogdParams) -> Result<Self, Error> {
        params.check()?;
        let BogdParams { budget, eta, lambda, seed } = params;
        ParameterError::non_negative("lambda", lambda)?;
        ParameterError::require(eta * lambda <= 1.0, "lambda", "at most 1/eta", lambda)?;
        let update = GradientBudget { budget, eta, lambda, draws: Draws::new(seed) };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// Gradient steps; an older point leaves at random when the new one is one too many, and the others
/// make up for it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GradientBudget {
    budget: usize,
    eta: f64,
    lambda: f64,
    draws: Draws,
}

impl Validate for GradientBudget {
    fn validate(&self) -> Result<(), Inconsistent> {
        check_budget(self.budget)?;
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.lambda, "regulariser")?;
        Inconsistent::require(self.eta * self.lambda <= 1.0, "regulariser", "it is at most 1/eta")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for GradientBudget {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        let margin = Margin::compute(alpha, probe.row(), target, scores)?;
        let shrink = 1.0 - self.eta * self.lambda;
        if margin.loss() == 0.0 {
            alpha.scale(shrink);
            return Ok(());
        }
        let own = margin.step(self.eta, probe.self_value())?;
        let is_full = basis.len() >= self.budget;
        let others = (self.budget - 1) as f64;
        // Of a budget of 1 nothing stays that could make up for the point that leaves.
        let factor = if is_full && others > 0.0 { shrink * (self.budget as f64 / others) } else { shrink };
        alpha.vectors()[0].iter().try_for_each(|a| coefficient(factor * a).map(drop))?;
        alpha.scale(factor);
        alpha.push(&[own]);
        if is_full {
            leaving.push(self.draws.one_of(basis.len()));
        }
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        points <= self.budget
    }
}

#[doc(hidden)]
pub const BOGD: Learner<Bogd<AnyKernel>> = Entry {
    name: "bogd",
    summary: "gradient descent on a budget: a random point leaves",
    keys: BogdParams::KEYS,
    time: cost!(1.0 B d, 2.0 B),
    memory: cost!(1.0 B d, 2.0 B),
    source: "Zhao et al. 2012",
    remedy: Some("take a smaller step"),
    takes: Takes::SIGNS,
    advice: "two classes; noisy classes",
    start: "`budget=500`, `eta=0.5`",
    // What stays is multiplied by B/(B − 1): without a regulariser a small budget has large
    // coefficients now and then.
    trial: &["budget=10", "eta=0.1", "lambda=1"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Bogd::new(kernel, context.dimension, values.parameters(context)?)?));
