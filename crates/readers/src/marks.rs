//! The marks in the numbers of a file: before their fractions, and between their thousands.
//!
//! One mark stands before the fractions of a whole file: the options tell it, or the first number
//! shows it that can be read in one way alone. `12.5` and `1,234.5` show a point, `12,5` and
//! `1.234.567` a comma. A single group of three digits (`1.234`, `1,234`) shows nothing, and is
//! read once the mark is known; the point of such a number is taken for that of a fraction where
//! commas separate the cells. What contradicts the mark later is refused.
//!
//! Blanks and apostrophes stand between thousands only in columns that otherwise hold numbers, as
//! far as a look ahead goes. A column that holds text shows no mark either: its `1,2` may be two
//! answers, its `192.168.100.200` is no number.

use std::str;

use mercer_core::Punctuation;

use crate::dialect::{Decimal, Marks, Separator, Thousands};
use crate::gaps::Gaps;
use crate::number::{self, ParsedCell};
use crate::options::ReadOptions;

/// Cells in a column of numbers for each one that may be text.
const NUMBERS_A_TEXT: u64 = 20;

/// Reading of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CellReading {
    Parsed(ParsedCell),
    /// A number with that mark between its thousands.
    Grouped(ParsedCell, Thousands),
    /// The rows that follow are to be looked at before.
    Asks,
    /// A number with another decimal mark than that on this line.
    Mixed(u64),
    /// A number in one group of three digits, behind that mark.
    Doubtful(Thousands),
}

/// The decimal mark, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MarkState {
    Told(Decimal),
    Found(Decimal, MarkPlace),
    Open,
}

/// Where a mark was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MarkPlace {
    line: u64,
    column: usize,
}

/// Facts known about a column.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    /// True if it holds numbers, once that was looked at.
    numbers: Option<bool>,
    /// Cells so far that are text.
    texts: u64,
}

/// Reads numbers, and finds out on the way which marks they have.
pub(crate) struct Notation {
    decimal: MarkState,
    /// The mark that the options give.
    thousands: Option<Thousands>,
    /// Marks known from other files of the same origin.
    known: Marks,
    /// True if commas separate the cells.
    commas: bool,
    columns: Vec<Content>,
    /// The mark between the thousands of numbers so far.
    grouped: Option<Thousands>,
    /// The line of a row that asks for no look any more.
    looked: u64,
    /// Texts and numbers that stand for no value.
    gaps: Gaps,
}

impl Notation {
    pub(crate) fn new(options: &ReadOptions, separator: Separator, columns: usize) -> Self {
        // The mark that is not between thousands.
        let implied = match options.thousands {
            Some(Thousands::Point) => Some(Decimal::Comma),
            Some(Thousands::Comma) => Some(Decimal::Point),
            Some(Thousands::Blank | Thousands::Apostrophe | Thousands::Nothing) | None => None,
        };
        Self {
            decimal: options.decimal.or(implied).map_or(MarkState::Open, MarkState::Told),
            thousands: options.thousands.or(options.marks.thousands.filter(|mark| *mark == Thousands::Nothing)),
            known: options.marks,
            commas: separator == Separator::Comma,
            columns: vec![Content::default(); columns],
            grouped: None,
            looked: 0,
            gaps: Gaps::new(&options.gaps),
        }
    }

    /// True if a plain number with a point may be read as it stands.
    #[inline]
    pub(crate) fn may_be_points(&self) -> bool {
        !matches!(self.decimal, MarkState::Told(Decimal::Comma) | MarkState::Found(Decimal::Comma, _))
    }

    /// Texts and numbers that stand for no value.
    #[inline]
    pub(crate) fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// True if some column is known to hold text, whose commas stand before no fraction.
    #[inline]
    pub(crate) fn knows_text(&self) -> bool {
        self.columns.iter().any(|column| column.numbers == Some(false))
    }

    /// Knowledge of the decimal mark: a row that is refused leaves [no trace](Self::back_to) in it.
    #[inline]
    pub(crate) fn known(&self) -> MarkState {
        self.decimal
    }

    /// Nothing more is known than was before.
    pub(crate) fn back_to(&mut self, known: MarkState) {
        self.decimal = known;
    }

