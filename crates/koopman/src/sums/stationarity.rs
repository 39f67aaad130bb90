//! Signs that a record wanders or has a trend, so that its time scales are its own length.
//!
//! Blocks follow each other in time. In a stationary record the means of blocks differ by
//! `2τ/ℓ` of the variance, `τ` being the correlation time and `ℓ` the length of a block; in a random
//! walk by nearly all of it, and under a trend they lie on a line.

use super::blocks::{Group, sum};

/// Fewest blocks that can tell.
const FEWEST: usize = 8;
/// The part of the variance between blocks from which on a record wanders: `τ` is then above a
/// block.
const BETWEEN: f64 = 0.75;
/// The part of the variance of block means that lies on a line, from which on there is a trend:
/// eight means on their own reach it once in a thousand times. Means of a transient bend.
const ON_A_LINE: f64 = 0.9;
const ON_A_LINE_EXACTLY: f64 = 0.99;
/// Correlation times of the slowest mode that a record must hold: the estimate of a random walk is
/// below in 95 of 100 records (Dickey and Fuller 1979, with a mean).
pub(super) const SLOWEST: f64 = 14.0;

/// True if a column of the newest row wanders or has a trend over `groups`.
pub(super) fn wanders(groups: &[Group<'_>], columns: std::ops::Range<usize>, deterministic: bool) -> bool {
    let count = groups.len();
    if count < FEWEST {
        return false;
    }
    let total = sum(groups);
    // The first feature is 1.
    let column = |j: usize| {
        let mean = total.gram.entry(0, j) / total.weight;
        let variance = total.gram.entry(j, j) / total.weight - mean * mean;
        let means: Vec<f64> = groups
            .iter()
            .map(|group| {
                let sums = group.sums();
                sums.gram.entry(0, j) / sums.weight - mean
            })
            .collect();
        let square = means.iter().map(|m| m * m).sum::<f64>();
        let middle = 0.5 * (count as f64 - 1.0);
        let (mut along, mut span) = (0.0, 0.0);
        for (b, mean) in means.iter().enumerate() {
            along += (b as f64 - middle) * mean;
            span += (b as f64 - middle).powi(2);
        }
        let (between, line) = (square / count as f64 / variance, along * along / span / square);
        let line = if line.is_finite() { line } else { 0.0 };
        match deterministic {
            true => between >= BETWEEN && line >= ON_A_LINE_EXACTLY,
            false => between >= BETWEEN || line >= ON_A_LINE,
        }
    };
    columns.into_iter().any(column)
}
