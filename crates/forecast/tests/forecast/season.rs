//! Promises of a season mixture: gaps, spoilt numbers, trends, floors, and what it is worth.

use mercer_core::Validate;
use mercer_forecast::{Detail, Forecaster, Periods, SeasonMixture, SeasonParams, Seasons, SharedWeights};

use crate::TestResult;

/// Pseudo-random numbers between 0 and 1.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// Some that are nearly normal.
pub(crate) fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut uniform = uniform(seed);
    move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

fn mixture(periods: &[usize], horizons: usize) -> Result<SeasonMixture, mercer_core::ParameterError> {
    SeasonMixture::new(SeasonParams::default().periods(Periods::Given(periods.to_vec())).horizons(horizons))
}

/// A wave of 7 rows with noise of deviation 1.
fn weekly(rows: usize) -> Vec<f64> {
    let mut noise = noise(3);
    (0..rows).map(|t| 50.0 + 8.0 * (t as f64 * std::f64::consts::TAU / 7.0).sin() + noise()).collect()
}

#[test]
fn a_forecast_after_missing_rows_is_one_of_more_steps() -> TestResult {
    for detail in [Detail::Full, Detail::Light, Detail::default()] {
        let params = SeasonParams::default().periods(Periods::Given(vec![7])).horizons(8).detail(detail);
        let mut mixture = SeasonMixture::new(params)?;
        for y in weekly(150) {
            mixture.learn(Some(y))?;
        }
        let before = mixture.path(30);
        let wide = mixture.quantile(0.95, 8, 0.0);
        for forecast in &before[..5] {
            assert_eq!(mixture.learn(None)?, *forecast);
        }
        assert_eq!(mixture.path(25), before[5..]);
        assert_eq!(mixture.quantile(0.95, 3, 0.0), wide);
        assert_eq!(mixture.validate(), Ok(()));
    }
    Ok(())
}

/// Mean absolute error of one step over the last rows.
fn late_error(
    series: impl Iterator<Item = Option<f64>>,
    truth: &[f64],
    from: usize,
) -> Result<f64, mercer_forecast::Error> {
    let mut mixture = mixture(&[7], 7)?;
    let mut errors = 0.0;
    for (t, (row, truth)) in series.zip(truth).enumerate() {
        let prediction = mixture.learn(row)?;
        if t >= from {
            errors += (prediction - truth).abs();
        }
    }
    Ok(errors / (truth.len() - from) as f64)
}

#[test]
fn spoilt_numbers_and_gaps_cost_little() -> TestResult {
    let truth = weekly(1400);
    let clean = late_error(truth.iter().map(|y| Some(*y)), &truth, 900)?;
    for (at, spoilt) in [(400, -9999.0), (400, 1e100), (30, -9999.0)] {
        let rows = truth.iter().enumerate().map(|(t, y)| Some(if t == at { spoilt } else { *y }));
        let error = late_error(rows, &truth, 900)?;
        assert!(error < 1.05 * clean, "{spoilt:e} in row {at}: {error} where {clean} would be");
    }
    let gaps = truth.iter().enumerate().map(|(t, y)| (t * 7919 % 10 >= 2).then_some(*y));
    let error = late_error(gaps, &truth, 900)?;
    assert!(error < 1.1 * clean, "with a fifth missing {error} where {clean} would be");
    Ok(())
}

/// Columns without a season of which cells are missing, by the experts that the command takes for
/// so many: no worse than the last value that is there, and forecasts within what was seen.
#[test]
fn columns_with_many_gaps_are_forecast_as_well_as_by_their_last_values() -> TestResult {
    for (columns, missing, detail) in [(10, 0.2, Detail::Light), (12, 0.15, Detail::Light), (1, 0.8, Detail::default())]
    {
        let mut seasons = Seasons::new(columns, 0, &SeasonParams::default().detail(detail))?;
        let (mut noise, mut level, mut last) = (noise(9), vec![0.0; columns], vec![0.0_f64; columns]);
        let mut share = uniform(5);
        let (mut ours, mut theirs, mut largest) = (0.0, 0.0, 0.0_f64);
        let mut prediction = vec![0.0; columns];
        for t in 0..1000 {
            level.iter_mut().for_each(|y| *y = 0.9 * *y + noise());
            let row: Vec<f64> = level.iter().map(|y| if share() < missing { f64::NAN } else { *y }).collect();
            seasons.predict_then_observe(&[], &row, &mut prediction)?;
            for ((y, last), prediction) in row.iter().zip(&mut last).zip(&prediction).filter(|((y, _), _)| !y.is_nan())
            {
                if t >= 500 {
                    ours += (prediction - y).powi(2);
                    theirs += (*last - y).powi(2);
                }
                (*last, largest) = (*y, largest.max(y.abs()));
            }
        }
        assert!(
            ours <= 1.02 * 1.02 * theirs,
            "{columns} columns: {} of the last value's error",
            (ours / theirs).sqrt()
        );
        assert!(seasons.forecast(3, &[])?.iter().all(|y| y.abs() <= largest), "{columns} columns go out of range");
    }
    Ok(())
}

