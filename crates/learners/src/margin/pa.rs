//! PA-I and PA-II: passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer
//! 2006).
//!
//! An example of weight `ω` with the hinge loss `ℓ > 0` is kept with the coefficient `yτ`:
//! `τ = min(ωC, ℓ/κ)` for PA-I and `τ = ℓ/(κ + 1/(2ωC))` for PA-II, with `κ = k(x, x)`. They
//! minimise `½‖f − f_t‖² + ωCℓ` and `½‖f − f_t‖² + ωCℓ²`. `Jd + J` multiply-adds a round, `Jd + 2J`
//! numbers of memory for `J` examples with a loss.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_sparsify::EveryPoint;

use super::{Margin, coefficient};
use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters, Takes, choices};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

/// The variant that tempers a large loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum PaVariant {
    /// PA-I: no step is longer than `C`.
    #[default]
    One,
    /// PA-II: the loss counts by its square.
    Two,
}

choices!(PaVariant { "1" = One, "2" = Two });

parameters! {
    /// Parameters of [`Pa`].
    #[derive(Copy)]
    pub struct PaParams {
        /// aggressiveness; smaller for noisy classes
        c: f64 = 1.0 => "C" POSITIVE.called("C").search(0.01, 100.0),
        /// 1 bounds steps by C (PA-I), 2 squares the loss (PA-II)
        variant: PaVariant = PaVariant::One => "" "1 or 2",
    }
}

/// Passive-aggressive learning.
pub type Pa<K> = OnCoefficients<K, EveryPoint, PassiveAggressive>;

impl<K: Kernel> Pa<K> {
    /// A classifier for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When `C` is out of its range.
    pub fn new(kernel: K, dimension: usize, params: PaParams) -> Result<Self, Error> {
        params.check()?;
        let update = PassiveAggressive { c: params.c, variant: params.variant };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// Every example with a loss is kept with `yτ`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PassiveAggressive {
    c: f64,
    variant: PaVariant,
}

impl Validate for PassiveAggressive {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.c, "aggressiveness")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for PassiveAggressive {
    fn loss(&self) -> Loss {
        Loss::HINGE
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let margin = Margin::compute(alpha, seen.probe.row(), seen.target, scores)?;
        let (loss, own) = (margin.loss(), seen.probe.self_value());
        if loss > 0.0 {
            let c = finite(margin.weight * self.c)?;
            let tau = match self.variant {
                PaVariant::One => c.min(loss / own),
                PaVariant::Two => loss / (own + 0.5 / c),
            };
            alpha.push(&[coefficient(margin.y * tau)?]);
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
pub const PA: Learner<Pa<AnyKernel>> = Entry {
    name: "pa",
    summary: "passive-aggressive: every margin below 1 is kept",
    keys: PaParams::KEYS,
    time: cost!(1.0 J d, 1.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    growth: Some("every example with a margin below 1 is kept"),
    source: "Crammer et al. 2006",
    takes: Takes::SIGNS,
    advice: "two classes; short streams",
    start: "`C=1`",
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(Pa::new(kernel, context.dimension, values.parameters(context)?)?));
