//! Notations of the texts of a column that are numbers, times or addresses: by what all cells of
//! the look share.
//!
//! | a column writes | it is read as |
//! |---|---|
//! | `1.25D+02`, `１２．５`, `–3` | the number that [other programs and scripts](crate::digits) write so |
//! | `12.5 %`, `$3.20`, `EUR 7`, `12 kg` | the number, if every cell has the same sign or unit |
//! | `(12.50)`, `12.50-` | a number below zero |
//! | `1,234.50`, `1.234,50`, `1'234`, `1 234` | the number, if no cell may mean another one |
//! | `1/31/2020`, `31-1-20 9:05 PM` | the day, if some cell tells the month from the day |
//! | `20200131`, `2020013114`, `20200131143059`, `202001`, `2020031`, `2020`, seconds, ms, µs or ns since 1970, under a name of times | the instant |
//! | `2020Q1`, `4Q23`, `T4 2023`; `2023H2`; `01/2020`, `Jan 2020`, `2020M01` | the first day of the quarter, half or month |
//! | `$4.3M` beside `$596K`, `1,2 Mio. €` | the number, multiplied |
//! | `1:11:44` beside `55:12`, `2h 30m` | the seconds |
//! | `48°12'30"N` | the degrees |
//! | `05:00-06:00`, `2000-01` beside `2001-02` | the instant at which the span begins |
//! | `8. Januar 2023`, `Sun Jan 08 20:29:00 +0000 2023`, `8:29 PM` | the instant |
//! | `192.168.7.9`, `192.168.200.1` | the category `192.168/16` |

use std::borrow::Cow;
use std::net::Ipv4Addr;

use mercer_core::{Cell, TruthWords, is_gap_mark, parse_instant};

use crate::digits::usual;
use crate::numeral::{Affix, CELLS_A_MISFIT, Letter, MARKS, NumberMarks, Numeral, UNSEEN, is_code, is_set_off, plain};
use crate::period::{YearPart, month, short_month};
use crate::zone::{Zone, tells_zone};
use crate::{degrees, duration, magnitude, span, written_time};

pub use crate::century::Century;
pub use crate::clock::Clock;
pub use crate::day_order::DayOrder;

/// So many different numbers with one letter behind them are no codes.
const MANY: usize = 33;

/// The notation in which the texts of a column are read.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Notation {
    /// Numbers as every program writes them, and the times of [`parse_instant`].
    #[default]
    Plain,
    /// Numbers with something around them.
    Number(Numeral),
    /// Days in that order, beside the times of [`parse_instant`]; those with a century may have
    /// years of two digits.
    Day(DayOrder, Option<Century>),
    /// Numbers that are instants.
    Clock(Clock),
    /// `2020Q1`, `2020-Q1`, `Q1 2020`, `T1 2020`: the first day of the quarter; with a century
    /// `1Q20`, too.
    Quarter(Option<Century>),
    /// `2020H1`, `H1 2020`, `S1 2020`: the first day of the half of a year.
    Half(Option<Century>),
    /// `01/2020`, `Jan 2020`, `2020M01`: the first day of the month; with a century `Jan-20`, too.
    Month(Option<Century>),
    /// `$4.3M`, `$596K`: numbers of which some have a word for thousands or millions.
    Magnitude(Numeral),
    /// `1:11:44`, `2h 30m`: seconds.
    Duration,
    /// `8. Januar 2023`, `Jan 8, 2023 8:29 PM`, `8:29 PM`: times that are written out.
    Written,
    /// Truth values as the numbers 0 and 1.
    Truth(TruthWords),
    /// `192.168.7.9`: IPv4 addresses, as categories of their /16 networks.
    Network,
    /// Times as clocks of a zone show them, in another notation; those that tell an offset from UTC
    /// are read by it.
    Zoned(Box<Self>, Zone),
    /// `48°12'30"N`: angles, in degrees.
    Degrees,
    /// `05:00-06:00`, `2000-01`: spans of time, read as their beginning.
    Span,
}

