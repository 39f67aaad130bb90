//! Lines above the table of a delimited text: the separator, comments, and titles.

use std::collections::HashSet;

use crate::cells::Cells;
use crate::dialect::{LONGEST_RECORD, Separator};
use crate::error::{DataError, DialectError, Finding, Line, Remark};
use crate::header::{self, lossy};
use crate::lines::Lines;
use crate::marks::has_decimal_comma;
use crate::number::is_value;
use crate::options::ReadOptions;
use crate::printed;
use crate::row_names;

/// Lines above the first record.
pub(crate) struct Beginning {
    /// The separator, where the first line tells it.
    pub(crate) hint: Option<Separator>,
    pub(crate) comment: Option<Comment>,
    /// The line that a table begins on which a terminal printed, and true if a line of types
    /// stands below its names.
    pub(crate) printed: Option<(Line, bool)>,
    /// The first of the lines above such a table.
    pub(crate) title: Option<u64>,
}

/// Comments above the first record, the last of them.
pub(crate) struct Comment(String);

/// Goes to the first record that is no comment and no hint. Other lines are looked at only if this
/// `may_wait` for them.
pub(crate) fn to_first_record(lines: &mut Lines, may_wait: bool) -> Result<Beginning, DataError> {
    let mut beginning = Beginning { hint: None, comment: None, printed: None, title: None };
    let titles = |lines: &mut Lines| if may_wait { printed::titles_above(lines) } else { None };
    while lines.advance()? {
        if beginning.hint.is_none() && beginning.comment.is_none() {
            beginning.hint = hint(lines)?;
            if beginning.hint.is_some() {
                continue;
            }
        }
        if !lines.text().starts_with(b"#") {
            if let (None, Some(above)) = (beginning.hint, titles(lines)) {
                beginning.title = Some(lines.line_number());
                for _ in 0..above {
                    lines.advance()?;
                }
            }
            if let (None, Some(types)) = (beginning.hint, printed::of_printed(lines)) {
                (beginning.printed, beginning.hint) = (Some((lines.line(), types)), Some(Separator::Bar));
                if !lines.unframe() && !lines.advance()? {
                    break;
                }
            }
            return Ok(beginning);
        }
        beginning.comment = Some(Comment(lossy(lines.text())));
    }
    let file = lines.file().to_owned();
    Err(if beginning.comment.is_some() {
        DialectError::OnlyComments { file }.into()
    } else {
        DataError::Empty { file }
    })
}

/// The separator that a line such as `sep=;` tells, as spreadsheets write it.
fn hint(lines: &Lines) -> Result<Option<Separator>, DataError> {
    let text = String::from_utf8_lossy(lines.text());
    let told = text.trim_matches('"');
    let told = told.get(..4).filter(|key| key.eq_ignore_ascii_case("sep=")).map(|_| &told[4..]);
    let Some(symbol) = told.and_then(|told| told.chars().next()) else { return Ok(None) };
    let alone = told.is_some_and(|told| told.chars().all(|other| other == symbol));
    if !alone || symbol.is_alphanumeric() {
        return Ok(None);
    }
    match symbol.to_string().parse() {
        Ok(separator) => Ok(Some(separator)),
        Err(_) => Err(DialectError::UnknownHint { line: lines.line(), text: text.into_owned() }.into()),
    }
}

impl Comment {
    /// The names that it holds for the columns of a first record, if it is a header behind a `#`.
    pub(crate) fn names(&self, separator: Separator, first: &Cells) -> Option<Vec<String>> {
        if first.len() < 2 || !first.iter().any(|cell| is_value(cell) && !cell.trim_ascii().is_empty()) {
            return None;
        }
        let mut names = Cells::default();
        // A column may be called `#`.
        let is_name = names.whole(self.0.as_bytes(), separator) && names.iter().next() == Some(b"#");
        let is_name = is_name && names.len() == first.len();
        let text = if is_name { &self.0 } else { self.0.trim_start_matches('#').trim_start() };
        let texts = names.whole(text.as_bytes(), separator) && names.iter().all(|cell| !is_value(cell));
        (texts && names.len() == first.len()).then(|| names.iter().map(lossy).collect())
    }
}

/// Goes to the first record of the table, where `first`, the current one, is none of it. Gives what
/// separates the cells there, with what is to be told. `first` is then the record of the table.
pub(crate) fn pass_above(
    lines: &mut Lines,
    separators: (Separator, Option<Separator>),
    first: &mut Cells,
    options: &ReadOptions,
) -> Result<(Separator, Option<Remark>), DataError> {
    let names: Vec<String> = first.iter().map(lossy).collect();
    if header::told(&names, options).is_some() {
        return Ok((separators.0, None));
    }
    let known = above_known_names(lines, separators.0, &options.known).map(|above| (above, separators.0));
    let Some((above, separator)) = known.or_else(|| above_the_table(lines, separators, first)) else {
        return Ok((separators.0, None));
    };
    let (file, begin) = (lines.file().to_owned(), lines.line_number());
    for _ in 0..above {
        while lines.advance()? && lines.text().starts_with(b"#") {}
        first.split(lines, separator, LONGEST_RECORD)?;
    }
    Ok((separator, Some(Finding::LeftAbove { file, first: begin, table: lines.line_number() }.remark())))
}

/// Rows of a table by which it is known.
const ENOUGH: usize = 3;
/// Lines that are looked at behind the first record.
const MOST: usize = 24;

/// Shape of a record, to compare it with others.
struct RecordShape {
    /// Number of its cells, and of those that are filled.
    width: usize,
    filled: usize,
    /// True if one of them is a number or a date.
    values: bool,
}

