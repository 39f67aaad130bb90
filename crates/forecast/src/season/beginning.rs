//! Forecasts of the warm-up: the value of a season ago, or the last value, and the growth since.
//!
//! Of changes `d` over a season (of one row without a season) the growth is `d̄·t²/(t² + 3)`, where
//! `t = d̄/(s/√ν)` is the mean over its standard error: a drift that may be noise counts for
//! little, one without noise counts whole. `ν = n(1 − ρ)/(1 + ρ)` counts changes that follow each
//! other (correlation `ρ`) for as many as they are worth: a level that wanders is no growth.

/// Changes below which nothing is said of growth.
const LEAST: usize = 3;

/// Doubt: the growth is half believed at `t² = 3`.
const DOUBT: f64 = 3.0;

/// Growth over one change, shrunk by its own doubt; 0 for few changes.
fn growth(changes: &[f64]) -> f64 {
    let n = changes.len() as f64;
    if changes.len() < LEAST {
        return 0.0;
    }
    let mean = changes.iter().sum::<f64>() / n;
    let around = |change: &f64| change - mean;
    let squares: f64 = changes.iter().map(|change| around(change).powi(2)).sum();
    // Numbers that are rounded in steps of a line: no noise.
    if mean == 0.0 || squares <= (1e-9 * mean).powi(2) * n {
        return mean;
    }
    let products: f64 = changes.windows(2).map(|pair| around(&pair[0]) * around(&pair[1])).sum();
    let rho = (products / squares).clamp(0.0, 0.99);
    let worth = (n * (1.0 - rho) / (1.0 + rho)).max(1.0);
    let t_squared = mean * mean * worth / (squares / (n - 1.0));
    mean * t_squared / (t_squared + DOUBT)
}

/// Growth over a season of the rows of a beginning, or over a row without one. `O(rows)`.
pub(super) fn growth_of(beginning: &[Option<f64>], season: Option<usize>) -> f64 {
    let lag = season.unwrap_or(1);
    let pairs = beginning.iter().zip(beginning.iter().skip(lag));
    let changes: Vec<f64> = pairs.filter_map(|(before, after)| Some((*after)? - (*before)?)).collect();
    growth(&changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: impl Iterator<Item = f64>) -> Vec<Option<f64>> {
        values.map(Some).collect()
    }

    /// `sin` of large numbers as noise.
    fn noise(t: usize) -> f64 {
        (t as f64 * 12.9898).sin() * 43758.5453 % 1.0
    }

    #[test]
    fn a_line_grows_by_its_slope_and_few_rows_by_nothing() {
        let line = rows((1..=9).map(|t| f64::from(t) * 10.1));
        assert!((growth_of(&line, None) - 10.1).abs() < 1e-9);
        assert_eq!(growth_of(&line[..3], None), 0.0);
        assert_eq!(growth_of(&rows(std::iter::repeat_n(4.0, 9)), None), 0.0);
    }

    #[test]
    fn growth_is_shrunk_by_its_own_doubt() {
        // By hand: changes 1, 2, 3 have mean 2, s² = 1, ρ = 0 and t² = 12.
        let four = rows([0.0, 1.0, 3.0, 6.0].into_iter());
        assert!((growth_of(&four, None) - 2.0 * 12.0 / 15.0).abs() < 1e-12);
        // Noise has no growth that counts.
        let noise = rows((0..40).map(noise));
        assert!(growth_of(&noise, None).abs() < 0.01);
    }

    #[test]
    fn a_season_with_a_slope_grows_by_the_slope_of_a_season_whatever_is_missing() {
        let mut weeks = rows((0..100).map(|t| 2.0 * t as f64 + 30.0 * (t as f64 * std::f64::consts::TAU / 52.0).sin()));
        assert!((growth_of(&weeks, Some(52)) - 104.0).abs() < 1e-6);
        weeks[70] = None;
        assert!((growth_of(&weeks, Some(52)) - 104.0).abs() < 1e-6);
    }

    #[test]
    fn a_level_that_wanders_is_no_growth() {
        // One step up in the middle of the second season: the changes are of two kinds that follow
        // each other.
        let hours = rows((0..44).map(|t| if t < 34 { noise(t) } else { 3.0 + noise(t) }));
        assert!(growth_of(&hours, Some(24)).abs() < 0.5, "{}", growth_of(&hours, Some(24)));
    }
}
