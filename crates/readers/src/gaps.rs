//! Values that stand for none, as a person tells them: `-999`, `unknown`.

use mercer_core::Cell;

/// Texts, and numbers, that are gaps whatever their column is.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    texts: Vec<String>,
    /// Those of them that are numbers, for formats of which the cells are.
    numbers: Vec<f64>,
}

impl Gaps {
    /// Those of these texts.
    #[must_use]
    pub fn new(texts: &[String]) -> Self {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        let numbers = texts.iter().filter_map(|text| text.parse().ok()).collect();
        Self { texts, numbers }
    }

    /// Whether nothing was told.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether a cell of a text file, which may have blanks around it, stands for none.
    #[inline]
    pub(crate) fn has_text(&self, cell: &[u8]) -> bool {
        !self.is_empty() && self.texts.iter().any(|text| text.as_bytes() == cell.trim_ascii())
    }

    /// Whether a number does.
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
            Cell::Missing | Cell::Instant(_) => false,
        };
        if gap { Cell::Missing } else { cell }
    }
}
