//! The decision: what a column is, and how its texts are read, by what was seen of it.

use mercer_core::{Cell, TruthWords, ValueRange, parse_instant};

use super::doubt::is_name_of_identifier;
use super::role::is_name_of_times;
use super::sight::{ColumnSight, ENOUGH_TEXTS, TimeVariation};
use crate::duration;
use crate::error::EncodingError;
use crate::face::MARKS_TELL;
use crate::kind::ToldKind;
use crate::notation::{Clock, DayOrder, Notation, TextReading};
use crate::numeral::{CELLS_A_MISFIT, is_set_off};
use crate::schema::{Column, Kind, TimeParts, Use};
use crate::span::are_spans;
use crate::time_form::TimeForms;

/// Average length of texts that are words for people, in bytes.
const LONG_TEXT: u64 = 40;

/// A remark on a column of times with cells that are none.
fn no_time(mark: &str) -> String {
    format!("{mark:?} is no time, and such cells count as missing")
}

impl ColumnSight {
    /// The kind of the column, the notation of its texts, and a remark on it.
    fn kind(&self, name: &str) -> (Kind, Notation, String) {
        let said = |kind, why: String| (kind, Notation::Plain, why);
        let (present, distinct) = (self.present(), self.distinct());
        let names_rows = self.marks == 0 && !self.not_running && is_name_of_identifier(name);
        if self.lists > 0 && 2 * self.lists >= present || self.are_most(self.written_lists) {
            return said(Kind::List, String::new());
        }
        if self.passes_midnight() {
            return (Kind::Number, Notation::Duration, String::new());
        }
        if self.texts == present && self.is_listed() && are_spans(self.values()) {
            return self.times(Notation::Span);
        }
        if self.are_most(self.instants + self.dates) {
            return self.times(Notation::Plain);
        }
        if let Some(mark) = self.mark_among_times() {
            return said(Kind::Time, no_time(mark));
        }
        if self.are_most(self.durations) {
            let kind = if distinct > 1 { Kind::Number } else { Kind::Constant };
            return (kind, Notation::Duration, String::new());
        }
        if self.is_listed() && Notation::are_addresses(self.values()) {
            let mut networks = self.values().filter_map(|(value, _)| Notation::network(Cell::Text(value)));
            let first = networks.next();
            let kind = if networks.all(|next| Some(next) == first) { Kind::Constant } else { Kind::Category };
            return (kind, Notation::Network, String::new());
        }
        if let Some(times) = self.numbered_times(name) {
            return times;
        }
        if distinct <= 1 {
            // A duration can be nothing else; one number with a unit may be a name.
            let read = Notation::of_numbers(self.values(), CELLS_A_MISFIT, self.number_marks);
            let notation =
                if read == TextReading::As(Notation::Duration) { Notation::Duration } else { Notation::Plain };
            return (Kind::Constant, notation, String::new());
        }
        if self.are_most(self.numbers) {
            if names_rows {
                return said(Kind::Identifier, String::new());
            }
            return self.numbers(name, self.notation_of_most());
        }
        if let Some(found) = self.of_listed_texts(name, names_rows) {
            return found;
        }
        let kind = if self.texts == present && 2 * distinct > present && self.bytes > LONG_TEXT * self.texts {
            Kind::Text
        } else if 2 * self.numbers <= present && distinct == present && present >= ENOUGH_TEXTS {
            if self.are_phrases() { Kind::Text } else { Kind::Identifier }
        } else {
            Kind::Category
        };
        said(kind, self.doubt_of_texts(name).unwrap_or_default())
    }

    /// The same if its numbers are instants.
    fn numbered_times(&self, name: &str) -> Option<(Kind, Notation, String)> {
        if !self.are_most(self.numbers) {
            return None;
        }
        if let Some(clock) = self.clock(name) {
            let (kind, notation, why) = self.times(Notation::Clock(clock));
            let odd = self.off_clock(clock).filter(|_| why.is_empty());
            return Some((kind, notation, odd.map_or(why, no_time)));
        }
        let mixes = is_name_of_times(name) && self.mixes_clocks();
        let why = "seconds since 1970 and parts of them, each by its size";
        mixes.then(|| (Kind::Time, Notation::Plain, why.to_owned()))
    }

