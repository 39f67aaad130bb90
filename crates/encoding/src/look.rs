//! One look at the head of a table, row by row, in bounded memory.

use std::collections::{HashMap, HashSet};

use crate::error::EncodingError;
use crate::face::MARKS_TELL;
use crate::key::Key;
use crate::kind::ToldKind;
use crate::notation::{CELLS_A_MISFIT, Notation, NumberMarks, TextReading};
use crate::numeral::{is_code, is_set_off};
use crate::overrides::Overrides;
use crate::schema::{Column, Kind, LISTED, LONGEST_NAME, Schema, TimeParts, Use};
use crate::written_time::clock;
use mercer_core::{Calendar, Cell, Cells, ValueRange, is_gap_mark, parse_instant};

/// Different values of a column that are counted.
const MOST_DISTINCT: usize = 10_000;
/// Texts of which none comes twice before they count as identifiers.
const ENOUGH_TEXTS: u64 = 20;
/// Average length of texts that are words for people, in bytes.
const LONG_TEXT: u64 = 40;

const DAY: f64 = 86_400.0;

/// A look at the head of a table. Every row of it is shown to [`observe`](Self::observe);
/// [`finish`](Self::finish) decides.
#[derive(Clone, Debug)]
pub struct Look {
    names: Vec<String>,
    named: bool,
    rows: u64,
    columns: Vec<ColumnSight>,
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
        Ok(Self { names: names.to_vec(), named: true, rows: 0, columns: vec![ColumnSight::default(); names.len()] })
    }

    /// A look at a table of `width` columns without names.
    #[must_use]
    pub fn unnamed(width: usize) -> Self {
        let names = (1..=width).map(|place| place.to_string()).collect();
        Self { names, named: false, rows: 0, columns: vec![ColumnSight::default(); width] }
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
            column.observe(record.cell(place));
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
    /// [`EncodingError::NoColumn`] for an override of a column that is not there,
    /// [`EncodingError::NothingLeft`] when no column is encoded.
    pub fn finish(self, overrides: &Overrides) -> Result<Schema, EncodingError> {
        let Self { names, named, rows, columns } = self;
        let place = |name: &String| Schema::place(&names, named, name);
        let places = |list: &[String]| list.iter().map(place).collect::<Result<HashSet<_>, _>>();
        let (ignore, only, aside) = (places(&overrides.ignore)?, places(&overrides.only)?, places(&overrides.aside)?);
        let kinds = overrides.kinds.iter().map(|(name, kind)| Ok((place(name)?, *kind)));
        let kinds = kinds.collect::<Result<HashMap<_, _>, EncodingError>>()?;
        let decided = columns.into_iter().zip(&names).enumerate().map(|(place, (mut sight, name))| {
            sight.number_marks = overrides.marks;
            let mut column = sight.decide(name, kinds.get(&place).copied())?;
            if aside.contains(&place) {
                column.used = Use::SetAside;
            } else if ignore.contains(&place) || !(only.is_empty() || only.contains(&place)) {
                column.used = Use::Unwanted;
            }
            Ok(column)
        });
        let decided = decided.collect::<Result<Vec<Column>, EncodingError>>()?;
        let schema = Schema { rows, named, columns: decided };
        let left = schema.columns.iter().any(|column| !matches!(column.used, Use::SetAside | Use::Unwanted));
        if left { Ok(schema) } else { Err(EncodingError::NothingLeft) }
    }
}

impl Schema {
    /// Looks at the head of a table, whose columns are called `names`. `O(rows × columns)`;
    /// [`Look`] does it row by row.
    ///
    /// # Errors
    /// As [`Look::new`], [`Look::observe`] and [`Look::finish`].
    pub fn of<R: Cells>(
        names: &[String],
        head: impl IntoIterator<Item = R>,
        overrides: &Overrides,
    ) -> Result<Self, EncodingError> {
        let mut look = Look::new(names)?;
        for record in head {
            look.observe(&record)?;
        }
        look.finish(overrides)
    }
}

