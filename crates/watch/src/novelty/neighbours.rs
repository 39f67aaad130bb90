//! The mean distance to the nearest of the last rows.

use mercer_core::Validate;
use mercer_kernels::Points;
use mercer_simd::AlignedVec;

use crate::distances::smallest;

/// Nearest rows whose distance counts.
const NEAREST: usize = 5;

/// The last rows, in a ring.
///
/// # Invariants
/// There are `size` at most, and `next` is the place of the oldest.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Neighbours {
    size: usize,
    next: usize,
    rows: Points,
}

/// The nearest rows: their places, and the distances to all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    places: [usize; NEAREST],
    distances: AlignedVec,
}

impl Neighbours {
    pub(crate) fn new(size: usize, columns: usize) -> Self {
        Self { size, next: 0, rows: Points::with_capacity(columns, size) }
    }

    pub(crate) fn push(&mut self, z: &[f64]) {
        if self.rows.len() < self.size {
            self.rows.push(z);
        } else {
            self.rows.replace(self.next, z);
        }
        self.next = (self.next + 1) % self.size;
    }

    /// The mean distance to the five nearest rows, whose places stay in `nearest`.
    pub(crate) fn distance(&self, z: &[f64], nearest: &mut Nearest) -> f64 {
        self.rows.squared_distances(z, &mut nearest.distances);
        let found = smallest::<NEAREST>(&nearest.distances);
        nearest.places = found.map(|(_, place)| place);
        found.iter().map(|(distance, _)| distance.min(f64::MAX).sqrt()).sum::<f64>() / NEAREST as f64
    }

    /// The share of each column in the squared distances to those rows.
    pub(crate) fn blame(&self, z: &[f64], nearest: &Nearest, blame: &mut [f64]) {
        let rows = nearest.places.map(|place| self.rows.point(place));
        for (column, (blame, z)) in blame.iter_mut().zip(z).enumerate() {
            *blame = rows.iter().map(|row| (z - row[column]).powi(2)).sum();
        }
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let held = self.rows.len() <= self.size && self.next < self.size && self.rows.len() >= NEAREST;
        held && self.rows.dimension() == columns && self.rows.validate().is_ok()
    }
}
