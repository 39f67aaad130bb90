//! BPA-S: passive-aggressive learning on a budget, where the example takes the place of one point
//! (Wang and Vucetic 2010).
//!
//! For kernels with `k(x, x) = 1`; others are refused. An example of weight `ω` with the hinge loss
//! `ℓ > 0` has the step `τ = min(ωC, ℓ)`. While there are fewer than `B` points it is kept with the
//! coefficient `yτ`. Then, for each point `r` with `k_r = k(d_r, x)`: in its place `x` would have
//! the coefficient `b_r = α_r k_r + yτ` at the cost
//! `Q_r = ½(α_r² + b_r² − 2α_r b_r k_r) + ωC max(0, 1 − y(f(x) − α_r k_r + b_r))`, and the point of
//! the least cost, the first of several, leaves. `Jd + 8J` multiply-adds a round, `Jd + 2J` numbers
//! of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::{Basis, EveryPoint};

use super::{Margin, check_budget, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::{Coefficients, finite};
use crate::entry::{BuildError, Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`BpaS`].
    #[derive(Copy)]
    pub struct BpaSParams {
        /// most points kept
        budget: usize = 500 => "B" COUNT,
        /// largest step
        c: f64 = 1.0 => "C" POSITIVE.called("C").search(0.01, 100.0),
    }
}

/// Passive-aggressive learning on a budget with single replacement.
pub type BpaS<K> = OnCoefficients<K, EveryPoint, SingleReplacement>;

impl<K: Kernel> BpaS<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range, or [`Error::SelfValue`] when `k(x, x)` is not 1.
    pub fn new(kernel: K, dimension: usize, params: BpaSParams) -> Result<Self, Error> {
        params.check()?;
        let BpaSParams { budget, c } = params;
        // No kernel of a product of inputs has the same value at both.
        for x in [1.0, 2.0] {
            check_self_value(kernel.self_value(&vec![x; dimension]))?;
        }
        Self::from_parts(kernel, dimension, EveryPoint, SingleReplacement { budget, c }, (1, None))
    }
}

/// Refuses another value of `k(x, x)` than 1, to rounding.
fn check_self_value(value: f64) -> Result<(), Error> {
    if (value - 1.0).abs() <= 1e-9 { Ok(()) } else { Err(Error::SelfValue(value)) }
}

/// A passive-aggressive step in the place of the point that costs least.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SingleReplacement {
    budget: usize,
    c: f64,
}

impl Validate for SingleReplacement {
    fn validate(&self) -> Result<(), Inconsistent> {
        check_budget(self.budget)?;
        Inconsistent::positive(self.c, "largest step")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for SingleReplacement {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        check_self_value(probe.self_value())?;
        let margin = Margin::compute(alpha, probe.row(), target, scores)?;
        let Margin { f, y, weight } = margin;
        if margin.loss() == 0.0 {
            return Ok(());
        }
        let most = finite(weight * self.c)?;
        let step = y * most.min(margin.loss());
        if basis.len() < self.budget {
            alpha.push(&[coefficient(step)?]);
            return Ok(());
        }
        let (mut place, mut own, mut least) = (0, step, f64::INFINITY);
        for (r, (a, k)) in alpha.vectors()[0].iter().zip(probe.row().iter()).enumerate() {
            let b = a * k + step;
            let distance = 0.5 * (a * a + b * b - 2.0 * a * b * k);
            let cost = distance + most * (1.0 - y * (f - a * k + b)).max(0.0);
            if cost < least {
                (place, own, least) = (r, b, cost);
            }
        }
        finite(least)?;
        alpha.push(&[coefficient(own)?]);
        leaving.push(place);
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
pub const BPA_S: Learner<BpaS<AnyKernel>> = Entry {
    name: "bpa-s",
    summary: "passive-aggressive on a budget: the least costly point is replaced",
    keys: BpaSParams::KEYS,
    time: cost!(1.0 B d, 8.0 B),
    memory: cost!(1.0 B d, 2.0 B),
    source: "Wang and Vucetic 2010",
    takes: Takes::SIGNS,
    advice: "two classes; small budgets",
    start: "`budget=500`, `C=1`",
    trial: &["budget=5"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| {
    const NEEDS: &str = "k(x,x) = 1, so gaussian:SIGMA, laplace:SIGMA, matern32:SIGMA, matern52:SIGMA or median";
    match BpaS::new(kernel, context.dimension, values.parameters(context)?) {
        Err(Error::SelfValue(_)) => Err(BuildError::Kernel(NEEDS)),
        made => Ok(made?),
    }
});
