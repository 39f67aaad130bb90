//! KOGD: kernelised online gradient descent (Zinkevich 2003; \[A\] eqs. 2–3).
//!
//! `f ← f − η_t g k(x_t, ·)`, `g = ∂ℓ/∂z`, with `η_t = U/√(1 + Σ_{s≤t} g_s² k(x_s, x_s))`,
//! projected on `‖f‖ ≤ U`. Every example is kept: **memory and the cost of a round grow with the
//! stream**, `O(td)`. It is what [`AogdAld`](crate::AogdAld) approximates.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};

use crate::engines::expansion::KernelExpansion;
use crate::engines::update::StepSize;
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::Target;
use crate::learner::check_input;
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

parameters! {
    /// Parameters of [`Kogd`].
    #[derive(Copy)]
    pub struct KogdParams {
        /// radius of the ball of functions (bounds predictions), also sets the steps
        radius: f64 = 2.0 => "U" POSITIVE.search(0.1, 10.0),
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Kernelised online gradient descent.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kogd<K> {
    expansion: KernelExpansion<K>,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
}

impl<K: Kernel> Kogd<K> {
    /// The function learnt.
    #[must_use]
    pub fn expansion(&self) -> &KernelExpansion<K> {
        &self.expansion
    }

    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: KogdParams) -> Result<Self, Error> {
        params.check()?;
        let KogdParams { radius, loss, outputs } = params;
        let step_size = StepSize::adaptive(radius);
        let expansion = KernelExpansion::new(kernel, dimension, outputs, loss, step_size, Some(radius));
        Ok(Self { expansion, scratch: Scratch::default() })
    }
}

impl<K: Validate> Validate for Kogd<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.expansion.validate()
    }
}

impl<K: Kernel> Regressor for Kogd<K> {
    fn problem(&self) -> Problem {
        self.expansion.problem()
    }

    fn dictionary_size(&self) -> usize {
        self.expansion.points().len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(x, self.dimension())?;
        self.expansion.predict(x, &mut scratch.vectors[0], scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.expansion.step(x, target, &mut self.scratch.vectors[0], scores)
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
        self.expansion.reshape(growth)
    }
}

#[doc(hidden)]
pub const KOGD: Learner<Kogd<AnyKernel>> = Entry {
    name: "kogd",
    summary: "kernelised online gradient descent; every example is kept",
    keys: KogdParams::KEYS,
    time: cost!(1.0 t d),
    memory: cost!(1.0 t d),
    growth: Some("every example is kept"),
    source: "Zinkevich 2003; Li and Liao, eqs. 2–3",
    bound: Some("radius"),
    takes: Takes::ALL,
    advice: "yardstick of first order",
    start: "`radius=2`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Kogd::new(kernel, context.dimension, values.parameters(context)?)?));
