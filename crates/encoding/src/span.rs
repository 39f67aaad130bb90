//! Spans of time in one cell, which are read as their beginning: `05:00-06:00`,
//! `2023-03-01 05:00 – 06:00`, and years from one calendar year to the next, `2000-01`.

use std::collections::HashSet;

use mercer_core::parse_instant;

use crate::numeral::CELLS_A_MISFIT;
use crate::period::first_of_month;

/// The beginning and the end of a span as they are written.
fn ends(text: &str) -> Option<(&str, &str)> {
    let (begin, end) = text.trim().rsplit_once(['-', '–', '—'])?;
    Some((begin.trim_end(), end.trim_start()))
}

/// Minutes of `5:30` up to `24:00`; seconds behind them are looked over.
fn clock(text: &str) -> Option<u32> {
    let mut parts = text.split(':');
    let mut part = || parts.next().filter(|part| (1..=2).contains(&part.len()))?.parse::<u32>().ok();
    let (hour, minute) = (part()?, part()?);
    let seconds = part().is_none_or(|second| second < 60);
    let is_clock = seconds && parts.next().is_none() && minute < 60 && 60 * hour + minute <= 1440;
    is_clock.then_some(60 * hour + minute)
}

/// Seconds since 1970 of the beginning of a span; `None` for what is none.
pub(crate) fn begin(text: &str) -> Option<f64> {
    let (begin, end) = ends(text)?;
    if let Some(end) = clock(end) {
        let start = clock(begin.rsplit([' ', 'T']).next()?)?;
        return parse_instant(begin).filter(|_| start != end);
    }
    let year: u32 = begin.parse().ok().filter(|_| begin.len() == 4)?;
    let next = (year + 1).to_string();
    let follows = end == next || end.len() == 2 && next.ends_with(end);
    first_of_month(f64::from(year), 1.0).filter(|_| follows)
}

/// True for a column of spans, all but one of twenty, whose ends differ: behind a clock that is a
/// beginning an end is also written as an offset from UTC is, and behind a year as a month.
pub(crate) fn are_spans<'a>(values: impl Iterator<Item = (&'a str, u64)>) -> bool {
    let (mut all, mut odd, mut last, mut alone) = (0, 0, HashSet::new(), true);
    for (text, count) in values {
        all += count;
        match ends(text).filter(|_| begin(text).is_some()) {
            Some((begin, end)) => {
                alone &= clock(begin).is_some();
                last.insert(end);
            }
            None => odd += count,
        }
    }
    odd * CELLS_A_MISFIT <= all && last.len() >= if alone { 2 } else { 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_begin_where_they_begin() {
        for (text, instant) in [
            ("05:00-06:00", Some("05:00")),
            ("23:00 – 24:00", Some("23:00")),
            ("2023-03-01 05:00-06:00", Some("2023-03-01 05:00")),
            ("2023-03-01T22:30—00:00", Some("2023-03-01 22:30")),
            ("2000-01", Some("2000-01-01")),
            ("1999-00", Some("1999-01-01")),
            ("1999/2000", None),
            ("1999-2000", Some("1999-01-01")),
            ("2000-02", None),
            ("05:00-05:00", None),
            ("05:00-25:00", None),
            ("2023-03-01", None),
            ("12-13", None),
        ] {
            assert_eq!(begin(text), instant.and_then(parse_instant), "{text}");
        }
    }

    #[test]
    fn offsets_and_months_are_no_ends() {
        let are = |texts: &[&str]| are_spans(texts.iter().map(|text| (*text, 1)));
        assert!(are(&["05:00-06:00", "06:00-07:00"]));
        assert!(!are(&["05:00-06:00", "07:00-06:00"]), "an offset is the same for all");
        let offsets = ["2023-03-01 05:00-06:00", "2023-07-01 05:00-05:30", "2023-03-02 05:00-06:00"];
        assert!(!are(&offsets), "two offsets are those of winter and summer");
        assert!(are(&["2000-01", "2001-02", "2002-03"]) && !are(&["2000-01", "2000-02", "2000-03", "2001-02"]));
    }
}
