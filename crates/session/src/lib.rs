//! A learner with its table, its score and its remarks, in memory and in a file.
//!
//! | module | what it has |
//! |---|---|
//! | [`Row`], [`RowPrediction`] | a row, and what is predicted for it: [`Tabular::predict`](model::Tabular::predict) and [`Tabular::learn`](model::Tabular::learn) are the one road for every door |
//! | [`classes`] | the class of a label, and what scores say |
//! | [`explain`] | effects of the columns that add up to a prediction |
//! | [`file`](mod@file), [`lock`] | files that appear whole or not at all, and one writer of a model at a time |
//! | [`model`] | learners in files: saved, read back and checked |
//! | [`notes`] | what is to be said of a run beside its numbers: causes, and what mends them |
//! | [`series`] | how a season mixture is made, what is told of a row of a series, and rolling origins |
//! | [`Watcher`] | records under watch: what is new, what has changed, and which column |
//! | [`function`] | the function that a learner has learnt, with its coefficients |
//! | [`fit`] | sums of maps that are fixed beforehand, by their specification |
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod answer;
mod block;
pub mod classes;
pub mod explain;
pub mod file;
pub mod fit;
pub mod function;
mod groups;
mod late;
pub mod lock;
pub mod model;
pub mod notes;
pub mod series;
mod step;
mod watcher;

/// A learner of rows of any kind with what surrounds it, which a door predicts, teaches and saves.
pub type Session = model::Tabular<model::Task>;

pub use answer::{EarlyPrediction, GroupAnswer, RowPrediction, RunningScore, StepError};
pub use block::{BlockPredictions, BlockTargets, ClassRound};
pub use groups::{Groups, write_name};
pub use late::{LabelDelay, LateRows, RowsById, parse_span, record_time};
pub use step::{Lesson, Row, predicts_late};
pub use watcher::{AlarmKind, WatchAlarm, WatchChoices, Watcher};
