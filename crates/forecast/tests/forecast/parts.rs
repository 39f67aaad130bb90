//! Parts of forecasts, effects of inputs, and what inputs cost that tell nothing.

use mercer_core::Validate;
use mercer_forecast::{Detail, Forecaster, Periods, SeasonMixture, SeasonParams, Seasons};

use crate::TestResult;
use crate::season::noise;

const WEEK: [f64; 7] = [20.0, 5.0, -10.0, 3.0, -9.0, 6.0, -15.0];

fn params() -> SeasonParams {
    SeasonParams::default().periods(Periods::Given(vec![7])).horizons(14).detail(Detail::Full)
}

fn near(found: f64, truth: f64, by: f64) -> bool {
    (found - truth).abs() <= by
}

#[test]
fn parts_are_those_that_the_series_was_made_of() -> TestResult {
    let mut mixture = SeasonMixture::new(params())?;
    let mut noise = noise(7);
    for t in 0..200 {
        let before = mixture.path(1);
        let parts = mixture.parts(&before);
        assert!(near(parts.sum(0), before[0], 1e-9), "row {t}");
        // All is rest before the experts have begun.
        assert_eq!(parts.rest[0] == before[0] && parts.trend[0] == 0.0, t < 16, "row {t}");
        mixture.learn(Some(100.0 + 0.5 * f64::from(t) + WEEK[t as usize % 7] + 0.5 * noise()))?;
    }
    let path = mixture.path(14);
    let parts = mixture.parts(&path);
    for (step, forecast) in path.iter().enumerate() {
        assert!(near(parts.sum(step), *forecast, 1e-9));
        assert!(near(parts.trend[step], 100.0 + 0.5 * (200 + step) as f64, 1.0), "{step}: {:?}", parts.trend);
        assert!(near(parts.seasons[0][step], WEEK[(200 + step) % 7], 1.0), "{step}: {:?}", parts.seasons);
        assert!(parts.rest[step].abs() < 1.0, "{step}: {:?}", parts.rest);
    }
    assert_eq!((parts.seasons.len(), parts.inputs.len()), (1, 0));
    Ok(())
}

/// A season in per cent: what its waves add grows with the trend.
#[test]
fn waves_of_logarithms_are_in_units_of_the_series() -> TestResult {
    let mut mixture = SeasonMixture::new(params())?;
    let level = |t: usize| 100.0 * (0.01 * t as f64).exp();
    for t in 0..300 {
        mixture.learn(Some(level(t) * (1.0 + 0.01 * WEEK[t % 7])))?;
    }
    let path = mixture.path(14);
    let parts = mixture.parts(&path);
    for (step, forecast) in path.iter().enumerate() {
        let (t, share) = (300 + step, 0.01 * WEEK[(300 + step) % 7]);
        assert!(near(parts.sum(step), *forecast, 1e-9 * forecast));
        // The trend is the geometric middle of the week.
        assert!(near(parts.trend[step], level(t), 0.02 * level(t)), "{step}: {} {}", parts.trend[step], level(t));
        assert!(near(parts.seasons[0][step], share * level(t), 0.02 * level(t)), "{step}: {:?}", parts.seasons);
    }
    Ok(())
}

/// Sales with promotions that sell 30 more; the second input tells nothing.
fn promoted(rows: usize) -> Vec<([f64; 2], f64)> {
    let (mut noise, mut idle) = (noise(11), noise(5));
    let row = |t: usize| {
        let input = [f64::from(t * t % 11 == 4), idle()];
        (input, 100.0 + WEEK[t % 7] + 30.0 * input[0] + 2.0 * noise())
    };
    (0..rows).map(row).collect()
}

#[test]
fn inputs_have_an_effect_and_a_part() -> TestResult {
    let mut seasons = Seasons::new(1, 2, &params())?;
    for (input, y) in promoted(250) {
        seasons.observe(&input, &[y])?;
    }
    let effects = seasons.effects(0);
    for (effect, truth) in effects.iter().zip([30.0, 0.0]) {
        assert!(near(effect.per_unit, truth, 3.0 * effect.standard_error), "{effect:?}");
        assert!((0.05..2.0).contains(&effect.standard_error) && effect.share > 0.99, "{effect:?}");
    }
    let inputs = [0.0, 0.0, 1.0, 0.0];
    let path = seasons.forecast(2, &inputs)?;
    let parts = seasons.parts(0, &path, &inputs)?;
    assert!((0..2).all(|step| near(parts.sum(step), path[step], 1e-9)));
    assert_eq!(parts.inputs.len(), 2);
    let gained = parts.inputs[0][1] - parts.inputs[0][0];
    assert!(near(gained, 30.0, 1.5) && near(gained, effects[0].per_unit, 0.5), "{gained}");
    assert!(seasons.parts(0, &path, &inputs[..3]).is_err());
    let [low, high] = seasons.band(0, 0.9, 1, path[0]);
    assert_eq!([low, high], [0.05, 0.95].map(|p| seasons.quantile(0, p, 1, path[0])));
    assert_eq!(seasons.validate(), Ok(()));
    Ok(())
}

/// Mean absolute errors of forecasts of 7 steps, behind row 60.
fn errors(rows: &[(Vec<f64>, f64)], inputs: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut seasons = Seasons::new(1, inputs, &params())?;
    let (mut sum, mut count) = (0.0, 0.0);
    for (t, (input, y)) in rows.iter().enumerate() {
        if t >= 60 && t % 5 == 0 && t + 7 <= rows.len() {
            let coming: Vec<f64> = rows[t..t + 7].iter().flat_map(|(input, _)| input[..inputs].to_vec()).collect();
            for (forecast, (_, y)) in seasons.forecast(7, &coming)?.iter().zip(&rows[t..]) {
                sum += (forecast - y).abs();
                count += 1.0;
            }
        }
        seasons.observe(&input[..inputs], &[*y])?;
    }
    Ok(sum / count)
}

#[test]
fn inputs_that_tell_nothing_cost_little_and_others_gain() -> TestResult {
    let (mut ratios, mut gains) = (0.0_f64, 0.0_f64);
    for seed in 0..6 {
        let (mut noise, mut idle, mut level) = (noise(seed), noise(100 + seed), 0.0);
        let mut walks = [0.0; 3];
        let mut idle_row = |t: usize| {
            level += 0.5 * noise();
            walks.iter_mut().for_each(|walk| *walk += idle());
            (walks.to_vec(), 100.0 + level + WEEK[t % 7] + 3.0 * noise())
        };
        let rows: Vec<(Vec<f64>, f64)> = (0..160).map(&mut idle_row).collect();
        ratios += (errors(&rows, 3)? / errors(&rows, 0)?).ln() / 6.0;
        let telling = |(input, y): (Vec<f64>, f64)| {
            let y = y + 4.0 * input[0];
            (input, y)
        };
        let rows: Vec<(Vec<f64>, f64)> = rows.into_iter().map(telling).collect();
        gains += (errors(&rows, 3)? / errors(&rows, 0)?).ln() / 6.0;
    }
    assert!(ratios.exp() < 1.02 && gains.exp() < 0.8, "{} {}", ratios.exp(), gains.exp());
    Ok(())
}
