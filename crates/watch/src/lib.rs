//! New rows, changes of columns and risen errors in streams, at a rate of false alarms that the
//! user states.
//!
//! | type | what it answers | a row | promise |
//! |---|---|---|---|
//! | [`Novelty`] | how new a row is, and which column is to blame | `O(1300 d + d²)` | a p-value, by the last 1024 rows |
//! | [`Change`] | whether the law of the columns has changed, since when, and of which | `O(80 K + 256 d + d²)`, `K` scores | `N` rows to a false alarm in the mean, while rows are exchangeable |
//! | [`Rises`] | whether losses have become larger | `O(16)` | the same |
//! | [`Slopes`] | which input is to blame for risen errors | `O(d)` | |
//!
//! It is for those who run a stream of rows and want to be told, seldom and rightly. [`Change`] and
//! [`Rises`] take out what serial dependence the first rows show ([`TakenOut`]), because detectors
//! that assume independence alarm all the time on real streams. Gaps (NaN) are values like others.
//!
//! The crate knows no learner, reads no files and makes no numbers of dates or categories.
//! Draws come from a seed. Memory does not grow with the stream, and a state that is saved (feature
//! `serde`) goes on bit for bit.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod bets;
mod betted;
mod change;
mod chi_square;
mod dependence;
mod distances;
mod error;
mod inverse;
mod novelty;
mod random;
mod rises;
mod scores;
mod serial;
mod slopes;
mod tail;

/// Values are kept within `±LARGEST`, so that their moments are finite.
const LARGEST: f64 = 1e150;

pub use change::{Alarm, Change, ChangeParams};
pub use error::Error;
pub use novelty::{FEWEST_ROWS, Newness, Novelty, NoveltyParams};
pub use rises::{Rise, RiseParams, Rises};
pub use scores::ScoreKind;
pub use serial::TakenOut;
pub use slopes::Slopes;
