//! Sums over all rounds and over the later half of them, for a stream whose length nobody knows.
//!
//! The rounds are summed in stretches, of one round each while there are few. When there are too many stretches, neighbours are joined.
//! At the end the stretches from the middle on are added up. So the half is exact up to 16,384 rounds, and beyond that begins
//! less than n/8192 rounds early. The result depends on n alone, and nothing is subtracted, so a bad start does not spoil it.

/// Stretches held at most.
const CAPACITY: usize = 1 << 14;

/// What can be summed stretch by stretch.
pub(super) trait Sum: Clone + Default {
    /// Takes in the stretch that follows.
    fn merge(&mut self, later: &Self);
}

#[derive(Debug, Default)]
pub(super) struct Halves<S> {
    /// Rounds in a whole stretch, as a power of two.
    doublings: u32,
    stretches: Vec<S>,
    /// The stretch that is not whole yet, and its rounds.
    last: S,
    filled: usize,
    rounds: usize,
}

impl<S: Sum> Halves<S> {
    /// Takes in a round.
    pub(super) fn record(&mut self, round: impl FnOnce(&mut S)) {
        round(&mut self.last);
        self.rounds += 1;
        self.filled += 1;
        if self.filled == 1 << self.doublings {
            if self.stretches.len() == CAPACITY {
                self.double();
            }
            if self.filled == 1 << self.doublings {
                self.stretches.push(std::mem::take(&mut self.last));
                self.filled = 0;
            }
        }
    }

    fn double(&mut self) {
        let joined = self.stretches.chunks(2).map(|pair| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|later| sum.merge(later));
            sum
        });
        self.stretches = joined.collect();
        self.doublings += 1;
    }

    /// The later half: how many rounds are before it, and its sums.
    pub(super) fn later(&self) -> (usize, S) {
        let first = (self.rounds / 2) >> self.doublings;
        let mut sum = S::default();
        self.stretches[first.min(self.stretches.len())..].iter().for_each(|later| sum.merge(later));
        sum.merge(&self.last);
        (first << self.doublings, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Rounds(Vec<usize>);

    impl Sum for Rounds {
        fn merge(&mut self, later: &Self) {
            self.0.extend(&later.0);
        }
    }

    #[test]
    fn the_later_half_is_what_it_says() {
        for n in [0, 1, 2, 3, 100, CAPACITY, CAPACITY + 1, 2 * CAPACITY + 1, 5 * CAPACITY + 7] {
            let mut halves = Halves::<Rounds>::default();
            (0..n).for_each(|round| halves.record(|sum| sum.0.push(round)));
            assert!(halves.stretches.len() <= CAPACITY);
            let (first, half) = halves.later();
            assert_eq!(half.0, (first..n).collect::<Vec<_>>());
            assert!(first <= n / 2 && n / 2 - first <= n / 8192 && (n > CAPACITY || first == n / 2), "{n}: {first}");
        }
    }
}
