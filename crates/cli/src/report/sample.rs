//! A bounded sample of the rounds of a stream whose length nobody knows.

/// All rounds while they fit; then every second, fourth, … on average, told by a hash of their
/// number. So the choice depends on the round alone, is the same in every run, and has no period
/// that the stream might share.
#[derive(Clone, Debug)]
pub(crate) struct RoundSample<T> {
    capacity: usize,
    /// Rounds are kept whose hash ends in so many zeros.
    level: u32,
    kept: Vec<(usize, T)>,
}

impl<T> RoundSample<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, level: 0, kept: Vec::new() }
    }

    /// Takes in a round, or not; rounds come in order.
    pub(crate) fn offer(&mut self, round: usize, value: impl FnOnce() -> T) {
        if hash(round).trailing_zeros() < self.level {
            return;
        }
        self.kept.push((round, value()));
        while self.kept.len() > self.capacity {
            self.level += 1;
            let level = self.level;
            self.kept.retain(|(round, _)| hash(*round).trailing_zeros() >= level);
        }
    }

    /// The rounds kept that are after `after` and not after `until`, oldest first.
    pub(crate) fn between(&self, after: usize, until: usize) -> &[(usize, T)] {
        let first = self.kept.partition_point(|(round, _)| *round <= after);
        let end = self.kept.partition_point(|(round, _)| *round <= until);
        &self.kept[first..end.max(first)]
    }

    /// All rounds kept, oldest first.
    #[cfg(any(test, feature = "plots"))]
    pub(crate) fn all(&self) -> &[(usize, T)] {
        &self.kept
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014), whose last bits are as good as any.
fn hash(round: usize) -> u64 {
    let mut z = (round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_of_a_sample_is_that_of_all_to_its_error() {
        let mut uniform = 1_u64;
        let mut next = || {
            uniform = uniform.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (uniform >> 40) as f64 / (1 << 24) as f64
        };
        let (mut sample, mut all) = (RoundSample::new(20_000), Vec::new());
        for round in 1..=200_000 {
            let positive = next() < 0.2;
            let score = next() + next() + if positive { 0.4 } else { 0.0 };
            all.push((score, positive, 1.0));
            sample.offer(round, || (score, positive, 1.0));
        }
        let exact = mercer_learners::area_under_curve(&mut all).unwrap();
        let mut kept: Vec<(f64, bool, f64)> = sample.all().iter().map(|(_, round)| *round).collect();
        let rarer = kept.iter().filter(|round| round.1).count() as f64;
        let area = mercer_learners::area_under_curve(&mut kept).unwrap();
        assert!((area - exact).abs() < 3.0 * (exact * (1.0 - exact) / rarer).sqrt(), "{area} for {exact}");
    }

    #[test]
    fn all_are_kept_while_they_fit_and_then_a_fair_share() {
        let mut sample = RoundSample::new(1000);
        for round in 1..=1000 {
            sample.offer(round, || round * 2);
        }
        assert!(sample.all().iter().enumerate().all(|(i, kept)| *kept == (i + 1, 2 * i + 2)));
        assert_eq!((sample.between(10, 20).len(), sample.between(10, 20)[0].0), (10, 11));
        for round in 1001..=100_000 {
            sample.offer(round, || round * 2);
        }
        let kept = sample.all().len();
        assert!((350..=1000).contains(&kept), "{kept}");
        // Neither parity nor half of the stream is preferred.
        for part in
            [sample.all().iter().filter(|(round, _)| round % 2 == 0).count(), sample.between(50_000, 100_000).len()]
        {
            assert!((part as f64 / kept as f64 - 0.5).abs() < 0.1, "{part} of {kept}");
        }
    }
}
