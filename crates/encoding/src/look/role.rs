//! Roles: a column that tells the times of the rows by numbers, and one that counts the rows.

use mercer_core::parse_instant;

use super::sight::ColumnSight;
use crate::clock::Clock;
use crate::look::doubt::is_name_of_identifier;
use crate::period::{YearPart, month};

/// Numbers that are times if they rise all the way, under a name of such.
const ENOUGH_TIMES: u64 = 20;

/// Parts of the names of columns that hold times.
const OF_TIMES: [&str; 10] = ["date", "time", "datum", "zeit", "stamp", "epoch", "unix", "year", "month", "quarter"];
/// Whole names of such.
const TIMES: [&str; 8] = ["day", "week", "hour", "when", "at", "ts", "ds", ""];
/// Parts of the names of columns whose numbers may be years or months.
const OF_YEARS: [&str; 9] = ["year", "jahr", "année", "annee", "año", "date", "datum", "month", "quarter"];
/// Names of columns that count in even steps, beside those of times and of rows.
const OF_STEPS: [&str; 19] = [
    "t",
    "k",
    "n",
    "i",
    "j",
    "step",
    "steps",
    "tick",
    "frame",
    "sample",
    "iter",
    "iteration",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hours",
    "days",
    "elapsed",
];
/// Units that may stand behind such a name.
const UNITS_OF_TIME: [&str; 24] = [
    "s", "sec", "secs", "second", "seconds", "ms", "us", "µs", "μs", "ns", "min", "mins", "minute", "minutes", "h",
    "hr", "hrs", "hour", "hours", "d", "day", "days", "yr", "years",
];

/// True if a column of this name may hold times: `date`, `timestamp`, `birth_year`, `ts`, no name
/// at all, and the like.
#[must_use]
pub fn is_name_of_times(name: &str) -> bool {
    let name = name.to_lowercase();
    OF_TIMES.iter().any(|part| name.contains(part)) || TIMES.contains(&without_unit(&name))
}

/// The name, in small letters, without a unit of time behind it in brackets: `t [s]`.
fn without_unit(name: &str) -> &str {
    let name = name.trim();
    let end = |open: char, close: char| name.strip_suffix(close)?.rsplit_once(open);
    match end('[', ']').or_else(|| end('(', ')')) {
        Some((rest, unit)) if UNITS_OF_TIME.contains(&unit.trim()) && !rest.trim().is_empty() => rest.trim_end(),
        _ => name,
    }
}

/// True if a word of this name, in small letters, speaks of days: `order_date`, `datum`, `day`.
fn is_name_of_days(name: &str) -> bool {
    const DAYS: [&str; 6] = ["day", "tag", "fecha", "jour", "giorno", "dag"];
    let words = name.split(|c: char| !c.is_alphanumeric());
    let is_date = |word: &str| {
        let others = ["update", "candidate", "mandate", "validate"];
        ["date", "datum"].iter().any(|date| word.starts_with(date) || word.ends_with(date))
            && !others.iter().any(|other| word.contains(other))
    };
    words.into_iter().any(|word| DAYS.contains(&word) || is_date(word))
}

/// True if a column of this name may count steps: `t`, `step`, `frame`, and the like.
#[must_use]
pub fn is_name_of_steps(name: &str) -> bool {
    OF_STEPS.contains(&without_unit(&name.to_lowercase()))
}

/// The first and the last of names that are times in order, and nearly all: each row of such a
/// table is a series.
#[must_use]
pub fn are_times(names: &[String]) -> Option<(&str, &str)> {
    const FEWEST: usize = 4;
    let year = |name: &str| name.parse().ok().filter(|year| name.len() == 4 && (1800.0..2200.0).contains(year));
    let read = |name: &str| {
        let name = name.trim();
        let part = |part: YearPart| part.first_day(name, None);
        let parts = || part(YearPart::Quarter).or_else(|| part(YearPart::Half));
        parse_instant(name).or_else(|| month(name, None)).or_else(parts).or_else(|| year(name))
    };
    let times: Vec<(&str, f64)> = names.iter().filter_map(|name| Some((name.as_str(), read(name)?))).collect();
    let rises = times.is_sorted_by(|(_, a), (_, b)| a < b) || times.is_sorted_by(|(_, a), (_, b)| a > b);
    let [(first, _), .., (last, _)] = times[..] else { return None };
    (rises && times.len() >= FEWEST && 2 * times.len() > names.len()).then_some((first, last))
}

/// True if days of a spreadsheet would be those of years from 1950 to 1964: programs count days of
/// our time from 1960 or 1970 by such numbers.
pub(super) fn are_days_of_programs(numbers: &[f64]) -> bool {
    !numbers.is_empty() && numbers.iter().all(|number| (18_264.0..23_742.0).contains(number))
}

