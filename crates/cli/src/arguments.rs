//! Arguments that several commands share, and how their values are read.

pub(crate) mod alarm_rate;
pub(crate) mod common;
pub(crate) mod config;
pub(crate) mod dialect;
pub(crate) mod groups;
pub(crate) mod intervals;
pub(crate) mod scores;
pub(crate) mod spelling;
pub(crate) mod task;
pub(crate) mod zone;

use std::num::{NonZeroU64, NonZeroUsize};

pub(crate) use crate::report::output::typed;
pub(crate) use common::{CommonArguments, median_kernel};

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
