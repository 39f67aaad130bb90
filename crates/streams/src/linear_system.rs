//! Simulated linear stochastic systems, driven by Gaussian noise and, where they have inputs, by
//! white Gaussian inputs.
//!
//! ```text
//! x_{k+1} = A x_k + B u_k + w_k,   w_k ~ N(0, Q)      x_0 = 0
//!     y_k = C x_k + D u_k + v_k,   v_k ~ N(0, R)      k = 0, 1, …
//! ```
//!
//! with states x of dimension n, inputs u of dimension q (0 for an autonomous system) and outputs y
//! of dimension m. Matrices are row-major. A step costs O(n² + nm + (n + m)q + m²) and allocates
//! nothing; nothing is kept but the state, so a run may go on for ever.
//!
//! Process noise, measurement noise and inputs come from separate ChaCha8 streams of one seed: a
//! longer run begins like a shorter one, and the noise does not depend on whether there are inputs.
//!
//! The named systems are those of the paper on online prediction with forgetting:
//! [`LinearSystem::tracking`] (section 5) and [`LinearSystem::slow_decay`] (E.1);
//! [`LinearSystem::integrating_tracker`] is one axis of the first.

use mercer_core::ParameterError;
use mercer_readers::{DataError, Series};
use rand_chacha::ChaCha8Rng;

use crate::error::StreamError;
use crate::random::{CONTROL_STREAM, NOISE_STREAM, START_STREAM, generator, standard_normal};

/// Largest distance of a covariance from symmetric and from positive semidefinite, relative to its
/// largest entry.
const ROUNDING: f64 = 1e-12;

/// The matrices of a system, each row by row.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SystemMatrices {
    /// n, at least 1.
    pub states: usize,
    /// m, at least 1.
    pub outputs: usize,
    /// q; 0 for a system without inputs, which has empty `b` and `d`.
    pub inputs: usize,
    /// A, n × n.
    pub a: Vec<f64>,
    /// B, n × q.
    pub b: Vec<f64>,
    /// C, m × n.
    pub c: Vec<f64>,
    /// D, m × q: what the input of this moment adds to the output of this moment.
    pub d: Vec<f64>,
    /// Q, n × n, symmetric and positive semidefinite.
    pub q: Vec<f64>,
    /// R, m × m, symmetric and positive semidefinite.
    pub r: Vec<f64>,
}

/// A system that can be simulated: matrices of shapes that fit, and covariances that are
/// covariances.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SystemMatrices", into = "SystemMatrices"))]
pub struct LinearSystem {
    matrices: SystemMatrices,
    /// Lower triangular square roots of Q and R.
    process_factor: Vec<f64>,
    measurement_factor: Vec<f64>,
}

/// Series that a system gave: one row a moment, k = 0, 1, ….
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SimulatedSeries {
    /// y, m columns.
    pub outputs: Series,
    /// u, q columns; `None` for a system without inputs.
    pub inputs: Option<Series>,
}

/// A system under way.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    system: &'a LinearSystem,
    state: Vec<f64>,
    next: Vec<f64>,
    normal: Vec<f64>,
    process: ChaCha8Rng,
    measurement: ChaCha8Rng,
}

impl LinearSystem {
    /// Checks the matrices.
    ///
    /// # Errors
    /// [`StreamError::Parameter`] without states or outputs, [`StreamError::MatrixShape`] for a
    /// matrix of the wrong number of entries or one that is not finite,
    /// [`StreamError::NotCovariance`] unless Q and R are symmetric and positive semidefinite.
    pub fn new(matrices: SystemMatrices) -> Result<Self, StreamError> {
        let SystemMatrices { states: n, outputs: m, inputs: q, .. } = matrices;
        for (count, parameter) in [(n, "states"), (m, "outputs")] {
            ParameterError::at_least_one(parameter, count)?;
        }
        for (matrix, entries, rows, columns) in [
            ("A", &matrices.a, n, n),
            ("B", &matrices.b, n, q),
            ("C", &matrices.c, m, n),
            ("D", &matrices.d, m, q),
            ("Q", &matrices.q, n, n),
            ("R", &matrices.r, m, m),
        ] {
            if entries.len() != rows * columns || entries.iter().any(|entry| !entry.is_finite()) {
                return Err(StreamError::MatrixShape { matrix, rows, columns, got: entries.len() });
            }
        }
        let process_factor = square_root("Q", n, &matrices.q)?;
        let measurement_factor = square_root("R", m, &matrices.r)?;
        Ok(Self { matrices, process_factor, measurement_factor })
    }

