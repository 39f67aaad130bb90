//! Periods from data, by peaks of the autocorrelation.
//!
//! The unbiased autocorrelation `r` of the differences, at lags up to `min(400, N/2)`. A peak is
//! above `max(0.2, c √((1 + 2Σr²)/(N − m)))`, the sum over the lags until `r` falls below 0, the
//! largest of its five neighbours, and 0.3 above the lowest value before it. Chance reaches
//! `c = √(2 ln 4L)` seldom among `L` lags. The first period is the first peak of at least 0.8 of
//! the highest; but where `r` has fallen to less than a third of it after three periods, it is a
//! cycle that loses its phase, and no season. The second is a multiple that was seen three times,
//! at which `r` is above the lowest `r'` of the multiples before it by `2/√(N − m)` and by a
//! quarter of `1 − r'`. Where there is none, the same is tried with the series less its line,
//! smoothed by `(¼, ½, ¼)`, and `c = 2.6`.
//!
//! The calendar tells periods `m ≤ m'`, such as a day and a week of hours. From 64 rows on, an `m`
//! of more than 16 waits until it has come twice; or until eight rows of the second time are
//! nearer to those of `m` before than to those of the farthest horizon (half of `m` at most). `m'`
//! joins when it has come once. A period that is found, and neither divides `m` nor is a multiple
//! of it, takes their place while the rows differ by a third less from those of its length before
//! (means of sizes, from row `m` on).

use super::coordinates::ln;

/// Lags that are looked at, at most.
const FARTHEST: usize = 400;

/// Lengths that a season often has; one of them wins over a neighbour that is hardly higher.
const USUAL: [usize; 10] = [4, 7, 12, 24, 30, 48, 52, 168, 336, 365];

/// Rows below which no period is looked for.
pub(super) const FEWEST: usize = 16;

/// The periods of a series, none, one or two.
pub(super) fn periods(series: &[f64]) -> Vec<usize> {
    let n = series.len();
    if n < FEWEST {
        return Vec::new();
    }
    let lags = FARTHEST.min(n / 2 - 2);
    let differences: Vec<f64> = series.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let found = peaks(&autocorrelation(&differences, lags + 3), lags, n, (2.0 * ln(4.0 * lags as f64)).sqrt());
    if !found.is_empty() {
        return found;
    }
    let level = detrended(series);
    let smooth: Vec<f64> = level.windows(3).map(|w| 0.25 * w[0] + 0.5 * w[1] + 0.25 * w[2]).collect();
    peaks(&autocorrelation(&smooth, lags + 3), lags, n, 2.6)
}

/// Rows of the second time of a period that tell whether it comes again.
const AGAIN: usize = 8;

/// Rows from which a series without a season is more than its last value, or that of a period ago.
pub(super) const FEW: usize = 64;

/// How many times larger the differences over a period of the calendar must be than those over one
/// that is found.
const FAR_WORSE: f64 = 1.5;

/// Rows from which periods of the calendar may be those of the series.
pub(super) fn joins(likely: &[usize]) -> impl Iterator<Item = usize> {
    let first = likely.first().copied().unwrap_or(0);
    [FEW, first + AGAIN, 2 * first + 2].into_iter().chain(likely.iter().skip(1).copied())
}

/// The periods of a series whose times make some `likely`, and one more that it is `asked` for: see
/// the head of the module.
pub(super) fn of_calendar(series: &[f64], likely: &[usize], asked: Option<usize>, horizons: usize) -> Vec<usize> {
    let (n, found) = (series.len(), periods(series));
    let Some(first) = likely.first().copied() else { return found };
    let differences = |lag: usize, since: usize| (since..n).map(|t| (series[t] - series[t - lag]).abs()).sum::<f64>();
    let other = found.first().copied().filter(|other| first % other != 0 && other % first != 0);
    let is_nearer = |other: usize| {
        let since = first.max(other);
        n >= since + AGAIN && differences(first, since) > FAR_WORSE * differences(other, since)
    };
    if other.is_some_and(is_nearer) {
        return found;
    }
    let near = horizons.min(first / 2);
    let is_far = || n < first + AGAIN || differences(first, first) >= differences(near, first);
    if first > FEWEST && n < 2 * first + 2 && is_far() {
        return if found.is_empty() && n < FEW { vec![first] } else { found };
    }
    let has_come = |period: &usize| *period == first || n >= *period;
    let mut all: Vec<usize> = likely.iter().copied().filter(has_come).collect();
    all.extend(asked.filter(|asked| shows(series, *asked, likely.last().copied().unwrap_or(1))));
    all
}

