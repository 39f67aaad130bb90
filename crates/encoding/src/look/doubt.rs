//! Doubts: what a column may have been meant for, where that is not plain.

use std::collections::{HashMap, HashSet};

use mercer_core::{Cell, ValueRange, instant_text, parse_instant};

use super::sight::{ColumnSight, ENOUGH_TEXTS};
use super::time_like::is_time_like;
use crate::face::ZONE_TELLS;
use crate::notation::{Notation, TextReading};
use crate::numeral::{CELLS_A_MISFIT, is_set_off};
use crate::written_time::clock;

/// The smallest size of a whole number that may mark a gap, and how many other values there must be
/// beside one that is not written in nines.
const FEWEST_OF_A_MARK: f64 = 9.0;
const FEWEST_OTHERS: usize = 20;

impl ColumnSight {
    /// A number below zero as accounts write it, with what it is read as.
    pub(super) fn set_off(&self, notation: &Notation) -> Option<String> {
        let text = self.values().map(|(value, _)| value).find(|value| is_set_off(value))?;
        notation.number(Cell::Text(text)).map(|number| format!("{text:?} is {number}"))
    }

    /// Why numbers may be something else.
    pub(super) fn doubt_of_numbers(&self, name: &str) -> Option<String> {
        let code = self.code.map(|written| format!("{written}; {name}=category keeps codes apart"));
        let day = self.doubtful_day(name).map(|day| {
            let from = |first: f64| instant_text((day + first) * 86_400.0).split('T').next().map(str::to_owned);
            let [spreadsheet, of_1960, of_1970] = [-25_569.0, -3653.0, 0.0].map(|first| from(first).unwrap_or_default());
            format!(
                "{day} may be the day {spreadsheet} of a spreadsheet, or {of_1960} or {of_1970} of a program that counts from 1960 or \
                 1970; {name}=time takes the first"
            )
        });
        let present = self.present();
        let differ = present >= ENOUGH_TEXTS && self.distinct() == present;
        let differ = differ && (is_name_of_identifier(name) || self.are_long_numbers());
        let names_rows = || differ.then(|| format!("another one in each row; {name}=identifier leaves it out"));
        code.or(day)
            .or_else(|| self.cut_digits())
            .or_else(|| self.outlying_mark().map(|mark| stands_for_none(&mark)))
            .or_else(names_rows)
    }

    /// A remark on the other kind that a column of categories may have been meant for.
    pub(super) fn doubt_of_texts(&self, name: &str) -> Option<String> {
        if self.truth_words().is_some_and(|words| words.are_alone()) {
            return self.differing_capitals();
        }
        if self.unlisted == 0
            && let Some([one, other]) = Notation::of_two(self.values())
        {
            return Some(format!("{one:?} and {other:?} are numbers written in two ways; write all in one"));
        }
        if let Some(odd) = self.odd_time() {
            return Some(format!("{odd:?} is no time; {name}=time has such cells count as missing"));
        }
        if let Some(odd) = self.odd_number() {
            return Some(format!("{odd:?} is no number; {name}=number has such cells count as missing"));
        }
        if let Some((text, number)) = self.told_number() {
            let time = if clock(text).is_some() { format!(", {name}=time as a time of day") } else { String::new() };
            return Some(format!("{text:?} may be the number {number}; {name}=number reads it so{time}"));
        }
        if let Some(text) = self.time_like() {
            return Some(format!("{text:?} looks like a time, and is not read as one: write it as 2024-05-31T08:30"));
        }
        if let Some(text) = self.number_like() {
            return Some(format!("{text:?} begins with a number, and is not read as one: write the number alone"));
        }
        self.differing_capitals()
    }

    /// A remark on two texts that are one but for their capitals.
    fn differing_capitals(&self) -> Option<String> {
        let mut small = HashMap::new();
        self.values().find_map(|(value, _)| {
            let first = small.insert(value.to_lowercase(), value)?;
            Some(format!("{first:?} and {value:?} differ in capitals alone, and are two of them"))
        })
    }

