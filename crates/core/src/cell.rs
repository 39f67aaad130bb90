//! One value as a file has it, and what can be read as a row of such values.

use std::fmt;

use crate::{List, Number, duration_text, instant_text};

/// One value of a record, as the file has it. What it means is for whoever knows what its column
/// is.
///
/// | a file has | the cell |
/// |---|---|
/// | a number of a type of numbers: JSON, Arrow, Parquet | [`Number`](Self::Number) |
/// | a whole number that no `f64` holds | [`Integer`](Self::Integer) |
/// | a number in a text file, which may be a code | [`Numeral`](Self::Numeral) |
/// | a truth value of a type of its own: JSON, Arrow, Parquet | [`Truth`](Self::Truth) |
/// | a time of a type of times with a zone, of one without, or a day | [`Instant`](Self::Instant), [`LocalTime`](Self::LocalTime) |
/// | a time of day, a duration of such a type | [`TimeOfDay`](Self::TimeOfDay), [`Duration`](Self::Duration) |
/// | a list of texts, an object: JSON, Arrow, Parquet | [`List`](Self::List) |
/// | nothing, NaN of a type of numbers, a JSON or Arrow null | [`Missing`](Self::Missing) |
/// | anything else, also `True`, dates in text, and [marks of gaps](is_gap_mark) such as `NA` | [`Text`](Self::Text) |
///
/// A type is a hint of what a text would say. The same value, typed or written, is the same to
/// whoever reads its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// A finite number.
    Number(f64),
    /// A whole number beyond 2⁵³, whose digits an `f64` would lose.
    Integer(i128),
    /// A finite number with the text that a file has for it.
    Numeral(f64, &'a str),
    /// Seconds since 1970-01-01 UTC.
    Instant(f64),
    /// A day and time as clocks of a zone that is not told show them, in seconds since 1970-01-01
    /// by these clocks. Where no zone is told it is one of UTC.
    LocalTime(f64),
    /// Any other text.
    Text(&'a str),
    /// A truth value.
    Truth(bool),
    /// Seconds since midnight.
    TimeOfDay(f64),
    /// Seconds that something took.
    Duration(f64),
    /// Several values.
    List(List<'a>),
}

impl Cell<'_> {
    /// The finite number that the cell is, whatever its column is.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) | Self::Numeral(value, _) => value.is_finite().then_some(value),
            Self::Integer(value) => Some(value as f64),
            Self::Missing | Self::Instant(_) | Self::LocalTime(_) | Self::Text(_) => None,
            Self::Truth(_) | Self::TimeOfDay(_) | Self::Duration(_) | Self::List(_) => None,
        }
    }

    /// A whole number, exactly.
    #[must_use]
    pub fn integer(value: i128) -> Self {
        const EXACT: i128 = 1 << 53;
        if (-EXACT..=EXACT).contains(&value) { Self::Number(value as f64) } else { Self::Integer(value) }
    }
}

impl fmt::Display for Cell<'_> {
    /// The text that a file would have; nothing where there is no value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Missing => Ok(()),
            Self::Number(value) => Number(value).fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Numeral(_, text) | Self::Text(text) => f.write_str(text),
            Self::Instant(seconds) => f.write_str(&instant_text(seconds)),
            Self::LocalTime(seconds) => f.write_str(instant_text(seconds).trim_end_matches('Z')),
            Self::Truth(truth) => truth.fmt(f),
            Self::TimeOfDay(seconds) | Self::Duration(seconds) => f.write_str(&duration_text(seconds)),
            Self::List(list) => list.fmt(f),
        }
    }
}

/// Texts by which files say that a value is not there. Among numbers and times they are gaps; in a
/// column of categories they are values like any other, for `NA` may be Namibia.
const GAP_MARKS: [&str; 45] = [
    "NA",
    "na",
    "N/A",
    "n/a",
    "N.A.",
    "n.a.",
    "<NA>",
    "NaN",
    "nan",
    "NAN",
    "-nan",
    "-NaN",
    "null",
    "NULL",
    "Null",
    "None",
    "none",
    "nil",
    "NaT",
    "-",
    "--",
    "–",
    "—",
    ".",
    "..",
    "...",
    "?",
    ":",
    "\\N",
    "missing",
    "undefined",
    // Errors of spreadsheets, and of numbers in C.
    "#N/A",
    "#NA",
    "#N/A N/A",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#NULL!",
    "1.#IND",
    "-1.#IND",
    "1.#QNAN",
    "-1.#QNAN",
    "#######",
];

/// True if a text, without the blanks around it, says that a value is not there: nothing, `NA`,
/// `NaN`, `null`, `None`, `nil`, `NaT`, `-`, `.`, `..`, `?`, `:`, `\N`, `missing` and their usual
/// spellings, or an error of a spreadsheet.
#[must_use]
pub fn is_gap_mark(text: &str) -> bool {
    const LONGEST: usize = 9;
    let text = text.trim();
    // Most texts are longer, or numbers.
    let may_be = text.len() <= LONGEST && (!text.starts_with(|c: char| c.is_ascii_digit()) || text.contains('#'));
    text.is_empty() || may_be && GAP_MARKS.contains(&text)
}

/// A row of cells, one for each column. Slices, arrays and vectors of [`Cell`] are records; a
/// reader's own type becomes one without copying.
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
