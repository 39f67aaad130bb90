//! Times of day without days: where they fall back, the next day begins.

const DAY: f64 = 86_400.0;
/// Days since 1970 that stand for none: that of a bare time of day, and 1899-12-30 and 1900-01-01
/// of spreadsheets.
const NO_DAYS: [f64; 3] = [0.0, -25_569.0, -25_567.0];

/// Falls of so many of the smallest steps at most are rows out of order.
const OUT_OF_ORDER: f64 = 3.0;

/// How times of day alone are read.
pub(crate) const NEXT_DAY: &str = "each that falls back begins the next day";

/// True if the times of first rows are of a day that stands for none, and do not mostly fall, as
/// where the newest row comes first.
pub(crate) fn are_of_day(times: &[f64], grouped: bool) -> bool {
    let of = |day: f64| times.iter().all(|time| (DAY * day..=DAY * (day + 1.0)).contains(time));
    let falls = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let rises = times.windows(2).filter(|pair| pair[1] > pair[0]).count();
    !times.is_empty() && NO_DAYS.into_iter().any(of) && (grouped || falls == 0 || falls < rises)
}

/// The time of a row of which `read` tells the time of day, behind one at `before`: of the same
/// day, or where it falls back of the next. A fall of few steps stays one, for the rows are out of
/// order there.
pub(crate) fn roll(read: f64, before: Option<f64>, step: Option<f64>) -> f64 {
    let Some(before) = before else { return read };
    let time = DAY * (before / DAY).floor() + read.rem_euclid(DAY);
    let is_next_day = time < before && step.is_none_or(|step| before - time > OUT_OF_ORDER * step);
    if is_next_day { time + DAY } else { time }
}

/// The whole days nearest to a time between two rows.
pub(crate) fn whole_days(between: f64) -> f64 {
    DAY * (between / DAY).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3600.0;

    #[test]
    fn a_fall_begins_a_day() {
        let read: Vec<f64> = (0..60).map(|hour| HOUR * f64::from(hour % 24)).collect();
        assert!(are_of_day(&read, false));
        let mut before = None;
        for (hour, read) in read.iter().enumerate() {
            before = Some(roll(*read, before, Some(HOUR)));
            assert_eq!(before, Some(HOUR * hour as f64));
        }
        // The day of a spreadsheet is one that stands for none, another is not.
        for day in NO_DAYS {
            assert!(are_of_day(&[day * DAY, day * DAY + HOUR], false), "{day}");
        }
        assert!(!are_of_day(&[20_000.0 * DAY, 20_000.0 * DAY + HOUR], false));
        // Midnight is also written as 24:00.
        assert_eq!(roll(DAY, Some(23.0 * HOUR), Some(HOUR)), DAY);
    }

    #[test]
    fn rows_out_of_order_stay_so() {
        assert!(!are_of_day(&[3.0 * HOUR, 2.0 * HOUR, HOUR], false), "the newest comes first");
        assert_eq!(roll(4.0 * HOUR, Some(5.0 * HOUR), Some(HOUR)), 4.0 * HOUR);
        assert_eq!(roll(HOUR, Some(5.0 * HOUR), Some(HOUR)), DAY + HOUR);
        assert_eq!(roll(5.0 * HOUR, Some(5.0 * HOUR), None), 5.0 * HOUR);
    }
}
