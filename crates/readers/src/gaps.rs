//! Values that stand for none, as a person tells them: `-999`, `unknown`.

use mercer_core::{Cell, parse_truth};

use crate::number::{self, ParsedCell};

/// Texts, and numbers, that are gaps whatever their column is.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    texts: Vec<String>,
    /// Texts among them that are numbers, which a cell may write in another way: `-999.0`.
    numbers: Vec<f64>,
}

impl Gaps {
    /// Gaps with these texts.
    #[must_use]
    pub fn new(texts: &[String]) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        let numbers = texts.iter().filter_map(|text| text.parse().ok()).collect();
        Self { texts, numbers }
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
            && (self.texts.iter().any(|text| text.as_bytes() == cell.trim_ascii()) || self.has_numeral(cell))
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
            Cell::Missing
            | Cell::Instant(_)
            | Cell::LocalTime(_)
            | Cell::TimeOfDay(_)
            | Cell::Duration(_)
            | Cell::List(_) => false,
        };
        if gap { Cell::Missing } else { cell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
