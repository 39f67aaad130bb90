//! CSV and TSV: cells between separators, with or without a header, with or without quotes.
//!
//! A row of plain numbers, which is nearly every row, is split and parsed in one go. Anything else (quotes, blanks around
//! numbers, something wrong) goes the careful way, which understands quotes as RFC 4180 writes them (a quote counts only at the
//! beginning of a cell, `""` within is one quote, separators and line ends within are text) and knows the place of every cell. A number
//! goes over one line, so only the header, and rows with columns that are not looked at, may go over several: a stray quote
//! spoils its own line and no other.

use crate::columns::{Plan, Role};
use crate::error::DataError;
use crate::lines::Lines;
use crate::number::{self, Parsed};
use crate::options::{ColumnChoice, Header, Missing, ReadOptions, TargetColumn};

/// Most lines that a record in quotes may go over. A stray quote would otherwise swallow the file.
const LONGEST_RECORD: usize = 100;

/// The rows of a delimited file, behind its header.
pub(crate) struct Delimited {
    separator: u8,
    names: Option<Vec<String>>,
    plan: Plan,
    missing: Missing,
    /// Lines that a row may go over.
    longest: usize,
    /// The current record is a row not yet given out: the first, when there is no header, and one behind blank lines that are rows.
    pending: bool,
    /// Blank lines before the current record that are rows not yet given out.
    blank: u64,
    /// Whether a row has been given out.
    begun: bool,
    cells: Cells,
}

impl Delimited {
    /// Takes the first row, decides whether it is a header and finds the target.
    pub(crate) fn begin(lines: &mut Lines, separator: u8, options: &ReadOptions) -> Result<Self, DataError> {
        if !lines.advance()? {
            return Err(DataError::Empty { file: lines.file().to_owned() });
        }
        let mut cells = Cells::default();
        cells.split(lines, separator, LONGEST_RECORD)?;
        let first: Vec<String> = cells.iter().map(lossy).collect();
        let header = is_header(lines, &cells, &first, options)?;
        let columns = first.len();
        let names = header.then_some(first);
        let plan = Plan::new(lines.file(), columns, names.as_deref(), options)?;
        let longest = if plan.ignores() { LONGEST_RECORD } else { 1 };
        Ok(Self {
            separator,
            names,
            plan,
            missing: options.missing,
            longest,
            pending: !header,
            blank: 0,
            begun: false,
            cells,
        })
    }

    pub(crate) fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Appends the features of the next row to `features` and gives its target, if the table has one; `None` at the end. After
    /// an error `features` may have grown.
    pub(crate) fn row(&mut self, lines: &mut Lines, features: &mut Vec<f64>) -> Result<Option<Option<f64>>, DataError> {
        if self.blank == 0 && !std::mem::take(&mut self.pending) {
            if !lines.advance()? {
                return Ok(None);
            }
            if self.begun && self.blank_lines_are_rows() {
                self.blank = lines.skipped();
                self.pending = self.blank > 0;
            }
        }
        self.begun = true;
        if self.blank > 0 {
            self.blank -= 1;
            features.push(f64::NAN);
            return Ok(Some(None));
        }
        self.pending = false;
        let before = features.len();
        features.resize(before + self.plan.dimension(), 0.0);
        let row = &mut features[before..];
        if let Some(target) = self.quick(lines.text(), row) {
            return Ok(Some(target));
        }
        self.careful(lines, row).map(Some)
    }

    /// A row of one cell without a value is a blank line, where cells may be without a value.
    fn blank_lines_are_rows(&self) -> bool {
        self.plan.columns() == 1 && self.plan.dimension() == 1 && self.missing == Missing::Nan
    }

    /// A row of the right number of plain finite numbers; `None` is anything else.
    #[inline]
    fn quick(&self, mut text: &[u8], row: &mut [f64]) -> Option<Option<f64>> {
        let mut target = None;
        let columns = self.plan.columns();
        for column in 0..columns {
            let (value, length) = number::quick(text)?;
            match self.plan.role(column) {
                Role::Feature(slot) => row[slot] = value,
                Role::Target => target = Some(value),
                Role::Ignored => {}
            }
            let last = column + 1 == columns;
            match text.get(length) {
                Some(&byte) if byte == self.separator && !last => text = &text[length + 1..],
                None if last => return Some(target),
                _ => return None,
            }
        }
        None
    }

