//! The engine of learners of tokens: a [`TokenMap`] that makes tokens of a row, a table with a
//! place for each key, and a [`PlaceUpdate`] that moves the places of a row.

mod map;
mod table;

use mercer_core::{ExampleError, Inconsistent, Token, Validate, add_equal};

use crate::example::{Problem, Shape, Target};
use crate::input::Input;
use crate::learner::{Growth, Scratch, Tokens, check_input, check_scores};
use crate::loss::Loss;
use crate::{Blocks, Error, Regressor, Variance};

pub use map::{Products, Singles, TokenMap};
pub use table::{PlaceLayout, TokenTable};

/// Rows that settle the mean square of a row.
const HEAD: u32 = 256;
/// A number goes no farther than so many root mean squares of the rows before.
const FARTHEST: f64 = 20.0;

/// The update of the places of a row.
pub trait PlaceUpdate: Copy + Send + Sync {
    /// The loss that it minimises.
    fn loss(&self) -> Loss;

    /// Numbers of a place with so many outputs. The first of each output is its weight.
    fn layout(&self, outputs: usize) -> PlaceLayout;

    /// Moves the places of a row. Nothing else has changed when it fails, and what it leaves
    /// behind is then thrown away.
    ///
    /// # Errors
    /// [`ExampleError::Diverged`]
    fn step(&mut self, row: PlacesOfRow<'_>, target: Target<'_>, scores: &[f64]) -> Result<(), Error>;
}

/// The numbers of the tokens of a row, and the states of their places one behind the other.
#[derive(Debug)]
pub struct PlacesOfRow<'a> {
    /// The numbers of the tokens.
    pub values: &'a [f64],
    /// The states, which are zeros where a key is new.
    pub states: &'a mut [f64],
    /// Numbers of a state.
    pub width: usize,
    /// `q`, the mean over the first 256 rows of the sum of squares of a row.
    pub square: f64,
    /// Memory for a number an output.
    pub work: &'a mut [f64],
}

impl PlacesOfRow<'_> {
    /// The numbers of the tokens with their states.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (f64, &mut [f64])> {
        self.values.iter().copied().zip(self.states.chunks_exact_mut(self.width))
    }
}

/// A linear update on tokens.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OnTokens<M, U> {
    dimension: usize,
    outputs: usize,
    map: M,
    update: U,
    table: TokenTable,
    /// Rows learnt, at most [`HEAD`], and the mean of their squares.
    rows: u32,
    square: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    memory: TokenMemory,
}

/// Memory of a row, used again.
#[derive(Clone, Debug, Default)]
struct TokenMemory {
    tokens: Vec<Token>,
    /// Where the table has them; none where a key is new.
    places: Vec<Option<usize>>,
    values: Vec<f64>,
    states: Vec<f64>,
    work: Vec<f64>,
}

impl<M: TokenMap, U: PlaceUpdate> OnTokens<M, U> {
    /// The learner of rows of `dimension` numbers, which keeps `places` keys apart.
    ///
    /// # Errors
    /// When there is no place.
    pub fn from_parts(dimension: usize, outputs: usize, map: M, update: U, places: usize) -> Result<Self, Error> {
        let table = TokenTable::new(update.layout(outputs), places)?;
        Ok(Self { dimension, outputs, map, update, table, rows: 0, square: 0.0, memory: TokenMemory::default() })
    }

    /// The places of the keys.
    #[must_use]
    pub fn table(&self) -> &TokenTable {
        &self.table
    }

    /// The weight of a key for an output; `None` before it was met.
    #[must_use]
    pub fn weight(&self, key: u64, output: usize) -> Option<f64> {
        let state = self.table.state(self.table.find(key)?);
        state.get(..self.outputs)?.get(output).map(|weight| weight * self.map.factor(self.square))
    }

    /// Joins what another learner of the same rows learnt: its update and places, by these
    /// functions of both mean squares and of their mean.
    ///
    /// # Errors
    /// [`Error::Example`] for a learner of other rows.
    pub(crate) fn join(
        &mut self,
        other: &Self,
        join_updates: impl Fn(&mut U, &U),
        join_states: impl Fn([f64; 3], &mut [f64], &[f64]),
    ) -> Result<(), Error> {
        let (own, theirs) = (self.problem().shape, other.problem().shape);
        if own.inputs != theirs.inputs {
            return Err(ExampleError::Dimension { expected: own.inputs, got: theirs.inputs }.into());
        }
        if self.table.layout() != other.table.layout() {
            return Err(ExampleError::Outputs { expected: own.outputs, got: theirs.outputs }.into());
        }
        let rows = f64::from(self.rows + other.rows).max(1.0);
        let mean = self.square + (other.square - self.square) * f64::from(other.rows) / rows;
        let squares = [self.square, other.square, mean];
        self.table.join(&other.table, |own, theirs| join_states(squares, own, theirs));
        join_updates(&mut self.update, &other.update);
        (self.rows, self.square) = ((self.rows + other.rows).min(HEAD), mean);
        Ok(())
    }

    /// `scores ←` the sums over some tokens, without the constant.
    pub fn sum(&self, tokens: &[Token], scores: &mut [f64]) {
        self.sums(tokens, self.square, scores);
    }

    /// Cuts numbers that are far beyond those of the rows before.
    fn cut(&self, tokens: &mut [Token]) {
        if self.rows > 0 && self.square > 0.0 {
            let most = FARTHEST * self.square.sqrt();
            tokens.iter_mut().for_each(|token| token.value = token.value.clamp(-most, most));
        }
    }

