//! A growing set of points, stored for kernel rows.

use std::ops::Range;

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{LANES, Lane};

use crate::support::{Supports, WIDE, ends_group, support, union};

/// Points of `ℝᵈ`, eight to a block; a block holds one [`Lane`] for each dimension.
///
/// Appending writes one lane slot for each dimension and never moves what is there; memory is
/// `8⌈J/8⌉·d` numbers, and up to half as much again where dimensions came later. Points of
/// dimension 0 are only counted.
///
/// Of 2,048 dimensions or more it is kept at which of them some point of a group is not 0. Kernel
/// rows pass over the others, which would add 0, where both the points and the input have few.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(from = "Packed", into = "Packed"))]
pub struct Points {
    dimension: usize,
    /// Lanes of a block: behind those of its dimensions there is room of zeros for further ones.
    stride: usize,
    len: usize,
    lanes: Vec<Lane>,
    supports: Supports,
}

/// Points without room, as files have them.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Packed {
    dimension: usize,
    len: usize,
    lanes: Vec<Lane>,
}

#[cfg(feature = "serde")]
impl From<Packed> for Points {
    fn from(Packed { dimension, len, lanes }: Packed) -> Self {
        let mut points = Self { dimension, stride: dimension, len, lanes, supports: Supports::default() };
        // A file may claim what it has not; whoever reads it validates it afterwards.
        if points.lanes.len() == len.div_ceil(LANES).saturating_mul(dimension) {
            points.find_supports();
        }
        points
    }
}

#[cfg(feature = "serde")]
impl From<Points> for Packed {
    fn from(mut points: Points) -> Self {
        if points.stride > points.dimension {
            points.widen(points.dimension);
        }
        Self { dimension: points.dimension, len: points.len, lanes: points.lanes }
    }
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        (self.dimension, self.len) == (other.dimension, other.len) && self.blocks().eq(other.blocks())
    }
}

