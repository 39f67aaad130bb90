//! The isolation kernel (Ting et al. 2018, 2020): the share of rows in the same cell of random
//! partitions, each of 16 points with the ball that reaches to the nearest other.

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
    points: usize,
    /// Column by column.
    coordinates: Vec<f64>,
    cells: Vec<u16>,
    radii: Vec<f64>,
    counts: Vec<f64>,
    total: f64,
}

/// `Σ_j (z_j − c_ij)²` of all points, which are stored column by column.
pub(crate) fn squared_distances(coordinates: &[f64], stride: usize, z: &[f64], distances: &mut [f64]) {
    distances.fill(0.0);
    for (column, z) in coordinates.chunks_exact(stride).zip(z) {
        for (sum, coordinate) in distances.iter_mut().zip(column) {
            let off = z - coordinate;
            *sum += off * off;
        }
    }
}

impl Isolation {
    /// By these rows, each of which counts for `weight`.
    pub(crate) fn new(rows: &[Vec<f64>], weight: f64, columns: usize, random: &mut Random) -> Self {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        random.shuffle(&mut order);
        order.truncate(POINTS);
        let points = order.len();
        let coordinates = (0..columns).flat_map(|j| order.iter().map(move |i| rows[*i][j])).collect();
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
        let mut made = Self { points, coordinates, cells, radii, counts, total: 0.0 };
        made.measure(&order, rows);
        let mut distances = vec![0.0; points];
        for row in rows {
            squared_distances(&made.coordinates, points, row, &mut distances);
            made.count(&distances, weight);
        }
        made
    }

    /// The squared distance of each point to the nearest of its partition.
    fn measure(&mut self, order: &[usize], rows: &[Vec<f64>]) {
        let mut distances = vec![vec![0.0; self.points]; self.points];
        for (distances, i) in distances.iter_mut().zip(order) {
            squared_distances(&self.coordinates, self.points, &rows[*i], distances);
        }
        let size = CELLS.min(self.points);
        for (partition, radii) in self.cells.chunks_exact(size).zip(self.radii.chunks_exact_mut(size)) {
            for (place, radius) in radii.iter_mut().enumerate() {
                let own = &distances[usize::from(partition[place])];
                let others = partition.iter().enumerate().filter(|(other, _)| *other != place);
                *radius = others.map(|(_, point)| own[usize::from(*point)]).fold(f64::INFINITY, f64::min);
            }
        }
    }

    /// Places of the cells that hold a row, by its distances to the points.
    fn holding<'a>(&'a self, distances: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
        let size = CELLS.min(self.points);
        self.cells.chunks_exact(size).enumerate().filter_map(move |(number, partition)| {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (place, point) in partition.iter().enumerate() {
                let distance = distances[usize::from(*point)];
                if distance < least {
                    (nearest, least) = (place, distance);
                }
            }
            let cell = number * size + nearest;
            (least <= self.radii[cell]).then_some(cell)
        })
    }

    /// Counts a row by its distances to the points.
    pub(crate) fn count(&mut self, distances: &[f64], weight: f64) {
        let cells: Vec<usize> = self.holding(distances).collect();
        cells.into_iter().for_each(|cell| self.counts[cell] += weight);
        self.total += weight;
    }

    /// Minus the share of rows in the same cells, summed over the partitions.
    pub(crate) fn distance(&self, z: &[f64], distances: &mut Vec<f64>) -> f64 {
        distances.resize(self.points, 0.0);
        squared_distances(&self.coordinates, self.points, z, distances);
        -self.holding(distances).map(|cell| self.counts[cell]).sum::<f64>() / self.total
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let sizes = self.coordinates.len() == columns * self.points && self.points > 0;
        let cells = self.cells.len();
        let whole = cells.is_multiple_of(CELLS.min(self.points).max(1));
        let places = self.cells.iter().all(|point| usize::from(*point) < self.points);
        sizes && whole && places && self.radii.len() == cells && self.counts.len() == cells && self.total > 0.0
    }
}
