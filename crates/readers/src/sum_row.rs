//! Rows that sum up those above them, as spreadsheets have them at the end of a table.

use mercer_core::{Cell, parse_instant};

use crate::error::{CellPlace, Finding, Remark};
use crate::record::Record;

/// Names of such rows.
const WORDS: [&str; 33] = [
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sub-total",
    "sum",
    "sums",
    "summe",
    "zwischensumme",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "gesamtergebnis",
    "ergebnis",
    "somme",
    "total général",
    "sous-total",
    "totale",
    "suma",
    "total general",
    "totaal",
    "totalt",
    "razem",
    "ogółem",
    "celkem",
    "összesen",
    "yhteensä",
    "toplam",
    "итого",
    "всего",
    "合计",
    "合計",
    "总计",
];

/// Words that begin or end such a name beside that of a group: `A Total`, `Total 2020`.
const ENDS: [&str; 6] = ["total", "subtotal", "sub-total", "summe", "ergebnis", "somme"];

/// Names of rows of other figures. They may be categories as well, but not among numbers or times.
const FIGURES: [&str; 20] = [
    "average",
    "avg",
    "mean",
    "median",
    "std",
    "std dev",
    "min",
    "max",
    "minimum",
    "maximum",
    "mittelwert",
    "durchschnitt",
    "moyenne",
    "promedio",
    "media",
    "média",
    "gemiddelde",
    "średnia",
    "среднее",
    "平均",
];

/// The name of a row that may sum up others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SumName {
    /// Of all.
    Whole,
    /// Of a group, which is named beside it.
    Group,
    /// Another figure.
    Figure,
}

/// Records that sum up others, as they are met.
#[derive(Debug, Default)]
pub(crate) struct SumRows {
    /// True if those that are certain are left out.
    leaves: bool,
    /// True for the columns of which the first record has a number or a time.
    values: Vec<bool>,
    /// Records that were left out, and the line of the last.
    left: (u64, u64),
    told: bool,
    remark: Option<Remark>,
}

impl SumRows {
    pub(crate) fn new(leaves: bool) -> Self {
        Self { leaves, ..Self::default() }
    }

    /// True if a record is left out, for it sums up others. `place` tells where a cell stands.
    pub(crate) fn leaves_out(&mut self, record: &Record, place: impl Fn(usize) -> CellPlace) -> bool {
        if self.values.is_empty() {
            let is_value = |cell| match cell {
                Cell::Text(text) => parse_instant(text).is_some(),
                Cell::Missing => false,
                _ => true,
            };
            self.values = record.cells().map(is_value).collect();
        }
        if self.told && !self.leaves {
            return false;
        }
        let Some((column, text, name)) = find(record) else { return false };
        let certain = self.is_certain(record, column, name);
        if !certain && name != SumName::Whole {
            return false;
        }
        let certain = certain && self.leaves;
        let (cell, text) = (place(column), text.to_owned());
        if certain {
            self.left = (self.left.0 + 1, cell.line.number);
        }
        if !std::mem::replace(&mut self.told, true) {
            self.remark = Some(Finding::CalledSum { cell, text, left: certain }.remark());
        }
        certain
    }

    /// A line on those that were left out.
    pub(crate) fn report(&self) -> Option<String> {
        let (rows, last) = self.left;
        let plural = if rows == 1 { "row that sums" } else { "rows that sum" };
        (rows > 0)
            .then(|| format!("{rows} {plural} up others: left out, the last on line {last}; --keep-totals keeps them"))
    }

    pub(crate) fn take_remark(&mut self) -> Option<Remark> {
        self.remark.take()
    }

    /// True if a record with the name of a sum can hardly be another. Beside that it has numbers
    /// alone, and lacks a value; or it has the name in a column of numbers or times.
    fn is_certain(&self, record: &Record, column: usize, name: SumName) -> bool {
        let others = || record.cells().enumerate().filter(|(place, _)| *place != column).map(|(_, cell)| cell);
        let lacks = others().any(|cell| matches!(cell, Cell::Missing));
        let numbers = others().filter(|cell| !matches!(cell, Cell::Missing | Cell::Text(_))).count();
        let texts = others().filter(|cell| matches!(cell, Cell::Text(text) if !is_amount(text))).count();
        let amounts = others().filter(|cell| matches!(cell, Cell::Text(text) if is_amount(text))).count();
        let alone = texts == 0 && lacks && name != SumName::Figure;
        numbers + amounts > 0 && (alone || self.values.get(column) == Some(&true))
    }
}

/// True for a text that is a number with a sign or a unit: `10.623.013,14 €`.
fn is_amount(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits > 0 && 2 * digits >= text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// The first cell of a record that calls it a sum, with its text.
fn find(record: &Record) -> Option<(usize, &str, SumName)> {
    let mut cells = record.cells().enumerate();
    cells.find_map(|(place, cell)| match cell {
        Cell::Text(text) => sum_name(text).map(|name| (place, text, name)),
        _ => None,
    })
}

/// `None` for a text that is no name of a sum.
fn sum_name(text: &str) -> Option<SumName> {
    const LONGEST: usize = 60;
    if text.len() > LONGEST || text.bytes().next().is_some_and(|first| first.is_ascii_digit()) && !text.contains(' ') {
        return None;
    }
    let text = text.trim_end_matches([':', ' ']);
    let is_one = |text: &str, word: &&str| {
        text.len() == word.len() && text.chars().flat_map(char::to_lowercase).eq(word.chars())
    };
    if WORDS.iter().any(|word| is_one(text, word)) {
        return Some(SumName::Whole);
    }
    if FIGURES.iter().any(|word| is_one(text, word)) {
        return Some(SumName::Figure);
    }
    let (first, last) = (text.split(' ').next().unwrap_or_default(), text.rsplit(' ').next().unwrap_or_default());
    (text.contains(' ') && ENDS.iter().any(|word| is_one(first, word) || is_one(last, word))).then_some(SumName::Group)
}