/// What was seen of a column.
#[derive(Clone, Debug, Default)]
struct ColumnSight {
    missing: u64,
    /// Texts that are gaps among numbers and times, and values among categories.
    marks: u64,
    numbers: u64,
    instants: u64,
    texts: u64,
    /// Texts that are numbers as every program writes them.
    plain: u64,
    /// Texts that are dates or times.
    dates: u64,
    /// Their bytes.
    bytes: u64,
    range: ValueRange,
    last: Option<f64>,
    /// A number that is no integer, or not above the one before.
    not_running: bool,
    times: TimeVariation,
    /// The different values with how often each came, in the order in which they came first.
    values: Vec<(String, u64)>,
    /// Where each of them stands there.
    places: HashMap<String, usize>,
    /// How the first number is written that may be a code.
    code: Option<&'static str>,
    /// Values that are too long to be listed, or too many.
    unlisted: u64,
    /// The marks of numbers, told or shown by other columns.
    number_marks: NumberMarks,
}

/// How the times of a column vary.
#[derive(Clone, Debug, Default)]
struct TimeVariation {
    range: ValueRange,
    first: Option<Calendar>,
    last: Option<f64>,
    least_gap: Option<f64>,
    hours: bool,
    days: bool,
}

impl TimeVariation {
    fn observe(&mut self, instant: f64) {
        self.range.observe(instant);
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

impl ColumnSight {
    fn observe(&mut self, cell: Cell<'_>) {
        let Some(key) = Key::of(cell) else {
            self.missing += 1;
            return;
        };
        match cell {
            Cell::Missing => {}
            Cell::Number(_) | Cell::Integer(_) | Cell::Numeral(..) => {
                self.numbers += 1;
                self.code = self.code.or_else(|| code(cell));
                if let Some(number) = cell.number() {
                    self.range.observe(number);
                    self.observe_order(number);
                }
            }
            Cell::Instant(instant) => {
                self.instants += 1;
                self.times.observe(instant);
            }
            Cell::Text(text) if is_gap_mark(text) => self.marks += 1,
            Cell::Text(text) => {
                self.texts += 1;
                match Notation::Plain.number(cell) {
                    Some(number) => {
                        self.plain += 1;
                        self.observe_order(number);
                    }
                    None => self.not_running = true,
                }
                self.bytes += text.len() as u64;
                if let Some(instant) = parse_instant(text) {
                    self.dates += 1;
                    self.times.observe(instant);
                }
            }
        }
        let key = key.as_str();
        if let Some(&place) = self.places.get(key) {
            self.values[place].1 += 1;
        } else if key.len() <= LONGEST_NAME && self.values.len() < MOST_DISTINCT {
            self.places.insert(key.to_owned(), self.values.len());
            self.values.push((key.to_owned(), 1));
        } else {
            self.unlisted += 1;
        }
    }

    fn observe_order(&mut self, number: f64) {
        let running = number == number.trunc() && self.last.is_none_or(|last| number > last);
        self.not_running |= !running;
        self.last = Some(number);
    }

    /// Cells with a value, whatever the column is.
    fn present(&self) -> u64 {
        self.numbers + self.instants + self.texts
    }

    /// Different values that are no marks of gaps.
    fn distinct(&self) -> u64 {
        (self.values().count() as u64).saturating_add(self.unlisted)
    }

    /// Values that are no marks of gaps, and how often each came, in the order in which they came
    /// first.
    fn values(&self) -> impl Iterator<Item = (&str, u64)> + Clone {
        let values = self.values.iter().map(|(value, count)| (value.as_str(), *count));
        values.filter(|(value, _)| !is_gap_mark(value))
    }

    /// Whether nearly all cells with a value are those counted.
    fn are_most(&self, counted: u64) -> bool {
        let present = self.present();
        present > 0 && (present - counted) * CELLS_A_MISFIT <= present
    }

    /// What the column is, how its texts are read, and what is to be said of it.
    fn kind(&self, name: &str) -> (Kind, Notation, String) {
        let said = |kind, why: String| (kind, Notation::Plain, why);
        let (present, distinct) = (self.present(), self.distinct());
        let names_rows = self.marks == 0 && !self.not_running && is_name_of_identifier(name);
        if self.are_most(self.instants + self.dates) {
            return said(Kind::Time, String::new());
        }
        if distinct <= 1 {
            return said(Kind::Constant, String::new());
        }
        if self.are_most(self.numbers) {
            if names_rows {
                return said(Kind::Identifier, String::new());
            }
            return self.numbers(name, self.notation_of_most());
        }
        if self.unlisted == 0 {
            let mut doubt = String::new();
            match Notation::of_numbers(self.values(), CELLS_A_MISFIT, self.number_marks) {
                TextReading::As(Notation::Plain) if names_rows => {
                    return said(Kind::Identifier, String::new());
                }
                TextReading::As(notation) => return self.numbers(name, notation),
                TextReading::Doubtful(value) => {
                    doubt = format!("{value:?} may be read as two numbers; {MARKS_TELL}");
                }
                TextReading::Text => {}
            }
            match Notation::of_days(self.values()) {
                TextReading::As(notation) => return (Kind::Time, notation, String::new()),
                TextReading::Doubtful(value) => {
                    doubt = format!("{value:?} may be two days; its kind tells which: {name}=dmy or {name}=mdy");
                }
                TextReading::Text => {}
            }
            if !doubt.is_empty() {
                return said(Kind::Text, doubt);
            }
            if let Some(notation) = Notation::of_written(&self.values(), false) {
                return (Kind::Time, notation, String::new());
            }
        }
        let kind = if self.texts == present && 2 * distinct > present && self.bytes > LONG_TEXT * self.texts {
            Kind::Text
        } else if 2 * self.numbers <= present && distinct == present && present >= ENOUGH_TEXTS {
            Kind::Identifier
        } else {
            Kind::Category
        };
        said(kind, self.doubt_of_texts(name).unwrap_or_default())
    }

    /// A column of numbers, with what is to be said of it.
    fn numbers(&self, name: &str, notation: Notation) -> (Kind, Notation, String) {
        let why = self.set_off(&notation).or_else(|| self.doubt_of_numbers(name));
        (Kind::Number, notation, why.unwrap_or_default())
    }

    /// How the cells are read of a column of which nearly all are numbers: some may be written as
    /// accounts write what is below zero, or with a word for thousands.
    fn notation_of_most(&self) -> Notation {
        let set_off = self.unlisted == 0 && self.values().any(|(value, _)| is_set_off(value));
        match Notation::of_numbers(self.values(), CELLS_A_MISFIT, self.number_marks) {
            TextReading::As(notation) if set_off || matches!(notation, Notation::Magnitude(_)) => notation,
            _ => Notation::Plain,
        }
    }

    /// A number below zero as accounts write it, with what it is read as.
    fn set_off(&self, notation: &Notation) -> Option<String> {
        let text = self.values().map(|(value, _)| value).find(|value| is_set_off(value))?;
        notation.number(Cell::Text(text)).map(|number| format!("{text:?} is {number}"))
    }

    /// Why numbers may be something else.
    fn doubt_of_numbers(&self, name: &str) -> Option<String> {
        let code = self.code.map(|written| format!("some {written}; {name}=category keeps codes apart"));
        let gap = |gap| format!("{gap} is far from all others; --gap {gap} tells that it stands for no value");
        let present = self.present();
        let differ = present >= ENOUGH_TEXTS && self.distinct() == present && is_name_of_identifier(name);
        let names_rows = || differ.then(|| format!("another one in each row; {name}=identifier leaves it out"));
        code.or_else(|| self.outlying_mark().map(gap)).or_else(names_rows)
    }

    /// What a column of categories may have been meant for.
    fn doubt_of_texts(&self, name: &str) -> Option<String> {
        if self.unlisted == 0
            && let Some([one, other]) = Notation::of_two(self.values())
        {
            return Some(format!("{one:?} and {other:?} are numbers written in two ways; write all in one"));
        }
        if let Some(odd) = self.odd_number() {
            return Some(format!("{odd:?} is no number; {name}=number has such cells count as missing"));
        }
        if let Some((text, number)) = self.told_number() {
            let time = if clock(text).is_some() { format!(", {name}=time as a time of day") } else { String::new() };
            return Some(format!("{text:?} may be the number {number}; {name}=number reads it so{time}"));
        }
        let mut small = HashMap::new();
        self.values().find_map(|(value, _)| {
            let first = small.insert(value.to_lowercase(), value)?;
            Some(format!("{first:?} and {value:?} differ in capitals alone, and are two of them"))
        })
    }

    /// How texts are read that are told to be numbers: half of them may be none.
    fn told_numbers(&self) -> TextReading {
        let of_share = |misfit| Notation::of_told_numbers(self.values(), misfit, self.number_marks);
        Some(of_share(CELLS_A_MISFIT)).filter(|read| *read != TextReading::Text).unwrap_or_else(|| of_share(2))
    }

    /// A text that is a number where that is told, with the number, in a column of such.
    fn told_number(&self) -> Option<(&str, f64)> {
        let read = if self.unlisted == 0 {
            Notation::of_told_numbers(self.values(), CELLS_A_MISFIT, self.number_marks)
        } else {
            return None;
        };
        let TextReading::As(notation) = read else { return None };
        self.values().find_map(|(value, _)| Some((value, notation.number(Cell::Text(value))?)))
    }

    /// A text that is no number, in a column of which more than half are numbers.
    fn odd_number(&self) -> Option<&str> {
        let mut texts = self.values().map(|(value, _)| value);
        if 2 * self.numbers > self.present() {
            return texts.find(|value| value.replacen(',', ".", 1).parse::<f64>().is_err());
        }
        if self.unlisted > 0 {
            return None;
        }
        let TextReading::As(notation) = Notation::of_numbers(self.values(), 2, self.number_marks) else { return None };
        texts.find(|value| notation.number(Cell::Text(value)).is_none())
    }

    /// A number that programs write where there is no value, if it is there more than once and much
    /// farther from all others than these are from one another.
    fn outlying_mark(&self) -> Option<&'static str> {
        const MARKS: [(&str, f64); 7] = [
            ("-99", -99.0),
            ("-999", -999.0),
            ("-9999", -9999.0),
            ("-99999", -99_999.0),
            ("999", 999.0),
            ("9999", 9999.0),
            ("99999", 99_999.0),
        ];
        let is_far = |(text, mark): &(&str, f64)| {
            let often = self.places.get(*text).is_some_and(|&place| self.values[place].1 > 1);
            let mut others = ValueRange::NOTHING;
            if often && self.unlisted == 0 {
                let values = self.values().filter(|(value, _)| value != text);
                values.filter_map(|(value, _)| value.parse().ok()).for_each(|number| others.observe(number));
            }
            others.ends().is_some_and(|(low, high)| high > low && (low - mark).max(mark - high) > 3.0 * (high - low))
        };
        MARKS.into_iter().find(is_far).map(|(text, _)| text)
    }

    /// How the texts are read of a column whose kind is told.
    fn told(&self, name: &str, ToldKind { kind, order }: ToldKind) -> Result<Notation, EncodingError> {
        let nothing = self.present() == 0;
        let unreadable = |read: &dyn Fn(&str) -> bool, kind| {
            // The earliest cell that cannot be read.
            let value = self.values().map(|(value, _)| value).find(|value| !read(value))?.to_owned();
            Some(EncodingError::Unreadable { name: name.to_owned(), value, kind })
        };
        let doubtful = |value, remedy| EncodingError::Doubtful { name: name.to_owned(), value, remedy };
        let notation = match kind {
            Kind::Number if nothing || self.are_most(self.numbers) => self.notation_of_most(),
            Kind::Number => match self.told_numbers() {
                TextReading::As(notation) => notation,
                TextReading::Doubtful(value) => {
                    return Err(doubtful(value, MARKS_TELL.to_owned()));
                }
                TextReading::Text
                    if self.numbers > 0 || self.values().any(|(value, _)| value.parse::<f64>().is_ok()) =>
                {
                    Notation::Plain
                }
                TextReading::Text => return Err(unreadable(&|_| false, "number").unwrap_or(EncodingError::NothingLeft)),
            },
            Kind::Time => {
                let notation = match order {
                    Some(order) => Notation::Day(order),
                    None if nothing || self.texts == self.dates && self.numbers == 0 => Notation::Plain,
                    None if self.texts == 0 => {
                        let range = self.range.ends().unwrap_or_default();
                        Notation::of_clock(range, self.values().filter_map(|(value, _)| value.parse().ok()))
                    }
                    None => match Notation::of_days(self.values()) {
                        TextReading::As(notation) => notation,
                        TextReading::Doubtful(value) => {
                            return Err(doubtful(value, format!("its kind tells which: {name}=dmy or {name}=mdy")));
                        }
                        TextReading::Text => Notation::of_written(&self.values(), true).unwrap_or_default(),
                    },
                };
                let read = |value: &str| {
                    let number = value.parse().ok().map(|number| Cell::Numeral(number, value));
                    notation.instant(number.unwrap_or(Cell::Text(value))).is_some()
                };
                if let Some(refused) = unreadable(&read, "time") {
                    return Err(refused);
                }
                notation
            }
            _ => Notation::Plain,
        };
        Ok(notation)
    }

    fn decide(self, name: &str, told: Option<ToldKind>) -> Result<Column, EncodingError> {
        let (kind, notation, why) = match told {
            Some(told) => (told.kind, self.told(name, told)?, String::new()),
            None => self.kind(name),
        };
        let used = match kind {
            Kind::Identifier | Kind::Text if told.is_some() => Use::Unwanted,
            _ if self.present() == 0 && told.is_none() => Use::Late,
            Kind::Identifier => Use::Identifier,
            Kind::Text => Use::Text,
            _ => Use::Encoded,
        };
        let is_time = kind == Kind::Time;
        let (range, times) = self.ranges(kind, &notation);
        let listed = kind == Kind::Category || (kind == Kind::Constant && range.ends().is_none());
        let misfits = match kind {
            // The text of a number may have a decimal comma, which the file tells and a value does
            // not.
            Kind::Number if notation == Notation::Plain => self.marks + self.instants + self.texts - self.plain,
            Kind::Number => self.marks + self.misfits(|cell| notation.number(cell).is_some()),
            Kind::Time => self.marks + self.misfits(|cell| notation.instant(cell).is_some()),
            Kind::Constant if range.ends().is_some() => self.marks,
            _ => 0,
        };
        let distinct = if listed { self.values.len() as u64 + self.unlisted } else { self.distinct() };
        Ok(Column {
            name: name.to_owned(),
            kind,
            used,
            missing: self.missing + misfits,
            distinct,
            range: if is_time { times.range.ends() } else { range.ends() },
            categories: if listed { self.most_frequent() } else { Vec::new() },
            time: if is_time { times.parts() } else { TimeParts::default() },
            mean: false,
            notation,
            why,
        })
    }

    /// Cells of the values that do not fit.
    fn misfits(&self, fits: impl Fn(Cell<'_>) -> bool) -> u64 {
        let cell = |value: &'_ str| match value.parse::<f64>() {
            Ok(number) if number.is_finite() => fits(Cell::Numeral(number, value)),
            _ => parse_instant(value).is_some_and(|_| self.instants > 0) || fits(Cell::Text(value)),
        };
        if self.texts == 0 { 0 } else { self.values().filter(|(value, _)| !cell(value)).map(|(_, count)| count).sum() }
    }

    /// The range of a column of numbers, and the times of one of times.
    fn ranges(&self, kind: Kind, notation: &Notation) -> (ValueRange, TimeVariation) {
        let are_names = kind == Kind::Identifier && self.plain < self.texts;
        let are_numbers = matches!(kind, Kind::Number | Kind::Identifier) && !are_names;
        let mut range = if are_names { ValueRange::NOTHING } else { self.range };
        let mut times = self.times.clone();
        match (kind, notation) {
            _ if are_numbers && self.texts > 0 => {
                self.values().filter_map(|(value, _)| notation.number(Cell::Text(value))).for_each(|number| {
                    range.observe(number);
                });
            }
            (Kind::Time, Notation::Plain) => {}
            (Kind::Time, Notation::Clock(_)) => {
                times = TimeVariation::default();
                let cell = |value: &str| value.parse().ok().and_then(|number| notation.instant(Cell::Number(number)));
                self.values().filter_map(|(value, _)| cell(value)).for_each(|instant| times.observe(instant));
            }
            (Kind::Time, _) => {
                times = TimeVariation::default();
                let instants = self.values().filter_map(|(value, _)| notation.instant(Cell::Text(value)));
                instants.for_each(|instant| times.observe(instant));
            }
            _ => {}
        }
        (range, times)
    }

    /// The earlier of two that are as frequent goes before.
    fn most_frequent(mut self) -> Vec<(String, u64)> {
        self.values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        self.values.truncate(LISTED);
        self.values
    }
}

/// How a number is written that may be a code.
fn code(cell: Cell<'_>) -> Option<&'static str> {
    let text = match cell {
        Cell::Integer(_) => return Some("have more digits than a number holds"),
        Cell::Numeral(_, text) => text,
        _ => return None,
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // A code has few digits.
    let exponent = |(digits, exponent): (&str, &str)| are_digits(digits) && are_digits(exponent) && text.len() < 7;
    if is_code(text) {
        Some("begin with a zero")
    } else if text.split_once(['e', 'E']).is_some_and(exponent) && cell.number().is_some_and(|value| value < 1e16) {
        Some("are written with an E")
    } else if text.len() > 15 && text.parse().is_ok_and(|whole| matches!(Cell::integer(whole), Cell::Integer(_))) {
        Some("have more digits than a number holds")
    } else {
        None
    }
}

/// Whether a column of this name numbers its rows: `id`, `user_id`, `OrderID`, `index`, `row`, no
/// name at all, and the like.
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
