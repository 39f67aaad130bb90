//! PA-I and PA-II: passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006).
//!
//! An example of weight `ω` with the hinge loss `ℓ > 0` is kept with the coefficient `yτ`: `τ = min(ωC, ℓ/κ)` for PA-I and
//! `τ = ℓ/(κ + 1/(2ωC))` for PA-II, with `κ = k(x, x)`. They minimise `½‖f − f_t‖² + ωCℓ` and `½‖f − f_t‖² + ωCℓ²`. `Jd + J` multiply-adds a round,
//! `Jd + 2J` numbers of memory for `J` examples with a loss.

use std::str::FromStr;

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::Kernel;
use mercer_sparsify::EveryPoint;

use super::{Margin, coefficient};
use crate::catalogue::{Entry, Takes, Value, keys};
use crate::coefficients::{CoefficientUpdate, OnCoefficients, Seen};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::update::{Coefficients, finite};
use crate::{Error, ParameterError};

/// How a large loss is tempered.
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

impl PaVariant {
    /// The names, as [`FromStr`] reads them.
    pub const NAMES: [&'static str; 2] = ["1", "2"];
}

impl FromStr for PaVariant {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "1" => Ok(Self::One),
            "2" => Ok(Self::Two),
            _ => Err(()),
        }
    }
}

impl From<PaVariant> for Value {
    fn from(variant: PaVariant) -> Self {
        PaVariant::NAMES[variant as usize].into()
    }
}

parameters! {
    /// Parameters of [`Pa`].
    #[derive(Copy)]
    pub struct PaParams {
        /// Aggressiveness `C > 0`; smaller takes shorter steps.
        c: f64 = 1.0,
        /// PA-I or PA-II.
        variant: PaVariant = PaVariant::One,
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
        let update = PassiveAggressive { c: ParameterError::positive("C", params.c)?, variant: params.variant };
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

    fn step(&mut self, alpha: &mut Coefficients, seen: Seen<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let margin = Margin::of(alpha, seen.probe.row(), seen.target, scores)?;
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
}

pub(crate) const PA: Entry = Entry {
    name: "pa",
    summary: "passive-aggressive: every margin below 1 is kept",
    keys: &[
        keys::number(
            "C",
            "C",
            || PaParams::default().c.into(),
            keys::POSITIVE,
            "aggressiveness; smaller for noisy classes",
        ),
        keys::name(
            "variant",
            &PaVariant::NAMES,
            || PaParams::default().variant.into(),
            "1 or 2",
            "1 bounds steps by C (PA-I), 2 squares the loss (PA-II)",
        ),
    ],
    time: cost!(1.0 J d, 1.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    growth: Some("every example with a margin below 1 is kept"),
    source: "Crammer et al. 2006",
    takes: Takes::SIGNS,
    advice: "two classes; short streams",
    start: "`C=1`",
    search: &[keys::search("C", 0.01, 100.0)],
    make: |kernel, context, values| {
        let params = PaParams::default().c(values.number("C")?).variant(values.named("variant")?);
        Ok(Pa::new(kernel, context.dimension, params)?.into())
    },
    ..Entry::PLAIN
};