/// True if a series has a season of `period` rows beside shorter ones, of which `within` is the
/// longest: `r` of the means over `within` rows, less their line, at `period` is above what chance
/// reaches seldom (`c = 1.7`, since one lag is asked: random walks and autoregressions of .97 are
/// taken for a year in 1 and 2 of 100, of 830 to 2,500 rows), and 0.3 above the lowest value before
/// it. It asks for two periods and a quarter.
pub(super) fn shows(series: &[f64], period: usize, within: usize) -> bool {
    let n = series.len();
    if 4 * n < 9 * period || within > n {
        return false;
    }
    let means: Vec<f64> = series.windows(within).map(|rows| rows.iter().sum::<f64>() / within as f64).collect();
    let r = autocorrelation(&detrended(&means), period);
    let lowest = r.iter().copied().fold(f64::INFINITY, f64::min);
    r[period] > chance(&r, 1.7, n - period) && r[period] - lowest > 0.3
}

/// What chance reaches seldom at a lag that so many pairs have: Bartlett's variance of `r` far out,
/// from the lags until it falls below 0, since a series that wanders has large waves by chance.
fn chance(r: &[f64], sharp: f64, pairs: usize) -> f64 {
    let near: f64 = r[1..].iter().take_while(|r| **r > 0.0).map(|r| r * r).sum();
    (sharp * ((1.0 + 2.0 * near) / pairs as f64).sqrt()).max(0.2)
}

/// `r` at lags `0 … lags`, each mean over the pairs that there are.
fn autocorrelation(series: &[f64], lags: usize) -> Vec<f64> {
    let n = series.len();
    let mean = series.iter().sum::<f64>() / n as f64;
    let largest = series.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return vec![0.0; lags + 1];
    }
    let x: Vec<f64> = series.iter().map(|value| (value - mean) / largest).collect();
    let covariance = |lag: usize| x[lag.min(n)..].iter().zip(&x).map(|(a, b)| a * b).sum::<f64>();
    let variance = covariance(0) / n as f64;
    (0..=lags).map(|lag| if lag < n { covariance(lag) / (n - lag) as f64 / variance } else { 0.0 }).collect()
}

/// The series less the line of least squares through it.
fn detrended(series: &[f64]) -> Vec<f64> {
    let n = series.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = series.iter().sum::<f64>() / n;
    let products: f64 = series.iter().enumerate().map(|(t, y)| (t as f64 - middle) * (y - mean)).sum();
    let slope = products / (n * (n * n - 1.0) / 12.0);
    series.iter().enumerate().map(|(t, y)| y - mean - slope * (t as f64 - middle)).collect()
}