/// The findings of a look at the texts of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TextReading {
    /// One notation.
    As(Notation),
    /// Two that give different values, with a cell that may be either.
    Doubtful(String),
    /// None.
    Text,
}

impl TextReading {
    /// The next reading where this one is none.
    fn or(self, next: impl FnOnce() -> Self) -> Self {
        if self == Self::Text { next() } else { self }
    }
}

impl Notation {
    /// The finite number that a cell of a column of numbers is.
    #[must_use]
    pub fn number(&self, cell: Cell<'_>) -> Option<f64> {
        let usual = if let Cell::Text(text) = cell { usual(text) } else { Cow::Borrowed("") };
        let cell = if let Cell::Text(_) = cell { Cell::Text(&usual) } else { cell };
        match (cell, self) {
            // What looks like a plain number may have groups of thousands.
            (Cell::Numeral(_, text) | Cell::Text(text), Self::Number(numeral)) => numeral.read_on(text),
            (Cell::Numeral(_, text) | Cell::Text(text), Self::Magnitude(numeral)) => numeral.read_magnitude(text),
            (Cell::Text(text), Self::Duration) => duration::seconds(text),
            (Cell::Text(text), Self::Degrees) => degrees::read(text).or_else(|| plain(text)),
            (Cell::Duration(seconds) | Cell::TimeOfDay(seconds), Self::Duration) => {
                Some(seconds).filter(|seconds| seconds.is_finite())
            }
            // A spreadsheet has .3 for the number that it shows as 30 %.
            (Cell::Number(_) | Cell::Integer(_), Self::Number(numeral)) if numeral.is_part_of_a_whole() => None,
            // Nobody knows its unit.
            (Cell::Numeral(..) | Cell::Number(_) | Cell::Integer(_), Self::Duration) => None,
            (_, Self::Truth(words)) => words.read(cell).map(f64::from).or_else(|| Self::Plain.number(cell)),
            (Cell::Text(text), _) => plain(text),
            _ => cell.number(),
        }
    }

    /// The instant that a cell of a column of times is, in seconds since 1970.
    #[must_use]
    pub fn instant(&self, cell: Cell<'_>) -> Option<f64> {
        self.instant_behind(cell, None)
    }

    /// The same where the instant of the row before is told. In a zone that settles the hour that
    /// comes twice where clocks are set back; without, it is the first. `None` also for a time that
    /// clocks of the zone leave out.
    #[must_use]
    pub fn instant_behind(&self, cell: Cell<'_>, before: Option<f64>) -> Option<f64> {
        let instant = match (cell, self) {
            (_, Self::Zoned(written, zone)) => {
                let read = written.instant(cell)?;
                let is_local = match cell {
                    // The end of a span looks like an offset.
                    Cell::Text(text) => **written == Self::Span || !tells_zone(text),
                    cell => matches!(cell, Cell::TimeOfDay(_) | Cell::LocalTime(_)),
                };
                if is_local { zone.instant(read, before) } else { Some(read) }
            }
            (Cell::Instant(seconds) | Cell::LocalTime(seconds) | Cell::TimeOfDay(seconds), _) => Some(seconds),
            (Cell::Text(text), Self::Day(order, century)) => parse_instant(text).or_else(|| order.read(text, *century)),
            (Cell::Text(text), Self::Quarter(century)) => YearPart::Quarter.first_day(text, *century),
            (Cell::Text(text), Self::Half(century)) => YearPart::Half.first_day(text, *century),
            (Cell::Text(text), Self::Month(century)) => month(text, *century),
            (Cell::Text(text), Self::Span) => span::begin(text).or_else(|| parse_instant(text)),
            (Cell::Text(text), Self::Written) => parse_instant(text).or_else(|| written_time::read(text)),
            (Cell::Text(text), _) => parse_instant(text),
            (_, Self::Clock(clock)) => cell.number().and_then(|number| clock.read(number)),
            _ => cell.number().and_then(|number| Clock::of_size(number)?.read(number)),
        };
        instant.filter(|seconds| seconds.is_finite())
    }

