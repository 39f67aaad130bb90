//! Days whose month is a number: `31/1/2020` or `1/31/2020`; and those whose year has two digits.

use jiff::civil::Date;
use mercer_core::parse_short_day;

use crate::century::Century;
use crate::step::seconds;
use crate::written_time;

/// In which order a date has its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DayOrder {
    /// `31/1/2020`
    DayMonthYear,
    /// `1/31/2020`
    MonthDayYear,
    /// `2020/1/31`
    YearMonthDay,
}

mercer_core::names!(pub(crate) DayOrder { DayMonthYear = "dmy", MonthDayYear = "mdy", YearMonthDay = "ymd" });

impl DayOrder {
    /// As people say it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::DayMonthYear => "day/month/year",
            Self::MonthDayYear => "month/day/year",
            Self::YearMonthDay => "year/month/day",
        }
    }

    /// Seconds since 1970 of a day in this order, with a time of day or without one. UTC. Years of
    /// two digits are those of the century; without one such a day is none.
    pub(crate) fn read(self, text: &str, century: Option<Century>) -> Option<f64> {
        self.parse(text, century).map(|(seconds, _)| seconds)
    }

    /// The century of the years of two digits among texts, if there are some.
    pub(crate) fn century<'a>(self, texts: impl Iterator<Item = &'a str>) -> Option<Century> {
        Century::from_some(texts.filter_map(|text| self.parse(text, Some(Century::USUAL))?.1))
    }

    /// The seconds, and the year if it has two digits.
    fn parse(self, text: &str, century: Option<Century>) -> Option<(f64, Option<i16>)> {
        let text = text.trim();
        if let (Self::DayMonthYear, Some(century)) = (self, century)
            && let Some((seconds, year)) = parse_short_day(text, |year| i64::from(century.year(year as i16)))
        {
            return Some((seconds, Some(year as i16)));
        }
        let end = text.find([' ', ',', 'T']).unwrap_or(text.len());
        let (day, time) = (&text[..end], text[end..].trim_start_matches([' ', ',', 'T']));
        let mark = day.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '/' | '-' | '.'))?;
        let mut parts = day.split(mark);
        let parts = [parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?];
        let [year, month, day] = match self {
            Self::YearMonthDay => parts,
            Self::DayMonthYear => [parts[2], parts[1], parts[0]],
            Self::MonthDayYear => [parts[2], parts[0], parts[1]],
        };
        let small = |part: &str| if part.len() <= 2 { part.parse::<i8>().ok() } else { None };
        let written: i16 = year.parse().ok()?;
        let (year, short) = match (year.len(), self) {
            (4, _) => (written, None),
            (2, _) => (century?.year(written), Some(written)),
            _ => return None,
        };
        let date = Date::new(year, small(month)?, small(day)?).ok()?;
        Some((seconds(date) + time_of_day(time)?, short))
    }
}

/// Seconds of `15:04`, `15:04:05.25`, `3:04 PM`, with a zone or without; 0 for nothing.
fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    if text.is_empty() { Some(0.0) } else { written_time::clock(text) }
}
