//! Days whose month is a number: `31/1/2020` or `1/31/2020`.

use jiff::civil::Date;

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
    /// Seconds since 1970 of a day in this order, with a time of day or without one. UTC.
    pub(crate) fn read(self, text: &str) -> Option<f64> {
        let text = text.trim();
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
        let year = match (year.len(), self) {
            (4, _) => year.parse::<i16>().ok()?,
            // As POSIX has it: 69 and later are of the last century.
            (2, Self::DayMonthYear | Self::MonthDayYear) => {
                let year = year.parse::<i16>().ok()?;
                if year < 69 { 2000 + year } else { 1900 + year }
            }
            _ => return None,
        };
        let date = Date::new(year, small(month)?, small(day)?).ok()?;
        Some(seconds(date) + time_of_day(time)?)
    }
}

/// Seconds of `15:04`, `15:04:05.25`, `3:04 PM`, with a zone or without; 0 for nothing.
fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('Z');
    if text.is_empty() { Some(0.0) } else { written_time::clock(text) }
}
