//! Numbers that are instants: what they count.

use jiff::civil::Date;

use crate::numeral::CELLS_A_MISFIT;
use crate::period::first_of_month;
use crate::step::seconds;

/// Units that a number counts if it is an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Clock {
    /// Its digits are a day, `20200131`.
    Digits,
    /// Seconds since 1970.
    Seconds,
    /// Thousandths of seconds.
    Milliseconds,
    /// Millionths of seconds.
    Microseconds,
    /// Billionths of seconds.
    Nanoseconds,
    /// Its digits are a month, `202001`.
    Months,
    /// It is a year.
    Years,
    /// Days of a spreadsheet, since 1899-12-30.
    Days,
    /// Seconds since 1970 that may be any.
    Elapsed,
    /// Its digits are a day and an hour, `2020013114`.
    DigitsToHour,
    /// Its digits are a day, an hour and a minute, `202001311430`.
    DigitsToMinute,
    /// Its digits are a day and the time of it, `20200131143059`.
    DigitsToSecond,
    /// Its digits are a year and the day of the year, `2020031`.
    DayOfYear,
    /// Ten millionths of seconds since the year 1, as .NET counts.
    Ticks,
}

impl Clock {
    /// The clocks that a number tells by its size, each in a range of its own, but for digits of
    /// this century and hours or minutes: those are seconds or thousandths of them, too. Few of
    /// these have such digits, so that digits go before. Ticks of this time are nanoseconds of 1989
    /// and 1990.
    const SIZED: [Self; 13] = [
        Self::Digits,
        Self::DigitsToHour,
        Self::DigitsToMinute,
        Self::DigitsToSecond,
        Self::Years,
        Self::Months,
        Self::DayOfYear,
        Self::Days,
        Self::Seconds,
        Self::Milliseconds,
        Self::Microseconds,
        Self::Ticks,
        Self::Nanoseconds,
    ];

    /// The clock that all of these numbers count, by their size.
    pub(crate) fn of_sizes(numbers: &[f64]) -> Option<Self> {
        let fits = |clock: &Self| numbers.iter().all(|number| clock.read(*number).is_some());
        Self::SIZED.into_iter().find(fits)
    }

    /// The same of all cells but one of twenty, which hold few different numbers, such as 0 or -1:
    /// those stand for no time. Each number comes with how often it is there.
    pub(crate) fn of_most(numbers: &[(f64, u64)]) -> Option<Self> {
        const FEW_MARKS: usize = 3;
        let all: u64 = numbers.iter().map(|(_, count)| count).sum();
        let fits = |clock: &Self| {
            // A column of plain numbers has too many at once.
            let odd = numbers.iter().filter(|(number, _)| clock.read(*number).is_none()).take(FEW_MARKS + 1);
            let (marks, cells) = odd.fold((0, 0), |(marks, cells), (_, count)| (marks + 1, cells + count));
            marks <= FEW_MARKS && cells * CELLS_A_MISFIT <= all
        };
        let read: Vec<f64> = numbers.iter().map(|(number, _)| *number).collect();
        Self::of_sizes(&read).or_else(|| Self::SIZED.into_iter().find(fits))
    }

    /// The clock that a number counts, by its size.
    pub(crate) fn of_size(number: f64) -> Option<Self> {
        Self::of_sizes(&[number])
    }

    /// Seconds since 1970 of a number; `None` for one outside the range of what it counts: days and
    /// months are those of years from 1000 to 2999, and from 1900 to 2199 where digits are hours or
    /// days of the year, seconds and parts of them lie from 1973 to 2201, ticks from 1997 to 2060,
    /// and days of a spreadsheet from 1950 to 2100.
    pub(crate) fn read(self, number: f64) -> Option<f64> {
        let since_1970 = |parts: f64| Some(number / parts).filter(|seconds| (1e8..7.3e9).contains(seconds));
        match self {
            Self::Digits => day(number),
            Self::DigitsToHour => day_and_clock(number, 1e2),
            Self::DigitsToMinute => day_and_clock(number, 1e4),
            Self::DigitsToSecond => day_and_clock(number, 1e6),
            Self::DayOfYear => {
                let (year, day) = ((number / 1e3).floor(), number % 1e3);
                let first = first_of_month(year, 1.0).filter(|_| RECENT.contains(&year) && day == day.trunc())?;
                let instant = first + (day - 1.0) * 86_400.0;
                let next = first_of_month(year + 1.0, 1.0)?;
                (first..next).contains(&instant).then_some(instant)
            }
            Self::Seconds => since_1970(1.0),
            Self::Milliseconds => since_1970(1e3),
            Self::Microseconds => since_1970(1e6),
            Self::Nanoseconds => since_1970(1e9),
            Self::Months => {
                let year = (number / 100.0).floor();
                first_of_month(year, number - 100.0 * year)
            }
            Self::Years => first_of_month(number, 1.0),
            Self::Days => (18_264.0..73_416.0).contains(&number).then_some((number - 25_569.0) * 86_400.0),
            Self::Elapsed => Some(number),
            Self::Ticks => (6.3e17..6.5e17).contains(&number).then_some(number / 1e7 - 62_135_596_800.0),
        }
    }
}

