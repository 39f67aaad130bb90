//! Whether the first record of a delimited text holds names.

use mercer_core::is_gap_mark;

use crate::cells::Cells;
use crate::columns::Plan;
use crate::dialect::{LONGEST_RECORD, Separator, is_value};
use crate::error::DataError;
use crate::head::TargetHead;
use crate::lines::{HEAD_LINES, Lines};
use crate::marks::kind;
use crate::number::Parsed;
use crate::options::{ColumnChoice, Header, ReadOptions, TargetColumn, Targets};

/// Records behind the first that are looked at where cells may hold anything.
const FOLLOWING: usize = 8;

/// What the first record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) header: bool,
    /// Why that is in doubt.
    pub(crate) doubt: Option<Doubt>,
}

/// Why a first record may be the other thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It counts: 0, 1, 2, …
    Counts,
    /// It has text and numbers, and so have the records behind it, in other places.
    Mixed,
    /// There is nothing but text.
    Texts,
}

impl Doubt {
    /// One line for people.
    pub(crate) fn told(self, file: &str, line: u64, header: bool) -> String {
        let why = match self {
            Self::Counts => "holds whole numbers that count, as names of columns may",
            Self::Mixed => "holds numbers and text, as a header or a row may",
            Self::Texts => "holds text, and so do the rows behind it",
        };
        let (taken, other) = if header { ("a header", "no") } else { ("a row of data", "yes") };
        format!("{file}, line {line}: {why}; it is read as {taken}: --header {other} reads it otherwise")
    }
}

/// The rule that is told at [`Header::Detect`], for a file in which all cells that are looked at
/// are numbers or labels.
pub(crate) fn of_numbers(
    lines: &mut Lines,
    separator: Separator,
    cells: &Cells,
    first: &[String],
    options: &ReadOptions,
) -> Result<Found, DataError> {
    let sure = |header| Ok(Found { header, doubt: None });
    if let Some(header) = told(first, options) {
        return sure(header);
    }
    let mut kinds = kinds(cells, options);
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
        return Ok(Found { header: false, doubt: counts(&kinds, lines, separator, options) });
    };
    if !kinds.iter().any(is_number) {
        return sure(true);
    }
    if texts.next().is_none() && label_of_data(lines.file(), first.len(), options) == Some(text) {
        let behind: Vec<String> = ahead(lines, separator, first.len(), text);
        let mut head = TargetHead::new();
        for label in &behind {
            head.see(kind(label.as_bytes(), options));
        }
        if behind.contains(&first[text]) {
            return sure(false);
        }
        if head.rows > 0 && !head.is_label() {
            return sure(true);
        }
        return Err(DataError::DoubtfulLabel { cell: lines.cell(text, None), value: first[text].clone() });
    }
    Err(DataError::DoubtfulHeader { cell: lines.cell(text, None), value: first[text].clone() })
}

/// The same where cells may hold anything. A name stands above values that are not text; what is
/// there again in its column is no name. Where neither is so, a first record of text alone is a
/// header, and another one is data.
pub(crate) fn of_records(
    lines: &mut Lines,
    separator: Separator,
    cells: &Cells,
    first: &[String],
    options: &ReadOptions,
) -> Found {
    if let Some(header) = told(first, options) {
        return Found { header, doubt: None };
    }
    let is_text = |cell: &[u8]| kind(cell, options) == Parsed::Text && !is_value(cell);
    let texts: Vec<bool> = cells.iter().map(|cell| is_text(cell) || is_word(cell)).collect();
    // An empty cell may be a name that was left out as well as a value.
    let numbers = cells.iter().zip(&texts).any(|(cell, text)| !text && !cell.trim_ascii().is_empty());
    let data = |lines: &mut Lines| {
        let mut kinds = kinds(cells, options);
        kinds.retain(|kind| *kind != Parsed::Text);
        Found { header: false, doubt: counts(&kinds, lines, separator, options) }
    };
    if !texts.contains(&true) {
        return data(lines);
    }
    let mut below = Below::default();
    // Whoever writes a row and waits is answered at once if one row behind the first settles it.
    for most in [1, FOLLOWING] {
        below = Below::look(lines, separator, first, most, is_text);
        let known = texts.iter().zip(&below.columns).all(|(text, (values, _))| !text || *values > 0);
        if known && !below.repeats(&texts) && below.names(&texts) != numbers {
            break;
        }
    }
    let (named, again) = (below.names(&texts), below.repeats(&texts));
    match (numbers, named, again) {
        (false, _, true) => Found { header: false, doubt: None },
        (false, true, _) => Found { header: true, doubt: None },
        (false, false, _) => {
            let alone = below.columns.iter().all(|(values, _)| *values == 0);
            Found { header: true, doubt: (!alone).then_some(Doubt::Texts) }
        }
        (true, true, false) => Found { header: true, doubt: Some(Doubt::Mixed) },
        (true, ..) => data(lines),
    }
}

