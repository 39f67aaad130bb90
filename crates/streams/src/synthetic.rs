//! Simulated streams whose spectrum is known.
//!
//! The regret and the dictionary size of a kernel learner are governed by how fast the eigenvalues
//! of the kernel's integral operator `(Tf)(x) = ∫ k(x, z) f(z) dP(z)` fall, where P is the law of
//! the inputs. For the streams of this file they are known, so that measured exponents can be laid
//! beside the theory's:
//!
//! | stream | kernel | eigenvalues |
//! |---|---|---|
//! | [`Simulation::normal`] | Gaussian | geometric, exact: [`gaussian_spectrum`](crate::gaussian_spectrum) |
//! | [`Simulation::circle`] | any radial one | Fourier coefficients: [`circle_spectrum`](crate::circle_spectrum); order k⁻² (Laplace), k⁻⁴ (Matérn 3/2), k⁻⁶ (Matérn 5/2), faster than geometric (Gaussian) |
//! | [`Simulation::cosine_modes`] | linear | whatever is asked for, exact: e.g. [`Decay::eigenvalues`](crate::Decay::eigenvalues) |
//! | [`Simulation::cube`] | – | not known; the usual uniform design |
//! | [`Simulation::near_duplicates`] | – | the uniform design in pairs almost equal, hard on factorisations |
//!
//! Targets are `f(x) + ε`, ε uniform on [−noise, noise], so that labels are bounded as the theory
//! asks. For all streams but the cosine modes f is a sum of Gaussian bumps
//! `Σ aᵢ exp(−‖x − cᵢ‖²/2σ²)` with `Σ|aᵢ| = 1`, hence |f| ≤ 1, and f lies in the space of the
//! Gaussian kernel of width σ with the norm that [`Simulated::squared_norm`] gives; on the cosine
//! modes it is linear with norm 1.
//!
//! Inputs, f and noise come from separate ChaCha8 streams of one seed, so that a longer run begins
//! like a shorter one.

use std::f64::consts::{SQRT_2, TAU};

use mercer_core::ParameterError;
use mercer_readers::Dataset;
use rand_chacha::ChaCha8Rng;

use crate::error::StreamError;
use crate::random::{FUNCTION_STREAM, INPUT_STREAM, TARGET_NOISE_STREAM, generator, standard_normal, symmetric, unit};

/// Bumps of a target function.
const BUMPS: usize = 10;

/// Parameters that all simulated streams have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Simulation {
    /// Number of rows, n.
    pub rows: usize,
    /// Half the width of the noise's range, ≥ 0.
    pub noise: f64,
    /// Width σ of the target's bumps, > 0.
    pub width: f64,
    /// The seed of everything.
    pub seed: u64,
}

impl Default for Simulation {
    fn default() -> Self {
        Self { rows: 1000, noise: 0.1, width: 1.0, seed: 0 }
    }
}

/// A stream and the truth behind it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Simulated {
    /// Inputs and noisy targets.
    pub dataset: Dataset,
    /// f(x) of every row.
    pub clean: Vec<f64>,
    /// ‖f‖² in the space of the Gaussian kernel of the simulation's width (linear kernel for cosine
    /// modes).
    pub squared_norm: f64,
}

impl Simulation {
    /// Points uniform on [−1, 1]^d. O(nd), as all streams.
    ///
    /// # Errors
    /// [`StreamError::Parameter`] for a dimension of 0, or noise or width out of range.
    pub fn cube(&self, dimension: usize) -> Result<Simulated, StreamError> {
        self.bumpy("cube", dimension, uniform, uniform)
    }

    /// Points normal in every coordinate, with mean 0 and this standard deviation.
    ///
    /// # Errors
    /// As [`cube`](Self::cube), and for a deviation that is not positive and finite.
    pub fn normal(&self, dimension: usize, deviation: f64) -> Result<Simulated, StreamError> {
        ParameterError::require(
            deviation > 0.0 && deviation.is_finite(),
            "deviation",
            "positive and finite",
            deviation,
        )?;
        let draw = |generator: &mut ChaCha8Rng, point: &mut [f64]| {
            point.fill_with(|| deviation * standard_normal(generator));
        };
        self.bumpy("normal", dimension, draw, draw)
    }

    /// Points (cos θ, sin θ), θ uniform.
    ///
    /// # Errors
    /// As [`cube`](Self::cube).
    pub fn circle(&self) -> Result<Simulated, StreamError> {
        let draw = |generator: &mut ChaCha8Rng, point: &mut [f64]| {
            let (sin, cos) = (TAU * unit(generator)).sin_cos();
            point.copy_from_slice(&[cos, sin]);
        };
        self.bumpy("circle", 2, draw, draw)
    }

