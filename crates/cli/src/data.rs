//! DATA: opened, read and handed on row by row.

pub(crate) mod bad_rows;
pub(crate) mod day_roll;
pub(crate) mod encoded_rows;
pub(crate) mod feature_columns;
pub(crate) mod input;
pub(crate) mod opening;
mod order;
pub(crate) mod part_columns;
pub(crate) mod paths;
pub(crate) mod pipe;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod source;
pub(crate) mod stop;
pub(crate) mod timed_series;
