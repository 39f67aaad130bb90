//! One look at the head of a table, row by row, in bounded memory.

use std::collections::{HashMap, HashSet};

use crate::error::EncodingError;
use crate::key::Key;
use crate::overrides::Overrides;
use crate::schema::{Column, Kind, LISTED, LONGEST_NAME, Schema, TimeParts, Use};
use mercer_core::{Calendar, Cell, Cells, parse_instant};

/// Different values of a column that are counted.
const MOST_DISTINCT: usize = 10_000;
/// Texts of which none comes twice before they count as identifiers.
const ENOUGH_TEXTS: u64 = 20;
/// Average length of texts that are words for people, in bytes.
const LONG_TEXT: u64 = 40;
/// Of so many values one may be text in a column of numbers.
const NUMBERS_A_TEXT: u64 = 20;

const DAY: f64 = 86_400.0;

/// A look at the head of a table. Every row of it is shown to [`observe`](Self::observe); [`finish`](Self::finish) decides.
#[derive(Clone, Debug)]
pub struct Look {
    names: Vec<String>,
    named: bool,
    rows: u64,
    columns: Vec<Sight>,
}

impl Look {
    /// A look at a table with columns `names`.
    ///
    /// # Errors
    /// [`EncodingError::SameName`]
    pub fn new(names: &[String]) -> Result<Self, EncodingError> {
        let mut seen = HashMap::new();
        for (name, place) in names.iter().zip(1..) {
            if let Some(first) = seen.insert(name.as_str(), place) {
                return Err(EncodingError::SameName { name: name.clone(), first, second: place });
            }
        }
        Ok(Self { names: names.to_vec(), named: true, rows: 0, columns: vec![Sight::default(); names.len()] })
    }

    /// A look at a table of `width` columns without names.
    #[must_use]
    pub fn unnamed(width: usize) -> Self {
        let names = (1..=width).map(|place| place.to_string()).collect();
        Self { names, named: false, rows: 0, columns: vec![Sight::default(); width] }
    }

    /// Takes one more row into account.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn observe(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        if record.width() != self.columns.len() {
            return Err(EncodingError::Cells { expected: self.columns.len(), got: record.width() });
        }
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.observe(record.cell(place), self.rows);
        }
        self.rows += 1;
        Ok(())
    }

    /// Rows seen.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Decides what the columns are.
    ///
    /// # Errors
    /// [`EncodingError::NoColumn`] for an override of a column that is not there, [`EncodingError::NothingLeft`] when no column is encoded.
    pub fn finish(self, overrides: &Overrides) -> Result<Schema, EncodingError> {
        let Self { names, named, rows, columns } = self;
        let place = |name: &String| Schema::place(&names, named, name);
        let places = |list: &[String]| list.iter().map(place).collect::<Result<HashSet<_>, _>>();
        let (ignore, only, aside) = (places(&overrides.ignore)?, places(&overrides.only)?, places(&overrides.aside)?);
        let kinds = overrides.kinds.iter().map(|(name, kind)| Ok((place(name)?, *kind)));
        let kinds = kinds.collect::<Result<HashMap<_, _>, EncodingError>>()?;
        let decided = columns.into_iter().zip(&names).enumerate().map(|(place, (sight, name))| {
            let told = kinds.get(&place).copied();
            let mut column = sight.decide(name, told);
            if aside.contains(&place) {
                column.used = Use::SetAside;
            } else if ignore.contains(&place) || !(only.is_empty() || only.contains(&place)) {
                column.used = Use::Unwanted;
            }
            column
        });
        let schema = Schema { rows, named, columns: decided.collect() };
        let left =
            schema.columns.iter().any(|column| !matches!(column.used, Use::SetAside | Use::Unwanted | Use::Empty));
        if left { Ok(schema) } else { Err(EncodingError::NothingLeft) }
    }
}

/// What was seen of a column.
#[derive(Clone, Debug, Default)]
struct Sight {
    missing: u64,
    numbers: u64,
    instants: u64,
    texts: u64,
    /// Texts that are dates or times.
    dates: u64,
    /// Their bytes.
    bytes: u64,
    range: Option<(f64, f64)>,
    last: Option<f64>,
    /// A number that is no integer, or not above the one before.
    not_running: bool,
    times: Times,
    /// How often each value came, and in which row first.
    values: HashMap<String, (u64, u64)>,
    /// Values that are too long to be listed, or too many.
    unlisted: u64,
}

/// How the times of a column vary.
#[derive(Clone, Debug, Default)]
struct Times {
    range: Option<(f64, f64)>,
    first: Option<Calendar>,
    last: Option<f64>,
    least_gap: Option<f64>,
    hours: bool,
    days: bool,
}

impl Times {
    fn observe(&mut self, instant: f64) {
        widen(&mut self.range, instant);
        let calendar = Calendar::of(instant);
        let first = *self.first.get_or_insert(calendar);
        self.hours |= first.of_day != calendar.of_day;
        self.days |= first.day != calendar.day;
        if let Some(last) = self.last.replace(instant) {
            let gap = (instant - last).abs();
            if gap > 0.0 {
                self.least_gap = Some(self.least_gap.map_or(gap, |least| least.min(gap)));
            }
        }
    }

