//! The kernel perceptron (Freund and Schapire 1999).
//!
//! A mistake, `y f(x) ≤ 0`, keeps `x` with the coefficient `ωy`, `ω` being the weight of the
//! example; nothing else is learnt. `Jd + J` multiply-adds a round, `Jd + 2J` numbers of memory for
//! `J` mistakes.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::EveryPoint;

use super::{Margin, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::Coefficients;
use crate::entry::{Entry, Learner, Takes};
use crate::loss::Loss;
use crate::{Error, Growth};

/// The kernel perceptron.
pub type Perceptron<K> = OnCoefficients<K, EveryPoint, MistakeStep>;

impl<K: Kernel> Perceptron<K> {
    /// A classifier for inputs of dimension `dimension`; it has no parameters.
    ///
    /// # Errors
    /// None today.
    pub fn new(kernel: K, dimension: usize) -> Result<Self, Error> {
        Self::from_parts(kernel, dimension, EveryPoint, MistakeStep, (1, None))
    }
}

/// Every mistake is kept, with `ωy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MistakeStep;

impl Validate for MistakeStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl<K: Kernel> CoefficientUpdate<K> for MistakeStep {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let margin = Margin::compute(alpha, seen.probe.row(), seen.target, scores)?;
        if margin.is_mistake() {
            alpha.push(&[coefficient(margin.weight * margin.y)?]);
        }
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, _: usize, _: usize) -> bool {
        true
    }
}

#[doc(hidden)]
pub const PERCEPTRON: Learner<Perceptron<AnyKernel>> = Entry {
    name: "perceptron",
    summary: "kernel perceptron: every mistake is kept",
    time: cost!(1.0 J d, 1.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    growth: Some("every mistake is kept"),
    source: "Freund and Schapire 1999",
    takes: Takes::SIGNS,
    advice: "two classes; few mistakes",
    ..Entry::PLAIN
}
.made_by(|kernel, context, _| Ok(Perceptron::new(kernel, context.dimension)?));
