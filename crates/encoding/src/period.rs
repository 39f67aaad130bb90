//! Months, quarters and halves of a year as they are written.

use jiff::civil::Date;
use jiff::fmt::strtime::BrokenDownTime;
use mercer_core::Cell;

use crate::century::Century;
use crate::step::seconds;
use crate::written_time::month_called;

/// The first day of a month of the years from 1000 to 2999, the only ones that a bare number may
/// mean.
pub(crate) fn first_of_month(year: f64, month: f64) -> Option<f64> {
    let whole = year == year.trunc() && month == month.trunc();
    let known = (1000.0..3000.0).contains(&year) && (1.0..13.0).contains(&month);
    let date = if whole && known { Date::new(year as i16, month as i8, 1).ok()? } else { return None };
    Some(seconds(date))
}

/// The number of a month that a cell tells by it, or by the name or its first letters.
#[must_use]
pub fn month_of_year(cell: Cell<'_>) -> Option<u64> {
    let named =
        || if let Cell::Text(text) = cell { month_called(&text.trim_end_matches('.').to_lowercase()) } else { None };
    let numbered = cell.number().filter(|number| number.fract() == 0.0 && (1.0..=12.0).contains(number));
    numbered.map(|number| number as u64).or_else(|| u64::try_from(named()?).ok())
}

/// Parts of a year that a text may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YearPart {
    /// `2020Q1`, `2020-Q1`, `Q1 2020`, `1Q2020`, `T1 2020`; `1Q20` in a century.
    Quarter,
    /// `2020H1`, `H1 2020`, `S1 2020`; `1H20` in a century.
    Half,
}

impl YearPart {
    fn letters(self) -> &'static [char] {
        match self {
            Self::Quarter => &['Q', 'q', 'T', 't'],
            Self::Half => &['H', 'h', 'S', 's'],
        }
    }

    fn months(self) -> i16 {
        match self {
            Self::Quarter => 3,
            Self::Half => 6,
        }
    }

    /// The year as it is written, and the number of the part.
    fn split(self, text: &str) -> Option<(&str, i16)> {
        let (before, behind) = text.trim().split_once(self.letters())?;
        let is_part = |text: &str| text.len() == 1;
        let (part, year) = match (before, behind) {
            ("", _) => behind.split_at_checked(1)?,
            _ if is_part(before) => (before, behind),
            _ => (behind, before),
        };
        let year = year.trim_matches([' ', '-', '/', '\'']);
        let is_year = matches!(year.len(), 2 | 4) && year.bytes().all(|byte| byte.is_ascii_digit());
        let part: i16 = part.parse().ok().filter(|number| (1..=12 / self.months()).contains(number))?;
        is_year.then_some((year, part))
    }

    /// The first day of the part of a year that a text names.
    pub(crate) fn first_day(self, text: &str, century: Option<Century>) -> Option<f64> {
        let (year, part) = self.split(text)?;
        let written: i16 = year.parse().ok()?;
        let year = if year.len() == 2 { century?.year(written) } else { written };
        first_of_month(f64::from(year), f64::from(self.months() * (part - 1) + 1))
    }

    /// The year of two digits that a text has.
    pub(crate) fn short_year(self, text: &str) -> Option<i16> {
        self.split(text).filter(|(year, _)| year.len() == 2)?.0.parse().ok()
    }
}

/// The first day of `01/2020`, `1.2020`, `2020/01`, `Jan 2020`, `January 2020`, `2020-Jan` or
/// `2020M01`, and of `Jan-20` in a century. A season, `2019/20` or `2010/11`, is none.
pub(crate) fn month(text: &str, century: Option<Century>) -> Option<f64> {
    const FORMS: [&str; 12] =
        ["%m/%Y", "%m.%Y", "%m-%Y", "%Y/%m", "%YM%m", "%b %Y", "%B %Y", "%b. %Y", "%b-%Y", "%b/%Y", "%Y %b", "%Y-%b"];
    let text = text.trim();
    if !(6..=14).contains(&text.len()) || text.matches(|c: char| c.is_ascii_digit()).count() > 6 {
        return None;
    }
    if let (Some(century), Some((year, month))) = (century, short_month(text)) {
        return first_of_month(f64::from(century.year(year)), f64::from(month));
    }
    FORMS.iter().find_map(|form| {
        let parts = BrokenDownTime::parse(form, text).ok()?;
        let (year, month) = (f64::from(parts.year()?), f64::from(parts.month()?));
        let is_season = text.as_bytes().get(4) == Some(&b'/') && (year + 1.0) % 100.0 == month;
        first_of_month(year, month).filter(|_| !is_season)
    })
}

/// The year of two digits and the month of `Jan-20`.
pub(crate) fn short_month(text: &str) -> Option<(i16, i8)> {
    let parts = BrokenDownTime::parse("%b-%y", text.trim()).ok()?;
    Some((parts.year()?.rem_euclid(100), parts.month()?))
}

#[cfg(test)]
mod tests {
    use mercer_core::parse_instant;

    use super::*;

    #[test]
    fn months_are_written_in_many_ways() {
        let first = parse_instant("2020-01-01");
        for text in [
            "01/2020",
            "1/2020",
            "01.2020",
            "01-2020",
            "2020/01",
            "2020M01",
            "Jan 2020",
            "jan 2020",
            "January 2020",
            "Jan. 2020",
            "Jan-2020",
            "2020-Jan",
            "Jan-20",
        ] {
            assert_eq!(month(text, Some(Century::USUAL)), first, "{text}");
        }
        for text in ["2019/20", "2010/11", "13/2020", "1/20", "May", "19-Jan", "1/1/2020", "12.5", "1.20201"] {
            assert_eq!(month(text, Some(Century::USUAL)), None, "{text}");
        }
    }

    #[test]
    fn parts_of_years_are_written_in_many_ways() {
        let century = Some(Century::USUAL);
        let fourth = parse_instant("2023-10-01");
        for text in [
            "2023Q4", "2023-Q4", "Q4 2023", "Q4-2023", "4Q2023", "4Q23", "4Q 23", "T4 2023", "2023-T4", "4T23",
            "Q4'23", "2023 q4",
        ] {
            assert_eq!(YearPart::Quarter.first_day(text, century), fourth, "{text}");
        }
        for text in ["2023H2", "H2 2023", "2H23", "S2 2023", "2023-S2"] {
            assert_eq!(YearPart::Half.first_day(text, century), parse_instant("2023-07-01"), "{text}");
        }
        for text in ["5Q23", "Q0 2023", "Q4", "2023Q", "4Q123", "Q42023x", "1.5Q23", "T4", "XT4 2023"] {
            assert_eq!(YearPart::Quarter.first_day(text, century), None, "{text}");
        }
        assert_eq!(YearPart::Half.first_day("3H23", century), None);
        assert_eq!(YearPart::Quarter.first_day("4Q23", None), None);
    }
}
