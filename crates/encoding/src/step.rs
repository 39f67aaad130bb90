//! The even step of a series in time, which knows the calendar: months stay months.
//!
//! [`TimeStep::detect`] finds the step from the times of some rows. The step counts the rows
//! between two times, so that missing ones are known, and continues the times beyond the last row.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date};

use crate::day_rule::{DayRule, DaysOfMonth, most_common};

const DAY: f64 = 86_400.0;
/// At least this share of the times of an even series are whole steps apart.
const EVEN: f64 = 0.9;
/// A time counts as even if it is off by no more than this part of a step.
const SLACK: f64 = 0.25;

/// Distance between a row of a series and the next, where it is always the same.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum TimeStep {
    /// So many months, on that day of the month or on the last of a shorter one: with 31 always on
    /// the last.
    Months {
        /// 12 for years, 3 for quarters.
        count: u32,
        /// From 1 to 31.
        day: i8,
    },
    /// So many months, on the day of each that a rule tells.
    MonthsBy {
        /// 3 for quarters.
        count: u32,
        /// The rule.
        rule: DayRule,
    },
    /// Some days of every month.
    DaysOfMonth(DaysOfMonth),
    /// So many days.
    Days(u32),
    /// From Monday to Friday.
    Workdays,
    /// So many seconds, or units of whatever the times count.
    Units(f64),
}

impl TimeStep {
    /// The step of these times, seconds since 1970 if they are `dates` and otherwise plain numbers.
    /// `None` if there are fewer than two times, more than a tenth of them are not whole steps
    /// apart, or only a third of them are one step apart. Dates of one time of day have steps of
    /// the calendar alone.
    #[must_use]
    pub fn detect(times: &[f64], dates: bool) -> Option<Self> {
        let gaps: Vec<(f64, f64)> = times.windows(2).map(|two| (two[0], two[1])).filter(|(a, b)| b > a).collect();
        let even = |step: &Self| {
            let rows: Vec<u64> = gaps.iter().filter_map(|(a, b)| step.rows_between(*a, *b)).collect();
            let next = rows.iter().filter(|rows| **rows == 1).count();
            3 * next > gaps.len() && rows.len() as f64 >= EVEN * gaps.len() as f64
        };
        if dates && is_one_time_of_day(times) {
            return calendar_steps(times, &gaps).into_iter().find(even);
        }
        units(&gaps, dates).filter(even)
    }

    /// The number of steps between two times: 1 for a row and the next. `None` if they are no whole
    /// number of steps apart, or none.
    #[must_use]
    pub fn rows_between(self, before: f64, after: f64) -> Option<u64> {
        let whole = match self {
            Self::Months { count, day } => {
                let [a, b] = [day_of(before)?, day_of(after)?];
                let months = month_of(b) - month_of(a);
                let fits = [a, b].into_iter().all(|date| date.day() == day.min(date.days_in_month()));
                let same = (time_of_day(before) - time_of_day(after)).abs() < 1e-3;
                if !fits || !same || months % i64::from(count) != 0 {
                    return None;
                }
                months / i64::from(count)
            }
            Self::MonthsBy { count, rule } => {
                let [a, b] = [day_of(before)?, day_of(after)?];
                let months = month_of(b) - month_of(a);
                let same = (time_of_day(before) - time_of_day(after)).abs() < 1e-3;
                if !same || months % i64::from(count) != 0 || !rule.is_near(a) || !rule.is_near(b) {
                    return None;
                }
                months / i64::from(count)
            }
            Self::DaysOfMonth(days) => {
                let [a, b] = [day_of(before)?, day_of(after)?];
                let place = |date| Some(month_of(date) * days.count() as i64 + days.rank(date)? as i64);
                place(b)? - place(a)?
            }
            Self::Workdays => {
                let [a, b] = [before, after].map(|time| (time / DAY).floor() as i64);
                if is_weekend(a) || is_weekend(b) {
                    return None;
                }
                workdays(b) - workdays(a)
            }
            Self::Days(_) | Self::Units(_) => {
                let steps = (after - before) / self.size();
                let whole = steps.round();
                if (steps - whole).abs() > SLACK {
                    return None;
                }
                whole as i64
            }
        };
        u64::try_from(whole).ok().filter(|rows| *rows > 0)
    }

