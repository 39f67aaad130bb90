//! The learning of rows with tokens, as an ability of a learner.

use crate::error::Error;
use crate::example::Target;
use crate::input::Input;
use crate::scratch::Scratch;

/// The learning of rows with tokens, of learners that take them.
pub trait Tokens {
    /// [`Regressor::predict_into`](crate::Regressor::predict_into) of a row.
    ///
    /// # Errors
    /// As there.
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error>;

    /// [`Regressor::step`](crate::Regressor::step) of a row.
    ///
    /// # Errors
    /// As there.
    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error>;

    /// Weight of a token: what the token with the number 1 adds to the score of an output, as far
    /// as the score is linear in tokens. `None` where nothing is known of it.
    fn token_weight(&self, key: u64, output: usize) -> Option<f64>;
}
