//! RBP: the perceptron on a budget from which points leave at random (Cavallanti, Cesa-Bianchi and
//! Gentile 2007).
//!
//! A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the
//! example. If there are then more than `B` points, one of the `B` older ones leaves, each as
//! likely as the others. `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Basis, EveryPoint};

use super::{Draws, Margin, check_budget, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`Rbp`].
    #[derive(Copy)]
    pub struct RbpParams {
        /// most points kept
        budget: usize = 500 => "B" COUNT,
        /// seed of what is drawn
        seed: u64 = 0 => context seed,
    }
}

/// The randomised budget perceptron.
pub type Rbp<K> = OnCoefficients<K, EveryPoint, RandomBudget>;

impl<K: Kernel> Rbp<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When the budget is 0.
    pub fn new(kernel: K, dimension: usize, params: RbpParams) -> Result<Self, Error> {
        params.check()?;
        let budget = params.budget;
        let update = RandomBudget { budget, draws: Draws::new(params.seed) };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// A mistake is kept with `ωy`, and an older point leaves at random when that is one too many.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RandomBudget {
    budget: usize,
    draws: Draws,
}

impl Validate for RandomBudget {
    fn validate(&self) -> Result<(), Inconsistent> {
        check_budget(self.budget)
    }
}

impl<K: Kernel> CoefficientUpdate<K> for RandomBudget {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        let margin = Margin::compute(alpha, probe.row(), target, scores)?;
        if margin.is_mistake() {
            alpha.push(&[coefficient(margin.weight * margin.y)?]);
            if basis.len() >= self.budget {
                leaving.push(self.draws.one_of(basis.len()));
            }
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
pub const RBP: Learner<Rbp<AnyKernel>> = Entry {
    name: "rbp",
    summary: "perceptron on a budget: a random point leaves",
    keys: RbpParams::KEYS,
    time: cost!(1.0 B d, 1.0 B),
    memory: cost!(1.0 B d, 2.0 B),
    source: "Cavallanti et al. 2007",
    takes: Takes::SIGNS,
    advice: "two classes; the cheapest on a budget",
    start: "`budget=500`",
    trial: &["budget=5"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Rbp::new(kernel, context.dimension, values.parameters(context)?)?));
