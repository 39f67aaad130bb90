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

/// Portmanteau statistics `Σ_h r_h²` over 8 lags, and `r₁²` alone, of each column, and sizes beside
/// their moving means; 1 % in all columns. Behind them clusters of sizes that all columns share a
/// little, as one more statistic of sizes.
pub(crate) fn of_columns(columns: &[Vec<f64>]) -> (Vec<Dependence>, f64) {
    let Some(n) = columns.first().map(Vec::len) else { return (Vec::new(), 0.0) };
    let lags = LAGS.min(n / 8).max(1);
    let tail = LEVEL / (10.0 * columns.len() as f64);
    let limits = [quantile(lags, tail), quantile(1, tail)];
    let mut lasting = RATES.map(|_| 0.0);
    let of_column = |column: &Vec<f64>| {
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
        let mut sizes = largest(&size, &size);
        for (sum, rate) in lasting.iter_mut().zip(RATES) {
            let z = remembered(&size, rate);
            *sum += z / (columns.len() as f64).sqrt();
            sizes = sizes.max(z.max(0.0).powi(2) / limits[1]);
        }
        let across = largest(&level, &size).max(largest(&size, &level));
        Dependence { level: largest(&level, &level), size: sizes, across }
    };
    let found = columns.iter().map(of_column).collect();
    let pooled = lasting.into_iter().fold(0.0, f64::max).powi(2);
    (found, pooled / quantile(1, LEVEL))
}

/// The largest statistics of [`of_columns`].
pub(crate) fn dependence(columns: &[Vec<f64>]) -> Dependence {
    let (found, shared) = of_columns(columns);
    let none = Dependence { level: 0.0, size: shared, across: 0.0 };
    found.into_iter().fold(none, |all, one| Dependence {
        level: all.level.max(one.level),
        size: all.size.max(one.size),
        across: all.across.max(one.across),
    })
}

/// Part of the highest peak that the peak of a season has at least.
const SHARE_OF_PEAK: f64 = 0.8;

/// Multiples of a length that show whether it is that of a season.
const MULTIPLES: usize = 4;

/// Least rank autocorrelation of `n` rows that counts as a season.
fn least_of_season(n: usize) -> f64 {
    f64::max(0.2, 3.0 / (n as f64).sqrt())
}

/// Rank autocorrelation of a column at these lags.
fn autocorrelations(column: &[f64], lags: impl Iterator<Item = usize>) -> impl Iterator<Item = f64> {
    let (n, ranks) = (column.len(), centred_ranks(column));
    let square = ranks.iter().map(|rank| rank * rank).sum::<f64>() / n as f64 + 1e-12;
    lags.map(move |lag| {
        let sum: f64 = ranks[lag..].iter().zip(&ranks).map(|(later, earlier)| later * earlier).sum();
        sum / (n - lag) as f64 / square
    })
}

/// True if a column has a season of so many rows, as all together have.
pub(crate) fn is_seasonal(column: &[f64], season: usize) -> bool {
    autocorrelations(column, std::iter::once(season)).any(|r| r > least_of_season(column.len()))
}

/// Length of a season of at least 6 rows, if there is one.
///
/// Peaks are those of the mean rank autocorrelation above `max(.2, 3/√n)` that stand `3/√n` above
/// the lowest value before them: the slow fall of a level has none. The first one that is nearly as
/// high as the highest is about one season from the start. Ranks keep two large values from being a
/// season.
pub(crate) fn season(columns: &[Vec<f64>]) -> Option<usize> {
    let n = columns.first()?.len();
    let mut mean = vec![0.0; (n / 3).saturating_sub(1)];
    for column in columns {
        let found = autocorrelations(column, 1..=mean.len());
        mean.iter_mut().zip(found).for_each(|(mean, r)| *mean += r / columns.len() as f64);
    }
    let (least, chance) = (least_of_season(n), 3.0 / (n as f64).sqrt());
    let mut lowest = f64::INFINITY;
    let is_peak = |lag: &usize| {
        let [before, here, after] = [mean[lag - 2], mean[lag - 1], mean[*lag]];
        lowest = lowest.min(before);
        *lag >= 6 && here > before && here >= after && here > least && here - lowest > chance
    };
    let peaks: Vec<usize> = (2..mean.len().saturating_sub(1)).filter(is_peak).collect();
    let highest = peaks.iter().map(|lag| mean[lag - 1]).fold(0.0, f64::max);
    // A season is there at its multiples, too.
    let first = peaks.into_iter().find(|lag| mean[lag - 1] >= SHARE_OF_PEAK * highest)?;
    Some(sharpened(&mean, first))
}

/// The length about this peak with the highest mean of the autocorrelations at its first multiples.
/// Noise moves a single peak by some rows, and makes small ones on a broad one.
fn sharpened(autocorrelations: &[f64], peak: usize) -> usize {
    let height = |length: usize| {
        let found: Vec<f64> = (1..=MULTIPLES).filter_map(|k| autocorrelations.get(k * length - 1)).copied().collect();
        found.iter().sum::<f64>() / found.len() as f64
    };
    let lengths = peak - peak / 8..=(peak + peak / 2).min(autocorrelations.len());
    lengths.max_by(|a, b| height(*a).total_cmp(&height(*b))).unwrap_or(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(centred_ranks(&[2.0, 1.0, 2.0, 9.0]), [0.0, -0.375, 0.0, 0.375]);
    }
}