    /// True for numbers as of cards and accounts: whole ones of as many digits, 11 or more.
    fn are_long_numbers(&self) -> bool {
        let mut lengths = self.values().map(|(value, _)| value.len());
        let first = lengths.next().filter(|length| *length >= 11);
        let are_digits = || self.values().all(|(value, _)| value.bytes().all(|byte| byte.is_ascii_digit()));
        first.is_some() && lengths.all(|length| Some(length) == first) && are_digits()
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

    /// A text that stands for no time in a column of which four in five are times: all that are
    /// none are written as these are, such as 2023-02-30 or 0000-00-00, or are a few words.
    pub(super) fn mark_among_times(&self) -> Option<&str> {
        const FEW_WORDS: usize = 3;
        let (times, present) = (self.instants + self.dates, self.present());
        if !self.is_listed() || times < ENOUGH_TEXTS || 5 * (present - times) > present {
            return None;
        }
        let form = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0");
        let is_time = |text: &str| parse_instant(text).is_some();
        let forms: HashSet<String> =
            self.values().filter(|(text, _)| is_time(text)).map(|(text, _)| form(text)).collect();
        let odd = || self.values().map(|(text, _)| text).filter(|text| !is_time(text));
        let words = odd().filter(|text| !forms.contains(&form(text))).count();
        odd().next().filter(|_| words <= FEW_WORDS)
    }

    /// A remark on the times of a column: a day that may stand for no value, or some without a
    /// zone.
    pub(super) fn doubt_of_times(&self, notation: &Notation) -> Option<String> {
        if let Some(mark) = self.outlying_day(notation) {
            return Some(stands_for_none(mark));
        }
        if let Some(cut) = self.cut_digits() {
            return Some(cut);
        }
        (self.zone.is_none() && self.told_zones == [true; 2])
            .then(|| format!("some tell their offset from UTC; the others are read as UTC, and {ZONE_TELLS}"))
    }

    /// A day that is much farther from all others than these are from one another, and comes more
    /// than once or is the first or last one that a program knows.
    fn outlying_day(&self, notation: &Notation) -> Option<&str> {
        const ENDS: [&str; 6] = ["0001-01-01", "1753-01-01", "1899-12-30", "1900-01-01", "1970-01-01", "9999-12-31"];
        if self.unlisted > 0 {
            return None;
        }
        let instant = |value: &str| {
            let number = value.parse().ok().map(|number| Cell::Numeral(number, value));
            notation.instant(number.unwrap_or(Cell::Text(value)))
        };
        let mut times: Vec<(f64, &str, u64)> =
            self.values().filter_map(|(value, count)| Some((instant(value)?, value, count))).collect();
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_end =
            |time: f64| ENDS.iter().any(|day| parse_instant(day) == Some((time / 86_400.0).floor() * 86_400.0));
        let several = times.len() > FEWEST_OTHERS;
        let is_far = |(mark, _, count): (f64, &str, u64), low: f64, high: f64| {
            let far = high > low && (low - mark).max(mark - high) > 3.0 * (high - low);
            far && (count > 1 && several || is_end(mark))
        };
        match times[..] {
            [first, low, .., high] if is_far(first, low.0, high.0) => Some(first.1),
            [low, .., high, last] if is_far(last, low.0, high.0) => Some(last.1),
            _ => None,
        }
    }

    /// A text that is no time, in a column of which more than half are times.
    fn odd_time(&self) -> Option<&str> {
        if 2 * (self.instants + self.dates) <= self.present() {
            return None;
        }
        self.values().map(|(value, _)| value).find(|value| parse_instant(value).is_none())
    }

    /// The first text of a column in which nearly all look like times.
    fn time_like(&self) -> Option<&str> {
        let alike = self.values().filter(|(value, _)| is_time_like(value)).map(|(_, count)| count).sum();
        self.values().next().map(|(value, _)| value).filter(|_| self.unlisted == 0 && self.are_most(alike))
    }

    /// The first text of a column in which nearly all begin with a number that has a fraction, and
    /// go on in few ways: with marks of a footnote, or a spread.
    fn number_like(&self) -> Option<&str> {
        const FEW_WAYS: usize = 8;
        let (mut ways, mut numbers, mut alike) = (HashSet::new(), HashSet::new(), 0);
        for (text, count) in self.values() {
            let text = text.trim();
            let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+')).unwrap_or(text.len());
            let (number, rest) = text.split_at(end);
            if number.contains('.') && number.parse::<f64>().is_ok() {
                ways.insert(rest.replace(|c: char| c.is_ascii_digit(), "0"));
                numbers.insert(number);
                alike += count;
            }
        }
        let fits = self.unlisted == 0 && ways.len() <= FEW_WAYS && numbers.len() >= ENOUGH_TEXTS as usize;
        let odd = |text: &&str| text.parse::<f64>().is_err();
        self.values().map(|(value, _)| value).find(odd).filter(|_| fits && self.are_most(alike))
    }

    /// A remark on large numbers that are all written with few digits and an exponent, as a
    /// spreadsheet shows them where a column is narrow, and then writes them.
    fn cut_digits(&self) -> Option<String> {
        const SHOWN: std::ops::RangeInclusive<usize> = 1..=5;
        let decimals = |text: &str| {
            let (digits, exponent) = text.split_once("E+")?;
            let (whole, fraction) = digits.trim_start_matches('-').split_once('.')?;
            let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let fits =
                whole.len() == 1 && are_digits(whole) && are_digits(fraction) && exponent.parse::<u32>().ok()? > 7;
            fits.then_some(fraction.len())
        };
        let mut all = self.values().map(|(value, _)| (value, decimals(value)));
        let (first, shown) = all.next()?;
        let are_alike = self.present() >= ENOUGH_TEXTS && shown.is_some_and(|shown| SHOWN.contains(&shown));
        (are_alike && all.all(|(_, other)| other == shown)).then(|| {
            format!("{first:?} may have lost digits in a spreadsheet; export the column as whole numbers or text")
        })
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

    /// A whole number, or nines with a fraction such as -999.25, that is there more than once, and
    /// much farther from all others than these are from one another: programs write such where
    /// there is no value.
    fn outlying_mark(&self) -> Option<String> {
        if self.unlisted > 0 {
            return None;
        }
        // A value does not tell which mark stands before its fraction.
        let number = |value: &str| value.parse::<f64>().or_else(|_| value.replacen(',', ".", 1).parse()).ok();
        let numbers = self.values().filter_map(|(value, count)| Some((value, number(value)?, count)));
        let numbers: Vec<(&str, f64, u64)> = numbers.filter(|(_, number, _)| number.is_finite()).collect();
        let is_far = |(text, mark, count): &&(&str, f64, u64)| {
            let mut others = ValueRange::NOTHING;
            numbers.iter().filter(|(_, other, _)| other != mark).for_each(|(_, other, _)| others.observe(*other));
            let is_mark = is_nines(text) || *mark == mark.trunc() && mark.abs() >= FEWEST_OF_A_MARK;
            let differ = is_nines(text) || numbers.len() > FEWEST_OTHERS;
            let far = |(low, high): (f64, f64)| high > low && (low - mark).max(mark - high) > 3.0 * (high - low);
            *count > 1 && is_mark && differ && others.ends().is_some_and(far)
        };
        let ends = [f64::lt, f64::gt]
            .map(|beyond| numbers.iter().reduce(|end, other| if beyond(&other.1, &end.1) { other } else { end }));
        ends.into_iter().flatten().find(is_far).map(|(text, ..)| (*text).to_owned())
    }
}

/// The remark on a value that may mark gaps.
fn stands_for_none(mark: &str) -> String {
    format!("{mark} is far from all others; --gap {mark} tells that it stands for no value")
}

/// True for `-999`, `-999.25`, `9999,9` and the like.
fn is_nines(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
    let are_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    whole.len() >= 2 && whole.bytes().all(|byte| byte == b'9') && are_digits
}

/// True if a column of this name numbers its rows: `id`, `user_id`, `OrderID`, `index`, `row`, no
/// name at all, and the like.
pub(super) fn is_name_of_identifier(name: &str) -> bool {
    const WHOLE: [&str; 12] =
        ["", "index", "row", "rownames", "rownum", "row_number", "rowid", "no", "nr", "key", "uuid", "instant"];
    let lower = name.trim().to_lowercase();
    let ends =
        |tail: &str| lower.strip_suffix(tail).is_some_and(|before| before.is_empty() || before.ends_with(['_', ' ']));
    WHOLE.contains(&lower.as_str())
        || ["id", "nr", "no", "number", "key"].iter().any(|tail| ends(tail))
        || name.ends_with("Id")
        || name.ends_with("ID")
        || lower.starts_with("unnamed:")
}
