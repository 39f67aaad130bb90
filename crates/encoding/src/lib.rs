//! From the columns of a table to the inputs of an online learner, one row at a time.
//!
//! A table has dates, categories, gaps, and numbers in any unit. A learner takes finite numbers,
//! best of a size near 1. This crate stands between them. It looks at the first rows and decides
//! what each column is ([`Schema`]). It turns records into numbers with running statistics
//! ([`Transform`]) and scales targets ([`ScaledTargets`]). [`Pipeline`] and [`ClassPipeline`] put
//! all of this before a learner. The crate reads no files: a record is a slice of [`Cell`]s, or any
//! type that implements [`Cells`].
//!
//! | what | where |
//! |---|---|
//! | a value of a record, and a record | [`Cell`], [`Cells`] |
//! | what the columns are; another file's columns by name | [`Schema`], [`Look`], [`Overrides`], [`ColumnMap`] |
//! | what is told of a column, and of odd cells | [`ColumnFacts`], [`OddCells`] |
//! | columns to numbers; to one each, whose meaning stays | [`Transform`], [`Encoding`], [`Measures`], [`Scale`], [`EncodingOptions`] |
//! | targets of any unit | [`ScaledTargets`], [`TargetScale`] |
//! | everything before a learner | [`Pipeline`], [`ClassPipeline`] |
//! | running statistics | [`RunningMoments`], [`QuantileSketch`] |
//! | dates and times; the step of a series | [`parse_instant`], [`TimeStep`] |
//!
//! Contracts:
//!
//! - A transform gives finite numbers for every record.
//! - A record gives the same numbers alone and in a batch, bit for bit.
//! - Predicting changes nothing, and a refused record leaves everything as it was.
//! - Memory does not grow with the stream (robust scaling: 8 numbers a column at each doubling).
//!
//! Features: `learners` (default) holds [`ScaledTargets`] and the pipelines, which know learners.
//! `serde` saves schemas, encodings and pipelines; [`Validate`](mercer_core::Validate) checks them
//! when they are read back.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

#[cfg(feature = "learners")]
mod century;
mod class_pipeline;
mod clock;
mod day_order;
mod day_rule;
mod degrees;
mod digits;
mod duration;
mod encoding;
mod error;
mod face;
mod facts;

mod key;
mod kind;
mod left_out;
mod look;
mod magnitude;
mod matching;
mod moments;
mod notation;
mod numeral;
#[cfg(feature = "learners")]
mod open_rows;
mod overrides;
mod period;
#[cfg(feature = "learners")]
mod pipeline;
mod quantiles;
mod sample;
pub mod scale;
#[cfg(feature = "learners")]
pub mod scaled_targets;
pub mod schema;
#[cfg(feature = "learners")]
mod screening;
mod span;
mod step;
#[cfg(feature = "learners")]
mod target_scale;
mod time_form;
mod times;
mod tokens;
pub mod transform;
mod words;
mod written_time;
mod zone;

#[cfg(feature = "learners")]
pub use class_pipeline::ClassPipeline;
pub use day_rule::{DayRule, DaysOfMonth};
pub use encoding::Encoding;
pub use error::EncodingError;
pub use face::Face;
pub use facts::ColumnFacts;
pub use left_out::{LeftOut, lacks_column};
pub use look::{Look, are_times, is_name_of_steps, is_name_of_times};
pub use matching::{ColumnMap, MappedRecord};
pub use mercer_core::{Calendar, Cell, Cells, Entry, List, ListText, OddCells, Oddity, parse_instant, parse_truth};
pub use moments::RunningMoments;
pub use notation::{Century, Clock, DayOrder, Notation};
pub use numeral::NumberMarks;
pub use numeral::Numeral;
pub use overrides::Overrides;
pub use period::month_of_year;
#[cfg(feature = "learners")]
pub use pipeline::{Pipeline, PipelineScratch};
pub use quantiles::QuantileSketch;
pub use scale::Scale;
#[cfg(feature = "learners")]
pub use scaled_targets::ScaledTargets;
pub use schema::{Column, Kind, Schema, TimeParts, ToldKind, Use};
#[cfg(feature = "learners")]
pub use screening::Implausible;
pub use step::TimeStep;
#[cfg(feature = "learners")]
pub use target_scale::TargetScale;
pub use time_form::TimeForms;
pub use transform::{
    CategoryRecipe, ColumnRecipe, EncodingOptions, HeldRecord, Measures, NoRecipe, NoRecipeReason, NumberRecipe,
    ScaleRecipe, Transform,
};
pub use zone::{Zone, tells_zone};
