//! What bets on scores have won, eight scores side by side.
//!
//! All arithmetic is that of one score in each lane, so the bits are those of a score alone and of
//! every machine.

use mercer_core::{Inconsistent, Validate};
use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::bets::{CELLS, RankBins};

/// Bets of the detector of any change: eight that are fixed, and three histograms.
pub(crate) const BETS: usize = FIXED + MEMORIES.len();
const FIXED: usize = 8;
/// Rows of memory of the histograms.
const MEMORIES: [f64; 3] = [32.0, 128.0, 512.0];
/// Share of the stake that a histogram bets.
const STAKE: f64 = 0.9;
/// Weight that every cell of a histogram begins with and falls back to.
const PRIOR: f64 = 2.0;

/// Scores with their bins, and what their bets have won.
///
/// # Invariants
/// There is a block of eight for every eight scores, and for what is left.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BettedScores {
    bins: Vec<RankBins>,
    won: Vec<EightScores>,
}

/// What the bets on eight scores have won; lanes without a score mean nothing.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct EightScores {
    /// `R` of each bet.
    wealth: [Lane; BETS],
    /// `max_s Π_{i > s} f(p_i)` of each bet, at least 1 before a bet, and the row `s`.
    product: [Lane; BETS],
    since: [Lane; BETS],
    shapes: [[Lane; CELLS]; MEMORIES.len()],
    /// The mean of `wealth`.
    mean: Lane,
}

/// Values below those of eight scores, up to these, and in all: where their ranks lie.
#[derive(Clone, Copy)]
struct EightRanks {
    low: Lane,
    high: Lane,
    all: Lane,
}

impl EightRanks {
    /// All ranks.
    const ANYWHERE: Self = Self { low: Lane::ZERO, high: Lane([1.0; LANES]), all: Lane([1.0; LANES]) };

    #[inline(always)]
    fn put(&mut self, lane: usize, counts: [u64; 3]) {
        // Conversions of signed numbers are one instruction each.
        let [low, high, all] = counts.map(|count| count as i64 as f64);
        (self.low.0[lane], self.high.0[lane], self.all.0[lane]) = (low, high, all);
    }
}

/// The share of intervals of ranks that lies in each cell.
#[inline(always)]
fn shares_of_cells<S: Simd>(simd: S, low: S::F64, high: S::F64) -> [S::F64; CELLS] {
    let inverse = simd.div(simd.splat(1.0), simd.sub(high, low));
    let mut shares = [simd.splat(0.0); CELLS];
    for (cell, share) in shares.iter_mut().enumerate() {
        let (from, to) = (simd.splat(cell as f64 / CELLS as f64), simd.splat((cell + 1) as f64 / CELLS as f64));
        let from = simd.select_less(low, from, from, low);
        let to = simd.select_less(high, to, high, to);
        let there = simd.select_less(from, to, simd.sub(to, from), *share);
        *share = simd.mul(there, inverse);
    }
    shares
}

/// `1 + share · of`. Closures of intrinsics would be calls, so these are functions.
#[inline(always)]
fn up<S: Simd>(simd: S, share: f64, of: S::F64) -> S::F64 {
    simd.add(simd.splat(1.0), simd.mul(simd.splat(share), of))
}

/// `1 − share · of`
#[inline(always)]
fn down<S: Simd>(simd: S, share: f64, of: S::F64) -> S::F64 {
    simd.sub(simd.splat(1.0), simd.mul(simd.splat(share), of))
}

/// `2p − 1`
#[inline(always)]
fn centred<S: Simd>(simd: S, p: S::F64) -> S::F64 {
    simd.sub(simd.mul(simd.splat(2.0), p), simd.splat(1.0))
}

/// The mean of the bet on ranks at the low end over an interval of them.
#[inline(always)]
fn far_low_end<S: Simd>(simd: S, low: S::F64, high: S::F64) -> S::F64 {
    let (a, b) = (simd.sqrt(low), simd.sqrt(high));
    simd.div(simd.splat(1.0), simd.mul(simd.add(simd.sqrt(a), simd.sqrt(b)), simd.add(a, b)))
}

impl EightScores {
    /// Begins behind `row`.
    fn new(row: u64) -> Self {
        let all = |value: f64| Lane([value; LANES]);
        Self {
            wealth: [Lane::ZERO; BETS],
            product: [all(1.0); BETS],
            since: [all(row as f64); BETS],
            shapes: [[all(PRIOR); CELLS]; MEMORIES.len()],
            mean: Lane::ZERO,
        }
    }

    /// Takes over what the lanes that are `waiting` had.
    fn keep(&mut self, before: &Self, waiting: &[bool]) {
        let lanes = self.wealth.iter_mut().chain(&mut self.product).chain(&mut self.since);
        let lanes = lanes.chain(self.shapes.as_flattened_mut()).chain([&mut self.mean]);
        let old = before.wealth.iter().chain(&before.product).chain(&before.since);
        for (lane, old) in lanes.zip(old.chain(before.shapes.as_flattened()).chain([&before.mean])) {
            (0..waiting.len()).filter(|k| waiting[*k]).for_each(|k| lane.0[k] = old.0[k]);
        }
    }

