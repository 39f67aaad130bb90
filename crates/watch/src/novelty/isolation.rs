//! The isolation kernel (Ting et al. 2018, 2020): the share of rows in the same cell of random
//! partitions, each of 16 points with the ball that reaches to the nearest other.

use mercer_core::Validate;
use mercer_kernels::Points;
use mercer_simd::AlignedVec;

use crate::random::Random;

/// Partitions.
const PARTITIONS: usize = 100;
/// Points of a partition.
const CELLS: usize = 16;
/// Kept points, of which partitions draw theirs.
const POINTS: usize = 256;

/// Partitions with the weight of the rows in each cell.
///
/// # Invariants
/// `cells` are places of points; radii and counts go with them.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Isolation {
    points: Points,
    cells: Vec<u16>,
    radii: Vec<f64>,
    counts: Vec<f64>,
    total: f64,
}

/// Distances of a row to the points, and the places of the cells that hold it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Isolated {
    distances: AlignedVec,
    cells: Vec<usize>,
}

impl Isolation {
    /// By these rows, each of which counts for `weight`.
    pub(crate) fn new(rows: &[Vec<f64>], weight: f64, columns: usize, random: &mut Random) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        random.shuffle(&mut order);
        order.truncate(POINTS);
        let points = order.len();
        let mut cells: Vec<u16> = Vec::with_capacity(PARTITIONS * CELLS);
        let mut places: Vec<u16> = (0..points as u16).collect();
        for _ in 0..PARTITIONS {
            // The first of a partial shuffle.
            for first in 0..CELLS.min(points) {
                let other = first + random.below(points - first);
                places.swap(first, other);
            }
            cells.extend_from_slice(&places[..CELLS.min(points)]);
        }
        let (radii, counts) = (vec![f64::INFINITY; cells.len()], vec![0.0; cells.len()]);
        let kept: Vec<Vec<f64>> = order.iter().map(|i| rows[*i].clone()).collect();
        let points = Points::from_rows(columns, &kept.concat());
        let mut made = Self { points, cells, radii, counts, total: 0.0 };
        made.measure(&kept);
        let mut isolated = Isolated::default();
        for row in rows {
            made.find(row, &mut isolated);
            made.count(&isolated, weight);
        }
        made
    }

    /// The squared distance of each point to the nearest of its partition.
    fn measure(&mut self, points: &[Vec<f64>]) {
        let mut distances = vec![AlignedVec::new(); points.len()];
        for (distances, point) in distances.iter_mut().zip(points) {
            self.points.squared_distances(point, distances);
        }
        let size = CELLS.min(points.len());
        for (partition, radii) in self.cells.chunks_exact(size).zip(self.radii.chunks_exact_mut(size)) {
            for (place, radius) in radii.iter_mut().enumerate() {
                let own = &distances[usize::from(partition[place])];
                let others = partition.iter().enumerate().filter(|(other, _)| *other != place);
                *radius = others.map(|(_, point)| own[usize::from(*point)]).fold(f64::INFINITY, f64::min);
            }
        }
    }

    /// Finds the cells that hold a row: of each partition that of the nearest point, the first of
    /// equal ones, where its ball reaches there.
    fn find(&self, z: &[f64], isolated: &mut Isolated) {
        let Isolated { distances, cells } = isolated;
        self.points.squared_distances(z, distances);
        cells.clear();
        let size = CELLS.min(self.points.len());
        for (number, partition) in self.cells.chunks_exact(size).enumerate() {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (place, point) in partition.iter().enumerate() {
                let distance = distances[usize::from(*point)];
                // Without a branch, which could not be foretold.
                nearest = if distance < least { place } else { nearest };
                least = if distance < least { distance } else { least };
            }
            let cell = number * size + nearest;
            if least <= self.radii[cell] {
                cells.push(cell);
            }
        }
    }

    /// Counts a row by the cells that hold it.
    pub(crate) fn count(&mut self, isolated: &Isolated, weight: f64) {
        isolated.cells.iter().for_each(|cell| self.counts[*cell] += weight);
        self.total += weight;
    }

    /// Minus the share of rows in the same cells, summed over the partitions; the cells stay in
    /// `isolated`.
    pub(crate) fn distance(&self, z: &[f64], isolated: &mut Isolated) -> f64 {
        self.find(z, isolated);
        -isolated.cells.iter().map(|cell| self.counts[*cell]).sum::<f64>() / self.total
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let points = self.points.len();
        let sizes = self.points.dimension() == columns && self.points.validate().is_ok() && points > 0;
        let cells = self.cells.len();
        let whole = cells.is_multiple_of(CELLS.min(points).max(1));
        let places = self.cells.iter().all(|point| usize::from(*point) < points);
        sizes && whole && places && self.radii.len() == cells && self.counts.len() == cells && self.total > 0.0
    }
}
