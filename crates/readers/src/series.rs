//! A table without a target: a series of vectors in time, or rows that are data in every column.

use crate::error::DataError;
use crate::reader::RowReader;
use crate::table::Table;

/// A named table of `len` rows, row-major, `dimension` values each. A missing value is NaN.
///
/// *Invariants*: `values.len()` is a multiple of `dimension`, `dimension >= 1`, and there are as
/// many column names as columns if there are names at all.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(remote = "Self"))]
pub struct Series {
    name: String,
    dimension: usize,
    values: Vec<f64>,
    column_names: Option<Vec<String>>,
}

impl Series {
    /// A series from its numbers: `values` row by row, `dimension` a row.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] unless `dimension >= 1` divides the number of values.
    pub fn new(name: impl Into<String>, dimension: usize, values: Vec<f64>) -> Result<Self, DataError> {
        let name = name.into();
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            return Err(DataError::Inconsistent { name, features: values.len(), targets: 0, dimension });
        }
        Ok(Self { name, dimension, values, column_names: None })
    }

    /// The same series with names for its columns.
    ///
    /// # Errors
    /// [`DataError::Dimension`] unless there is one name a column.
    pub fn with_names(mut self, columns: Vec<String>) -> Result<Self, DataError> {
        if columns.len() != self.dimension {
            let what = format!("the column names of {}", self.name);
            return Err(DataError::Dimension { what, expected: self.dimension, got: columns.len() });
        }
        self.column_names = Some(columns);
        Ok(self)
    }

    /// Reads what a reader has left, every feature a column (all columns under
    /// [`TargetColumn::None`](crate::TargetColumn::None)).
    ///
    /// # Errors
    /// The first error of [`RowReader::next_features`].
    pub fn read(name: impl Into<String>, reader: &mut RowReader) -> Result<Self, DataError> {
        let (mut values, mut row) = (Vec::new(), Vec::new());
        while reader.next_features(&mut row)? {
            values.extend_from_slice(&row);
        }
        let series = Self::new(name, reader.dimension(), values)?;
        match reader.feature_names() {
            Some(names) => series.with_names(names.to_vec()),
            None => Ok(series),
        }
    }

    /// The rows as a reader gives them.
    ///
    /// # Errors
    /// None of a series that keeps its invariants.
    pub fn into_reader(self) -> Result<RowReader, DataError> {
        let Self { name, dimension, values, column_names } = self;
        RowReader::in_memory(&name, Table::new(&name, (dimension, values), column_names, None)?)
    }

    /// Name of the series.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows, n.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of values a row, m.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Row `k`.
    ///
    /// # Panics
    /// If `k` is not below [`len`](Self::len), as slices do.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.values[k * self.dimension..(k + 1) * self.dimension]
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.values.chunks_exact(self.dimension)
    }

    /// All values, row by row: shape (n, m).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The names of the columns, if there are any.
    pub fn column_names(&self) -> Option<&[String]> {
        self.column_names.as_deref()
    }
}

/// Written down as it is; reading it back goes through the checks of [`Series::new`].
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Series {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Self { name, dimension, values, column_names } = Self::deserialize(deserializer)?;
        let series = Self::new(name, dimension, values);
        let named = series.and_then(|series| match column_names {
            Some(names) => series.with_names(names),
            None => Ok(series),
        });
        named.map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Series {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_they_belong() {
        let series = Series::new("s", 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((series.len(), series.row(1)), (2, &[3.0, 4.0][..]));
        assert_eq!(series.iter().map(|row| row[0]).collect::<Vec<_>>(), [1.0, 3.0]);
        assert!(Series::new("s", 2, vec![1.0]).is_err() && Series::new("s", 0, Vec::new()).is_err());
        assert!(series.clone().with_names(vec!["a".into()]).is_err());
        let named = series.with_names(vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(named.column_names().unwrap(), ["a", "b"]);
    }
}
