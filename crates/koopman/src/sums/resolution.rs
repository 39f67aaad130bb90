//! The change of eigenvalues with the number of points: the error that a dictionary leaves.
//!
//! A full dictionary may be too coarse for a function, and nothing on its own features tells: a
//! residual has only the part that they hold. Points join in the order of their distance to those
//! before, so that the first half of them is a dictionary of its own, whose sums are within those
//! of all. Where an error falls in inverse proportion to the number of points, the part that is
//! left is as large as the change from half of them.

use mercer_linalg_incremental::Eigenvalue;

use super::blocks::{Group, Sums};
use super::lag_test::HalfFit;
use super::modes::FitSource;

/// A mode that moves by more is not resolved.
pub(super) const MOST_MOVED: f64 = 0.05;

/// The eigenvalues by half of the points; `None` where these do not tell them. `O(p³)`.
pub(super) fn coarse_values(total: &Sums, (leading, ridge): (usize, f64), kind: FitSource) -> Option<Vec<Eigenvalue>> {
    let p = total.gram.rows();
    let coarse = total.leading(leading + (p - leading).div_ceil(2));
    HalfFit::new(&[Group(vec![&coarse])], leading, ridge, kind).ok().map(HalfFit::into_values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_linalg_incremental::Matrix;

    /// Five orthonormal features, of which three are left: 1 and half of the four points. The third
    /// and the fourth are turned by `sine` from functions of 0.9 and 0.2.
    fn sums(sine: f64) -> Sums {
        let (values, cosine) = ([1.0, 0.5, 0.9, 0.2, 0.3], (1.0 - sine * sine).sqrt());
        let turn = |i: usize, k: usize| match (i, k) {
            (2, 2) | (3, 3) => cosine,
            (3, 2) => sine,
            (2, 3) => -sine,
            _ => f64::from(u8::from(i == k)),
        };
        let entry = |i: usize, j: usize| (0..5).map(|k| turn(i, k) * values[k] * turn(j, k)).sum::<f64>();
        Sums {
            gram: Matrix::from_fn(5, 5, |i, j| if i == j { 10.0 } else { 0.0 }),
            cross: Matrix::from_fn(5, 5, |i, j| 10.0 * entry(i, j)),
            weight: 10.0,
            rows: 10.0,
            ..Sums::new(5, 5)
        }
    }

    #[test]
    fn a_function_that_half_of_the_points_miss_moves() {
        for (sine, expected) in [(0.0, 0.9), (0.6, 0.9 * 0.64 + 0.2 * 0.36)] {
            let values = coarse_values(&sums(sine), (1, 0.0), FitSource::LeastSquares);
            let found = values.iter().flatten().any(|value| (value.re - expected).abs() < 1e-9 && value.im == 0.0);
            assert!(found, "{sine}: {values:?}");
        }
    }
}
