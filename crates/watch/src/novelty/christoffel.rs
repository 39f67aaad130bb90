//! The linear Christoffel function: `(1, z)ᵀ (C + .01 I)⁻¹ (1, z)`, the ridge-regularised distance
//! of Mahalanobis with the mean.

use crate::inverse::inverse;

/// Ridge of the moments.
const RIDGE: f64 = 0.01;
/// Rows after which the inverse is made anew; at least as many as columns.
const FRESH: usize = 32;

/// Moments `Σ q qᵀ` of `q = (1, z)`, and the inverse of their mean, at most 32 rows (`d` if more)
/// old.
///
/// # Invariants
/// Both are square, row by row, of `d + 1` columns.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Christoffel {
    size: usize,
    moments: Vec<f64>,
    weight: f64,
    inverse: Vec<f64>,
    stale: usize,
}

impl Christoffel {
    /// By these rows, each of which counts for `weight`.
    pub(crate) fn new(rows: &[Vec<f64>], weight: f64, columns: usize) -> Self {
        let size = columns + 1;
        let moments = vec![0.0; size * size];
        let mut made = Self { size, moments, weight: 0.0, inverse: Vec::new(), stale: 0 };
        rows.iter().for_each(|row| made.add(row, weight));
        made.invert();
        made
    }

    fn add(&mut self, z: &[f64], weight: f64) {
        let q = |i: usize| if i == 0 { 1.0 } else { z[i - 1] };
        for (i, row) in self.moments.chunks_exact_mut(self.size).enumerate() {
            let own = weight * q(i);
            row[0] += own;
            row[1..].iter_mut().zip(z).for_each(|(moment, z)| *moment += own * z);
        }
        self.weight += weight;
    }

    fn invert(&mut self) {
        let Self { size, moments, weight, .. } = &*self;
        self.inverse = inverse(*size, |i, j| moments[i * size + j] / weight + if i == j { RIDGE } else { 0.0 });
        self.stale = 0;
    }

    pub(crate) fn learn(&mut self, z: &[f64]) {
        self.add(z, 1.0);
        self.stale += 1;
        if self.stale >= FRESH.max(self.size) {
            self.invert();
        }
    }

    /// `qᵀHq`, and into `blame` what it loses if a column were as the others foretell:
    /// `(Hq)_j²/H_jj`.
    pub(crate) fn distance(&self, z: &[f64], blame: &mut [f64]) -> f64 {
        let mut rows = self.inverse.chunks_exact(self.size);
        let product = |row: &[f64]| row[0] + row[1..].iter().zip(z).map(|(h, z)| h * z).sum::<f64>();
        let mut distance = rows.next().map_or(0.0, product);
        for (j, row) in rows.enumerate() {
            let own = product(row);
            distance += own * z[j];
            blame[j] = own * own / row[j + 1];
        }
        distance
    }

    pub(crate) fn is_sound(&self, columns: usize) -> bool {
        let square = self.size * self.size;
        let finite = self.moments.iter().chain(&self.inverse).all(|value| value.is_finite());
        self.size == columns + 1 && self.moments.len() == square && self.inverse.len() == square && finite
    }
}
