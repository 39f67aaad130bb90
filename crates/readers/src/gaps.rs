//! Values that stand for none, as a person tells them: `-999`, `unknown`.

use mercer_core::{Cell, parse_instant, parse_truth};

use crate::number::{self, ParsedCell};

/// Texts, and numbers, that are gaps whatever their column is.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    texts: Vec<String>,
    /// Texts among them that are numbers, which a cell may write in another way: `-999.0`.
    numbers: Vec<f64>,
    /// Texts among them that are times, in seconds since 1970: `9999-12-31`.
    instants: Vec<f64>,
}

impl Gaps {
    /// Gaps with these texts.
    #[must_use]
    pub fn new(texts: &[String]) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        let numbers = texts.iter().filter_map(|text| text.parse().ok()).collect();
        let instants = texts.iter().filter_map(|text| parse_instant(text)).collect();
        Self { texts, numbers, instants }
    }

    /// True if nothing was told.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// True if a cell of a text file, which may have blanks around it, stands for none.
    #[inline]
    pub(crate) fn has_text(&self, cell: &[u8]) -> bool {
        !self.is_empty()
            && (self.texts.iter().any(|text| text.as_bytes() == cell.trim_ascii())
                || self.has_numeral(cell)
                || self.has_written_time(cell))
    }

    /// True if the cell is one of the times, however it is written.
    fn has_written_time(&self, cell: &[u8]) -> bool {
        let time = || parse_instant(std::str::from_utf8(cell).ok()?.trim());
        !self.instants.is_empty() && time().is_some_and(|time| self.instants.contains(&time))
    }

    /// True if the cell is one of the numbers; a code, which begins with a zero, is none.
    fn has_numeral(&self, cell: &[u8]) -> bool {
        let is_code = matches!(cell.trim_ascii(), [b'0', b'0'..=b'9', ..]);
        !self.numbers.is_empty()
            && !is_code
            && matches!(number::parse(cell), ParsedCell::Number(value) if self.has_number(value))
    }

    /// True if a number stands for none.
    #[inline]
    pub(crate) fn has_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// The cell, or one without a value in its place.
    #[must_use]
    pub fn without<'a>(&self, cell: Cell<'a>) -> Cell<'a> {
        let gap = match cell {
            Cell::Text(text) | Cell::Numeral(_, text) => self.has_text(text.as_bytes()),
            Cell::Number(_) | Cell::Integer(_) => cell.number().is_some_and(|value| self.has_number(value)),
            Cell::Truth(truth) => self.texts.iter().any(|text| parse_truth(text) == Some(truth)),
            Cell::Instant(time) | Cell::LocalTime(time) => self.instants.contains(&time),
            Cell::Missing | Cell::TimeOfDay(_) | Cell::Duration(_) | Cell::List(_) => false,
        };
        if gap { Cell::Missing } else { cell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_gap_however_it_is_written() {
        let gaps = Gaps::new(&["9999-12-31".to_owned()]);
        for cell in ["9999-12-31", " 9999-12-31 00:00:00", "9999-12-31T00:00:00Z"] {
            assert!(gaps.has_text(cell.as_bytes()), "{cell}");
        }
        let end = parse_instant("9999-12-31").unwrap();
        assert_eq!([Cell::Instant(end), Cell::LocalTime(end)].map(|cell| gaps.without(cell)), [Cell::Missing; 2]);
        assert!(!gaps.has_text(b"9999-12-30") && gaps.without(Cell::Instant(end - 1.0)) != Cell::Missing);
    }

    #[test]
    fn a_number_is_a_gap_however_it_is_written() {
        let gaps = Gaps::new(&["-999".to_owned(), "7.50".to_owned(), " unknown".to_owned(), "nan".to_owned()]);
        for cell in ["-999", "-999.0", " -9.99e2 ", "7.5", "unknown", "nan"] {
            assert!(gaps.has_text(cell.as_bytes()), "{cell}");
            assert_eq!(gaps.without(Cell::Text(cell)), Cell::Missing, "{cell}");
        }
        for cell in ["999", "-999.5", "07.5", "Unknown", "NaN", ""] {
            assert!(!gaps.has_text(cell.as_bytes()), "{cell}");
        }
        assert_eq!(gaps.without(Cell::Number(-999.0)), Cell::Missing);
        assert_eq!(gaps.without(Cell::Integer(-999)), Cell::Missing);
        assert!(!Gaps::default().has_text(b""));
    }
}
