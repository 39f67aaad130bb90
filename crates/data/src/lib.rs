//! Streams for online learning: readers, scalings, permutations, a registry of data sets, and simulated streams.
//!
//! This crate turns files into rows of finite `f64`, each with a target, several targets or a label. If it cannot, it says what is wrong
//! in which row and column. The `mercer` command and the experiments read all their data with it. It knows neither kernels nor learners,
//! and it does not repair spoilt cells: it refuses an incomplete table, unless the caller asks for missing values as NaN ([`Missing`]).
//!
//! | what | where |
//! |---|---|
//! | read row by row, one row in memory, with or without a target | [`RowReader`] |
//! | read rows with weights, several targets or labels | [`RowReader::next_example`], giving an [`Example`] |
//! | read rows of typed cells, every column as the file has it | [`RecordReader`], giving a [`Record`] of [`Cell`]s |
//! | read a whole table | [`read_all`], [`read_bytes`], giving a [`Dataset`] |
//! | a table without a target, such as a series in time | [`Series`] |
//! | say how to read | [`ReadOptions`]: [`Format`], [`TargetColumn`], [`Targets`], [`Header`], [`Separator`], [`Decimal`], [`Missing`] |
//! | the classes met so far, and their order | [`Labels`] |
//! | min-max scaling, also by another file's ranges | [`Ranges`], [`Scaling`], [`Scheme`] |
//! | seeded permutations | [`permutation`], [`Dataset::permuted`] |
//! | named data sets, found and checked | [`Registry`], [`Entry`] |
//! | simulated linear stochastic systems | [`LinearSystem`], [`Run`] |
//! | simulated streams with a known spectrum | [`Simulation`], [`Decay`], [`gaussian_spectrum`], [`circle_spectrum`] |
//! | simulated dynamical systems, as pairs of successive states | [`Pairs`]: [`FourWells`], [`Duffing`], [`Lorenz`], [`Ar1`], [`FiniteChain`], [`Pendulum`] |
//!
//! The formats are CSV and TSV (with or without a header), JSON (one row a line, or one array) and LIBSVM, each plain or compressed by
//! gzip or zstd. The feature `arrow` adds Parquet and Arrow IPC. Data come from a file, standard input (`-`) or memory. The readers
//! understand separators, decimal commas, comments, byte order marks, CRLF, blank lines and quoted cells. They make one pass. LIBSVM does
//! not say how many columns it has, so it takes two passes unless the caller gives the dimension. A row costs O(d) and allocates nothing.
//!
//! ```
//! use mercer_data::{Ranges, Registry, Scaling, Scheme};
//!
//! let mut table = Registry::load()?.open("diamonds")?.permuted(7);
//! table.truncate(1000);
//! let scaling = Scaling::new(Ranges::of(&table), Scheme::PAPER01);
//! scaling.apply(&mut table)?;
//! for (features, price) in table.iter() {
//!     assert!(features.iter().all(|x| x.abs() <= 1.0));
//!     assert!((0.0..=1.0).contains(&price));
//! }
//! # Ok::<(), mercer_data::DataError>(())
//! ```
//!
//! Features: `bundled` (default) compiles the bundled data sets in. `arrow` reads Parquet and Arrow IPC. `serde` serialises options,
//! tables, scalings and simulations.

#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod cells;
#[cfg_attr(not(feature = "arrow"), path = "columnar/absent.rs")]
mod columnar;
mod columns;
mod compressed;
mod dataset;
mod decimal;
mod delimited;
mod dialect;
mod elements;
mod error;
mod format;
mod head;
mod header;

mod labels;
mod libsvm;
mod linear_system;
mod lines;
mod manifest;
mod ndjson;
mod number;
mod options;
mod permute;
mod reader;
mod record;
mod records;
mod registry;
mod scale;
mod series;
mod spectrum;
mod synthetic;
mod systems;

pub use compressed::Compression;
pub use dataset::Dataset;
pub use dialect::{Decimal, Separator};
pub use error::{CellPlace, Column, ContainerError, Counts, DataError, DialectError, Line};
pub use format::Format;
pub use head::TargetHead;
pub use labels::{LabelKind, Labels};
pub use linear_system::{LinearSystem, Run, SimulatedSeries, SystemMatrices};
pub use manifest::{Download, Entry, Kind, Paper, Same, Task};
pub use mercer_core::{Cell, Cells, instant_text, parse_instant};
pub use number::text_cell;
pub use options::{ColumnChoice, Header, Missing, ReadOptions, TargetColumn, Targets};
pub use permute::{PERMUTATION_STREAM, permutation};
pub use reader::{Example, RowReader, read_all, read_bytes};
pub use record::Record;
pub use records::RecordReader;
pub use registry::{DATA_VARIABLE, Registry, sha256_file};
pub use scale::{Ranges, Scaling, Scheme, Span};
pub use series::Series;
pub use spectrum::{Decay, circle_spectrum, gaussian_spectrum};
pub use synthetic::{Simulated, Simulation};
pub use systems::{Ar1, Duffing, FiniteChain, FourWells, Lorenz, Pairs, Pendulum, PendulumState};

/// The code of the README, run as a test.
#[cfg(all(doctest, feature = "bundled"))]
#[doc = include_str!("../README.md")]
struct Readme;
