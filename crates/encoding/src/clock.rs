//! Numbers that are instants: what they count.

use jiff::civil::Date;

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
}

impl Clock {
    /// The clocks that a number tells by its size, each in a range of its own.
    const SIZED: [Self; 8] = [
        Self::Digits,
        Self::Years,
        Self::Months,
        Self::Days,
        Self::Seconds,
        Self::Milliseconds,
        Self::Microseconds,
        Self::Nanoseconds,
    ];

    /// The clock that all of these numbers count, by their size.
    pub(crate) fn of_sizes(numbers: &[f64]) -> Option<Self> {
        let fits = |clock: &Self| numbers.iter().all(|number| clock.read(*number).is_some());
        Self::SIZED.into_iter().find(fits)
    }

    /// The clock that a number counts, by its size.
    pub(crate) fn of_size(number: f64) -> Option<Self> {
        Self::of_sizes(&[number])
    }

    /// Seconds since 1970 of a number; `None` for one outside the range of what it counts: days and
    /// months are those of years from 1000 to 2999, seconds and parts of them lie from 1973 to
    /// 2201, and days of a spreadsheet from 1950 to 2100.
    pub(crate) fn read(self, number: f64) -> Option<f64> {
        let since_1970 = |parts: f64| Some(number / parts).filter(|seconds| (1e8..7.3e9).contains(seconds));
        match self {
            Self::Digits => {
                if number != number.trunc() || !(1e7..3e7).contains(&number) {
                    return None;
                }
                let digits = number as i64;
                let part = |value: i64| i8::try_from(value % 100).ok();
                let date = Date::new(i16::try_from(digits / 10_000).ok()?, part(digits / 100)?, part(digits)?);
                date.ok().map(seconds)
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
        }
    }
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
            (&[1.58e9, 45_122.0], None),
            (&[0.0, 1.0], None),
            (&[20_201_301.0], None),
        ] {
            assert_eq!(Clock::of_sizes(numbers), clock, "{numbers:?}");
        }
        assert_eq!(Clock::Digits.read(20_200_131.0), parse_instant("2020-01-31"));
        assert_eq!(Clock::Days.read(45_122.5), parse_instant("2023-07-15T12:00"));
    }
}
