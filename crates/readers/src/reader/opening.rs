//! The rows of a file by its format, in its own order or a random one.

use super::fixed;
use crate::columnar;
use crate::delimited::Delimited;
use crate::dialect::{Decimal, Separator};
use crate::error::DataError;
use crate::format::Format;
use crate::libsvm::Libsvm;
use crate::lines::{Lines, Source};
use crate::ndjson::Ndjson;
use crate::options::ReadOptions;
use crate::permuted::{MOST_STREAMED, Permuted};
use crate::rows::Rows;
use crate::spreadsheet;

/// Opens rows, and reads as far as it takes to know the columns; `records` says that cells may hold
/// anything.
pub(super) fn rows(
    mut source: Source,
    format: Format,
    options: &ReadOptions,
    records: bool,
) -> Result<(Box<dyn Rows>, Lines), DataError> {
    let once = source.is_once();
    let (rows, mut lines): (Box<dyn Rows>, Lines) = match format {
        Format::Csv | Format::Tsv => {
            let separator = (format == Format::Tsv).then_some(Separator::Tab);
            // Of records the next is looked at in any case, and a file is there.
            let may_wait = records || !once;
            let mut lines = source.lines()?;
            (Box::new(Delimited::begin(&mut lines, separator, options, (records, may_wait))?), lines)
        }
        Format::Ndjson => {
            let mut lines = source.lines()?;
            (Box::new(Ndjson::begin(&mut lines, options)?), lines)
        }
        Format::Libsvm => {
            let (rows, lines) = Libsvm::begin(source, options, records)?;
            (Box::new(rows), lines)
        }
        Format::Spreadsheet => {
            let mut lines = spreadsheet::open(source)?;
            let options = ReadOptions { decimal: Some(Decimal::Point), ..options.clone() };
            let comma = Some(Separator::Comma);
            (Box::new(Delimited::begin(&mut lines, comma, &options, (records, true))?), lines)
        }
        Format::Fixed => fixed::open(source, options)?,
        Format::Parquet | Format::Arrow => columnar::open(source, format, options)?,
    };
    let Some(seed) = options.permute else { return Ok((rows, lines)) };
    let most = if once { MOST_STREAMED } else { usize::MAX };
    let permuted = Permuted::gather(rows, &mut lines, (seed, most))?;
    Ok((Box::new(permuted), lines))
}
