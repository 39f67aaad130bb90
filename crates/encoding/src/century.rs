//! Years of two digits: the hundred years that they are of.

/// The hundred years from one on.
///
/// They are those of spreadsheets, 1930 to 2029, where a column shows no years about 2030: a
/// stretch of five years, and half of the longest stretch without a year. Otherwise the years
/// begin behind that longest stretch of the circle of a hundred, in this century if the first is
/// before 2030 and the last before 2069, and the hundred years are the nearest that have all of
/// them: `25, 28, 33, …, 99, 00, 14` are 1925 to 2014, `28, 29, 30, 31` are 2028 to 2031.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Century {
    first: i16,
}

impl Century {
    /// The hundred years of spreadsheets.
    pub(crate) const USUAL: Self = Self { first: 1930 };

    /// The hundred years that these are of, each the last two digits of one.
    pub(crate) fn from_years(years: impl Iterator<Item = i16>) -> Self {
        let mut years: Vec<i16> = years.map(|year| year.rem_euclid(100)).collect();
        years.sort_unstable();
        years.dedup();
        // Free years before each one.
        let before = |place: usize| match place {
            0 => years[0] + 99 - years[years.len() - 1],
            _ => years[place] - years[place - 1] - 1,
        };
        let Some(begin) = (0..years.len()).rev().max_by_key(|place| before(*place)) else { return Self::USUAL };
        let longest = before(begin);
        let about_2030 = before(years.iter().position(|year| *year >= 30).unwrap_or(0));
        if about_2030 >= 5.max(longest.div_euclid(2)) || longest == 0 {
            return Self::USUAL;
        }
        let (first, length) = (years[begin], 99 - longest);
        let late = first < 30 && first + length < 69;
        let first = first + if late { 2000 } else { 1900 };
        Self { first: Self::USUAL.first.clamp(first + length - 99, first) }
    }

    /// The century of the years of two digits, if there are some.
    pub(crate) fn from_some(years: impl Iterator<Item = i16>) -> Option<Self> {
        let mut years = years.peekable();
        years.peek().is_some().then_some(())?;
        Some(Self::from_years(years))
    }

    /// The year of two digits.
    pub(crate) fn year(self, digits: i16) -> i16 {
        self.first + (digits - self.first).rem_euclid(100)
    }

    /// As people say it.
    pub(crate) fn words(self) -> String {
        format!("years of two digits are {} to {}", self.first, self.first + 99)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_by_hand() {
        for (years, first, told) in [
            (&[35, 68, 99, 0, 14][..], 1930, vec![1935, 1968, 1999, 2000, 2014]),
            (
                &[25, 28, 33, 41, 50, 60, 70, 80, 90, 99, 7, 14],
                1925,
                vec![1925, 1928, 1933, 1941, 1950, 1960, 1970, 1980, 1990, 1999, 2007, 2014],
            ),
            (&[19, 20, 24], 1930, vec![2019, 2020, 2024]),
            (&[24], 1930, vec![2024]),
            (&[35, 50, 68], 1930, vec![1935, 1950, 1968]),
            (&[60, 64, 70], 1930, vec![1960, 1964, 1970]),
            (&[99, 0, 1], 1930, vec![1999, 2000, 2001]),
            (&[70], 1930, vec![1970]),
            (&[28, 29, 30, 31], 1932, vec![2028, 2029, 2030, 2031]),
            (&[], 1930, vec![]),
        ] {
            let century = Century::from_years(years.iter().copied());
            assert_eq!(century.first, first, "{years:?}");
            assert_eq!(years.iter().map(|year| century.year(*year)).collect::<Vec<_>>(), told);
        }
        assert_eq!(Century::from_years(0..100), Century::USUAL);
        assert_eq!(Century::USUAL.words(), "years of two digits are 1930 to 2029");
    }
}
