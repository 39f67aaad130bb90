//! Classifiers of two classes `±1` in kernel coefficients, one a file, and what they share.
//!
//! All learn by the [margin](Margin) `y f(x)`, and say that their loss is the hinge loss, so that
//! no other target reaches them. A mistake is `y f(x) ≤ 0`.

pub(crate) mod bogd;
pub(crate) mod bpa_s;
pub(crate) mod forgetron;
pub(crate) mod pa;
pub(crate) mod pegasos;
pub(crate) mod perceptron;
pub(crate) mod projectron;
pub(crate) mod rbp;

pub use {bogd::*, bpa_s::*, forgetron::*, pa::*, pegasos::*, perceptron::*, projectron::*, rbp::*};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use mercer_core::Inconsistent;

pub(crate) use crate::engines::update::margin::{Margin, coefficient};

/// ChaCha8 stream of the draws, apart from other draws with the same seed.
const STREAM: u64 = 0x6275_6467_6574;

/// Draws of the point that leaves.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(STREAM);
        Self(rng)
    }

    /// One of so many points, each as likely as the others.
    pub(crate) fn one_of(&mut self, points: usize) -> usize {
        self.0.random_range(0..points.max(1))
    }
}

/// [`Validate`](mercer_core::Validate) for a budget.
fn check_budget(budget: usize) -> Result<(), Inconsistent> {
    Inconsistent::require(budget >= 1, "budget", "it is at least 1")
}
