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
/// Nothing moves with the rows, so a record has the same numbers whenever it comes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Measures {
    columns: Vec<(usize, Measure)>,
    /// Columns of the schema.
    all: usize,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Measure {
    Number(Notation),
    Place(Categories),
}

impl Measures {
    /// Those of the columns of a schema that are used, but for times and texts.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let used = |column: &Column| matches!(column.used, Use::Encoded | Use::Late) && column.kind != Kind::Time;
        let places = schema.columns().iter().enumerate().filter(|(_, column)| used(column));
        Self::of_columns(schema, places.map(|(place, _)| place))
    }

    /// Those of some columns, by their places in the schema.
    #[must_use]
    pub fn of_columns(schema: &Schema, places: impl IntoIterator<Item = usize>) -> Self {
        let measure = |place: usize| {
            let column = schema.columns().get(place)?;
            let is_category = column.is_category() || matches!(column.kind, Kind::Mean | Kind::Text);
            Some((
                place,
                match is_category {
                    true => Measure::Place(Categories::new(column, column.categories.len(), (MOST_SLOTS, 0), false)),
                    false => Measure::Number(column.numerals()),
                },
            ))
        };
        Self { columns: places.into_iter().filter_map(measure).collect(), all: schema.columns().len() }
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