    /// `R ← (R + 1) f̄` of all bets, by the ranks of `row`.
    #[inline(always)]
    fn bet<S: Simd>(&mut self, simd: S, ranks: &EightRanks, row: u64) {
        let (one, before) = (simd.splat(1.0), simd.splat((row - 1) as f64));
        let (bets, mut sum) = (self.bets(simd, ranks), simd.splat(0.0));
        for (k, bet) in bets.into_iter().enumerate() {
            let wealth = simd.mul(simd.add(simd.load(&self.wealth[k]), one), bet);
            sum = simd.add(sum, wealth);
            simd.store(wealth, &mut self.wealth[k]);
            let (product, since) = (simd.load(&self.product[k]), simd.load(&self.since[k]));
            simd.store(simd.select_less(one, product, since, before), &mut self.since[k]);
            let product = simd.select_less(one, product, product, one);
            simd.store(simd.mul(product, bet), &mut self.product[k]);
        }
        simd.store(simd.div(sum, simd.splat(BETS as f64)), &mut self.mean);
    }

    /// The means of all bets over the ranks; the histograms then learn these.
    #[inline(always)]
    fn bets<S: Simd>(&mut self, simd: S, ranks: &EightRanks) -> [S::F64; BETS] {
        let all = simd.load(&ranks.all);
        let (low, high) = (simd.div(simd.load(&ranks.low), all), simd.div(simd.load(&ranks.high), all));
        let (one, shares) = (simd.splat(1.0), shares_of_cells(simd, low, high));
        let half = simd.splat(0.5);
        let level = simd.sub(simd.add(low, high), one);
        let (a, b) = (centred(simd, low), centred(simd, high));
        let squares = simd.add(simd.add(simd.mul(a, a), simd.mul(a, b)), simd.mul(b, b));
        let spread = simd.sub(simd.mul(half, squares), half);
        let mut bets = [one; BETS];
        bets[..4].copy_from_slice(&[
            up(simd, 0.5, level),
            down(simd, 0.5, level),
            up(simd, 0.95, level),
            down(simd, 0.95, level),
        ]);
        bets[4..FIXED].copy_from_slice(&[
            up(simd, 0.9, spread),
            down(simd, 0.9, spread),
            far_low_end(simd, low, high),
            far_low_end(simd, simd.sub(one, high), simd.sub(one, low)),
        ]);
        for ((bet, shape), memory) in bets[FIXED..].iter_mut().zip(&mut self.shapes).zip(MEMORIES) {
            let kept = 1.0 - 1.0 / memory;
            let (keep, fall_back) = (simd.splat(kept), simd.splat((1.0 - kept) * PRIOR));
            let (mut sum, mut there) = (simd.splat(0.0), simd.splat(0.0));
            for (weight, share) in shape.iter_mut().zip(shares) {
                let old = simd.load(weight);
                sum = simd.add(sum, old);
                there = simd.add(there, simd.mul(old, share));
                simd.store(simd.add(simd.add(simd.mul(keep, old), fall_back), share), weight);
            }
            let told = simd.div(simd.mul(simd.splat(STAKE * CELLS as f64), there), sum);
            *bet = simd.add(simd.splat(1.0 - STAKE), told);
        }
        bets
    }
}

/// A row of scores to bet on.
struct Bet<'a> {
    scores: &'a mut BettedScores,
    values: &'a [f64],
    waiting: &'a [bool],
    row: u64,
}

impl Op for Bet<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let bins = self.scores.bins.chunks_mut(LANES);
        let rows = bins.zip(self.values.chunks(LANES)).zip(self.waiting.chunks(LANES));
        for (won, ((bins, values), waiting)) in self.scores.won.iter_mut().zip(rows) {
            let mut ranks = EightRanks::ANYWHERE;
            for (lane, (bins, value)) in bins.iter_mut().zip(values).enumerate() {
                if !waiting[lane] {
                    ranks.put(lane, bins.take(*value));
                }
            }
            let before = waiting.contains(&true).then(|| won.clone());
            won.bet(simd, &ranks, self.row);
            if let Some(before) = before {
                won.keep(&before, waiting);
            }
        }
    }
}

impl BettedScores {
    /// Scores with these bins, which begin behind `row`.
    pub(crate) fn new(bins: Vec<RankBins>, row: u64) -> Self {
        Self { won: vec![EightScores::new(row); bins.len().div_ceil(LANES)], bins }
    }

    pub(crate) fn len(&self) -> usize {
        self.bins.len()
    }

    /// Begins anew after an alarm in `row`, with the counts that there are.
    pub(crate) fn restart(&mut self, row: u64) {
        self.won.fill(EightScores::new(row));
    }

