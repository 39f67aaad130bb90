//! Arguments that several commands share, and how their values are read.

mod common;
mod scale;

use std::num::{NonZeroU64, NonZeroUsize};

use clap::ValueEnum;

pub(crate) use common::{CommonArguments, median_kernel};
pub(crate) use scale::ScaleChoice;

pub(crate) fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 1, in digits")
}

pub(crate) fn skipped(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 0, in digits")
}

pub(crate) fn every(text: &str) -> Result<NonZeroU64, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 1, in digits")
}

pub(crate) fn seed(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a whole number of at least 0, in digits")
}

/// The name of a choice as it is typed.
pub(crate) fn typed(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}
