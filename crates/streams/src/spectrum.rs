//! Eigenvalues of kernel operators that are known in closed form, or nearly.

use std::f64::consts::TAU;

use mercer_core::ParameterError;

/// A law by which eigenvalues fall.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Decay {
    /// μ_j = j⁻ᵖ.
    Polynomial {
        /// p.
        exponent: f64,
    },
    /// μ_j = exp(−rj).
    Exponential {
        /// r.
        rate: f64,
    },
}

impl Decay {
    /// μ₁ … μ_count. (Fast decay may end in zeros, which
    /// [`Simulation::cosine_modes`](crate::Simulation::cosine_modes) refuses: ask for fewer.)
    pub fn eigenvalues(self, count: usize) -> Vec<f64> {
        (1..=count)
            .map(|j| match self {
                Self::Polynomial { exponent } => (j as f64).powf(-exponent),
                Self::Exponential { rate } => (-rate * j as f64).exp(),
            })
            .collect()
    }
}

/// The `count` largest eigenvalues, falling, of the Gaussian kernel of width σ for inputs normal
/// with standard deviation s in each of d coordinates.
///
/// In one dimension, with `a = 1/4s²`, `b = 1/2σ²`, `c = √(a² + 2ab)`, `A = a + b + c`, they are
/// `√(2a/A) (b/A)^k`, k = 0, 1, … (Zhu, Williams, Rohwer and Morciniec 1998); in d dimensions
/// products of d of them, hence `C(k+d−1, d−1)` equal ones for each total k.
///
/// # Errors
/// [`ParameterError`] unless σ and s are positive and finite and d at least 1.
pub fn gaussian_spectrum(
    width: f64,
    deviation: f64,
    dimension: usize,
    count: usize,
) -> Result<Vec<f64>, ParameterError> {
    ParameterError::require(width > 0.0 && width.is_finite(), "width", "positive and finite", width)?;
    ParameterError::require(deviation > 0.0 && deviation.is_finite(), "deviation", "positive and finite", deviation)?;
    ParameterError::require(dimension > 0, "dimension", "at least 1", dimension as f64)?;
    let (a, b) = (1.0 / (4.0 * deviation * deviation), 1.0 / (2.0 * width * width));
    let total = a + b + (a * a + 2.0 * a * b).sqrt();
    let largest = (2.0 * a / total).powf(dimension as f64 / 2.0);
    let mut spectrum = Vec::with_capacity(count);
    let (mut value, mut order, mut multiplicity) = (largest, 0_usize, 1.0_f64);
    while spectrum.len() < count {
        let equal = (count - spectrum.len()).min(multiplicity.round() as usize);
        spectrum.extend(std::iter::repeat_n(value, equal));
        order += 1;
        value *= b / total;
        multiplicity *= (order + dimension - 1) as f64 / order as f64;
    }
    Ok(spectrum)
}

