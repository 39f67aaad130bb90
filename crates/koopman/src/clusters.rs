//! Metastable sets from eigenfunctions: spectral clustering and its score.
//!
//! The leading eigenfunctions of a metastable process are nearly constant on its metastable sets.
//! Their values at the samples are orthonormalised ([`orthonormal_rows`]), each sample's row is
//! scaled to unit length (Ng, Jordan and Weiss 2002), and the rows are partitioned by k-means with
//! k-means++ seeding (Arthur and Vassilvitskii 2007; [`KMeans`]). [`adjusted_rand_index`] compares
//! the partition with a known one (Hubert and Arabie 1985).

use std::collections::HashMap;

use mercer_core::ParameterError;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::kernel_operator::check_values;

/// k-means with k-means++ seeding and restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KMeans {
    /// Number of clusters, at least 1.
    pub clusters: usize,
    /// Starts, of which the best is kept, at least 1.
    pub restarts: usize,
    /// Iterations of one start at most, at least 1.
    pub iterations: usize,
    /// Seed of the starts; start `i` draws from stream `i`.
    pub seed: u64,
}

impl Default for KMeans {
    /// 2 clusters, 20 starts of at most 100 iterations, seed 0.
    fn default() -> Self {
        Self { clusters: 2, restarts: 20, iterations: 100, seed: 0 }
    }
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
    /// Partitions the rows of a row-major table with `columns` columns. The same seed gives the
    /// same partition. `O(restarts · iterations · rows · clusters · columns)`.
    ///
    /// # Errors
    /// When a parameter is out of its range, there are fewer rows than clusters, or a number is not
    /// finite.
    pub fn partition(&self, rows: &[f64], columns: usize) -> Result<Clusters, Error> {
        ParameterError::at_least_one("clusters", self.clusters)?;
        ParameterError::at_least_one("restarts", self.restarts)?;
        ParameterError::at_least_one("iterations", self.iterations)?;
        ParameterError::at_least_one("columns", columns)?;
        let count = rows.len() / columns;
        check_values(rows, count * columns)?;
        ParameterError::require(
            self.clusters <= count,
            "clusters",
            "at most the number of rows",
            self.clusters as f64,
        )?;
        let rows: Vec<&[f64]> = rows.chunks_exact(columns).collect();
        let mut best = self.start(&rows, 0);
        for stream in 1..self.restarts as u64 {
            let candidate = self.start(&rows, stream);
            if candidate.inertia < best.inertia {
                best = candidate;
            }
        }
        Ok(best)
    }

    /// One start: seeding, then Lloyd's iterations until no label changes.
    fn start(&self, rows: &[&[f64]], stream: u64) -> Clusters {
        let mut centres = self.seeds(rows, stream);
        let mut labels = vec![usize::MAX; rows.len()];
        let mut inertia = 0.0;
        // The last round only labels the rows by the centres that it returns.
        for round in 0..=self.iterations {
            let mut moved = false;
            inertia = 0.0;
            let mut worst = (0, 0.0);
            for (i, row) in rows.iter().enumerate() {
                let (label, distance) = nearest(row, &centres);
                moved |= label != std::mem::replace(&mut labels[i], label);
                inertia += distance;
                if distance > worst.1 {
                    worst = (i, distance);
                }
            }
            if !moved || round == self.iterations {
                break;
            }
            recentre(rows, &labels, worst.0, &mut centres);
        }
        Clusters { labels, centres, inertia }
    }

    /// k-means++: each centre is a row drawn with probability proportional to its squared distance
    /// from the earlier ones.
    fn seeds(&self, rows: &[&[f64]], stream: u64) -> Vec<Vec<f64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(stream);
        let mut centres = vec![rows[rng.random_range(0..rows.len())].to_vec()];
        let mut distances = vec![f64::INFINITY; rows.len()];
        while centres.len() < self.clusters {
            let newest = &centres[centres.len() - 1];
            for (distance, row) in distances.iter_mut().zip(rows) {
                *distance = distance.min(squared_distance(row, newest));
            }
            let mut left = rng.random::<f64>() * distances.iter().sum::<f64>();
            // Rounding may leave a rest after the last row, and all distances may be zero: then the
            // last row it is.
            let drawn = distances.iter().position(|distance| {
                left -= distance;
                left < 0.0
            });
            centres.push(rows[drawn.unwrap_or(rows.len() - 1)].to_vec());
        }
        centres
    }
}

