//! A stream on which a dictionary reaches an exact size and stays there.
//!
//! First `J` *anchors*, uniform in `[−1, 1]ᵈ`: with a Gaussian of width 1 in ten dimensions each is
//! far from the span of the others, and an ALD threshold of [`ALD_THRESHOLD`] keeps them all. Then
//! *examples*, each an anchor moved by at most 0.02 in every coordinate: their residual is at most
//! 0.004, so none is kept. Targets are a smooth function plus noise, and turn their sign when the
//! examples start over: nothing can fit them, so that no gradient vanishes (a Newton step whose
//! gradient is zero would skip its update and look fast).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::DIMENSION;

/// Width of the Gaussian kernel of every learner measured.
pub const WIDTH: f64 = 1.0;
/// An ALD threshold that keeps every anchor and no example.
pub const ALD_THRESHOLD: f64 = 0.01;

const JITTER: f64 = 0.02;

/// An input and its target.
pub type AnchorExample = ([f64; DIMENSION], f64);

/// `size` anchors, and examples near them.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorStream {
    /// The points that fill the dictionary, in order.
    pub anchors: Vec<AnchorExample>,
    /// Examples that follow, to be repeated; at least two near each anchor.
    pub examples: Vec<AnchorExample>,
}

impl AnchorStream {
    /// The stream for a dictionary of `size` points with `max(1024, 2·size)` examples; the same for
    /// the same `seed`.
    #[must_use]
    pub fn new(size: usize, seed: u64) -> Self {
        Self::with_examples(size, (2 * size).max(1024), seed)
    }

    /// The stream with as many examples as asked for.
    #[must_use]
    pub fn with_examples(size: usize, examples: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let anchors: Vec<AnchorExample> = (0..size)
            .map(|_| {
                let x = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
                (x, target(&x, &mut rng))
            })
            .collect();
        let examples = (0..examples)
            .map(|i| {
                let (anchor, _) = anchors[i % size];
                let x = anchor.map(|value| value + rng.random_range(-JITTER..JITTER));
                (x, target(&x, &mut rng))
            })
            .collect();
        Self { anchors, examples }
    }

    /// The examples over and over.
    #[must_use]
    pub fn repeat(&self) -> Repeat {
        Repeat { examples: self.examples.clone(), next: 0, sign: 1.0 }
    }
}

fn target(x: &[f64; DIMENSION], rng: &mut ChaCha8Rng) -> f64 {
    (x[0] + x[1] * x[2]).sin() * 0.5 + rng.random_range(-0.3..0.3)
}

/// A cyclic buffer of examples.
#[derive(Clone, Debug)]
pub struct Repeat {
    examples: Vec<AnchorExample>,
    next: usize,
    sign: f64,
}

impl Repeat {
    /// The next input and target; after the last comes the first, with the opposite target.
    #[inline]
    pub fn next_example(&mut self) -> (&[f64; DIMENSION], f64) {
        let (now, sign) = (self.next, self.sign);
        self.next += 1;
        if self.next == self.examples.len() {
            self.next = 0;
            self.sign = -sign;
        }
        let (x, y) = &self.examples[now];
        (x, sign * y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_turn_their_sign_when_the_examples_start_over() {
        let stream = AnchorStream::with_examples(4, 8, 3);
        let mut repeat = stream.repeat();
        let seen: Vec<AnchorExample> = (0..16)
            .map(|_| {
                let (x, y) = repeat.next_example();
                (*x, y)
            })
            .collect();
        assert_eq!(seen[..8], stream.examples);
        assert!((0..8).all(|i| seen[i + 8] == (seen[i].0, -seen[i].1)));
    }
}
