//! Times as programs and people write them out: `Jan 8, 2023 8:29 PM`, `8. Januar 2023, 20:29 Uhr`,
//! `Sun Jan 08 20:29:00 +0000 2023`, `20230108T202900Z`, `2023年1月8日`, `8:29 PM`.
//!
//! Every word and every number of a text has to be understood, and nothing may be there twice. A
//! day of the week is passed over.

use jiff::civil::Date;

use crate::step::seconds;

/// Months in English, German, French, Spanish, Italian, Dutch and Portuguese.
const MONTHS: [&[&str]; 12] = [
    &["january", "januari", "jänner", "janvier", "enero", "gennaio", "janeiro"],
    &["february", "februari", "février", "fevrier", "febrero", "febbraio", "fevereiro"],
    &["march", "märz", "mrz", "mars", "marzo", "maart", "mrt", "março"],
    &["aprile", "avril", "abril"],
    &["mayo", "mai", "maggio", "mei", "maio"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["augustus", "août", "aout", "agosto"],
    &["september", "septembre", "septiembre", "setiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];

/// Days of the week in the same languages but the last, of which two letters are enough.
pub(crate) const WEEKDAYS: &str = "
    monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch
    donnerstag freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi
    dimanche lunes martes miércoles jueves viernes sábado domingo lunedì martedì mercoledì
    giovedì venerdì sabato maandag dinsdag woensdag donderdag vrijdag zondag";

/// Hours that a clock is ahead of UTC: the zones of RFC 2822, and those of Europe.
pub(crate) const ZONES: [(&str, f64); 21] = [
    ("z", 0.0),
    ("utc", 0.0),
    ("gmt", 0.0),
    ("wet", 0.0),
    ("west", 1.0),
    ("bst", 1.0),
    ("cet", 1.0),
    ("mez", 1.0),
    ("cest", 2.0),
    ("mesz", 2.0),
    ("eet", 2.0),
    ("eest", 3.0),
    ("est", -5.0),
    ("edt", -4.0),
    ("cst", -6.0),
    ("cdt", -5.0),
    ("mst", -7.0),
    ("mdt", -6.0),
    ("pst", -8.0),
    ("pdt", -7.0),
    ("jst", 9.0),
];

/// Words that say nothing.
const FILLERS: [&str; 12] = ["t", "at", "um", "à", "a", "de", "del", "of", "the", "uhr", "klo", "kl"];
/// Words that may stand behind the number of a day.
const ORDINALS: [&str; 7] = ["st", "nd", "rd", "th", "er", "º", "°"];

/// Seconds since 1970 of a date with or without a time of day, or of a time on 1970-01-01; UTC
/// without a zone. A month and a year alone are the first day of it. `None` for anything else.
/// `O(bytes)`.
pub(crate) fn read(text: &str) -> Option<f64> {
    if let Some(seconds) = of_dot_net(text) {
        return Some(seconds);
    }
    let time = WrittenTime::parse(text)?;
    let day = match (time.year, time.month, time.day) {
        (None, None, None) if time.clock.is_some() && !time.weekday => 0.0,
        (Some(year), Some(month), None) if time.clock.is_none() => seconds(Date::new(year, month, 1).ok()?),
        (Some(year), Some(month), Some(day)) => seconds(Date::new(year, month, day).ok()?),
        _ => return None,
    };
    Some(day + time.of_day())
}

/// Seconds of a time of day.
pub(crate) fn clock(text: &str) -> Option<f64> {
    let time = WrittenTime::parse(text)?;
    let alone = time.clock.is_some() && !time.weekday && (time.year, time.month, time.day) == (None, None, None);
    alone.then(|| time.of_day())
}

/// True if a time can be nothing else: `8:29` may be a duration, `8:29 PM` is none.
pub(crate) fn is_certain(text: &str) -> bool {
    // `18.20.05` is no day of a month.
    let is_pointed = || {
        let mut parts = text.trim().split('.').map(str::parse::<u8>);
        matches!((parts.next(), parts.next()), (Some(Ok(_)), Some(Ok(month))) if !(1..13).contains(&month))
    };
    of_dot_net(text).is_some()
        || WrittenTime::parse(text).is_some_and(|time| time.in_halves || time.year.is_some() || is_pointed())
}

/// Seconds of `/Date(1641006000000)/`, milliseconds since 1970 as .NET writes them in JSON; an
/// offset behind them changes nothing.
fn of_dot_net(text: &str) -> Option<f64> {
    let inner = text.trim().strip_prefix("/Date(")?.strip_suffix(")/")?;
    let end = inner.rfind(['+', '-']).filter(|at| *at > 0).unwrap_or(inner.len());
    Some(inner[..end].parse::<i64>().ok()? as f64 / 1000.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
    Mark(char),
    Blank,
}

/// Numbers, words, blanks and marks, one behind the other.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut rest, mut tokens) = (text, Vec::new());
    while let Some(first) = rest.chars().next() {
        let length = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (token, length) = if first.is_ascii_digit() {
            let length = length(|c| c.is_ascii_digit());
            (Token::Number(&rest[..length]), length)
        } else if first.is_alphabetic() || first == '°' {
            let length = length(|c| c.is_alphabetic() || c == '°');
            (Token::Word(&rest[..length]), length)
        } else if first.is_whitespace() {
            (Token::Blank, length(char::is_whitespace))
        } else {
            (Token::Mark(first), first.len_utf8())
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// The parts that have been found in a text.
#[derive(Default)]
struct WrittenTime {
    year: Option<i16>,
    month: Option<i8>,
    /// The name of the month may be that of a day of the week: `mar.` in French.
    month_in_doubt: bool,
    day: Option<i8>,
    weekday: bool,
    /// Seconds of the day.
    clock: Option<f64>,
    /// True if the clock has twelve hours.
    in_halves: bool,
    /// Seconds that the clock is ahead of UTC.
    zone: Option<f64>,
}

impl WrittenTime {
    /// The time that a text holds; `None` where some of it is not understood.
    fn parse(text: &str) -> Option<Self> {
        const LONGEST: usize = 80;
        if text.len() > LONGEST {
            return None;
        }
        let text = text.trim();
        // As log files have it.
        let text = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(text);
        let text = text.to_lowercase().replace("a.m.", "am").replace("p.m.", "pm");
        let (tokens, mut time) = (tokens(&text), Self::default());
        let mut rest = &tokens[..];
        while let Some(taken) = time.take(rest) {
            rest = &rest[taken..];
        }
        rest.is_empty().then_some(time)
    }

    /// Seconds of the day in UTC.
    fn of_day(&self) -> f64 {
        self.clock.unwrap_or(0.0) - self.zone.unwrap_or(0.0)
    }

    /// Takes what the tokens begin with, and says how many they are; `None` where nothing is
    /// understood.
    fn take(&mut self, tokens: &[Token<'_>]) -> Option<usize> {
        use Token::{Blank, Mark, Number, Word};
        match tokens {
            [Blank | Mark(',' | '.' | '-' | '/'), ..] if self.clock.is_none() || !is_offset(tokens) => Some(1),
            // SAS has a colon behind the day, of which the year may have two digits.
            [Number(year), Mark(':'), Number(_), Mark(':'), Number(_), Mark(':'), Number(_)]
                if self.lacks_year(year) =>
            {
                self.put_short_year(year)
            }
            [Mark(':'), Number(_), Mark(':'), ..] if self.year.is_some() && self.clock.is_none() => Some(1),
            [Number(hour), Mark(':'), ..] if hour.len() < 3 => self.by_colons(hour, tokens),
            // `18.00.00`, if there is nothing else.
            [Number(hour), Mark('.'), Number(minute), Mark('.'), Number(second)]
                if self.is_empty() && [hour, minute, second].iter().all(|part| part.len() == 2) =>
            {
                self.put_clock([hour, minute, second, "0"], tokens, 5)
            }
            [Number(hour), Word("am" | "pm"), ..] | [Number(hour), Blank, Word("am" | "pm"), ..] => {
                self.put_clock([hour, "00", "00", "0"], tokens, 1)
            }
            [Number(hour), Word("h"), Number(minute), ..] if self.year.is_some() => {
                self.put_clock([hour, minute, "00", "0"], tokens, 3)
            }
            [Number(year), Mark(one), Number(month), Mark(two), Number(day), ..]
                if year.len() == 4 && one == two && *one != ':' =>
            {
                self.put_date(year, month, day).map(|()| 5)
            }
            [Number(day), Mark('.'), Number(month), Mark('.'), Number(year), ..] if year.len() == 4 => {
                self.put_date(year, month, day).map(|()| 5)
            }
            [Number(day), Mark('.'), Blank, Number(month), Mark('.'), Blank, Number(year), ..] if year.len() == 4 => {
                self.put_date(year, month, day).map(|()| 7)
            }
            [Number(year), Word("年"), Number(month), Word("月"), Number(day), Word("日"), ..] => {
                self.put_date(year, month, day).map(|()| 6)
            }
            [Number(hour), Mark(mark @ ('.' | '-')), Number(minute), rest @ ..]
                if hour.len() < 3 && self.day.is_some() && self.year.is_some() =>
            {
                self.by_points(*mark, [hour, minute], rest, tokens)
            }
            [Number(digits), ..] if digits.len() == 8 => {
                self.put_date(&digits[..4], &digits[4..6], &digits[6..])?;
                self.behind_digits(&tokens[1..]).map(|taken| 1 + taken)
            }
            [Number(year), ..] if year.len() == 4 => put(&mut self.year, year.parse().ok()?).map(|()| 1),
            [Number(year), ..] if self.lacks_year(year) => self.put_short_year(year),
            [Number(day), rest @ ..] if day.len() <= 2 => {
                put(&mut self.day, day.parse().ok()?)?;
                Some(1 + usize::from(matches!(rest, [Word(word), ..] if ORDINALS.contains(word))))
            }
            [Mark(sign), ..] if self.clock.is_some() => self.by_offset(*sign, tokens),
            [Word(word), ..] => self.take_word(word).map(|()| 1),
            _ => None,
        }
    }

    /// `20:29`, `20:29:05.25`, `8:29 pm`
    fn by_colons(&mut self, hour: &str, tokens: &[Token<'_>]) -> Option<usize> {
        use Token::{Mark, Number};
        let (parts, taken) = match tokens[2..] {
            [Number(minute), Mark(':'), Number(second), Mark('.' | ',' | ':'), Number(fraction), ..] => {
                ([hour, minute, second, fraction], 7)
            }
            [Number(minute), Mark(':'), Number(second), ..] => ([hour, minute, second, "0"], 5),
            [Number(minute), ..] => ([hour, minute, "00", "0"], 3),
            _ => return None,
        };
        self.put_clock(parts, tokens, taken)
    }

    /// `20.29`, `20-29-05`, `08.29.05.250000 PM`: all with the mark that stands behind the hour.
    fn by_points(
        &mut self,
        mark: char,
        [hour, minute]: [&str; 2],
        rest: &[Token<'_>],
        tokens: &[Token<'_>],
    ) -> Option<usize> {
        use Token::{Mark, Number};
        let (second, fraction, taken) = match rest {
            [Mark(one), Number(second), Mark('.'), Number(fraction), ..] if *one == mark => (*second, *fraction, 7),
            [Mark(one), Number(second), ..] if *one == mark => (*second, "0", 5),
            _ => ("00", "0", 3),
        };
        self.put_clock([hour, minute, second, fraction], tokens, taken)
    }

    /// Takes the parts behind a day of eight digits: `T202900`.
    fn behind_digits(&mut self, tokens: &[Token<'_>]) -> Option<usize> {
        use Token::{Number, Word};
        match tokens {
            [Word("t"), Number(digits), ..] if matches!(digits.len(), 4 | 6) => {
                let second = if digits.len() == 6 { &digits[4..] } else { "00" };
                self.put_clock([&digits[..2], &digits[2..4], second, "0"], tokens, 2)
            }
            _ => Some(0),
        }
    }

    /// `+0200`, `-05:00`; a name in brackets behind it, `(CEST)` or `[Europe/Berlin]`, says the
    /// same.
    fn by_offset(&mut self, sign: char, tokens: &[Token<'_>]) -> Option<usize> {
        use Token::{Mark, Number};
        if let ('(' | '[', Some(_)) = (sign, self.zone) {
            let end = if sign == '(' { ')' } else { ']' };
            return tokens.iter().position(|token| *token == Mark(end)).map(|at| at + 1);
        }
        let sign = match sign {
            '+' => 1.0,
            '-' => -1.0,
            _ => return None,
        };
        let (hours, minutes, taken) = match tokens[1..] {
            [Number(hours), Mark(':'), Number(minutes), ..] if hours.len() == 2 => (hours, minutes, 4),
            [Number(both), ..] if both.len() == 4 => (&both[..2], &both[2..], 2),
            [Number(hours), ..] if hours.len() <= 2 => (hours, "0", 2),
            _ => return None,
        };
        let offset = sign * (3600.0 * below(hours, 15)? + 60.0 * below(minutes, 60)?);
        // Nowhere is a clock farther behind; `10:00-12:30` is two times.
        if offset < -43_200.0 {
            return None;
        }
        // `GMT+0200` has been taken for GMT.
        if self.zone.unwrap_or(0.0) != 0.0 {
            return None;
        }
        self.zone = Some(offset);
        Some(taken)
    }

    /// True if nothing was found yet.
    fn is_empty(&self) -> bool {
        self.clock.is_none() && !self.weekday && (self.year, self.month, self.day) == (None, None, None)
    }

    /// True if two digits behind a day and a month are the year.
    fn lacks_year(&self, digits: &str) -> bool {
        digits.len() == 2 && self.day.is_some() && self.month.is_some() && self.year.is_none()
    }

    /// Puts a year of two digits, of 1969 to 2068.
    fn put_short_year(&mut self, digits: &str) -> Option<usize> {
        let year: i16 = digits.parse().ok()?;
        put(&mut self.year, year + if year < 69 { 2000 } else { 1900 }).map(|()| 1)
    }

    fn take_word(&mut self, word: &str) -> Option<()> {
        let is_weekday = word.chars().count() > 1 && WEEKDAYS.split_whitespace().any(|day| day.starts_with(word));
        if let Some(month) = month_called(word) {
            if std::mem::replace(&mut self.month_in_doubt, is_weekday) && !self.weekday {
                (self.weekday, self.month) = (true, None);
            }
            return put(&mut self.month, month);
        }
        if is_weekday {
            let twice = std::mem::replace(&mut self.weekday, true);
            return if twice { None } else { Some(()) };
        }
        if let (Some((_, hours)), Some(_)) = (ZONES.iter().find(|(name, _)| *name == word), self.clock) {
            return put(&mut self.zone, 3600.0 * hours);
        }
        FILLERS.contains(&word).then_some(())
    }

    /// Puts hour, minute, second and fraction, which took so many tokens, and the half of the day
    /// behind them.
    fn put_clock(&mut self, parts: [&str; 4], tokens: &[Token<'_>], taken: usize) -> Option<usize> {
        use Token::{Blank, Word};
        let (half, more) = match tokens[taken..] {
            [Word(half @ ("am" | "pm")), ..] => (Some(half), 1),
            [Blank, Word(half @ ("am" | "pm")), ..] => (Some(half), 2),
            _ => (None, 0),
        };
        self.in_halves |= half.is_some();
        put(&mut self.clock, of_clock(parts, half)?)?;
        Some(taken + more)
    }

    fn put_date(&mut self, year: &str, month: &str, day: &str) -> Option<()> {
        if year.len() != 4 || month.len() > 2 || day.len() > 2 {
            return None;
        }
        put(&mut self.year, year.parse().ok()?)?;
        put(&mut self.month, month.parse().ok()?)?;
        put(&mut self.day, day.parse().ok()?)
    }
}

/// Puts a value where there is none.
fn put<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

/// True if a sign and a number behind a clock are an offset.
fn is_offset(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [Token::Mark('-'), Token::Number(_), ..])
}

/// Seconds of a day, of hour, minute, second and fraction, and of `am` or `pm`.
fn of_clock([hour, minute, second, fraction]: [&str; 4], half: Option<&str>) -> Option<f64> {
    let two_digits = minute.len() == 2 && second.len() == 2 && hour.len() <= 2;
    let of_half = || below(hour, 13).filter(|hour| *hour > 0.0).map(|hour| hour % 12.0);
    let hours = match half {
        None => below(hour, 24)?,
        Some("pm") => of_half()? + 12.0,
        Some(_) => of_half()?,
    };
    let minutes = below(minute, 60).filter(|_| two_digits)?;
    below(second, 60)?;
    Some(3600.0 * hours + 60.0 * minutes + format!("{second}.{fraction}").parse::<f64>().ok()?)
}

/// A number below a limit.
fn below(digits: &str, limit: u32) -> Option<f64> {
    digits.parse::<u32>().ok().filter(|number| *number < limit).map(f64::from)
}

/// The month of a name, or of three letters or more that no other begins with.
pub(crate) fn month_called(word: &str) -> Option<i8> {
    if word.chars().count() < 3 {
        return None;
    }
    let mut months = (1..).zip(MONTHS).filter(|(_, names)| names.iter().any(|name| name.starts_with(word)));
    months.next().filter(|_| months.next().is_none()).map(|(month, _)| month)
}

#[cfg(test)]
mod tests {
    use mercer_core::{instant_text, parse_instant};

    use super::*;

    #[test]
    fn times_that_are_written_out() {
        for (texts, day) in [
            (
                &[
                    "Jan 8, 2023 8:29 PM",
                    "Jan 8, 2023, 8:29:00 p.m.",
                    "8. Januar 2023, 20:29 Uhr",
                    "8 janv. 2023 à 20h29",
                    "dim. 8 janv. 2023 20:29",
                    "8 de enero de 2023 20:29",
                    "08.01.2023 20.29",
                    "Sun Jan 08 20:29:00 2023",
                    "Sun Jan 08 20:29:00 +0000 2023",
                    "Sun Jan 08 15:29:00 EST 2023",
                    "Sun Jan 08 2023 22:29:00 GMT+0200 (EET)",
                    "2023-01-08 21:29:00 CET",
                    "2023-01-08T21:29:00+01:00[Europe/Berlin]",
                    "2023-01-08 12:29:00 -08",
                    "20230108T202900",
                    "20230108T2029Z",
                    "20230108 20:29",
                    // Defaults of SAS, Oracle, DB2, of logs and file names, and .NET.
                    "08JAN2023:20:29:00",
                    "08JAN23:20:29:00",
                    "08-JAN-23 08.29.00.000000 PM",
                    "2023-01-08-20.29.00.000000",
                    "2023-01-08-20-29",
                    "[2023-01-08 20:29:00,000]",
                    "/Date(1673209740000)/",
                    "/Date(1673209740000+0100)/",
                ][..],
                "2023-01-08T20:29:00Z",
            ),
            (
                &[
                    "January 8th, 2023",
                    "the 8th of January 2023",
                    "2023年1月8日",
                    "8 Jan 2023",
                    "8-janv-2023",
                    "8. 1. 2023",
                    "zo 8 januari 2023",
                ],
                "2023-01-08T00:00:00Z",
            ),
            (&["mar. 7 mars 2023", "mardi 7 mars 2023", "martes, 7 mar 2023", "7. März 2023"], "2023-03-07T00:00:00Z"),
            (&["März 2023", "mars 2023", "mrt 2023"], "2023-03-01T00:00:00Z"),
            (&["8:29 PM", "8:29pm", "08:29:00 p.m."], "1970-01-01T20:29:00Z"),
            (&["12 AM", "12:00 am", "00.00.00"], "1970-01-01T00:00:00Z"),
            (&["2023-01-08 20:29:00:250", "Jan 8, 2023 8:29:00.25 PM"], "2023-01-08T20:29:00.25Z"),
        ] {
            for text in texts {
                let read = parse_instant(text).or_else(|| read(text));
                assert_eq!(read.map(instant_text).as_deref(), Some(day), "{text}");
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_no_time() {
        for text in [
            "",
            "20h29",
            "13 PM",
            "0 AM",
            "8:60 PM",
            "January",
            "Sunday",
            "Sun 8:29 PM",
            "8 January",
            "January 8th, 2023 edition",
            "31. Februar 2023",
            "8 juil. août 2023",
            "8 9 January 2023",
            "2023 January 2023",
            "1.2.23",
            "1/2/2023",
            "Ma 2023",
            "2023-01-08 21:29:00 XYZ",
            "2023-01-08 21:29 21:30",
            "2023-01-08+0200",
            "Jan 8, 2023 20:29 (5",
            "10:00-12:30",
            "2023-01-08 21:29 CET +0200",
            "五月",
            "12 pm 2023",
            "/Date(12)",
            "2023-01-08 20.29-30",
            "12 Jan 13 14",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!((read("8:29"), is_certain("8:29"), is_certain("8:29 am")), (Some(30_540.0), false, true));
        assert_eq!(
            [clock("8:29"), clock("20:29:30.5 CET"), clock("8 Jan"), clock("")],
            [Some(30_540.0), Some(70_170.5), None, None]
        );
    }
}
