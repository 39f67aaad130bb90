//! Serial dependence of columns: rank tests, and the length of a season.

use std::cmp::Ordering;

use crate::chi_square::quantile;

/// Lags that are looked at together.
const LAGS: usize = 8;
/// Rates of the moving means of sizes that the next size is compared with: clusters of large values
/// that last longer than the lags show there first.
const RATES: [f64; 2] = [0.1, 0.03];
/// Chance that columns without dependence are called dependent, by the ten tests of all columns.
const LEVEL: f64 = 0.01;

/// Largest statistics over the columns, each divided by its quantile: above 1 there is dependence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dependence {
    /// Ranks with ranks.
    pub(crate) level: f64,
    /// Distances of ranks from the middle one with one another.
    pub(crate) size: f64,
    /// Either with the other.
    pub(crate) across: f64,
}

impl Dependence {
    pub(crate) fn largest(self) -> f64 {
        self.level.max(self.size).max(self.across)
    }
}

/// Centred ranks of a column, `(rank − ½)/n − ½`; ties have their mean.
pub(crate) fn centred_ranks(column: &[f64]) -> Vec<f64> {
    let n = column.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_unstable_by(|a, b| column[*a].partial_cmp(&column[*b]).unwrap_or(Ordering::Equal));
    let mut ranks = vec![0.0; n];
    let mut first = 0;
    while first < n {
        let ties = order[first..].iter().take_while(|place| column[**place] == column[order[first]]).count().max(1);
        let rank = first as f64 + 0.5 * (ties as f64 - 1.0) + 0.5;
        order[first..first + ties].iter().for_each(|place| ranks[*place] = rank / n as f64 - 0.5);
        first += ties;
    }
    ranks
}

/// `r_h √(n − h)` for `h` from 1, of `a` with what `b` was `h` rows before.
fn correlations<'a>(a: &'a [f64], b: &'a [f64], lags: usize) -> impl Iterator<Item = f64> + 'a {
    let n = a.len();
    let deviation = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / n as f64;
        (x.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n as f64).sqrt()
    };
    let scale = deviation(a) * deviation(b) + 1e-12;
    (1..=lags).map(move |h| {
        let sum: f64 = a[h..].iter().zip(b).map(|(later, earlier)| later * earlier).sum();
        sum / (n - h) as f64 / scale * ((n - h) as f64).sqrt()
    })
}

/// `z` of the correlation of centred sizes with the moving mean of those before.
fn remembered(size: &[f64], rate: f64) -> f64 {
    let (mut mean, mut product, mut square) = (0.0, 0.0, 0.0);
    for value in size {
        product += value * mean;
        square += mean * mean;
        mean += rate * (value - mean);
    }
    let variance = size.iter().map(|value| value * value).sum::<f64>() / size.len() as f64;
    product / (square * variance + 1e-24).sqrt()
}

/// Portmanteau statistics `Σ_h r_h²` over 8 lags, and `r₁²` alone, of all columns, and sizes beside
/// their moving means; 1 % in all.
pub(crate) fn dependence(columns: &[Vec<f64>]) -> Dependence {
    let Some(n) = columns.first().map(Vec::len) else { return Dependence { level: 0.0, size: 0.0, across: 0.0 } };
    let lags = LAGS.min(n / 8).max(1);
    let tail = LEVEL / (10.0 * columns.len() as f64);
    let limits = [quantile(lags, tail), quantile(1, tail)];
    let mut found = Dependence { level: 0.0, size: 0.0, across: 0.0 };
    let mut lasting = RATES.map(|_| 0.0);
    for column in columns {
        let level = centred_ranks(column);
        let mean = level.iter().map(|rank| rank.abs()).sum::<f64>() / n as f64;
        let size: Vec<f64> = level.iter().map(|rank| rank.abs() - mean).collect();
        let largest = |a: &[f64], b: &[f64]| {
            let (mut sum, mut first) = (0.0, None);
            for r in correlations(a, b, lags) {
                first.get_or_insert(r * r);
                sum += r * r;
            }
            f64::max(sum / limits[0], first.unwrap_or(0.0) / limits[1])
        };
        found.level = found.level.max(largest(&level, &level));
        found.size = found.size.max(largest(&size, &size));
        for (sum, rate) in lasting.iter_mut().zip(RATES) {
            let z = remembered(&size, rate);
            *sum += z / (columns.len() as f64).sqrt();
            found.size = found.size.max(z.max(0.0).powi(2) / limits[1]);
        }
        found.across = found.across.max(largest(&level, &size)).max(largest(&size, &level));
    }
    // Clusters that all columns share a little.
    let pooled = lasting.into_iter().fold(0.0, f64::max).powi(2);
    found.size = found.size.max(pooled / quantile(1, LEVEL));
    found
}

/// Length of a season of at least 6 rows: the highest peak of the mean rank autocorrelation, if it
/// is above `max(.2, 3/√n)`. Ranks keep two large values from being a season.
pub(crate) fn season(columns: &[Vec<f64>]) -> Option<usize> {
    let n = columns.first()?.len();
    let mut mean = vec![0.0; (n / 3).saturating_sub(1)];
    for column in columns {
        let ranks = centred_ranks(column);
        let square = ranks.iter().map(|rank| rank * rank).sum::<f64>() / n as f64 + 1e-12;
        for (h, mean) in mean.iter_mut().enumerate() {
            let lag = h + 1;
            let sum: f64 = ranks[lag..].iter().zip(&ranks).map(|(later, earlier)| later * earlier).sum();
            *mean += sum / (n - lag) as f64 / square / columns.len() as f64;
        }
    }
    let least = f64::max(0.2, 3.0 / (n as f64).sqrt());
    let is_peak = |lag: &usize| {
        let [before, here, after] = [mean[lag - 2], mean[lag - 1], mean[*lag]];
        here > before && here >= after && here > least
    };
    let peaks = (6..mean.len().saturating_sub(1)).filter(is_peak);
    peaks.max_by(|a, b| mean[a - 1].total_cmp(&mean[b - 1]).then(b.cmp(a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(centred_ranks(&[2.0, 1.0, 2.0, 9.0]), [0.0, -0.375, 0.0, 0.375]);
    }
}