    /// The time so many steps later.
    #[must_use]
    pub fn after(self, time: f64, steps: u64) -> f64 {
        match self {
            Self::Months { count, day } => {
                let later = || {
                    let first = month_after(time, i64::from(count).checked_mul(i64::try_from(steps).ok()?)?)?;
                    let last = first.days_in_month();
                    Some(seconds(date(first.year(), first.month(), day.clamp(1, last))) + time_of_day(time))
                };
                later().unwrap_or(f64::NAN)
            }
            Self::MonthsBy { count, rule } => {
                let later = || {
                    let month = month_after(time, i64::from(count).checked_mul(i64::try_from(steps).ok()?)?)?;
                    Some(seconds(rule.day_in(month)?) + time_of_day(time))
                };
                later().unwrap_or(f64::NAN)
            }
            Self::DaysOfMonth(days) => {
                let later = || {
                    let rank = days.rank(day_of(time)?)? + usize::try_from(steps).ok()?;
                    let month = month_after(time, i64::try_from(rank / days.count()).ok()?)?;
                    Some(seconds(days.day_in(month, rank % days.count())?) + time_of_day(time))
                };
                later().unwrap_or(f64::NAN)
            }
            Self::Workdays => {
                let day = (time / DAY).floor() as i64;
                let steps = i64::try_from(steps).unwrap_or(i64::MAX / 8);
                let (weeks, rest) = (steps / 5, steps % 5);
                let behind =
                    (0..rest).fold(day + 7 * weeks, |day, _| (day + 1..).find(|day| !is_weekend(*day)).unwrap_or(day));
                time + (behind - day) as f64 * DAY
            }
            Self::Days(_) | Self::Units(_) => time + steps as f64 * self.size(),
        }
    }

    /// The number of rows after which a series with this step is likely to repeat itself, the
    /// shortest first: a day, a week or a year of rows. None where nobody knows.
    #[must_use]
    pub fn periods(self) -> Vec<usize> {
        /// Longer ones are too long to be learnt.
        const LONGEST: f64 = 2016.0;
        match self {
            Self::Months { count, .. } | Self::MonthsBy { count, .. } if 12 % count == 0 && count < 12 => {
                vec![12 / count as usize]
            }
            Self::DaysOfMonth(days) => vec![12 * days.count()],
            Self::Days(1) => vec![7],
            Self::Days(7) => vec![52],
            Self::Workdays => vec![5],
            Self::Units(step) => {
                let day = DAY / step;
                let whole = (day - day.round()).abs() < 1e-9 && day >= 2.0;
                [day, 7.0 * day]
                    .into_iter()
                    .filter(|rows| whole && *rows <= LONGEST)
                    .map(|rows| rows as usize)
                    .collect()
            }
            Self::Months { .. } | Self::MonthsBy { .. } | Self::Days(_) => Vec::new(),
        }
    }

    /// The rows of a year, where the rows are days: a season that many series of days have, and
    /// others not.
    #[must_use]
    pub fn year(self) -> Option<usize> {
        match self {
            Self::Days(1) => Some(365),
            Self::Workdays => Some(261),
            _ => None,
        }
    }

    /// As people say it: `1 month`, `30 minutes`; `dates` tells whether units are seconds.
    #[must_use]
    pub fn words(self, dates: bool) -> String {
        let counted = |count: f64, unit: &str| format!("{count} {unit}{}", if count == 1.0 { "" } else { "s" });
        match self {
            Self::Months { count, .. } if count % 12 == 0 => counted(f64::from(count / 12), "year"),
            Self::Months { count: 3, .. } => counted(1.0, "quarter"),
            Self::Months { count, .. } => counted(f64::from(count), "month"),
            Self::MonthsBy { count, rule } => Self::Months { count, day: 1 }.words(dates) + &rule.words(),
            Self::DaysOfMonth(days) => days.words(),
            Self::Days(count) if count % 7 == 0 => counted(f64::from(count / 7), "week"),
            Self::Days(count) => counted(f64::from(count), "day"),
            Self::Workdays => counted(1.0, "working day"),
            Self::Units(step) if !dates => step.to_string(),
            Self::Units(step) => {
                let fits = |(size, _): &(f64, &str)| step % size == 0.0;
                let (size, unit) =
                    [(3600.0, "hour"), (60.0, "minute")].into_iter().find(fits).unwrap_or((1.0, "second"));
                counted(step / size, unit)
            }
        }
    }

    /// True if the time of day is always the same.
    #[must_use]
    pub fn is_of_days(self) -> bool {
        !matches!(self, Self::Units(_))
    }