/// `sharp` is `c`.
fn peaks(r: &[f64], lags: usize, n: usize, sharp: f64) -> Vec<usize> {
    let threshold = |m: usize| chance(r, sharp, n - m);
    let mut lowest = f64::INFINITY;
    let mut candidates = Vec::new();
    for m in 2..lags {
        lowest = lowest.min(r[m - 1]);
        let mut neighbours = r[(m - 2).max(1)..m].iter().chain(&r[m + 1..m + 3]);
        if r[m] > threshold(m) && neighbours.all(|other| r[m] >= *other) && r[m] - lowest > 0.3 {
            candidates.push(m);
        }
    }
    let best = candidates.iter().map(|m| r[*m]).fold(f64::NEG_INFINITY, f64::max);
    let Some(first) = candidates.iter().copied().find(|m| r[*m] >= 0.8 * best) else { return Vec::new() };
    // A cycle loses its phase, and a season does not.
    if 3 * first < r.len() && r[3 * first] < r[first] / 3.0 {
        return Vec::new();
    }
    let near = (0.1 * r[first]).min(1.0 / (n as f64).sqrt());
    let usual = |m: &usize| USUAL.contains(m) && m.abs_diff(first) == 1 && r[*m] >= r[first] - near;
    let first = [first - 1, first + 1].into_iter().find(usual).unwrap_or(first);
    // Autocorrelation falls with the lag: a multiple is compared with those before it.
    let rises = |m: &usize| {
        let lowest = (first..*m).step_by(first).map(|multiple| r[multiple]).fold(f64::INFINITY, f64::min);
        let chance = 2.0 / ((n - m) as f64).sqrt();
        m.is_multiple_of(first) && 3 * m <= n && r[*m] - lowest > (0.25 * (1.0 - lowest)).max(chance)
    };
    let longer: Vec<usize> = candidates.into_iter().filter(|m| *m > first).filter(rises).collect();
    let best = longer.iter().map(|m| r[*m]).fold(f64::NEG_INFINITY, f64::max);
    let high = || longer.iter().copied().filter(|m| r[*m] >= best - 0.02);
    let second = high().find(|m| USUAL.contains(m)).or_else(|| high().next());
    std::iter::once(first).chain(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(t: usize) -> f64 {
        ((t * 7919 + 13) * (t * 104_729 + 7) % 1009) as f64 / 1009.0 - 0.5
    }

    #[test]
    fn a_year_of_days_is_shown_by_two_of_them_and_not_by_a_walk_or_a_week() {
        let turn = |t: usize, m: f64| (t as f64 / m * std::f64::consts::TAU).sin();
        let year: Vec<f64> = (0..900).map(|t| 5.0 * turn(t, 365.0) + turn(t, 7.0) + 3.0 * noise(t)).collect();
        assert!(shows(&year, 365, 7) && !shows(&year[..800], 365, 7));
        let week: Vec<f64> = (0..1500).map(|t| turn(t, 7.0) + noise(t)).collect();
        assert!(!shows(&week, 365, 7));
        let mut level = 0.0;
        let walk: Vec<f64> = (0..1500)
            .map(|t| {
                level += noise(t);
                level
            })
            .collect();
        assert!(!shows(&walk, 365, 7));
    }

    #[test]
    fn periods_of_the_calendar_join_when_they_have_come_again() {
        let wave = |t: usize, m: f64| (t as f64 / m * std::f64::consts::TAU).sin();
        let of_hours = |series: &[f64], n: usize| of_calendar(&series[..n], &[24, 168], None, 12);
        let day: Vec<f64> = (0..200).map(|t| 3.0 * wave(t, 24.0) + wave(t, 168.0) + noise(t)).collect();
        assert_eq!([20, 36, 167].map(|n| of_hours(&day, n)), [[24], [24], [24]]);
        assert_eq!(of_hours(&day, 168), [24, 168]);
        // Two peaks a day are eleven hours apart, and the day is nearer.
        let peaks = |t: usize| f64::from([8, 9, 19, 20].contains(&(t % 24)));
        let busy: Vec<f64> = (0..100).map(|t| 3.0 * peaks(t) + noise(t)).collect();
        assert_eq!([40, 100].map(|n| of_hours(&busy, n)), [[24], [24]]);
        // A shift of seven hours knows no day.
        let shift: Vec<f64> = (0..100).map(|t| wave(t, 7.0) + 0.2 * noise(t)).collect();
        assert_eq!([30, 40, 100].map(|n| of_hours(&shift, n)), [[7], [7], [7]]);
        // Minutes that wander: a day ago is farther than the last hour, until there are two.
        let mut level = 0.0;
        let mut step = |t: usize| {
            level = 0.99 * level + noise(t);
            level + wave(t, 1440.0)
        };
        let minutes: Vec<f64> = (0..2900).map(&mut step).collect();
        let of_minutes = |n: usize| of_calendar(&minutes[..n], &[1440], None, 12).contains(&1440);
        assert_eq!([60, 64, 2000, 2881, 2882].map(of_minutes), [true, false, false, false, true]);
    }

    #[test]
    fn periods_are_found() {
        let wave = |t: usize, m: usize| (std::f64::consts::TAU * t as f64 / m as f64).sin();
        let one: Vec<f64> = (0..60).map(|t| 3.0 * wave(t, 12) + t as f64 + noise(t)).collect();
        assert_eq!(periods(&one), [12]);
        // Smaller waves at weekends.
        let size = |t: usize| if t / 24 % 7 < 5 { 2.0 } else { 0.8 };
        let two: Vec<f64> = (0..1500).map(|t| size(t) * wave(t, 24) + 0.1 * noise(t)).collect();
        assert_eq!(periods(&two), [24, 168]);
    }

    /// The autocorrelation of a damped wave that noise drives soon falls; months whose waves differ
    /// a little have no second period.
    #[test]
    fn cycles_and_chance_are_no_seasons() {
        let (mut state, mut last, mut before) = (7_u64, 0.0, 0.0);
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let turn = 2.0 * 0.93 * (std::f64::consts::TAU / 9.0).cos();
        let cycle: Vec<f64> = (0..600)
            .map(|_| {
                let noise: f64 = (0..4).map(|_| uniform()).sum();
                (last, before) = (turn * last - 0.93 * 0.93 * before + noise, last);
                last
            })
            .collect();
        assert!(periods(&cycle).is_empty(), "{:?}", periods(&cycle));
        let months: Vec<f64> = (0..220)
            .map(|t| (2.0 + noise(t / 12)) * (std::f64::consts::TAU * t as f64 / 12.0).sin() + 0.2 * noise(t))
            .collect();
        assert_eq!(periods(&months), [12]);
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        assert!(periods(&[1.0; 100]).is_empty() && periods(&[]).is_empty() && periods(&[1e100; 40]).is_empty());
        let line: Vec<f64> = (0..200).map(|t| t as f64).collect();
        assert!(periods(&line).is_empty());
        let independent: Vec<f64> = (0..500).map(noise).collect();
        assert!(periods(&independent).is_empty());
    }
}