    /// The mean square of a row with this one more, and the rows that it is the mean of.
    fn square_with(&self, tokens: &[Token]) -> (u32, f64) {
        if self.rows == HEAD {
            return (HEAD, self.square);
        }
        let square: f64 = tokens.iter().map(|token| token.value * token.value).sum();
        let rows = self.rows + 1;
        (rows, self.square + (square - self.square) / f64::from(rows))
    }

    /// `scores ←` the sums over tokens.
    fn sums(&self, tokens: &[Token], square: f64, scores: &mut [f64]) {
        self.sums_at(tokens.iter().map(|token| (token, self.table.find(token.key))), square, scores);
    }

    /// `scores ←` the sums over tokens, told their places.
    fn sums_at<'a>(&self, tokens: impl Iterator<Item = (&'a Token, Option<usize>)>, square: f64, scores: &mut [f64]) {
        let factor = self.map.factor(square);
        scores.fill(0.0);
        for (token, place) in tokens {
            if let Some(place) = place {
                let weights = &self.table.state(place)[..self.outputs];
                scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * (token.value * factor));
            }
        }
    }

    /// Predicts a row with these tokens, told the mean square that it would leave.
    fn predict(&self, input: Input<'_>, tokens: &mut Vec<Token>, scores: &mut [f64]) -> Result<f64, Error> {
        check_input(input.numbers, self.dimension)?;
        self.map.fill(input, tokens)?;
        self.cut(tokens);
        let (_, square) = self.square_with(tokens);
        self.sums(tokens, square, scores);
        self.update.loss().predictions(scores);
        check_scores(scores).map(|()| square)
    }

    fn learn(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut memory = std::mem::take(&mut self.memory);
        let learnt = self.learn_with(input, target, scores, &mut memory);
        self.memory = memory;
        learnt
    }

    fn learn_with(
        &mut self,
        input: Input<'_>,
        target: Target<'_>,
        scores: &mut [f64],
        TokenMemory { tokens, places, values, states, work }: &mut TokenMemory,
    ) -> Result<(), Error> {
        self.map.fill(input, tokens)?;
        self.cut(tokens);
        let (rows, square) = self.square_with(tokens);
        self.table.find_all(tokens, places);
        let known =
            tokens.iter().zip(&*places).map(|(token, own)| (token, own.or_else(|| self.table.in_common(token.key))));
        self.sums_at(known, square, scores);
        check_scores(scores)?;
        if self.table.redirect(tokens) {
            add_equal(tokens);
            self.table.find_all(tokens, places);
        }
        let (width, factor) = (self.table.width(), self.map.factor(square));
        values.clear();
        states.clear();
        for (token, place) in tokens.iter().zip(&*places) {
            values.push(token.value * factor);
            match place {
                Some(place) => states.extend_from_slice(self.table.state(*place)),
                None => states.resize(states.len() + width, 0.0),
            }
        }
        work.clear();
        work.resize(self.outputs, 0.0);
        let of_row = PlacesOfRow { values, states, width, square: self.map.square(square), work };
        let mut update = self.update;
        update.step(of_row, target, scores)?;
        update.loss().predictions(scores);
        check_scores(scores)?;
        // Squares in range keep sums of weights in range.
        let sound = square.is_finite() && states.iter().all(|number| (number * number).is_finite());
        if !sound {
            return Err(ExampleError::Diverged.into());
        }
        for ((token, place), state) in tokens.iter().zip(&*places).zip(states.chunks_exact(width)) {
            let place = place.unwrap_or_else(|| self.table.place(token.key));
            self.table.state_mut(place).copy_from_slice(state);
        }
        (self.rows, self.square, self.update) = (rows, square, update);
        Ok(())
    }
}

impl<M: TokenMap, U: PlaceUpdate> Tokens for OnTokens<M, U> {
    fn predict_input(&self, input: Input<'_>, scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        let mut memory = scratch.take_own::<Vec<Token>>();
        let made = self.predict(input, &mut memory, scores);
        scratch.put_own(memory);
        made.map(drop)
    }

    fn step_input(&mut self, input: Input<'_>, target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.learn(input, target, scores)
    }

    fn token_weight(&self, key: u64, output: usize) -> Option<f64> {
        self.weight(key, output)
    }
}

impl<M: TokenMap, U: PlaceUpdate> Regressor for OnTokens<M, U> {
    fn problem(&self) -> Problem {
        Problem { shape: Shape { inputs: self.dimension, outputs: self.outputs }, loss: self.update.loss() }
    }

    fn dictionary_size(&self) -> usize {
        self.table.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.predict_input(x.into(), scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.learn(x.into(), target, scores)
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        Some(self)
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        Some(self)
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => self.dimension += added,
            Growth::Output { like } => {
                self.outputs += 1;
                self.table.add_output(self.update.layout(self.outputs), like);
            }
        }
        Ok(())
    }
}

impl<M: Validate, U: PlaceUpdate + Validate> Validate for OnTokens<M, U> {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "learner of tokens";
        self.map.validate()?;
        self.update.validate()?;
        self.table.validate()?;
        Inconsistent::size(self.dimension, WHAT)?;
        Inconsistent::size(self.outputs, WHAT)?;
        let sound = self.outputs > 0 && self.table.layout() == self.update.layout(self.outputs);
        Inconsistent::require(sound, WHAT, "its places have numbers for each output")?;
        Inconsistent::require(self.rows <= HEAD, WHAT, "its first rows are counted")?;
        Inconsistent::non_negative(self.square, "mean square of a row")
    }
}
