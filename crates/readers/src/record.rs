//! A row of cells in one piece of memory.

use mercer_core::{Cell, Cells, List, TokenRow};

/// The cells of one row. One value serves for all rows: filling it again allocates nothing once it
/// has held the longest row.
///
/// ```
/// use mercer_readers::{Cell, Record};
///
/// let mut record = Record::new();
/// record.push(Cell::Number(1.5));
/// record.push(Cell::Text("red"));
/// assert_eq!(record.cell(1), Cell::Text("red"));
/// assert_eq!(record.cells().len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Record {
    cells: Vec<RecordCells>,
    /// The texts of the cells, one behind the other.
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum RecordCells {
    /// The number, and where its text begins and ends.
    Numeral(f64, usize, usize),
    /// One of a type of its own, which has no text.
    Typed(Cell<'static>),
    /// Where the text begins and ends.
    Text(usize, usize),
    /// Where the text of a list begins and ends.
    List(usize, usize),
}

/// One row with everything that belongs to it. One value serves for all rows: reading into it
/// allocates nothing once it has met the longest label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// The features: shape (d).
    pub features: Vec<f64>,
    /// The targets: shape (m); empty if the target is a label, or if there is none.
    pub targets: Vec<f64>,
    /// The label in its [canonical](crate::Labels) form; empty if the targets are numbers.
    pub label: String,
    /// The weight: 1 if there is no column of weights.
    pub weight: f64,
    /// The tokens of the features, where there are some.
    pub tokens: Option<TokenRow>,
}

impl Record {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True if there is no cell.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Cell `i`, from 0.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn cell(&self, i: usize) -> Cell<'_> {
        self.shown(self.cells[i])
    }

    /// All cells in order.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell<'_>> + Clone {
        self.cells.iter().map(|&held| self.shown(held))
    }

    /// Takes all cells out and keeps the memory.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.text.clear();
    }

    /// Gives memory back that it does not need.
    pub(crate) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
        self.text.shrink_to_fit();
    }

    /// Adds a cell at the end.
    pub fn push(&mut self, cell: Cell<'_>) {
        let held = self.held(cell);
        self.cells.push(held);
    }

    /// Makes this a record of `cells` cells without a value.
    pub(crate) fn blank(&mut self, cells: usize) {
        self.clear();
        self.cells.resize(cells, RecordCells::Typed(Cell::Missing));
    }

    /// Puts `cell` in the place of cell `i`.
    pub(crate) fn set(&mut self, i: usize, cell: Cell<'_>) {
        self.cells[i] = self.held(cell);
    }

    fn held(&mut self, cell: Cell<'_>) -> RecordCells {
        match cell {
            Cell::Missing => RecordCells::Typed(Cell::Missing),
            Cell::Number(value) => RecordCells::Typed(Cell::Number(value)),
            Cell::Integer(value) => RecordCells::Typed(Cell::Integer(value)),
            Cell::Instant(seconds) => RecordCells::Typed(Cell::Instant(seconds)),
            Cell::LocalTime(seconds) => RecordCells::Typed(Cell::LocalTime(seconds)),
            Cell::Truth(truth) => RecordCells::Typed(Cell::Truth(truth)),
            Cell::TimeOfDay(seconds) => RecordCells::Typed(Cell::TimeOfDay(seconds)),
            Cell::Duration(seconds) => RecordCells::Typed(Cell::Duration(seconds)),
            Cell::Numeral(value, text) => {
                let (begin, end) = self.keep(text);
                RecordCells::Numeral(value, begin, end)
            }
            Cell::Text(text) => {
                let (begin, end) = self.keep(text);
                RecordCells::Text(begin, end)
            }
            Cell::List(list) => {
                let (begin, end) = self.keep(list.text());
                RecordCells::List(begin, end)
            }
        }
    }

    /// Keeps a text: where it begins and ends.
    fn keep(&mut self, text: &str) -> (usize, usize) {
        let begin = self.text.len();
        self.text.push_str(text);
        (begin, self.text.len())
    }

    fn shown(&self, held: RecordCells) -> Cell<'_> {
        match held {
            RecordCells::Typed(cell) => cell,
            RecordCells::Numeral(value, begin, end) => Cell::Numeral(value, &self.text[begin..end]),
            RecordCells::Text(begin, end) => Cell::Text(&self.text[begin..end]),
            RecordCells::List(begin, end) => Cell::List(List::known(&self.text[begin..end])),
        }
    }
}

impl Cells for Record {
    fn width(&self) -> usize {
        self.len()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        self.cell(column)
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.cells().eq(other.cells())
    }
}

impl<'a> FromIterator<Cell<'a>> for Record {
    fn from_iter<I: IntoIterator<Item = Cell<'a>>>(cells: I) -> Self {
        let mut record = Self::new();
        cells.into_iter().for_each(|cell| record.push(cell));
        record
    }
}