/// A chaotic series, which no linear forecast knows: the learner does.
#[test]
fn a_learner_sees_what_is_not_linear() -> TestResult {
    let errors = [Detail::Full, Detail::default()].map(|detail| -> Result<f64, mercer_forecast::Error> {
        let params = SeasonParams::default().periods(Periods::Given(vec![7])).horizons(1).detail(detail);
        let mut mixture = SeasonMixture::new(params)?;
        let (mut x, mut before, mut errors) = (0.1, 0.1, 0.0);
        for t in 0..600 {
            // Hénon's map.
            (x, before) = (1.0 - 1.4 * x * x + 0.3 * before, x);
            let error: f64 = mixture.learn(Some(x))? - x;
            errors += if t < 400 { 0.0 } else { error * error };
        }
        Ok((errors / 200.0).sqrt())
    });
    let [Ok(without), Ok(with)] = errors else { return Err("a row is refused".into()) };
    assert!(with < 0.5 * without, "{with} with a learner, {without} without");
    Ok(())
}

/// Holt's method with the best of a grid of its two constants: the forecast of `ahead` steps.
fn holt(series: &[f64], ahead: usize) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for alpha in [0.02, 0.05, 0.1, 0.2, 0.4] {
        for beta in [0.005, 0.02, 0.1, 0.3] {
            let (mut level, mut slope, mut squares) = (series[0], series[1] - series[0], 0.0);
            for y in &series[1..] {
                let error = y - level - slope;
                squares += error * error;
                (level, slope) = (level + slope + alpha * error, slope + alpha * beta * error);
            }
            if squares < best.0 {
                best = (squares, level + ahead as f64 * slope);
            }
        }
    }
    best.1
}

#[test]
fn noisy_lines_go_on_as_lines() -> TestResult {
    let (mut ours, mut holts) = (0.0, 0.0);
    for seed in 0..8 {
        let mut noise = noise(seed);
        let series: Vec<f64> = (0..300).map(|t| 0.05 * f64::from(t) + noise()).collect();
        let truth = 0.05 * 349.0;
        let mut mixture = mixture(&[], 12)?;
        series.iter().try_for_each(|y| mixture.learn(Some(*y)).map(drop))?;
        let path = mixture.path(50);
        ours += (path[49] - truth).abs() / 8.0;
        holts += (holt(&series, 50) - truth).abs() / 8.0;
    }
    assert!(ours <= holts, "50 ahead {ours}; Holt {holts}");
    Ok(())
}

#[test]
fn counts_have_a_floor_and_quantiles_are_in_order() -> TestResult {
    let mut mixture = mixture(&[7], 7)?;
    assert_eq!(mixture.floor(), None);
    for t in 0..200_u32 {
        mixture.learn(Some(f64::from(t * t % 3 % 2)))?;
        let path = mixture.path(7);
        assert!(path.iter().all(|y| *y >= 0.0), "{path:?}");
        let quantiles: Vec<f64> = (1..20).map(|i| mixture.quantile(f64::from(i) / 20.0, 7, path[6])).collect();
        assert!(quantiles[0] >= 0.0 && quantiles.windows(2).all(|pair| pair[0] <= pair[1]), "{quantiles:?}");
    }
    mixture.learn(Some(-1.0))?;
    assert_eq!(mixture.floor(), None);
    assert!(mixture.learn(Some(f64::NAN)).is_err() && mixture.learn(Some(1e101)).is_err());
    Ok(())
}

/// A new series of a kind that is known: its first errors are smaller.
#[test]
fn a_series_begins_with_the_weights_of_others() -> TestResult {
    let series = |seed: u64| {
        let mut noise = noise(seed);
        (0..60).map(move |t| 50.0 + 8.0 * (t as f64 * std::f64::consts::TAU / 7.0).sin() + noise())
    };
    let mut shared = SharedWeights::default();
    for seed in 0..6 {
        let mut mixture = mixture(&[7], 7)?;
        series(seed).try_for_each(|y| mixture.learn(Some(y)).map(drop))?;
        mixture.share(&mut shared);
    }
    assert_eq!(shared.validate(), Ok(()));
    let (mut alone, mut like) = (0.0, 0.0);
    for seed in 10..30 {
        for (errors, begins_like) in [(&mut alone, false), (&mut like, true)] {
            let mut mixture = mixture(&[7], 7)?;
            if begins_like {
                mixture.begin_like(&shared);
            }
            for (t, y) in series(seed).take(40).enumerate() {
                let error = mixture.learn(Some(y))? - y;
                *errors += if t < 16 { 0.0 } else { error * error };
            }
            assert_eq!(mixture.validate(), Ok(()));
        }
    }
    assert!(like < 0.97 * alone, "{like} after others, {alone} alone");
    Ok(())
}