    /// The time that clocks show at an instant, in seconds since 1970 by them: those of the zone,
    /// if there is one, else those of UTC.
    pub(crate) fn shown(&self, instant: f64) -> f64 {
        if let Self::Zoned(_, zone) = self { instant + zone.offset(instant) } else { instant }
    }

    /// The same without its zone.
    #[must_use]
    pub fn written(&self) -> &Self {
        if let Self::Zoned(written, _) = self { written } else { self }
    }

    /// The zone of its times, if one is told.
    #[must_use]
    pub fn zone(&self) -> Option<&Zone> {
        if let Self::Zoned(_, zone) = self { Some(zone) } else { None }
    }

    /// The notation of times in a zone. Years and parts of them, and days of which only the number
    /// is written, are the same in all.
    pub(crate) fn in_zone(self, zone: &Zone) -> Self {
        match self {
            Self::Clock(Clock::Digits | Clock::DayOfYear | Clock::Days | Clock::Months | Clock::Years)
            | Self::Quarter(_)
            | Self::Half(_)
            | Self::Month(_) => self,
            written => Self::Zoned(Box::new(written), zone.clone()),
        }
    }

    /// The category that an IPv4 address is in a column of such: `192.168/16` for `192.168.7.9`.
    /// `None` for a cell that is no address.
    pub(crate) fn network(cell: Cell<'_>) -> Option<String> {
        // A file with marks between thousands may have `192.168.100.200` for a number.
        let (Cell::Text(text) | Cell::Numeral(_, text)) = cell else { return None };
        let [first, second, ..] = text.trim().parse::<Ipv4Addr>().ok()?.octets();
        Some(format!("{first}.{second}/16"))
    }

