//! SW-KRLS: sliding-window kernel recursive least squares (Van Vaerenbergh, Vía and Santamaría
//! 2006).
//!
//! `f` is the kernel ridge regression on the last `M` examples, `f(x) = kᵀα` with
//! `α = (K + λI)⁻¹y`; weights `ω` make that `K + λΩ⁻¹`. The state is the factor `L Lᵀ = K + λΩ⁻¹`
//! and `q = L⁻¹y`, so `f(x) = (L⁻¹k)ᵀq`. A new example appends a row to `L` and an entry to `q`;
//! the oldest leaves by plane rotations, which act on `q` as well. The paper updates `(K + λI)⁻¹`
//! itself. Here no inverse exists, rotations lose no digits, and what rounding left leaves the
//! window with its example: after any number of rounds the fit is as exact as one made anew.
//! `Jd + 2½J²` multiply-adds a round, `Jd + ½J²` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_linalg_incremental::Rotations;

use super::kernel_ridge::{KernelKrr, KernelRidgeParams};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::Target;
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, Scratch, Tokens, Variance};

parameters! {
    /// Parameters of [`SwKrls`].
    #[derive(Copy)]
    pub struct SwKrlsParams {
        /// ridge
        lambda: f64 = 0.1 => "λ" POSITIVE.search(0.0001, 10.0),
        /// examples that count
        window: usize = 200 => "M" COUNT,
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Kernel ridge regression on the last examples.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SwKrls<K> {
    ridge: KernelKrr<K>,
    window: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    rotations: Rotations,
}

impl<K: Kernel> SwKrls<K> {
    /// The ridge regression on the examples that are kept.
    #[must_use]
    pub fn ridge(&self) -> &KernelKrr<K> {
        &self.ridge
    }

    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: SwKrlsParams) -> Result<Self, Error> {
        params.check()?;
        let SwKrlsParams { lambda, window, outputs } = params;
        let ridge = KernelKrr::new(kernel, dimension, KernelRidgeParams::default().lambda(lambda).outputs(outputs))?;
        Ok(Self { ridge, window, rotations: Rotations::new() })
    }
}

impl<K: Validate> Validate for SwKrls<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.ridge.validate()?;
        let fits = self.window > 0 && self.ridge.len() <= self.window;
        Inconsistent::require(fits, "sliding window", "it holds no more examples than its length")
    }
}

impl<K: Kernel> Regressor for SwKrls<K> {
    fn problem(&self) -> Problem {
        self.ridge.problem()
    }

    fn dictionary_size(&self) -> usize {
        self.ridge.dictionary_size()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.ridge.predict_into(x, scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.ridge.step(x, target, scores)?;
        if self.ridge.len() > self.window {
            self.ridge.remove(0, &mut self.rotations);
        }
        Ok(())
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
        self.ridge.reshape(growth)
    }
}

#[doc(hidden)]
pub const SW_KRLS: Learner<SwKrls<AnyKernel>> = Entry {
    name: "sw-krls",
    summary: "sliding-window kernel recursive least squares: ridge regression on the last examples",
    keys: SwKrlsParams::KEYS,
    time: cost!(1.0 J d, 2.5 J J),
    memory: cost!(1.0 J d, 0.5 J J),
    source: "Van Vaerenbergh et al. 2006",
    remedy: Some("raise lambda"),
    takes: Takes::SQUARED_OUTPUTS,
    advice: "drift and switches: forgets all that is older than its window",
    start: "`window=200`, `lambda=0.1`",
    trial: &["window=20"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(SwKrls::new(kernel, context.dimension, values.parameters(context)?)?));