impl ColumnSight {
    /// The clock that the numbers of a column of this name count, if they are instants. Days in
    /// eight digits have whatever name, and those with hours behind them any but one of rows. Years
    /// and months need a name that speaks of them, days of a spreadsheet one that speaks of days,
    /// and days of the year, seconds since 1970 and parts of them one that speaks of times.
    pub(super) fn clock(&self, name: &str) -> Option<Clock> {
        if self.numbers == 0 {
            return None;
        }
        let counted = self.counted_numbers();
        let clock = Clock::of_most(&counted)?;
        let numbers = counted.into_iter().map(|(number, _)| number);
        let numbers: Vec<f64> = numbers.filter(|number| clock.read(*number).is_some()).collect();
        let lower = name.to_lowercase();
        let is_certain = match clock {
            // Days are told by more than one of them, of these centuries.
            Clock::Digits => numbers.len() > 1 && numbers.iter().all(|number| (1.8e7..2.2e7).contains(number)),
            Clock::DigitsToHour | Clock::DigitsToMinute | Clock::DigitsToSecond => {
                numbers.len() > 1 && !is_name_of_identifier(name)
            }
            Clock::DayOfYear => {
                is_name_of_times(name) || ["julian", "doy", "ddd"].iter().any(|part| lower.contains(part))
            }
            Clock::Years | Clock::Months => OF_YEARS.iter().any(|part| lower.contains(part)),
            // A count of rows or seconds may have the size of days of a spreadsheet.
            Clock::Days => is_name_of_days(&lower) && !are_days_of_programs(&numbers),
            Clock::Elapsed => false,
            Clock::Ticks | Clock::Seconds | Clock::Milliseconds | Clock::Microseconds | Clock::Nanoseconds => {
                is_name_of_times(name)
            }
        };
        is_certain.then_some(clock)
    }

    /// The values that are numbers, with how often each came.
    pub(super) fn counted_numbers(&self) -> Vec<(f64, u64)> {
        self.values().filter_map(|(value, count)| Some((value.parse().ok()?, count))).collect()
    }

    /// The first number that a clock does not read.
    pub(super) fn off_clock(&self, clock: Clock) -> Option<&str> {
        let is_odd = |value: &str| value.parse().is_ok_and(|number| clock.read(number).is_none());
        self.values().map(|(value, _)| value).find(|value| is_odd(value))
    }

    /// True if the numbers of a column of times count in several units since 1970, each by its
    /// size.
    pub(super) fn mixes_clocks(&self) -> bool {
        let of_size = |(value, _): (&str, u64)| {
            let clock = Clock::of_size(value.parse().ok()?)?;
            matches!(clock, Clock::Seconds | Clock::Milliseconds | Clock::Microseconds | Clock::Nanoseconds)
                .then_some(clock)
        };
        self.numbers > 0 && self.values().all(|value| of_size(value).is_some())
    }

    /// The whole numbers of a column of days that may be those of a spreadsheet or of a program.
    pub(super) fn doubtful_day(&self, name: &str) -> Option<f64> {
        let numbers: Vec<f64> = self.values().filter_map(|(value, _)| value.parse().ok()).collect();
        numbers.first().copied().filter(|_| is_name_of_days(&name.to_lowercase()) && are_days_of_programs(&numbers))
    }

    /// True if a column of this name counts the rows. There are several rows, and each has a
    /// number. The numbers rise by 1 from row to row, or by another step, even but for the lengths
    /// of months, in a column whose name speaks of steps, times or rows; or they are whole and
    /// rise, in one whose name speaks of rows; or twenty or more rise all the way, in one whose
    /// name speaks of times.
    pub(super) fn counts_rows(&self, name: &str) -> bool {
        if self.numbers < 3 || self.missing > 0 || self.numbers != self.present() || self.marks > 0 {
            return false;
        }
        let of_rows = is_name_of_identifier(name);
        let of_steps = of_rows || is_name_of_times(name) || is_name_of_steps(name);
        let is_even = |step: f64| step != 0.0 && (!self.uneven && step == 1.0 || !self.ragged && of_steps);
        // Times of samples that were not taken evenly.
        let of_times = is_name_of_times(name) || ["t", "elapsed"].contains(&without_unit(&name.to_lowercase()));
        let rises = of_times && !self.falls && self.numbers >= ENOUGH_TIMES;
        self.step.is_some_and(is_even) || of_rows && !self.not_running || rises
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_of_time_behind_a_name_is_no_part_of_it() {
        for name in ["t", "t [s]", "T (ms)", " step [min] ", "Sample (h)", "k[s]"] {
            assert!(is_name_of_steps(name), "{name}");
        }
        // A temperature, a length, and units without a name.
        for name in ["t (°C)", "t [m]", "x [s]", "[s]", "(s)", "t s"] {
            assert!(!is_name_of_steps(name), "{name}");
        }
        assert!(is_name_of_times("Ts [s]") && !is_name_of_times("flow [s]"));
    }
}
