//! Metastable sets from eigenfunctions. (interface)

use crate::Error;

/// k-means with k-means++ seeding and restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KMeans {
    /// Number of clusters, at least 1.
    pub clusters: usize,
    /// Starts, of which the best is kept, at least 1.
    pub restarts: usize,
    /// Iterations of one start at most.
    pub iterations: usize,
    /// Seed of the starts.
    pub seed: u64,
}

/// A partition of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// The cluster of each point.
    pub labels: Vec<usize>,
    /// The centres, one after the other.
    pub centres: Vec<Vec<f64>>,
    /// Sum of the squared distances to the centres.
    pub inertia: f64,
}

impl KMeans {
    /// Partitions the rows of a row-major table with `columns` columns. The same seed gives the same partition.
    ///
    /// # Errors
    /// When a parameter is out of its range, there are fewer rows than clusters, or a number is not finite.
    pub fn partition(&self, rows: &[f64], columns: usize) -> Result<Clusters, Error> {
        let _ = (rows, columns);
        todo!()
    }
}

/// Agreement of two partitions: 1 for the same one, about 0 for independent ones (Hubert and Arabie 1985). Labels may be any
/// numbers.
///
/// # Panics
/// If the partitions are of different lengths.
#[must_use]
pub fn adjusted_rand_index(a: &[usize], b: &[usize]) -> f64 {
    let _ = (a, b);
    todo!()
}

/// Orthonormalises functions given by their values (`values[function][sample]`) over the samples (QR), then scales each sample's row to
/// unit length: a row-major table, one row a sample. What spectral clustering hands to [`KMeans`].
#[must_use]
pub fn orthonormal_rows(values: &[Vec<f64>]) -> Vec<f64> {
    let _ = values;
    todo!()
}