    /// True if texts are IPv4 addresses, all but one of twenty.
    pub(crate) fn are_addresses<'a>(texts: impl Iterator<Item = (&'a str, u64)>) -> bool {
        most(texts, CELLS_A_MISFIT, |text| text.trim().parse::<Ipv4Addr>().is_ok())
    }

    /// True if numbers are read as they stand.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.words().is_none()
    }

    /// Its difference from the usual one, in words.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Plain => return None,
            Self::Truth(words) if words.text(true) == "1" => return None,
            Self::Truth(words) => format!("{:?} is 0, {:?} is 1", words.text(false), words.text(true)),
            Self::Number(numeral) => numeral.words(),
            Self::Day(order, century) => with_century(order.words(), *century),
            Self::Clock(Clock::Digits) => "year, month and day in eight digits".to_owned(),
            Self::Clock(Clock::DigitsToHour) => "year, month, day and hour in ten digits".to_owned(),
            Self::Clock(Clock::DigitsToMinute) => "year, month, day, hour and minute in twelve digits".to_owned(),
            Self::Clock(Clock::DigitsToSecond) => "day, hour, minute and second in fourteen digits".to_owned(),
            Self::Clock(Clock::DayOfYear) => "year and day of the year in seven digits".to_owned(),
            Self::Clock(Clock::Seconds | Clock::Elapsed) => "seconds since 1970".to_owned(),
            Self::Clock(Clock::Days) => "days of a spreadsheet".to_owned(),
            Self::Clock(Clock::Milliseconds) => "milliseconds since 1970".to_owned(),
            Self::Clock(Clock::Microseconds) => "microseconds since 1970".to_owned(),
            Self::Clock(Clock::Nanoseconds) => "nanoseconds since 1970".to_owned(),
            Self::Clock(Clock::Ticks) => "ticks of .NET since the year 1".to_owned(),
            Self::Clock(Clock::Months) => "year and month in six digits".to_owned(),
            Self::Clock(Clock::Years) => "years".to_owned(),
            Self::Quarter(century) => with_century("quarters", *century),
            Self::Half(century) => with_century("halves of years", *century),
            Self::Month(century) => with_century("months", *century),
            Self::Magnitude(numeral) if numeral.is_bare() => "thousands and millions multiplied".to_owned(),
            Self::Magnitude(numeral) => format!("{}, thousands and millions multiplied", numeral.words()),
            Self::Duration => "durations, in seconds".to_owned(),
            Self::Written => "written out".to_owned(),
            Self::Degrees => "angles, in degrees".to_owned(),
            Self::Span => "spans of time, by their beginning".to_owned(),
            Self::Network => "IPv4 addresses, by their /16 network".to_owned(),
            Self::Zoned(written, zone) => {
                let written = written.words().map(|words| format!("{words}, ")).unwrap_or_default();
                format!("{written}by clocks of {}", zone.name())
            }
        })
    }

    /// The part of those words that may be wrong for times: their century, or their unit.
    #[must_use]
    pub fn guess(&self) -> Option<String> {
        match self {
            Self::Day(_, century) | Self::Month(century) | Self::Quarter(century) | Self::Half(century) => {
                century.map(Century::words)
            }
            Self::Clock(Clock::Days) => self.words(),
            Self::Zoned(written, _) => written.guess(),
            _ => None,
        }
    }

    /// That in which texts are numbers, all but one of `misfit`. Each text comes with how often it
    /// is there. `O(texts)`.
    pub(crate) fn of_numbers<'a>(
        texts: impl Iterator<Item = (&'a str, u64)> + Clone,
        misfit: u64,
        marks: NumberMarks,
    ) -> TextReading {
        let usual: Vec<(Cow<'_, str>, u64)> = texts.map(|(text, count)| (usual(text), count)).collect();
        Self::of_usual(usual.iter().map(|(text, count)| (text.as_ref(), *count)), misfit, marks)
    }

    /// The same for texts in the usual digits.
    fn of_usual<'a>(
        texts: impl Iterator<Item = (&'a str, u64)> + Clone,
        misfit: u64,
        marks: NumberMarks,
    ) -> TextReading {
        // A letter behind few whole numbers may belong to a code, as in `12A`.
        let several =
            texts.clone().take(MANY).count() == MANY || texts.clone().any(|(text, _)| text.contains(['.', ',']));
        let certain = texts.clone().any(|(text, _)| duration::is_certain(text));
        let of_numerals = |letter| Self::of_numerals(texts.clone(), (misfit, marks), letter);
        if most(texts.clone(), misfit, |text| degrees::read(text).is_some()) {
            return TextReading::As(Self::Degrees);
        }
        Self::of_magnitudes(texts.clone(), (misfit, marks))
            .or(|| of_numerals(Letter::Code))
            .or(|| if several { of_numerals(Letter::Unit) } else { TextReading::Text })
            .or(|| if certain { Self::of_durations(texts, misfit) } else { TextReading::Text })
    }

    /// The same where it is told that they are numbers.
    pub(crate) fn of_told_numbers<'a>(
        texts: impl Iterator<Item = (&'a str, u64)> + Clone,
        misfit: u64,
        marks: NumberMarks,
    ) -> TextReading {
        let usual: Vec<(Cow<'_, str>, u64)> = texts.map(|(text, count)| (usual(text), count)).collect();
        let texts = || usual.iter().map(|(text, count)| (text.as_ref(), *count));
        Self::of_usual(texts(), misfit, marks)
            .or(|| Self::of_numerals(texts(), (misfit, marks), Letter::Unit))
            .or(|| Self::of_numerals(texts(), (misfit, marks), Letter::Told))
            .or(|| Self::of_durations(texts(), misfit))
    }

    /// Numbers of which some have a word for thousands or millions behind them.
    fn of_magnitudes<'a>(texts: impl Iterator<Item = (&'a str, u64)>, reading: (u64, NumberMarks)) -> TextReading {
        let Some(bare) = magnitude::without_words(texts) else { return TextReading::Text };
        match Self::of_numerals(bare.iter().map(|(text, count)| (text.as_str(), *count)), reading, Letter::Code) {
            TextReading::As(Self::Number(numeral)) => TextReading::As(Self::Magnitude(numeral)),
            TextReading::As(_) => TextReading::As(Self::Magnitude(Numeral::BARE)),
            read => read,
        }
    }

    /// Durations, if they are no times of a day.
    fn of_durations<'a>(texts: impl Iterator<Item = (&'a str, u64)> + Clone, misfit: u64) -> TextReading {
        let durations = most(texts.clone(), misfit, |text| duration::seconds(text).is_some());
        let are_times = || most(texts, misfit, |text| parse_instant(text).is_some());
        if durations && !are_times() { TextReading::As(Self::Duration) } else { TextReading::Text }
    }

    /// Months, quarters or times that are written out, all but one of twenty; where they are not
    /// `told` to be times, half of what is written out can be nothing else.
    pub(crate) fn of_written<'a>(texts: &(impl Iterator<Item = (&'a str, u64)> + Clone), told: bool) -> Option<Self> {
        let is_read = |notation: &Self, text: &str| notation.instant(Cell::Text(text)).is_some();
        let is_certain = || most(texts.clone(), 2, written_time::is_certain);
        let reads = |notation: &Self| {
            most(texts.clone(), CELLS_A_MISFIT, |text| is_read(notation, text))
                && (told || *notation != Self::Written || is_certain())
        };
        let part = |part: YearPart| Century::from_some(texts.clone().filter_map(|(text, _)| part.short_year(text)));
        let months = Century::from_some(texts.clone().filter_map(|(text, _)| Some(short_month(text)?.0)));
        let (quarters, halves) = (part(YearPart::Quarter), part(YearPart::Half));
        let all = [Self::Quarter(quarters), Self::Half(halves), Self::Month(months), Self::Written];
        all.into_iter().find(reads)
    }

    fn of_numerals<'a>(
        texts: impl Iterator<Item = (&'a str, u64)> + Clone,
        (misfit, marks): (u64, NumberMarks),
        letter: Letter,
    ) -> TextReading {
        let is_plain = |text: &str| plain(text).is_some() && !is_code(text);
        if most(texts.clone(), misfit, is_plain) && !texts.clone().any(|(text, _)| is_set_off(text)) {
            return match texts.map(|(text, _)| text).find(|text| marks.contradict(text)) {
                Some(text) => TextReading::Doubtful(text.to_owned()),
                None => TextReading::As(Self::Plain),
            };
        }
        let Some((before, behind)) = Affix::shared(texts.clone(), misfit, letter) else { return TextReading::Text };
        if before.is_empty() && behind.is_empty() && texts.clone().any(|(text, _)| is_code(text)) {
            return TextReading::Text;
        }
        let numeral = |(decimal, group)| Numeral { before: before.clone(), behind: behind.clone(), decimal, group };
        let fits = |numeral: &Numeral| most(texts.clone(), misfit, |text| numeral.read(text).is_some());
        let mut fitting: Vec<Numeral> = MARKS.into_iter().map(numeral).filter(fits).collect();
        match Self::of_fitting(texts.clone(), &fitting) {
            // What is told of marks, or known from other columns, settles a doubt.
            TextReading::Doubtful(doubt) => {
                fitting.retain(|numeral| marks.allow(numeral));
                match Self::of_fitting(texts, &fitting) {
                    TextReading::Text => TextReading::Doubtful(doubt),
                    read => read,
                }
            }
            read => read,
        }
    }

    /// That of numerals which all fit, if they give the same numbers.
    fn of_fitting<'a>(texts: impl Iterator<Item = (&'a str, u64)> + Clone, fitting: &[Numeral]) -> TextReading {
        let reads = |numeral: &&Numeral| {
            let read = texts.clone().filter(|(text, _)| numeral.read(text).is_some());
            read.map(|(_, count)| count).sum::<u64>()
        };
        let Some(best) = fitting.iter().rev().max_by_key(reads) else { return TextReading::Text };
        let other = |text: &&str| {
            let mut values = fitting.iter().filter_map(|numeral| numeral.read(text));
            let value = values.next();
            values.any(|other| Some(other) != value)
        };
        let is_open = texts.clone().all(|(text, _)| best.punctuation(text).is_none());
        let decimal = if is_open { UNSEEN } else { best.decimal };
        match texts.map(|(text, _)| text).find(other) {
            Some(doubt) => TextReading::Doubtful(doubt.to_owned()),
            None => TextReading::As(Self::Number(Numeral { decimal, ..best.clone() })),
        }
    }

    /// Two texts that are numbers with something else around them, in a column of which nearly all
    /// are numbers with something around them.
    pub(crate) fn of_two<'a>(texts: impl Iterator<Item = (&'a str, u64)> + Clone) -> Option<[&'a str; 2]> {
        if !most(texts.clone(), CELLS_A_MISFIT, |text| Affix::of_number(text).is_some() && !is_code(text)) {
            return None;
        }
        let mut all = texts.filter_map(|(text, _)| Some((text, Affix::of_number(text)?)));
        let (one, around) = all.next()?;
        all.find(|(_, other)| *other != around).map(|(other, _)| [one, other])
    }

    /// Days in that order, with the century of those of the texts whose years have two digits.
    pub(crate) fn of_day_order<'a>(order: DayOrder, texts: impl Iterator<Item = &'a str>) -> Self {
        Self::Day(order, order.century(texts))
    }

    /// That in which texts are days with a number for the month, all but one of twenty.
    pub(crate) fn of_days<'a>(texts: impl Iterator<Item = (&'a str, u64)> + Clone) -> TextReading {
        use DayOrder::{DayMonthYear, MonthDayYear, YearMonthDay};
        // A year of two digits stands last, unless even steps say that it stands first.
        let read =
            |order: DayOrder, text: &str| order.read(text, Some(Century::USUAL).filter(|_| order != YearMonthDay));
        let reads = |order: DayOrder, text: &str| parse_instant(text).is_some() || read(order, text).is_some();
        let all = [YearMonthDay, DayMonthYear, MonthDayYear];
        let fit = all.into_iter().filter(|order| texts.clone().all(|(text, _)| reads(*order, text)));
        // One day above 12 settles it, so that a misfit is one only if no order fits all.
        let mut orders: Vec<DayOrder> = fit.collect();
        if orders.is_empty() {
            orders = all
                .into_iter()
                .filter(|order| most(texts.clone(), CELLS_A_MISFIT, |text| reads(*order, text)))
                .collect();
        }
        match orders[..] {
            [] => TextReading::Text,
            // Orders that fit, and give the same days, are one.
            [first, ..] => {
                let two = |text: &&str| orders.iter().any(|order| read(*order, text) != read(first, text));
                if let Some(notation @ Self::Day(YearMonthDay, Some(_))) = Self::of_even_days(&texts) {
                    return TextReading::As(notation);
                }
                let mut all = texts.map(|(text, _)| text);
                let doubt = all.clone().filter(|text| parse_instant(text).is_none()).find(two);
                doubt.map_or_else(
                    || TextReading::As(Self::of_day_order(first, &mut all)),
                    |text| TextReading::Doubtful(text.to_owned()),
                )
            }
        }
    }
}