    fn parts(&self) -> TimeParts {
        let closer = |days: f64| self.days && self.least_gap.is_some_and(|gap| gap < days * DAY);
        TimeParts { hour: self.hours, weekday: closer(7.0), season: closer(300.0) }
    }
}

fn widen(range: &mut Option<(f64, f64)>, value: f64) {
    *range = Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
}

impl Sight {
    fn observe(&mut self, cell: Cell<'_>, row: u64) {
        let Some(key) = Key::of(cell) else {
            self.missing += 1;
            return;
        };
        match cell {
            Cell::Missing => {}
            Cell::Number(number) => {
                self.numbers += 1;
                widen(&mut self.range, number);
                let running = number == number.trunc() && self.last.is_none_or(|last| number > last);
                self.not_running |= !running;
                self.last = Some(number);
            }
            Cell::Instant(instant) => {
                self.instants += 1;
                self.times.observe(instant);
            }
            Cell::Text(text) => {
                self.texts += 1;
                self.bytes += text.len() as u64;
                if let Some(instant) = parse_instant(text) {
                    self.dates += 1;
                    self.times.observe(instant);
                }
            }
        }
        let key = key.as_str();
        if let Some((count, _)) = self.values.get_mut(key) {
            *count += 1;
        } else if key.len() <= LONGEST_NAME && self.values.len() < MOST_DISTINCT {
            self.values.insert(key.to_owned(), (1, row));
        } else {
            self.unlisted += 1;
        }
    }

    fn present(&self) -> u64 {
        self.numbers + self.instants + self.texts
    }

    fn distinct(&self) -> u64 {
        (self.values.len() as u64).saturating_add(self.unlisted)
    }

    fn kind(&self, name: &str) -> Kind {
        let (present, distinct) = (self.present(), self.distinct());
        if self.instants + self.dates == present && present > 0 {
            return Kind::Time;
        }
        if distinct <= 1 {
            return Kind::Constant;
        }
        if self.texts * NUMBERS_A_TEXT <= present && self.instants == 0 {
            let names_rows = self.texts == 0 && !self.not_running && is_name_of_identifier(name);
            return if names_rows { Kind::Identifier } else { Kind::Number };
        }
        if self.texts == present && 2 * distinct > present && self.bytes > LONG_TEXT * self.texts {
            Kind::Text
        } else if self.texts == present && distinct == present && present >= ENOUGH_TEXTS {
            Kind::Identifier
        } else {
            Kind::Category
        }
    }

    fn decide(self, name: &str, told: Option<Kind>) -> Column {
        let kind = told.unwrap_or_else(|| self.kind(name));
        let used = match kind {
            _ if self.present() == 0 => Use::Empty,
            Kind::Identifier | Kind::Text if told.is_some() => Use::Unwanted,
            Kind::Identifier => Use::Identifier,
            Kind::Text => Use::Text,
            _ => Use::Encoded,
        };
        let is_time = kind == Kind::Time;
        // Numbers that are told to be times are seconds.
        let times = if is_time && self.instants + self.dates == 0 { self.range.into() } else { self.times.clone() };
        let range = if is_time { times.range } else { self.range };
        let listed = kind == Kind::Category || (kind == Kind::Constant && range.is_none());
        let distinct = self.distinct();
        Column {
            name: name.to_owned(),
            kind,
            used,
            missing: self.missing + if kind == Kind::Number { self.texts } else { 0 },
            distinct,
            range,
            categories: if listed { self.most_frequent() } else { Vec::new() },
            time: if is_time { times.parts() } else { TimeParts::default() },
        }
    }

    fn most_frequent(self) -> Vec<(String, u64)> {
        let mut values: Vec<(String, (u64, u64))> = self.values.into_iter().collect();
        // The earlier of two that are as frequent; no two have come first in the same row.
        values.sort_unstable_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
        values.truncate(LISTED);
        values.into_iter().map(|(name, (count, _))| (name, count)).collect()
    }
}

impl From<Option<(f64, f64)>> for Times {
    /// Times of which only the first and the last are known: every part varies.
    fn from(range: Option<(f64, f64)>) -> Self {
        let varies = range.is_some_and(|(low, high)| low < high);
        Self { range, hours: varies, days: varies, least_gap: Some(0.0), ..Self::default() }
    }
}

/// Whether a column of this name numbers its rows: `id`, `user_id`, `OrderID`, `index`, `row`, no name at all, and the like.
fn is_name_of_identifier(name: &str) -> bool {
    const WHOLE: [&str; 12] =
        ["", "index", "row", "rownames", "rownum", "row_number", "rowid", "no", "nr", "key", "uuid", "instant"];
    let lower = name.trim().to_lowercase();
    let ends =
        |tail: &str| lower == tail || lower.ends_with(&format!("_{tail}")) || lower.ends_with(&format!(" {tail}"));
    WHOLE.contains(&lower.as_str())
        || ["id", "nr", "no", "number", "key"].iter().any(|tail| ends(tail))
        || name.ends_with("Id")
        || name.ends_with("ID")
        || lower.starts_with("unnamed:")
}
