//! Step sizes from round to round.

use mercer_core::{Inconsistent, ParameterError, Validate};

use crate::Error;

/// The step size `η_t` of round `t = 1, 2, …`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum StepSchedule {
    /// `η_t = η > 0`
    Constant(f64),
    /// `η_t = η/(t + r)ᵃ`
    Power {
        /// `η > 0`
        eta: f64,
        /// `a ≥ 0`; between ½ (excluded) and 1 the iterates converge.
        exponent: f64,
        /// `r ≥ 0`, which keeps the first steps stable.
        offset: f64,
    },
}

impl StepSchedule {
    /// The schedule of what is given of it: `1.5/(t + 10)^0.6` where nothing is, a constant step
    /// where `η` is given without `power`, `(a, r)`.
    #[must_use]
    pub fn given(eta: Option<f64>, power: Option<(f64, f64)>) -> Self {
        let falling = (0.6, 10.0);
        match (eta, power) {
            (Some(eta), None) => Self::Constant(eta),
            (eta, power) => {
                let (exponent, offset) = power.unwrap_or(falling);
                Self::Power { eta: eta.unwrap_or(1.5), exponent, offset }
            }
        }
    }

    /// The usual budget beside it, `0.1 η₁²`: it does not fall with the step, since the dictionary
    /// would grow without end.
    #[must_use]
    pub fn usual_budget(self) -> f64 {
        0.1 * self.at(1).powi(2)
    }

    /// `η_t` of round `round`, counted from 1.
    #[must_use]
    pub fn at(self, round: u64) -> f64 {
        match self {
            Self::Constant(eta) => eta,
            Self::Power { eta, exponent, offset } => eta / (round as f64 + offset).powf(exponent),
        }
    }

    /// The schedule, if its numbers are in their ranges.
    pub(crate) fn checked(self) -> Result<Self, ParameterError> {
        match self {
            Self::Constant(eta) => ParameterError::positive("eta", eta)?,
            Self::Power { eta, exponent, offset } => {
                ParameterError::positive("eta", eta)?;
                ParameterError::non_negative("exponent", exponent)?;
                ParameterError::non_negative("offset", offset)?
            }
        };
        Ok(self)
    }
}

impl Validate for StepSchedule {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.checked().is_ok(), "step size", "its numbers are in their ranges")
    }
}

/// Refuses a step that would not contract: `1 − η(k(x,x) + λ)` must stay above −1.
pub(crate) fn check_stability(eta: f64, self_value: f64, lambda: f64) -> Result<(), Error> {
    if eta * (self_value + lambda) < 2.0 { Ok(()) } else { Err(Error::UnstableStep { eta, self_value, lambda }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_is_round_one() {
        let power = StepSchedule::Power { eta: 2.0, exponent: 0.5, offset: 3.0 };
        assert!((power.at(1) - 1.0).abs() < 1e-15 && (power.at(13) - 0.5).abs() < 1e-15);
        assert!((StepSchedule::Constant(0.3).at(1000) - 0.3).abs() < 1e-15);
        assert!(StepSchedule::Constant(0.0).checked().is_err());
        assert!(StepSchedule::Power { eta: 1.0, exponent: -1.0, offset: 0.0 }.checked().is_err());
    }
}