impl Points {
    /// No points, of dimension `dimension`.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self { dimension, stride: dimension, len: 0, lanes: Vec::new(), supports: Supports::default() }
    }

    /// No points, with room for `points` of them.
    #[must_use]
    pub fn with_capacity(dimension: usize, points: usize) -> Self {
        Self { lanes: Vec::with_capacity(points.div_ceil(LANES) * dimension), ..Self::new(dimension) }
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

    /// True if there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets every point, keeping the memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.lanes.clear();
        self.supports.clear();
    }

    /// Forgets all points; those to come have dimension `dimension`. The memory is kept.
    pub fn restart(&mut self, dimension: usize) {
        self.clear();
        (self.dimension, self.stride) = (dimension, dimension);
    }

    /// Appends a point. `O(d)`.
    ///
    /// # Panics
    /// If `point` has not `d` coordinates.
    pub fn push(&mut self, point: &[f64]) {
        assert_eq!(point.len(), self.dimension, "a point has one coordinate for each dimension");
        let slot = self.len % LANES;
        if slot == 0 {
            self.lanes.resize(self.lanes.len() + self.stride, Lane::ZERO);
        }
        let block = self.lanes.len() - self.stride;
        for (lane, value) in self.lanes[block..].iter_mut().zip(point) {
            lane.0[slot] = *value;
        }
        self.len += 1;
        self.note(self.len - 1, point);
    }

    /// Puts `point` in the place of point `index`. `O(d)`.
    ///
    /// # Panics
    /// If there is no such point or `point` has not `d` coordinates.
    pub fn replace(&mut self, index: usize, point: &[f64]) {
        assert!(index < self.len, "point {index} of {}", self.len);
        assert_eq!(point.len(), self.dimension, "a point has one coordinate for each dimension");
        let block = index / LANES * self.stride;
        for (lane, value) in self.lanes[block..].iter_mut().zip(point) {
            lane.0[index % LANES] = *value;
        }
        self.note(index, point);
    }

    /// Deletes point `i = index`. Each later point moves one place forward, so the order stays.
    /// `O((J − i)d)`; the memory is kept.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.len, "point {index} of {}", self.len);
        let d = self.stride;
        let blocks = self.len.div_ceil(LANES);
        for b in index / LANES..blocks {
            let gap = if b == index / LANES { index % LANES } else { 0 };
            let (block, next) = self.lanes[b * d..].split_at_mut(d);
            for (k, lane) in block.iter_mut().enumerate() {
                lane.0.copy_within(gap + 1.., gap);
                // The last block has no next one; its new free place becomes zero like the others.
                lane.0[LANES - 1] = next.get(k).map_or(0.0, |next| next.0[0]);
            }
        }
        self.len -= 1;
        self.lanes.truncate(self.len.div_ceil(LANES) * d);
        self.supports.truncate(self.len);
        // The last point of each group was the first of the next.
        if self.dimension >= WIDE {
            for last in (index..self.len).filter(|place| ends_group(*place)) {
                self.note(last, &self.point(last));
            }
        }
    }

    /// Gives every point `added` coordinates after its others, all of value 0. `O(J·added)` where
    /// they come a few at a time, over all of them.
    ///
    /// No kernel of this crate changes its values when both of its inputs are extended so.
    pub fn grow(&mut self, added: usize) {
        let dimension = self.dimension + added;
        if dimension > self.stride {
            self.widen(dimension.max(self.stride + self.stride / 2));
        }
        let was_narrow = self.dimension < WIDE;
        self.dimension = dimension;
        if was_narrow {
            self.find_supports();
        }
    }

    /// Another stride, which has room for all dimensions. `O(J·stride)`.
    fn widen(&mut self, stride: usize) {
        let (old, d, blocks) = (self.stride, self.dimension, self.len.div_ceil(LANES));
        let mut lanes = Vec::with_capacity(blocks * stride);
        for block in 0..blocks {
            lanes.extend_from_slice(&self.lanes[block * old..block * old + d]);
            lanes.resize((block + 1) * stride, Lane::ZERO);
        }
        (self.stride, self.lanes) = (stride, lanes);
    }

    /// Copies point `index` into `point`.
    ///
    /// # Panics
    /// If there is no such point or `point` has not `d` coordinates.
    pub fn copy_point(&self, index: usize, point: &mut [f64]) {
        assert!(index < self.len, "point {index} of {}", self.len);
        assert_eq!(point.len(), self.dimension, "a point has one coordinate for each dimension");
        let block = index / LANES * self.stride;
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

    /// The point nearest to `x` in the Euclidean distance, the first of several, and its squared
    /// distance. `O(Jd)`.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    #[must_use]
    pub fn nearest(&self, x: &[f64]) -> Option<(usize, f64)> {
        assert_eq!(x.len(), self.dimension, "an input has one coordinate for each dimension");
        let mut nearest: Option<(usize, f64)> = None;
        for first in (0..self.len).step_by(LANES) {
            let block = &self.lanes[first / LANES * self.stride..][..self.dimension];
            let mut squared = [0.0; LANES];
            for (lane, x) in block.iter().zip(x) {
                for (squared, z) in squared.iter_mut().zip(lane.0) {
                    *squared += (x - z) * (x - z);
                }
            }
            for (index, squared) in (first..self.len).zip(squared) {
                if nearest.is_none_or(|(_, least)| squared < least) {
                    nearest = Some((index, squared));
                }
            }
        }
        nearest
    }

    /// The place of the first point that equals `x`. `O(J)` where few points share its first
    /// coordinate, `O(Jd)` at most.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    #[must_use]
    pub fn position(&self, x: &[f64]) -> Option<usize> {
        assert_eq!(x.len(), self.dimension, "an input has one coordinate for each dimension");
        let of_x = if self.dimension >= WIDE { support(x, 0) } else { None };
        (0..self.len).find(|index| {
            let block = &self.lanes[index / LANES * self.stride..][..self.dimension];
            let equals = |place: usize| block[place].0[index % LANES] == x[place];
            match (&of_x, self.supports.of_point(*index)) {
                (Some(of_x), Some(known)) => of_x.iter().chain(known).all(|place| equals(*place)),
                _ => block.iter().zip(x).all(|(lane, x)| lane.0[index % LANES] == *x),
            }
        })
    }

    /// Takes in account where a point is not 0.
    fn note(&mut self, index: usize, point: &[f64]) {
        if self.dimension < WIDE || self.supports.note(index, point) {
            return;
        }
        // Points that have left may be all that made it too large.
        let places = self.supports.begin_anew(index);
        for place in places.start..places.end.min(self.len) {
            if !self.supports.note(place, &self.point(place)) {
                return;
            }
        }
    }

    /// Finds out where the points are not 0.
    fn find_supports(&mut self) {
        self.supports.clear();
        if self.dimension >= WIDE {
            for index in 0..self.len {
                self.supports.note(index, &self.point(index));
            }
        }
    }

    /// The coordinates from `offset` on at which points of the group or `x`, whose support this is,
    /// may not be 0; `None` where they are not known or too many.
    pub(crate) fn places_of_group(&self, group: usize, of_x: &[usize], within: Range<usize>) -> Option<Vec<usize>> {
        let known = self.supports.of_group(group)?;
        let [first, end] = [within.start, within.end].map(|end| known.partition_point(|place| *place < end));
        Some(union(&known[first..end], of_x))
    }

    /// Sets coordinate `coordinate` of each point, in their order.
    pub(crate) fn fill_coordinate(&mut self, coordinate: usize, mut value: impl FnMut() -> f64) {
        for index in 0..self.len {
            self.lanes[index / LANES * self.stride + coordinate].0[index % LANES] = value();
        }
        self.find_supports();
    }

    /// The lanes, [`stride`](Self::stride) for each block of eight points.
    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Lanes from one block to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The lanes of the dimensions of each block.
    fn blocks(&self) -> impl Iterator<Item = &[Lane]> {
        self.lanes.chunks(self.stride.max(1)).map(|block| &block[..self.dimension])
    }
}

