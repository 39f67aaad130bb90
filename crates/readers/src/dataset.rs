//! A table in memory: rows of features with one target each, several, or a class.

use crate::error::DataError;
use crate::labels::Labels;
use crate::permute::permutation;

/// A named table of `len` rows, row-major: `dimension` features and `outputs` targets each, all
/// finite when it comes from a reader (that was not told to read missing values as NaN), and
/// possibly a weight.
///
/// A table with classes has one target a row: the index of its class in the sorted list of the
/// classes.
///
/// *Invariants*: `features.len() == len * dimension`, `targets.len() == len * outputs`,
/// `dimension >= 1`, `outputs >= 1`; there are as many feature names as features and as many target
/// names as targets if there are names at all; weights are finite and at least 0, one a row if
/// there are any; with classes `outputs == 1`, and every target is the index of a class.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(remote = "Self"))]
pub struct Dataset {
    name: String,
    dimension: usize,
    outputs: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// Sorted.
    classes: Option<Vec<String>>,
    feature_names: Option<Vec<String>>,
    target_names: Option<Vec<String>>,
}

impl Dataset {
    /// A table from its numbers: `features` row by row, `dimension` a row, and one target a row.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] unless `features.len() == targets.len() * dimension` and
    /// `dimension >= 1`.
    pub fn new(
        name: impl Into<String>,
        dimension: usize,
        features: Vec<f64>,
        targets: Vec<f64>,
    ) -> Result<Self, DataError> {
        Self::several(name, dimension, features, 1, targets)
    }

    /// A table with several targets a row: `targets` row by row, `outputs` a row.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] unless there are as many rows of features as of targets, and at
    /// least one of either in a row.
    pub fn several(
        name: impl Into<String>,
        dimension: usize,
        features: Vec<f64>,
        outputs: usize,
        targets: Vec<f64>,
    ) -> Result<Self, DataError> {
        let name = name.into();
        let rows = targets.len().checked_div(outputs).unwrap_or(0);
        let fit =
            outputs > 0 && targets.len().is_multiple_of(outputs) && rows.checked_mul(dimension) == Some(features.len());
        if dimension == 0 || !fit {
            let (features, targets) = (features.len(), targets.len());
            return Err(DataError::Inconsistent { name, features, targets, dimension });
        }
        let (weights, classes, feature_names, target_names) = (None, None, None, None);
        Ok(Self { name, dimension, outputs, features, targets, weights, classes, feature_names, target_names })
    }

    /// A table of classes: `labels` are indices into `classes`, one a row. The classes are sorted.
    /// `O(c log c + n)`.
    ///
    /// # Errors
    /// [`DataError::Inconsistent`] as [`new`](Self::new); [`DataError::BadTable`] if a label is the
    /// index of no class.
    pub fn labelled(
        name: impl Into<String>,
        dimension: usize,
        features: Vec<f64>,
        labels: &[usize],
        classes: &Labels,
    ) -> Result<Self, DataError> {
        let sorted = classes.sorted();
        let mut rank = vec![0.0; sorted.len()];
        for (place, &class) in sorted.iter().enumerate() {
            rank[class] = place as f64;
        }
        let targets = labels.iter().map(|&label| rank.get(label).copied().unwrap_or(f64::NAN)).collect();
        let names = sorted.iter().map(|&class| classes.names()[class].clone()).collect();
        Self::new(name, dimension, features, targets)?.with_classes(names)
    }

    /// The same table with a weight for every row.
    ///
    /// # Errors
    /// [`DataError::BadTable`] unless there is one weight a row, finite and at least 0.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, DataError> {
        let fit = weights.len() == self.len() && weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
        self.require(fit, "every row needs one weight, a finite number of at least 0")?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// The same table with names for its columns, where there is one target.
    ///
    /// # Errors
    /// As [`with_all_names`](Self::with_all_names).
    pub fn with_names(self, features: Vec<String>, target: impl Into<String>) -> Result<Self, DataError> {
        self.with_all_names(features, vec![target.into()])
    }

    /// The same table with names for its columns.
    ///
    /// # Errors
    /// [`DataError::Dimension`] unless there is one name a feature and one a target.
    pub fn with_all_names(mut self, features: Vec<String>, targets: Vec<String>) -> Result<Self, DataError> {
        for (what, expected, got) in
            [("feature", self.dimension, features.len()), ("target", self.outputs, targets.len())]
        {
            if got != expected {
                let what = format!("the {what} names of {}", self.name);
                return Err(DataError::Dimension { what, expected, got });
            }
        }
        self.feature_names = Some(features);
        self.target_names = Some(targets);
        Ok(self)
    }

