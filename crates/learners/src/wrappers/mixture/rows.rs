//! One row of a mixture, with the tokens for the members that take some.

use super::team::Group;
use super::{Member, Mixture};
use crate::example::{Rows, Target, Targets};
use crate::input::Input;
use crate::learner::{Tokens, check_input};
use crate::{Error, Scratch};

impl<M: Member> Tokens for Mixture<M>
where
    M::Group: Group,
{
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        check_input(input.numbers, self.dimension)?;
        let weights = self.aggregation.weights();
        match self.predict_weighted(input, scratch, scores, |place| weights[place]) {
            // Those that have the weight refused.
            Ok(false) => self.predict_weighted(input, scratch, scores, |_| 1.0).map(drop),
            predicted => predicted.map(drop),
        }
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let weights = [target.weight];
        let rows = Rows::new(input.numbers, self.dimension, Targets::new(target.y, &weights, scores.len())?)?;
        let rows = rows.with_tokens(input.tokens.map_or(&[], std::slice::from_ref))?;
        self.learn_good(rows, |made| scores.copy_from_slice(made))
    }

    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        let _ = (key, output);
        None
    }
}
