//! Types that every crate of the workspace shares. Nothing here learns.
//!
//! | item | what it is for |
//! |---|---|
//! | [`Validate`] | to check state that was read from a file |
//! | [`ParameterError`] | to say which parameter a constructor refused, and why |
//! | [`ExampleError`], [`check_input`] | to say which example a learner or a forecaster refused, and why |
//! | [`parameters!`] | to declare a struct of parameters with its defaults |
//! | [`names!`] | to declare an enum whose values have names |
//! | [`Number`] | to write a number for people |
//! | [`Cost`] | to say what a round costs |
//! | [`Cell`], [`Cells`] | a value of a table, and a row of values |
//! | [`List`] | a cell of several values |
//! | [`OddCells`], [`Oddity`] | to count cells that are read otherwise than they stand, and to tell them |
//! | [`ValueRange`] | min-max scaling |
//! | [`parse_instant`] | to read dates and times |
//! | [`TruthWords`], [`parse_truth`] | to read truth values, whatever wrote them |
//! | [`Punctuation`] | to read numbers with marks among their digits |
//!
//! # Saved state
//!
//! A deserialiser checks the form of a file, and no more. A vector may still be shorter than the
//! matrix beside it, a width may be negative, and a number may be infinite. Every type that is part
//! of a learner's state therefore implements [`Validate`]. If it answers `Ok`, no method of the
//! type panics, and the documented invariants hold as far as `O(size)` operations can check them.
//! (The check does not recompute factors, so it does not notice a factor of other points.)
//!
//! Deserialising does not validate. Code that reads foreign state calls [`Validate::validate`] on
//! the whole value once, before anything else. The model files of the crate `mercer` do this.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod cell;
mod cost;
mod example;
mod instant;
mod list;
mod names;
mod nesting;
mod numeral;
mod odd;
mod parameter;
mod parameters;
mod range;
mod tokens;
mod truth;

use std::collections::VecDeque;

pub use cell::{Cell, Cells, is_gap_mark};
pub use cost::{Cost, Symbol, Term};
pub use example::{ExampleError, check_input};
pub use instant::{Calendar, duration_text, instant_text, parse_instant, parse_short_day};
pub use list::{Entry, List, ListError, ListText};
#[cfg(feature = "serde")]
pub use nesting::nested;
pub use nesting::{DEEPEST, validate_nested};
pub use numeral::Punctuation;
pub use odd::{OddCells, Oddity};
pub use parameter::{Number, ParameterError};
pub use range::ValueRange;
pub use tokens::{KeyHash, Token, TokenRow, TokenUse, add_equal, column_key, column_of_key, mixed};
pub use truth::{TruthWords, parse_truth};

/// Dimensions and other sizes that no stored number backs stay below this, so that memory of a few
/// rows can always be had.
pub const LARGEST_SIZE: usize = 1 << 24;

/// State whose invariants may be checked after it was read back.
///
/// ```
/// use mercer_core::{Inconsistent, Validate};
///
/// struct Interval {
///     low: f64,
///     high: f64,
/// }
///
/// impl Validate for Interval {
///     fn validate(&self) -> Result<(), Inconsistent> {
///         (self.low, self.high).validate()?;
///         Inconsistent::require(self.low <= self.high, "interval", "its ends are in order")
///     }
/// }
///
/// assert!(Interval { low: 0.0, high: 1.0 }.validate().is_ok());
/// let error = Interval { low: 1.0, high: 0.0 }.validate().unwrap_err();
/// assert_eq!(error.to_string(), "the saved interval is inconsistent; expected: its ends are in order");
/// ```
pub trait Validate {
    /// Checks everything that is part of the state. `O(size)`.
    ///
    /// # Errors
    /// The first rule that does not hold.
    fn validate(&self) -> Result<(), Inconsistent>;
}

/// A rule that the saved state breaks: it was altered, or written by something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved {what} is inconsistent; expected: {rule}")]
pub struct Inconsistent {
    /// The part of the state.
    pub what: &'static str,
    /// The rule that has to hold.
    pub rule: &'static str,
}

impl Inconsistent {
    /// `Ok` when the rule holds.
    ///
    /// # Errors
    /// The error that names part and rule.
    pub fn require(holds: bool, what: &'static str, rule: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { what, rule }) }
    }

    /// Requires a finite number above zero.
    ///
    /// # Errors
    /// When it is not.
    pub fn positive(value: f64, what: &'static str) -> Result<(), Self> {
        Self::require(value.is_finite() && value > 0.0, what, "a positive number")
    }

    /// Requires a finite number that is not negative.
    ///
    /// # Errors
    /// When it is not.
    pub fn non_negative(value: f64, what: &'static str) -> Result<(), Self> {
        Self::require(value.is_finite() && value >= 0.0, what, "a number that is not negative")
    }

    /// Requires a size that no stored number backs to be below [`LARGEST_SIZE`].
    ///
    /// # Errors
    /// When it is not.
    pub fn size(value: usize, what: &'static str) -> Result<(), Self> {
        Self::require(value <= LARGEST_SIZE, what, "a size of this world")
    }
}

impl Validate for f64 {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::require(self.is_finite(), "number", "it is finite")
    }
}

impl<A: Validate, B: Validate> Validate for (A, B) {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.0.validate()?;
        self.1.validate()
    }
}

impl<T: Validate> Validate for [T] {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.iter().try_for_each(T::validate)
    }
}

impl<T: Validate, const N: usize> Validate for [T; N] {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.as_slice().validate()
    }
}

impl<T: Validate> Validate for Vec<T> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.as_slice().validate()
    }
}

impl<T: Validate> Validate for VecDeque<T> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.iter().try_for_each(T::validate)
    }
}

impl<T: Validate> Validate for Option<T> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.iter().try_for_each(T::validate)
    }
}

impl<T: Validate + ?Sized> Validate for Box<T> {
    fn validate(&self) -> Result<(), Inconsistent> {
        (**self).validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_any_container_are_finite() {
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        assert!(vec![Some(1.0), None].validate().is_ok());
        for value in bad {
            assert!(vec![vec![0.0, value]].validate().is_err());
            assert!(Box::new([0.0, value]).validate().is_err());
            assert!(Inconsistent::positive(value.abs(), "x").is_err());
            assert!(Inconsistent::non_negative(value.abs(), "x").is_err());
        }
        assert!(Inconsistent::positive(0.0, "x").is_err() && Inconsistent::non_negative(0.0, "x").is_ok());
        assert!(Inconsistent::size(LARGEST_SIZE + 1, "x").is_err());
    }
}