    /// The same if all texts are known, and they are numbers or times in some notation, or may be
    /// two of them.
    fn of_listed_texts(&self, name: &str, names_rows: bool) -> Option<(Kind, Notation, String)> {
        if !self.is_listed() {
            return None;
        }
        let time = |notation| Some(self.times(notation));
        let mut doubt = None;
        match Notation::of_numbers(self.values(), CELLS_A_MISFIT, self.number_marks) {
            TextReading::As(Notation::Plain) if names_rows => {
                return Some((Kind::Identifier, Notation::Plain, String::new()));
            }
            TextReading::As(notation) => return Some(self.numbers(name, notation)),
            TextReading::Doubtful(value) => {
                let contradicts = self.number_marks.contradict(&value);
                let is = if contradicts { "has another decimal mark" } else { "may be read as two numbers" };
                doubt = Some(format!("{value:?} {is}; {MARKS_TELL}"));
            }
            TextReading::Text => {}
        }
        match Notation::of_days(self.values()) {
            TextReading::As(notation) => return time(notation),
            TextReading::Doubtful(value) => match Notation::of_even_days(&self.values()) {
                Some(notation) => return time(notation),
                None => {
                    let which = format!("its kind tells which: {name}=dmy or {name}=mdy");
                    doubt = Some(format!("{value:?} may be two days; {which}"));
                }
            },
            TextReading::Text => {}
        }
        match doubt {
            Some(doubt) => Some((Kind::Text, Notation::Plain, doubt)),
            None => Notation::of_written(&self.values(), false).and_then(time),
        }
    }

    /// True if most texts are several words.
    fn are_phrases(&self) -> bool {
        let phrases = self.values().filter(|(value, _)| value.split_whitespace().nth(1).is_some()).count();
        2 * phrases > self.values().count()
    }

    /// A column of numbers, with what is to be said of it.
    fn numbers(&self, name: &str, notation: Notation) -> (Kind, Notation, String) {
        let why = self.set_off(&notation).or_else(|| self.doubt_of_numbers(name));
        (Kind::Number, notation, why.unwrap_or_default())
    }

    /// True for clocks that go on behind midnight, as timetables have them: `25:10:00`.
    fn passes_midnight(&self) -> bool {
        let length = |text: &str| duration::seconds(text).filter(|_| duration::is_certain(text));
        let is_behind = |(text, _): (&str, u64)| length(text).is_some_and(|seconds| seconds >= 86_400.0);
        self.dates > 0
            && self.unlisted == 0
            && self.values().any(is_behind)
            && self.values().all(|(text, _)| length(text).is_some())
    }

    /// A column of times, with what is to be said of it.
    fn times(&self, notation: Notation) -> (Kind, Notation, String) {
        let why = self.doubt_of_times(&notation).unwrap_or_default();
        (Kind::Time, notation, why)
    }

    /// The notation of a column of which nearly all cells are numbers. Some may be written as
    /// accounts write what is below zero, or with a word for thousands.
    fn notation_of_most(&self) -> Notation {
        if let Some(words) = self.truth_words().filter(TruthWords::are_alone) {
            return Notation::Truth(words);
        }
        // What is set off, or has a word, is text to the readers.
        if self.texts == 0 {
            return Notation::Plain;
        }
        let set_off = self.unlisted == 0 && self.values().any(|(value, _)| is_set_off(value));
        match Notation::of_numbers(self.values(), CELLS_A_MISFIT, self.number_marks) {
            TextReading::As(notation) if set_off || matches!(notation, Notation::Magnitude(_)) => notation,
            _ => Notation::Plain,
        }
    }

    /// The reading of texts that are told to be numbers: half of them may be none.
    fn told_numbers(&self) -> TextReading {
        let of_share = |misfit| Notation::of_told_numbers(self.values(), misfit, self.number_marks);
        Some(of_share(CELLS_A_MISFIT)).filter(|read| *read != TextReading::Text).unwrap_or_else(|| of_share(2))
    }

