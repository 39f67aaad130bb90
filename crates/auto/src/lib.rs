//! A learner that sets itself up: what a user without tuning gets.
//!
//! [`Auto`] takes features and targets as they come. It scales them, chooses widths and
//! regularisers, and mixes two parts: learners on dictionaries, and Gaussian processes on the
//! nearest examples. A [budget](AutoParams::budget) of multiply-adds a row sets the size of
//! everything.
//!
//! It is a learner as those of [`mercer_learners`] are, and is made of them.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod auto;
mod local;

pub use auto::{AUTO, Auto, AutoParams, AutoWithTokens, ClosedForm, ClosedMember, ClosedPart, Polynomial};