    /// Three coordinates tracked at once, coupled by their noise: section 5 of the paper.
    ///
    /// A = I₃ ⊗ \[1 1 0; 0 1 1; 0 0 0.9\], C = I₃ ⊗ \[1 0 0\], Q = W ⊗ I₃ with W = 0.8 I + 0.2 (as
    /// printed: the noise of one coordinate's first state leans on that of the next coordinate's
    /// first state), R = I₃. The closed-loop predictor of the Kalman filter has spectral radius
    /// 0.49698; the outputs grow like k^{3/2}.
    pub fn tracking() -> Self {
        let axis = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.9];
        let (mut a, mut c, mut q) = (vec![0.0; 81], vec![0.0; 27], vec![0.0; 81]);
        for block in 0..3 {
            for i in 0..3 {
                for j in 0..3 {
                    a[(3 * block + i) * 9 + 3 * block + j] = axis[3 * i + j];
                }
                for other in 0..3 {
                    q[(3 * block + i) * 9 + 3 * other + i] = if other == block { 1.0 } else { 0.2 };
                }
            }
            c[block * 9 + 3 * block] = 1.0;
        }
        Self::fixed(SystemMatrices { states: 9, outputs: 3, a, c, q, r: identity(3, 1.0), ..SystemMatrices::default() })
    }

    /// The system of E.1, whose predictor forgets slowly: A = \[0.98 0.8 0; 0 0.98 0.8; 0 0 0.9\],
    /// C = I₃, Q = I₃, R = 100 I₃; spectral radius of the predictor 0.7783.
    pub fn slow_decay() -> Self {
        Self::fixed(SystemMatrices {
            states: 3,
            outputs: 3,
            a: vec![0.98, 0.8, 0.0, 0.0, 0.98, 0.8, 0.0, 0.0, 0.9],
            c: identity(3, 1.0),
            q: identity(3, 1.0),
            r: identity(3, 100.0),
            ..SystemMatrices::default()
        })
    }

    /// One coordinate of [`tracking`](Self::tracking): position, velocity and a slowly fading
    /// acceleration, the position observed. After a million steps the output is of the order 10⁹ to
    /// 10¹⁰.
    pub fn integrating_tracker() -> Self {
        Self::fixed(SystemMatrices {
            states: 3,
            outputs: 1,
            a: vec![1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.9],
            c: vec![1.0, 0.0, 0.0],
            q: identity(3, 1.0),
            r: vec![1.0],
            ..SystemMatrices::default()
        })
    }

    /// The matrices.
    pub fn matrices(&self) -> &SystemMatrices {
        &self.matrices
    }

    /// m.
    pub fn outputs(&self) -> usize {
        self.matrices.outputs
    }

    /// q.
    pub fn inputs(&self) -> usize {
        self.matrices.inputs
    }

    /// The system at x₀ = 0, about to give y₀.
    pub fn start(&self, seed: u64) -> Run<'_> {
        let SystemMatrices { states, outputs, .. } = self.matrices;
        Run {
            system: self,
            state: vec![0.0; states],
            next: vec![0.0; states],
            normal: vec![0.0; states.max(outputs)],
            process: generator(seed, START_STREAM),
            measurement: generator(seed, NOISE_STREAM),
        }
    }

    /// `steps` moments from x₀ = 0; inputs, if there are any, are independent standard normal
    /// numbers.
    ///
    /// # Errors
    /// None for a checked system, unless an unstable one leaves the range of a double: then the
    /// series holds infinities.
    pub fn simulate(&self, steps: usize, seed: u64) -> Result<SimulatedSeries, StreamError> {
        let (m, q) = (self.outputs(), self.inputs());
        let mut control = generator(seed, CONTROL_STREAM);
        let (mut outputs, mut inputs) = (vec![0.0; steps * m], vec![0.0; steps * q]);
        inputs.fill_with(|| standard_normal(&mut control));
        let mut run = self.start(seed);
        for (k, y) in outputs.chunks_exact_mut(m).enumerate() {
            run.step(&inputs[k * q..(k + 1) * q], y)?;
        }
        let inputs = if q == 0 { None } else { Some(Series::new("inputs", q, inputs)?) };
        Ok(SimulatedSeries { outputs: Series::new("outputs", m, outputs)?, inputs })
    }

    /// A system whose matrices are constants of this file.
    fn fixed(matrices: SystemMatrices) -> Self {
        let (n, m) = (matrices.states, matrices.outputs);
        // They are covariances by construction, and a test says so; an empty factor could not be
        // overlooked.
        let process_factor = square_root("Q", n, &matrices.q).unwrap_or_default();
        let measurement_factor = square_root("R", m, &matrices.r).unwrap_or_default();
        Self { matrices, process_factor, measurement_factor }
    }
}