    /// The notation of the texts of a column whose kind is told.
    fn told(&self, name: &str, ToldKind { kind, order, durations }: ToldKind) -> Result<Notation, EncodingError> {
        match kind {
            Kind::Number if durations || self.durations > 0 && self.are_most(self.durations) => Ok(Notation::Duration),
            Kind::Number if self.present() == 0 || self.are_most(self.numbers) => Ok(self.notation_of_most()),
            Kind::Number => self.notation_of_told_numbers(name),
            Kind::Time => {
                let notation = self.notation_of_told_times(name, order)?;
                let read = |value: &str| {
                    let number = value.parse().ok().map(|number| Cell::Numeral(number, value));
                    notation.instant(number.unwrap_or(Cell::Text(value))).is_some()
                };
                // As of numbers, half may be none.
                let odd = self.values().filter(|(value, _)| !read(value)).map(|(_, count)| count).sum::<u64>();
                let refused = if 2 * odd > self.present() { self.unreadable(name, read, "time") } else { None };
                refused.map_or(Ok(notation), Err)
            }
            _ => Ok(Notation::Plain),
        }
    }

    /// A refusal that names the earliest cell that cannot be read.
    fn unreadable(&self, name: &str, read: impl Fn(&str) -> bool, kind: &'static str) -> Option<EncodingError> {
        let value = self.values().map(|(value, _)| value).find(|value| !read(value))?.to_owned();
        Some(EncodingError::Unreadable { name: name.to_owned(), value, kind })
    }

    fn notation_of_told_numbers(&self, name: &str) -> Result<Notation, EncodingError> {
        match self.told_numbers() {
            TextReading::As(notation) => Ok(notation),
            TextReading::Doubtful(value) => {
                Err(EncodingError::Doubtful { name: name.to_owned(), value, remedy: MARKS_TELL.to_owned() })
            }
            TextReading::Text if self.numbers > 0 || self.values().any(|(value, _)| value.parse::<f64>().is_ok()) => {
                Ok(Notation::Plain)
            }
            TextReading::Text => match self.truth_words() {
                Some(words) => Ok(Notation::Truth(words)),
                None => Err(self.unreadable(name, |_| false, "number").unwrap_or(EncodingError::NothingLeft)),
            },
        }
    }

    fn notation_of_told_times(&self, name: &str, order: Option<DayOrder>) -> Result<Notation, EncodingError> {
        let doubtful = |value| {
            let remedy = format!("its kind tells which: {name}=dmy or {name}=mdy");
            EncodingError::Doubtful { name: name.to_owned(), value, remedy }
        };
        if let Some(order) = order {
            return Ok(Notation::of_day_order(order, self.values().map(|(value, _)| value)));
        }
        if self.present() == 0 || self.texts == self.dates && self.numbers == 0 {
            return Ok(Notation::Plain);
        }
        if self.texts == 0 {
            return Ok(match Clock::of_most(&self.counted_numbers()) {
                Some(clock) => Notation::Clock(clock),
                None if self.mixes_clocks() => Notation::Plain,
                None => Notation::Clock(Clock::Elapsed),
            });
        }
        match Notation::of_days(self.values()) {
            TextReading::As(notation) => Ok(notation),
            TextReading::Doubtful(value) => Notation::of_even_days(&self.values()).ok_or_else(|| doubtful(value)),
            TextReading::Text => Ok(Notation::of_written(&self.values(), true).unwrap_or_default()),
        }
    }