/// What stands behind the first record.
#[derive(Default)]
struct Below {
    /// Of each column, how many values there are and how many of them are text.
    columns: Vec<(usize, usize)>,
    /// The columns in which the cell of the first record is there again.
    again: Vec<bool>,
}

impl Below {
    /// Looks at `most` lines.
    fn look(
        lines: &mut Lines,
        separator: Separator,
        first: &[String],
        most: usize,
        is_text: impl Fn(&[u8]) -> bool,
    ) -> Self {
        let mut below = Self { columns: vec![(0, 0); first.len()], again: vec![false; first.len()] };
        let (mut lines, mut cells) = (lines.ahead(most), Cells::default());
        while let Ok(true) = lines.advance() {
            if cells.split(&mut lines, separator, LONGEST_RECORD).is_err() || cells.len() != first.len() {
                continue;
            }
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.trim_ascii().is_empty()) {
                below.columns[column].0 += 1;
                below.columns[column].1 += usize::from(is_text(cell));
                below.again[column] |= cell.trim_ascii() == first[column].as_bytes();
            }
        }
        below
    }

    /// Whether a text of the first record stands above values that are no text.
    fn names(&self, texts: &[bool]) -> bool {
        texts.iter().zip(&self.columns).any(|(&text, &(values, texts))| text && values > 0 && texts == 0)
    }

    /// Whether a text of the first record is there again.
    fn repeats(&self, texts: &[bool]) -> bool {
        texts.iter().zip(&self.again).any(|(&text, &again)| text && again)
    }
}

fn kinds(cells: &Cells, options: &ReadOptions) -> Vec<Parsed> {
    let kind = |cell| if is_word(cell) { Parsed::Text } else { kind(cell, options) };
    cells.iter().map(kind).collect()
}

/// Whether a cell of a first record is a mark of a gap that may be a name, too: `missing`, `NA`.
fn is_word(cell: &[u8]) -> bool {
    let text = std::str::from_utf8(cell).unwrap_or_default().trim();
    !text.is_empty() && is_gap_mark(text) && text.parse::<f64>().is_err()
}

/// What the options say: outright, or because they name a column that the first record has.
fn told(first: &[String], options: &ReadOptions) -> Option<bool> {
    match options.header {
        Header::Present => return Some(true),
        Header::Absent => return Some(false),
        Header::Detect => {}
    }
    let called = |name: &ColumnChoice| matches!(name, ColumnChoice::Name(name) if first.contains(name));
    let named = !options.features.is_empty() && options.features.iter().all(|name| first.contains(name));
    let target = match &options.target {
        TargetColumn::Name(name) => first.contains(name),
        TargetColumn::Several(choices) => choices.iter().any(called),
        _ => false,
    };
    let known = options.known.iter().any(|name| first.contains(name));
    (target || named || known || options.ignore.iter().chain(&options.weight).any(called)).then_some(true)
}

/// A doubt if a first record holds three whole numbers or more, each by one larger than the one
/// before it, as tables without names are given, and the record behind it does not hold whole
/// numbers alone.
fn counts(kinds: &[Parsed], lines: &mut Lines, separator: Separator, options: &ReadOptions) -> Option<Doubt> {
    let mut previous = None;
    let rising = kinds.iter().all(|kind| match *kind {
        Parsed::Number(value) if value.fract() == 0.0 && previous.is_none_or(|previous| value == previous + 1.0) => {
            previous = Some(value);
            true
        }
        _ => false,
    });
    if !rising || kinds.len() < 3 {
        return None;
    }
    let (mut behind, mut cells) = (lines.ahead(1), Cells::default());
    // Where the first record has text, text below it says nothing of the others.
    let whole = |kind: &Parsed| match kind {
        Parsed::Number(value) => value.fract() == 0.0,
        kind => *kind == Parsed::Text,
    };
    let other = matches!(behind.advance(), Ok(true))
        && cells.split(&mut behind, separator, 1).is_ok()
        && !self::kinds(&cells, options).iter().all(whole);
    other.then_some(Doubt::Counts)
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
pub(crate) fn ahead(lines: &mut Lines, separator: Separator, columns: usize, column: usize) -> Vec<String> {
    let (mut lines, mut cells, mut texts) = (lines.ahead(HEAD_LINES), Cells::default(), Vec::new());
    // Rows with errors say nothing here; they are told when they are read.
    while let Ok(true) = lines.advance() {
        if cells.split(&mut lines, separator, LONGEST_RECORD).is_ok() && cells.len() == columns {
            texts.extend(cells.iter().nth(column).map(lossy));
        }
    }
    texts
}

pub(crate) fn lossy(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}