/// Moves every centre to the mean of its rows; one without rows goes to the row that is farthest
/// from its centre.
fn recentre(rows: &[&[f64]], labels: &[usize], farthest: usize, centres: &mut [Vec<f64>]) {
    let mut counts = vec![0usize; centres.len()];
    centres.iter_mut().for_each(|centre| centre.fill(0.0));
    for (row, label) in rows.iter().zip(labels) {
        counts[*label] += 1;
        centres[*label].iter_mut().zip(*row).for_each(|(sum, value)| *sum += value);
    }
    for (centre, count) in centres.iter_mut().zip(counts) {
        if count == 0 {
            centre.copy_from_slice(rows[farthest]);
        } else {
            centre.iter_mut().for_each(|sum| *sum /= count as f64);
        }
    }
}

fn nearest(row: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (label, centre) in centres.iter().enumerate() {
        let distance = squared_distance(row, centre);
        if distance < best.1 {
            best = (label, distance);
        }
    }
    best
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Agreement of two partitions of the same points: 1 for the same one, about 0 for independent
/// ones, whatever the labels are called.
///
/// # Panics
/// If the partitions are of different lengths.
#[must_use]
pub fn adjusted_rand_index(a: &[usize], b: &[usize]) -> f64 {
    assert_eq!(a.len(), b.len(), "two partitions of the same points");
    let pairs = |count: u64| (count * count.saturating_sub(1) / 2) as f64;
    let mut cells: HashMap<(usize, usize), u64> = HashMap::new();
    let (mut rows, mut columns): (HashMap<usize, u64>, HashMap<usize, u64>) = Default::default();
    for (a, b) in a.iter().zip(b) {
        *cells.entry((*a, *b)).or_default() += 1;
        *rows.entry(*a).or_default() += 1;
        *columns.entry(*b).or_default() += 1;
    }
    // Sums of whole numbers: the order of a hash map does not show.
    let together: f64 = cells.values().map(|count| pairs(*count)).sum();
    let (in_a, in_b): (f64, f64) =
        (rows.values().map(|count| pairs(*count)).sum(), columns.values().map(|count| pairs(*count)).sum());
    let all = pairs(a.len() as u64);
    let expected = if all > 0.0 { in_a * in_b / all } else { 0.0 };
    let most = 0.5 * (in_a + in_b);
    // Both trivial (one cluster, or all singletons): the partitions are the same.
    if most - expected == 0.0 { 1.0 } else { (together - expected) / (most - expected) }
}

/// Orthonormalises functions given by their values (`values[function][sample]`) over the samples
/// (QR), then scales each sample's row to unit length: a row-major table, one row a sample. What
/// spectral clustering hands to [`KMeans`].
///
/// A function that depends on the earlier ones becomes zero, and so does the row of a sample at
/// which all are zero.
///
/// # Panics
/// If the functions are given at different numbers of samples.
#[must_use]
pub fn orthonormal_rows(values: &[Vec<f64>]) -> Vec<f64> {
    let samples = values.first().map_or(0, Vec::len);
    assert!(values.iter().all(|function| function.len() == samples), "every function at the same samples");
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(values.len());
    for function in values {
        let (mut rest, before) = (function.clone(), dot(function, function).sqrt());
        // Gram–Schmidt twice is orthogonal to rounding.
        for _ in 0..2 {
            for earlier in &basis {
                let along = dot(earlier, &rest);
                rest.iter_mut().zip(earlier).for_each(|(rest, e)| *rest -= along * e);
            }
        }
        let norm = dot(&rest, &rest).sqrt();
        let factor = if norm > 1e-12 * before { 1.0 / norm } else { 0.0 };
        rest.iter_mut().for_each(|value| *value *= factor);
        basis.push(rest);
    }
    let mut rows = Vec::with_capacity(samples * basis.len());
    for sample in 0..samples {
        let norm = basis.iter().map(|function| function[sample] * function[sample]).sum::<f64>().sqrt();
        let factor = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        rows.extend(basis.iter().map(|function| function[sample] * factor));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_heaps_are_found_from_every_seed() -> Result<(), Error> {
        let rows: Vec<f64> = (0..90)
            .flat_map(|i| {
                let (heap, wobble) = (f64::from(i % 3), f64::from(i / 3) * 0.01);
                [heap * 2.0 + wobble, -heap + wobble * 0.5]
            })
            .collect();
        let truth: Vec<usize> = (0..90).map(|i| i % 3).collect();
        for seed in 0..5 {
            let found = KMeans { clusters: 3, seed, ..KMeans::default() }.partition(&rows, 2)?;
            assert_eq!(adjusted_rand_index(&found.labels, &truth), 1.0);
            assert_eq!(found, KMeans { clusters: 3, seed, ..KMeans::default() }.partition(&rows, 2)?);
        }
        assert!(KMeans { clusters: 91, ..KMeans::default() }.partition(&rows, 2).is_err());
        assert!(KMeans::default().partition(&[1.0, f64::NAN], 1).is_err());
        // Fewer distinct rows than clusters.
        assert_eq!(KMeans { clusters: 3, ..KMeans::default() }.partition(&[1.0; 8], 1)?.inertia, 0.0);
        Ok(())
    }

    /// Stopped early, each row still has the label of the nearest of the centres that are returned.
    #[test]
    fn labels_are_those_of_the_centres() -> Result<(), Error> {
        let rows: Vec<f64> = (0..400).map(|t| f64::from((t * 7919) % 1009) / 100.0).collect();
        for iterations in 1..4 {
            let found = KMeans { clusters: 5, restarts: 1, iterations, seed: 3 }.partition(&rows, 2)?;
            let distance =
                |row: &[f64], centre: &[f64]| row.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            let mut inertia = 0.0;
            for (row, label) in rows.chunks_exact(2).zip(&found.labels) {
                let least = found.centres.iter().map(|centre| distance(row, centre)).fold(f64::INFINITY, f64::min);
                assert_eq!(distance(row, &found.centres[*label]), least, "{iterations} iterations");
                inertia += least;
            }
            assert!((found.inertia - inertia).abs() < 1e-9);
        }
        Ok(())
    }

    #[test]
    fn the_adjusted_rand_index_by_hand() {
        // Cells 2, 1, 2, 1 of six points: Σ pairs = 2, a: 3 + 3, b: 6 + 1, of 15; (2 − 42/15)/(6.5
        // − 42/15).
        let index = adjusted_rand_index(&[0, 0, 0, 1, 1, 1], &[0, 0, 1, 0, 0, 1]);
        assert!((index - (2.0 - 2.8) / (6.5 - 2.8)).abs() < 1e-15);
        assert_eq!(adjusted_rand_index(&[5, 5, 9], &[1, 1, 0]), 1.0);
        assert_eq!(adjusted_rand_index(&[0, 0, 0], &[1, 1, 1]), 1.0);
    }

    #[test]
    fn rows_come_from_orthonormal_columns() {
        let values = vec![vec![1.0, 1.0, 1.0, 1.0], vec![3.0, 3.0, 1.0, 1.0], vec![2.0, 2.0, 0.0, 0.0]];
        let rows = orthonormal_rows(&values);
        let half = 0.5f64.sqrt();
        let expected = [half, half, 0.0, half, half, 0.0, half, -half, 0.0, half, -half, 0.0];
        assert!(rows.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
