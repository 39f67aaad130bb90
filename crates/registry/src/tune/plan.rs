//! Plan of a search: the number of trials, and the rows of each.

/// The plan of a search: 64 trials, seed 0 and one thread unless told otherwise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    rungs: Vec<usize>,
    pub(super) trials: usize,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Plan {
    /// A prefix is so many times as long as the one before it.
    pub(super) const RATIO: usize = 3;
    /// Fewest rows of a prefix that say anything.
    const FEWEST: usize = 300;
    /// Most prefixes.
    const MOST: usize = 3;
    /// Half the width of the box around the best point, in units of the whole box: on the prefixes,
    /// the whole stream, and there once more.
    const WIDTHS: [f64; 4] = [0.25, 0.15, 0.1, 0.05];

    /// For a stream of this length: the whole, a third and a ninth of it, as far as these have 300
    /// rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let shorter = |rows: &usize| Some(rows.div_ceil(Self::RATIO)).filter(|rows| *rows >= Self::FEWEST);
        let mut rungs: Vec<usize> = std::iter::successors(Some(rows), shorter).take(Self::MOST).collect();
        rungs.reverse();
        Self { rungs, trials: 64, seed: 0, threads: 1 }
    }

    /// The same with prefixes of whole blocks of so many rows, which is how their rows are learnt.
    #[must_use]
    pub fn in_blocks(self, block: usize) -> Self {
        let last = self.rungs.last().copied().unwrap_or(0);
        let mut rungs: Vec<usize> =
            self.rungs.iter().map(|rows| rows.next_multiple_of(block.max(1)).min(last)).collect();
        rungs.dedup();
        Self { rungs, ..self }
    }

    /// The same for scores that leave out so many rows at the beginning: prefixes have 300 more.
    #[must_use]
    pub fn after(self, skip: usize) -> Self {
        let last = self.rungs.last().copied().unwrap_or(0);
        let rungs = self.rungs.into_iter().filter(|rows| *rows == last || *rows >= skip + Self::FEWEST).collect();
        Self { rungs, ..self }
    }

    /// The same with so many points, at least 1.
    #[must_use]
    pub fn trials(self, trials: usize) -> Self {
        Self { trials: trials.max(1), ..self }
    }

    /// The same with another seed of the points.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same on so many threads, at least 1; the result is the same.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The lengths of the prefixes; the last is that of the stream.
    #[must_use]
    pub fn rungs(&self) -> &[usize] {
        &self.rungs
    }

    /// The number of points that are spread over the box, and the generations around the best. A
    /// generation has its prefix, its number of points, and half its width.
    pub(super) fn generations(&self) -> (usize, Vec<(usize, usize, f64)>) {
        let rungs = self.rungs.len();
        // One on each prefix, two on the whole stream.
        let generations = rungs + 1;
        let spread = self.trials.div_ceil(2);
        let (each, more) = ((self.trials - spread) / generations, (self.trials - spread) % generations);
        let widths = &Self::WIDTHS[Self::WIDTHS.len() - generations..];
        let around =
            (0..generations).map(|i| (i.min(rungs - 1), each + usize::from(generations - i <= more), widths[i]));
        (spread, around.collect())
    }

    /// The largest number of times that a score is computed.
    #[must_use]
    pub fn passes(&self) -> usize {
        let (spread, around) = self.generations();
        let (mut chosen, mut passes) = (spread, 0);
        for rung in 0..self.rungs.len() {
            chosen += around.iter().filter(|(of, ..)| *of == rung).map(|(_, count, _)| count).sum::<usize>();
            passes += chosen;
            chosen = chosen.div_ceil(Self::RATIO);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_thirds_of_a_stream_that_is_long_enough() {
        assert_eq!(Plan::new(10_000).rungs(), [1112, 3334, 10_000]);
        assert_eq!(Plan::new(1000).rungs(), [334, 1000]);
        assert_eq!(Plan::new(500).rungs(), [500]);
        assert_eq!(Plan::new(10_000).in_blocks(256).rungs(), [1280, 3584, 10_000]);
        assert_eq!(Plan::new(1000).in_blocks(1024).rungs(), [1000]);
        assert_eq!(Plan::new(10_000).after(1000).rungs(), [3334, 10_000]);
        assert_eq!(Plan::new(10_000).after(9999).rungs(), [10_000]);
    }

    #[test]
    fn generations_add_up() {
        for trials in 1..100 {
            for rows in [100, 1000, 10_000] {
                let (spread, around) = Plan::new(rows).trials(trials).generations();
                assert_eq!(spread + around.iter().map(|(_, count, _)| count).sum::<usize>(), trials);
            }
        }
    }
}
