//! Points of a box: spread over all of it, or around one of them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Space;

/// Bases of the Halton sequence, one a dimension; a box of more uses them again with another shift.
const PRIMES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Gives points one generation after the other.
pub(super) struct PointSource<'s> {
    space: &'s Space,
    rng: ChaCha8Rng,
}

/// A position in the unit cube, and the values there.
type BoxPoint = (Vec<f64>, Vec<f64>);

impl<'s> PointSource<'s> {
    pub(super) fn new(space: &'s Space, seed: u64) -> Self {
        Self { space, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The point where the search begins, and others, spread evenly.
    pub(super) fn spread(&mut self, count: usize) -> Vec<BoxPoint> {
        let start = self.space.start();
        let (whole, others) = (vec![[0.0, 1.0]; start.len()], count.saturating_sub(1));
        std::iter::once(self.space.point(start)).chain(self.within(&whole, others)).collect()
    }

    /// Points in the box of that half width around one; what is outside the unit cube goes to its
    /// side, where the best point may well be.
    pub(super) fn around(&mut self, centre: &[f64], half_width: f64, count: usize) -> Vec<BoxPoint> {
        let sides: Vec<[f64; 2]> = centre.iter().map(|centre| [centre - half_width, centre + half_width]).collect();
        self.within(&sides, count)
    }

    fn within(&mut self, sides: &[[f64; 2]], count: usize) -> Vec<BoxPoint> {
        // 53 bits, in [0, 1).
        let shifts: Vec<f64> =
            sides.iter().map(|_| (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).collect();
        let at = |index: usize| {
            let coordinate = |(j, [low, high]): (usize, &[f64; 2])| {
                let share = (radical_inverse(index as u64 + 1, PRIMES[j % PRIMES.len()]) + shifts[j]).fract();
                (low + (high - low) * share).clamp(0.0, 1.0)
            };
            self.space.point(sides.iter().enumerate().map(coordinate).collect())
        };
        (0..count).map(at).collect()
    }
}

/// The digits of `index` in a base, mirrored at the point.
fn radical_inverse(mut index: u64, base: u64) -> f64 {
    let (mut value, mut unit) = (0.0, 1.0 / base as f64);
    while index > 0 {
        value += (index % base) as f64 * unit;
        index /= base;
        unit /= base as f64;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_mirrored() {
        let first: Vec<f64> = (1..8).map(|i| radical_inverse(i, 2)).collect();
        assert_eq!(first, [0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]);
        assert!((radical_inverse(5, 3) - (2.0 / 3.0 + 1.0 / 9.0)).abs() < 1e-15);
    }
}
