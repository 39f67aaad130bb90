//! Bets of mean 1 on sequential ranks, and the sums of Shiryaev and Roberts that they move.
//!
//! A value falls into one of 64 bins, which are fixed; only counts are kept. With `n` values before
//! it, `b` of them in lower bins and `c` in its own, and `U` uniform,
//!
//! ```text
//! p = (b + U (c + 1))/(n + 1)
//! ```
//!
//! is uniform and independent of all earlier ones while rows are exchangeable, whatever their law.
//! A bet `f ≥ 0` has `∫₀¹ f(p) dp = 1`, so `R ← (R + 1) f(p)` makes `R_t − t` a martingale: the
//! first `t` with `R ≥ N` comes after `N` rows or more in the mean.

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
/// No rank is nearer to an end.
const LEAST: f64 = 1e-12;

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

    /// The sequential rank of a value by a uniform `u`, which is then counted. `O(64)`.
    pub(crate) fn rank(&mut self, value: f64, u: f64) -> f64 {
        let bin = self.edges.partition_point(|edge| *edge < value);
        let below: u64 = self.counts[..bin].iter().sum();
        let p = (below as f64 + u * (self.counts[bin] + 1) as f64) / (self.total + 1) as f64;
        self.counts[bin] += 1;
        self.total += 1;
        p
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

/// Values of the fixed bets at a rank: level, spread, and far out at both ends.
pub(crate) fn fixed_bets(p: f64) -> [f64; 8] {
    let q = 2.0 * p - 1.0;
    let legendre = 1.5 * q * q - 0.5;
    let far = |share: f64| {
        let root = share.max(LEAST).sqrt();
        0.25 / (root * root.sqrt())
    };
    [
        1.0 + 0.5 * q,
        1.0 - 0.5 * q,
        1.0 + 0.95 * q,
        1.0 - 0.95 * q,
        1.0 + 0.9 * legendre,
        1.0 - 0.9 * legendre,
        far(p),
        far(1.0 - p),
    ]
}

/// Values of the bets on a rise at a rank.
pub(crate) fn rise_bets(p: f64) -> [f64; 6] {
    let (q, root) = (2.0 * p - 1.0, (1.0 - p).max(LEAST).sqrt());
    let tilt = |size: f64| 1.0 + size * q;
    [tilt(0.25), tilt(0.5), tilt(0.75), tilt(0.95), 0.25 / (root * root.sqrt()), 0.5 / root]
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

    /// `R ← (R + 1) f(p)` of all bets, by the value of `row`; their mean.
    pub(crate) fn bet(&mut self, value: f64, u: f64, row: u64) -> f64 {
        let p = self.bins.rank(value, u);
        let cell = ((p * CELLS as f64) as usize).min(CELLS - 1);
        let mut bets = [0.0; BETS];
        bets[..8].copy_from_slice(&fixed_bets(p));
        for ((bet, shape), memory) in bets[8..].iter_mut().zip(&mut self.shapes).zip(MEMORIES) {
            let sum: f64 = shape.iter().sum();
            *bet = 1.0 - STAKE + STAKE * CELLS as f64 * shape[cell] / sum;
            let kept = 1.0 - 1.0 / memory;
            shape.iter_mut().for_each(|weight| *weight = kept * *weight + (1.0 - kept) * PRIOR);
            shape[cell] += 1.0;
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

    /// Means of the bets on a grid that is fine at both ends, where powers are large.
    #[test]
    fn bets_have_mean_one() {
        let mean = |bet: &dyn Fn(f64) -> f64| {
            // p = s⁸/2 and its mirror make both powers smooth.
            let n = 20_000;
            let at = |i: i32| {
                let s = (f64::from(i) + 0.5) / f64::from(n);
                let (p, density) = (0.5 * s.powi(8), 4.0 * s.powi(7));
                density * (bet(p) + bet(1.0 - p))
            };
            (0..n).map(at).sum::<f64>() / f64::from(n)
        };
        for k in 0..8 {
            let one = mean(&|p| fixed_bets(p)[k]);
            assert!((one - 1.0).abs() < 2e-3, "bet {k}: {one}");
        }
        for k in 0..6 {
            let one = mean(&|p| rise_bets(p)[k]);
            assert!((one - 1.0).abs() < 2e-3, "bet on a rise {k}: {one}");
        }
    }
}
