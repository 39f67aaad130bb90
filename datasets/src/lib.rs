//! Named data sets: what they are, where their files lie, and whether they are what they should be.
//!
//! `manifest.json` says of each its rows, columns, target, origin, licence and sha256 ([`Entry`]).
//! A [`Registry`] finds the file, checks digest and shape, and reads it. Two sets are bundled; the
//! others are fetched by whoever wants them.
//!
//! ```
//! let registry = mercer_datasets::Registry::load()?;
//! let diamonds = registry.open("diamonds")?;
//! assert_eq!((diamonds.len(), diamonds.dimension()), (53_940, 9));
//! # Ok::<(), mercer_datasets::DatasetError>(())
//! ```
//!
//! The feature `bundled` (default) compiles the bundled sets in, 0.6 MB.

#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod error;
mod manifest;
mod registry;

pub use error::DatasetError;
pub use manifest::{Download, Entry, Kind, Paper, Same, Task};
pub use registry::{DATA_VARIABLE, Registry, sha256_file};