impl RecordShape {
    fn from_cells(cells: &Cells) -> Self {
        let filled = || cells.iter().filter(|cell| !cell.trim_ascii().is_empty());
        Self {
            width: cells.len(),
            filled: filled().count(),
            values: filled().any(|cell| is_value(cell) || has_decimal_comma(cell)),
        }
    }

    /// A record that cannot be split.
    const NONE: Self = Self { width: 0, filled: 0, values: false };

    /// True if most of its cells are empty, as where a title fills a row of a spreadsheet.
    fn is_padded(&self) -> bool {
        self.width > 2 && 2 * self.filled <= self.width
    }
}

/// Records, the current one and those behind it, that are no part of the table below them, with
/// what separates its cells. Only a record of text is looked behind, and no further than the next
/// where that is a row of values. `found` is what separates the cells of the first record, `told`
/// what separates all.
fn above_the_table(
    lines: &mut Lines,
    (found, told): (Separator, Option<Separator>),
    first: &Cells,
) -> Option<(usize, Separator)> {
    let shape = RecordShape::from_cells(first);
    // Whoever writes a row of values and waits is answered at once.
    if shape.values || row_names::are_there(lines, found, first) {
        return None;
    }
    let (next, mut cells) = (next_record(lines)?, Cells::default());
    let below = if cells.whole(next.text(), found) { RecordShape::from_cells(&cells) } else { RecordShape::NONE };
    // An empty line between them parts what describes a table from the table, as in files of the
    // World Bank.
    let is_parted = next.skipped() > 0;
    if below.width == shape.width && below.values && !shape.is_padded() && !is_parted {
        return None;
    }
    if below.width == shape.width && is_grouped(lines, found, first) {
        return Some((1, found));
    }
    // Where there is one cell nothing has been found.
    let found = Some(found).filter(|_| told.is_some() || shape.width > 1);
    let others = Separator::ALL.into_iter().filter(|&rival| rival != Separator::Spaces && Some(rival) != found);
    for separator in found.into_iter().chain(others.filter(|_| told.is_none())) {
        let split =
            if cells.whole(lines.text(), separator) { RecordShape::from_cells(&cells) } else { RecordShape::NONE };
        let mut shapes = vec![split];
        let mut behind = lines.ahead(MOST);
        while let Ok(true) = behind.advance() {
            if !behind.text().starts_with(b"#") {
                let split = cells.split(&mut behind, separator, LONGEST_RECORD);
                shapes.push(split.map_or(RecordShape::NONE, |()| RecordShape::from_cells(&cells)));
            }
        }
        if let Some(above) = narrower(&shapes).or_else(|| padded(&shapes)) {
            return Some((above, separator));
        }
        if shape.width > 1 && shapes.iter().all(|other| other.width == shape.width) {
            return None;
        }
    }
    None
}

/// Number of records, the current one and those behind it, above one that has most of the names
/// that are known.
fn above_known_names(lines: &mut Lines, separator: Separator, known: &[String]) -> Option<usize> {
    if known.len() < 2 {
        return None;
    }
    let (mut behind, mut cells, mut above) = (lines.ahead(MOST), Cells::default(), 0);
    while let Ok(true) = behind.advance() {
        above += usize::from(!behind.text().starts_with(b"#"));
        if cells.split(&mut behind, separator, LONGEST_RECORD).is_ok() {
            let names: HashSet<String> = cells.iter().map(lossy).collect();
            if 2 * known.iter().filter(|name| names.contains(*name)).count() > known.len() {
                return Some(above);
            }
        }
    }
    None
}

/// True if a first record names groups of columns, which fill several cells of a spreadsheet: some
/// of its cells are empty or alike, those of the record below are names that differ, and a row
/// follows.
fn is_grouped(lines: &mut Lines, separator: Separator, first: &Cells) -> bool {
    let differ = |cells: &Cells| {
        let mut seen = HashSet::new();
        cells.iter().all(|cell| !cell.trim_ascii().is_empty() && seen.insert(cell.trim_ascii().to_vec()))
    };
    let (mut behind, mut cells) = (lines.ahead(2), Cells::default());
    let mut next = || {
        let there = matches!(behind.advance(), Ok(true));
        (there && cells.split(&mut behind, separator, LONGEST_RECORD).is_ok())
            .then(|| (RecordShape::from_cells(&cells), differ(&cells)))
    };
    let (Some((names, true)), Some((row, _))) = (next(), next()) else { return false };
    !differ(first) && !names.values && row.values && row.width == first.len() && row.filled >= first.len().div_ceil(2)
}

/// At the record behind the current one, with no line taken beyond it: whoever writes may wait for
/// an answer to it.
fn next_record(lines: &mut Lines) -> Option<Lines> {
    (1..=MOST).find_map(|most| {
        let mut next = lines.ahead(most);
        next.advance().ok()?.then_some(next)
    })
}

/// Number of records above a table whose rows have more cells than any of these.
fn narrower(shapes: &[RecordShape]) -> Option<usize> {
    let width = shapes.last()?.width;
    let above = shapes.iter().rposition(|other| other.width != width)? + 1;
    let fits = shapes.len() - above >= ENOUGH && shapes[..above].iter().all(|other| other.width < width);
    fits.then_some(above)
}

/// Number of records that fill few of their cells, above names and the rows below these.
fn padded(shapes: &[RecordShape]) -> Option<usize> {
    let above = shapes.iter().position(|shape| !shape.is_padded())?;
    let [names, rows @ ..] = &shapes[above..] else { return None };
    let rows = rows.get(..ENOUGH)?;
    let is_row = |row: &RecordShape| row.width == names.width && row.values && !row.is_padded();
    let fits = above > 0 && !names.values && shapes[..above].iter().all(|other| other.width == names.width);
    (fits && rows.iter().all(is_row)).then_some(above)
}
