//! Dates and times: from texts and to them, and the calendar of an instant.
//!
//! An instant is a number of seconds since 1970-01-01T00:00:00 UTC, without leap seconds. The
//! calendar is the Gregorian one, also before 1582 (as in ISO 8601). Algorithms: H. Hinnant,
//! *chrono-compatible low-level date algorithms*, 2013.

const DAY: f64 = 86_400.0;
/// Instants farther away count as this far: some 300,000 years.
const FARTHEST: f64 = 1e13;

/// Seconds since 1970-01-01 UTC of a date, a time, or both.
///
/// Accepted are `2024-05-01`, `2024/05/01`, `01.05.2024`, `2024-05`, `08:30`, `08:30:00.25` (on
/// 1970-01-01) and a date with a time, separated by `T` or one space; after a time `Z`, `UTC`,
/// `GMT` or an offset `+02:00`, `+0200`, `+02`, behind a space or not. Without an offset it is
/// UTC. A week of ISO 8601, `2024-W18` or `2024-W18-3`, begins on Monday. Also dates with an
/// English month: `May 1 2024`, `May 1, 2024`, `1 May 2024`, `1-May-2024`, `May-1-2024`; with a
/// time behind a space, and a day of the week before it; as web servers write it,
/// `01/May/2024:08:30:00 +0200`, with a time behind a colon. Spaces around it do not count. `None`
/// for everything else: nobody knows what `01/02/2024` is, nor of which century `1-May-24`.
#[must_use]
pub fn parse_instant(text: &str) -> Option<f64> {
    let text = text.trim().as_bytes();
    if text.get(2) == Some(&b':') {
        return time(text);
    }
    // As spreadsheets write how long something took.
    if (text.get(1), text.get(4)) == (Some(&b':'), Some(&b':')) && text.len() < 20 {
        return time(&[&b"0"[..], text].concat());
    }
    if text.get(2) == Some(&b'.') {
        let (day, month) = (digits(text.get(..2)?)?, digits(text.get(3..5)?)?);
        let year = digits(text.strip_prefix_at(5, b'.')?.get(..4)?)?;
        return whole(year, month, day, text);
    }
    let Some(year) = text.get(..4).and_then(digits) else {
        return with_month(text, |_| None).map(|(seconds, _)| seconds);
    };
    if let Some(week) = text[4..].strip_prefix(b"-W") {
        return of_week(year, week);
    }
    let between = text.get(4).copied().filter(|byte| matches!(byte, b'-' | b'/'))?;
    let month = digits(text.get(5..7)?)?;
    if text.len() == 7 {
        return if between == b'-' { whole(year, month, 1, text) } else { None };
    }
    let day = digits(text.strip_prefix_at(7, between)?.get(..2)?)?;
    whole(year, month, day, text)
}

/// A week of ISO 8601, `18`, or a day of it, `18-3`: the first week has the first Thursday.
fn of_week(year: i64, text: &[u8]) -> Option<f64> {
    let (week, day) = text.split_at_checked(2)?;
    let day = if day.is_empty() { 1 } else { digits(day.strip_prefix(b"-")?)? };
    let monday_of = |year| {
        let fourth = days_from_civil(year, 1, 4);
        fourth - (fourth + 3).rem_euclid(7)
    };
    let monday = monday_of(year) + 7 * (digits(week)? - 1);
    let is_there = monday >= monday_of(year) && monday < monday_of(year + 1) && (1..=7).contains(&day);
    is_there.then_some((monday + day - 1) as f64 * DAY)
}

/// Seconds since 1970-01-01 UTC of a date with an English month whose year has two digits,
/// `1-May-24`, with a time or without one; and those two digits. `year` makes the year of them.
/// `None` for everything else.
#[must_use]
pub fn parse_short_day(text: &str, year: impl Fn(i64) -> i64) -> Option<(f64, i64)> {
    let (seconds, short) = with_month(text.trim().as_bytes(), |short| Some(year(short)))?;
    Some((seconds, short?))
}

