//! Spreadsheets in a build that does not read them.

use crate::error::{ContainerError, DataError};
use crate::format::Format;
use crate::lines::{Lines, Source};

#[expect(clippy::needless_pass_by_value, reason = "the reader of spreadsheets takes it by value")]
pub(crate) fn open(source: Source) -> Result<Lines, DataError> {
    Err(ContainerError::NotBuilt { file: source.shown(), format: Format::Spreadsheet }.into())
}
