//! The first record of a delimited text: its cells, what separates them, and the names in it.

use crate::beginning::{Beginning, Comment, pass_above, to_first_record};
use crate::cells::{self, Cells};
use crate::dialect::{Decimal, LONGEST_RECORD, Separator};
use crate::error::{DataError, DialectError, Finding, Line, Remark};
use crate::header::{self, FirstRecord, lossy};
use crate::lines::{HEAD_LINES, Lines};
use crate::options::{Header, ReadOptions};
use crate::orange;
use crate::other_format;
use crate::row_names;
use crate::separator;

/// The first record, and what was found on the way to it.
pub(crate) struct FirstCells {
    pub(crate) cells: Cells,
    pub(crate) separator: Separator,
    pub(crate) remarks: Vec<Remark>,
    comment: Option<Comment>,
    /// As in [`Beginning`].
    printed: Option<(Line, bool)>,
}

/// What the first record is.
pub(crate) struct FirstNames {
    pub(crate) names: Option<Vec<String>>,
    pub(crate) header: bool,
    /// Why that is in doubt.
    pub(crate) doubt: Option<String>,
}

impl FirstCells {
    /// Goes to the first record. `separator` is the format's, if it has one of its own; the options
    /// go before it. `may_wait` says that the record is not asked for before the next is there.
    pub(crate) fn find(
        lines: &mut Lines,
        separator: Option<Separator>,
        options: &ReadOptions,
        may_wait: bool,
    ) -> Result<Self, DataError> {
        let Beginning { hint, comment, printed, title } = to_first_record(lines, may_wait)?;
        if let Some(other) = other_format::of_record(lines, may_wait) {
            return Err(other.error(lines.file()).into());
        }
        let told = options.separator.or(hint).or(separator);
        let remarks = printed.iter().map(|(line, _)| Finding::Printed { line: line.clone(), title }.remark()).collect();
        let mut cells = Cells::default();
        let separator = told.unwrap_or_else(|| separator::find(lines, &mut cells));
        if let (Some(mark), Some(thousands)) = (options.decimal, options.thousands)
            && thousands.as_decimal() == Some(mark)
        {
            return Err(DialectError::MarkTwice { file: lines.file().to_owned(), mark }.into());
        }
        cells.split(lines, separator, LONGEST_RECORD)?;
        let mut first = Self { cells, separator, remarks, comment, printed };
        if may_wait {
            first.without_ends(lines, options);
            let (separator, above) = pass_above(lines, (separator, told), &mut first.cells, options)?;
            first.separator = separator;
            if above.is_some() {
                first.remarks.extend(above);
                first.without_ends(lines, options);
            }
            if options.header != Header::Absent && row_names::are_there(lines, separator, &first.cells) {
                first.cells.put_empty_first();
                first.remarks.push(Finding::RowNames(lines.line()).remark());
            }
        }
        let twice = (first.separator, options.decimal) == (Separator::Comma, Some(Decimal::Comma));
        if twice && !quotes_commas(lines, &first.cells) {
            return Err(DialectError::CommaTwice { file: lines.file().to_owned() }.into());
        }
        Ok(first)
    }

    /// Leaves out separators that end every line.
    fn without_ends(&mut self, lines: &mut Lines, options: &ReadOptions) {
        let Self { cells, separator, remarks, .. } = self;
        let ends = if options.header == Header::Absent { 0 } else { header::ends_lines(lines, *separator, cells) };
        if ends > 0 {
            lines.ends_with(separator.byte(), ends * separator.length());
            cells.whole(lines.text(), *separator);
            remarks.push(Finding::EndsLines(lines.line()).remark());
        }
    }

    /// Decides whether the record is a header, and passes lines of types below it. `records` says
    /// that cells may hold anything.
    pub(crate) fn names(
        &mut self,
        lines: &mut Lines,
        options: &ReadOptions,
        (records, may_wait): (bool, bool),
    ) -> Result<FirstNames, DataError> {
        let Self { cells, separator, remarks, comment, printed } = self;
        let (cells, separator) = (&*cells, *separator);
        let first: Vec<String> = cells.iter().map(lossy).collect();
        let above = comment.take().filter(|_| options.header != Header::Absent);
        let above = above.and_then(|comment| comment.names(separator, cells));
        let mut found = match above {
            Some(_) => FirstRecord { header: false, doubt: None },
            // The rule below it tells.
            None if printed.is_some() && options.header == Header::Detect => FirstRecord { header: true, doubt: None },
            None => header::find(lines, separator, (cells, &first), options, records)?,
        };
        if let (true, Some(column)) = (found.header, cells.iter().position(|cell| std::str::from_utf8(cell).is_err())) {
            return Err(DataError::CellEncoding { cell: lines.cell(column, None) });
        }
        let columns = first.len();
        let names = above.or(found.header.then_some(first));
        if let (true, true, Some(names)) = (may_wait, found.header, &names)
            && let Some(class) = orange::find(lines, separator, columns)
        {
            let class = class.filter(|class| class + 1 < columns).map(|class| names[class].clone());
            found.doubt = None;
            // Both are there.
            let line = lines.advance()?.then(|| lines.line());
            lines.advance()?;
            remarks.extend(line.map(|line| Finding::Orange { line, class }.remark()));
        }
        let doubt = found.doubt.map(|doubt| doubt.told(lines.file(), lines.line().number, found.header));
        // DuckDB has the types there.
        if let (true, Some((_, true))) = (found.header, printed) {
            lines.advance()?;
        }
        Ok(FirstNames { names, header: found.header, doubt })
    }
}

/// True if commas that separate cells stand within cells as well, in quotes, as far as a look goes.
fn quotes_commas(lines: &mut Lines, first: &Cells) -> bool {
    let any = |cells: &Cells| cells.iter().any(|cell| cell.contains(&b','));
    let mut found = any(first);
    cells::behind(lines, Separator::Comma, (HEAD_LINES, first.len()), |_, cells| found |= any(cells));
    found
}
