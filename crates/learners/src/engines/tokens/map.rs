//! The tokens of a row for a learner: all that the row says one by one, or products of two.

use mercer_core::{Inconsistent, ParameterError, Token, Validate, column_key, mixed};

use crate::Error;
use crate::input::Input;

/// The key of the token that every row has.
const BIAS: u64 = 0x6d65_7263_6572_0001;

/// The tokens of a row that a learner takes, each key once.
pub trait TokenMap: Clone + Send + Sync {
    /// Fills `tokens` anew.
    ///
    /// # Errors
    /// [`Error::Parameter`] where a row has more than the map takes.
    fn fill(&self, input: Input<'_>, tokens: &mut Vec<Token>) -> Result<(), Error>;

    /// The number by which the numbers of a row are multiplied, `q` being the mean square of a row.
    fn factor(&self, square: f64) -> f64;

    /// The mean square of a row after that.
    fn square(&self, square: f64) -> f64;
}

/// Every token of a row and one that all rows have. A number of a row without tokens is the token
/// of its column, unless it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Singles;

/// Products of every two factors of a row, of mean square 1. Numbers of a row without tokens are
/// its factors, unless they are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Products {
    most: usize,
}

/// The numbers that are not 0, with the keys of their columns.
fn columns(numbers: &[f64]) -> impl Iterator<Item = Token> {
    let cells = numbers.iter().zip(0..).filter(|(value, _)| **value != 0.0);
    cells.map(|(value, column)| Token { key: column_key(column), value: *value })
}

impl TokenMap for Singles {
    fn fill(&self, input: Input<'_>, tokens: &mut Vec<Token>) -> Result<(), Error> {
        tokens.clear();
        tokens.push(Token { key: BIAS, value: 1.0 });
        match input.tokens {
            Some(row) => tokens.extend(row.tokens()),
            None => tokens.extend(columns(input.numbers)),
        }
        Ok(())
    }

    fn factor(&self, _: f64) -> f64 {
        1.0
    }

    fn square(&self, square: f64) -> f64 {
        square
    }
}

impl Validate for Singles {
    fn validate(&self) -> Result<(), Inconsistent> {
        Ok(())
    }
}

impl Products {
    /// At most `most` products a row.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most }
    }

    /// True if a row with so many factors has no more products than are taken.
    #[must_use]
    pub fn takes(&self, factors: usize) -> bool {
        factors.saturating_mul(factors.saturating_sub(1)) / 2 <= self.most
    }
}

impl TokenMap for Products {
    /// A row with tokens and too many products has none of them. Columns are as many in every row:
    /// too many are refused.
    fn fill(&self, input: Input<'_>, tokens: &mut Vec<Token>) -> Result<(), Error> {
        tokens.clear();
        if let Some(row) = input.tokens {
            if self.takes(row.factors().len()) {
                multiply(row.factors(), tokens);
            }
            return Ok(());
        }
        let d = input.numbers.len();
        if !self.takes(d) {
            let requirement = "at least d(d − 1)/2 for d columns";
            return Err(ParameterError { name: "most", requirement, value: self.most as f64 }.into());
        }
        for (place, one) in columns(input.numbers).enumerate() {
            tokens.extend(columns(input.numbers).take(place).map(|other| product(one, other)));
        }
        Ok(())
    }

    fn factor(&self, square: f64) -> f64 {
        if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 }
    }

    fn square(&self, _: f64) -> f64 {
        1.0
    }
}

impl Validate for Products {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.most > 0, "products of tokens", "it takes one at least")
    }
}

/// Appends the products of every two factors.
fn multiply(factors: &[Token], tokens: &mut Vec<Token>) {
    for (place, one) in factors.iter().enumerate() {
        tokens.extend(factors[..place].iter().map(|other| product(*one, *other)));
    }
}

fn product(one: Token, other: Token) -> Token {
    let (low, high) = (one.key.min(other.key), one.key.max(other.key));
    let key = mixed(low.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(high));
    Token { key, value: one.value * other.value }
}
