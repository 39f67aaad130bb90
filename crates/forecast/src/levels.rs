//! Levels of a series that jumps.
//!
//! A value far beyond all others that is no wrong one is a new level. What was learnt of seasons,
//! noise and weights still holds there, so the mixture sees the series less an origin that takes
//! the jump away: from the new level it sees what it forecast. The level before is kept beside it.
//! Values that return to it, or go to and fro between both, are recognised by their distance to the
//! last value.

use mercer_core::{Inconsistent, Validate};

/// How many times nearer a value is to be to the other level to belong to it.
const NEARER: f64 = 10.0;

/// The origin of a series, and the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Levels {
    origin: f64,
    other: Option<f64>,
    /// The last value less its origin.
    last: Option<f64>,
}

impl Levels {
    /// What the mixture sees as 0.
    pub(crate) fn origin(&self) -> f64 {
        self.origin
    }

    /// Turns to the level of a value. `stretches` says that it is a new one or the end of a run of
    /// wrong values; `expected` is the forecast less the origin.
    pub(crate) fn turn(&mut self, y: f64, stretches: bool, expected: impl FnOnce() -> f64) {
        if let (Some(other), Some(last)) = (self.other, self.last)
            && NEARER * (y - other - last).abs() < (y - self.origin - last).abs()
        {
            self.other = Some(std::mem::replace(&mut self.origin, other));
        } else if stretches && self.last.is_some() {
            self.other = Some(std::mem::replace(&mut self.origin, y - expected()));
        }
        self.last = Some(y - self.origin);
    }

    /// The series begins anew.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }
}

impl Validate for Levels {
    fn validate(&self) -> Result<(), Inconsistent> {
        [Some(self.origin), self.other, self.last].iter().flatten().try_for_each(Validate::validate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_level_is_seen_as_what_was_expected() {
        let mut levels = Levels::default();
        let inside = |levels: &mut Levels, y: f64, stretches| {
            levels.turn(y, stretches, || 1.0);
            y - levels.origin()
        };
        assert_eq!(inside(&mut levels, 2.0, false), 2.0);
        assert_eq!(inside(&mut levels, 5001.0, true), 1.0);
        assert_eq!(inside(&mut levels, 5003.0, false), 3.0);
        assert_eq!(inside(&mut levels, 2.5, false), 2.5, "back");
        assert_eq!(inside(&mut levels, 5001.0, false), 1.0, "and again");
    }
}
