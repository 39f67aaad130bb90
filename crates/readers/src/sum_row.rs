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

/// Fewest records of a sum that has a name.
const FEWEST_NAMED: u64 = 2;

/// Names of all groups in the column of a group.
const ALL: [&str; 14] = [
    "all",
    "(all)",
    "overall",
    "alle",
    "(alle)",
    "tous",
    "toutes",
    "todos",
    "todas",
    "tutti",
    "tutte",
    "все",
    "全部",
    "すべて",
];

/// Records that sum up others, as they are met.
#[derive(Debug, Default)]
pub(crate) struct SumRows {
    /// True if those that are certain are left out.
    leaves: bool,
    /// True for the columns of which the first record has a number or a time.
    values: Vec<bool>,
    /// True for those of which it has another text.
    names: Vec<bool>,
    /// True if records are left out that have the sums of others.
    adds: bool,
    sums: RunningSums,
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
            self.names = record.cells().map(|cell| matches!(cell, Cell::Text(_)) && !is_value(cell)).collect();
            self.adds = self.leaves && self.names.contains(&true);
        }
        if self.told && !self.leaves {
            return false;
        }
        let named = find(record);
        let summed = self.find_sum(record, named.map(|(_, _, name)| name));
        let by_name = named.is_some_and(|(column, _, name)| self.is_certain(record, column, name));
        let certain = self.leaves && (by_name || summed.is_some());
        if self.adds {
            self.sums.take(record, certain);
        }
        let may_be = by_name || matches!(named, Some((_, _, SumName::Whole)));
        let Some(column) = named.filter(|_| may_be).map(|(column, ..)| column).or(summed) else { return false };
        let cell = place(column);
        if certain {
            self.left = (self.left.0 + 1, cell.line.number);
        }
        if !std::mem::replace(&mut self.told, true) {
            let text = record.cell(column).to_string();
            self.remark = Some(Finding::CalledSum { cell, text, left: certain }.remark());
        }
        certain
    }

    /// The column by which a record has the sums of those before, where it may be one: by a name of
    /// sums, that of all, or none.
    fn find_sum(&self, record: &Record, named: Option<SumName>) -> Option<usize> {
        if !self.adds {
            return None;
        }
        let fewest = match named {
            Some(SumName::Figure) => None,
            Some(SumName::Whole | SumName::Group) => Some(FEWEST_NAMED),
            None => self.fewest(record),
        };
        self.sums.find(record, fewest?)
    }

    /// How many records a sum has at least: fewer where one says that it is of all, more where a
    /// name is missing. None where all names are there.
    fn fewest(&self, record: &Record) -> Option<u64> {
        const NAMELESS: u64 = 5;
        let mut fewest = None;
        for (cell, _) in record.cells().zip(&self.names).filter(|(_, is_name)| **is_name) {
            match cell {
                Cell::Missing => fewest = fewest.or(Some(NAMELESS)),
                Cell::Text(text) if ALL.iter().any(|word| is_word(text, word)) => fewest = Some(FEWEST_NAMED),
                _ => return None,
            }
        }
        fewest
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

/// Sums of the columns over records that are no sums themselves.
#[derive(Debug, Default)]
struct RunningSums {
    whole: Sum,
    /// Of those behind the last sum.
    group: Sum,
    /// The numbers of the record before; NaN where it has none.
    last: Vec<f64>,
}

/// The sum of some records.
#[derive(Debug, Default)]
struct Sum {
    records: u64,
    /// Of each column: the sum, and the largest part.
    columns: Vec<(f64, f64)>,
}

impl Sum {
    /// True if a number is the sum of a column, and more than any part of it.
    fn is(&self, column: usize, value: f64, fewest: u64) -> bool {
        const ROUNDING: f64 = 1e-9;
        self.records >= fewest
            && self
                .columns
                .get(column)
                .is_some_and(|&(sum, largest)| value.abs() > largest && (value - sum).abs() <= ROUNDING * value.abs())
    }

    fn add(&mut self, values: &[f64]) {
        self.records += 1;
        self.columns.resize(values.len(), (0.0, 0.0));
        for ((sum, largest), value) in self.columns.iter_mut().zip(values).filter(|(_, value)| !value.is_nan()) {
            *sum += value;
            *largest = largest.max(value.abs());
        }
    }
}

impl RunningSums {
    /// The first column of which a record has the sum. Its other numbers are sums, too, or those of
    /// the record before, as the month of a group is.
    fn find(&self, record: &Record, fewest: u64) -> Option<usize> {
        let mut found = None;
        for (column, cell) in record.cells().enumerate() {
            let Some(value) = cell.number() else { continue };
            if self.whole.is(column, value, fewest) || self.group.is(column, value, fewest) {
                found = found.or(Some(column));
            } else if self.last.get(column) != Some(&value) {
                return None;
            }
        }
        found
    }

    fn take(&mut self, record: &Record, is_sum: bool) {
        if is_sum {
            self.group = Sum::default();
            return;
        }
        self.last.clear();
        self.last.extend(record.cells().map(|cell| cell.number().unwrap_or(f64::NAN)));
        self.whole.add(&self.last);
        self.group.add(&self.last);
    }
}

/// True for a text that is a number with a sign or a unit: `10.623.013,14 €`.
fn is_amount(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits > 0 && 2 * digits >= text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// True if a text is this word, in capitals or not.
fn is_word(text: &str, word: &str) -> bool {
    text.len() == word.len() && text.chars().flat_map(char::to_lowercase).eq(word.chars())
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
    if WORDS.iter().any(|word| is_word(text, word)) {
        return Some(SumName::Whole);
    }
    if FIGURES.iter().any(|word| is_word(text, word)) {
        return Some(SumName::Figure);
    }
    let (first, last) = (text.split(' ').next().unwrap_or_default(), text.rsplit(' ').next().unwrap_or_default());
    (text.contains(' ') && ENDS.iter().any(|word| is_word(first, word) || is_word(last, word)))
        .then_some(SumName::Group)
}