    /// True if the decimal mark is not yet known.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.decimal == MarkState::Open
    }

    /// Takes the text of a plain number in account; false if that may not be read as it stands.
    #[inline]
    pub(crate) fn see(&mut self, number: &[u8], line: u64, column: usize) -> bool {
        if self.decimal != MarkState::Open || !number.contains(&b'.') {
            return true;
        }
        let doubtful = self.thousands.is_none() && self.points_are_doubtful();
        if doubtful && MarkStyle::detect(number).is_some_and(|written| written.doubt().is_some()) {
            return false;
        }
        self.decimal = MarkState::Found(Decimal::Point, MarkPlace { line, column });
        true
    }

    /// True if a single group behind a point may be one of thousands.
    fn points_are_doubtful(&self) -> bool {
        !self.commas || self.known.decimal == Some(Decimal::Comma)
    }

    /// The marks that the file has, as far as they are known.
    pub(crate) fn marks(&self) -> Marks {
        let decimal = match self.decimal {
            MarkState::Told(mark) | MarkState::Found(mark, _) => Some(mark),
            MarkState::Open => self.known.decimal,
        };
        Marks { decimal, thousands: self.thousands.or(self.grouped).or(self.known.thousands) }
    }

    /// Reading of a cell at that line and column.
    pub(crate) fn read(&mut self, cell: &[u8], line: u64, column: usize) -> CellReading {
        if self.gaps.has_text(cell) {
            return CellReading::Parsed(ParsedCell::Empty);
        }
        let is_text = self.columns[column].numbers == Some(false);
        if let (false, Some(parsed)) = (is_text || self.may_be_points(), short_with_comma(cell)) {
            return CellReading::Parsed(parsed);
        }
        let parsed = number::parse(cell);
        let plain = match parsed {
            ParsedCell::Number(_) => self.points_are_decimal() || !cell.contains(&b'.'),
            ParsedCell::Text => false,
            ParsedCell::Nan | ParsedCell::NotFinite | ParsedCell::Empty => true,
        };
        if plain || is_text {
            return CellReading::Parsed(parsed);
        }
        let Some(written) = MarkStyle::detect(cell) else { return CellReading::Parsed(parsed) };
        if self.looked != line && self.asks_of(written, column) {
            return CellReading::Asks;
        }
        let reading = self.written(cell, written, MarkPlace { line, column });
        if let CellReading::Grouped(_, mark) = reading {
            self.grouped.get_or_insert(mark);
        }
        reading
    }

    /// True if points stand before fractions.
    fn points_are_decimal(&self) -> bool {
        matches!(self.decimal, MarkState::Told(Decimal::Point) | MarkState::Found(Decimal::Point, _))
    }

    /// The row on that line is read with what is known by now.
    pub(crate) fn go_on(&mut self, line: u64) {
        self.looked = line;
    }

    /// True if the column is known to hold text, or a cell of it was.
    pub(crate) fn holds_text(&self, column: usize) -> bool {
        let column = &self.columns[column];
        column.texts > 0 || column.numbers == Some(false)
    }

    /// Takes in account that a cell is text.
    pub(crate) fn see_text(&mut self, column: usize) {
        self.columns[column].texts += 1;
    }

    /// A number with marks.
    fn written(&mut self, cell: &[u8], written: MarkStyle, place: MarkPlace) -> CellReading {
        let text = CellReading::Parsed(ParsedCell::Text);
        let written = match (self.thousands, written.groups()) {
            (Some(told), Some(groups)) if told != groups => match written.doubt() {
                Some(_) => written.with_fraction(),
                None => return text,
            },
            _ => written,
        };
        if written.groups().is_some_and(Thousands::is_no_decimal) && self.asks_of_groups(written, place.column) {
            return text;
        }
        let known = match (self.decimal, written.shows()) {
            (MarkState::Told(known), Some(shown)) if known != shown => return text,
            (MarkState::Found(known, first), Some(shown)) if known != shown => return CellReading::Mixed(first.line),
            (MarkState::Told(known) | MarkState::Found(known, _), _) => known,
            (MarkState::Open, Some(shown)) => self.found(shown, place),
            (MarkState::Open, None) => match (written.doubt(), self.known.decimal) {
                (None, _) => return read_as(cell, written),
                (Some(Thousands::Point), _) if !self.points_are_doubtful() => self.found(Decimal::Point, place),
                (Some(Thousands::Point), _) if self.commas => return CellReading::Doubtful(Thousands::Point),
                (Some(_), Some(known)) => self.found(known, place),
                (Some(mark), None) => return CellReading::Doubtful(mark),
            },
        };
        let as_fraction = written.doubt().is_some_and(|mark| mark.as_decimal() == Some(known));
        read_as(cell, if as_fraction { written.with_fraction() } else { written })
    }

    fn found(&mut self, mark: Decimal, place: MarkPlace) -> Decimal {
        self.decimal = MarkState::Found(mark, place);
        mark
    }

    /// True if blanks or apostrophes stand in a column of which it is not known that it holds
    /// numbers.
    fn asks_of_groups(&self, written: MarkStyle, column: usize) -> bool {
        self.thousands.is_none()
            && self.known.thousands != written.groups()
            && self.columns[column].numbers != Some(true)
    }

    fn asks_of(&self, written: MarkStyle, column: usize) -> bool {
        let numbers = self.columns[column].numbers;
        if self.is_doubtful(written) {
            return numbers != Some(false);
        }
        if numbers.is_some() {
            return false;
        }
        if written.groups().is_some_and(Thousands::is_no_decimal) {
            return self.asks_of_groups(written, column);
        }
        let in_quotes = self.commas && written.decimal() == Some(Decimal::Comma) && written.groups().is_none();
        match (self.decimal, written.shows()) {
            (MarkState::Found(known, _), Some(shown)) => known != shown,
            (MarkState::Open, Some(shown)) => {
                self.thousands.is_none() && self.known.decimal != Some(shown) && (written.several() || in_quotes)
            }
            (MarkState::Told(_), _) | (_, None) => false,
        }
    }

    /// True if nothing tells how that number is to be read.
    fn is_doubtful(&self, written: MarkStyle) -> bool {
        let Some(mark) = written.doubt() else { return false };
        let open = self.decimal == MarkState::Open && self.thousands.is_none();
        open && match mark {
            Thousands::Point if self.commas => self.points_are_doubtful(),
            _ => self.known.decimal.is_none(),
        }
    }

    /// True if it is known, or was told before, that numbers have groups.
    pub(crate) fn tells_groups(&self) -> bool {
        self.thousands.is_some() || self.grouped.is_some()
    }

    /// Takes in what was seen of the rows that follow.
    pub(crate) fn learn(&mut self, look: &MarkSearch) {
        for (column, seen) in self.columns.iter_mut().zip(&look.columns) {
            let present = seen.present + column.texts;
            if column.numbers.is_none() && present > 0 {
                column.numbers = Some(NUMBERS_A_TEXT * (present - seen.numbers) <= present);
            }
        }
        let holds_numbers = |column: usize| self.columns[column].numbers != Some(false);
        if matches!(self.decimal, MarkState::Found(_, first) if !holds_numbers(first.column)) {
            self.decimal = MarkState::Open;
        }
        if self.decimal == MarkState::Open {
            let shown = look.shown.iter().filter(|(_, place)| holds_numbers(place.column));
            if let Some(&(mark, place)) = shown.min_by_key(|(_, place)| place.line) {
                self.decimal = MarkState::Found(mark, place);
            }
        }
    }
}

