//! Inputs with tokens. A linear learner of tokens has a weight for each key that it has met,
//! `ŷ = Σ_i w(key_i) x_i`. So a round costs as many operations as the row has tokens, however many
//! keys there are.

use mercer_core::TokenRow;

use crate::learner::Scratch;
use crate::{Error, Regressor, Target};

/// The input of a row: its numbers and, where its table has some, its tokens.
///
/// Tokens say all that the row says, its numbers too. So a learner that [takes](Regressor::tokens)
/// them does not look at the numbers, and the others look at nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The numbers, one a feature.
    pub numbers: &'a [f64],
    /// The tokens.
    pub tokens: Option<&'a TokenRow>,
}

impl<'a, N: AsRef<[f64]> + ?Sized> From<&'a N> for Input<'a> {
    fn from(numbers: &'a N) -> Self {
        Self { numbers: numbers.as_ref(), tokens: None }
    }
}

/// The learning of rows with tokens, of learners that take them.
pub trait Tokens {
    /// [`Regressor::predict_into`] of a row.
    ///
    /// # Errors
    /// As there.
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error>;

    /// [`Regressor::step`] of a row.
    ///
    /// # Errors
    /// As there.
    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error>;
}

/// [`Regressor::predict_into`], of the tokens where the row has some and the learner takes them.
///
/// # Errors
/// As there.
pub fn predict_input<R: Regressor + ?Sized>(
    learner: &R,
    input: Input<'_>,
    scratch: &mut Scratch,
    scores: &mut [f64],
) -> Result<(), Error> {
    match input.tokens.and_then(|_| learner.tokens()) {
        Some(tokens) => tokens.predict_input(input, scratch, scores),
        None => learner.predict_into(input.numbers, scratch, scores),
    }
}

/// [`Regressor::step`], of the tokens where the row has some and the learner takes them.
///
/// # Errors
/// As there.
pub fn step_input<R: Regressor + ?Sized>(
    learner: &mut R,
    input: Input<'_>,
    target: Target<'_>,
    scores: &mut [f64],
) -> Result<(), Error> {
    // Asked before it is borrowed for good.
    if input.tokens.is_some()
        && let Some(tokens) = learner.tokens_mut()
    {
        return tokens.step_input(input, target, scores);
    }
    learner.step(input.numbers, target, scores)
}
