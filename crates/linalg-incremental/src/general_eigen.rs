//! Eigenvalues and eigenvectors of a matrix that is not symmetric.

use crate::Matrix;
use crate::eigen::NoConvergence;

/// A complex number: an eigenvalue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Eigenvalue {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Eigenvalue {
    /// `|μ|`
    #[must_use]
    pub fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }
}

/// Eigenpairs of a real square matrix, by decreasing modulus; of two equal moduli the larger real
/// part comes first, and of a complex pair the one with positive imaginary part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneralEigen {
    /// The eigenvalues.
    pub values: Vec<Eigenvalue>,
    /// Real parts of the right eigenvectors, one vector for each of the pairs asked for. An
    /// eigenvector has unit norm, and its entry of largest modulus is real and positive.
    pub re: Vec<Vec<f64>>,
    /// Imaginary parts, alike.
    pub im: Vec<Vec<f64>>,
}

impl GeneralEigen {
    /// All eigenvalues of `matrix`, without eigenvectors. `O(n³)`, sequential.
    ///
    /// # Errors
    /// [`NoConvergence`] when an entry is not finite or the iteration fails.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn values(matrix: &Matrix) -> Result<Vec<Eigenvalue>, NoConvergence> {
        check_finite(matrix)?;
        let values = matrix.view().eigenvalues().map_err(|_| NoConvergence)?;
        let mut values: Vec<_> = values.iter().map(|value| Eigenvalue { re: value.re, im: value.im }).collect();
        values.sort_by(by_modulus);
        Ok(values)
    }

    /// The `count` leading eigenpairs of `matrix`, or all if there are fewer. `O(n³)`, sequential.
    ///
    /// # Errors
    /// [`NoConvergence`] when an entry is not finite or the iteration fails.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub fn new(matrix: &Matrix, count: usize) -> Result<Self, NoConvergence> {
        check_finite(matrix)?;
        let n = matrix.rows();
        let eigen = matrix.view().eigen().map_err(|_| NoConvergence)?;
        let value = |i: usize| Eigenvalue { re: eigen.S()[i].re, im: eigen.S()[i].im };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| by_modulus(&value(i), &value(j)));
        let mut pairs = Self::default();
        for &i in order.iter().take(count) {
            let mut re: Vec<f64> = eigen.U().col(i).iter().map(|entry| entry.re).collect();
            let mut im: Vec<f64> = eigen.U().col(i).iter().map(|entry| entry.im).collect();
            normalise(&mut re, &mut im);
            pairs.values.push(value(i));
            pairs.re.push(re);
            pairs.im.push(im);
        }
        Ok(pairs)
    }
}

fn check_finite(matrix: &Matrix) -> Result<(), NoConvergence> {
    if matrix.values().iter().all(|value| value.is_finite()) { Ok(()) } else { Err(NoConvergence) }
}

fn by_modulus(a: &Eigenvalue, b: &Eigenvalue) -> std::cmp::Ordering {
    b.modulus().total_cmp(&a.modulus()).then(b.re.total_cmp(&a.re)).then(b.im.total_cmp(&a.im))
}

/// Unit norm, and the entry of largest modulus real and positive, so that the same matrix gives the
/// same vectors.
fn normalise(re: &mut [f64], im: &mut [f64]) {
    let norm = re.iter().chain(&*im).map(|value| value * value).sum::<f64>().sqrt();
    let largest = re.iter().zip(&*im).map(|(a, b)| (a.hypot(*b), *a, *b)).fold((0.0, 0.0, 0.0), |best, entry| {
        // Only a clear lead counts, lest rounding choose between equal entries.
        if entry.0 > best.0 * (1.0 + 1e-9) { entry } else { best }
    });
    if norm > 0.0 && largest.0 > 0.0 {
        let (cos, sin) = (largest.1 / largest.0 / norm, largest.2 / largest.0 / norm);
        for (a, b) in re.iter_mut().zip(im) {
            (*a, *b) = (*a * cos + *b * sin, *b * cos - *a * sin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_and_a_shear() -> Result<(), NoConvergence> {
        // 2 × (rotation by 60°), and 0.5 beside it.
        let (c, s) = (1.0, 3f64.sqrt());
        let rotation = Matrix::from_fn(3, 3, |i, j| [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 0.5]][i][j]);
        let pairs = GeneralEigen::new(&rotation, 3)?;
        let expected = [(c, s), (c, -s), (0.5, 0.0)];
        for (value, (re, im)) in pairs.values.iter().zip(expected) {
            assert!((value.re - re).abs() < 1e-14 && (value.im - im).abs() < 1e-14);
        }
        // v = (1, −i)/√2: the largest entry is real.
        let half = 0.5f64.sqrt();
        assert!((pairs.re[0][0] - half).abs() < 1e-14 && (pairs.im[0][1] + half).abs() < 1e-14);
        assert!((pairs.re[2][2] - 1.0).abs() < 1e-14);
        assert_eq!(GeneralEigen::values(&rotation)?.len(), 3);
        assert_eq!(GeneralEigen::new(&Matrix::from_fn(1, 1, |_, _| f64::NAN), 1), Err(NoConvergence));
        Ok(())
    }
}
