//! Streams whose kernel eigenvalues fall in a known way, for the experiments on theory.
//!
//! | regime | inputs | kernel | eigenvalues |
//! |---|---|---|---|
//! | [`Regime::EXPONENTIAL`] | normal, deviation 1, one dimension | Gaussian, σ = 1 | `∝ rⁱ`, `r ≈ 0.38` |
//! | [`Regime::LAPLACE`] | unit circle | Laplace, σ = 1 | `∝ i⁻²` |
//! | [`Regime::MATERN_32`] | unit circle | Matérn 3/2, σ = 1 | `∝ i⁻⁴` |
//! | [`Regime::MATERN_52`] | unit circle | Matérn 5/2, σ = 1 | `∝ i⁻⁶` |
//! | [`Regime::COSINES`] | 40 cosine modes | linear | `∝ i⁻¹⁰`, exactly |
//!
//! Everywhere `k(x, x) ≤ 1`, as the theory asks. Targets are a smooth function with values in
//! `[−1, 1]` and uniform noise.

use anyhow::Result;
use mercer_kernels::AnyKernel;
use mercer_readers::Dataset;
use mercer_streams::{Decay, Simulation};

/// Half the width of the noise's range.
pub const NOISE: f64 = 0.4;

/// Modes of [`Regime::COSINES`]; the last eigenvalue is 10⁻¹⁶ of the first.
const MODES: usize = 40;

/// The decay of eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `λ_i ≤ R₀ rⁱ`
    Exponential {
        /// `r`
        ratio: f64,
    },
    /// `λ_i ≤ R₀ i⁻ᵖ`
    Polynomial {
        /// `p`
        degree: f64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inputs {
    Normal,
    Circle,
    Cosines,
}

/// A stream, its kernel and the law of its eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regime {
    /// Short name for titles and file names.
    pub name: &'static str,
    /// The law.
    pub law: Law,
    /// The kernel's SPEC.
    pub kernel: &'static str,
    inputs: Inputs,
}

impl Regime {
    /// Exponential decay. With `a = 1/4`, `b = 1/2`, `c = √(a² + 2ab)` the ratio is
    /// `b/(a + b + c)`.
    pub const EXPONENTIAL: Self = Self {
        name: "exponential",
        law: Law::Exponential { ratio: 0.381_966_011_250_105_1 },
        kernel: "gaussian:1",
        inputs: Inputs::Normal,
    };
    /// Polynomial decay, p = 2.
    pub const LAPLACE: Self = Self::polynomial("p = 2", 2.0, "laplace:1", Inputs::Circle);
    /// Polynomial decay, p = 4.
    pub const MATERN_32: Self = Self::polynomial("p = 4", 4.0, "matern32:1", Inputs::Circle);
    /// Polynomial decay, p = 6.
    pub const MATERN_52: Self = Self::polynomial("p = 6", 6.0, "matern52:1", Inputs::Circle);
    /// Polynomial decay, p = 10.
    pub const COSINES: Self = Self::polynomial("p = 10", 10.0, "linear", Inputs::Cosines);

    const fn polynomial(name: &'static str, degree: f64, kernel: &'static str, inputs: Inputs) -> Self {
        Self { name, law: Law::Polynomial { degree }, kernel, inputs }
    }

    /// The kernel.
    pub fn kernel(&self) -> Result<AnyKernel> {
        Ok(self.kernel.parse()?)
    }

    /// The first `rounds` rows of the stream with this seed.
    pub fn stream(&self, rounds: usize, seed: u64) -> Result<Dataset> {
        let simulation = Simulation { rows: rounds, noise: NOISE, width: 1.0, seed };
        let simulated = match self.inputs {
            Inputs::Normal => simulation.normal(1, 1.0)?,
            Inputs::Circle => simulation.circle()?,
            Inputs::Cosines => {
                let mut eigenvalues = Decay::Polynomial { exponent: 10.0 }.eigenvalues(MODES);
                // k(x, x) is at most twice their sum.
                let scale = 0.5 / eigenvalues.iter().sum::<f64>();
                eigenvalues.iter_mut().for_each(|value| *value *= scale);
                simulation.cosine_modes(&eigenvalues)?
            }
        };
        Ok(simulated.dataset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hindsight::Hindsight;
    use mercer_kernels::Kernel;

    #[test]
    fn kernels_are_normalised_and_targets_bounded() {
        for regime in [Regime::EXPONENTIAL, Regime::LAPLACE, Regime::MATERN_32, Regime::MATERN_52, Regime::COSINES] {
            let (kernel, stream) = (regime.kernel().unwrap(), regime.stream(500, 3).unwrap());
            for (x, y) in stream.iter() {
                assert!(kernel.self_value(x) <= 1.0 + 1e-12 && y.abs() <= 1.0, "{}", regime.name);
            }
        }
    }

    #[test]
    fn eigenvalues_fall_as_they_should() {
        let geometric = mercer_streams::gaussian_spectrum(1.0, 1.0, 1, 3).unwrap();
        let Law::Exponential { ratio } = Regime::EXPONENTIAL.law else { unreachable!() };
        assert!((geometric[2] / geometric[1] - ratio).abs() < 1e-12);
        for regime in [Regime::LAPLACE, Regime::MATERN_32, Regime::MATERN_52] {
            let Law::Polynomial { degree } = regime.law else { unreachable!() };
            let stream = regime.stream(600, 1).unwrap();
            let values = Hindsight::new(&regime.kernel().unwrap(), &stream).unwrap().eigenvalues().to_vec();
            // Pairs are equal on the circle; the law holds once the wave is short against the
            // kernel's width.
            let slope = -(values[40] / values[20]).ln() / 2f64.ln();
            assert!((slope - degree).abs() < 0.1 * degree, "{}: {slope}", regime.name);
        }
    }
}
