//! Columns of another file, found by name.

use std::collections::{HashMap, HashSet};

use crate::error::{EncodingError, listed};
use crate::schema::{Schema, Use};
use mercer_core::{Cell, Cells};

/// Where the columns of a schema are in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnMap {
    /// For each column of the schema its place in the file.
    sources: Vec<Option<usize>>,
    width: usize,
    missing: Vec<String>,
    unknown: Vec<String>,
}

impl ColumnMap {
    pub(crate) fn new(schema: &Schema, names: &[String]) -> Result<Self, EncodingError> {
        let columns = schema.columns();
        let encoded = || columns.iter().filter(|column| column.used.is_learnt());
        if !schema.is_named() {
            // A file to predict from may lack the targets: what is set aside then lies behind, or
            // all is there.
            let without: Vec<usize> =
                (0..columns.len()).filter(|place| columns[*place].used != Use::SetAside).collect();
            let mut sources = vec![None; columns.len()];
            if names.len() == columns.len() {
                sources = (0..columns.len()).map(Some).collect();
            } else if names.len() == without.len() {
                without.iter().enumerate().for_each(|(source, place)| sources[*place] = Some(source));
            } else {
                return Err(EncodingError::Width { expected: columns.len(), got: names.len() });
            }
            return Ok(Self { sources, width: names.len(), missing: Vec::new(), unknown: Vec::new() });
        }
        let mut places: HashMap<&str, (usize, Option<usize>)> = HashMap::with_capacity(names.len());
        for (place, name) in names.iter().enumerate() {
            places.entry(name).and_modify(|(_, second)| *second = second.or(Some(place))).or_insert((place, None));
        }
        let mut sources = Vec::with_capacity(columns.len());
        for column in columns {
            let found = places.get(column.name.as_str());
            if let Some((first, Some(second))) = found {
                let (first, second) = (first + 1, second + 1);
                return Err(EncodingError::SameName { name: column.name.clone(), first, second });
            }
            sources.push(found.map(|(first, _)| *first));
        }
        let found = |place: usize| sources[place].is_some();
        if !columns.iter().enumerate().any(|(place, column)| column.used.is_learnt() && found(place)) {
            let needed: Vec<&str> = encoded().map(|column| column.name.as_str()).collect();
            return Err(EncodingError::NoMatch {
                found: listed(names.iter().map(String::as_str)),
                needed: listed(needed.into_iter()),
            });
        }
        let lacking = columns.iter().enumerate().filter(|(place, column)| column.used.is_learnt() && !found(*place));
        let missing = lacking.map(|(_, column)| column.name.clone()).collect();
        let known: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let unknown = names.iter().filter(|name| !known.contains(name.as_str())).cloned().collect();
        Ok(Self { sources, width: names.len(), missing, unknown })
    }

    /// Columns of the schema that are learnt and not in the file: every value of them is missing.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Columns of the file that the schema does not know: they are ignored.
    #[must_use]
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Place in the file of column `column` of the schema.
    #[must_use]
    pub fn source(&self, column: usize) -> Option<usize> {
        self.sources.get(column).copied().flatten()
    }

    /// A row of the file as a record of the schema, without copying.
    ///
    /// # Errors
    /// [`EncodingError::Cells`] when the row is not as wide as the file.
    pub fn record<'a, T: Cells + ?Sized>(&'a self, row: &'a T) -> Result<MappedRecord<'a, T>, EncodingError> {
        let (expected, got) = (self.width, row.width());
        if expected == got { Ok(MappedRecord { map: self, row }) } else { Err(EncodingError::Cells { expected, got }) }
    }
}

impl Schema {
    /// Finds the columns in another file with columns `names`: by name, or by place where the
    /// schema has no names. Columns that are missing there and columns that the schema does not
    /// know are listed in the map, to be reported.
    ///
    /// # Errors
    /// [`EncodingError::NoMatch`] when no column that is encoded is there,
    /// [`EncodingError::SameName`] when one is there twice, and [`EncodingError::Width`] without
    /// names when the columns are not as many.
    pub fn matching(&self, names: &[String]) -> Result<ColumnMap, EncodingError> {
        ColumnMap::new(self, names)
    }
}

/// A row of another file as a record of the schema; columns that are not there are missing.
#[derive(Debug)]
pub struct MappedRecord<'a, T: ?Sized> {
    map: &'a ColumnMap,
    row: &'a T,
}

impl<T: Cells + ?Sized> Cells for MappedRecord<'_, T> {
    fn width(&self) -> usize {
        self.map.sources.len()
    }
    fn cell(&self, column: usize) -> Cell<'_> {
        self.map.sources[column].map_or(Cell::Missing, |place| self.row.cell(place))
    }
}
