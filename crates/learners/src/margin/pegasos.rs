//! Pegasos on a budget: subgradient steps on the objective of the support vector machine
//! (Shalev-Shwartz, Singer and Srebro 2007; Wang, Crammer and Vucetic 2012).
//!
//! Round `t` multiplies the coefficients by `1 − 1/t`. If the hinge loss of the score before is
//! positive, `x` joins with the coefficient `ωy/(λt)`, `ω` being the weight of the example, but
//! with `ω > 1` no more than `y max(ℓ/κ, 1/(λt))`, which brings the margin to 1; if there are then
//! more than `B` points, the oldest leaves. Rounds of weight 0 do not count.
//! `Jd + 2J` multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Basis, EveryPoint};

use super::{Margin, check_budget};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`Pegasos`].
    #[derive(Copy)]
    pub struct PegasosParams {
        /// most points kept
        budget: usize = 500 => "B" COUNT,
        /// regulariser; smaller takes longer steps
        lambda: f64 = 0.001 => "λ" POSITIVE.search(1e-6, 0.1),
    }
}

/// Pegasos on a budget.
pub type Pegasos<K> = OnCoefficients<K, EveryPoint, SubgradientSteps>;

impl<K: Kernel> Pegasos<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: PegasosParams) -> Result<Self, Error> {
        params.check()?;
        let PegasosParams { budget, lambda } = params;
        let update = SubgradientSteps { budget, lambda, rounds: 0 };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// Steps of `1/(λt)`; the oldest point leaves when the new one is one too many.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SubgradientSteps {
    budget: usize,
    lambda: f64,
    /// `t` of the last round.
    rounds: u64,
}

impl Validate for SubgradientSteps {
    fn validate(&self) -> Result<(), Inconsistent> {
        check_budget(self.budget)?;
        Inconsistent::positive(self.lambda, "regulariser")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for SubgradientSteps {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        let margin = Margin::compute(alpha, probe.row(), target, scores)?;
        let rounds = self.rounds.saturating_add(1);
        let t = rounds as f64;
        let joins = margin.loss() > 0.0;
        let own = if joins { margin.step(1.0 / (self.lambda * t), probe.self_value())? } else { 0.0 };
        self.rounds = rounds;
        alpha.scale(1.0 - 1.0 / t);
        if joins {
            alpha.push(&[own]);
            if basis.len() >= self.budget {
                leaving.push(0);
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
pub const PEGASOS: Learner<Pegasos<AnyKernel>> = Entry {
    name: "pegasos",
    summary: "support vector machine by subgradient steps, on a budget",
    keys: PegasosParams::KEYS,
    time: cost!(1.0 B d, 2.0 B),
    memory: cost!(1.0 B d, 2.0 B),
    source: "Wang et al. 2012",
    remedy: Some("raise lambda"),
    takes: Takes::SIGNS,
    advice: "two classes; a stream without drift",
    start: "`budget=500`, `lambda=1e-3`",
    trial: &["budget=5", "lambda=0.2"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Pegasos::new(kernel, context.dimension, values.parameters(context)?)?));
