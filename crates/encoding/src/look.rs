//! One look at the head of a table, row by row, in bounded memory.

mod decision;
mod doubt;
mod role;
mod sight;
mod time_like;

use std::collections::{HashMap, HashSet};

use mercer_core::Cells;

use crate::error::EncodingError;
use crate::overrides::Overrides;
use crate::schema::{Column, Schema, Use};
pub use role::{are_times, is_name_of_steps, is_name_of_times};
use sight::ColumnSight;

/// A look at the head of a table. Every row of it is shown to [`observe`](Self::observe);
/// [`finish`](Self::finish) decides.
#[derive(Clone, Debug)]
pub struct Look {
    names: Vec<String>,
    named: bool,
    rows: u64,
    columns: Vec<ColumnSight>,
}

impl Look {
    /// A look at a table with columns `names`.
    ///
    /// # Errors
    /// [`EncodingError::SameName`]
    pub fn new(names: &[String]) -> Result<Self, EncodingError> {
        let mut seen = HashMap::new();
        for (name, place) in names.iter().zip(1..) {
            if let Some(first) = seen.insert(name.as_str(), place) {
                return Err(EncodingError::SameName { name: name.clone(), first, second: place });
            }
        }
        Ok(Self { names: names.to_vec(), named: true, rows: 0, columns: vec![ColumnSight::default(); names.len()] })
    }

    /// A look at a table of `width` columns without names.
    #[must_use]
    pub fn unnamed(width: usize) -> Self {
        let names = (1..=width).map(|place| place.to_string()).collect();
        Self { names, named: false, rows: 0, columns: vec![ColumnSight::default(); width] }
    }

    /// Takes one more row into account.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn observe(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        if record.width() != self.columns.len() {
            return Err(EncodingError::Cells { expected: self.columns.len(), got: record.width() });
        }
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.observe(record.cell(place));
        }
        self.rows += 1;
        Ok(())
    }

    /// Rows seen.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// True if overrides leave a column to be learnt from.
    ///
    /// # Errors
    /// [`EncodingError::NoColumn`] for an override of a column that is not there.
    pub fn leaves_some(&self, overrides: &Overrides) -> Result<bool, EncodingError> {
        let places = |list: &[String]| -> Result<HashSet<usize>, EncodingError> {
            list.iter().map(|name| Schema::place(&self.names, self.named, name)).collect()
        };
        let (ignore, only, aside) = (places(&overrides.ignore)?, places(&overrides.only)?, places(&overrides.aside)?);
        let is_left = |place: &usize| {
            let is_wanted = only.is_empty() || only.contains(place);
            is_wanted && !ignore.contains(place) && !aside.contains(place)
        };
        Ok((0..self.names.len()).any(|place| is_left(&place)))
    }

    /// Decides what the columns are.
    ///
    /// # Errors
    /// [`EncodingError::NoColumn`] for an override of a column that is not there,
    /// [`EncodingError::NothingLeft`] when no column is encoded.
    pub fn finish(self, overrides: &Overrides) -> Result<Schema, EncodingError> {
        let Self { names, named, rows, columns } = self;
        let mut first = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate().rev() {
            first.insert(name.as_str(), place);
        }
        let place = |name: &String| match first.get(name.as_str()) {
            Some(place) => Ok(*place),
            None => Schema::place_by_number(&names, named, name),
        };
        let places = |list: &[String]| list.iter().map(place).collect::<Result<HashSet<_>, _>>();
        let (ignore, only, aside) = (places(&overrides.ignore)?, places(&overrides.only)?, places(&overrides.aside)?);
        let kinds = overrides.kinds.iter().map(|(name, kind)| Ok((place(name)?, *kind)));
        let kinds = kinds.collect::<Result<HashMap<_, _>, EncodingError>>()?;
        let decided = columns.into_iter().zip(&names).enumerate().map(|(place, (mut sight, name))| {
            (sight.number_marks, sight.zone) = (overrides.marks, overrides.zone.clone());
            let mut column = sight.decide(name, kinds.get(&place).copied())?;
            if aside.contains(&place) {
                column.used = Use::SetAside;
            } else if ignore.contains(&place) || !(only.is_empty() || only.contains(&place)) {
                column.used = Use::Unwanted;
            }
            Ok(column)
        });
        let decided = decided.collect::<Result<Vec<Column>, EncodingError>>()?;
        let schema = Schema { rows, named, columns: decided };
        let left = schema.columns.iter().any(|column| !matches!(column.used, Use::SetAside | Use::Unwanted));
        if left { Ok(schema) } else { Err(EncodingError::NothingLeft) }
    }
}

impl Schema {
    /// Looks at the head of a table, whose columns are called `names`. `O(rows × columns)`;
    /// [`Look`] does it row by row.
    ///
    /// # Errors
    /// As [`Look::new`], [`Look::observe`] and [`Look::finish`].
    pub fn infer<R: Cells>(
        names: &[String],
        head: impl IntoIterator<Item = R>,
        overrides: &Overrides,
    ) -> Result<Self, EncodingError> {
        let mut look = Look::new(names)?;
        for record in head {
            look.observe(&record)?;
        }
        look.finish(overrides)
    }
}
