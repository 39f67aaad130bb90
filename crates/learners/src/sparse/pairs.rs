//! PAIRS: [coin betting](crate::Coin) on the products of every two tokens (hashed products:
//! Weinberger, Dasgupta, Langford, Smola and Attenberg 2009; Agarwal, Chapelle, Dudík and Langford
//! 2014).
//!
//! The key of a product is a hash of both keys, its number the product of both numbers, divided by
//! the root of their mean square over the first 256 rows (the rows so far, until then); so `q = 1`.
//! There is no constant and no token alone: it is for a mixture with [`Coin`](crate::Coin) or
//! [`DiagonalKalman`](crate::DiagonalKalman). A row of tokens with more than `most` products has
//! none of them, and is predicted 0; columns that have more are refused.
//!
//! `3n²` multiply-adds a round of `n` tokens and an output; `5` numbers a product and an output.

use mercer_core::{TokenUse, cost};

use super::coin::CoinStep;
use crate::Error;
use crate::engines::tokens::{OnTokens, Products};
use crate::entry::{Entry, Learner, Parameters, Takes};
use crate::loss::Loss;
use crate::parameters::parameters;

parameters! {
    /// Parameters of [`Pairs`].
    #[derive(Copy)]
    pub struct PairsParams {
        /// most products of a row: 2000 are those of 63 tokens
        most: usize = 2000 => "" COUNT,
        /// largest error that teaches under the squared loss; targets are best near 1
        reach: f64 = 3.0 => "" POSITIVE,
        /// most products with a weight of their own, up to 2^24; those that come later share some
        places: usize = 1 << 20 => "" COUNT,
        /// what is minimised; with classes the default is logistic, softmax for more than two
        loss: Loss = Loss::SQUARED => "" "squared, absolute, huber:δ, epsilon:ε, quantile:τ, poisson, logistic, hinge, squared-hinge or softmax",
        /// outputs of a prediction
        outputs: usize = 1 => context outputs,
    }
}

/// Coin betting on products of two tokens.
pub type Pairs = OnTokens<Products, CoinStep>;

impl Pairs {
    /// A learner for rows of `dimension` numbers, or with tokens.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(dimension: usize, params: PairsParams) -> Result<Self, Error> {
        params.check()?;
        let PairsParams { most, reach, places, loss, outputs } = params;
        Self::from_parts(dimension, outputs, Products::new(most), CoinStep { loss, reach }, places)
    }
}

#[doc(hidden)]
pub const PAIRS: Learner<Pairs> = Entry {
    name: "pairs",
    summary: "coin betting on the products of every two tokens or columns",
    keys: PairsParams::KEYS,
    time: cost!(3.0 d d),
    memory: cost!(2.5 d d),
    source: "Weinberger et al. 2009; Orabona and Tommasi 2017",
    remedy: Some("mix it with coin"),
    takes: Takes::ALL,
    tokens: TokenUse::Always,
    advice: "words and categories that act together; in a mixture",
    start: "defaults, in `experts` beside coin",
    ..Entry::PLAIN
}
.made_by(|_, context, values| Ok(Pairs::new(context.dimension, values.parameters(context)?)?));
