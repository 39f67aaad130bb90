//! The product of two kernels on the two parts of an input.

use mercer_simd::AlignedVec;

use crate::kernel::Kernel;
use crate::points::Points;
use crate::scratch::scratch;

/// `k((x, u), (z, w)) = k₁(x, z) k₂(u, w)`, where the first `split` coordinates are `x` and the
/// others `u`: states and actions, say. A kernel row costs those of both parts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Product<K1, K2> {
    first: K1,
    second: K2,
    split: usize,
}

impl<K1: Kernel, K2: Kernel> Product<K1, K2> {
    /// The product of `first` on the first `split` coordinates and `second` on the others.
    pub fn new(first: K1, second: K2, split: usize) -> Self {
        Self { first, second, split }
    }

    /// The kernel on the first `split` coordinates.
    pub fn first(&self) -> &K1 {
        &self.first
    }

    /// The kernel on the other coordinates.
    pub fn second(&self) -> &K2 {
        &self.second
    }

    /// Number of coordinates that the first kernel sees.
    #[must_use]
    pub fn split(&self) -> usize {
        self.split
    }
}

impl<K1: Kernel, K2: Kernel> Kernel for Product<K1, K2> {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        let ((x, u), (z, w)) = (x.split_at(self.split), z.split_at(self.split));
        self.first.evaluate(x, z) * self.second.evaluate(u, w)
    }

    fn self_value(&self, x: &[f64]) -> f64 {
        let (x, u) = x.split_at(self.split);
        self.first.self_value(x) * self.second.self_value(u)
    }

    fn row_of_part(&self, points: &Points, offset: usize, x: &[f64], row: &mut AlignedVec) {
        let (x, u) = x.split_at(self.split);
        self.first.row_of_part(points, offset, x, row);
        scratch(|second| {
            self.second.row_of_part(points, offset + self.split, u, second);
            for (row, second) in row.iter_mut().zip(second.iter()) {
                *row *= second;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, KernelError, KernelMixture, Laplace, Linear};

    #[test]
    fn the_row_is_the_product_of_the_parts() -> Result<(), KernelError> {
        let rows: Vec<f64> = (0..57).map(|i| f64::from(i * i % 23) * 0.1).collect();
        let points = Points::from_rows(3, &rows);
        let inner = KernelMixture::new(vec![(0.4, Gaussian::new(0.5)?), (0.6, Gaussian::new(2.0)?)])?;
        let kernel = Product::new(inner, Product::new(Laplace::new(1.5)?, Linear, 1), 1);
        let (x, mut row) = ([0.3, 1.1, -0.4], AlignedVec::new());
        kernel.row(&points, &x, &mut row);
        for j in 0..points.len() {
            let z = points.point(j);
            let expected = (0.4 * (-2.0 * (x[0] - z[0]).powi(2)).exp() + 0.6 * (-0.125 * (x[0] - z[0]).powi(2)).exp())
                * (-(x[1] - z[1]).abs() / 1.5).exp()
                * (x[2] * z[2]);
            assert!((row[j] - expected).abs() < 1e-14);
            assert!((kernel.evaluate(&x, &z) - expected).abs() < 1e-14);
        }
        assert!((kernel.self_value(&x) - 0.16).abs() < 1e-15);
        Ok(())
    }
}
