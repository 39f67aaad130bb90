//! Ten points of the loss curve from a stream whose length nobody knows.
//!
//! Every round is recorded while there are few; when the memory is full, every second record goes
//! and only every second round is recorded from then on. At the end the ten are picked: round
//! `⌊kn/10⌋`, k = 1 … 10, exact up to 65,536 rounds and beyond that rounded down to a multiple of a
//! power of two, less than n/32,768 away. The result depends on n alone, so a stream gives what a
//! file gives.

/// Records held at most.
const CAPACITY: usize = 1 << 16;
/// Points of the curve.
const POINTS: usize = 10;

/// A point of the loss curve.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Checkpoint {
    pub(crate) t: usize,
    pub(crate) cumulative_loss: f64,
    pub(crate) dictionary_size: usize,
}

#[derive(Debug)]
pub(crate) struct Trace {
    stride: usize,
    records: Vec<Checkpoint>,
    last: Option<Checkpoint>,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { stride: 1, records: Vec::new(), last: None }
    }

    /// Takes the next round; rounds come in order, from 1.
    pub(crate) fn record(&mut self, round: Checkpoint) {
        self.last = Some(round);
        if !round.t.is_multiple_of(self.stride) {
            return;
        }
        if self.records.len() == CAPACITY {
            self.stride *= 2;
            let stride = self.stride;
            self.records.retain(|record| record.t.is_multiple_of(stride));
            if !round.t.is_multiple_of(stride) {
                return;
            }
        }
        self.records.push(round);
    }

    /// The first checkpoint after round `t` of `rounds`, or the last round.
    pub(crate) fn next_checkpoint(rounds: usize, t: usize) -> usize {
        let points = POINTS.min(rounds);
        let tenth = |k: usize| (rounds as u128 * k as u128 / points.max(1) as u128) as usize;
        (1..=points).map(tenth).find(|checkpoint| *checkpoint > t).unwrap_or(rounds)
    }

    /// Every round that is kept, at most 65,536.
    #[cfg(feature = "plots")]
    pub(crate) fn records(&self) -> &[Checkpoint] {
        &self.records
    }

    /// Ten checkpoints, the last of them the last round; one for each round if there are fewer.
    pub(crate) fn checkpoints(&self) -> Vec<Checkpoint> {
        let Some(last) = self.last else { return Vec::new() };
        let points = POINTS.min(last.t);
        let mut chosen: Vec<Checkpoint> = (1..points)
            .filter_map(|k| {
                let t = (last.t as u128 * k as u128 / points as u128) as usize;
                self.records.get((t / self.stride).wrapping_sub(1)).copied()
            })
            .collect();
        chosen.push(last);
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(n: usize) -> Vec<usize> {
        let mut trace = Trace::new();
        for t in 1..=n {
            trace.record(Checkpoint { t, cumulative_loss: t as f64, dictionary_size: t });
            assert!(trace.records.len() <= CAPACITY);
        }
        let checkpoints = trace.checkpoints();
        assert!(checkpoints.iter().all(|point| point.cumulative_loss == point.t as f64));
        checkpoints.iter().map(|point| point.t).collect()
    }

    #[test]
    fn tenths_of_short_streams_are_exact() {
        assert_eq!(rounds(0), [0; 0]);
        assert_eq!(rounds(3), [1, 2, 3]);
        assert_eq!(rounds(10), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(rounds(25), [2, 5, 7, 10, 12, 15, 17, 20, 22, 25]);
        for n in [65_530, 65_536] {
            assert_eq!(rounds(n), (1..=10).map(|k| k * n / 10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn tenths_of_long_streams_are_near() {
        for n in [65_537, 65_538, 271_617, 1_000_003] {
            let chosen = rounds(n);
            assert_eq!((chosen.len(), chosen[9]), (10, n));
            for (k, t) in chosen.iter().enumerate() {
                let exact = (k + 1) * n / 10;
                assert!(*t <= exact && exact - t <= n / 32_768, "{n}: {t} for {exact}");
            }
        }
    }
}