/// Years of digits that might be seconds or any count as well.
const RECENT: std::ops::Range<f64> = 1900.0..2200.0;

/// The day of eight digits.
fn day(number: f64) -> Option<f64> {
    if number != number.trunc() || !(1e7..3e7).contains(&number) {
        return None;
    }
    let digits = number as i64;
    let part = |value: i64| i8::try_from(value % 100).ok();
    let date = Date::new(i16::try_from(digits / 10_000).ok()?, part(digits / 100)?, part(digits)?);
    date.ok().map(seconds)
}

/// The day of eight digits with two, four or six behind them for the time of it: `parts` is one
/// more than these can be.
fn day_and_clock(number: f64, parts: f64) -> Option<f64> {
    let (digits, clock) = ((number / parts).floor(), (number % parts) * (1e6 / parts));
    let (hour, minute, second) = ((clock / 1e4).floor(), (clock / 1e2).floor() % 1e2, clock % 1e2);
    let is_clock = clock == clock.trunc() && hour < 24.0 && minute < 60.0 && second < 60.0;
    let day = day(digits).filter(|_| is_clock && RECENT.contains(&(digits / 1e4)))?;
    Some(day + 3600.0 * hour + 60.0 * minute + second)
}

#[cfg(test)]
mod tests {
    use mercer_core::parse_instant;

    use super::*;

    #[test]
    fn clocks_by_size() {
        for (numbers, clock) in [
            (&[20_200_101.0, 20_200_131.0][..], Some(Clock::Digits)),
            (&[1999.0, 2024.0], Some(Clock::Years)),
            (&[202_001.0, 202_012.0], Some(Clock::Months)),
            (&[45_122.0, 45_122.5], Some(Clock::Days)),
            (&[1.58e9, 1.59e9], Some(Clock::Seconds)),
            (&[1.58e12, 1.59e12], Some(Clock::Milliseconds)),
            (&[1.58e15, 1.59e15], Some(Clock::Microseconds)),
            (&[1.58e18, 1.59e18], Some(Clock::Nanoseconds)),
            (&[6.38e17, 6.39e17], Some(Clock::Ticks)),
            (&[1.58e9, 45_122.0], None),
            (&[2_020_010_100.0, 2_020_123_123.0], Some(Clock::DigitsToHour)),
            (&[202_001_010_059.0, 202_012_312_300.0], Some(Clock::DigitsToMinute)),
            (&[20_200_101_000_000.0, 20_201_231_235_959.0], Some(Clock::DigitsToSecond)),
            (&[2_020_001.0, 2_020_366.0], Some(Clock::DayOfYear)),
            // A day that the year has not, an hour and a minute that the day has not.
            (&[2_021_366.0], None),
            (&[2_020_010_124.0], Some(Clock::Seconds)),
            (&[202_001_010_060.0], Some(Clock::Milliseconds)),
            (&[20_200_101_240_000.0], None),
            (&[0.0, 1.0], None),
            (&[20_201_301.0], None),
        ] {
            assert_eq!(Clock::of_sizes(numbers), clock, "{numbers:?}");
        }
        assert_eq!(Clock::Digits.read(20_200_131.0), parse_instant("2020-01-31"));
        assert_eq!(Clock::Days.read(45_122.5), parse_instant("2023-07-15T12:00"));
        assert_eq!(Clock::DigitsToHour.read(2_020_013_114.0), parse_instant("2020-01-31T14:00"));
        assert_eq!(Clock::DigitsToMinute.read(202_001_311_430.0), parse_instant("2020-01-31T14:30"));
        assert_eq!(Clock::DigitsToSecond.read(20_200_131_143_059.0), parse_instant("2020-01-31T14:30:59"));
        assert_eq!(Clock::Ticks.read(638_000_000_000_000_000.0), parse_instant("2022-09-28T22:13:20"));
        assert_eq!(Clock::DayOfYear.read(2_020_366.0), parse_instant("2020-12-31"));
    }
}
