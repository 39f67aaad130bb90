//! CSV and TSV: cells between separators, with or without a header, with or without quotes.
//!
//! A row of plain numbers, which is nearly every row, is split and parsed in one go. Anything else
//! (quotes, blanks around numbers, something wrong) goes the careful way, which understands quotes
//! as RFC 4180 writes them (a quote counts only at the beginning of a cell, `""` within is one
//! quote, separators and line ends within are text) and knows the place of every cell. A number
//! goes over one line, so only the header, and rows with columns that are not looked at, may go
//! over several: a stray quote spoils its own line and no other.

use crate::cells::{self, Cells};
use crate::columns::{ColumnPlan, Role};
use crate::dialect::{LONGEST_RECORD, Marks, Separator};
use crate::error::{CellPlace, DataError, DialectError, Finding, Remark};
use crate::first_cells::{FirstCells, FirstNames};
use crate::head::TargetHead;
use crate::header::{self, lossy};
use crate::labels::Labels;
use crate::lines::{HEAD_LINES, Lines};
use crate::marks::{self, CellReading, MarkSearch, Notation};
use crate::number::{self, ParsedCell};
use crate::options::ReadOptions;
use crate::record::Record;
use crate::rows::{Next, Rows};
use mercer_core::{Cell, is_gap_mark};

/// The rows of a delimited file, behind its header.
pub(crate) struct Delimited {
    separator: Separator,
    notation: Notation,
    /// Remarks that a person should know, until they are asked for.
    remarks: Vec<Remark>,
    names: Option<Vec<String>>,
    plan: ColumnPlan,
    doubt: Option<String>,
    /// The names, if a row that holds them all is the header once more; and its line, if that could
    /// be read as a row.
    repeated: Option<Vec<String>>,
    numeric_header: Option<Vec<u8>>,
    /// The options while the first row may be one of units.
    units: Option<ReadOptions>,
    /// True if cells may hold anything.
    records: bool,
    /// The current record is a row not yet given out: the first, when there is no header, and one
    /// behind blank lines that are rows.
    pending: bool,
    /// Blank lines before the current record that are rows not yet given out.
    blank: u64,
    /// Memory for rows whose decimal commas are written as points.
    points: Vec<u8>,
    /// True if a row has been given out.
    begun: bool,
    /// True if a row began with `#`, so that no line is a comment any more.
    marked_rows: bool,
    /// True if a line with cells was taken for a comment, and that was told.
    told_comment: bool,
    cells: Cells,
}

impl Delimited {
    /// Takes the first row, decides whether it is a header and finds the columns. `separator` is
    /// the format's, if it has one of its own; the options go before it. `records` says that cells
    /// may hold anything, `may_wait` that the first row is not asked for before the next is there.
    pub(crate) fn begin(
        lines: &mut Lines,
        separator: Option<Separator>,
        options: &ReadOptions,
        (records, may_wait): (bool, bool),
    ) -> Result<Self, DataError> {
        let mut first = FirstCells::find(lines, separator, options, may_wait)?;
        let FirstNames { names, header, doubt } = first.names(lines, options, (records, may_wait))?;
        let FirstCells { cells, separator, remarks, .. } = first;
        let columns = cells.len();
        let plan = ColumnPlan::new(lines.file(), columns, names.as_deref(), options)?;
        let repeated = names.clone().filter(|names| header::distinct(names, options));
        // A repeated header that could be read as a row is known by its text.
        let line = repeated
            .as_ref()
            .filter(|names| names.iter().all(|name| number::parse(name.as_bytes()) != ParsedCell::Text));
        let numeric_header = line.map(|_| lines.text().to_vec());
        let looks_for_units = names.is_some() && options.known.is_empty() && options.features.is_empty();
        Ok(Self {
            separator,
            notation: Notation::new(options, separator, columns),
            remarks,
            names,
            plan,
            doubt,
            repeated,
            numeric_header,
            units: looks_for_units.then(|| options.clone()),
            records,
            pending: !header,
            blank: 0,
            points: Vec::new(),
            begun: false,
            marked_rows: false,
            told_comment: false,
            cells,
        })
    }

