//! Draws of the simulations. A seed's ChaCha8 streams are numbered on from that of permutations,
//! one for each purpose.

use mercer_readers::PERMUTATION_STREAM;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Inputs of a [`Simulation`](crate::Simulation).
pub(crate) const INPUT_STREAM: u64 = PERMUTATION_STREAM + 1;
/// Its target function.
pub(crate) const FUNCTION_STREAM: u64 = PERMUTATION_STREAM + 2;
/// Its noise.
pub(crate) const TARGET_NOISE_STREAM: u64 = PERMUTATION_STREAM + 3;
/// Where trajectories start, and the process noise of a linear system.
pub(crate) const START_STREAM: u64 = PERMUTATION_STREAM + 4;
/// Noise that drives trajectories, and the measurement noise of a linear system.
pub(crate) const NOISE_STREAM: u64 = PERMUTATION_STREAM + 5;
/// The inputs of a linear system.
pub(crate) const CONTROL_STREAM: u64 = PERMUTATION_STREAM + 6;

/// This seed's generator on one stream of its own.
pub(crate) fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}

/// Uniform on [0, 1): the upper 53 bits of a draw.
pub(crate) fn unit(generator: &mut ChaCha8Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Uniform on [−1, 1).
pub(crate) fn symmetric(generator: &mut ChaCha8Rng) -> f64 {
    2.0 * unit(generator) - 1.0
}

pub(crate) fn standard_normal(generator: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(generator)
}

/// Draws for a simulation of one's own, told apart by a seed.
#[derive(Clone, Debug)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The draws of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(generator(seed, NOISE_STREAM))
    }

    /// Uniform on [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        symmetric(&mut self.0)
    }

    /// Normal number of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        standard_normal(&mut self.0)
    }
}
