//! All learners by name.
//!
//! [`entries`] lists what is said of each: its keys, costs, targets and losses. [`build`] makes the
//! learner of an entry with values of all keys, [`build_with`] with some of them, [`trial`] a small
//! one. All are [`AnyRegressor`], which saves as the number of its learner and the learner. The
//! [`catalogue`] reads settings that are written as `KEY=VALUE`, and [`tune`] looks for good ones.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod any;
pub mod catalogue;
mod trial;
pub mod tune;

pub use any::{AnyRegressor, Built, build, entries};
pub use trial::{build_with, trial};