    fn size(self) -> f64 {
        match self {
            Self::Days(count) => f64::from(count) * DAY,
            Self::Units(size) => size,
            Self::Months { .. } | Self::MonthsBy { .. } | Self::DaysOfMonth(_) | Self::Workdays => f64::NAN,
        }
    }
}

/// True if times are of one time of day.
fn is_one_time_of_day(times: &[f64]) -> bool {
    times.windows(2).all(|two| (time_of_day(two[0]) - time_of_day(two[1])).abs() < 1e-3)
}

/// The steps of the calendar that these times may have, the best first.
fn calendar_steps(times: &[f64], gaps: &[(f64, f64)]) -> Vec<TimeStep> {
    let mut steps = Vec::new();
    let dates: Vec<Date> = times.iter().filter_map(|time| day_of(*time)).collect();
    let months = dates.windows(2).filter_map(|two| u32::try_from(month_of(two[1]) - month_of(two[0])).ok());
    let months = most_common(months.filter(|count| *count > 0)).filter(|_| dates.len() == times.len());
    let nearly_all = |count: usize, all: usize| count as f64 >= EVEN * all as f64;
    let last = nearly_all(dates.iter().filter(|date| date.day() == date.days_in_month()).count(), dates.len());
    // A shorter month has its last day for that of the others.
    let day = if last { Some(31) } else { most_common(dates.iter().map(|date| date.day())) };
    let on_that_day = |day: i8| dates.iter().filter(|date| date.day() == day.min(date.days_in_month())).count();
    let day = day.filter(|day| nearly_all(on_that_day(*day), dates.len()));
    steps.extend(months.zip(day).map(|(count, day)| TimeStep::Months { count, day }));
    let days = |(a, b): &(f64, f64)| ((b - a) / DAY).round() as u32;
    let count = most_common(gaps.iter().map(days).filter(|count| *count > 0));
    let of_week = |time: &f64| !is_weekend((time / DAY).floor() as i64);
    let over_a_weekend = |gap: &(f64, f64)| days(gap) == 3;
    if count == Some(1) && times.iter().all(of_week) && gaps.iter().any(over_a_weekend) {
        steps.push(TimeStep::Workdays);
    }
    // A week may begin a day late, and a month is no number of days.
    let whole = |count: &u32| nearly_all(gaps.iter().filter(|gap| days(gap) % count == 0).count(), gaps.len());
    steps.extend(count.filter(whole).map(TimeStep::Days));
    if let Some(count) = months {
        steps.extend(DaysOfMonth::detect(&dates).map(TimeStep::DaysOfMonth));
        steps.extend(DayRule::detect(&dates).map(|rule| TimeStep::MonthsBy { count, rule }));
    }
    steps
}

/// The first day of the month so many months after a time.
fn month_after(time: f64, months: i64) -> Option<Date> {
    day_of(time)?.first_of_month().checked_add(jiff::Span::new().try_months(months).ok()?).ok()
}

/// The step of numbers: the most common one, or the middle one where all differ a little.
fn units(gaps: &[(f64, f64)], dates: bool) -> Option<TimeStep> {
    let mut sizes: Vec<f64> = gaps.iter().map(|(a, b)| b - a).collect();
    sizes.sort_by(f64::total_cmp);
    let middle = *sizes.get(sizes.len() / 2)?;
    // The same step of decimal fractions differs in its last digits.
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    let common = sizes.chunk_by(|a, b| same(*a, *b)).max_by_key(|run| run.len())?;
    let size = if 2 * common.len() >= sizes.len() { common[0] } else { middle };
    let whole = size.round();
    let rounded = if dates && whole >= 1.0 && (size - whole).abs() < 0.02 * size {
        whole
    } else {
        // Without the rounding error of a difference.
        format!("{size:.9e}").parse().unwrap_or(size)
    };
    (rounded > 0.0 && rounded.is_finite()).then_some(TimeStep::Units(rounded))
}

fn epoch() -> Date {
    date(1970, 1, 1)
}

fn day_of(time: f64) -> Option<Date> {
    let days = (time / DAY).floor();
    if days.abs() > 5e6 {
        return None;
    }
    epoch().checked_add((days as i64).days()).ok()
}

pub(crate) fn seconds(date: Date) -> f64 {
    f64::from(epoch().until(date).map_or(0, |span| span.get_days())) * DAY
}

