//! Models as programs that need nothing of Mercer.
//!
//! | module | what it has |
//! |---|---|
//! | [`Formula`] | the prediction of a model as a formula of its columns |
//! | [`Language`] | the languages in which it is written |
//! | [`ExportError`] | what has no formula, by name |
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod c;
mod error;
mod formula;
mod js;
mod language;
mod onnx;
mod parts;
mod sql;
mod text;

pub use error::ExportError;
pub use formula::{Formula, FormulaColumn};
pub use language::Language;
pub use parts::{KernelTerms, Part, Profile};
