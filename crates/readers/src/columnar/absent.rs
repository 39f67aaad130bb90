//! Parquet and Arrow IPC in a build that does not read them.

use crate::error::{ContainerError, DataError};
use crate::format::Format;
use crate::lines::{Lines, Source};
use crate::options::ReadOptions;
use crate::rows::Rows;

#[expect(clippy::needless_pass_by_value, reason = "the reader of columns takes it by value")]
pub(crate) fn open(
    source: Source,
    format: Format,
    _options: &ReadOptions,
) -> Result<(Box<dyn Rows>, Lines), DataError> {
    Err(ContainerError::NotBuilt { file: source.shown(), format }.into())
}