fn time_of_day(time: f64) -> f64 {
    time - (time / DAY).floor() * DAY
}

fn month_of(date: Date) -> i64 {
    i64::from(date.year()) * 12 + i64::from(date.month())
}

/// True for a Saturday or a Sunday; the day is counted from 1970-01-01, a Thursday.
fn is_weekend(day: i64) -> bool {
    (day + i64::from(Weekday::Thursday.to_monday_zero_offset())).rem_euclid(7) >= 5
}

/// Days from Monday to Friday until this one, which is none of a weekend.
fn workdays(day: i64) -> i64 {
    let from_monday = day + i64::from(Weekday::Thursday.to_monday_zero_offset());
    5 * from_monday.div_euclid(7) + from_monday.rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use mercer_core::{instant_text, parse_instant};

    use super::*;

    fn times(texts: &[&str]) -> Vec<f64> {
        texts.iter().map(|text| parse_instant(text).unwrap()).collect()
    }

    #[test]
    fn steps_by_hand() {
        let months = |count, day| Some(TimeStep::Months { count, day });
        for (texts, step, words, periods) in [
            (&["2020-01", "2020-02", "2020-03"][..], months(1, 1), "1 month", vec![12]),
            (&["2020-01-31", "2020-02-29", "2020-03-31", "2020-04-30"], months(1, 31), "1 month", vec![12]),
            (&["2020-01-30", "2020-02-29", "2020-03-30", "2020-04-30"], months(1, 30), "1 month", vec![12]),
            (&["2020-01-01", "2020-04-01", "2020-10-01", "2021-01-01"], months(3, 1), "1 quarter", vec![4]),
            (&["1990-01-01", "1991-01-01", "1992-01-01"], months(12, 1), "1 year", vec![]),
            (&["2020-02-27", "2020-02-28", "2020-02-29", "2020-03-02"], Some(TimeStep::Days(1)), "1 day", vec![7]),
            (&["2021-01-04", "2021-01-11", "2021-01-18"], Some(TimeStep::Days(7)), "1 week", vec![52]),
            (
                &["2024-03-07", "2024-03-08", "2024-03-11", "2024-03-12"],
                Some(TimeStep::Workdays),
                "1 working day",
                vec![5],
            ),
            (
                &["2024-01-01 22:30", "2024-01-01 23:00", "2024-01-01 23:30", "2024-01-02 00:00"],
                Some(TimeStep::Units(1800.0)),
                "30 minutes",
                vec![48, 336],
            ),
            (
                &["2024-01-01 22:00", "2024-01-01 23:00", "2024-01-02 00:00", "2024-01-02 03:00"],
                Some(TimeStep::Units(3600.0)),
                "1 hour",
                vec![24, 168],
            ),
            (&["2024-01-01", "2024-01-09", "2024-02-11", "2024-02-24"], None, "", vec![]),
            (&["2024-01-05", "2024-01-17", "2024-01-28", "2024-02-03", "2024-02-19"], None, "", vec![]),
        ] {
            let found = TimeStep::detect(&times(texts), true);
            assert_eq!(found, step, "{texts:?}");
            if let Some(found) = found {
                assert_eq!((found.words(true).as_str(), found.periods()), (words, periods), "{texts:?}");
            }
        }
        assert_eq!(TimeStep::detect(&[0.1, 0.2, 0.3, 0.5], false), Some(TimeStep::Units(0.1)));
        assert_eq!(TimeStep::detect(&[3.0], false), None);
    }

    /// Dates by rules of the calendar are found, and go on by them.
    #[test]
    fn days_of_months_go_on_by_their_rules() {
        for (texts, words, next) in [
            (
                &["2022-01-31", "2022-02-28", "2022-03-31", "2022-04-29", "2022-05-31", "2022-06-30"][..],
                "1 month, on its last working day",
                &["2022-07-29", "2022-08-31", "2022-09-30"][..],
            ),
            (
                &["2022-01-03", "2022-02-01", "2022-03-01", "2022-04-01", "2022-05-02", "2022-06-01"],
                "1 month, on its first working day",
                &["2022-07-01", "2022-08-01", "2022-09-01", "2022-10-03"],
            ),
            (
                &["2023-01-20", "2023-02-17", "2023-03-17", "2023-04-21", "2023-05-19"],
                "1 month, on its third Friday",
                &["2023-06-16", "2023-07-21"],
            ),
            (
                &["2023-01-25", "2023-02-22", "2023-03-29", "2023-04-26", "2023-05-31"],
                "1 month, on its last Wednesday",
                &["2023-06-28", "2023-07-26"],
            ),
            (
                &["2021-12-31", "2022-03-31", "2022-06-30", "2022-09-30", "2022-12-30", "2023-03-31"],
                "1 quarter, on its last working day",
                &["2023-06-30", "2023-09-29", "2023-12-29"],
            ),
            (
                &["2023-01-13", "2023-02-15", "2023-03-15", "2023-04-14", "2023-05-15", "2023-06-15"],
                "1 month, on day 15 or the working day before it",
                &["2023-07-14", "2023-08-15"],
            ),
            (
                &["2021-11-01", "2021-11-15", "2021-12-01", "2021-12-15"],
                "days 1 and 15 of each month",
                &["2022-01-01", "2022-01-15", "2022-02-01"],
            ),
            (
                &["2021-12-15", "2021-12-31", "2022-01-15", "2022-01-31"],
                "days 15 and the last of each month",
                &["2022-02-15", "2022-02-28", "2022-03-15", "2022-03-31", "2022-04-15", "2022-04-30"],
            ),
            (
                &["2022-01-01", "2022-01-11", "2022-01-21", "2022-02-01", "2022-02-11", "2022-02-21", "2022-03-01"],
                "days 1, 11 and 21 of each month",
                &["2022-03-11", "2022-03-21", "2022-04-01"],
            ),
            (&["2022-03-31", "2022-06-30", "2022-09-30", "2022-12-31"], "1 quarter", &["2023-03-31", "2023-06-30"]),
        ] {
            let times = times(texts);
            let step = TimeStep::detect(&times, true);
            assert_eq!(step.map(|step| step.words(true)).as_deref(), Some(words), "{texts:?}");
            let (step, last) = (step.unwrap(), times[times.len() - 1]);
            for (ahead, day) in (1..).zip(next) {
                assert_eq!(instant_text(step.after(last, ahead))[..10], **day, "{words}");
                assert_eq!(step.rows_between(last, step.after(last, ahead)), Some(ahead), "{words}");
            }
            assert!(times.windows(2).all(|two| step.rows_between(two[0], two[1]) == Some(1)));
        }
    }

    #[test]
    fn times_go_on_by_the_calendar() {
        let on = |step: TimeStep, from: &str, steps: u64| instant_text(step.after(parse_instant(from).unwrap(), steps));
        let month_end = TimeStep::Months { count: 1, day: 31 };
        assert_eq!(on(month_end, "2023-12-31", 2), "2024-02-29T00:00:00Z");
        assert_eq!(on(month_end, "2024-02-29", 1), "2024-03-31T00:00:00Z");
        assert_eq!(on(TimeStep::Months { count: 12, day: 1 }, "2023-01-01", 2), "2025-01-01T00:00:00Z");
        assert_eq!(on(TimeStep::Months { count: 3, day: 15 }, "2023-11-15 08:00", 1), "2024-02-15T08:00:00Z");
        assert_eq!(on(TimeStep::Workdays, "2024-03-08", 1), "2024-03-11T00:00:00Z");
        assert_eq!(on(TimeStep::Workdays, "2024-03-07", 12), "2024-03-25T00:00:00Z");
        assert_eq!(on(TimeStep::Days(7), "2024-02-26", 1), "2024-03-04T00:00:00Z");
    }

    /// `rows_between` counts what `after` adds, for every step and from every day of two years.
    #[test]
    fn rows_between_are_those_that_were_added() {
        let steps = [
            TimeStep::Months { count: 1, day: 31 },
            TimeStep::Months { count: 3, day: 30 },
            TimeStep::Days(1),
            TimeStep::Days(7),
            TimeStep::Workdays,
            TimeStep::Units(900.0),
        ];
        let start = parse_instant("2023-01-31").unwrap();
        for step in steps {
            for offset in 0..700 {
                // Months and working days are counted between times that they may have.
                let day = step.after(start, offset);
                for rows in [1, 2, 5, 11, 26] {
                    assert_eq!(step.rows_between(day, step.after(day, rows)), Some(rows), "{step:?} {offset} {rows}");
                }
                assert_eq!(step.rows_between(day, day), None);
                assert_eq!(step.rows_between(step.after(day, 1), day), None);
            }
        }
    }
}
