//! A table in memory: rows of features, one target each.

use crate::error::DataError;
use crate::permute::permutation;

/// A named table of `len` rows, row-major: `dimension` features and one target each, all finite when it comes from a reader
/// (that was not told to read missing values as NaN).
///
/// *Invariants*: `features.len() == targets.len() * dimension`, `dimension >= 1`, and there are as many feature names as
/// features if there are names at all.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Parts", into = "Parts"))]
pub struct Dataset {
    name: String,
    dimension: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
    feature_names: Option<Vec<String>>,
    target_name: Option<String>,
}

impl Dataset {
    /// A table from its numbers: `features` row by row, `dimension` a row.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] unless `features.len() == targets.len() * dimension` and `dimension >= 1`.
    pub fn new(
        name: impl Into<String>,
        dimension: usize,
        features: Vec<f64>,
        targets: Vec<f64>,
    ) -> Result<Self, DataError> {
        let name = name.into();
        if dimension == 0 || targets.len().checked_mul(dimension) != Some(features.len()) {
            let (features, targets) = (features.len(), targets.len());
            return Err(DataError::Inconsistent { name, features, targets, dimension });
        }
        Ok(Self { name, dimension, features, targets, feature_names: None, target_name: None })
    }

    /// The same table with names for its columns.
    ///
    /// # Errors
    /// [`DataError::Dimension`] unless there is one name a feature.
    pub fn with_names(mut self, features: Vec<String>, target: impl Into<String>) -> Result<Self, DataError> {
        if features.len() != self.dimension {
            let what = format!("the feature names of {}", self.name);
            return Err(DataError::Dimension { what, expected: self.dimension, got: features.len() });
        }
        self.feature_names = Some(features);
        self.target_name = Some(target.into());
        Ok(self)
    }

    /// The same table under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What the table is called: the registry's name, or the file's without folder and endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows, n.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Number of features a row, d.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The features of row `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The target of row `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn target(&self, i: usize) -> f64 {
        self.targets[i]
    }

    /// The rows with their targets, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[f64], f64)> {
        self.features.chunks_exact(self.dimension).zip(self.targets.iter().copied())
    }

    /// All features, row by row: shape (n, d).
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// All targets: shape (n).
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// The names of the features, if the file gave any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The name of the target, if the file gave one.
    pub fn target_name(&self) -> Option<&str> {
        self.target_name.as_deref()
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        self.targets.truncate(rows);
        self.features.truncate(self.targets.len() * self.dimension);
    }

    /// The rows in the order of [`permutation`]`(len, seed)`: row i of the result is row `permutation[i]` of this table.
    #[must_use]
    pub fn permuted(&self, seed: u64) -> Self {
        let order = permutation(self.len(), seed);
        let mut features = Vec::with_capacity(self.features.len());
        for &i in &order {
            features.extend_from_slice(self.row(i));
        }
        let targets = order.iter().map(|&i| self.targets[i]).collect();
        Self {
            name: self.name.clone(),
            dimension: self.dimension,
            features,
            targets,
            feature_names: self.feature_names.clone(),
            target_name: self.target_name.clone(),
        }
    }

    /// Whether every target is −1 or 1, so that a sign is a class.
    pub fn is_binary(&self) -> bool {
        !self.is_empty() && self.targets.iter().all(|target| target.abs() == 1.0)
    }

    /// The rows and targets, to be changed in place.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = (&mut [f64], &mut f64)> {
        self.features.chunks_exact_mut(self.dimension).zip(&mut self.targets)
    }
}

/// The table as it is written down; reading it back goes through the checks of [`Dataset::new`].
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Parts {
    name: String,
    dimension: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
    feature_names: Option<Vec<String>>,
    target_name: Option<String>,
}

#[cfg(feature = "serde")]
impl From<Dataset> for Parts {
    fn from(table: Dataset) -> Self {
        let Dataset { name, dimension, features, targets, feature_names, target_name } = table;
        Self { name, dimension, features, targets, feature_names, target_name }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Parts> for Dataset {
    type Error = DataError;

    fn try_from(parts: Parts) -> Result<Self, DataError> {
        let table = Self::new(parts.name, parts.dimension, parts.features, parts.targets)?;
        match (parts.feature_names, parts.target_name) {
            (Some(features), Some(target)) => table.with_names(features, target),
            _ => Ok(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Dataset {
        Dataset::new("t", 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], vec![-1.0, 1.0, -1.0]).unwrap()
    }

    #[test]
    fn rows_are_where_they_belong() {
        let mut table = table();
        assert_eq!((table.len(), table.dimension()), (3, 2));
        assert_eq!((table.row(1), table.target(1)), (&[3.0, 4.0][..], 1.0));
        assert_eq!(table.iter().map(|(x, y)| x[0] * y).collect::<Vec<_>>(), [-1.0, 3.0, -5.0]);
        assert!(table.is_binary());
        table.truncate(2);
        assert_eq!((table.features(), table.targets()), (&[1.0, 2.0, 3.0, 4.0][..], &[-1.0, 1.0][..]));
        table.truncate(9);
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let message = Dataset::new("t", 2, vec![0.0; 5], vec![0.0; 3]).unwrap_err().to_string();
        assert!(message.starts_with("t: 5 feature values, 3 targets and dimension 2 do not fit together"), "{message}");
        assert!(Dataset::new("t", 0, Vec::new(), vec![0.0]).is_err());
        assert!(table().with_names(vec!["a".into()], "y").is_err());
    }

    #[test]
    fn permuting_moves_whole_rows() {
        let table = table();
        let order = permutation(3, 5);
        let moved = table.permuted(5);
        for (i, &from) in order.iter().enumerate() {
            assert_eq!((moved.row(i), moved.target(i)), (table.row(from), table.target(from)));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn tables_are_written_and_read_back_checked() {
        let named = table().with_names(vec!["a".into(), "b".into()], "y").unwrap();
        for table in [table(), named] {
            let written = serde_json::to_string(&table).unwrap();
            assert_eq!(serde_json::from_str::<Dataset>(&written).unwrap(), table);
            let spoilt = written.replace("\"dimension\":2", "\"dimension\":0");
            let error = serde_json::from_str::<Dataset>(&spoilt).unwrap_err().to_string();
            assert!(error.contains("dimension 0 do not fit together"), "{error}");
        }
    }
}
