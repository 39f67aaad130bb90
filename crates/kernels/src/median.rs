//! The median heuristic for the width of a kernel.

use crate::stationary::WIDTHS;

/// At most this many rows enter, so that the cost stays far below a millisecond.
const ROWS: usize = 200;

/// The median Euclidean distance between the first rows (at most 200 of them) of a row-major table
/// of `dimension` columns; 1 when there are no two distinct rows or a distance is not finite.
#[must_use]
pub fn median_width(dimension: usize, rows: &[f64]) -> f64 {
    weighted_median_width(dimension, rows, &[])
}

/// The weighted median of the Euclidean distances between the first rows (at most 200 of them) of a
/// row-major table of `dimension` columns.
///
/// A pair of rows counts as often as the product of their weights says; pairs of equal rows do not
/// count. The median is the smallest distance such that all pairs up to it weigh more than half of
/// all pairs. It is 1 when there are no two distinct rows or when the median is not finite, and
/// kept within what kernels take, 1e-150 to 1e150. Only the ratios of the weights matter. Whole
/// weights below 10⁵ give the median of the rows repeated as often; with other weights, rounding
/// decides whether a sum is more than half when it is half to the last digit.
///
/// A row with a weight of 0 does not count, nor is it one of the 200; the same holds for a weight
/// that is negative or not finite. Without `weights` all rows weigh 1.
///
/// # Panics
/// If there are weights, but not one for each row.
#[must_use]
pub fn weighted_median_width(dimension: usize, rows: &[f64], weights: &[f64]) -> f64 {
    let all = rows.chunks_exact(dimension.max(1));
    assert!(weights.is_empty() || weights.len() == all.len(), "{} weights of {} rows", weights.len(), all.len());
    let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
    let mut rows: Vec<(&[f64], f64)> =
        all.zip(weights).filter(|(_, weight)| *weight > 0.0 && weight.is_finite()).take(ROWS).collect();
    let unit = power_of_two(rows.iter().fold(0.0, |largest, (_, weight)| weight.max(largest)));
    rows.iter_mut().for_each(|(_, weight)| *weight /= unit);
    let mut pairs: Vec<(f64, f64)> = rows
        .iter()
        .enumerate()
        .flat_map(|(i, x)| rows[..i].iter().map(move |z| (x, z)))
        .map(|((x, v), (z, w))| (distance(x, z), v * w))
        .filter(|(distance, _)| *distance > 0.0)
        .collect();
    weighted_median(&mut pairs)
        .filter(|median| median.is_finite())
        .map_or(1.0, |median| median.clamp(*WIDTHS.start(), *WIDTHS.end()))
}

fn distance(x: &[f64], z: &[f64]) -> f64 {
    x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt()
}

/// The largest power of two up to `largest`: weights over it are exact, and no product of two
/// exceeds 4.
fn power_of_two(largest: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    f64::from_bits(largest.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}

/// The smallest value of `(value, weight)` such that the weights up to it are more than half of
/// all; `None` of nothing. `O(n)` on average.
fn weighted_median(pairs: &mut [(f64, f64)]) -> Option<f64> {
    let weight = |pairs: &[(f64, f64)]| pairs.iter().map(|(_, weight)| weight).sum::<f64>();
    let half = weight(pairs) / 2.0;
    let (mut rest, mut below) = (pairs, 0.0);
    // What lies left of `rest` weighs `below`, which is at most half.
    while !rest.is_empty() {
        let (left, middle, right) = rest.select_nth_unstable_by(rest.len() / 2, |a, b| a.0.total_cmp(&b.0));
        let (value, own) = *middle;
        let before = below + weight(left);
        if before > half {
            rest = left;
        } else if before + own > half || right.is_empty() {
            return Some(value);
        } else {
            (rest, below) = (right, before + own);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_three_distances() {
        assert_eq!(median_width(1, &[0.0, 1.0, 5.0]), 4.0);
        assert_eq!(median_width(2, &[1.0, 1.0, 1.0, 1.0]), 1.0);
        assert_eq!(median_width(1, &[]), 1.0);
        assert_eq!(median_width(0, &[]), 1.0);
    }

    /// Some numbers, few of them different in the first digits.
    fn table(seed: u64, len: usize) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 59) as f64 + if state >> 40 & 1 == 0 { 0.0 } else { (state >> 50) as f64 * 1e-3 }
        };
        (0..len).map(|_| next()).collect()
    }

    /// Element `len/2` of the sorted distances between distinct rows.
    fn middle_of_all(rows: &[&[f64]]) -> f64 {
        let mut distances = Vec::new();
        for (i, x) in rows.iter().enumerate() {
            distances.extend(rows[..i].iter().map(|z| distance(x, z)).filter(|distance| *distance > 0.0));
        }
        distances.sort_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().unwrap_or(1.0)
    }

    #[test]
    fn weights_count_how_often_a_row_stands_there() {
        for seed in 0..300 {
            let d = 1 + seed as usize % 3;
            let n = 2 + seed as usize % 17;
            let rows = table(seed, n * d);
            let times: Vec<usize> = table(seed + 1000, n).iter().map(|weight| *weight as usize % 5).collect();
            let repeated: Vec<&[f64]> =
                (0..n).flat_map(|i| std::iter::repeat_n(&rows[i * d..(i + 1) * d], times[i])).collect();
            let expected = middle_of_all(&repeated);
            // Units do not matter: the weights of pairs may neither overflow nor vanish.
            for unit in [1.0, 2f64.powi(1000), 2f64.powi(-1070)] {
                let weights: Vec<f64> = times.iter().map(|times| *times as f64 * unit).collect();
                assert_eq!(weighted_median_width(d, &rows, &weights), expected, "seed {seed}, unit {unit}");
            }
        }
    }

    #[test]
    fn without_weights_it_is_the_middle_of_the_sorted_distances() {
        for (n, d) in [(2, 1), (3, 2), (4, 1), (5, 3), (50, 2), (200, 1), (260, 4)] {
            let rows = table(n as u64, n * d);
            let expected = middle_of_all(&rows.chunks(d).take(200).collect::<Vec<_>>());
            assert_eq!(median_width(d, &rows), expected);
            assert_eq!(weighted_median_width(d, &rows, &vec![1.0; n]), expected);
            assert_eq!(weighted_median_width(d, &rows, &vec![0.25; n]), expected);
        }
    }

    #[test]
    fn rows_without_weight_are_not_among_the_first() {
        let rows = table(7, 600);
        let weights: Vec<f64> = (0..600).map(|i| if i % 3 == 0 { 1.0 } else { [0.0, -1.0, f64::NAN][i % 3] }).collect();
        let counted: Vec<f64> = rows.iter().copied().step_by(3).collect();
        assert_eq!(weighted_median_width(1, &rows, &weights), median_width(1, &counted));
        assert_eq!(weighted_median_width(1, &[0.0, 1.0], &[0.0, 1.0]), 1.0);
        assert_eq!(weighted_median_width(1, &[0.0, 5.0, 5.0], &[1e-300, 1e300, 1e-300]), 5.0);
        assert_eq!(weighted_median_width(1, &[0.0, f64::INFINITY], &[1.0, 1.0]), 1.0);
    }
}
