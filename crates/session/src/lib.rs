//! A learner with its table, its score and its remarks, in memory and in a file.
//!
//! | module | what it has |
//! |---|---|
//! | [`model`] | learners in files: saved, read back and checked |
//! | [`notes`] | what is to be said of a run beside its numbers: causes, and what mends them |
//! | [`fit`] | sums of maps that are fixed beforehand, by their specification |
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

pub mod fit;
pub mod model;
pub mod notes;
