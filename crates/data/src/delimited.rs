//! CSV and TSV: cells between separators, with or without a header, with or without quotes.
//!
//! A row of plain numbers, which is nearly every row, is split and parsed in one go. Anything else (quotes, blanks around
//! numbers, something wrong) goes the careful way, which understands quotes as RFC 4180 writes them (a quote counts only at the
//! beginning of a cell, `""` within is one quote, separators and line ends within are text) and knows the place of every cell. A number
//! goes over one line, so only the header, and rows with columns that are not looked at, may go over several: a stray quote
//! spoils its own line and no other.

use crate::cells::Cells;
use crate::columns::{Beside, Plan, Role};
use crate::error::{Cell, DataError};
use crate::head::TargetHead;
use crate::labels::Labels;
use crate::lines::Lines;
use crate::number::{self, Parsed};
use crate::options::{ColumnChoice, Header, Missing, ReadOptions, TargetColumn, Targets};

/// Most lines that a record in quotes may go over. A stray quote would otherwise swallow the file.
const LONGEST_RECORD: usize = 100;

/// The rows of a delimited file, behind its header.
pub(crate) struct Delimited {
    separator: u8,
    names: Option<Vec<String>>,
    plan: Plan,
    /// What the first rows hold as their target, if that was to be found out.
    head: Option<TargetHead>,
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
    /// Takes the first row, decides whether it is a header and finds the targets.
    pub(crate) fn begin(lines: &mut Lines, separator: u8, options: &ReadOptions) -> Result<Self, DataError> {
        if !lines.advance()? {
            return Err(DataError::Empty { file: lines.file().to_owned() });
        }
        let mut cells = Cells::default();
        cells.split(lines, separator, LONGEST_RECORD)?;
        let first: Vec<String> = cells.iter().map(lossy).collect();
        let header = is_header(lines, separator, &cells, &first, options)?;
        let columns = first.len();
        let names = header.then(|| first.clone());
        let mut plan = Plan::new(lines.file(), columns, names.as_deref(), options)?;
        let mut head = None;
        if let (Targets::Auto, [target]) = (options.targets, plan.targets()) {
            let seen = head.insert(TargetHead::new());
            if !header {
                seen.see(number::parse(first[*target].as_bytes()));
            }
            for text in ahead(lines, separator, columns, *target) {
                seen.see(number::parse(text.as_bytes()));
            }
            if seen.text {
                plan.read_labels(lines.file())?;
            }
        }
        let longest = if plan.ignores() { LONGEST_RECORD } else { 1 };
        Ok(Self {
            separator,
            names,
            plan,
            head,
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

    pub(crate) fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    pub(crate) fn head(&self) -> Option<TargetHead> {
        self.head
    }

    /// Appends the features of the next row to `features` and its targets to those in `beside`; false at the end. After an error both
    /// may have grown.
    pub(crate) fn row(
        &mut self,
        lines: &mut Lines,
        features: &mut Vec<f64>,
        beside: &mut Beside,
    ) -> Result<bool, DataError> {
        if self.blank == 0 && !std::mem::take(&mut self.pending) {
            if !lines.advance()? {
                return Ok(false);
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
            return Ok(true);
        }
        self.pending = false;
        let before = (features.len(), beside.targets.len());
        features.resize(before.0 + self.plan.dimension(), 0.0);
        beside.targets.resize(before.1 + self.plan.numbers(), 0.0);
        let row = &mut features[before.0..];
        let Beside { targets, label, weight } = beside;
        let targets = &mut targets[before.1..];
        if self.quick(lines.text(), row, targets, label, weight).is_none() {
            self.careful(lines, row, targets, label, weight)?;
        }
        Ok(true)
    }

    /// A row of one cell without a value is a blank line, where cells may be without a value.
    fn blank_lines_are_rows(&self) -> bool {
        self.plan.columns() == 1 && self.plan.dimension() == 1 && self.missing == Missing::Nan
    }

    /// A row of the right number of plain finite numbers, and plain text for a label; `None` is anything else.
    #[inline]
    fn quick(
        &self,
        mut text: &[u8],
        row: &mut [f64],
        targets: &mut [f64],
        label: &mut String,
        weight: &mut f64,
    ) -> Option<()> {
        let columns = self.plan.columns();
        for column in 0..columns {
            let role = self.plan.role(column);
            let length = if role == Role::Label {
                self.quick_label(text, label)?
            } else {
                let (value, length) = number::quick(text)?;
                match role {
                    Role::Feature(slot) => row[slot] = value,
                    Role::Target(slot) => targets[slot] = value,
                    Role::Weight if value >= 0.0 => *weight = value,
                    Role::Weight => return None,
                    Role::Label | Role::Ignored => {}
                }
                length
            };
            let last = column + 1 == columns;
            match text.get(length) {
                Some(&byte) if byte == self.separator && !last => text = &text[length + 1..],
                None if last => return Some(()),
                _ => return None,
            }
        }
        None
    }

    /// The label that `text` begins with, if it has no quotes, and how many bytes it takes.
    fn quick_label(&self, text: &[u8], label: &mut String) -> Option<usize> {
        let length = text.iter().position(|&byte| byte == self.separator).unwrap_or(text.len());
        let cell = text[..length].trim_ascii();
        if matches!(cell, [] | [b'"', ..]) {
            return None;
        }
        Labels::canonical(std::str::from_utf8(cell).ok()?, label);
        (!label.is_empty()).then_some(length)
    }

    fn careful(
        &mut self,
        lines: &mut Lines,
        row: &mut [f64],
        targets: &mut [f64],
        label: &mut String,
        weight: &mut f64,
    ) -> Result<(), DataError> {
        self.cells.split(lines, self.separator, self.longest)?;
        let (got, expected) = (self.cells.len(), self.plan.columns());
        if got != expected {
            // A quote that opens on one line and is closed on another by chance.
            lines.unjoin();
            return Err(DataError::Ragged { line: lines.line(), expected, got });
        }
        for (column, bytes) in self.cells.iter().enumerate() {
            let place = || lines.cell(column, self.names.as_ref().map(|names| names[column].as_str()));
            match self.plan.role(column) {
                Role::Ignored => {}
                Role::Feature(slot) => row[slot] = self.number(bytes, false, place)?,
                Role::Target(slot) => targets[slot] = self.number(bytes, true, place)?,
                Role::Weight => match number::parse(bytes) {
                    Parsed::Number(value) if value >= 0.0 => *weight = value,
                    _ => return Err(DataError::BadWeight { cell: place(), value: lossy(bytes) }),
                },
                Role::Label => {
                    let Ok(text) = std::str::from_utf8(bytes) else {
                        return Err(DataError::LabelEncoding { cell: place() });
                    };
                    Labels::canonical(text, label);
                    if label.is_empty() {
                        return Err(DataError::MissingTarget { cell: place() });
                    }
                }
            }
        }
        Ok(())
    }

    /// The number in a cell of a feature or a target.
    fn number(&self, bytes: &[u8], target: bool, place: impl Fn() -> Cell) -> Result<f64, DataError> {
        match (number::parse(bytes), self.head) {
            (Parsed::Number(value), _) => Ok(value),
            (Parsed::Nan | Parsed::Empty, _) if self.missing == Missing::Nan => Ok(f64::NAN),
            (Parsed::Nan | Parsed::NotFinite, _) => Err(DataError::NotFinite { cell: place(), value: lossy(bytes) }),
            (Parsed::Text, Some(TargetHead { rows, .. })) if target => {
                Err(DataError::LateLabel { cell: place(), value: lossy(bytes), rows })
            }
            (Parsed::Text, _) => Err(DataError::NotANumber { cell: place(), value: lossy(bytes) }),
            (Parsed::Empty, _) if target => Err(DataError::MissingTarget { cell: place() }),
            (Parsed::Empty, _) => Err(DataError::EmptyCell { cell: place() }),
        }
    }
}

/// The rule is told at [`Header::Detect`].
fn is_header(
    lines: &mut Lines,
    separator: u8,
    cells: &Cells,
    first: &[String],
    options: &ReadOptions,
) -> Result<bool, DataError> {
    match options.header {
        Header::Present => return Ok(true),
        Header::Absent => return Ok(false),
        Header::Detect => {}
    }
    let called = |name: &ColumnChoice| matches!(name, ColumnChoice::Name(name) if first.contains(name));
    let named = !options.features.is_empty() && options.features.iter().all(|name| first.contains(name));
    let target = match &options.target {
        TargetColumn::Name(name) => first.contains(name),
        TargetColumn::Several(choices) => choices.iter().any(called),
        _ => false,
    };
    if target || named || options.ignore.iter().chain(&options.weight).any(called) {
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
    let is_number = |kind: &Parsed| matches!(kind, Parsed::Number(_) | Parsed::Nan | Parsed::NotFinite);
    let mut texts = (0..kinds.len()).filter(|&column| kinds[column] == Parsed::Text);
    let Some(text) = texts.next() else {
        return Ok(false);
    };
    if !kinds.iter().any(is_number) {
        return Ok(true);
    }
    if texts.next().is_none() && label_of_data(lines.file(), first.len(), options) == Some(text) {
        let behind: Vec<String> = ahead(lines, separator, first.len(), text);
        let mut head = TargetHead::new();
        for label in &behind {
            head.see(number::parse(label.as_bytes()));
        }
        if behind.contains(&first[text]) {
            return Ok(false);
        }
        if head.rows > 0 && !head.text {
            return Ok(true);
        }
        return Err(DataError::DoubtfulLabel { cell: lines.cell(text, None), value: first[text].clone() });
    }
    Err(DataError::DoubtfulHeader { cell: lines.cell(text, None), value: first[text].clone() })
}

/// The column that may hold a label, if the first row of `columns` cells is data.
fn label_of_data(file: &str, columns: usize, options: &ReadOptions) -> Option<usize> {
    let looked_at = ReadOptions { features_alone: None, ..options.clone() };
    match (options.targets, Plan::new(file, columns, None, &looked_at).ok()?.targets()) {
        (Targets::Labels | Targets::Auto, [target]) => Some(*target),
        _ => None,
    }
}

/// What stands in a column in the rows that follow, as far as a look ahead goes.
fn ahead(lines: &mut Lines, separator: u8, columns: usize, column: usize) -> Vec<String> {
    let (mut lines, mut cells, mut texts) = (lines.ahead(), Cells::default(), Vec::new());
    // Rows with errors say nothing here; they are told when they are read.
    while let Ok(true) = lines.advance() {
        if cells.split(&mut lines, separator, LONGEST_RECORD).is_ok() && cells.len() == columns {
            texts.extend(cells.iter().nth(column).map(lossy));
        }
    }
    texts
}

fn lossy(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}
