//! One value as a file has it, and what can be read as a row of such values.

/// One value of a record, as the file has it.
///
/// | a file has | the cell |
/// |---|---|
/// | a finite number | [`Number`](Self::Number) |
/// | a date, a time of day, or both | [`Instant`](Self::Instant) |
/// | nothing, NaN, a JSON or Arrow null, or in text `NA`, `N/A`, `null`, `None` or `?` | [`Missing`](Self::Missing) |
/// | anything else, also `true` and `false` | [`Text`](Self::Text) |
///
/// Text files and JSON have dates as text, in the notations of [`parse_instant`](crate::parse_instant): `2024-05-31` and `31.05.2024`, each
/// also with a time (`T` or a blank, `12:30` or `12:30:05.25`, and then perhaps `Z` or a zone such as `+02:00`), a month `2024-05`, and a time
/// `12:30` alone. A date alone is its midnight; without a zone times are UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// A finite number.
    Number(f64),
    /// Seconds since 1970-01-01 UTC.
    Instant(f64),
    /// Any other text.
    Text(&'a str),
}

/// A row of cells, one for each column. Slices, arrays and vectors of [`Cell`] are records; a reader's own type becomes one without copying.
pub trait Cells {
    /// Number of cells.
    fn width(&self) -> usize;

    /// Cell `column`, from 0.
    ///
    /// # Panics
    /// If there is no such cell.
    fn cell(&self, column: usize) -> Cell<'_>;
}

impl Cells for [Cell<'_>] {
    fn width(&self) -> usize {
        self.len()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column]
    }
}

impl<const N: usize> Cells for [Cell<'_>; N] {
    fn width(&self) -> usize {
        N
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column]
    }
}

impl Cells for Vec<Cell<'_>> {
    fn width(&self) -> usize {
        self.len()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        self[column]
    }
}

impl<T: Cells + ?Sized> Cells for &T {
    fn width(&self) -> usize {
        (**self).width()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        (**self).cell(column)
    }
}
