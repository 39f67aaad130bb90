//! Detection of names in the first record of a delimited text.

use mercer_core::{is_gap_mark, parse_instant};

use crate::cells::{self, Cells};
use crate::choice::{ColumnChoice, TargetColumn};
use crate::columns::ColumnPlan;
use crate::dialect::{LONGEST_RECORD, Separator};
use crate::error::DataError;
use crate::head::TargetHead;
use crate::lines::{HEAD_LINES, Lines};
use crate::marks::kind;
use crate::number::{self, ParsedCell, is_value};
use crate::options::{Header, ReadOptions, Targets};

/// Records behind the first that are looked at where cells may hold anything.
const FOLLOWING: usize = 8;

/// The role of the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstRecord {
    pub(crate) header: bool,
    /// Why that is in doubt.
    pub(crate) doubt: Option<Doubt>,
}

/// A row, without a doubt.
const DATA: FirstRecord = FirstRecord { header: false, doubt: None };

/// Why a first record may be the other thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It counts: 0, 1, 2, …
    Counts,
    /// Its numbers are years in order.
    Years,
    /// It has times in order.
    Times,
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
            Self::Years => "holds years, as names of columns may",
            Self::Times => "holds times in order, as names of columns may",
            Self::Mixed => "holds numbers and text, as a header or a row may",
            Self::Texts => "holds text, and so do the rows behind it",
        };
        let (taken, other) = if header { ("a header", "no") } else { ("a row of data", "yes") };
        format!("{file}, line {line}: {why}; it is read as {taken}: --header {other} reads it otherwise")
    }
}

/// The rule that is told at [`Header::Detect`]. A name stands above values that are not text; what
/// is there again in its column is no name. Where neither is so, a first record of text alone is a
/// header, and another one is data. Where all cells that are looked at are to be numbers or labels
/// (not `records`), a first record with text and numbers is refused if none of it is a label.
pub(crate) fn find(
    lines: &mut Lines,
    separator: Separator,
    (cells, first): (&Cells, &[String]),
    options: &ReadOptions,
    records: bool,
) -> Result<FirstRecord, DataError> {
    if let Some(header) = told(first, options) {
        return Ok(FirstRecord { header, doubt: None });
    }
    let ignored: Vec<usize> = options.ignore.iter().filter_map(|choice| choice.place(first.len(), None)).collect();
    let looked_at = |(column, cell)| if ignored.contains(&column) { &[][..] } else { cell };
    let cells: Vec<&[u8]> = cells.iter().enumerate().map(looked_at).collect();
    let is_text = |cell: &[u8]| kind(cell, options) == ParsedCell::Text && !is_value(cell);
    let texts: Vec<bool> = cells.iter().map(|cell| is_text(cell) || is_word(cell)).collect();
    // An empty cell may be a name that was left out as well as a value.
    let numbers = cells.iter().zip(&texts).any(|(cell, text)| !text && !cell.trim_ascii().is_empty());
    if let Some(found) = of_times(&cells, first, lines, separator, options) {
        return Ok(found);
    }
    let data = match of_names(&kinds(cells.iter().copied(), options), first, lines, separator, options) {
        Some(found) if found.header => return Ok(found),
        found => found.unwrap_or(DATA),
    };
    let Some(text) = texts.iter().position(|text| *text) else { return Ok(data) };
    if records {
        return Ok(by_rows_below(lines, separator, first, (&texts, numbers, data), is_text));
    }
    if !numbers {
        return Ok(FirstRecord { header: true, doubt: None });
    }
    let alone = texts.iter().filter(|text| **text).count() == 1;
    if !alone || label_of_data(lines.file(), first.len(), options) != Some(text) {
        return Err(DataError::DoubtfulHeader { cell: lines.cell(text, None), value: first[text].clone() });
    }
    let behind: Vec<String> = ahead(lines, separator, first.len(), text, None);
    let mut head = TargetHead::default();
    behind.iter().for_each(|label| head.see(kind(label.as_bytes(), options)));
    if behind.contains(&first[text]) {
        return Ok(data);
    }
    if head.rows > 0 && !head.is_label() {
        return Ok(FirstRecord { header: true, doubt: None });
    }
    Err(DataError::DoubtfulLabel { cell: lines.cell(text, None), value: first[text].clone() })
}