/// Marks found in a row and those behind it.
pub(crate) struct MarkSearch {
    columns: Vec<MarkCounts>,
    /// Where each column first shows a decimal mark.
    shown: Vec<(Decimal, MarkPlace)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct MarkCounts {
    present: u64,
    numbers: u64,
    /// Blanks or apostrophes between thousands.
    groups: Option<Thousands>,
    /// Flags: each mark was shown.
    shown: [bool; 2],
}

impl MarkSearch {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: vec![MarkCounts::default(); columns], shown: Vec::new() }
    }

    /// Takes a cell in account.
    pub(crate) fn see(&mut self, cell: &[u8], line: u64, column: usize) {
        let parsed = number::parse(cell);
        if matches!(parsed, ParsedCell::Empty | ParsedCell::Nan) {
            return;
        }
        let seen = &mut self.columns[column];
        seen.present += 1;
        let written = MarkStyle::detect(cell);
        let groups = written.and_then(MarkStyle::groups).filter(|groups| groups.is_no_decimal());
        let alike = groups.is_none_or(|groups| *seen.groups.get_or_insert(groups) == groups);
        seen.numbers += u64::from((parsed != ParsedCell::Text || written.is_some()) && alike);
        if let Some(mark) = written.and_then(MarkStyle::shows) {
            let shown = &mut seen.shown[usize::from(mark == Decimal::Comma)];
            if !std::mem::replace(shown, true) {
                self.shown.push((mark, MarkPlace { line, column }));
            }
        }
    }
}

