//! One number for each column of a record, whose meaning never changes: for those who watch a
//! stream, and not for learners.

use mercer_core::{Cell, Cells, Inconsistent, Validate};

use crate::error::EncodingError;
use crate::notation::Notation;
use crate::schema::{Column, Kind, Schema, Use};

use super::MOST_SLOTS;
use super::category::Categories;
use super::word_shares::WordShares;

/// Columns as numbers: a number is itself, a category its place among those of the head, the
/// commonest first, and a gap is NaN. Times and identifiers are left out, because each row has
/// others.
///
/// A text, or a list, is the mean surprise of its words in bits, by their shares in rows that are
/// [held](Self::hold) for that. Each of these is judged by the others: by its own words it would
/// look more usual than rows to come.
///
/// Categories that the head has once have, by Good and Turing, as large a share in all as those
/// that it does not have at all. Where that share is large, those that are seldom in the head have
/// the place of all others: places of their own would mark the head, and the rows behind it would
/// be a change. A column without any other category is [left out](Self::too_many).
///
/// Nothing moves with the rows, so a record has the same numbers whenever it comes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Measures {
    columns: Vec<(usize, Measure)>,
    /// Columns of the schema.
    all: usize,
}

/// Share of rows with categories that the head does not have from which on there are many.
const MANY_UNSEEN: f64 = 0.01;
/// Rows of the head from which on a category has a place of its own there.
const SETTLED: u64 = 8;

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Measure {
    Number(Notation),
    Place(Categories),
    Words(WordShares),
}

impl Measures {
    /// Those of the columns of a schema that are used, and of texts; but not of times, and of what
    /// has [too many](Self::too_many) categories.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let used = |column: &Column| {
            let used = matches!(column.used, Use::Encoded | Use::Late) && column.kind != Kind::Time;
            is_of_words(column) || used && !Self::too_many(column)
        };
        let places = schema.columns().iter().enumerate().filter(|(_, column)| used(column));
        Self::of_columns(schema, places.map(|(place, _)| place))
    }

    /// Those of some columns, by their places in the schema.
    #[must_use]
    pub fn of_columns(schema: &Schema, places: impl IntoIterator<Item = usize>) -> Self {
        let measure = |place: usize| {
            let column = schema.columns().get(place)?;
            Some((
                place,
                match has_places(column) {
                    _ if is_of_words(column) => Measure::Words(WordShares::new(column)),
                    true => Measure::Place(Categories::new(column, own_places(column), (MOST_SLOTS, 0), false)),
                    false => Measure::Number(column.numerals()),
                },
            ))
        };
        Self { columns: places.into_iter().filter_map(measure).collect(), all: schema.columns().len() }
    }

    /// True of a column of categories none of which is often enough in the head to be told from the
    /// others.
    #[must_use]
    pub fn too_many(column: &Column) -> bool {
        has_places(column) && !is_of_words(column) && has_no_place(column)
    }

    /// True where there are texts, so that rows are to be [held](Self::hold) first.
    #[must_use]
    pub fn has_words(&self) -> bool {
        self.columns.iter().any(|(_, measure)| matches!(measure, Measure::Words(_)))
    }

    /// Counts the words of a record, and keeps what its numbers are made of.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn hold(&mut self, record: &(impl Cells + ?Sized)) -> Result<HeldRecord, EncodingError> {
        self.check(record)?;
        let hold = |(place, measure): &mut (usize, Measure)| match measure {
            Measure::Words(shares) => {
                let words = shares.words(record.cell(*place));
                shares.learn(&words);
                HeldCell::Words(words)
            }
            other => HeldCell::Number(other.number(record.cell(*place))),
        };
        Ok(HeldRecord(self.columns.iter_mut().map(hold).collect()))
    }

    /// Fills `numbers` with those of a record that was held; its texts are judged by the others.
    pub fn take_held(&self, held: &HeldRecord, numbers: &mut Vec<f64>) {
        numbers.clear();
        numbers.extend(self.columns.iter().zip(&held.0).map(|((_, measure), cell)| match (measure, cell) {
            (Measure::Words(shares), HeldCell::Words(words)) => shares.surprise_by_others(words).unwrap_or(f64::NAN),
            (_, HeldCell::Number(number)) => *number,
            (_, HeldCell::Words(_)) => f64::NAN,
        }));
    }

    fn check(&self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        let (expected, got) = (self.all, record.width());
        if expected == got { Ok(()) } else { Err(EncodingError::Cells { expected, got }) }
    }

    /// Numbers of a record.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// True if there is no column.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The places of the columns in the schema.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().map(|(place, _)| *place)
    }

    /// Fills `numbers` with those of a record. `O(columns)`, and a search among the categories and
    /// for each word.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn take(&self, record: &(impl Cells + ?Sized), numbers: &mut Vec<f64>) -> Result<(), EncodingError> {
        self.check(record)?;
        numbers.clear();
        numbers.extend(self.columns.iter().map(|(place, measure)| measure.number(record.cell(*place))));
        Ok(())
    }
}

/// A record whose words are counted, until those of others are.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HeldRecord(Vec<HeldCell>);

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum HeldCell {
    Number(f64),
    Words(Vec<String>),
}

/// True of a column of texts or lists.
fn is_of_words(column: &Column) -> bool {
    match column.used {
        Use::Text | Use::Words => true,
        Use::Encoded | Use::Late => {
            matches!(column.kind, Kind::List) || column.kind == Kind::Text && has_no_place(column)
        }
        _ => false,
    }
}

/// True of a column without a category that has a place of its own.
fn has_no_place(column: &Column) -> bool {
    column.distinct > 0 && own_places(column) == 0
}

/// True of a column whose values are places.
fn has_places(column: &Column) -> bool {
    column.is_category() || matches!(column.kind, Kind::Mean | Kind::Text)
}

/// Categories with a place of their own.
fn own_places(column: &Column) -> usize {
    let counts = || column.categories.iter().map(|(_, count)| *count);
    let once = counts().filter(|count| *count == 1).count() + column.distinct as usize - counts().count();
    let rows = counts().sum::<u64>() + column.distinct - counts().count() as u64;
    if once as f64 <= MANY_UNSEEN * rows as f64 {
        return counts().count();
    }
    counts().take_while(|count| *count >= SETTLED).count()
}

impl Measure {
    fn number(&self, cell: Cell<'_>) -> f64 {
        let number = match self {
            Self::Number(notation) => notation.number(cell),
            Self::Place(categories) => categories.place(cell).map(|place| place as f64),
            Self::Words(shares) => shares.surprise(&shares.words(cell)),
        };
        number.unwrap_or(f64::NAN)
    }
}

impl Validate for Measures {
    fn validate(&self) -> Result<(), Inconsistent> {
        let inside = self.columns.iter().all(|(place, _)| *place < self.all);
        Inconsistent::require(inside, "measures of columns", "they are of its columns")?;
        self.columns.iter().try_for_each(|(_, measure)| match measure {
            Measure::Number(_) => Ok(()),
            Measure::Place(categories) => categories.validate(),
            Measure::Words(shares) => shares.validate(),
        })
    }
}
