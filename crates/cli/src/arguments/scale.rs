//! Scales for the columns of the data.

use clap::ValueEnum;
use mercer_encoding::{Scale, ScaledTargets, TargetScale};
use mercer_kernels::AnyKernel;
use mercer_learners::{Loss, RegressorExt};
use mercer_readers::Scheme;
use mercer_registry::AnyRegressor;

use crate::arguments::typed;
use crate::report::failure::Failure;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ScaleChoice {
    None,
    Standard,
    Robust,
    Range,
    Paper01,
    Paper11,
}

impl ScaleChoice {
    pub(crate) fn scheme(self) -> Option<Scheme> {
        match self {
            Self::None | Self::Standard | Self::Robust | Self::Range => None,
            Self::Paper01 => Some(Scheme::PAPER01),
            Self::Paper11 => Some(Scheme::PAPER11),
        }
    }

    /// A learner with scaled targets, where numbers are scaled row by row and its loss has units.
    pub(crate) fn around(
        self,
        learner: AnyRegressor<AnyKernel>,
    ) -> Result<ScaledTargets<AnyRegressor<AnyKernel>>, Failure> {
        if self.online().is_none() || learner.loss() != Loss::SQUARED {
            return Ok(ScaledTargets::unscaled(learner));
        }
        ScaledTargets::new(learner).map_err(|error| Failure::because(error.to_string()))
    }

    /// A learner whose targets are scaled by ranges of a whole file.
    pub(crate) fn fixed(
        self,
        learner: AnyRegressor<AnyKernel>,
        scales: &[TargetScale],
    ) -> Result<ScaledTargets<AnyRegressor<AnyKernel>>, Failure> {
        let made = ScaledTargets::fixed(learner, scales.to_vec());
        made.map_err(|error| Failure::usage(format!("--scale {} of columns that are encoded: {error}", typed(&self))))
    }

    /// The scale by which numbers are scaled row by row, if there is one.
    pub(crate) fn online(self) -> Option<Scale> {
        match self {
            Self::Standard => Some(Scale::Standard),
            Self::Robust => Some(Scale::Robust),
            Self::Range => Some(Scale::Range),
            Self::None | Self::Paper01 | Self::Paper11 => None,
        }
    }
}