/// The role of a first record with `texts`, by the records behind it.
fn by_rows_below(
    lines: &mut Lines,
    separator: Separator,
    first: &[String],
    (texts, numbers, data): (&[bool], bool, FirstRecord),
    is_text: impl Fn(&[u8]) -> bool,
) -> FirstRecord {
    let mut below = Below::default();
    // Whoever writes a row and waits is answered at once if one row behind the first settles it.
    for most in [1, FOLLOWING] {
        below = Below::look(lines, separator, first, most, &is_text);
        let known = texts.iter().zip(&below.columns).all(|(text, (values, _))| !text || *values > 0);
        if known && !below.repeats(texts) && below.names(texts) != numbers {
            break;
        }
    }
    let doubt = match (numbers, below.names(texts), below.repeats(texts)) {
        (true, false, false) if are_places(first, texts) => Some(Doubt::Mixed),
        (false, _, true) | (true, false, _) | (true, _, true) => return data,
        (false, true, _) => None,
        (false, false, _) => below.columns.iter().any(|(values, _)| *values > 0).then_some(Doubt::Texts),
        (true, true, false) => Some(Doubt::Mixed),
    };
    FirstRecord { header: true, doubt }
}

/// True if two or more cells are the numbers of their columns, from 0 or from 1, as a frame without
/// names has them.
fn are_places(first: &[String], texts: &[bool]) -> bool {
    let numbers: Vec<(usize, &String)> =
        first.iter().enumerate().filter(|(place, cell)| !texts[*place] && !cell.is_empty()).collect();
    let from = |begin: usize| numbers.iter().all(|(place, cell)| cell.parse() == Ok(place + begin));
    numbers.len() > 1 && (from(0) || from(1))
}

/// The number of separators that end the record behind a first one of names, which may end so as
/// well: cells without a value that have no name. Of several, those of the records behind it as far
/// as a look goes.
pub(crate) fn ends_lines(lines: &mut Lines, separator: Separator, first: &Cells) -> usize {
    let names = first.iter().collect::<Vec<_>>().iter().rposition(|cell| !cell.trim_ascii().is_empty());
    let names = names.map_or(0, |last| last + 1);
    // A table along its rows has years among its names.
    let values: Vec<&[u8]> = first.iter().take(names).filter(|cell| is_value(cell)).collect();
    let year = |cell: &&[u8]| match number::parse(cell) {
        ParsedCell::Number(value) => value,
        _ => f64::NAN,
    };
    let years = !values.is_empty();
    let other_values = years && !are_years(&values.iter().map(year).collect::<Vec<_>>());
    if separator == Separator::Spaces || values.len() == names || other_values {
        return 0;
    }
    let mut cells = Cells::default();
    // The number of empty cells at the end of a record that has some, and as many others as names.
    let mut ends = |behind: &mut Lines, most: usize| {
        let split = cells.split(behind, separator, most).is_ok();
        let others = || cells.iter().skip(names).all(|cell| cell.trim_ascii().is_empty());
        split.then(|| if cells.len() > names && others() { cells.len() - names } else { 0 })
    };
    // Only a record in quotes goes over several lines.
    for most in [1, LONGEST_RECORD] {
        let mut behind = lines.ahead(most);
        if !matches!(behind.advance(), Ok(true)) {
            break;
        }
        match ends(&mut behind, most) {
            None => {}
            Some(count) if count == 0 || count < 2 && !years => return count,
            Some(count) => {
                let mut behind = lines.ahead(HEAD_LINES);
                while let Ok(true) = behind.advance() {
                    if ends(&mut behind, LONGEST_RECORD).is_some_and(|other| other != count) {
                        return 0;
                    }
                }
                return count;
            }
        }
    }
    0
}

