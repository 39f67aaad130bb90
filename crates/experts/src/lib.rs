//! Tools around the predictions of any model of a stream. They know no model.
//!
//! | type | what it answers | a round | source |
//! |---|---|---|---|
//! | [`Aggregation`] | how to weigh `K` predictors so that the mixture competes with the best of them | `O(K)` | de Rooij et al. 2014; Wintenberger 2017; Gaillard et al. 2014 |
//! | [`Share`] | how much weight every predictor gets back, where the best one changes | `O(K)` | Herbster and Warmuth 1998; Cesa-Bianchi et al. 2012 |
//! | [`ConformalIntervals`] | how far a prediction may be off, with a coverage that holds for any data | `O(window)` an output | Gibbs and Candès 2021 |
//! | [`OutlierScreen`] | whether a value is an error of measurement or the stream has changed | `O(1)` | |
//! | [`Adwin`] | whether values have become larger: a window that drops what has changed | `O(log t)` | Bifet and Gavaldà 2007 |
//! | [`PageHinkley`] | the same by a cumulative sum, soonest for large changes | `O(1)` | Page 1954; Mouss et al. 2004 |
//!
//! It is for those who have predictions, whatever made them. The mixtures, intervals and restarts
//! of Mercer's learners and forecasters are built on it.
//!
//! Contracts: no type draws random numbers or reads a clock; a refused round leaves the state as it
//! was; a round allocates nothing after construction, except in [`Adwin`], whose window grows with
//! the logarithm of its length.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod aggregation;
mod change;
mod error;
mod intervals;
mod outliers;

pub use aggregation::{Aggregation, Rule, Share, UnknownShare, square_loss_regret};
pub use change::{Adwin, AnyDetector, ChangeDetector, PageHinkley};
pub use error::Error;
pub use intervals::{ConformalIntervals, IntervalParams};
pub use outliers::{OutlierScreen, Outliers, UnknownOutliers};