    /// Pairs of points: one uniform on the cube, and one at distance `gap` of it in a random
    /// direction.
    ///
    /// # Errors
    /// As [`cube`](Self::cube), and for a gap outside (0, 1).
    pub fn near_duplicates(&self, dimension: usize, gap: f64) -> Result<Simulated, StreamError> {
        ParameterError::require(gap > 0.0 && gap < 1.0, "gap", "between 0 and 1", gap)?;
        let mut first: Option<Vec<f64>> = None;
        self.bumpy("near_duplicates", dimension, uniform, |generator, point| match first.take() {
            None => {
                // Room for the second point within the cube.
                point.fill_with(|| (1.0 - gap) * symmetric(generator));
                first = Some(point.to_vec());
            }
            Some(first) => {
                point.fill_with(|| standard_normal(generator));
                let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
                for (x, start) in point.iter_mut().zip(first) {
                    *x = start + gap * *x / length;
                }
            }
        })
    }

    /// Points `x_j = √(2μ_j) cos(2πju)`, j = 1, 2, …, u uniform on [0, 1]. The functions √2
    /// cos(2πju) are orthonormal, so the linear kernel `xᵀz` has exactly the eigenvalues μ given.
    /// The target is linear, with a coefficient vector of length 1 and equal squares.
    ///
    /// # Errors
    /// As [`cube`](Self::cube), and for an eigenvalue that is not positive and finite.
    pub fn cosine_modes(&self, eigenvalues: &[f64]) -> Result<Simulated, StreamError> {
        for &value in eigenvalues {
            ParameterError::require(value > 0.0 && value.is_finite(), "eigenvalue", "positive and finite", value)?;
        }
        let dimension = eigenvalues.len();
        let mut function = generator(self.seed, FUNCTION_STREAM);
        let size = 1.0 / (dimension as f64).sqrt();
        let weights: Vec<f64> = (0..dimension).map(|_| size.copysign(symmetric(&mut function))).collect();
        self.assemble(
            "cosine_modes",
            dimension,
            |generator, point| {
                let u = unit(generator);
                for (j, (x, &eigenvalue)) in point.iter_mut().zip(eigenvalues).enumerate() {
                    *x = SQRT_2 * eigenvalue.sqrt() * (TAU * (j + 1) as f64 * u).cos();
                }
            },
            |point| point.iter().zip(&weights).map(|(x, w)| x * w).sum(),
            1.0,
        )
    }

    /// A stream of points from `draw` whose target is a sum of bumps around points from
    /// `draw_centre`.
    fn bumpy(
        &self,
        name: &str,
        dimension: usize,
        mut draw_centre: impl FnMut(&mut ChaCha8Rng, &mut [f64]),
        draw: impl FnMut(&mut ChaCha8Rng, &mut [f64]),
    ) -> Result<Simulated, StreamError> {
        ParameterError::require(
            self.width > 0.0 && self.width.is_finite(),
            "width",
            "positive and finite",
            self.width,
        )?;
        let mut function = generator(self.seed, FUNCTION_STREAM);
        let mut centres = vec![vec![0.0; dimension]; BUMPS];
        for centre in &mut centres {
            draw_centre(&mut function, centre);
        }
        let raw: Vec<f64> = (0..BUMPS).map(|_| symmetric(&mut function)).collect();
        let total: f64 = raw.iter().map(|a| a.abs()).sum();
        let weights: Vec<f64> = raw.iter().map(|a| a / total).collect();
        let kernel = |x: &[f64], z: &[f64]| {
            let squared: f64 = x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum();
            (-squared / (2.0 * self.width * self.width)).exp()
        };
        let f = |x: &[f64]| centres.iter().zip(&weights).map(|(centre, a)| a * kernel(centre, x)).sum::<f64>();
        let squared_norm = centres.iter().zip(&weights).map(|(centre, a)| a * f(centre)).sum();
        self.assemble(name, dimension, draw, f, squared_norm)
    }

    fn assemble(
        &self,
        name: &str,
        dimension: usize,
        mut draw: impl FnMut(&mut ChaCha8Rng, &mut [f64]),
        f: impl Fn(&[f64]) -> f64,
        squared_norm: f64,
    ) -> Result<Simulated, StreamError> {
        ParameterError::require(dimension > 0, "dimension", "at least 1", dimension as f64)?;
        ParameterError::require(
            self.noise >= 0.0 && self.noise.is_finite(),
            "noise",
            "at least 0 and finite",
            self.noise,
        )?;
        let mut inputs = generator(self.seed, INPUT_STREAM);
        let mut noise = generator(self.seed, TARGET_NOISE_STREAM);
        let mut features = vec![0.0; self.rows * dimension];
        let (mut clean, mut targets) = (Vec::with_capacity(self.rows), Vec::with_capacity(self.rows));
        for point in features.chunks_exact_mut(dimension) {
            draw(&mut inputs, point);
            let value = f(point);
            clean.push(value);
            targets.push(value + self.noise * symmetric(&mut noise));
        }
        let dataset = Dataset::new(name, dimension, features, targets)?;
        Ok(Simulated { dataset, clean, squared_norm })
    }
}