fn with_century(words: &str, century: Option<Century>) -> String {
    century.map_or_else(|| words.to_owned(), |century| format!("{words}, {}", century.words()))
}

/// True if all texts but one of `misfit` are so, and there is one.
fn most<'a>(texts: impl Iterator<Item = (&'a str, u64)>, misfit: u64, is_so: impl Fn(&str) -> bool) -> bool {
    let (mut all, mut odd) = (0, 0);
    for (text, count) in texts {
        all += count;
        odd += if is_so(text) { 0 } else { count };
    }
    all > 0 && odd * misfit <= all
}

/// True if a cell of a column of numbers or times has no value.
pub(crate) fn is_gap(cell: Cell<'_>) -> bool {
    match cell {
        Cell::Missing => true,
        Cell::Text(text) => is_gap_mark(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = (&'a str, u64)> + Clone {
        texts.iter().map(|text| (*text, 1))
    }

    fn read(texts: &[&str]) -> TextReading {
        Notation::of_numbers(once(texts), CELLS_A_MISFIT, NumberMarks::default())
    }

    fn numbers(texts: &[&str]) -> Option<Vec<f64>> {
        match read(texts) {
            TextReading::As(notation) => texts.iter().map(|text| notation.number(Cell::Text(text))).collect(),
            _ => None,
        }
    }

    #[test]
    fn what_all_cells_share_is_read() {
        for (texts, read) in [
            (&["12.5%", "3%", "-0.5%"][..], vec![12.5, 3.0, -0.5]),
            (&["12,5 %", "3 %", "100 %"], vec![12.5, 3.0, 100.0]),
            (&["$1,234.50", "$-3.00", "-$12.25"], vec![1234.5, -3.0, -12.25]),
            (&["1.234,50 €", "7,00 €"], vec![1234.5, 7.0]),
            (&["CHF 1'234.50", "CHF 2.00"], vec![1234.5, 2.0]),
            (&["12 kg", "3.5 kg"], vec![12.0, 3.5]),
            (&["206ms", "1.5ms"], vec![206.0, 1.5]),
            (&["1 234 567", "12"], vec![1_234_567.0, 12.0]),
            (&["1,234,567", "12"], vec![1_234_567.0, 12.0]),
            (&["3.5", "-7"], vec![3.5, -7.0]),
            (&["3.5", "1e5"], vec![3.5, 1e5]),
            (&["12.50", "(3.00)", "( 1,200.00 )"], vec![12.5, -3.0, -1200.0]),
            (&["$12.50", "($3.00)", "$(4.00)", "-$5.00"], vec![12.5, -3.0, -4.0, -5.0]),
            (&["1.234,50-", "7,00"], vec![-1234.5, 7.0]),
            (&["12,34,567", "1,23,456"], vec![1_234_567.0, 123_456.0]),
            (&["19M", "201k", "8.7M"], vec![19e6, 201e3, 8.7e6]),
            (&["$4.3M", "$596K", "$12"], vec![4.3e6, 596e3, 12.0]),
            (&["1,2 Mio. €", "300 Tsd. €"], vec![1.2e6, 300e3]),
            (&["1.25m", "3m"], vec![1.25, 3.0]),
            (&["1:11:44", "55:12"], vec![4304.0, 3312.0]),
            (&["2h 30m", "45m"], vec![9000.0, 2700.0]),
            (&["1.25D+02", "-.5D0"], vec![125.0, -0.5]),
            (&["１２．５％", "–３％"], vec![12.5, -3.0]),
            (&["\u{200b}12,5 €", "3,0 €"], vec![12.5, 3.0]),
            (&["Rs. 500/-", "Rs. 1,250/-", "Rs. 99.50/-"], vec![500.0, 1250.0, 99.5]),
            (&["50,-", "120,-"], vec![50.0, 120.0]),
            (&["9 / 10", "10 / 10", "0.5 / 10"], vec![9.0, 10.0, 0.5]),
        ] {
            assert_eq!(numbers(texts), Some(read), "{texts:?}");
        }
    }

    #[test]
    fn new_marks_are_read_in_one_way_alone() {
        for (look, text, value) in [
            // Nothing tells what a point is.
            (&["12 €", "950 €"][..], "1.234 €", None),
            (&["12 €", "950 €"], "1,234 €", None),
            (&["12 €", "950 €"], "1.234,50 €", Some(1234.5)),
            (&["12 €", "950 €"], "1.234.567 €", Some(1_234_567.0)),
            (&["12 €", "950 €"], "12.5 €", Some(12.5)),
            (&["12 €", "950 €"], "0.125 €", Some(0.125)),
            // A comma is known, so that a point is another mark.
            (&["12,50 €", "950,00 €"], "1.234 €", Some(1234.0)),
            (&["12,50 €", "950,00 €"], "1.234,50 €", Some(1234.5)),
            (&["12,50 €", "950,00 €"], "1,234 €", Some(1.234)),
            (&["12,50 €", "950,00 €"], "12.5 €", None),
            (&["1.012,50 €", "950,00 €"], "1 012,50 €", None),
            (&["$12.5", "$3"], "$1,234", Some(1234.0)),
        ] {
            let TextReading::As(notation) = read(look) else {
                panic!("{look:?} are numbers");
            };
            assert_eq!(notation.number(Cell::Text(text)), value, "{text} behind {look:?}");
        }
        let mut look = vec!["12 €"; 30];
        look.push("12,5 €");
        assert!(
            matches!(read(&look), TextReading::As(notation) if notation.number(Cell::Text("1.234 €")) == Some(1234.0))
        );
    }

    #[test]
    fn what_may_be_mistaken_is_not() {
        for texts in [&["$1,234", "$5,678"][..], &["1.234 €", "5.678 €"]] {
            assert!(matches!(read(texts), TextReading::Doubtful(_)), "{texts:?}");
        }
        for texts in [
            &["A1", "A2"][..],
            &["12 kg", "3 lb"],
            &["01234", "1234"],
            &["12A", "13A"],
            &["1-2", "3-4"],
            &["2-", "1-", "3"],
            &["25:23", "25:19"],
            &["5K", "10K"],
            &["9 / 10", "9 / 12"],
            &["9/10", "8/10"],
        ] {
            assert_eq!(read(texts), TextReading::Text, "{texts:?}");
        }
    }

    #[test]
    fn one_cell_settles_the_order_of_days() {
        let order = |texts: &[&str]| Notation::of_days(once(texts));
        assert_eq!(order(&["1/2/2020", "1/31/2020"]), TextReading::As(Notation::Day(DayOrder::MonthDayYear, None)));
        assert_eq!(order(&["1/2/2020", "31/1/2020"]), TextReading::As(Notation::Day(DayOrder::DayMonthYear, None)));
        assert_eq!(order(&["2020/1/2", "2020/12/13"]), TextReading::As(Notation::Day(DayOrder::YearMonthDay, None)));
        assert_eq!(order(&["1/2/2020", "2/1/2020"]), TextReading::Doubtful("1/2/2020".to_owned()));
        assert_eq!(order(&["a/b/c", "2/1/2020"]), TextReading::Text);
        let read = |order: DayOrder, text: &str| order.read(text, Some(Century::USUAL));
        let expected = parse_instant("2020-01-31T15:04");
        assert!(expected.is_some());
        assert_eq!(read(DayOrder::MonthDayYear, "1/31/2020 3:04 PM"), expected);
        assert_eq!(read(DayOrder::MonthDayYear, "1/31/20 15:04"), expected);
        assert_eq!(read(DayOrder::DayMonthYear, "31.1.2020 15:04:00"), expected);
        assert_eq!(read(DayOrder::DayMonthYear, "31.1.2020 25:04"), None);
    }

    /// A number is an instant by its size where times are written, and none where it may be any.
    #[test]
    fn numbers_among_written_times() {
        for notation in [Notation::Plain, Notation::Day(DayOrder::DayMonthYear, None), Notation::Written] {
            let read = |number| notation.instant(Cell::Number(number));
            let day = parse_instant("2023-07-15");
            assert_eq!([45_122.0, 1_689_379_200.0, 1_689_379_200_000.0, 20_230_715.0].map(read), [day; 4]);
            assert_eq!((read(12.0), read(-1.0), read(1e30)), (None, None, None));
        }
        assert_eq!(Notation::Clock(Clock::Seconds).instant(Cell::Number(45_122.0)), None);
    }
}
