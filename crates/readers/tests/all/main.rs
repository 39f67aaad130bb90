//! The readers from outside, in one binary.

mod chosen_columns;
#[cfg(feature = "arrow")]
mod columnar;
mod dialects;
mod encodings;
mod errors;
mod examples;
mod json;
mod manners;
mod marks;
mod round_trip;
mod row_names;
#[cfg(feature = "spreadsheet")]
mod spreadsheets;
mod without_target;
