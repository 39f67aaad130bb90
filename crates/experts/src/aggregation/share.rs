//! Fixed share: a small part of the weight goes to all experts after every round, so that a mixture
//! can follow a best expert that changes.

use std::fmt;
use std::str::FromStr;

use mercer_core::{Inconsistent, Number, ParameterError, Validate};

/// The part `α` of the weight that is spread evenly over all experts after a round.
///
/// `p_k ← (1 − α)p_k + α/K`. An expert that was bad for long comes back within about `ln(K/α)/η` of
/// regret, instead of having to make up for all it lost.
/// [`Aggregation::sharing`](super::Aggregation::sharing) says what it guarantees.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Share {
    /// The same `α` in every round, at least 0 and below 1: about the number of switches expected
    /// divided by the number of rounds. 0 shares nothing.
    Fixed(f64),
    /// `α_t = 1/(t + 1)` after round `t`, which needs no number of switches and no horizon.
    Decreasing,
}

impl Default for Share {
    fn default() -> Self {
        Self::Fixed(0.0)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(share) => Number(*share).fmt(f),
            Self::Decreasing => f.pad(DECREASING),
        }
    }
}

/// Text of [`Share::Decreasing`].
const DECREASING: &str = "auto";

/// A text that is no [`Share`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a share; give a number of at least 0 and below 1, or auto for 1/(t + 1) after round t")]
pub struct UnknownShare(pub String);

impl FromStr for Share {
    type Err = UnknownShare;

    fn from_str(text: &str) -> Result<Self, UnknownShare> {
        if text == DECREASING {
            return Ok(Self::Decreasing);
        }
        text.parse().map(Self::Fixed).map_err(|_| UnknownShare(text.to_owned()))
    }
}

/// A share that is not 0, and how often it was given.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Sharing {
    share: Share,
    rounds: u64,
}

impl Sharing {
    /// `None` for no share at all.
    pub(super) fn new(share: Share) -> Result<Option<Self>, ParameterError> {
        if let Share::Fixed(share) = share {
            ParameterError::require((0.0..1.0).contains(&share), "share", "a number of at least 0, below 1", share)?;
        }
        Ok((share != Share::Fixed(0.0)).then_some(Self { share, rounds: 0 }))
    }

    pub(super) fn share(&self) -> Share {
        self.share
    }

    /// `α` of the round that ends.
    pub(super) fn next(&mut self) -> f64 {
        self.rounds = self.rounds.saturating_add(1);
        match self.share {
            Share::Fixed(share) => share,
            Share::Decreasing => 1.0 / (self.rounds as f64 + 1.0),
        }
    }
}

impl Validate for Sharing {
    fn validate(&self) -> Result<(), Inconsistent> {
        let given = match self.share {
            Share::Fixed(share) => share > 0.0 && share < 1.0,
            Share::Decreasing => true,
        };
        Inconsistent::require(given, "share of all experts", "a number between 0 and 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read_back() {
        for share in [Share::Fixed(0.0), Share::Fixed(1e-3), Share::Decreasing] {
            assert_eq!(share.to_string().parse(), Ok(share));
        }
        assert_eq!("half".parse::<Share>(), Err(UnknownShare("half".to_owned())));
    }

    #[test]
    fn a_share_is_a_part() {
        assert_eq!(Sharing::new(Share::default()), Ok(None));
        for wrong in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert!(Sharing::new(Share::Fixed(wrong)).is_err(), "{wrong}");
        }
        let parts = |share| -> Vec<f64> {
            let mut sharing = Sharing::new(share).unwrap().unwrap();
            (0..3).map(|_| sharing.next()).collect()
        };
        assert_eq!(parts(Share::Fixed(0.2)), [0.2; 3]);
        assert_eq!(parts(Share::Decreasing), [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0]);
    }
}