impl Run<'_> {
    /// Puts y_k into `y` (m values) under the input `u` (q values), and goes on to x_{k+1}.
    ///
    /// # Errors
    /// [`StreamError::Table`] unless `u` has q values and `y` has m; the run then stands where it
    /// stood.
    pub fn step(&mut self, u: &[f64], y: &mut [f64]) -> Result<(), StreamError> {
        let SystemMatrices { states: n, outputs: m, inputs: q, a, b, c, d, .. } = &self.system.matrices;
        for (what, expected, got) in [("the input", *q, u.len()), ("the output", *m, y.len())] {
            if got != expected {
                return Err(DataError::Dimension { what: what.to_owned(), expected, got }.into());
            }
        }
        colour(&self.system.measurement_factor, *m, &mut self.normal, &mut self.measurement, y);
        add_product(c, &self.state, y);
        add_product(d, u, y);
        colour(&self.system.process_factor, *n, &mut self.normal, &mut self.process, &mut self.next);
        add_product(a, &self.state, &mut self.next);
        add_product(b, u, &mut self.next);
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(())
    }

    /// x_k, the state that the next output shows.
    pub fn state(&self) -> &[f64] {
        &self.state
    }
}

/// `result ← F z`, F lower triangular, z standard normal.
fn colour(factor: &[f64], size: usize, normal: &mut [f64], generator: &mut ChaCha8Rng, result: &mut [f64]) {
    let normal = &mut normal[..size];
    normal.fill_with(|| standard_normal(generator));
    for (i, value) in result.iter_mut().enumerate() {
        *value = factor[i * size..=i * size + i].iter().zip(&*normal).map(|(f, z)| f * z).sum();
    }
}

/// `result += M x`.
fn add_product(matrix: &[f64], x: &[f64], result: &mut [f64]) {
    if x.is_empty() {
        return;
    }
    for (row, value) in matrix.chunks_exact(x.len()).zip(result) {
        *value += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// The Cholesky factor of a symmetric positive semidefinite matrix; a direction without variance
/// gives a column of zeros.
fn square_root(matrix: &'static str, size: usize, entries: &[f64]) -> Result<Vec<f64>, StreamError> {
    let largest = entries.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let tolerance = ROUNDING * largest;
    let refused = || StreamError::NotCovariance { matrix };
    let mut factor = vec![0.0; size * size];
    for j in 0..size {
        for i in j..size {
            if (entries[i * size + j] - entries[j * size + i]).abs() > tolerance {
                return Err(refused());
            }
            let known: f64 = (0..j).map(|k| factor[i * size + k] * factor[j * size + k]).sum();
            let left = entries[i * size + j] - known;
            let pivot = factor[j * size + j];
            factor[i * size + j] = if i == j {
                if left < -tolerance {
                    return Err(refused());
                }
                if left > tolerance { left.sqrt() } else { 0.0 }
            } else if pivot > 0.0 {
                left / pivot
            } else if left * left <= tolerance * largest {
                0.0
            } else {
                return Err(refused());
            };
        }
    }
    Ok(factor)
}

fn identity(size: usize, scale: f64) -> Vec<f64> {
    (0..size * size).map(|i| if i % (size + 1) == 0 { scale } else { 0.0 }).collect()
}

#[cfg(feature = "serde")]
impl From<LinearSystem> for SystemMatrices {
    fn from(system: LinearSystem) -> Self {
        system.matrices
    }
}

#[cfg(feature = "serde")]
impl TryFrom<SystemMatrices> for LinearSystem {
    type Error = StreamError;

    fn try_from(matrices: SystemMatrices) -> Result<Self, StreamError> {
        Self::new(matrices)
    }
}
