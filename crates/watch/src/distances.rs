//! Squared distances of a point to many, eight of them side by side.

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

/// Points in blocks of eight: of each block the first coordinate of all, then the second.
///
/// # Invariants
/// There are `columns` lanes for each block, and a block for every eight points and for what is
/// left.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PointBlocks {
    points: usize,
    columns: usize,
    lanes: Vec<Lane>,
}

impl PointBlocks {
    /// So many points at 0.
    pub(crate) fn zeros(points: usize, columns: usize) -> Self {
        Self { points, columns, lanes: vec![Lane::ZERO; points.div_ceil(LANES) * columns] }
    }

    /// These points.
    pub(crate) fn new<'a>(points: impl ExactSizeIterator<Item = &'a Vec<f64>>, columns: usize) -> Self {
        let mut made = Self::zeros(points.len(), columns);
        points.enumerate().for_each(|(place, point)| made.set(place, point));
        made
    }

    pub(crate) fn set(&mut self, place: usize, point: &[f64]) {
        let first = place / LANES * self.columns;
        let lanes = self.lanes[first..][..self.columns].iter_mut();
        lanes.zip(point).for_each(|(lane, value)| lane.0[place % LANES] = *value);
    }

    /// A coordinate of a point.
    pub(crate) fn coordinate(&self, place: usize, column: usize) -> f64 {
        self.lanes[place / LANES * self.columns + column].0[place % LANES]
    }

    pub(crate) fn len(&self) -> usize {
        self.points
    }

    /// `distances ← Σ_j (z_j − c_ij)²` of all points; behind them is nothing of meaning.
    pub(crate) fn squared_distances(&self, z: &[f64], distances: &mut Vec<Lane>) {
        distances.resize(self.points.div_ceil(LANES), Lane::ZERO);
        dispatch(SquaredDistances { points: self, z, distances });
    }

    /// True if it is of so many columns, and its numbers are finite.
    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let size = self.points < 1 << 32 && self.lanes.len() == self.points.div_ceil(LANES) * columns;
        size && self.columns == columns && self.lanes.iter().flat_map(|lane| lane.0).all(f64::is_finite)
    }
}

struct SquaredDistances<'a> {
    points: &'a PointBlocks,
    z: &'a [f64],
    distances: &'a mut [Lane],
}

impl Op for SquaredDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let blocks = self.points.lanes.chunks_exact(self.points.columns.max(1));
        for (distance, block) in self.distances.iter_mut().zip(blocks) {
            let mut sum = simd.splat(0.0);
            for (lane, z) in block.iter().zip(self.z) {
                let off = simd.sub(simd.splat(*z), simd.load(lane));
                sum = simd.add(sum, simd.mul(off, off));
            }
            simd.store(sum, distance);
        }
    }
}

/// The `N` smallest of the first numbers, in order, and their places: of equal ones the first.
pub(crate) fn smallest<const N: usize>(distances: &[Lane], count: usize) -> [(f64, usize); N] {
    let mut nearest = [(f64::INFINITY, 0); N];
    for (block, lane) in distances.iter().enumerate() {
        let limit = nearest[N - 1].0;
        // Of most blocks none is near.
        if lane.0.iter().map(|distance| u64::from(*distance < limit)).sum::<u64>() == 0 {
            continue;
        }
        for (k, distance) in lane.0.into_iter().enumerate().take(count - (block * LANES).min(count)) {
            if distance < nearest[N - 1].0 {
                let place = nearest.partition_point(|(other, _)| *other <= distance);
                nearest.copy_within(place..N - 1, place + 1);
                nearest[place] = (distance, block * LANES + k);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_sums_in_the_order_of_the_columns() {
        let value = |i: usize, j: usize| ((3 * i + 7 * j) as f64).sin() * 10.0_f64.powi((i % 5) as i32);
        for (count, columns) in [(1, 1), (8, 3), (21, 4), (100, 11)] {
            let points: Vec<Vec<f64>> = (0..count).map(|i| (0..columns).map(|j| value(i, j)).collect()).collect();
            let mut blocks = PointBlocks::zeros(count, columns);
            points.iter().enumerate().for_each(|(i, point)| blocks.set(i, point));
            assert!(blocks.is_sound(columns) && !blocks.is_sound(columns + 1));
            let (z, mut distances) = (&points[count / 2], Vec::new());
            blocks.squared_distances(z, &mut distances);
            let mut expected: Vec<(f64, usize)> = Vec::new();
            for (i, point) in points.iter().enumerate() {
                let sum = z.iter().zip(point).fold(0.0, |sum, (z, c)| sum + (z - c) * (z - c));
                assert_eq!(distances[i / LANES].0[i % LANES], sum);
                assert_eq!(blocks.coordinate(i, columns - 1), point[columns - 1]);
                expected.push((sum, i));
            }
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            expected.resize(expected.len().max(5), (f64::INFINITY, 0));
            assert_eq!(smallest::<5>(&distances, count)[..], expected[..5]);
        }
    }
}
