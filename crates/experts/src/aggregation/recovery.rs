//! Guard that keeps a round out of all proportion from deciding the weights for good.

use mercer_core::{Inconsistent, Validate};

use crate::OutlierScreen;

/// So many times larger were regrets once than they have been of late where the past says nothing
/// any more.
const OUTGROWN: f64 = 1e6;

/// The sizes `max_k |r_k|` of rounds.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Recovery {
    sizes: OutlierScreen,
    /// The largest since the weights last began anew.
    largest: f64,
}

impl Recovery {
    /// The weight of a round of this size, and whether the rounds of late are so small that the
    /// weights are to begin anew with it.
    pub(super) fn weigh(&mut self, size: f64) -> (f64, bool) {
        // A size beyond all measure counts for nothing, and not for the largest that is plausible.
        let weight = self.sizes.observe(size).powi(2);
        self.largest = self.largest.max(weight * size);
        let late = self.sizes.range().map_or(0.0, |(_, high)| high);
        let outgrown = late > 0.0 && self.largest / OUTGROWN > late;
        if outgrown {
            self.largest = late;
        }
        (weight, outgrown)
    }
}

impl Validate for Recovery {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.sizes.validate()?;
        Inconsistent::non_negative(self.largest, "sizes of rounds")
    }
}
