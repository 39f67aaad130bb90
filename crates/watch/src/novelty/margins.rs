//! How far out a value is in its column.

use std::cmp::Ordering;

use crate::tail::tail_share;

/// Values at or beyond one from which their share is that of the tail.
const MANY: usize = 10;
/// A tail beyond the sample is at most so many times thinner than it shows.
const THINNER: f64 = 32.0;

/// Kept values of a column in order, those with turned signs too, and gaps.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Margin {
    sorted: Vec<f64>,
    turned: Vec<f64>,
    gaps: usize,
}

/// Tails of all columns.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Margins {
    columns: Vec<Margin>,
}

/// Share at or above, where so many are, by a rank where these are enough and by the tail beyond.
fn share(sorted: &[f64], value: f64, beyond: usize) -> f64 {
    let rank = (beyond + 1) as f64 / (sorted.len() + 2) as f64;
    if beyond >= MANY { rank } else { tail_share(sorted, value).clamp(rank / THINNER, rank) }
}

impl Margins {
    pub(crate) fn new(rows: &[Vec<f64>], columns: usize) -> Self {
        let margin = |j: usize| {
            let mut sorted: Vec<f64> = rows.iter().map(|row| row[j]).filter(|value| !value.is_nan()).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            let turned = sorted.iter().rev().map(|value| -value).collect();
            Margin { gaps: rows.len() - sorted.len(), sorted, turned }
        };
        Self { columns: (0..columns).map(margin).collect() }
    }

    /// `−ln` of twice the smaller tail share of a value, at least 0; of a gap, of the share of
    /// gaps.
    pub(crate) fn surprise(&self, j: usize, value: f64) -> f64 {
        let Margin { sorted, turned, gaps } = &self.columns[j];
        let tail = if value.is_nan() {
            (gaps + 1) as f64 / (sorted.len() + gaps + 2) as f64
        } else {
            let below = sorted.partition_point(|other| *other < value);
            let equal = if sorted.get(below) == Some(&value) {
                sorted[below..].partition_point(|other| *other == value)
            } else {
                0
            };
            let (up, down) = (sorted.len() - below, below + equal);
            let (above, under) = (|| share(sorted, value, up), || share(turned, -value, down));
            // No tail is fatter than its rank, so the side of fewer values has the smaller share.
            2.0 * match up.cmp(&down) {
                _ if up.max(down) < MANY => above().min(under()),
                Ordering::Less => above(),
                _ => under(),
            }
        };
        -tail.min(1.0).ln()
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns.len()
    }
}
