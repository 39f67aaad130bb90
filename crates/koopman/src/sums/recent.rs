//! The latest pairs, on which forecasts are calibrated.

use std::collections::VecDeque;

use mercer_core::{Inconsistent, Validate};

/// Pairs that are kept.
const MOST: usize = 1024;

/// The latest pairs, flat, in the user's units.
///
/// # Invariants
/// Whole pairs of `width` numbers, at most [`MOST`].
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RecentPairs {
    width: usize,
    numbers: VecDeque<f64>,
}

impl Validate for RecentPairs {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "latest pairs";
        self.numbers.validate()?;
        Inconsistent::size(self.width, WHAT)?;
        let whole = self.width > 0 && self.numbers.len().is_multiple_of(self.width) && self.len() <= MOST;
        Inconsistent::require(whole, WHAT, "whole pairs, not too many")
    }
}

impl RecentPairs {
    /// None yet, of `width` numbers.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, numbers: VecDeque::new() }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    pub(crate) fn push(&mut self, x: &[f64], x_plus: &[f64]) {
        if self.len() == MOST {
            self.numbers.drain(..self.width);
        }
        self.numbers.extend(x.iter().chain(x_plus));
    }

    /// True if the `x⁺` of the last pair is `state`.
    pub(crate) fn ends_with(&self, state: &[f64]) -> bool {
        let first = self.numbers.len().checked_sub(state.len());
        first.is_some_and(|first| self.numbers.range(first..).eq(state))
    }

    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
    }

    /// The pairs, row by row.
    pub(crate) fn rows(&self) -> Vec<f64> {
        self.numbers.iter().copied().collect()
    }
}