    /// The same table with its targets taken as indices into these names.
    fn with_classes(mut self, classes: Vec<String>) -> Result<Self, DataError> {
        let sorted = classes.windows(2).all(|pair| Labels::order(&pair[0], &pair[1]).is_lt());
        self.require(sorted, "its classes must be sorted and differ")?;
        let is_class = |target: f64| target >= 0.0 && target < classes.len() as f64 && target.fract() == 0.0;
        let fit = self.outputs == 1 && self.targets.iter().all(|&target| is_class(target));
        self.require(fit, "every row of a table with classes needs the index of one class")?;
        self.classes = Some(classes);
        Ok(self)
    }

    /// The same table, if it keeps the invariants.
    #[cfg(feature = "serde")]
    fn checked(self) -> Result<Self, DataError> {
        let Self { name, dimension, outputs, features, targets, weights, classes, feature_names, target_names } = self;
        let mut table = Self::several(name, dimension, features, outputs, targets)?;
        if let Some(weights) = weights {
            table = table.with_weights(weights)?;
        }
        if let Some(classes) = classes {
            table = table.with_classes(classes)?;
        }
        match feature_names.zip(target_names) {
            Some((features, targets)) => table.with_all_names(features, targets),
            None => Ok(table),
        }
    }

    fn require(&self, holds: bool, rule: &'static str) -> Result<(), DataError> {
        if holds { Ok(()) } else { Err(DataError::BadTable { name: self.name.clone(), rule }) }
    }

    /// The same table under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Name of the table: the registry's, or the file's without folder and endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of rows, n.
    pub fn len(&self) -> usize {
        self.features.len() / self.dimension
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// Number of features a row, d.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of targets a row, m.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The features of row `i`.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The target of row `i`, the first if there are several; in a table with classes the index of
    /// the row's class.
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn target(&self, i: usize) -> f64 {
        self.targets[i * self.outputs]
    }

    /// All targets of row `i`: shape (m).
    ///
    /// # Panics
    /// If `i` is not below [`len`](Self::len), as slices do.
    pub fn targets_of(&self, i: usize) -> &[f64] {
        &self.targets[i * self.outputs..(i + 1) * self.outputs]
    }

    /// The weight of row `i`: 1 in a table without weights.
    ///
    /// # Panics
    /// If there are weights and `i` is not below [`len`](Self::len), as slices do.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// The name of the class of row `i`; `None` in a table without classes.
    ///
    /// # Panics
    /// If there are classes and `i` is not below [`len`](Self::len), as slices do.
    pub fn label(&self, i: usize) -> Option<&str> {
        self.classes.as_ref().map(|classes| classes[self.targets[i] as usize].as_str())
    }

    /// The rows with their targets, in order; with the first target if there are several.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[f64], f64)> {
        self.features.chunks_exact(self.dimension).zip(self.targets.iter().copied().step_by(self.outputs))
    }

    /// All features, row by row: shape (n, d).
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// All targets, row by row: shape (n, m).
    pub fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// All weights, if there are any: shape (n).
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The names of the classes in [sorted order](Labels::order), in a table with classes.
    pub fn classes(&self) -> Option<&[String]> {
        self.classes.as_deref()
    }

    /// The names of the features, if the file gave any.
    pub fn feature_names(&self) -> Option<&[String]> {
        self.feature_names.as_deref()
    }

    /// The name of the target, the first if there are several, if the file gave one.
    pub fn target_name(&self) -> Option<&str> {
        self.target_names.as_ref()?.first().map(String::as_str)
    }

    /// The names of the targets, if the file gave any.
    pub fn target_names(&self) -> Option<&[String]> {
        self.target_names.as_deref()
    }

    /// Keeps the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        let rows = rows.min(self.len());
        self.features.truncate(rows * self.dimension);
        self.targets.truncate(rows * self.outputs);
        if let Some(weights) = &mut self.weights {
            weights.truncate(rows);
        }
    }

    /// The rows in the order of [`permutation`]`(len, seed)`: row i of the result is row
    /// `permutation[i]` of this table.
    #[must_use]
    pub fn permuted(&self, seed: u64) -> Self {
        let order = permutation(self.len(), seed);
        let mut features = Vec::with_capacity(self.features.len());
        let mut targets = Vec::with_capacity(self.targets.len());
        for &i in &order {
            features.extend_from_slice(self.row(i));
            targets.extend_from_slice(self.targets_of(i));
        }
        let weights = self.weights.as_ref().map(|weights| order.iter().map(|&i| weights[i]).collect());
        Self {
            name: self.name.clone(),
            dimension: self.dimension,
            outputs: self.outputs,
            features,
            targets,
            weights,
            classes: self.classes.clone(),
            feature_names: self.feature_names.clone(),
            target_names: self.target_names.clone(),
        }
    }

    /// True if every target is the number −1 or 1, so that a sign is a class.
    pub fn is_binary(&self) -> bool {
        self.classes.is_none() && !self.is_empty() && self.targets.iter().all(|target| target.abs() == 1.0)
    }

    /// The rows with all their targets, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.features.chunks_exact(self.dimension).zip(self.targets.chunks_exact(self.outputs))
    }

    /// The same, to be changed in place.
    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = (&mut [f64], &mut [f64])> {
        self.features.chunks_exact_mut(self.dimension).zip(self.targets.chunks_exact_mut(self.outputs))
    }
}

