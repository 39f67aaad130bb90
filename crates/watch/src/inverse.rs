//! Inverses of covariances.

use mercer_linalg_incremental::Matrix;

/// The inverse of a positive definite matrix, row by row; the identity where rounding has made it
/// singular, which a ridge in the diagonal rules out.
pub(crate) fn inverse(size: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    // Symmetric to the bit.
    let matrix = Matrix::from_fn(size, size, |i, j| entry(i.max(j), i.min(j)));
    let identity = Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
    let solved = matrix.solve_positive_definite(&identity).ok().filter(|inverse| {
        let finite = |value: &f64| value.is_finite();
        inverse.values().iter().all(finite)
    });
    let inverse = solved.unwrap_or(identity);
    (0..size * size).map(|k| inverse.entry(k / size, k % size)).collect()
}
