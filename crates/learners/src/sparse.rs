//! Linear learners of tokens, one a file: words, categories, sparse rows, and numbers as they are.

pub(crate) mod coin;
pub(crate) mod diagonal_kalman;
pub(crate) mod pairs;

pub use {coin::*, diagonal_kalman::*, pairs::*};
