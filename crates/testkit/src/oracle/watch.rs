//! Novelty of rows and changes of their law, by their formulas.

use nalgebra::{DMatrix, DVector};

/// Options of [`bets_on_ranks`], which the product does not have: they break its promise.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankOptions {
    /// Ranks are among this many first values alone, and not among all before.
    pub fixed_reference: Option<usize>,
}

/// `mean_m R_m` after each value behind the first `burn_in`.
///
/// Bins are between the quantiles of the second half of the first values. Every value is ranked
/// among all behind the burn-in that came before it, counted one by one.
pub fn bets_on_ranks(values: &[f64], burn_in: usize, options: RankOptions) -> Vec<f64> {
    let mut sorted = values[burn_in / 2..burn_in].to_vec();
    sorted.sort_by(f64::total_cmp);
    let edges: Vec<f64> = (1..64)
        .map(|i| {
            let place = (sorted.len() - 1) as f64 * f64::from(i) / 64.0;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (place - place.floor()) * (high - low)
        })
        .collect();
    let bin = |value: f64| edges.iter().filter(|edge| **edge < value).count();
    let bins: Vec<usize> = values[burn_in..].iter().map(|value| bin(*value)).collect();
    let (mut ranks, mut wealth, mut means) = (Vec::new(), [0.0; 11], Vec::new());
    for t in 0..bins.len() {
        let past = &bins[..options.fixed_reference.map_or(t, |first| t.min(first))];
        let below = past.iter().filter(|other| **other < bins[t]).count() as f64;
        let same = past.iter().filter(|other| **other == bins[t]).count() as f64;
        let n = past.len() as f64 + 1.0;
        let (low, high) = (below / n, (below + same + 1.0) / n);
        for (m, wealth) in wealth.iter_mut().enumerate() {
            *wealth = (*wealth + 1.0) * (integral(m, high, &ranks) - integral(m, low, &ranks)) / (high - low);
        }
        ranks.push((low, high));
        means.push(wealth.iter().sum::<f64>() / 11.0);
    }
    means
}

/// `∫₀^p` of bet `m` on a rank, after ranks that lay in those intervals.
fn integral(m: usize, p: f64, past: &[(f64, f64)]) -> f64 {
    // Of 2p − 1, and of (3 (2p − 1)² − 1)/2.
    let (level, spread) = (p * p - p, 2.0 * p * p * p - 3.0 * p * p + p);
    match m {
        0 => p + 0.5 * level,
        1 => p - 0.5 * level,
        2 => p + 0.95 * level,
        3 => p - 0.95 * level,
        4 => p + 0.9 * spread,
        5 => p - 0.9 * spread,
        6 => p.powf(0.25),
        7 => 1.0 - (1.0 - p).powf(0.25),
        _ => {
            // Each past rank counts for g^age where it lay, and the prior of 2 stays.
            let g = 1.0 - 1.0 / [32.0, 128.0, 512.0][m - 8];
            let part = |cell: usize, low: f64, high: f64| {
                let (first, last) = (cell as f64 / 8.0, (cell + 1) as f64 / 8.0);
                (high.min(last) - low.max(first)).max(0.0)
            };
            let mut weights = [2.0; 8];
            for (age, (low, high)) in past.iter().rev().enumerate() {
                for (cell, weight) in weights.iter_mut().enumerate() {
                    *weight += f64::powi(g, age as i32) * part(cell, *low, *high) / (high - low);
                }
            }
            let sum = weights.iter().sum::<f64>();
            let there: f64 = weights.iter().enumerate().map(|(cell, weight)| weight * part(cell, 0.0, p)).sum();
            0.1 * p + 0.9 * 8.0 * there / sum
        }
    }
}

/// Share of values at or above one: a rank, and beyond the top tenth of 200 values or more a
/// generalised Pareto tail through the quantiles .8, .9, .95 and .975, by a scale that one in 15
/// values tells.
pub fn tail_share(values: &[f64], value: f64) -> f64 {
    let m = values.len() as f64;
    let below = values.iter().filter(|other| **other < value).count() as f64;
    if m < 200.0 || below < 0.9 * m {
        return (m - below + 0.5) / (m + 1.0);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let q = [0.8, 0.9, 0.95, 0.975].map(|level| sorted[(m * level).floor() as usize]);
    let gap = |i: usize| (q[i + 1] - q[i]).max(1e-12);
    let told = (gap(2) / gap(0)).ln() / 2_f64.ln() / 2.0;
    let xi = f64::min(0.5, 15.0 / m + if told > 0.0 { told } else { 0.0 });
    let g = (2_f64.powf(xi) - 1.0) / xi;
    let sigma = (gap(1) / g + gap(2) / (g * 2_f64.powf(xi))) / 2.0;
    let z = (value - q[1]) / sigma;
    0.1 * (1.0 + xi * z).powf(-1.0 / xi)
}

/// The parts margin, Mahalanobis and neighbours of the newness of row `t` among those before it,
/// of which the inverse knows `known`, and the margins `ranked`.
pub fn newness_parts(rows: &[Vec<f64>], t: usize, scaled_by: usize, known: usize, ranked: usize) -> [f64; 3] {
    let d = rows[0].len();
    let column = |j: usize, n: usize| -> Vec<f64> { rows[..n].iter().map(|row| row[j]).collect() };
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
    };
    let scales: Vec<(f64, f64)> = (0..d)
        .map(|j| {
            let values = column(j, scaled_by);
            let (mean, deviation) = moments(&values);
            moments(&values.into_iter().filter(|v| (v - mean).abs() <= 4.0 * deviation).collect::<Vec<_>>())
        })
        .collect();
    let z = |row: &[f64]| -> Vec<f64> {
        let bent = |z: f64| if z.abs() <= 4.0 { z } else { z.signum() * (4.0 + (z.abs() - 3.0).ln()) };
        row.iter().zip(&scales).map(|(v, (m, s))| bent((v - m) / s)).collect()
    };
    let with_one = |row: &[f64]| DVector::from_iterator(d + 1, std::iter::once(1.0).chain(z(row)));
    let mut moment = DMatrix::zeros(d + 1, d + 1);
    rows[..known].iter().map(|row| with_one(row)).for_each(|q| moment += &q * q.transpose());
    let inverse = (moment / known as f64 + DMatrix::identity(d + 1, d + 1) * 0.01).try_inverse().expect("definite");
    let q = with_one(&rows[t]);
    let distance = (q.transpose() * inverse * &q)[0];
    let own = z(&rows[t]);
    let mut distances: Vec<f64> = rows[t.saturating_sub(1024)..t]
        .iter()
        .map(|row| z(row).iter().zip(&own).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
        .collect();
    distances.sort_by(f64::total_cmp);
    let nearest = distances[..5].iter().sum::<f64>() / 5.0;
    let share = |values: &[f64], value: f64| {
        let beyond = values.iter().filter(|other| **other >= value).count() as f64;
        let rank = (beyond + 1.0) / (values.len() as f64 + 2.0);
        if beyond >= 10.0 { rank } else { tail_share(values, value).clamp(rank / 32.0, rank) }
    };
    let margin: f64 = (0..d)
        .map(|j| {
            let values = column(j, ranked);
            let turned: Vec<f64> = values.iter().map(|v| -v).collect();
            -(2.0 * share(&values, rows[t][j]).min(share(&turned, -rows[t][j]))).min(1.0).ln()
        })
        .sum();
    [margin, distance, nearest]
}