/// Written down as it is; reading it back goes through the checks of its constructors.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Dataset {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)?.checked().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Dataset {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
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

    fn classes() -> Labels {
        Labels::from(["b", "10", "9"].map(str::to_owned).to_vec())
    }

    /// Three rows with everything a table can have.
    fn full() -> [Dataset; 2] {
        let several = Dataset::several("t", 1, vec![1.0, 2.0, 3.0], 2, vec![1.0, -1.0, 2.0, -2.0, 3.0, -3.0]).unwrap();
        let several = several.with_all_names(vec!["x".into()], vec!["y".into(), "z".into()]).unwrap();
        let labelled = Dataset::labelled("t", 1, vec![1.0, 2.0, 3.0], &[0, 1, 2], &classes()).unwrap();
        [several, labelled].map(|table| table.with_weights(vec![0.5, 0.0, 2.0]).unwrap())
    }

    #[test]
    fn rows_may_have_weights_several_targets_or_a_class() {
        let [mut several, labelled] = full();
        assert_eq!((several.len(), several.outputs(), several.target(1)), (3, 2, 2.0));
        assert_eq!((several.targets_of(2), several.weight(2)), (&[3.0, -3.0][..], 2.0));
        assert_eq!(several.iter().map(|(x, y)| (x[0], y)).collect::<Vec<_>>(), [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
        assert_eq!((several.target_name(), several.target_names().map(<[String]>::len)), (Some("y"), Some(2)));
        assert_eq!(
            (labelled.classes().unwrap(), labelled.targets()),
            (&["9", "10", "b"].map(str::to_owned)[..], &[2.0, 1.0, 0.0][..])
        );
        assert_eq!([0, 1, 2].map(|i| labelled.label(i)), [Some("b"), Some("10"), Some("9")]);
        assert_eq!((table().weight(0), table().label(0), table().outputs()), (1.0, None, 1));
        for table in full() {
            let moved = table.permuted(8);
            for (i, from) in permutation(3, 8).into_iter().enumerate() {
                assert_eq!((moved.row(i), moved.targets_of(i)), (table.row(from), table.targets_of(from)));
                assert_eq!((moved.weight(i), moved.label(i)), (table.weight(from), table.label(from)));
            }
        }
        several.truncate(1);
        assert_eq!((several.len(), several.targets(), several.weights()), (1, &[1.0, -1.0][..], Some(&[0.5][..])));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert!(Dataset::several("t", 1, vec![0.0; 3], 2, vec![0.0; 5]).is_err());
        assert!(Dataset::several("t", 1, vec![0.0; 3], 0, Vec::new()).is_err());
        for weights in [vec![1.0; 2], vec![1.0, -1.0, 1.0], vec![1.0, f64::NAN, 1.0]] {
            let message = table().with_weights(weights).unwrap_err().to_string();
            assert_eq!(message, "t: every row needs one weight, a finite number of at least 0");
        }
        assert!(matches!(Dataset::labelled("t", 1, vec![0.0], &[3], &classes()), Err(DataError::BadTable { .. })));
        let [several, labelled] = full();
        assert!(several.clone().with_names(vec!["x".into()], "y").is_err());
        assert!(several.with_classes(vec!["a".into()]).is_err());
        assert!(labelled.with_classes(["b", "a", "c"].map(str::to_owned).to_vec()).is_err());
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
        for table in full() {
            let written = serde_json::to_string(&table).unwrap();
            assert_eq!(serde_json::from_str::<Dataset>(&written).unwrap(), table);
            assert!(
                serde_json::from_str::<Dataset>(&written.replace("\"weights\":[0.5", "\"weights\":[-0.5")).is_err()
            );
        }
        for table in [table(), named] {
            let written = serde_json::to_string(&table).unwrap();
            assert_eq!(serde_json::from_str::<Dataset>(&written).unwrap(), table);
            let spoilt = written.replace("\"dimension\":2", "\"dimension\":0");
            let error = serde_json::from_str::<Dataset>(&spoilt).unwrap_err().to_string();
            assert!(error.contains("dimension 0 do not fit together"), "{error}");
        }
    }
}