/// A date with the name of its month, or the first three letters of it, before or behind the day,
/// and the year at the end. Behind the day it may have two digits, which come with it, if a year
/// is made of them.
fn with_month(text: &[u8], long: impl Fn(i64) -> Option<i64>) -> Option<(f64, Option<i64>)> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    if !text.iter().any(u8::is_ascii_alphabetic) || text.len() > 48 {
        return None;
    }
    let text = behind_weekday(text);
    // A time stands behind a blank, or the colon of web servers.
    let is_clock =
        |at: usize| text[at..].get(3) == Some(&b':') && text[at + 1..].iter().take(2).all(u8::is_ascii_digit);
    let clock = (0..text.len()).find(|at| matches!(text[*at], b' ' | b':') && is_clock(*at));
    let (text, of_day) = clock.map_or(Some((text, 0.0)), |at| Some((&text[..at], time(&text[at + 1..])?)))?;
    let separates = |byte: &u8| matches!(byte, b' ' | b',' | b'-' | b'/');
    let mut parts = text.split(separates).filter(|part| !part.is_empty());
    let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
    let month = |name: &[u8]| {
        let is = |month: &str| {
            name.len() >= 3 && month.as_bytes().get(..name.len()).is_some_and(|long| long.eq_ignore_ascii_case(name))
        };
        MONTHS
            .iter()
            .position(|month| is(month) && (name.len() == 3 || name.len() == month.len()))
            .map(|at| at as i64 + 1)
    };
    let (month, day, short) = match month(first) {
        Some(month) => (month, second, false),
        None => (month(second)?, first, year.len() == 2),
    };
    let (day, year) = (digits(day).filter(|_| day.len() <= 2)?, digits(year).filter(|_| short || year.len() == 4)?);
    let written = short.then_some(year);
    let year = if short { long(year)? } else { year };
    if parts.next().is_some() { None } else { Some((whole(year, month, day, &[])? + of_day, written)) }
}

/// Text behind a day of the week, as in mails: `Wed, 1 May 2024`.
fn behind_weekday(text: &[u8]) -> &[u8] {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_day = |day: &&str| {
        name >= 3 && day.as_bytes().get(..name).is_some_and(|long| long.eq_ignore_ascii_case(&text[..name]))
    };
    let mut days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].iter();
    if !days.any(is_day) {
        return text;
    }
    let rest = &text[name..];
    rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start()
}

/// A date of ten bytes (or seven, without a day), and the time behind it.
fn whole(year: i64, month: i64, day: i64, text: &[u8]) -> Option<f64> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) as f64 * DAY;
    match text.get(10) {
        None => Some(midnight),
        Some(b'T' | b't' | b' ') => Some(midnight + time(&text[11..])?),
        Some(_) => None,
    }
}

trait PrefixAt {
    /// Text behind `byte`, if it stands at `place`.
    fn strip_prefix_at(&self, place: usize, byte: u8) -> Option<&[u8]>;
}

impl PrefixAt for [u8] {
    fn strip_prefix_at(&self, place: usize, byte: u8) -> Option<&[u8]> {
        (self.get(place) == Some(&byte)).then(|| &self[place + 1..])
    }
}