impl Validate for Points {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::size(self.dimension, "dimension of a set of points")?;
        let lanes = self.len.div_ceil(LANES).checked_mul(self.stride);
        let room = || self.lanes.chunks(self.stride.max(1)).flat_map(|block| &block[self.dimension..]);
        let whole =
            self.dimension <= self.stride && lanes == Some(self.lanes.len()) && room().all(|lane| *lane == Lane::ZERO);
        Inconsistent::require(whole, "set of points", "it has one number for each coordinate of each point")?;
        if self.dimension == 0 {
            // Nothing is stored, so any number of points could be claimed.
            Inconsistent::size(self.len, "number of points of dimension 0")?;
        }
        self.lanes.validate()?;
        let used = self.len % LANES;
        let block = if used > 0 { &self.lanes[self.lanes.len() - self.stride..] } else { &[] };
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
        assert!(Points { stride: 2, ..good.clone() }.validate().is_err());
        assert!(Points { len: 9, ..good.clone() }.validate().is_err(), "a point is left in the padding");
        assert!(Points { dimension: usize::MAX, len: usize::MAX, ..good }.validate().is_err());
        assert!(Points { len: 1 << 60, ..Points::new(0) }.validate().is_err());
        assert!(Points { len: usize::MAX, ..Points::new(0) }.validate().is_err());
    }

    /// The points and their rows, which went through the same changes.
    fn agree(points: &Points, rows: &[Vec<f64>]) {
        assert_eq!(points.validate(), Ok(()));
        assert_eq!(points.len(), rows.len());
        assert!((0..rows.len()).all(|i| points.point(i) == rows[i]));
        let mut again = Points::new(points.dimension());
        rows.iter().for_each(|row| again.push(row));
        assert_eq!(*points, again, "the layout is that of pushing the rows");
    }

    #[test]
    fn changes_equal_those_of_a_list_of_rows() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for dimension in 0..4 {
            let mut points = Points::new(dimension);
            let mut rows: Vec<Vec<f64>> = Vec::new();
            for step in 0..600 {
                // Sets grow to about 40 points, then shrink to none, and so on.
                let removes = if step % 200 < 100 { 3 } else { 7 };
                let row: Vec<f64> = (0..points.dimension()).map(|_| random(1000) as f64 + 1.0).collect();
                match random(10) {
                    _ if rows.is_empty() => {
                        points.push(&row);
                        rows.push(row);
                    }
                    choice if choice < removes => {
                        let index = random(rows.len());
                        points.remove(index);
                        rows.remove(index);
                    }
                    choice if choice == 9 && step % 3 == 0 => {
                        let index = random(rows.len());
                        points.replace(index, &row);
                        rows[index] = row;
                    }
                    choice if choice == 8 && points.dimension() < 9 => {
                        let added = random(3);
                        points.grow(added);
                        rows.iter_mut().for_each(|row| row.resize(row.len() + added, 0.0));
                    }
                    _ => {
                        points.push(&row);
                        rows.push(row);
                    }
                }
                agree(&points, &rows);
            }
        }
    }

    #[test]
    fn dimensions_that_come_one_by_one_seldom_move_the_points() {
        let (mut points, mut moves) = (Points::from_rows(1, &[1.0; 20]), 0);
        for _ in 0..4000 {
            let before = points.stride();
            points.grow(1);
            moves += usize::from(points.stride() != before);
        }
        assert!(moves < 30, "{moves}");
        assert_eq!((points.dimension(), points.point(19)[..2].to_vec()), (4001, vec![1.0, 0.0]));
        assert_eq!(points, Points::from_rows(4001, &[&[1.0][..], &[0.0; 4000]].concat().repeat(20)));
    }

    #[test]
    fn the_nearest_point_is_the_first_of_the_nearest() {
        let (mut points, mut rows) = (Points::new(2), Vec::new());
        assert_eq!(points.nearest(&[0.0, 0.0]), None);
        for t in 0..50 {
            let row = [f64::from(t * 7 % 10), f64::from(t * 3 % 4)];
            points.push(&row);
            rows.push(row);
            for x in [[3.5, 1.0], [0.0, 0.0], [8.2, 2.5]] {
                let distance = |row: &[f64; 2]| (x[0] - row[0]) * (x[0] - row[0]) + (x[1] - row[1]) * (x[1] - row[1]);
                let least = rows.iter().map(distance).fold(f64::INFINITY, f64::min);
                let first = rows.iter().position(|row| distance(row) == least).map(|index| (index, least));
                assert_eq!(points.nearest(&x), first);
            }
        }
    }

    #[test]
    fn every_point_can_go_at_every_size() {
        for len in 1..=25 {
            for index in 0..len {
                let mut rows: Vec<Vec<f64>> = (0..len).map(|i| vec![1.0 + i as f64, -1.0 - i as f64]).collect();
                let mut points = Points::from_rows(2, &rows.concat());
                points.remove(index);
                rows.remove(index);
                agree(&points, &rows);
            }
        }
    }

    #[test]
    fn points_without_coordinates_are_counted_and_grow() {
        let mut points = Points::new(0);
        (0..11).for_each(|_| points.push(&[]));
        points.remove(3);
        agree(&points, &vec![Vec::new(); 10]);
        points.grow(0);
        points.grow(2);
        agree(&points, &vec![vec![0.0; 2]; 10]);
    }
}
