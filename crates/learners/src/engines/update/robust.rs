//! Weights that fall with the residual: how least squares withstand wrong targets.
//!
//! With `r = ‖y − z‖`, the error of a row's prediction over all outputs, its weight is multiplied by
//!
//! | | factor | source |
//! |---|---|---|
//! | Huber | `min(1, δ/r)` | recursive least M-estimates: Zou, Chan and Ng 2000 |
//! | correntropy | `exp(−r²/2σ²)` | Wu, Shi, Zhang, Ma and Chen 2015 |
//!
//! so that the fit minimises Huber's loss, or maximises correntropy, to the first order: each row is weighed
//! once, by what the rows before it predict. Under Huber's weights no row pulls harder than one that is `δ` away, and a
//! stream that moves is followed. Correntropy leaves distant rows out, and a stream that moves by many `σ` with them.

use mercer_core::{Inconsistent, ParameterError, Validate};

/// How a weight falls with the residual.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Robust {
    /// It does not.
    #[default]
    No,
    /// `min(1, δ/r)`
    Huber(f64),
    /// `exp(−r²/2σ²)`
    Correntropy(f64),
}

impl Robust {
    /// That of Huber's `δ` or correntropy's `σ`, where one of them is given.
    ///
    /// # Errors
    /// When both are, or the ridge is 0: a point would then interpolate its target whatever its weight.
    pub(crate) fn of(huber: Option<f64>, correntropy: Option<f64>, ridge: f64) -> Result<Self, ParameterError> {
        let robust = match (huber, correntropy) {
            (None, None) => return Ok(Self::No),
            (Some(delta), None) => Self::Huber(ParameterError::positive("huber", delta)?),
            (None, Some(sigma)) => Self::Correntropy(ParameterError::positive("correntropy", sigma)?),
            (Some(_), Some(sigma)) => {
                return Err(ParameterError { name: "correntropy", requirement: "none where huber is set", value: sigma });
            }
        };
        ParameterError::require(ridge > 0.0, "lambda", "positive where huber or correntropy is set", ridge)?;
        Ok(robust)
    }

    /// What is left of the weight of a row with these errors, a positive number.
    #[inline(always)]
    pub(crate) fn weight(self, weight: f64, errors: impl Iterator<Item = f64>) -> f64 {
        if self == Self::No {
            return weight;
        }
        let r = errors.fold(0.0, f64::hypot);
        let factor = match self {
            Self::No => 1.0,
            Self::Huber(delta) => (delta / r).min(1.0),
            Self::Correntropy(sigma) => (-0.5 * (r / sigma) * (r / sigma)).exp(),
        };
        (weight * factor).max(f64::MIN_POSITIVE)
    }
}

impl Validate for Robust {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::No => Ok(()),
            Self::Huber(width) | Self::Correntropy(width) => Inconsistent::positive(*width, "width of robust weights"),
        }
    }
}
