//! Bets of mean 1 on sequential ranks, and the sums of Shiryaev and Roberts that they move.
//!
//! A value falls into one of 64 bins, which are fixed; only counts are kept. With `n` values before
//! it, `b` of them in lower bins and `c` in its own, its rank lies in
//!
//! ```text
//! [b, b + c + 1]/(n + 1)
//! ```
//!
//! A rank drawn uniformly from there is uniform in [0, 1], and independent of all earlier ones,
//! while rows are exchangeable, whatever their law. A bet `f ≥ 0` has `∫₀¹ f(p) dp = 1`, so its
//! mean `f̄` over the interval has the expectation 1 as well, and `R ← (R + 1) f̄` makes `R_t − t`
//! a martingale: the first `t` with `R ≥ N` comes after `N` rows or more in the mean. Nothing is
//! drawn: what is constant wins and loses nothing, and `E ln f̄ ≥ E ln f` where a bet is right.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{LANES, Lane};

/// Bins of a score: eight blocks of eight.
pub(crate) const BINS: usize = LANES * LANES;
/// Cells of a histogram.
pub(crate) const CELLS: usize = 8;

/// Where the rank of a value lies, `0 ≤ low < high ≤ 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankInterval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Fixed bins with the counts of the values so far.
///
/// A value is looked for in two steps of eight comparisons that need no branch: among the last
/// edges of the blocks, then in its block. So a rank reads four cache lines of eighteen.
///
/// # Invariants
/// The edges are in order, and infinity stands behind the last; `last` holds the last of each
/// block. `up_to` counts the values in each block and those before, so that its last is the number
/// of all.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RankBins {
    last: Lane,
    up_to: [u64; LANES],
    blocks: [Block; LANES],
}

/// Eight bins: their upper edges, and the values in each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Block {
    edges: Lane,
    counts: [u64; LANES],
}

/// Number of edges below a value.
#[inline(always)]
fn below(edges: &Lane, value: f64) -> usize {
    edges.0.iter().map(|edge| u64::from(*edge < value)).sum::<u64>() as usize
}

impl RankBins {
    /// Bins between the quantiles `1/64 … 63/64` of values (linear between two), without counts.
    pub(crate) fn between_quantiles(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let last = (values.len() - 1) as f64;
        let edge = |i: usize| {
            let place = last * i as f64 / BINS as f64;
            let (low, part) = (place as usize, place.fract());
            let high = (low + 1).min(values.len() - 1);
            values[low] + part * (values[high] - values[low])
        };
        let mut blocks = [Block { edges: Lane([f64::INFINITY; LANES]), counts: [0; LANES] }; LANES];
        (1..BINS).for_each(|i| blocks[(i - 1) / LANES].edges.0[(i - 1) % LANES] = edge(i));
        Self { last: Lane(blocks.map(|block| block.edges.0[LANES - 1])), up_to: [0; LANES], blocks }
    }

    /// Counts a value; how many are in lower bins, how many in these and its own, and in all.
    #[inline(always)]
    pub(crate) fn take(&mut self, value: f64) -> [u64; 3] {
        // Infinity, behind the last edge, is not below any value.
        let number = below(&self.last, value).min(LANES - 1);
        let Block { edges, counts } = &mut self.blocks[number];
        let place = below(edges, value).min(LANES - 1);
        let from: u64 = counts.iter().enumerate().map(|(i, count)| if i < place { 0 } else { *count }).sum();
        let low = self.up_to[number] - from;
        counts[place] += 1;
        let high = low + counts[place];
        self.up_to.iter_mut().enumerate().for_each(|(i, count)| *count += u64::from(i >= number));
        [low, high, self.up_to[LANES - 1]]
    }

    /// Counts a value, and tells nothing of it.
    pub(crate) fn count(&mut self, value: f64) {
        self.take(value);
    }

    /// The sequential rank of a value, which is then counted. `O(16)`.
    #[inline(always)]
    pub(crate) fn rank(&mut self, value: f64) -> RankInterval {
        let [low, high, all] = self.take(value).map(|count| count as f64);
        RankInterval { low: low / all, high: high / all }
    }
}

impl Validate for RankBins {
    fn validate(&self) -> Result<(), Inconsistent> {
        let edges = self.blocks.iter().flat_map(|block| block.edges.0);
        let ordered = edges.clone().is_sorted() && edges.last() == Some(f64::INFINITY);
        let last = self.blocks.iter().zip(self.last.0).all(|(block, last)| block.edges.0[LANES - 1] == last);
        let (mut sum, mut counted) = (Some(0_u64), true);
        for (block, up_to) in self.blocks.iter().zip(self.up_to) {
            sum = block.counts.iter().try_fold(sum.unwrap_or(0), |sum, count| sum.checked_add(*count));
            counted &= sum == Some(up_to);
        }
        let counted = counted && sum.is_some_and(|sum| sum < u64::MAX);
        Inconsistent::require(ordered && last && counted, "bins of a score", "its counts add up, and its edges rise")
    }
}

impl RankInterval {
    /// The mean of `2p − 1`.
    fn level(self) -> f64 {
        self.low + self.high - 1.0
    }

    /// The mean of the Legendre polynomial `(3 (2p − 1)² − 1)/2`.
    #[cfg(test)]
    fn spread(self) -> f64 {
        let [a, b] = [self.low, self.high].map(|p| 2.0 * p - 1.0);
        0.5 * (a * a + a * b + b * b) - 0.5
    }