/// Contents of the records behind the first one.
#[derive(Default)]
struct Below {
    /// Numbers of values and of texts in each column.
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
        cells::behind(lines, separator, (most, first.len()), |_, cells| {
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.trim_ascii().is_empty()) {
                below.columns[column].0 += 1;
                below.columns[column].1 += usize::from(is_text(cell));
                below.again[column] |= cell.trim_ascii() == first[column].as_bytes();
            }
        });
        below
    }

    /// True if a text of the first record stands above values that are no text.
    fn names(&self, texts: &[bool]) -> bool {
        texts.iter().zip(&self.columns).any(|(&text, &(values, texts))| text && values > 0 && texts == 0)
    }

    /// True if a text of the first record is there again.
    fn repeats(&self, texts: &[bool]) -> bool {
        texts.iter().zip(&self.again).any(|(&text, &again)| text && again)
    }
}

fn kinds<'a>(cells: impl Iterator<Item = &'a [u8]>, options: &ReadOptions) -> Vec<ParsedCell> {
    let kind = |cell| if is_word(cell) { ParsedCell::Text } else { kind(cell, options) };
    cells.map(kind).collect()
}

/// True if a cell of a first record is a mark of a gap that may be a name, too: `missing`, `NA`.
fn is_word(cell: &[u8]) -> bool {
    let text = std::str::from_utf8(cell).unwrap_or_default().trim();
    !text.is_empty() && is_gap_mark(text) && text.parse::<f64>().is_err()
}

/// Answer of the options: outright, or because they name a column that the first record has.
pub(crate) fn told(first: &[String], options: &ReadOptions) -> Option<bool> {
    match options.header {
        Header::Present => return Some(true),
        Header::Absent => return Some(false),
        Header::Detect => {}
    }
    // A number may tell the place of a column as well.
    let names = |text: &String| {
        first.contains(text) && !text.parse().is_ok_and(|place: usize| (1..=first.len()).contains(&place))
    };
    let called = |choice: &ColumnChoice| match choice {
        ColumnChoice::Name(name) => first.contains(name),
        ColumnChoice::Either(text) => names(text),
        ColumnChoice::Index(_) => false,
    };
    let all =
        |wanted: &[String], among: &[String]| !wanted.is_empty() && wanted.iter().all(|name| among.contains(name));
    let target = match &options.target {
        TargetColumn::Name(name) => first.contains(name),
        TargetColumn::Either(text) => names(text),
        TargetColumn::Several(choices) => choices.iter().any(called),
        TargetColumn::Last | TargetColumn::Index(_) | TargetColumn::None => false,
    };
    let known = options.known.iter().any(names) || (first.len() > 1 && all(first, &options.known));
    let spoken_of =
        options.ignore.iter().chain(&options.unread).chain(&options.weight).chain(&options.mentioned).any(called);
    (target || all(&options.features, first) || known || spoken_of).then_some(true)
}

/// True if a number is the year of a name.
fn is_year(value: f64) -> bool {
    value.fract() == 0.0 && (1800.0..=2100.0).contains(&value)
}

/// The role of a first record in which times in order stand beside text alone, above numbers: names
/// of columns. `None` for any other.
fn of_times(
    cells: &[&[u8]],
    first: &[String],
    lines: &mut Lines,
    separator: Separator,
    options: &ReadOptions,
) -> Option<FirstRecord> {
    let time = |cell: &[u8]| match number::parse(cell) {
        ParsedCell::Text => parse_instant(std::str::from_utf8(cell).ok()?.trim()),
        _ => None,
    };
    let times: Vec<Option<f64>> = cells.iter().map(|cell| time(cell)).collect();
    let several = times.iter().flatten().count() > 1;
    let in_order =
        times.iter().flatten().is_sorted_by(|a, b| a < b) || times.iter().flatten().is_sorted_by(|a, b| a > b);
    let others = cells.iter().zip(&times).filter(|(_, time)| time.is_none());
    if !several || !in_order || others.into_iter().any(|(cell, _)| matches!(kind(cell, options), ParsedCell::Number(_)))
    {
        return None;
    }
    let (mut rows, mut numbers) = (0, 0);
    cells::behind(lines, separator, (1, first.len()), |_, below| {
        rows += 1;
        let mut columns = below.iter().zip(&times).filter(|(_, time)| time.is_some());
        numbers += usize::from(columns.all(|(cell, _)| is_value(cell) && time(cell).is_none()));
    });
    (rows > 0 && rows == numbers).then_some(FirstRecord { header: true, doubt: Some(Doubt::Times) })
}

