//! Sums over the later half of the rounds, or over any window of them, for a stream whose length
//! nobody knows.
//!
//! The rounds are summed in stretches, of one round each while there are few. When there are too
//! many stretches, neighbours are joined. At the end the stretches of a window are added up. So a
//! window is exact up to 16,384 rounds, and beyond that begins less than n/8192 rounds early. The
//! result depends on n alone, and nothing is subtracted, so a bad start does not spoil it.

/// Stretches held at most.
const CAPACITY: usize = 1 << 14;

/// A value that can be summed stretch by stretch.
pub(crate) trait Sum: Clone + Default {
    /// Takes in the stretch that follows.
    fn merge(&mut self, later: &Self);
}

#[derive(Debug, Default)]
pub(crate) struct Stretches<S> {
    /// Rounds in a whole stretch, as a power of two.
    doublings: u32,
    stretches: Vec<S>,
    /// The stretch that is not whole yet, and its rounds.
    last: S,
    filled: usize,
    rounds: usize,
}

impl<S: Sum> Stretches<S> {
    /// Takes in a round.
    pub(crate) fn record(&mut self, round: impl FnOnce(&mut S)) {
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

    /// Rounds taken in.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds
    }

    /// The rounds after `after` and not after `until`: how many rounds are before them, and their
    /// sums. Both ends are those of stretches, so that the window begins, and ends unless it ends
    /// with the last round, less than a stretch early.
    pub(crate) fn between(&self, after: usize, until: usize) -> (usize, S) {
        let first = (after >> self.doublings).min(self.stretches.len());
        let end = (until >> self.doublings).clamp(first, self.stretches.len());
        let mut sum = S::default();
        self.stretches[first..end].iter().for_each(|later| sum.merge(later));
        if until >= self.rounds {
            sum.merge(&self.last);
        }
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
            let mut halves = Stretches::<Rounds>::default();
            (0..n).for_each(|round| halves.record(|sum| sum.0.push(round)));
            assert!(halves.stretches.len() <= CAPACITY);
            let (first, half) = halves.between(n / 2, n);
            assert_eq!(half.0, (first..n).collect::<Vec<_>>());
            assert!(first <= n / 2 && n / 2 - first <= n / 8192 && (n > CAPACITY || first == n / 2), "{n}: {first}");
            let (first, window) = halves.between(n / 5, n / 3);
            let end = window.0.last().map_or(first, |last| last + 1);
            assert_eq!(window.0, (first..end).collect::<Vec<_>>());
            assert!(n / 5 - first <= n / 8192 && n / 3 - end <= n / 8192, "{n}: {first} to {end}");
        }
    }
}