    fn careful(&mut self, lines: &mut Lines, row: &mut [f64]) -> Result<Option<f64>, DataError> {
        self.cells.split(lines, self.separator, self.longest)?;
        let (got, expected) = (self.cells.ends.len(), self.plan.columns());
        if got != expected {
            // A quote that opens on one line and is closed on another by chance.
            lines.unjoin();
            return Err(DataError::Ragged { line: lines.line(), expected, got });
        }
        let mut target = None;
        for (column, bytes) in self.cells.iter().enumerate() {
            let role = self.plan.role(column);
            if role == Role::Ignored {
                continue;
            }
            let place = || lines.cell(column, self.names.as_ref().map(|names| names[column].as_str()));
            let value = match number::parse(bytes) {
                Parsed::Number(value) => value,
                Parsed::Nan | Parsed::Empty if self.missing == Missing::Nan => f64::NAN,
                Parsed::Nan | Parsed::NotFinite => {
                    return Err(DataError::NotFinite { cell: place(), value: lossy(bytes) });
                }
                Parsed::Text => {
                    return Err(DataError::NotANumber { cell: place(), value: lossy(bytes) });
                }
                Parsed::Empty if role == Role::Target => {
                    return Err(DataError::MissingTarget { cell: place() });
                }
                Parsed::Empty => return Err(DataError::EmptyCell { cell: place() }),
            };
            match role {
                Role::Feature(slot) => row[slot] = value,
                Role::Target | Role::Ignored => target = Some(value),
            }
        }
        Ok(target)
    }
}

/// The rule is told at [`Header::Detect`].
fn is_header(lines: &Lines, cells: &Cells, first: &[String], options: &ReadOptions) -> Result<bool, DataError> {
    match options.header {
        Header::Present => return Ok(true),
        Header::Absent => return Ok(false),
        Header::Detect => {}
    }
    let ignored = |name: &ColumnChoice| matches!(name, ColumnChoice::Name(name) if first.contains(name));
    let named = !options.features.is_empty() && options.features.iter().all(|name| first.contains(name));
    if matches!(&options.target, TargetColumn::Name(name) if first.contains(name))
        || options.ignore.iter().any(ignored)
        || named
    {
        return Ok(true);
    }
    let mut kinds: Vec<Parsed> = cells.iter().map(number::parse).collect();
    for choice in &options.ignore {
        if let ColumnChoice::Index(number) = choice
            && let Some(kind) = kinds.get_mut(number.wrapping_sub(1))
        {
            *kind = Parsed::Empty;
        }
    }
    let Some(text) = kinds.iter().position(|kind| *kind == Parsed::Text) else {
        return Ok(false);
    };
    if kinds.iter().any(|kind| matches!(kind, Parsed::Number(_) | Parsed::Nan | Parsed::NotFinite)) {
        return Err(DataError::DoubtfulHeader { cell: lines.cell(text, None), value: first[text].clone() });
    }
    Ok(true)
}

fn lossy(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}

/// The unquoted cells of one record, in one buffer.
#[derive(Default)]
struct Cells {
    bytes: Vec<u8>,
    /// Where each cell ends in `bytes`.
    ends: Vec<usize>,
}

impl Cells {
    /// Splits the current record, and takes the lines that follow while it ends within quotes: `longest` in all at most.
    fn split(&mut self, lines: &mut Lines, separator: u8, longest: usize) -> Result<(), DataError> {
        for taken in 1..=longest {
            if self.fill(lines.text(), separator) {
                return Ok(());
            }
            if taken == longest || !lines.join()? {
                break;
            }
        }
        lines.unjoin();
        Err(DataError::UnclosedQuote { line: lines.line(), limit: longest })
    }

    /// Splits `text`; false if it ends within quotes.
    fn fill(&mut self, text: &[u8], separator: u8) -> bool {
        self.bytes.clear();
        self.ends.clear();
        let mut rest = text;
        loop {
            if let [b'"', quoted @ ..] = rest {
                match self.unquote(quoted) {
                    Some(after) => rest = after,
                    None => return false,
                }
            }
            // What is left of the cell: all of it, or whatever a sloppy writer put behind the closing quote.
            match rest.iter().position(|&byte| byte == separator) {
                Some(end) => {
                    self.bytes.extend_from_slice(&rest[..end]);
                    self.ends.push(self.bytes.len());
                    rest = &rest[end + 1..];
                }
                None => {
                    self.bytes.extend_from_slice(rest);
                    self.ends.push(self.bytes.len());
                    return true;
                }
            }
        }
    }

    /// Takes text up to the closing quote and gives what follows; `None` if there is no closing quote.
    fn unquote<'a>(&mut self, mut quoted: &'a [u8]) -> Option<&'a [u8]> {
        loop {
            let end = quoted.iter().position(|&byte| byte == b'"')?;
            self.bytes.extend_from_slice(&quoted[..end]);
            quoted = &quoted[end + 1..];
            match quoted {
                [b'"', rest @ ..] => {
                    self.bytes.push(b'"');
                    quoted = rest;
                }
                _ => return Some(quoted),
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let cell = &self.bytes[begin..end];
            begin = end;
            cell
        })
    }
}
