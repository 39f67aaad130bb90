//! Small dense matrices for the one algebraic equation of this module, solved once.

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    pub(super) fn new(rows: usize, columns: usize, values: &[f64]) -> Self {
        debug_assert_eq!(values.len(), rows * columns, "a number for each entry");
        Self { rows, columns, values: values.to_vec() }
    }

    pub(super) fn identity(n: usize) -> Self {
        Self { rows: n, columns: n, values: (0..n * n).map(|i| if i % (n + 1) == 0 { 1.0 } else { 0.0 }).collect() }
    }

    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.columns + j]
    }

    fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows * columns).map(|i| entry(i / columns, i % columns)).collect();
        Self { rows, columns, values }
    }

    pub(super) fn transpose(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self.entry(j, i))
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        debug_assert_eq!(self.columns, other.rows, "inner sizes agree");
        let dot = |i: usize, j: usize| (0..self.columns).map(|k| self.entry(i, k) * other.entry(k, j)).sum();
        Self::from_fn(self.rows, other.columns, dot)
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| self.entry(i, j) + other.entry(i, j))
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| self.entry(i, j) - other.entry(i, j))
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { values: self.values.iter().map(|value| factor * value).collect(), ..*self }
    }

    pub(super) fn symmetrised(&self) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| 0.5 * (self.entry(i, j) + self.entry(j, i)))
    }

    /// The Frobenius norm.
    pub(super) fn norm(&self) -> f64 {
        self.values.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// `self⁻¹ right` by elimination with partial pivoting; `None` for a singular matrix.
    pub(super) fn solve(&self, right: &Self) -> Option<Self> {
        let (n, columns) = (self.rows, right.columns);
        let (mut a, mut x) = (self.clone(), right.clone());
        for j in 0..n {
            let pivot = (j..n).max_by(|p, q| a.entry(*p, j).abs().total_cmp(&a.entry(*q, j).abs()))?;
            let value = a.entry(pivot, j);
            if value == 0.0 || !value.is_finite() {
                return None;
            }
            for k in 0..n {
                a.values.swap(j * n + k, pivot * n + k);
            }
            for k in 0..columns {
                x.values.swap(j * columns + k, pivot * columns + k);
            }
            for i in 0..n {
                if i != j {
                    let factor = a.entry(i, j) / value;
                    for k in j..n {
                        a.values[i * n + k] -= factor * a.values[j * n + k];
                    }
                    for k in 0..columns {
                        x.values[i * columns + k] -= factor * x.values[j * columns + k];
                    }
                }
            }
        }
        Some(Self::from_fn(n, columns, |i, k| x.entry(i, k) / a.entry(i, i)))
    }

    /// The spectral radius, `lim ‖M^k‖^{1/k}` along `k = 2, 4, 8, …`; within `1e-12` of it for a
    /// matrix whose eigenvectors are not absurdly close. NaN when an entry is.
    pub(super) fn spectral_radius(&self) -> f64 {
        let (mut power, mut log_radius, mut share) = (self.clone(), 0.0, 1.0);
        for _ in 0..48 {
            let norm = power.norm();
            if norm == 0.0 {
                return 0.0;
            }
            log_radius += share * norm.ln();
            power.values.iter_mut().for_each(|v| *v /= norm);
            power = power.times(&power);
            share *= 0.5;
        }
        log_radius.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solving_and_radii_by_hand() {
        let a = Matrix::new(2, 2, &[0.0, 2.0, 1.0, 1.0]);
        let x = a.solve(&Matrix::new(2, 1, &[4.0, 5.0])).expect("regular");
        assert_eq!(x.values, [3.0, 2.0]);
        assert_eq!(Matrix::new(2, 2, &[1.0, 2.0, 2.0, 4.0]).solve(&Matrix::identity(2)), None);
        // A rotation by a tenth of a turn, shrunk, and a Jordan block.
        let (s, c) = (std::f64::consts::TAU / 10.0).sin_cos();
        let rotation = Matrix::new(2, 2, &[0.8 * c, -0.8 * s, 0.8 * s, 0.8 * c]);
        assert!((rotation.spectral_radius() - 0.8).abs() < 1e-12);
        let jordan = Matrix::new(2, 2, &[0.9, 1.0, 0.0, 0.9]);
        assert!((jordan.spectral_radius() - 0.9).abs() < 1e-11, "{}", jordan.spectral_radius());
        assert_eq!(Matrix::new(2, 2, &[0.0, 1.0, 0.0, 0.0]).spectral_radius(), 0.0);
    }
}
