//! Whole files as tables.

use std::path::Path;

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::format::Format;
use crate::lines::Source;
use crate::options::ReadOptions;
use crate::reader::RowReader;

/// Reads a whole file, or standard input for `-`.
///
/// # Errors
/// The first thing wrong, with its place: see [`DataError`].
pub fn read_all(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset, DataError> {
    read_source(Source::from_path(path.as_ref()), options)
}

/// Reads a whole table from bytes in memory; `name` tells the format as a file's name would, unless
/// the options do.
///
/// # Errors
/// The first thing wrong, with its place: see [`DataError`].
pub fn read_bytes(
    name: impl Into<String>,
    bytes: impl Into<std::borrow::Cow<'static, [u8]>>,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    read_source(Source::Memory { name: name.into(), bytes: bytes.into() }, options)
}

fn read_source(source: Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let twice = source.format(options.format)? == Format::Libsvm && options.libsvm_dimension.is_none();
    let source = if twice { source.rereadable()? } else { source };
    RowReader::over(source, options, false)?.read_rows(usize::MAX)
}
