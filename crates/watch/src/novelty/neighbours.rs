//! The mean distance to the nearest of the last rows.

use mercer_simd::Lane;

use crate::distances::{PointBlocks, smallest};

/// Nearest rows whose distance counts.
const NEAREST: usize = 5;

/// The last rows, in a ring.
///
/// # Invariants
/// The first `len` places of `rows` are rows.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Neighbours {
    len: usize,
    next: usize,
    rows: PointBlocks,
}

/// The nearest rows: their places, and the distances to all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    places: [usize; NEAREST],
    distances: Vec<Lane>,
}

impl Neighbours {
    pub(crate) fn new(size: usize, columns: usize) -> Self {
        Self { len: 0, next: 0, rows: PointBlocks::zeros(size, columns) }
    }

    pub(crate) fn push(&mut self, z: &[f64]) {
        let size = self.rows.len();
        self.rows.set(self.next, z);
        self.next = (self.next + 1) % size;
        self.len = (self.len + 1).min(size);
    }

    /// The mean distance to the five nearest rows, whose places stay in `nearest`.
    pub(crate) fn distance(&self, z: &[f64], nearest: &mut Nearest) -> f64 {
        self.rows.squared_distances(z, &mut nearest.distances);
        let found = smallest::<NEAREST>(&nearest.distances, self.len);
        nearest.places = found.map(|(_, place)| place);
        found.iter().map(|(distance, _)| distance.min(f64::MAX).sqrt()).sum::<f64>() / NEAREST as f64
    }

    /// The share of each column in the squared distances to those rows.
    pub(crate) fn blame(&self, z: &[f64], nearest: &Nearest, blame: &mut [f64]) {
        for (column, (blame, z)) in blame.iter_mut().zip(z).enumerate() {
            let places = nearest.places.iter();
            *blame = places.map(|place| (z - self.rows.coordinate(*place, column)).powi(2)).sum();
        }
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let size = self.rows.len();
        self.len <= size && self.next < size && self.len >= NEAREST && self.rows.is_sound(columns)
    }
}
