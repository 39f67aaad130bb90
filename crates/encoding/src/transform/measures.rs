//! One number for each column of a record, whose meaning never changes: for those who watch a
//! stream, and not for learners.

use mercer_core::{Cell, Cells, Inconsistent, Validate};

use crate::error::EncodingError;
use crate::notation::Notation;
use crate::schema::{Column, Kind, Schema, Use};

use super::MOST_SLOTS;
use super::category::Categories;

/// Columns as numbers: a number is itself, a category its place among those of the head, the
/// commonest first, and a gap is NaN. Times, texts and identifiers are left out, because each row
/// has others.
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
}

impl Measures {
    /// Those of the columns of a schema that are used, but for times and texts, and for what has
    /// [too many](Self::too_many) categories.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let used = |column: &Column| {
            let used = matches!(column.used, Use::Encoded | Use::Late) && column.kind != Kind::Time;
            used && !Self::too_many(column)
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
        has_places(column) && column.distinct > 0 && own_places(column) == 0
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

    /// Fills `numbers` with those of a record. `O(columns)`, and a search among the categories.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn take(&self, record: &(impl Cells + ?Sized), numbers: &mut Vec<f64>) -> Result<(), EncodingError> {
        let (expected, got) = (self.all, record.width());
        if expected != got {
            return Err(EncodingError::Cells { expected, got });
        }
        numbers.clear();
        numbers.extend(self.columns.iter().map(|(place, measure)| measure.number(record.cell(*place))));
        Ok(())
    }
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
        })
    }
}