    /// Goes to the next row; false at the end. A row that a blank line is has no cell.
    fn advance(&mut self, lines: &mut Lines) -> Result<bool, DataError> {
        if self.blank == 0 && !std::mem::take(&mut self.pending) {
            let mut skipped = 0;
            loop {
                if !lines.advance()? {
                    return Ok(false);
                }
                skipped += lines.skipped();
                let is_marked = lines.text().starts_with(b"#");
                if !is_marked || !self.is_comment(lines) {
                    self.marked_rows |= is_marked;
                    break;
                }
            }
            if self.begun && self.blank_lines_are_rows() {
                self.blank = skipped;
                self.pending = self.blank > 0;
            }
        }
        lines.stand_ahead(self.blank);
        self.begun = true;
        Ok(true)
    }

    /// True if a line that begins with `#` is no row: it has other cells than a row, or a row may
    /// hold whatever it likes.
    fn is_comment(&mut self, lines: &mut Lines) -> bool {
        let columns = self.plan.columns();
        if columns == 1 {
            // Where cells may hold anything, `#sale` is one.
            let behind = lines.text().get(1);
            return !self.records || behind.is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'#');
        }
        let split = self.cells.split(lines, self.separator, 1);
        let differs = split.is_err() || self.cells.len() != columns;
        let several = self.cells.len() > 1;
        let is_comment = differs && !(self.marked_rows && several);
        if is_comment && self.begun && several && !std::mem::replace(&mut self.told_comment, true) {
            self.remarks.push(Finding::Comment(lines.line()).remark());
        }
        is_comment
    }

    /// True if the row is a blank line, which it then is no longer.
    fn take_blank(&mut self) -> bool {
        let blank = self.blank > 0;
        if blank {
            self.blank -= 1;
        } else {
            self.pending = false;
        }
        blank
    }

    /// Makes a record of the cells of the current row; false if the rows behind it are to be looked
    /// at before.
    fn cells_into(&mut self, lines: &Lines, record: &mut Record) -> Result<bool, DataError> {
        let Self { cells, plan, names, notation, remarks, .. } = self;
        record.blank(plan.width());
        for (column, bytes) in cells.iter().enumerate() {
            let place = || lines.cell(column, names.as_ref().map(|names| names[column].as_str()));
            let slot = match plan.role(column) {
                Role::Ignored => continue,
                Role::Label(_) if notation.gaps().has_text(bytes) => continue,
                Role::Label(slot) => match std::str::from_utf8(bytes) {
                    Ok(text) => {
                        record.set(slot, number::text_cell(text));
                        continue;
                    }
                    Err(_) => return Err(DataError::CellEncoding { cell: place() }),
                },
                Role::Value(slot) => slot,
            };
            let read = parse((notation, remarks), bytes, (lines.line_number(), column), place)?;
            let Some(parsed) = read else { return Ok(false) };
            let cell = match parsed {
                ParsedCell::Number(value) => match std::str::from_utf8(bytes) {
                    Ok(text) => Cell::Numeral(value, text.trim()),
                    Err(_) => Cell::Number(value),
                },
                ParsedCell::Empty => Cell::Missing,
                // A name may be called so.
                ParsedCell::NotFinite if !notation.holds_text(column) => {
                    return Err(DataError::NotFinite { cell: place(), value: lossy(bytes) });
                }
                ParsedCell::NotFinite | ParsedCell::Nan | ParsedCell::Text => match std::str::from_utf8(bytes) {
                    Ok(text) => {
                        let cell = number::text_cell(text);
                        if matches!(cell, Cell::Text(text) if !is_gap_mark(text)) {
                            notation.see_text(column);
                        }
                        cell
                    }
                    Err(_) => return Err(DataError::CellEncoding { cell: place() }),
                },
            };
            record.set(slot, cell);
        }
        Ok(true)
    }

    /// Writes decimal commas as points; false where commas, or points, are something else.
    fn with_points(&self, text: &[u8], points: &mut Vec<u8>) -> bool {
        let decimal = self.separator != Separator::Comma
            && self.plan.label().is_none()
            && !text.contains(&b'.')
            && !self.notation.knows_text();
        if decimal {
            points.clear();
            points.extend(text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }));
        }
        decimal
    }

    /// A row of one cell without a value is a blank line, whether or not that is an error.
    fn blank_lines_are_rows(&self) -> bool {
        self.plan.columns() == 1 && self.plan.dimension() == 1
    }

    /// A row of the right number of plain finite numbers, and plain text for a label; `None` is
    /// anything else.
    #[inline]
    fn quick(&mut self, mut text: &[u8], line: u64, row: &mut [f64], label: &mut String) -> Option<()> {
        if matches!(self.separator, Separator::Twice(_)) {
            return None;
        }
        let (columns, spaces) = (self.plan.columns(), self.separator == Separator::Spaces);
        let (separator, open) = (self.separator.byte(), self.notation.is_open() && text.contains(&b'.'));
        let separates = |byte: u8| byte == separator || (spaces && byte == b'\t');
        if spaces {
            text = text.trim_ascii();
        }
        for column in 0..columns {
            let role = self.plan.role(column);
            let length = if matches!(role, Role::Label(_)) {
                self.quick_label(text, label)?
            } else {
                let (value, length) = number::quick(text)?;
                if let Role::Value(slot) = role {
                    row[slot] = value;
                }
                length
            };
            let last = column + 1 == columns;
            if open
                && matches!(role, Role::Value(_))
                && text.get(length).map_or(last, |&byte| separates(byte))
                && !self.notation.see(&text[..length], line, column)
            {
                return None;
            }
            match text.get(length) {
                Some(&byte) if separates(byte) && !last => {
                    text = &text[length + 1..];
                    if spaces {
                        text = text.trim_ascii_start();
                    }
                }
                None if last => return Some(()),
                _ => return None,
            }
        }
        None
    }

    /// The label that `text` begins with, if it has no quotes, and how many bytes it takes.
    fn quick_label(&self, text: &[u8], label: &mut String) -> Option<usize> {
        let length = text.iter().position(|&byte| self.separator.is(byte)).unwrap_or(text.len());
        let cell = text[..length].trim_ascii();
        if matches!(cell, [] | [b'"', ..]) {
            return None;
        }
        Labels::canonical(std::str::from_utf8(cell).ok()?, label);
        (!label.is_empty()).then_some(length)
    }

    /// Splits the current row into its cells, as many as there are columns.
    fn split(&mut self, lines: &mut Lines) -> Result<(), DataError> {
        // A number stands on one line, so that a stray quote spoils that alone.
        let texts = self.records || self.plan.ignores() || self.plan.label().is_some();
        let escaped = self.cells.has_escapes();
        self.cells.split(lines, self.separator, if texts { LONGEST_RECORD } else { 1 })?;
        if self.cells.has_escapes() && !escaped {
            self.remarks.push(Finding::Escapes(lines.line()).remark());
        }
        let (got, expected) = (self.cells.len(), self.plan.columns());
        if got != expected {
            // A quote that opens on one line and is closed on another by chance.
            lines.unjoin();
            return Err(DataError::Ragged { line: lines.line(), expected, got });
        }
        if self.repeated.as_ref().is_some_and(|names| header::repeats(&self.cells, names)) {
            return Err(DataError::RepeatedHeader { line: lines.line() });
        }
        let unit = match self.units.take() {
            Some(options) => header::unit(lines, self.separator, &self.cells, &options),
            None => None,
        };
        match (unit, self.cells.iter().nth(unit.unwrap_or(0))) {
            (Some(column), Some(cell)) => {
                let name = self.names.as_ref().map(|names| names[column].as_str());
                Err(DataError::Units { cell: lines.cell(column, name), value: lossy(cell) })
            }
            _ => Ok(()),
        }
    }

    /// Looks at the current row and those behind it, and learns of their marks.
    fn look(&mut self, lines: &mut Lines) {
        let Self { cells, plan, notation, separator, .. } = self;
        let mut look = MarkSearch::new(plan.columns());
        let is_there = |(_, cell): &(usize, &[u8])| !notation.gaps().has_text(cell);
        numbers(cells, plan).filter(is_there).for_each(|(column, cell)| look.see(cell, lines.line_number(), column));
        let line = lines.line_number();
        cells::behind(lines, *separator, (HEAD_LINES, plan.columns()), |behind, others| {
            let line = line + behind.line_number();
            numbers(others, plan).filter(is_there).for_each(|(column, cell)| look.see(cell, line, column));
        });
        notation.learn(&look);
        notation.go_on(lines.line_number());
    }
}

