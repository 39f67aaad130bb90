//! COIN: coin betting on each weight (Orabona and Tommasi 2017; Orabona and Pál 2016).
//!
//! No step size: every weight is a bettor that stakes a part of its wealth on the sign of the next
//! gradient. For each token of a row with the number `x`, with `g = −ω x ∂ℓ/∂z`:
//!
//! - `L ← max(L, |g|)`, the largest gradient, from 1e-8;
//! - `G ← G + |g|` and `θ ← θ + g`, the sums of gradients;
//! - `R ← max(R + g w, 0)`, the reward, `w` being the weight before;
//! - `w ← θ (L + R) / (L max(G + L, q L))`.
//!
//! `ω` is the weight of the row. Under the squared loss `∂ℓ/∂z` is `z − y`, within `±reach`. The
//! source has a constant 100 in the place of `q`, which is here the mean over the first 256 rows of
//! `Σx²`: so the first step corrects about a row's whole error. While those rows come it is the
//! mean of the rows so far.
//!
//! `6n` multiply-adds a round of `n` tokens and an output; `5` numbers a token and an output.

use mercer_core::{Inconsistent, TokenUse, Validate, cost};

use crate::Error;
use crate::engines::tokens::{OnTokens, PlaceLayout, PlaceUpdate, PlacesOfRow, Singles};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::example::Target;
use crate::loss::Loss;
use crate::parameters::parameters;

/// The least `L`, against a division by 0.
const LEAST: f64 = 1e-8;

parameters! {
    /// Parameters of [`Coin`].
    #[derive(Copy)]
    pub struct CoinParams {
        /// largest error that teaches under the squared loss; targets are best near 1
        reach: f64 = 3.0 => "" POSITIVE,
        /// most tokens with a weight of their own, up to 2^24; those that come later share some
        places: usize = 1 << 20 => "" COUNT,
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Coin betting on the weights of tokens.
pub type Coin = OnTokens<Singles, CoinStep>;

impl Coin {
    /// A learner for rows of `dimension` numbers, or with tokens.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(dimension: usize, params: CoinParams) -> Result<Self, Error> {
        params.check()?;
        let CoinParams { reach, places, loss, outputs } = params;
        Self::from_parts(dimension, outputs, Singles, CoinStep { loss, reach }, places)
    }
}

/// Bets on weights.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoinStep {
    pub(super) loss: Loss,
    pub(super) reach: f64,
}

impl PlaceUpdate for CoinStep {
    fn loss(&self) -> Loss {
        self.loss
    }

    /// `w`, `θ`, `L`, `G` and `R`.
    fn layout(&self, outputs: usize) -> PlaceLayout {
        PlaceLayout { outputs, each: 5, common: 0 }
    }

    fn step(&mut self, mut row: PlacesOfRow<'_>, target: Target<'_>, scores: &[f64]) -> Result<(), Error> {
        let (outputs, square) = (scores.len(), row.square);
        let slopes = std::mem::take(&mut row.work);
        if let Loss::Squared(_) = self.loss {
            let errors = scores.iter().zip(target.y).map(|(z, y)| (z - y).clamp(-self.reach, self.reach));
            slopes.iter_mut().zip(errors).for_each(|(slope, error)| *slope = error);
        } else {
            self.loss.gradient(scores, target.y, slopes);
        }
        for (x, state) in row.iter_mut() {
            for (k, slope) in slopes.iter().enumerate() {
                let [w, theta, largest, sum, reward] = [0, 1, 2, 3, 4].map(|kind| kind * outputs + k);
                let g = -target.weight * slope * x;
                state[largest] = state[largest].max(g.abs()).max(LEAST);
                state[sum] += g.abs();
                state[reward] = (state[reward] + g * state[w]).max(0.0);
                state[theta] += g;
                let l = state[largest];
                let stake = state[theta] / (l * (state[sum] + l).max(square * l));
                state[w] = stake * (l + state[reward]);
            }
        }
        Ok(())
    }
}

impl Validate for CoinStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.loss.validate()?;
        Inconsistent::positive(self.reach, "reach of errors")
    }
}

#[doc(hidden)]
pub const COIN: Learner<Coin> = Entry {
    name: "coin",
    summary: "coin betting on the weights of tokens or columns: linear, without a step size",
    keys: CoinParams::KEYS,
    time: cost!(6.0 d),
    memory: cost!(5.0 d),
    source: "Orabona and Tommasi 2017",
    takes: Takes::ALL,
    tokens: TokenUse::Always,
    advice: "words, many categories, sparse rows; drift",
    start: "defaults; targets scaled",
    ..Entry::PLAIN
}
.made_by(|_, context, values| Ok(Coin::new(context.dimension, values.parameters(context)?)?));