/// True if numbers are several years in order.
pub(crate) fn are_years(values: &[f64]) -> bool {
    let in_order = |rising: bool| values.windows(2).all(|pair| (pair[0] < pair[1]) == rising && pair[0] != pair[1]);
    values.len() > 1 && values.iter().all(|&value| is_year(value)) && (in_order(true) || in_order(false))
}

/// The role of a first record whose names may be numbers: years, alone or beside text, or whole
/// numbers that rise evenly. `None` where it has other numbers.
fn of_names(
    kinds: &[ParsedCell],
    first: &[String],
    lines: &mut Lines,
    separator: Separator,
    options: &ReadOptions,
) -> Option<FirstRecord> {
    let values = values(kinds);
    let alone = values.len() == kinds.len();
    let whole = values.iter().all(|value| value.fract() == 0.0) && !first.iter().any(|name| name.contains('.'));
    let even = values.windows(3).all(|next| next[2] - next[1] == next[1] - next[0]);
    let rise = alone && kinds.len() > 2 && whole && even && values[0] < values[1];
    let others_are_text =
        kinds.iter().all(|kind| matches!(kind, ParsedCell::Number(_) | ParsedCell::Text | ParsedCell::Empty));
    let years = others_are_text && are_years(&values);
    let one_year = others_are_text && !alone && matches!(values[..], [year] if is_year(year));
    if !rise && !years && !one_year {
        return None;
    }
    let mut found = None;
    // Whoever writes a row and waits is answered at once if one row behind the first settles it.
    for most in [1, FOLLOWING] {
        let below = NumbersBelow::look(lines, separator, first, most, options);
        if below.rows == 0 && !below.again {
            continue;
        }
        let counts = values.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        let doubt = |header, doubt| Some(FirstRecord { header, doubt: Some(doubt) });
        found = match below {
            NumbersBelow { again: true, .. } => None,
            NumbersBelow { years: 0, .. } if years => doubt(true, Doubt::Years),
            NumbersBelow { years: 0, .. } if one_year => doubt(false, Doubt::Years),
            NumbersBelow { whole: 0, .. } if rise => doubt(true, Doubt::Counts),
            NumbersBelow { whole, rows, .. } if rise && counts && whole < rows => doubt(false, Doubt::Counts),
            NumbersBelow { .. } => None,
        };
        if found.is_none() {
            break;
        }
    }
    found
}

fn values(kinds: &[ParsedCell]) -> Vec<f64> {
    let number = |kind: &ParsedCell| match kind {
        ParsedCell::Number(value) => Some(*value),
        _ => None,
    };
    kinds.iter().filter_map(number).collect()
}

/// Facts about the numbers of the records behind a first one.
#[derive(Default)]
struct NumbersBelow {
    /// Number of records that have numbers.
    rows: usize,
    /// Number of records among them that have years alone, or whole numbers alone.
    years: usize,
    whole: usize,
    /// True if a text of the first record is there again in its column.
    again: bool,
}

