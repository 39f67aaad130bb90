//! Inputs with tokens. A linear learner of tokens has a weight for each key that it has met,
//! `ŷ = Σ_i w(key_i) x_i`. So a round costs as many operations as the row has tokens, however many
//! keys there are.

use mercer_core::TokenRow;

/// The input of a row: its numbers and, where its table has some, its tokens.
///
/// Tokens say all that the row says, its numbers too. So a learner that
/// [takes](crate::Regressor::tokens) them does not look at the numbers, and the others look at
/// nothing else.
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

/// The inputs of several rows.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The numbers, row by row.
    pub numbers: &'a [f64],
    /// The tokens, one a row; none where the rows are numbers alone.
    pub tokens: &'a [TokenRow],
}

impl<'a, N: AsRef<[f64]> + ?Sized> From<&'a N> for Inputs<'a> {
    fn from(numbers: &'a N) -> Self {
        Self { numbers: numbers.as_ref(), tokens: &[] }
    }
}

impl<'a> From<Input<'a>> for Inputs<'a> {
    fn from(input: Input<'a>) -> Self {
        Self { numbers: input.numbers, tokens: input.tokens.map_or(&[], std::slice::from_ref) }
    }
}

impl<'a> Inputs<'a> {
    /// Rows `from..to`, each of `dimension` numbers.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn range(&self, from: usize, to: usize, dimension: usize) -> Self {
        let tokens = if self.tokens.is_empty() { &[] } else { &self.tokens[from..to] };
        Self { numbers: &self.numbers[from * dimension..to * dimension], tokens }
    }

    /// The input of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize, dimension: usize) -> Input<'a> {
        Input { numbers: &self.numbers[row * dimension..(row + 1) * dimension], tokens: self.tokens.get(row) }
    }
}