/// The `count` largest eigenvalues, falling, of a radial kernel for inputs uniform on the unit
/// circle; `profile` is the kernel as a function of distance, `k(x, z) = profile(‖x − z‖)`.
///
/// On the circle the kernel depends on the angle alone, so the eigenfunctions are 1, cos kθ, sin kθ
/// and the eigenvalues its Fourier coefficients, each twice but the first. They are summed on 2¹⁶
/// angles, which adds to the k-th those at k ± 2¹⁶, …: a relative error of about 4(k/2¹⁶)² for the
/// Laplace kernel, and less for smoother ones. O(2¹⁶ · count).
pub fn circle_spectrum(profile: impl Fn(f64) -> f64, count: usize) -> Vec<f64> {
    const ANGLES: usize = 1 << 16;
    let step = TAU / ANGLES as f64;
    let values: Vec<f64> = (0..ANGLES).map(|i| profile(2.0 * (0.5 * step * i as f64).sin())).collect();
    let cosines: Vec<f64> = (0..ANGLES).map(|i| (step * i as f64).cos()).collect();
    let coefficient = |k: usize| {
        let terms = values.iter().enumerate().map(|(i, value)| value * cosines[i * k % ANGLES]);
        terms.sum::<f64>() / ANGLES as f64
    };
    let mut spectrum = vec![coefficient(0)];
    for k in 1..=count / 2 {
        spectrum.extend([coefficient(k); 2]);
    }
    spectrum.sort_by(|a, b| b.total_cmp(a));
    spectrum.truncate(count);
    spectrum
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, SymmetricEigen};

    use super::*;

    fn eigenvalues(matrix: DMatrix<f64>) -> Vec<f64> {
        let mut values: Vec<f64> = SymmetricEigen::new(matrix).eigenvalues.iter().copied().collect();
        values.sort_by(|a, b| b.total_cmp(a));
        values
    }

    fn gaussian(distance: f64, width: f64) -> f64 {
        (-distance * distance / (2.0 * width * width)).exp()
    }

    /// The integral operator on a fine grid, whose matrix has the operator's eigenvalues up to
    /// quadrature, which for functions this smooth is exact to rounding.
    #[test]
    fn gaussian_spectrum_is_that_of_the_operator() {
        let (width, deviation, nodes) = (0.7, 1.3, 240);
        let grid = |i: usize| deviation * 9.0 * (2.0 * i as f64 / (nodes - 1) as f64 - 1.0);
        let spacing = grid(1) - grid(0);
        let root = |i: usize| (spacing * gaussian(grid(i), deviation) / (deviation * TAU.sqrt())).sqrt();
        let matrix = DMatrix::from_fn(nodes, nodes, |i, j| root(i) * root(j) * gaussian(grid(i) - grid(j), width));
        let measured = eigenvalues(matrix);
        let known = gaussian_spectrum(width, deviation, 1, 12).unwrap();
        for (k, (measured, known)) in measured.iter().zip(&known).enumerate() {
            assert!((measured - known).abs() < 1e-12, "{k}: {measured} {known}");
        }
    }

    #[test]
    fn gaussian_spectra_sum_to_the_trace() {
        for dimension in 1..4 {
            let spectrum = gaussian_spectrum(1.0, 0.5, dimension, 4000).unwrap();
            assert!((spectrum.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{dimension}");
            assert!(spectrum.is_sorted_by(|a, b| a >= b));
        }
        // Three products of one first-order and two zeroth-order eigenvalues, then six of total
        // order two.
        let spectrum = gaussian_spectrum(1.0, 0.5, 3, 11).unwrap();
        assert!(spectrum[0] > spectrum[1] && spectrum[1] == spectrum[3] && spectrum[3] > spectrum[4]);
        assert!(spectrum[4] == spectrum[9] && spectrum[9] > spectrum[10]);
    }

    #[test]
    fn circle_spectrum_is_that_of_the_operator() {
        let (width, nodes) = (0.6, 128);
        let angle = |i: usize| TAU * i as f64 / nodes as f64;
        let distance = |i: usize, j: usize| 2.0 * (0.5 * (angle(i) - angle(j))).sin().abs();
        let measured =
            eigenvalues(DMatrix::from_fn(nodes, nodes, |i, j| gaussian(distance(i, j), width) / nodes as f64));
        let known = circle_spectrum(|distance| gaussian(distance, width), 16);
        assert_eq!(known.len(), 16);
        for (k, (measured, known)) in measured.iter().zip(&known).enumerate() {
            assert!((measured - known).abs() < 1e-13, "{k}: {measured} {known}");
        }
    }

    #[test]
    fn circle_spectra_fall_as_promised() {
        type Profile = fn(f64) -> f64;
        let kernels: [(Profile, f64); 3] = [
            (|r| (-r).exp(), 2.0),
            (|r| (1.0 + 3_f64.sqrt() * r) * (-3_f64.sqrt() * r).exp(), 4.0),
            (|r| (1.0 + 5_f64.sqrt() * r + 5.0 * r * r / 3.0) * (-5_f64.sqrt() * r).exp(), 6.0),
        ];
        for (kernel, power) in kernels {
            let spectrum = circle_spectrum(kernel, 201);
            // Positions 2k−1 and 2k hold the k-th coefficient.
            let slope = (spectrum[79] / spectrum[159]).log2();
            assert!((slope - power).abs() < 0.05, "{slope} for {power}");
        }
    }

    #[test]
    fn decays_are_their_laws() {
        let polynomial = Decay::Polynomial { exponent: 2.0 }.eigenvalues(3);
        assert_eq!(polynomial, [1.0, 0.25, 1.0 / 9.0]);
        let exponential = Decay::Exponential { rate: 2.0 }.eigenvalues(2);
        assert_eq!(exponential, [(-2_f64).exp(), (-4_f64).exp()]);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        for (width, deviation, dimension) in [(0.0, 1.0, 1), (1.0, f64::NAN, 1), (1.0, 1.0, 0)] {
            assert!(gaussian_spectrum(width, deviation, dimension, 1).is_err());
        }
        assert!(gaussian_spectrum(1.0, 1.0, 1, 0).unwrap().is_empty());
        assert!(circle_spectrum(|_| 1.0, 0).is_empty());
    }
}
