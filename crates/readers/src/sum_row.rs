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
    /// Those of which it has another text.
    names: Vec<usize>,
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
            let is_value = |cell: &Cell<'_>| match *cell {
                Cell::Text(text) => parse_instant(text).is_some(),
                Cell::Missing => false,
                _ => true,
            };
            self.values = record.cells().map(|cell| is_value(&cell)).collect();
            let is_name = |cell: Cell<'_>| matches!(cell, Cell::Text(_)) && !is_value(&cell);
            self.names = (0..record.len()).filter(|place| is_name(record.cell(*place))).collect();
            self.adds = self.leaves && !self.names.is_empty();
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
        for place in &self.names {
            match record.cell(*place) {
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
    /// Records before the last sum, and behind it.
    records: [u64; 2],
    columns: Vec<ColumnSum>,
}

/// What the records have in a column.
#[derive(Clone, Copy, Debug)]
struct ColumnSum {
    /// The sums before the last sum and behind it, and the largest part of each.
    sums: [f64; 2],
    largest: [f64; 2],
    /// The number of the record before; NaN where it has none.
    last: f64,
}

impl ColumnSum {
    const NONE: Self = Self { sums: [0.0; 2], largest: [0.0; 2], last: f64::NAN };

    /// True if a number is the sum of records, of all or of those behind the last sum, and more
    /// than any part of it.
    fn is(&self, value: f64, [before, behind]: [u64; 2], fewest: u64) -> bool {
        const ROUNDING: f64 = 1e-9;
        let Self { sums, largest, .. } = self;
        let equals = |records: u64, sum: f64, largest: f64| {
            records >= fewest && value.abs() > largest && (value - sum).abs() <= ROUNDING * value.abs()
        };
        equals(before + behind, sums[0] + sums[1], largest[0].max(largest[1])) || equals(behind, sums[1], largest[1])
    }
}

impl RunningSums {
    /// The first column of which a record has the sum. Its other numbers are sums, too, or those of
    /// the record before, as the month of a group is.
    fn find(&self, record: &Record, fewest: u64) -> Option<usize> {
        let mut found = None;
        for (place, (cell, column)) in record.cells().zip(&self.columns).enumerate() {
            let Some(value) = cell.number() else { continue };
            if column.is(value, self.records, fewest) {
                found = found.or(Some(place));
            } else if column.last != value {
                return None;
            }
        }
        found
    }

    /// Takes a record in. `O(columns)`, an addition each.
    fn take(&mut self, record: &Record, is_sum: bool) {
        if is_sum {
            self.records = [self.records.iter().sum(), 0];
            for ColumnSum { sums, largest, .. } in &mut self.columns {
                *sums = [sums[0] + sums[1], 0.0];
                *largest = [largest[0].max(largest[1]), 0.0];
            }
            return;
        }
        self.records[1] += 1;
        self.columns.resize(record.len(), ColumnSum::NONE);
        for (column, cell) in self.columns.iter_mut().zip(record.cells()) {
            column.last = cell.number().unwrap_or(f64::NAN);
            if let Some(value) = cell.number() {
                column.sums[1] += value;
                column.largest[1] = column.largest[1].max(value.abs());
            }
        }
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
