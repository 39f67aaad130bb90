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

/// Bins of a score.
pub(crate) const BINS: usize = 64;
/// Bets of the detector of any change.
pub(crate) const BETS: usize = 11;
/// Rows of memory of the histograms.
const MEMORIES: [f64; 3] = [32.0, 128.0, 512.0];
/// Cells of a histogram.
const CELLS: usize = 8;
/// Share of the stake that a histogram bets.
const STAKE: f64 = 0.9;
/// Weight that every cell of a histogram begins with and falls back to.
const PRIOR: f64 = 2.0;

/// Where the rank of a value lies, `0 ≤ low < high ≤ 1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankInterval {
    low: f64,
    high: f64,
}

/// Fixed bins with the counts of the values so far.
///
/// # Invariants
/// `edges` are in order, one fewer than the bins; `total` is the sum of the counts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RankBins {
    edges: Vec<f64>,
    counts: Vec<u64>,
    total: u64,
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
        Self { edges: (1..BINS).map(edge).collect(), counts: vec![0; BINS], total: 0 }
    }

    /// Counts a value, and tells nothing of it.
    pub(crate) fn count(&mut self, value: f64) {
        let bin = self.edges.partition_point(|edge| *edge < value);
        self.counts[bin] += 1;
        self.total += 1;
    }

    /// The sequential rank of a value, which is then counted. `O(64)`.
    pub(crate) fn rank(&mut self, value: f64) -> RankInterval {
        let bin = self.edges.partition_point(|edge| *edge < value);
        let below: u64 = self.counts[..bin].iter().sum();
        self.counts[bin] += 1;
        self.total += 1;
        let share = |count: u64| count as f64 / self.total as f64;
        RankInterval { low: share(below), high: share(below + self.counts[bin]) }
    }
}

impl Validate for RankBins {
    fn validate(&self) -> Result<(), Inconsistent> {
        let sizes = self.edges.len() + 1 == BINS && self.counts.len() == BINS;
        let ordered = self.edges.windows(2).all(|pair| pair[0] <= pair[1]);
        let total = self.counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        let counted = total == Some(self.total) && self.total < u64::MAX;
        Inconsistent::require(sizes && ordered && counted, "bins of a score", "its counts add up, and its edges rise")
    }
}

impl RankInterval {
    /// The mean of `2p − 1`.
    fn level(self) -> f64 {
        self.low + self.high - 1.0
    }

    /// The mean of the Legendre polynomial `(3 (2p − 1)² − 1)/2`.
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

    /// The share of the interval in each cell. Most intervals lie in one.
    fn shares(self) -> [f64; CELLS] {
        let cell = |p: f64| ((p * CELLS as f64) as usize).min(CELLS - 1);
        let (first, last) = (cell(self.low), cell(self.high));
        let mut shares = [0.0; CELLS];
        if first == last {
            shares[first] = 1.0;
            return shares;
        }
        let (mut from, width) = (self.low, self.high - self.low);
        for (cell, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let to = self.high.min((cell + 1) as f64 / CELLS as f64);
            *share = (to - from) / width;
            from = to;
        }
        shares
    }

    /// Means of the fixed bets: level, spread, and far out at both ends.
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

/// A score with its bins, and what its bets have won.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BettedScore {
    pub(crate) bins: RankBins,
    /// `R` of each bet.
    pub(crate) wealth: [f64; BETS],
    /// `max_s Π_{i > s} f(p_i)` of each bet, at least 1 before a bet, and the row `s`.
    product: [f64; BETS],
    since: [u64; BETS],
    shapes: [[f64; CELLS]; 3],
}

impl BettedScore {
    /// Begins behind `row`.
    pub(crate) fn new(bins: RankBins, row: u64) -> Self {
        Self { bins, wealth: [0.0; BETS], product: [1.0; BETS], since: [row; BETS], shapes: [[PRIOR; CELLS]; 3] }
    }

    /// Begins anew after an alarm in `row`, with the counts that it has.
    pub(crate) fn restart(&mut self, row: u64) {
        (self.wealth, self.product, self.since) = ([0.0; BETS], [1.0; BETS], [row; BETS]);
        self.shapes = [[PRIOR; CELLS]; 3];
    }

    /// `R ← (R + 1) f̄` of all bets, by the value of `row`; their mean.
    pub(crate) fn bet(&mut self, value: f64, row: u64) -> f64 {
        let p = self.bins.rank(value);
        let shares = p.shares();
        let mut bets = [0.0; BETS];
        bets[..8].copy_from_slice(&p.fixed_bets());
        for ((bet, shape), memory) in bets[8..].iter_mut().zip(&mut self.shapes).zip(MEMORIES) {
            let sum: f64 = shape.iter().sum();
            let there: f64 = shape.iter().zip(shares).map(|(weight, share)| weight * share).sum();
            *bet = 1.0 - STAKE + STAKE * CELLS as f64 * there / sum;
            let kept = 1.0 - 1.0 / memory;
            for (weight, share) in shape.iter_mut().zip(shares) {
                *weight = kept * *weight + (1.0 - kept) * PRIOR + share;
            }
        }
        for k in 0..BETS {
            self.wealth[k] = (self.wealth[k] + 1.0) * bets[k];
            if self.product[k] <= 1.0 {
                (self.product[k], self.since[k]) = (1.0, row - 1);
            }
            self.product[k] *= bets[k];
        }
        self.mean()
    }

    /// The mean of `R` of all bets.
    pub(crate) fn mean(&self) -> f64 {
        self.wealth.iter().sum::<f64>() / BETS as f64
    }

    /// The row from which on the bet that has won most has won most: the likeliest of the change.
    pub(crate) fn since(&self) -> u64 {
        let best = (0..BETS).max_by(|a, b| self.wealth[*a].total_cmp(&self.wealth[*b]));
        best.map_or(0, |best| self.since[best]) + 1
    }
}

impl Validate for BettedScore {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.bins.validate()?;
        let positive = self.wealth.iter().chain(&self.product).all(|wealth| wealth.is_finite() && *wealth >= 0.0);
        let shapes = self.shapes.iter().flatten().all(|weight| weight.is_finite() && *weight > 0.0);
        Inconsistent::require(positive && shapes, "bets on a score", "they have not lost more than they had")
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
        let shares = RankInterval { low: 0.25, high: 0.75 }.shares();
        assert_eq!(shares, [0.0, 0.0, 0.25, 0.25, 0.25, 0.25, 0.0, 0.0]);
    }
}