/// A point uniform on [−1, 1)^d.
fn uniform(generator: &mut ChaCha8Rng, point: &mut [f64]) {
    point.fill_with(|| symmetric(generator));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectrum::Decay;

    #[test]
    fn cosine_modes_have_the_spectrum_asked_for() {
        let wanted = Decay::Polynomial { exponent: 2.0 }.eigenvalues(6);
        assert_eq!(wanted[2], 1.0 / 9.0);
        let simulated = Simulation { rows: 20_000, ..Simulation::default() }.cosine_modes(&wanted).unwrap();
        for i in 0..6 {
            for j in 0..6 {
                let products = simulated.dataset.iter().map(|(x, _)| x[i] * x[j]);
                let covariance = products.sum::<f64>() / 20_000.0;
                let expected = if i == j { wanted[i] } else { 0.0 };
                let tolerance = 0.04 * (wanted[i] * wanted[j]).sqrt();
                assert!((covariance - expected).abs() < tolerance, "{i} {j}: {covariance}");
            }
        }
        let limit: f64 = 2.0 * wanted.iter().sum::<f64>();
        assert!(simulated.dataset.iter().all(|(x, _)| x.iter().map(|x| x * x).sum::<f64>() <= limit));
        assert!(simulated.clean.iter().all(|value| value * value <= limit));
    }

    #[test]
    fn points_lie_where_they_should() {
        let simulation = Simulation { rows: 4000, seed: 3, ..Simulation::default() };
        let cube = simulation.cube(3).unwrap().dataset;
        assert!(cube.features().iter().all(|x| (-1.0..1.0).contains(x)));
        let second_moment = cube.features().iter().map(|x| x * x).sum::<f64>() / 12_000.0;
        assert!((second_moment - 1.0 / 3.0).abs() < 0.02, "{second_moment}");

        let normal = simulation.normal(2, 0.5).unwrap().dataset;
        let variance = normal.features().iter().map(|x| x * x).sum::<f64>() / 8000.0;
        assert!((variance - 0.25).abs() < 0.02, "{variance}");

        let circle = simulation.circle().unwrap().dataset;
        assert!(circle.iter().all(|(x, _)| (x[0].hypot(x[1]) - 1.0).abs() < 1e-15));

        let pairs = simulation.near_duplicates(4, 1e-3).unwrap().dataset;
        assert!(pairs.features().iter().all(|x| x.abs() <= 1.0));
        for pair in 0..2000 {
            let squared: f64 =
                pairs.row(2 * pair).iter().zip(pairs.row(2 * pair + 1)).map(|(a, b)| (a - b).powi(2)).sum();
            assert!((squared.sqrt() - 1e-3).abs() < 1e-12);
        }
    }

    #[test]
    fn targets_are_the_function_and_bounded_noise() {
        let simulation = Simulation { rows: 500, noise: 0.2, width: 0.5, seed: 9 };
        let Simulated { dataset, clean, squared_norm } = simulation.cube(2).unwrap();
        let errors: Vec<f64> = clean.iter().zip(dataset.targets()).map(|(f, y)| y - f).collect();
        assert!(errors.iter().all(|error| error.abs() <= 0.2) && errors.iter().any(|error| error.abs() > 0.19));
        // |f(x)| is at most ‖f‖ √k(x, x), and ‖f‖ at most the sum of the bumps' sizes.
        assert!(squared_norm > 0.0 && squared_norm <= 1.0);
        assert!(clean.iter().all(|value| value * value <= squared_norm));
        let quiet = Simulation { noise: 0.0, ..simulation }.cube(2).unwrap();
        assert_eq!(quiet.dataset.targets(), clean);
    }

    #[test]
    fn a_seed_is_a_stream() {
        let simulation = Simulation { rows: 10, ..Simulation::default() };
        let long = Simulation { rows: 20, ..simulation }.cube(2).unwrap().dataset;
        let mut beginning = long.clone();
        beginning.truncate(10);
        assert_eq!(simulation.cube(2).unwrap().dataset, beginning);
        assert_ne!(Simulation { seed: 1, ..simulation }.cube(2).unwrap().dataset, beginning);
        assert_eq!(long.row(0), [-0.5671100433098213, -0.28489015824402286]);
    }

    #[test]
    fn senseless_parameters_are_refused() {
        let simulation = Simulation::default();
        let message = |result: Result<Simulated, StreamError>| result.unwrap_err().to_string();
        assert_eq!(message(simulation.cube(0)), "dimension must be at least 1, got 0");
        assert_eq!(message(simulation.normal(1, 0.0)), "deviation must be positive and finite, got 0");
        assert!(message(simulation.near_duplicates(2, 1.0)).ends_with("got 1"));
        assert!(message(simulation.cosine_modes(&[1.0, f64::NAN])).ends_with("got NaN"));
        assert!(message(simulation.cosine_modes(&[])).starts_with("dimension must"));
        assert!(message(Simulation { noise: -1.0, ..simulation }.circle()).ends_with("got -1"));
        assert!(message(Simulation { width: f64::INFINITY, ..simulation }.circle()).ends_with("got inf"));
    }
}
