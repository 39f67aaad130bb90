//! Days of a month by a rule: its last working day, the third Friday; the 1st and the 15th.

use jiff::civil::{Date, Weekday};

/// At least this share of the dates of a series follow its rule.
const FOLLOW: f64 = 0.9;
/// A date that is off by so many days may still be that of its month.
const NEAR: i32 = 4;

/// The one day of a month that a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DayRule {
    /// That day, or the last of a shorter month; at a weekend the working day before or behind it.
    Working {
        /// From 1 to 31: with 31 the last working day of the month, with 1 and `behind` the first.
        day: i8,
        /// True for the working day behind.
        behind: bool,
    },
    /// The working day of that number, from 2 on.
    NthWorking(i8),
    /// The weekday of that number, from the end of the month if it is below zero.
    Weekday {
        /// From 1, a Monday, to 7.
        weekday: i8,
        /// From 1 to 5, or from -1 to -5.
        nth: i8,
    },
}

impl DayRule {
    /// The rule that nearly all of these dates follow, one of a month, if there is one.
    pub(crate) fn detect(dates: &[Date]) -> Option<Self> {
        let ends = [(31, false), (1, true)].map(|(day, behind)| Self::Working { day, behind });
        let days = most_common(dates.iter().map(|date| date.day())).into_iter();
        let near = days.flat_map(|day| [false, true].map(|behind| Self::Working { day, behind }));
        let first = dates.first()?;
        let nth = first.day().div_euclid(7) + i8::from(first.day() % 7 > 0);
        let of_end = -1 - (first.days_in_month() - first.day()).div_euclid(7);
        let weekday = first.weekday().to_monday_one_offset();
        let weekdays = [nth, of_end].map(|nth| Self::Weekday { weekday, nth });
        let rank = (1..=first.day()).filter(|day| is_working(on(first.first_of_month(), *day))).count() as i8;
        let mut rules = ends.into_iter().chain(weekdays).chain([Self::NthWorking(rank)]).chain(near);
        let follows = |rule: &Self| {
            let those = dates.iter().filter(|date| rule.day_in(**date) == Some(**date)).count();
            those as f64 >= FOLLOW * dates.len() as f64
        };
        rules.find(follows)
    }

    /// The day in the month of a date; `None` in one that has none.
    pub(crate) fn day_in(self, date: Date) -> Option<Date> {
        let month = date.first_of_month();
        match self {
            Self::Working { day, behind } => {
                let mut date = on(month, day.clamp(1, month.days_in_month()));
                while !is_working(date) {
                    date = if behind { date.tomorrow().ok()? } else { date.yesterday().ok()? };
                }
                Some(date)
            }
            Self::NthWorking(nth) => {
                let mut working =
                    (1..=month.days_in_month()).map(|day| on(month, day)).filter(|date| is_working(*date));
                working.nth(usize::try_from(nth - 1).ok()?)
            }
            Self::Weekday { weekday, nth } => {
                month.nth_weekday_of_month(nth, Weekday::from_monday_one_offset(weekday).ok()?).ok()
            }
        }
    }

    /// True if a date is near the day of its month.
    pub(crate) fn is_near(self, date: Date) -> bool {
        let days = |of: Date| (of - date).get_days().abs();
        self.day_in(date).is_some_and(|of| days(of) <= NEAR)
    }

    /// As people say it, behind `1 month`.
    pub(crate) fn words(self) -> String {
        let side = |behind| if behind { "behind" } else { "before" };
        match self {
            Self::Working { day: 31, behind: false } => ", on its last working day".to_owned(),
            Self::Working { day: 1, behind: true } => ", on its first working day".to_owned(),
            Self::Working { day, behind } => format!(", on day {day} or the working day {} it", side(behind)),
            Self::NthWorking(nth) => format!(", on its working day {nth}"),
            Self::Weekday { weekday, nth } => {
                const NAMES: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
                const NUMBERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
                let name = NAMES[usize::try_from(weekday - 1).unwrap_or(0).min(6)];
                let number = NUMBERS[usize::from(nth.unsigned_abs() - 1).min(4)];
                match nth {
                    -1 => format!(", on its last {name}"),
                    ..=-2 => format!(", on its {number} {name} from the end"),
                    _ => format!(", on its {number} {name}"),
                }
            }
        }
    }
}

/// Days of each month, such as the 1st and the 15th: bit `d - 1` for day `d`. The last of them is
/// the last day of a month that is too short for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DaysOfMonth(u32);

impl DaysOfMonth {
    /// Most days that are no rule of weeks or days.
    const MOST: usize = 6;

    /// The days that these dates have, each at least twice.
    pub(crate) fn detect(dates: &[Date]) -> Option<Self> {
        let last = dates.iter().map(|date| date.day()).max()?;
        let bits = dates.iter().map(|date| Self::bit(*date, last));
        let days = Self(bits.clone().fold(0, |days, bit| days | bit));
        let often = |day: &i8| bits.clone().filter(|bit| *bit == 1 << (day - 1)).count() >= 2;
        // All but the last are in every month.
        let are_few = (2..=Self::MOST).contains(&days.count()) && days.days().rev().skip(1).all(|day| day <= 28);
        (are_few && days.days().all(|day| often(&day))).then_some(days)
    }

    fn bit(date: Date, last: i8) -> u32 {
        let day = if date.day() == date.days_in_month() { date.day().max(last) } else { date.day() };
        1 << (day - 1)
    }

    fn days(self) -> impl DoubleEndedIterator<Item = i8> + Clone {
        (1..=31).filter(move |day| self.0 & (1 << (day - 1)) != 0)
    }

    /// The number of days of a month.
    pub(crate) fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Which of the days of its month a date is, from 0.
    pub(crate) fn rank(self, date: Date) -> Option<usize> {
        let last = self.days().next_back()?;
        let bit = Self::bit(date, last);
        (self.0 & bit != 0).then(|| (self.0 & (bit - 1)).count_ones() as usize)
    }

    /// The day of that rank in the month of a date.
    pub(crate) fn day_in(self, date: Date, rank: usize) -> Option<Date> {
        let month = date.first_of_month();
        Some(on(month, self.days().nth(rank)?.min(month.days_in_month())))
    }

    /// As people say it.
    pub(crate) fn words(self) -> String {
        let name = |day: i8| if day == 31 { "the last".to_owned() } else { day.to_string() };
        let days: Vec<String> = self.days().map(name).collect();
        let (last, before) = days.split_last().map_or((String::new(), &[][..]), |(last, rest)| (last.clone(), rest));
        format!("days {} and {last} of each month", before.join(", "))
    }
}

fn on(month: Date, day: i8) -> Date {
    month.with().day(day).build().unwrap_or(month)
}

fn is_working(date: Date) -> bool {
    !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
}

/// The value that is there most often; of several the smallest.
pub(crate) fn most_common<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    runs.fold(None, |best: Option<&[T]>, run| best.filter(|best| best.len() >= run.len()).or(Some(run)))
        .map(|run| run[0])
}
