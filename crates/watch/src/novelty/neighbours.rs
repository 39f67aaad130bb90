//! The mean distance to the nearest of the last rows.

use super::isolation::squared_distances;

/// Nearest rows whose distance counts.
const NEAREST: usize = 5;

/// The last rows, column by column, in a ring.
///
/// # Invariants
/// `coordinates` has `size` places a column, of which the first `len` are rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Neighbours {
    size: usize,
    len: usize,
    next: usize,
    coordinates: Vec<f64>,
}

impl Neighbours {
    pub(crate) fn new(size: usize, columns: usize) -> Self {
        Self { size, len: 0, next: 0, coordinates: vec![0.0; size * columns] }
    }

    pub(crate) fn push(&mut self, z: &[f64]) {
        for (column, z) in self.coordinates.chunks_exact_mut(self.size).zip(z) {
            column[self.next] = *z;
        }
        self.next = (self.next + 1) % self.size;
        self.len = (self.len + 1).min(self.size);
    }

    /// The mean distance to the five nearest rows, and their places.
    pub(crate) fn distance(&self, z: &[f64], distances: &mut Vec<f64>) -> (f64, [usize; NEAREST]) {
        distances.resize(self.size, 0.0);
        squared_distances(&self.coordinates, self.size, z, distances);
        let mut nearest = [(f64::INFINITY, 0); NEAREST];
        for (place, distance) in distances[..self.len].iter().enumerate() {
            if *distance < nearest[NEAREST - 1].0 {
                nearest[NEAREST - 1] = (*distance, place);
                nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            }
        }
        let mean = nearest.iter().map(|(distance, _)| distance.min(f64::MAX).sqrt()).sum::<f64>() / NEAREST as f64;
        (mean, nearest.map(|(_, place)| place))
    }

    /// The share of each column in the squared distances to those rows.
    pub(crate) fn blame(&self, z: &[f64], places: [usize; NEAREST], blame: &mut [f64]) {
        for ((blame, column), z) in blame.iter_mut().zip(self.coordinates.chunks_exact(self.size)).zip(z) {
            *blame = places.iter().map(|place| (z - column[*place]).powi(2)).sum();
        }
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let inside = self.len <= self.size && self.next < self.size && self.len >= NEAREST;
        let finite = self.coordinates.iter().all(|value| value.is_finite());
        inside && self.coordinates.len() == columns * self.size && finite
    }
}