impl Rows for Delimited {
    fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    fn plan_mut(&mut self) -> &mut ColumnPlan {
        &mut self.plan
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn head(&mut self, lines: &mut Lines, target: usize, options: &ReadOptions) -> Result<TargetHead, DataError> {
        let mut head = TargetHead::default();
        if let Some(first) = self.cells.iter().nth(target).filter(|_| self.pending) {
            head.see(marks::kind(first, options));
        }
        let below = self.names.as_deref().map(|names| (names, options));
        for text in header::ahead(lines, self.separator, self.plan.columns(), target, below) {
            head.see(marks::kind(text.as_bytes(), options));
        }
        Ok(head)
    }

    fn record(&mut self, lines: &mut Lines, record: &mut Record) -> Result<bool, DataError> {
        if !self.advance(lines)? {
            return Ok(false);
        }
        if self.take_blank() {
            record.push(Cell::Missing);
            return Ok(true);
        }
        self.split(lines)?;
        let mut known = self.notation.known();
        loop {
            match self.cells_into(lines, record) {
                Ok(true) => return Ok(true),
                Ok(false) => {
                    self.look(lines);
                    known = self.notation.known();
                }
                Err(error) => {
                    self.notation.back_to(known);
                    return Err(error);
                }
            }
        }
    }

    fn numbers(&mut self, lines: &mut Lines, row: &mut [f64], label: &mut String) -> Result<Next, DataError> {
        if !self.advance(lines)? {
            return Ok(Next::End);
        }
        if self.blank > 0 {
            return Ok(Next::Record);
        }
        if self.numeric_header.as_deref() == Some(lines.text()) {
            return Err(DataError::RepeatedHeader { line: lines.line() });
        }
        let (line, known) = (lines.line_number(), self.notation.known());
        let read = if !self.notation.gaps().is_empty() {
            None
        } else if self.notation.may_be_points() {
            self.quick(lines.text(), line, row, label)
        } else {
            let mut points = std::mem::take(&mut self.points);
            let decimal = self.with_points(lines.text(), &mut points);
            let read = if decimal { self.quick(&points, line, row, label) } else { None };
            self.points = points;
            read
        };
        // What is wrong with a weight is for whoever takes the record to tell.
        let weighs = self.plan.weight().is_none() || row.last().is_some_and(|weight| *weight >= 0.0);
        if read.is_none() || !weighs {
            self.notation.back_to(known);
            self.pending = true;
            return Ok(Next::Record);
        }
        // It is none of units.
        self.units = None;
        Ok(Next::Numbers)
    }

    fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    fn take_remark(&mut self) -> Option<Remark> {
        (!self.remarks.is_empty()).then(|| self.remarks.remove(0))
    }

    fn marks(&self) -> Marks {
        self.notation.marks()
    }

    fn has_header(&self) -> bool {
        self.names.is_some()
    }
}

/// The cells of a row that are looked at for numbers, with their columns.
fn numbers<'a>(cells: &'a Cells, plan: &'a ColumnPlan) -> impl Iterator<Item = (usize, &'a [u8])> {
    let are_numbers = |column: usize| matches!(plan.role(column), Role::Value(_));
    cells.iter().enumerate().filter(move |(column, _)| are_numbers(*column))
}

/// Value of a cell at that line and column, by the marks of the file; `None` if the rows behind it
/// are to be looked at before.
fn parse(
    (notation, remarks): (&mut Notation, &mut Vec<Remark>),
    bytes: &[u8],
    (line, column): (u64, usize),
    place: impl Fn() -> CellPlace,
) -> Result<Option<ParsedCell>, DataError> {
    let told = notation.tells_groups();
    match notation.read(bytes, line, column) {
        CellReading::Parsed(parsed) => Ok(Some(parsed)),
        CellReading::Grouped(parsed, mark) => {
            if let (false, ParsedCell::Number(value)) = (told, parsed) {
                let (cell, text) = (place(), lossy(bytes));
                remarks.push(Finding::ReadAsThousands { cell, text, value, mark }.remark());
            }
            Ok(Some(parsed))
        }
        CellReading::Asks => Ok(None),
        CellReading::Mixed(first) => {
            Err(DialectError::MixedDecimals { cell: place(), value: lossy(bytes), first }.into())
        }
        CellReading::Doubtful(mark) => {
            Err(DialectError::DoubtfulMark { cell: place(), value: lossy(bytes), mark }.into())
        }
    }
}