#[test]
fn periods_are_found_and_scores_say_what_they_are_worth() -> TestResult {
    let mut mixture = SeasonMixture::new(SeasonParams::default())?;
    for y in weekly(400) {
        mixture.learn(Some(y))?;
        assert_eq!(mixture.validate(), Ok(()));
    }
    assert_eq!(mixture.periods(), [7]);
    let scores = mixture.scores();
    let of = &scores.one_step;
    assert!(of.count > 250 && of.rmse(&of.mixture) < 0.85 * of.rmse(&of.seasonal_naive));
    assert!(of.rmse(&of.mixture) < 0.5 * of.rmse(&of.last_value) && scores.mase() < 0.85);
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |periods: &[usize]| mixture(periods, 1).is_err();
    assert!(refused(&[1]) && refused(&[7, 7]) && refused(&[12, 7]) && refused(&[20_001]) && refused(&[2, 3, 4, 5]));
    assert!(mixture(&[], 0).is_err() && mixture(&[], 2001).is_err());
    assert!(SeasonMixture::new(SeasonParams::default().coverage(1.0)).is_err());
    let budget = |budget| SeasonMixture::new(SeasonParams::default().detail(Detail::WithLearner { budget }));
    assert!(budget(999).is_err() && budget(1000).is_ok() && budget(1_000_000_001).is_err());
}

/// A level a million deviations higher: from the second row on errors are those of before, the
/// season is kept, and the old level is known when it returns.
#[test]
fn a_new_level_is_followed_with_all_that_was_learnt() -> TestResult {
    let mut normal = noise(5);
    let mut seasons = Seasons::new(1, 0, &SeasonParams::default().periods(Periods::Given(vec![12])))?;
    let (mut before, mut after, mut prediction) = (0.0, Vec::new(), [0.0]);
    for t in 0..700 {
        let wave = 10.0 + 5.0 * (std::f64::consts::TAU * f64::from(t) / 12.0).sin();
        let level = if (300..600).contains(&t) { 1e6 } else { 0.0 };
        let y = level + wave + normal();
        seasons.predict_then_observe(&[], &[y], &mut prediction)?;
        let error = (prediction[0] - y).abs();
        match t {
            200..300 => before += error / 100.0,
            // The screen lets a new level pass after some rows, and the old one at once.
            310..410 | 601..700 => after.push(error),
            _ => {}
        }
    }
    let mean = after.iter().sum::<f64>() / after.len() as f64;
    assert!(mean < 1.3 * before, "{mean} after, {before} before");
    Ok(())
}

/// Zeros for long, and then a series: nothing of the zeros is left.
#[test]
fn what_leaves_a_constant_is_learnt_anew() -> TestResult {
    let mut normal = noise(6);
    let mut seasons = Seasons::new(1, 0, &SeasonParams::default().periods(Periods::Given(Vec::new())))?;
    let (mut error, mut prediction) = (0.0, [0.0]);
    for t in 0..1000 {
        let y = if t < 500 { 0.0 } else { 1e5 + normal() };
        seasons.predict_then_observe(&[], &[y], &mut prediction)?;
        error += if t < 600 { 0.0 } else { (prediction[0] - y).abs() / 400.0 };
    }
    // That of the mean is 0.8.
    assert!(error < 0.95, "{error}");
    Ok(())
}

/// The prediction that is told with a row was made before it: also of a row that shows a level,
/// with which the series is another one at once. The learner sees what the experts do not.
#[test]
fn predictions_are_made_before_their_rows() -> TestResult {
    for detail in [Detail::default(), Detail::Full, Detail::Light] {
        let params = SeasonParams::default().periods(Periods::Given(vec![7])).horizons(14).detail(detail);
        let mut mixture = SeasonMixture::new(params)?;
        let (mut x, mut last) = (0.1, 0.1);
        for t in 0..700 {
            (x, last) = (1.0 - 1.4 * x * x + 0.3 * last, x);
            let level = if (500..530).contains(&t) { 40.0 } else { 0.0 };
            let before = mixture.path(1)[0];
            let told = mixture.learn(Some(x + level))?;
            assert!((before - told).abs() <= 1e-9 * before.abs().max(1.0), "row {t}: {before}, {told}");
        }
        assert_eq!(mixture.surprises().1, 2);
    }
    Ok(())
}
