//! From files to rows of numbers or records of typed cells, and tables of them.
//!
//! This crate turns files into rows of finite `f64`, each with a target, several targets or a
//! label. If it cannot, it says what is wrong in which row and column. The `mercer` command and the
//! experiments read all their data with it. It knows neither kernels nor learners, and it does not
//! repair spoilt cells: it refuses an incomplete table, unless the caller asks for missing values
//! as NaN ([`Missing`]).
//!
//! | what | where |
//! |---|---|
//! | read row by row, one row in memory, with or without a target | [`RowReader`] |
//! | read rows with weights, several targets or labels | [`RowReader::next_example`], giving an [`Example`] |
//! | read rows of typed cells, every column as the file has it | [`RowReader::records`], giving a [`Record`] of [`Cell`]s |
//! | read a table in memory as if it were a file | [`RowReader::of_table`], [`Series::into_reader`] |
//! | read a whole table | [`read_all`], [`read_bytes`], giving a [`Dataset`] |
//! | a table without a target, such as a series in time | [`Series`] |
//! | say how to read | [`ReadOptions`]: [`Format`], [`TargetColumn`], [`Targets`], [`Header`], [`Separator`], [`Decimal`], [`Thousands`], [`Missing`] |
//! | the classes met so far, and their order | [`Labels`] |
//! | min-max scaling, also by another file's ranges | [`Ranges`], [`Scaling`], [`Scheme`] |
//! | seeded permutations | [`permutation`], [`Dataset::permuted`] |
//!
//! The formats are CSV and TSV (with or without a header), JSON (one row a line, or one array) and
//! LIBSVM, each plain or compressed. The feature `arrow` adds Parquet and Arrow IPC, the feature
//! `spreadsheet` the first sheet of xlsx, xlsb, xls and ods. The readers understand separators,
//! decimal commas, marks between thousands, comments, byte order marks, CRLF, blank lines and
//! quoted cells. They make one pass. LIBSVM does not say how many columns it has, so it takes two
//! passes unless the caller gives the dimension. A row costs O(d) and allocates nothing.
//!
//! Features: `arrow` reads Parquet and Arrow IPC, `spreadsheet` spreadsheets, `stores` objects of
//! stores (`s3://`, `https://`). `serde` serialises options, tables and scalings.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod beginning;
mod cells;
mod choice;
#[cfg_attr(not(feature = "arrow"), path = "columnar/absent.rs")]
mod columnar;
mod columns;
mod compressed;
mod dataset;
mod delimited;
mod dialect;
mod elements;
mod error;
mod first_cells;
mod format;
mod frame;
mod gaps;
mod head;
mod header;
mod json_scanner;
mod labels;
mod late_keys;
mod libsvm;
mod lines;
mod marks;
mod ndjson;
mod number;
mod options;
mod orange;
mod other_format;
mod other_kind;
mod permute;
mod permuted;
mod printed;
mod reader;
mod record;
mod row_names;
mod rows;
mod scale;
mod separator;
mod series;
#[cfg_attr(not(feature = "spreadsheet"), path = "spreadsheet/absent.rs")]
mod spreadsheet;
#[cfg_attr(not(feature = "stores"), path = "stores/absent.rs")]
mod stores;
mod sum_row;
mod table;
mod text_encoding;
mod whole;
mod whole_json;

pub use choice::{ColumnChoice, TargetColumn};
pub use compressed::Compression;
pub use dataset::Dataset;
pub use dialect::{Decimal, Marks, Separator, Thousands};
pub use error::{
    CellPlace, Column, ContainerError, Counts, DataError, DialectError, Line, Remark, hour_that_comes_twice,
    remedy_of_commas, shown_path,
};
pub use format::Format;
pub use gaps::Gaps;
pub use head::TargetHead;
pub use labels::{LabelKind, Labels, alike};
pub use mercer_core::{Cell, Cells, instant_text, is_gap_mark, parse_instant};
pub use number::text_cell;
pub use options::{Header, Missing, ReadOptions, Targets};
pub use permute::{PERMUTATION_STREAM, permutation};
pub use reader::RowReader;
pub use record::{Example, Record};
pub use scale::{Ranges, Scaling, Scheme, Span};
pub use series::Series;
pub use stores::StoredObject;
pub use whole::{read_all, read_bytes};
