//! Detectors of change: whether the values of a stream, such as losses, have become larger.
//!
//! | detector | alarm | memory of the past |
//! |---|---|---|
//! | [`Adwin`] | the mean of a newer part of a window is above that of the older by more than chance allows | a window that drops what has changed |
//! | [`PageHinkley`] | values were above their mean for too long, in sum | all since the start |
//!
//! Both are told nothing of the unit of the values, and neither takes a single wild value for a
//! change. When the mean of squared normal values rises 30 times after 5000 rounds, Page–Hinkley
//! alarms after 10 rounds in the mean and ADWIN after 17; for 4 times, after 38 and 66; for twice,
//! after 314 and 224 (`tests/experts/detectors.rs`). Neither gave a false alarm in 2·10⁶ rounds.

mod adwin;
mod moments;
mod page_hinkley;

use mercer_core::{Inconsistent, Validate};

pub use self::adwin::Adwin;
pub use self::page_hinkley::PageHinkley;

/// Tells when values have become larger.
pub trait ChangeDetector: Send + Sync {
    /// Takes the next value, of any size; whether values have become larger.
    fn observe(&mut self, value: f64) -> bool;

    /// Forgets all values.
    fn reset(&mut self);
}

/// One of the detectors, for programs that choose when they run; by default [`PageHinkley`], which
/// finds large changes soonest.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum AnyDetector {
    /// [`Adwin`]
    Adwin(Adwin),
    /// [`PageHinkley`]
    PageHinkley(PageHinkley),
}

impl Default for AnyDetector {
    fn default() -> Self {
        Self::PageHinkley(PageHinkley::default())
    }
}

impl From<Adwin> for AnyDetector {
    fn from(detector: Adwin) -> Self {
        Self::Adwin(detector)
    }
}

impl From<PageHinkley> for AnyDetector {
    fn from(detector: PageHinkley) -> Self {
        Self::PageHinkley(detector)
    }
}

impl ChangeDetector for AnyDetector {
    fn observe(&mut self, value: f64) -> bool {
        match self {
            Self::Adwin(detector) => detector.observe(value),
            Self::PageHinkley(detector) => detector.observe(value),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Adwin(detector) => detector.reset(),
            Self::PageHinkley(detector) => detector.reset(),
        }
    }
}

impl Validate for AnyDetector {
    fn validate(&self) -> Result<(), Inconsistent> {
        match self {
            Self::Adwin(detector) => detector.validate(),
            Self::PageHinkley(detector) => detector.validate(),
        }
    }
}
