//! The potential of Müller and Brown (1979), and the rates of overdamped motion in it.
//!
//! The generator `T Δ − ∇V·∇` becomes a chain between the cells of a grid (finite volumes): from a
//! cell to the next at the rate `T/h² exp((V − V')/2T)`. Cells that are hardly ever visited are
//! left out. The chain is reversible; its leading rates are those of a symmetric matrix of a narrow
//! band, by inverse iteration of a few vectors together.

use std::error::Error;

use mercer_linalg_incremental::{Matrix, SymmetricEigen};

pub(crate) const TEMPERATURE: f64 = 20.0;
/// The side of a cell, at which the slow eigenvalues are good to 1e-3.
pub(crate) const CELL: f64 = 0.04;
/// Amplitude, the three quadratic terms and the centre of each part.
const PARTS: [[f64; 6]; 4] = [
    [-200.0, -1.0, 0.0, -10.0, 1.0, 0.0],
    [-100.0, -1.0, 0.0, -10.0, 0.0, 0.5],
    [-170.0, -6.5, 11.0, -6.5, -0.5, 1.5],
    [15.0, 0.7, 0.6, 0.7, -1.0, 1.0],
];
/// The corner of the grid, and its sides.
const CORNER: [f64; 2] = [-1.7, -0.8];
const SIDES: [f64; 2] = [3.0, 3.1];
/// The deepest point, and temperatures above it up to which cells are kept.
const DEEPEST: f64 = -146.7;
const KEPT: f64 = 14.0;
/// Vectors that are iterated together, and how often; the first six have settled by then.
const VECTORS: usize = 12;
const ITERATIONS: usize = 40;
const SETTLED: usize = 6;

/// Each part with its two offsets.
fn parts([x, y]: [f64; 2]) -> impl Iterator<Item = (f64, [f64; 6], f64, f64)> {
    PARTS.into_iter().map(move |part| {
        let [amplitude, a, b, c, at, above] = part;
        let (u, v) = (x - at, y - above);
        (amplitude * (a * u * u + b * u * v + c * v * v).exp(), part, u, v)
    })
}

fn potential(x: [f64; 2]) -> f64 {
    parts(x).map(|(value, ..)| value).sum()
}

/// `∇V`
pub(crate) fn slope(x: [f64; 2]) -> [f64; 2] {
    parts(x).fold([0.0, 0.0], |[dx, dy], (value, [_, a, b, c, ..], u, v)| {
        [dx + value * (2.0 * a * u + b * v), dy + value * (b * u + 2.0 * c * v)]
    })
}

/// A symmetric positive definite matrix of which row `i` has its columns `i − band` to `i`; its
/// Cholesky factor stands in their place.
struct BandFactor {
    band: usize,
    rows: Vec<f64>,
}

impl BandFactor {
    /// `O(n band²)`.
    fn new(band: usize, mut rows: Vec<f64>) -> Self {
        let width = band + 1;
        for i in 0..rows.len() / width {
            for j in i.saturating_sub(band)..=i {
                let first = i.saturating_sub(band).max(j.saturating_sub(band));
                let (own, other) = (i * width + band - i, j * width + band - j);
                let product: f64 = (first..j).map(|k| rows[own + k] * rows[other + k]).sum();
                let rest = rows[own + j] - product;
                rows[own + j] = if i == j { rest.sqrt() } else { rest / rows[other + j] };
            }
        }
        Self { band, rows }
    }

    /// Solves in place, forward and backward.
    fn solve(&self, x: &mut [f64]) {
        let width = self.band + 1;
        let at = |i: usize, j: usize| self.rows[i * width + self.band - i + j];
        for i in 0..x.len() {
            let product: f64 = (i.saturating_sub(self.band)..i).map(|k| at(i, k) * x[k]).sum();
            x[i] = (x[i] - product) / at(i, i);
        }
        for i in (0..x.len()).rev() {
            x[i] /= at(i, i);
            for k in i.saturating_sub(self.band)..i {
                x[k] -= at(i, k) * x[i];
            }
        }
    }
}

/// The leading rates, 0 first, on cells of the side `cell`.
pub(crate) fn rates(cell: f64) -> Result<Vec<f64>, Box<dyn Error>> {
    let counts = SIDES.map(|side| (side / cell).round() as usize);
    let at = |k: usize, i: usize| CORNER[k] + (i as f64 + 0.5) * cell;
    let all = (0..counts[0]).flat_map(|i| (0..counts[1]).map(move |j| [i, j]));
    let energies = all.map(|[i, j]| ([i, j], potential([at(0, i), at(1, j)])));
    let kept: Vec<([usize; 2], f64)> = energies.filter(|(_, energy)| *energy < DEEPEST + KEPT * TEMPERATURE).collect();
    let place = |wanted: [usize; 2]| kept.binary_search_by(|(cell, _)| cell.cmp(&wanted)).ok();
    let neighbours = |[i, j]: [usize; 2]| {
        let before = [i.checked_sub(1).map(|i| [i, j]), j.checked_sub(1).map(|j| [i, j])];
        before.into_iter().flatten().filter_map(place)
    };
    let most = kept.iter().enumerate().flat_map(|(n, (cell, _))| neighbours(*cell).map(move |m| n - m)).max();
    let (band, rate) = (most.unwrap_or(0), TEMPERATURE / (cell * cell));
    // 1 − Q, made symmetric by the square roots of the weights.
    let mut rows = vec![0.0; kept.len() * (band + 1)];
    let diagonal = |n: usize| n * (band + 1) + band;
    for (n, (cell, energy)) in kept.iter().enumerate() {
        rows[diagonal(n)] += 1.0;
        for m in neighbours(*cell) {
            let half = 0.5 * (energy - kept[m].1) / TEMPERATURE;
            rows[diagonal(n)] += rate * half.exp();
            rows[diagonal(m)] += rate * (-half).exp();
            rows[diagonal(n) - (n - m)] -= rate;
        }
    }
    let factor = BandFactor::new(band, rows);
    // Vectors that no symmetry hides a mode from.
    let mut vectors = Matrix::from_fn(kept.len(), VECTORS, |i, k| (0.37 * (k + 1) as f64 * i as f64).sin());
    let mut values = Vec::new();
    for _ in 0..ITERATIONS {
        let before = vectors.clone();
        (0..VECTORS).for_each(|k| factor.solve(vectors.column_mut(k)));
        // Rayleigh and Ritz: of the inverse on orthonormal vectors, which follow by those of VᵀV.
        let product = before.transposed_times(&vectors);
        let found = SymmetricEigen::new(VECTORS, |i, j| 0.5 * (product.entry(i, j) + product.entry(j, i)))?;
        values = found.values;
        vectors = orthonormal(&vectors)?;
    }
    Ok(values.iter().take(SETTLED).map(|value| 1.0 - 1.0 / value).collect())
}

/// An orthonormal basis of the span of the columns.
fn orthonormal(columns: &Matrix) -> Result<Matrix, Box<dyn Error>> {
    let gram = columns.transposed_times(columns);
    let SymmetricEigen { values, vectors } = SymmetricEigen::new(VECTORS, |i, j| gram.entry(i, j))?;
    Ok(columns.times(&Matrix::from_fn(VECTORS, VECTORS, |i, k| vectors[k][i] / values[k].sqrt())))
}
