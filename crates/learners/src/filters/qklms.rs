//! QKLMS: quantised kernel least mean squares (Chen, Zhao, Zhu and Príncipe 2012).
//!
//! With `e = y − f(x)` and `d_j` the kept point nearest to `x`: within the distance `ε` of it,
//! `α_j ← α_j + η ω e`, `ω` being the weight of the example; otherwise `x` joins with the
//! coefficient `η ω e`. What is above 10 of a weight acts as infinitely many small steps. Once the
//! dictionary is full, inputs farther than `ε` from all its points teach nothing. `2Jd + J`
//! multiply-adds a round, `Jd + 2J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Answer, Quantised};

use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView, scaled_errors};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters, Rule, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth, ParameterError};

parameters! {
    /// Parameters of [`Qklms`].
    #[derive(Copy)]
    pub struct QklmsParams {
        /// step size, below 2/k(x,x)
        eta: f64 = 0.2 => "η" POSITIVE.search(0.01, 1.0),
        /// inputs this near share a point
        epsilon: f64 = 0.1 => "ε" NOT_NEGATIVE.found_by_default(Rule::NEAREST).search(0.01, 1.0),
        /// most points kept
        max_dictionary: Option<usize> = Some(1000) => "" COUNT.unlimited(),
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Quantised kernel least mean squares.
pub type Qklms<K> = OnCoefficients<K, Quantised, QuantisedStep>;

impl<K: Kernel> Qklms<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: QklmsParams) -> Result<Self, Error> {
        params.check()?;
        let QklmsParams { eta, epsilon, max_dictionary, outputs } = params;
        let update = QuantisedStep::new(eta)?;
        Self::from_parts(kernel, dimension, Quantised::new(epsilon)?, update, (outputs, max_dictionary))
    }
}

/// `η ω e`, added to the coefficient of the point that `x` merges into, or that of `x` itself.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QuantisedStep {
    eta: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    steps: Vec<f64>,
}

impl QuantisedStep {
    /// Steps of size `eta > 0`.
    ///
    /// # Errors
    /// When it is not positive.
    pub fn new(eta: f64) -> Result<Self, ParameterError> {
        Ok(Self { eta: ParameterError::positive("eta", eta)?, steps: Vec::new() })
    }
}

impl Validate for QuantisedStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for QuantisedStep {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { probe, answer, target, .. } = seen;
        alpha.values(probe.row(), scores);
        let moves = match answer {
            Answer::Merge(j) => probe.row()[j],
            Answer::Keep(_) => probe.self_value(),
            Answer::Skip => 0.0,
        };
        scaled_errors(squared_rate(self.eta, moves, target.weight), target.y, scores, &mut self.steps)?;
        // Squares in range keep the predictions of all points together in range.
        let in_range = |value: f64| finite(value * value).map(drop);
        match answer {
            Answer::Merge(j) => {
                alpha.vectors().iter().zip(&self.steps).try_for_each(|(alpha, step)| in_range(alpha[j] + step))?;
                alpha.add_to(j, &self.steps);
            }
            Answer::Keep(_) => {
                self.steps.iter().try_for_each(|step| in_range(*step))?;
                alpha.push(&self.steps);
            }
            Answer::Skip => {}
        }
        Ok(())
    }

    fn reshape(&mut self, _: Growth) -> Result<(), Error> {
        Ok(())
    }

    fn fits(&self, _: usize, _: usize) -> bool {
        true
    }
}

#[doc(hidden)]
pub const QKLMS: Learner<Qklms<AnyKernel>> = Entry {
    name: "qklms",
    summary: "quantised kernel least mean squares: near inputs share a point",
    keys: QklmsParams::KEYS,
    time: cost!(2.0 J d, 1.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Chen et al. 2012",
    remedy: Some("take a smaller step"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "the cheapest steps on a dictionary; drift",
    start: "`eta=0.2`, `epsilon` as found or a tenth of the width",
    trial: &["epsilon=0.1"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Qklms::new(kernel, context.dimension, values.parameters(context)?)?));