    /// The interval of `1 − p`.
    fn mirrored(self) -> Self {
        Self { low: 1.0 - self.high, high: 1.0 - self.low }
    }

    /// The mean of `½ p^(−½)`: `(√high − √low)/(high − low)`, without a difference.
    fn low_end(self) -> f64 {
        1.0 / (self.low.sqrt() + self.high.sqrt())
    }

    /// The mean of `¼ p^(−¾)`, likewise.
    fn far_low_end(self) -> f64 {
        let [a, b] = [self.low, self.high].map(f64::sqrt);
        1.0 / ((a.sqrt() + b.sqrt()) * (a + b))
    }

    /// The share of the interval that lies in each cell of eight.
    #[cfg(test)]
    pub(crate) fn shares(self) -> [f64; CELLS] {
        let inverse = 1.0 / (self.high - self.low);
        std::array::from_fn(|cell| {
            let [from, to] = [cell, cell + 1].map(|edge| edge as f64 / CELLS as f64);
            (self.high.min(to) - self.low.max(from)).max(0.0) * inverse
        })
    }

    /// Means of the fixed bets on any change: level, spread, and far out at both ends.
    #[cfg(test)]
    pub(crate) fn fixed_bets(self) -> [f64; 8] {
        let (level, spread) = (self.level(), self.spread());
        [
            1.0 + 0.5 * level,
            1.0 - 0.5 * level,
            1.0 + 0.95 * level,
            1.0 - 0.95 * level,
            1.0 + 0.9 * spread,
            1.0 - 0.9 * spread,
            self.far_low_end(),
            self.mirrored().far_low_end(),
        ]
    }

    /// Means of the bets on a rise.
    pub(crate) fn rise_bets(self) -> [f64; 6] {
        let tilt = |size: f64| 1.0 + size * self.level();
        let above = self.mirrored();
        [tilt(0.25), tilt(0.5), tilt(0.75), tilt(0.95), above.far_low_end(), above.low_end()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means over an interval against sums of the bets at points in it, fine at both ends, where
    /// powers are large; over all ranks they are 1.
    #[test]
    fn bets_are_means_over_an_interval() {
        // `above` is `1 − p`, which has no digits left where p is near 1.
        let at = |p: f64, above: f64| {
            let (q, end) = (2.0 * p - 1.0, |p: f64, power: f64| (1.0 - power) * p.powf(-power));
            let legendre = 1.5 * q * q - 0.5;
            let fixed = [0.5 * q, -0.5 * q, 0.95 * q, -0.95 * q, 0.9 * legendre, -0.9 * legendre].map(|bet| 1.0 + bet);
            let rises = [0.25, 0.5, 0.75, 0.95].map(|size| 1.0 + size * q);
            let far = [end(p, 0.75), end(above, 0.75)];
            [&fixed[..], &far, &rises, &[end(above, 0.75), end(above, 0.5)]].concat()
        };
        for (low, high) in [(0.0, 1.0), (0.0, 0.01), (0.3, 0.31), (0.25, 1.0), (0.999, 1.0)] {
            let (n, width) = (20_000, high - low);
            let mut means = [0.0; 14];
            for i in 0..n {
                // s⁸ from the low end, and the same from the high one, each over half of it.
                let s = (f64::from(i) + 0.5) / f64::from(n);
                let (step, density) = (0.5 * width * s.powi(8), 4.0 * s.powi(7) / f64::from(n));
                let (first, last) = (at(low + step, 1.0 - low - step), at(high - step, 1.0 - high + step));
                let both = first.into_iter().zip(last);
                means.iter_mut().zip(both).for_each(|(mean, (a, b))| *mean += density * (a + b));
            }
            let p = RankInterval { low, high };
            let told = [&p.fixed_bets()[..], &p.rise_bets()].concat();
            for (k, (mean, told)) in means.iter().zip(&told).enumerate() {
                assert!((mean / told - 1.0).abs() < 2e-3, "bet {k} over {low}..{high}: {told}, {mean}");
                assert!(width < 1.0 || (told - 1.0).abs() < 1e-12, "bet {k}: {told}");
            }
            assert!((p.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(RankInterval { low: 0.25, high: 0.75 }.shares(), [0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0, 0.0]);
    }

    /// Ranks against a search over the edges, of values between, at and beyond them.
    #[test]
    fn two_steps_find_the_bin() {
        let mut values: Vec<f64> = (0..300).map(|t| f64::from(t * 37 % 101).sqrt()).collect();
        let mut bins = RankBins::between_quantiles(&mut values);
        let edges: Vec<f64> = bins.blocks.iter().flat_map(|block| block.edges.0).take(BINS - 1).collect();
        let mut counts = [0_u64; BINS];
        let beyond = [-1e9, 1e9, f64::INFINITY, f64::NAN, -0.0];
        for (t, value) in values.iter().chain(&edges).chain(&beyond).cycle().take(3000).enumerate() {
            let bin = edges.partition_point(|edge| *edge < *value);
            let below: u64 = counts[..bin].iter().sum();
            counts[bin] += 1;
            let p = bins.rank(*value);
            let n = (t + 1) as f64;
            assert_eq!((p.low, p.high), (below as f64 / n, (below + counts[bin]) as f64 / n), "{value}");
            assert_eq!(bins.validate(), Ok(()));
        }
        bins.up_to[3] += 1;
        assert!(bins.validate().is_err());
    }
}