/// Style of a number with marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MarkStyle(Punctuation);

impl MarkStyle {
    /// `None` for what is no number, or has no mark.
    fn detect(cell: &[u8]) -> Option<Self> {
        Punctuation::detect(str::from_utf8(cell.trim_ascii()).ok()?).map(Self)
    }

    /// Mark before its fraction.
    fn decimal(self) -> Option<Decimal> {
        self.0.decimal.and_then(Decimal::from_mark)
    }

    /// Mark between its groups of three digits.
    fn groups(self) -> Option<Thousands> {
        self.0.groups.and_then(Thousands::from_mark)
    }

    /// True if there are three groups or more.
    fn several(self) -> bool {
        self.0.several
    }

    /// The mark, if it may as well stand before a fraction.
    fn doubt(self) -> Option<Thousands> {
        self.0.doubt().and_then(Thousands::from_mark)
    }

    /// The same with its only mark before a fraction.
    fn with_fraction(self) -> Self {
        Self(self.0.with_fraction())
    }

    /// The decimal mark of a file with that number, if it tells.
    fn shows(self) -> Option<Decimal> {
        self.0.shows().and_then(Decimal::from_mark)
    }

    /// The number.
    fn value(self, cell: &[u8]) -> ParsedCell {
        let text = str::from_utf8(cell.trim_ascii()).ok();
        text.and_then(|text| self.0.value(text)).map_or(ParsedCell::Text, ParsedCell::Number)
    }
}

/// A number of digits and one decimal comma, as nearly all are where commas stand before fractions.
fn short_with_comma(cell: &[u8]) -> Option<ParsedCell> {
    let mut text = [0; 24];
    let text = text.get_mut(..cell.len())?;
    let mut commas = 0;
    for (byte, &written) in text.iter_mut().zip(cell) {
        *byte = match written {
            b'0'..=b'9' | b'-' => written,
            b',' => b'.',
            _ => return None,
        };
        commas += usize::from(written == b',');
    }
    Some(number::parse(text)).filter(|parsed| commas == 1 && matches!(parsed, ParsedCell::Number(_)))
}

fn read_as(cell: &[u8], written: MarkStyle) -> CellReading {
    let value = written.value(cell);
    written.groups().map_or(CellReading::Parsed(value), |groups| CellReading::Grouped(value, groups))
}

/// True if a cell is a number with a decimal comma.
pub(crate) fn has_decimal_comma(cell: &[u8]) -> bool {
    MarkStyle::detect(cell).is_some_and(|written| {
        written.groups().is_none_or(|groups| groups == Thousands::Comma && written.doubt().is_some())
            && cell.contains(&b',')
    })
}

/// Kind of a cell of a first row, while it is not known which marks numbers have. A number in
/// thousands says nothing of its value.
pub(crate) fn kind(cell: &[u8], options: &ReadOptions) -> ParsedCell {
    if Gaps::new(&options.gaps).has_text(cell) {
        return ParsedCell::Empty;
    }
    let parsed = number::parse(cell);
    if parsed != ParsedCell::Text {
        return parsed;
    }
    match MarkStyle::detect(cell) {
        Some(written) if written.groups().is_some() => ParsedCell::NotFinite,
        Some(written) if written.decimal() != Some(Decimal::Comma) || options.decimal != Some(Decimal::Point) => {
            written.value(cell)
        }
        _ => ParsedCell::Text,
    }
}