/// The value of decimal digits.
fn digits(text: &[u8]) -> Option<i64> {
    let decimal = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    decimal.then(|| text.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
}

/// Seconds of `HH:MM[:SS[.fff]][offset]`.
fn time(text: &[u8]) -> Option<f64> {
    let (hour, minute) = (digits(text.get(..2)?)?, digits(text.strip_prefix_at(2, b':')?.get(..2)?)?);
    let mut rest = &text[5..];
    let mut second = 0.0;
    if let Some(after) = rest.strip_prefix_at(0, b':') {
        second = digits(after.get(..2)?)? as f64;
        rest = &after[2..];
        if let [b'.' | b',', fraction @ ..] = rest {
            let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let kept = digits(&fraction[..length.min(9)])?;
            second += kept as f64 / 10_f64.powi(length.min(9) as i32);
            rest = &fraction[length..];
        }
    }
    let whole_day = hour == 24 && minute == 0 && second == 0.0;
    // A leap second is the first of the next minute.
    if !(hour < 24 || whole_day) || minute > 59 || second >= 61.0 {
        return None;
    }
    Some((hour * 3600 + minute * 60) as f64 + second - offset(rest)?)
}

/// Seconds that local time is ahead of UTC.
fn offset(text: &[u8]) -> Option<f64> {
    let (sign, text) = match text {
        [] | [b'Z' | b'z'] => return Some(0.0),
        [b' ', b'U', b'T', b'C'] | [b' ', b'G', b'M', b'T'] => return Some(0.0),
        [b' ', rest @ ..] if matches!(rest, [b'+' | b'-', ..]) => return offset(rest),
        [b'+', rest @ ..] => (1.0, rest),
        [b'-', rest @ ..] => (-1.0, rest),
        _ => return None,
    };
    let minutes = match text.len() {
        2 => 0,
        4 => digits(&text[2..])?,
        5 => digits(text.strip_prefix_at(2, b':')?)?,
        _ => return None,
    };
    let hours = digits(&text[..2])?;
    (hours < 24 && minutes < 60).then(|| sign * (hours * 3600 + minutes * 60) as f64)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day that is counted from 1970-01-01: the inverse of
/// [`days_from_civil`].
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // Years of this calculation begin in March.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// An instant as `2024-05-31T12:30:05.25Z`, to the microsecond; one beyond the year 9999 or before
/// the year 0 as its seconds.
///
/// ```
/// use mercer_core::{instant_text, parse_instant};
///
/// assert_eq!(parse_instant("31.05.2024 14:30+02").map(instant_text).as_deref(), Some("2024-05-31T12:30:00Z"));
/// ```
#[must_use]
pub fn instant_text(seconds: f64) -> String {
    let days = (seconds / DAY).floor();
    if !(-719_528.0..2_932_897.0).contains(&days) {
        return format!("{seconds:?}");
    }
    let (year, month, day) = civil(days as i64);
    format!("{year:04}-{month:02}-{day:02}T{}Z", duration_text(seconds - days * DAY))
}

/// Seconds as `12:30:05.25`, hours, minutes and seconds to the microsecond: a time of day, or how
/// long something took, which may have more than 24 hours, or a sign.
///
/// ```
/// use mercer_core::duration_text;
///
/// assert_eq!([30_605.0, -90.5, 360_000.0].map(duration_text), ["08:30:05", "-00:01:30.5", "100:00:00"]);
/// ```
#[must_use]
pub fn duration_text(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    let seconds = seconds.abs();
    let (minutes, rest) = ((seconds / 60.0).floor() as u64, seconds % 60.0);
    let rest = format!("{rest:09.6}");
    let rest = rest.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{:02}:{:02}:{rest:0>2}", minutes / 60, minutes % 60)
}

/// Where an instant lies in the day, the week and the year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calendar {
    /// Days since 1970-01-01.
    pub day: i64,
    /// Part of the day, in `[0, 1)`.
    pub of_day: f64,
    /// Part of the week from Monday, in `[0, 1)`: whole days.
    pub of_week: f64,
    /// Part of the year, in `[0, 1)`: whole days.
    pub of_year: f64,
}

impl Calendar {
    /// The calendar of an instant in UTC. What is farther away than some 300,000 years counts as
    /// that far, and NaN as 1970.
    #[must_use]
    pub fn from_instant(instant: f64) -> Self {
        let instant = if instant.is_finite() { instant.clamp(-FARTHEST, FARTHEST) } else { 0.0 };
        let day = (instant / DAY).floor() as i64;
        let of_day = (instant - day as f64 * DAY) / DAY;
        // The first day was a Thursday.
        let of_week = (day + 3).rem_euclid(7) as f64 / 7.0;
        let (year, ..) = civil(day);
        let first = days_from_civil(year, 1, 1);
        let length = 365 + i64::from(is_leap(year));
        Self { day, of_day, of_week, of_year: (day - first) as f64 / length as f64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants_by_hand() {
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("1970-01", 0.0),
            ("1970-01-02T00:00Z", DAY),
            ("2000-03-01 00:00:00", 951_868_800.0),
            ("2024-02-29T12:30:15.5Z", 1_709_209_815.5),
            ("2024-02-29T12:30:15,5+02:00", 1_709_209_815.5 - 7200.0),
            ("2024-02-29T12:30-0130", 1_709_209_800.0 + 5400.0),
            (" 08:30 ", 30_600.0),
            ("08:30:01+01", 27_001.0),
            ("29.02.2024 12:30", 1_709_209_800.0),
            ("01.01.1970", 0.0),
            ("1969-12-31T23:59:59", -1.0),
            ("0001-01-01", -62_135_596_800.0),
            ("1970-01-01T24:00", DAY),
            ("2016-12-31T23:59:60Z", 1_483_228_800.0),
            ("29.02.2024", 1_709_164_800.0),
            ("2024-02-29 12:30:05.25Z", 1_709_209_805.25),
            ("2024-02-29T12:30:05-0230", 1_709_218_805.0),
            ("1969-12-31T23:59:59,5", -0.5),
            ("2024/02/29", 1_709_164_800.0),
            ("2024/02/29 12:30:15", 1_709_209_815.0),
            ("Feb 29 2024", 1_709_164_800.0),
            ("february 29, 2024", 1_709_164_800.0),
            ("29 Feb 2024", 1_709_164_800.0),
            ("29-FEB-2024", 1_709_164_800.0),
            ("Jan-2-1970", DAY),
            ("2 Jan 1970 08:30", DAY + 30_600.0),
            ("Jan 2, 1970 08:30:01+01", DAY + 27_001.0),
            ("29/Feb/2024:12:30:15 +0000", 1_709_209_815.0),
            ("29/Feb/2024:12:30:15", 1_709_209_815.0),
            ("Thu, 29 Feb 2024 12:30:15 GMT", 1_709_209_815.0),
            ("Thursday 29 February 2024 12:30:15 +0100", 1_709_206_215.0),
            ("2024-02-29 12:30:15 +0100", 1_709_206_215.0),
            ("2024-02-29 12:30:15 UTC", 1_709_209_815.0),
            ("2024-02-29T12:30 UTC", 1_709_209_800.0),
            ("0:14:27", 867.0),
            // A Thursday began 1970.
            ("1970-W01", -3.0 * DAY),
            ("1970-W01-4", 0.0),
            ("2020-W53-7", 1_609_632_000.0),
        ] {
            assert_eq!(parse_instant(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn years_of_two_digits_are_what_is_made_of_them() {
        let short = |text| parse_short_day(text, |year| 1900 + year);
        assert_eq!(short("02/jan/70"), Some((DAY, 70)));
        assert_eq!(short("Fri, 02-Jan-70 08:30:00 GMT"), Some((DAY + 30_600.0, 70)));
        assert_eq!([short("2-Jan-1970"), short("Jan-2-70"), short("30-Feb-70")], [None; 3]);
        assert_eq!(parse_instant("02/jan/70"), None);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "20240501",
            "2024-13-01",
            "2024-02-30",
            "2023-02-29",
            "2024-5-1",
            "29/Feb/2024:12",
            "Thu",
            "Thu, 12:30",
            "3:2",
            "12:30 PM",
            "12:30  UTC",
            "1.5.2024",
            "32.01.2024",
            "01.13.2024",
            "01.01.24",
            "2024-05-01T",
            "2024-05-01T25:00",
            "2024-05-01T24:01",
            "2024-05-01 8:30",
            "08:60",
            "08:30:61",
            "2024-05-01T08:30+25:00",
            "2024-05-01T08:30 CET",
            "x024-05-01",
            "2024-05-01Z",
            "1:30",
            "ab:cd",
            "2024-05-01T08:30:00.Z",
            "äää-öö",
            "12:3é",
            "2024-00-01",
            "2024-01-32",
            "24-01-01xx",
            "2024-01-01x",
            "2024-01-01T12:30.5",
            "2024-01-01T12:30:5",
            "2024-01-01T12:30:05.",
            "2024-01-01T12:30:05CET",
            "2024-01-01T12:30+2",
            "01/02/2024",
            "2024/02",
            "2024/02-01",
            "Feb 30 2024",
            "Febr 1 2024",
            "Fe 1 2024",
            "May 2024",
            "May 1 24",
            "May 1 2024 x",
            "May 001 2024",
            "1 2 2024",
            "Monday 1 2024",
            "2024-01.01",
            "1970-W00",
            "2021-W53",
            "2021-W01-8",
            "2021-W1",
            "2021W01",
            "2 Jan 1970 8:30",
            "2 Jan 70 99:30",
            "é024-01-01",
            "2024-0é-01",
        ] {
            assert_eq!(parse_instant(text), None, "{text}");
        }
    }

    #[test]
    fn the_calendar_by_hand() {
        // A Monday, the 121st day of a common year.
        let monday = Calendar::from_instant(parse_instant("2023-05-01T06:00").unwrap());
        assert_eq!((monday.of_day, monday.of_week, monday.of_year), (0.25, 0.0, 120.0 / 365.0));
        let last = Calendar::from_instant(parse_instant("2024-12-31").unwrap());
        assert_eq!((last.of_week, last.of_year), (1.0 / 7.0, 365.0 / 366.0));
        for wild in [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY] {
            let Calendar { of_day, of_week, of_year, .. } = Calendar::from_instant(wild);
            assert!([of_day, of_week, of_year].iter().all(|share| (0.0..1.0).contains(share)));
        }
    }

    proptest! {
        /// Days counted one by one.
        #[test]
        fn days_follow_each_other(year in 1600_i64..2400) {
            let mut expected = days_from_civil(year, 1, 1);
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    prop_assert_eq!(days_from_civil(year, month, day), expected);
                    prop_assert_eq!(civil(expected), (year, month, day));
                    expected += 1;
                }
            }
            prop_assert_eq!(expected, days_from_civil(year + 1, 1, 1));
        }

        #[test]
        fn written_times_read_back(milliseconds in -62_167_219_200_000_i64..253_402_300_800_000) {
            let seconds = milliseconds as f64 / 1e3;
            prop_assert_eq!(parse_instant(&instant_text(seconds)), Some(seconds), "{}", instant_text(seconds));
        }

        #[test]
        fn any_text_is_parsed_or_not(text in "[0-9T:.+Z é-]{0,26}") {
            prop_assert!(parse_instant(&text).is_none_or(f64::is_finite));
        }

        #[test]
        fn any_characters_are_parsed_or_not(text in ".{0,40}") {
            prop_assert!(parse_instant(&text).is_none_or(f64::is_finite));
        }
    }
}