    /// Gives a score other bins.
    pub(crate) fn set_bins(&mut self, score: usize, bins: RankBins) {
        self.bins[score] = bins;
    }

    /// Bets on the values of `row`, but for scores that are waiting.
    ///
    /// # Panics
    /// If there is not a value for each score.
    pub(crate) fn bet(&mut self, values: &[f64], waiting: &[bool], row: u64) {
        assert!(values.len() == self.len() && waiting.len() == self.len(), "each score has a value");
        dispatch(Bet { scores: self, values, waiting, row });
    }

    /// The mean of `R` of all bets on a score; 0 while it waits.
    pub(crate) fn mean(&self, score: usize) -> f64 {
        self.won[score / LANES].mean.0[score % LANES]
    }

    /// The row from which on the bet on a score that has won most has won most: the likeliest of
    /// the change.
    pub(crate) fn since(&self, score: usize) -> u64 {
        let (won, lane) = (&self.won[score / LANES], score % LANES);
        let best = (0..BETS).max_by(|a, b| won.wealth[*a].0[lane].total_cmp(&won.wealth[*b].0[lane]));
        best.map_or(0, |best| won.since[best].0[lane] as u64) + 1
    }
}

impl Validate for BettedScores {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "bets on scores";
        self.bins.iter().try_for_each(Validate::validate)?;
        let blocks = self.won.len() == self.bins.len().div_ceil(LANES);
        let numbers = |lanes: &[Lane], least: f64| {
            lanes.iter().flat_map(|lane| lane.0).all(|value| value.is_finite() && value >= least)
        };
        let sound = |won: &EightScores| {
            let shapes = won.shapes.as_flattened();
            numbers(&won.wealth, 0.0)
                && numbers(&won.product, 0.0)
                && numbers(&won.since, 0.0)
                && numbers(shapes, f64::MIN_POSITIVE)
                && numbers(&[won.mean], 0.0)
        };
        let sound = blocks && self.won.iter().all(sound);
        Inconsistent::require(sound, WHAT, "they have not lost more than they had")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bets::RankInterval;

    /// One score alone, number by number.
    struct Alone {
        wealth: [f64; BETS],
        product: [f64; BETS],
        since: [u64; BETS],
        shapes: [[f64; CELLS]; 3],
    }

    impl Alone {
        fn bet(&mut self, p: RankInterval, row: u64) {
            let shares = p.shares();
            let mut bets = [0.0; BETS];
            bets[..FIXED].copy_from_slice(&p.fixed_bets());
            for ((bet, shape), memory) in bets[FIXED..].iter_mut().zip(&mut self.shapes).zip(MEMORIES) {
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
        }
    }

    /// Eleven scores, so that lanes are empty; ties; a change; and one that waits for a while.
    #[test]
    fn eight_scores_side_by_side_are_each_alone_to_the_bit() {
        let value = |k: usize, t: usize| {
            let raw = ((t * (2 * k + 3) + t * t * 7) % 509) as f64 / 509.0;
            let moved = if t > 400 && k.is_multiple_of(3) { raw.sqrt() } else { raw };
            if k % 4 == 1 { (3.0 * moved).floor() } else { moved }
        };
        let bins: Vec<RankBins> = (0..11)
            .map(|k| RankBins::between_quantiles(&mut (0..200).map(|t| value(k, t)).collect::<Vec<_>>()))
            .collect();
        let (mut together, mut alone_bins) = (BettedScores::new(bins.clone(), 200), bins);
        let mut alone: Vec<Alone> = (0..11)
            .map(|_| Alone {
                wealth: [0.0; BETS],
                product: [1.0; BETS],
                since: [200; BETS],
                shapes: [[PRIOR; CELLS]; 3],
            })
            .collect();
        for t in 201..900 {
            let values: Vec<f64> = (0..11).map(|k| value(k, t)).collect();
            let waiting: Vec<bool> = (0..11).map(|k| k == 4 && (300..500).contains(&t)).collect();
            together.bet(&values, &waiting, t as u64);
            for k in (0..11).filter(|k| !waiting[*k]) {
                let p = alone_bins[k].rank(values[k]);
                alone[k].bet(p, t as u64);
            }
            for (k, one) in alone.iter().enumerate() {
                let mean = one.wealth.iter().sum::<f64>() / BETS as f64;
                assert_eq!(together.mean(k).to_bits(), mean.to_bits(), "row {t}, score {k}");
                let best = (0..BETS).max_by(|a, b| one.wealth[*a].total_cmp(&one.wealth[*b])).unwrap_or(0);
                assert_eq!(together.since(k), one.since[best] + 1, "row {t}, score {k}");
            }
            assert_eq!(together.validate(), Ok(()));
        }
        together.won[1].shapes[0][0].0[7] = 0.0;
        assert!(together.validate().is_err());
    }
}