    pub(super) fn decide(mut self, name: &str, told: Option<ToldKind>) -> Result<Column, EncodingError> {
        let (kind, notation, why) = match told {
            Some(told) => (told.kind, self.told(name, told)?, String::new()),
            None => self.kind(name),
        };
        let notation = match &self.zone {
            Some(zone) if kind == Kind::Time => notation.in_zone(zone),
            _ => notation,
        };
        let used = match kind {
            Kind::Identifier | Kind::Text | Kind::List if told.is_some() => Use::Unwanted,
            _ if self.present() == 0 && told.is_none() => Use::Late,
            Kind::Identifier => Use::Identifier,
            Kind::Text | Kind::List => Use::Text,
            _ => Use::Encoded,
        };
        let strangers = if notation == Notation::Network { self.marks + self.take_networks() } else { 0 };
        if kind == Kind::Category
            && why.is_empty()
            && let Some(words) = self.truth_words()
        {
            let truth = |value: &str| words.read(Cell::Text(value)).map(|truth| words.text(truth).to_owned());
            self.rename(|value| Some(truth(value).unwrap_or_else(|| value.to_owned())));
        }
        let is_time = kind == Kind::Time;
        // As clocks show them: what a value of the look says is read once more, without its zone.
        let (range, times) = self.ranges(kind, notation.written());
        let listed = kind == Kind::Category || (kind == Kind::Constant && range.ends().is_none());
        let misfits = match kind {
            // The text of a number may have a decimal comma, which the file tells and a value does
            // not.
            Kind::Number if notation == Notation::Plain => self.present() + self.marks - self.numbers - self.plain,
            Kind::Number if self.texts == 0 => self.marks,
            Kind::Number => self.marks + self.misfits(|cell| notation.number(cell).is_some()),
            Kind::Time if self.texts == 0 && !matches!(notation.written(), Notation::Clock(_)) => self.marks,
            Kind::Time => self.marks + self.misfits(|cell| notation.written().instant(cell).is_some()),
            Kind::Constant if range.ends().is_some() => self.marks,
            _ => strangers,
        };
        let forms = if is_time { self.forms_in(&notation) } else { TimeForms::default() };
        let counter = told.is_none() && self.counts_rows(name);
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
            forms,
            notation,
            why,
            counter,
        })
    }

    /// The forms of times in that notation.
    fn forms_in(&self, notation: &Notation) -> TimeForms {
        let mut forms = self.forms;
        if !matches!(notation.written(), Notation::Clock(_)) {
            // Those in notations of their own.
            let others = self.values().filter(|(value, _)| parse_instant(value).is_none());
            others.for_each(|(value, _)| forms.observe(Cell::Text(value)));
        }
        forms
    }

    /// Puts networks in the place of their addresses: how many cells are no address.
    fn take_networks(&mut self) -> u64 {
        let strangers = self.misfits(|cell| Notation::network(cell).is_some());
        self.rename(|address| Notation::network(Cell::Text(address)));
        // A number among them is none of theirs.
        (self.unlisted, self.range) = (0, ValueRange::NOTHING);
        strangers
    }

    /// Counts the values by other names; those without one are no more.
    fn rename(&mut self, name: impl Fn(&str) -> Option<String>) {
        let values = std::mem::take(&mut self.values);
        self.places.clear();
        for (value, count) in values {
            let Some(name) = name(&value) else { continue };
            let place = *self.places.entry(name.clone()).or_insert(self.values.len());
            match self.values.get_mut(place) {
                Some((_, known)) => *known += count,
                None => self.values.push((name, count)),
            }
        }
    }

    /// Cells of the values that do not fit.
    fn misfits(&self, fits: impl Fn(Cell<'_>) -> bool) -> u64 {
        let cell = |value: &'_ str| match value.parse::<f64>() {
            Ok(number) if number.is_finite() => fits(Cell::Numeral(number, value)),
            _ => parse_instant(value).is_some_and(|_| self.instants > 0) || fits(Cell::Text(value)),
        };
        self.values().filter(|(value, _)| !cell(value)).map(|(_, count)| count).sum()
    }

    /// The range of a column of numbers, and the times of one of times.
    fn ranges(&self, kind: Kind, notation: &Notation) -> (ValueRange, TimeVariation) {
        let are_names = kind == Kind::Identifier && self.plain < self.texts;
        let of_numbers = matches!(kind, Kind::Number | Kind::Identifier);
        let are_numbers = of_numbers && !are_names || kind == Kind::Constant && *notation == Notation::Duration;
        let mut range = if are_names { ValueRange::NOTHING } else { self.range };
        let mut times = self.times.clone();
        match (kind, notation) {
            _ if are_numbers && self.texts > 0 => {
                self.values().filter_map(|(value, _)| notation.number(Cell::Text(value))).for_each(|number| {
                    range.observe(number);
                });
            }
            (Kind::Time, Notation::Plain) if self.dates + self.instants > 0 => {}
            (Kind::Time, Notation::Clock(_) | Notation::Plain) => {
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
}

#[cfg(test)]
mod tests {
    use mercer_core::Oddity;

    use super::*;
    use crate::encoding::Encoding;
    use crate::face::Face;
    use crate::overrides::Overrides;
    use crate::transform::EncodingOptions;

    fn look(addresses: &[String], told: &Overrides) -> Encoding {
        let rows: Vec<[Cell<'_>; 1]> = addresses.iter().map(|text| [Cell::Text(text)]).collect();
        Encoding::look(&["host".to_owned()], &rows, told, EncodingOptions::default()).unwrap()
    }

    #[test]
    fn addresses_are_categories_of_their_networks() {
        // All differ, as the names of rows do.
        let mut hosts: Vec<String> = (0..40).map(|t| format!("{}.{t}.9", ["192.168", "10.0"][t % 3 / 2])).collect();
        hosts.extend(["n/a", "gateway", "192.168.100.200"].map(str::to_owned));
        let encoding = look(&hosts, &Overrides::default());
        let column = &encoding.schema().columns()[0];
        assert_eq!((column.kind, column.used, column.distinct), (Kind::Category, Use::Encoded, 2));
        assert_eq!(column.categories, [("192.168/16".to_owned(), 28), ("10.0/16".to_owned(), 13)]);
        let why = column.facts(43, Face::Command).why;
        assert_eq!(why, "2 values so far, IPv4 addresses, by their /16 network, 2 of the first 43 cells missing");

        let numbers = |text| {
            let mut numbers = Vec::new();
            encoding.encode(&[Cell::Text(text)], &mut numbers).unwrap();
            numbers
        };
        assert_eq!(encoding.names()[..3], ["host=192.168/16", "host=10.0/16", "host is missing"]);
        assert_eq!(numbers("192.168.7.9"), numbers("192.168.200.1"));
        assert_eq!(numbers("192.168.7.9")[..3], [1.0, 0.0, 0.0]);
        assert_eq!(numbers("gateway")[..3], [0.0, 0.0, 1.0]);

        let odd = |text| encoding.transform().oddities(&[Cell::Text(text)]).next().map(|(_, odd)| odd);
        assert_eq!([odd("10.0.255.1"), odd("10.1.0.1")], [None, Some(Oddity::NewCategory)]);
        assert_eq!([odd("300.1.1.1"), odd("n/a")], [Some(Oddity::Misfit), Some(Oddity::Gap)]);
        let said = encoding.remark_on(0, Oddity::Misfit, Cell::Text("gateway"));
        assert!(said.ends_with("the column is read as category, IPv4 addresses, by their /16 network"), "{said}");
    }

    #[test]
    fn addresses_of_one_network_are_constant_and_told_ones_stay_whole() {
        let hosts: Vec<String> = (0..30).map(|t| format!("10.0.{t}.1")).collect();
        let encoding = look(&hosts, &Overrides::default());
        let column = &encoding.schema().columns()[0];
        assert_eq!((column.kind, column.distinct, column.missing), (Kind::Constant, 1, 0));
        assert_eq!(encoding.names()[0], "host=10.0/16");

        let told = look(&hosts, &Overrides::default().kind("host", Kind::Category));
        assert_eq!(told.schema().columns()[0].distinct, 30);
        assert_eq!(told.names()[0], "host=10.0.0.1");

        // More than one of twenty is none.
        let mixed: Vec<String> =
            (0..30).map(|t| if t % 10 == 0 { "gateway".to_owned() } else { format!("10.{t}.0.1") }).collect();
        let mixed = look(&mixed, &Overrides::default());
        assert!(mixed.names().contains(&"host=10.1.0.1".to_owned()));
    }
}
