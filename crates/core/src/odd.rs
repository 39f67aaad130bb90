//! Cells that are read otherwise than they stand: what is said of them, and how many there were.

/// Reading of a cell that is read otherwise than it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// It has no value, or says so, in a column that has some.
    Gap,
    /// It is not of the column's kind, and counts as one without a value.
    Misfit,
    /// It is a category that has no number of its own.
    NewCategory,
    /// It is a time that is written otherwise than those before it: a number among written ones, a
    /// time of day or a day alone, with an offset from UTC or without.
    Otherwise,
}

// As what such cells are counted.
crate::names!(pub Oddity { Gap = "gaps", Misfit = "misfits", NewCategory = "hashed", Otherwise = "otherwise" });

const OTHERWISE: &str = "is a time written otherwise than those learnt, and is read as it stands: a number by its size, a time \
                         of day as of 1970-01-01, a day as its midnight, one without an offset as UTC";

/// Kinds of odd cells.
const KINDS: usize = Oddity::ALL.len();

impl Oddity {
    /// Words about the first such cell of a column, behind its place and its column.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Gap => "is empty and counts as missing",
            Self::Misfit => "does not fit its column and counts as missing",
            Self::NewCategory => "has no number of its own for this category and hashes it",
            Self::Otherwise => OTHERWISE,
        }
    }

    /// Words about all such cells of a column, behind their number.
    #[must_use]
    pub fn words_of_all(self) -> &'static str {
        match self {
            Self::Gap => "empty, counted as missing",
            Self::Misfit => "did not fit and counted as missing",
            Self::NewCategory => "of categories without a number of their own",
            Self::Otherwise => "were times written otherwise than those learnt, and were read as they stand",
        }
    }
}

/// Numbers of odd cells by column.
///
/// ```
/// use mercer_core::{OddCells, Oddity};
///
/// let mut odd = OddCells::default();
/// let first = [(4, Oddity::Gap), (4, Oddity::Gap), (0, Oddity::Misfit)].map(|(column, oddity)| odd.take(column, oddity));
/// assert_eq!(first, [true, false, true]);
/// assert_eq!(odd.columns(), [(4, [2, 0, 0, 0]), (0, [0, 1, 0, 0])]);
/// assert_eq!(odd.totals(), [("gaps", 2), ("misfits", 1), ("hashed", 0), ("otherwise", 0)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OddCells {
    counts: Vec<(usize, [u64; KINDS])>,
    /// From a column to its place among the counts.
    places: Vec<Option<usize>>,
}

impl OddCells {
    /// One more cell of a column; whether it is the first there that is odd so.
    pub fn take(&mut self, column: usize, oddity: Oddity) -> bool {
        if self.places.len() <= column {
            self.places.resize(column + 1, None);
        }
        let place = *self.places[column].get_or_insert(self.counts.len());
        if place == self.counts.len() {
            self.counts.push((column, [0; KINDS]));
        }
        let count = &mut self.counts[place].1[oddity as usize];
        *count += 1;
        *count == 1
    }

    /// The columns with odd cells, as they were met, with their numbers in the order of
    /// [`Oddity::ALL`].
    #[must_use]
    pub fn columns(&self) -> &[(usize, [u64; KINDS])] {
        &self.counts
    }

    /// The numbers of all columns together, with their names.
    #[must_use]
    pub fn totals(&self) -> [(&'static str, u64); KINDS] {
        Oddity::ALL.map(|oddity| (oddity.name(), self.counts.iter().map(|(_, counts)| counts[oddity as usize]).sum()))
    }
}
