//! A growing set of points, stored for kernel rows.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{LANES, Lane};

/// Points of `ℝᵈ`, eight to a block; a block holds one [`Lane`] for each dimension.
///
/// Appending writes one lane slot for each dimension and never moves what is there; memory is `8⌈J/8⌉·d` numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Points {
    dimension: usize,
    len: usize,
    lanes: Vec<Lane>,
}

impl Points {
    /// No points, of dimension `dimension`.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self { dimension, len: 0, lanes: Vec::new() }
    }

    /// No points, with room for `points` of them.
    #[must_use]
    pub fn with_capacity(dimension: usize, points: usize) -> Self {
        Self { dimension, len: 0, lanes: Vec::with_capacity(points.div_ceil(LANES) * dimension) }
    }

    /// The points of a row-major table.
    ///
    /// # Panics
    /// If the length of `rows` is not a multiple of `dimension`.
    #[must_use]
    pub fn from_rows(dimension: usize, rows: &[f64]) -> Self {
        assert!(rows.len().is_multiple_of(dimension.max(1)), "a table of {dimension} columns");
        let mut points = Self::with_capacity(dimension, rows.len() / dimension.max(1));
        rows.chunks_exact(dimension.max(1)).for_each(|row| points.push(row));
        points
    }

    /// Dimension `d`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of points `J`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets every point, keeping the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.lanes.clear();
    }

    /// Appends a point. `O(d)`.
    ///
    /// # Panics
    /// If `point` has not `d` coordinates.
    pub fn push(&mut self, point: &[f64]) {
        assert_eq!(point.len(), self.dimension, "a point has one coordinate for each dimension");
        let slot = self.len % LANES;
        if slot == 0 {
            self.lanes.resize(self.lanes.len() + self.dimension, Lane::ZERO);
        }
        let block = self.lanes.len() - self.dimension;
        for (lane, value) in self.lanes[block..].iter_mut().zip(point) {
            lane.0[slot] = *value;
        }
        self.len += 1;
    }

    /// Copies point `index` into `point`.
    ///
    /// # Panics
    /// If there is no such point or `point` has not `d` coordinates.
    pub fn copy_point(&self, index: usize, point: &mut [f64]) {
        assert!(index < self.len, "point {index} of {}", self.len);
        assert_eq!(point.len(), self.dimension, "a point has one coordinate for each dimension");
        let block = index / LANES * self.dimension;
        for (lane, value) in self.lanes[block..].iter().zip(point) {
            *value = lane.0[index % LANES];
        }
    }

    /// A copy of point `index`.
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn point(&self, index: usize) -> Vec<f64> {
        let mut point = vec![0.0; self.dimension];
        self.copy_point(index, &mut point);
        point
    }

    /// The lanes, `d` for each block of eight points.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
}

impl Validate for Points {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.dimension, "dimension of a set of points")?;
        let lanes = self.len.div_ceil(LANES).checked_mul(self.dimension);
        let whole = lanes == Some(self.lanes.len()) && (self.dimension > 0 || self.len == 0);
        Inconsistent::require(whole, "set of points", "it has one number for each coordinate of each point")?;
        self.lanes.validate()?;
        let used = self.len % LANES;
        let block = if used > 0 { &self.lanes[self.lanes.len() - self.dimension..] } else { &[] };
        let clear = block.iter().all(|lane| lane.0[used..].iter().all(|value| *value == 0.0));
        Inconsistent::require(clear, "set of points", "places without a point are zero")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_come_back_in_order() {
        let rows: Vec<f64> = (0..33).map(f64::from).collect();
        let points = Points::from_rows(3, &rows);
        assert_eq!(points.len(), 11);
        assert_eq!(points.point(10), [30.0, 31.0, 32.0]);
        assert_eq!(points.point(7), [21.0, 22.0, 23.0]);
        assert_eq!(points.lanes().len(), 6);
    }

    #[test]
    fn what_breaks_the_layout_is_seen() {
        let good = Points::from_rows(3, &(0..33).map(f64::from).collect::<Vec<f64>>());
        assert_eq!(good.validate(), Ok(()));
        let [dimension, len] = [2, 17].map(|wrong| (wrong, good.clone()));
        assert!(Points { dimension: dimension.0, ..dimension.1 }.validate().is_err());
        assert!(Points { len: len.0, ..len.1 }.validate().is_err());
        assert!(Points { len: 9, ..good.clone() }.validate().is_err(), "a point is left in the padding");
        assert!(Points { dimension: usize::MAX, len: usize::MAX, ..good }.validate().is_err());
        assert!(Points { dimension: 0, len: 1 << 60, lanes: Vec::new() }.validate().is_err());
    }
}