impl NumbersBelow {
    fn look(lines: &mut Lines, separator: Separator, first: &[String], most: usize, options: &ReadOptions) -> Self {
        let mut below = Self::default();
        cells::behind(lines, separator, (most, first.len()), |_, cells| {
            // All of them are a header that is there again, which is no measure.
            if repeats(cells, first) {
                return;
            }
            let kinds = kinds(cells.iter(), options);
            below.again |= cells
                .iter()
                .zip(&kinds)
                .zip(first)
                .any(|((cell, kind), name)| *kind == ParsedCell::Text && cell.trim_ascii() == name.as_bytes());
            // Those in thousands are whole for the most part, and no years.
            let (values, grouped) = (values(&kinds), kinds.contains(&ParsedCell::NotFinite));
            let any = !values.is_empty() || grouped;
            below.rows += usize::from(any);
            below.years += usize::from(any && !grouped && values.iter().all(|&value| is_year(value)));
            below.whole += usize::from(any && values.iter().all(|value| value.fract() == 0.0));
        });
        below
    }
}

/// The column that may hold a label, if the first row of `columns` cells is data.
fn label_of_data(file: &str, columns: usize, options: &ReadOptions) -> Option<usize> {
    let looked_at = ReadOptions { features_alone: None, ..options.clone() };
    match (options.targets, ColumnPlan::new(file, columns, None, &looked_at).ok()?.targets()) {
        (Targets::Labels | Targets::Auto, [target]) => Some(*target),
        _ => None,
    }
}

/// Texts in a column in the rows that follow, as far as a look ahead goes. Behind a header of these
/// `names`, rows of names or units do not count.
pub(crate) fn ahead(
    lines: &mut Lines,
    separator: Separator,
    columns: usize,
    column: usize,
    names: Option<(&[String], &ReadOptions)>,
) -> Vec<String> {
    let (mut texts, mut begun) = (Vec::new(), false);
    cells::behind(lines, separator, (HEAD_LINES, columns), |lines, cells| {
        let below_header = !std::mem::replace(&mut begun, true);
        let is_row = names.is_none_or(|(names, options)| {
            !(repeats(cells, names) || below_header && unit(lines, separator, cells, options).is_some())
        });
        if is_row {
            texts.extend(cells.iter().nth(column).map(lossy));
        }
    });
    texts
}

/// True if a record is the header once more, as where files stand one behind the other, each with
/// its mark of byte order.
pub(crate) fn repeats(cells: &Cells, names: &[String]) -> bool {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let bare = |cell: &[u8]| cell.strip_prefix(MARK).unwrap_or(cell).trim_ascii().to_vec();
    cells.iter().zip(names).all(|(cell, name)| bare(cell) == name.as_bytes())
        && names.iter().any(|name| !name.is_empty())
}

/// Names by which a header is known when it comes again: not those that a row of data may be.
pub(crate) fn distinct(names: &[String], options: &ReadOptions) -> bool {
    let kinds: Vec<ParsedCell> = names.iter().map(|name| kind(name.as_bytes(), options)).collect();
    kinds.contains(&ParsedCell::Text) || are_years(&values(&kinds))
}

/// The column in which a record behind a header has a word above numbers, if it has no number: a
/// unit. The lines stand at that record.
pub(crate) fn unit(lines: &mut Lines, separator: Separator, cells: &Cells, options: &ReadOptions) -> Option<usize> {
    let is_gap = |cell: &[u8]| matches!(number::parse(cell), ParsedCell::Empty | ParsedCell::Nan);
    let is_text = |cell: &[u8]| kind(cell, options) == ParsedCell::Text && !is_value(cell) && !is_gap(cell);
    if !cells.iter().all(|cell| is_text(cell) || is_gap(cell)) {
        return None;
    }
    let record: Vec<String> = cells.iter().map(lossy).collect();
    let mut found = None;
    for most in [1, FOLLOWING] {
        let below = Below::look(lines, separator, &record, most, is_text);
        let mut columns = cells.iter().zip(&below.columns);
        found = Some(columns.position(|(cell, (values, texts))| is_text(cell) && *values > 0 && *texts == 0)?);
    }
    found
}

pub(crate) fn lossy(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}
