//! Modes are reliable where held-out lags agree: none of noise, at any delay, and those of systems
//! that have some.

use mercer_koopman::{OperatorModel, OperatorSums, OperatorSumsParams, Reason, Reliability, Trajectory};
use mercer_testkit::streams::uniforms;

use crate::support::Outcome;

/// The model of a series whose states are windows of `delay` rows.
fn model(series: &[f64], delay: usize) -> Result<OperatorModel, mercer_koopman::Error> {
    let mut learner = OperatorSums::new(delay, 0, OperatorSumsParams::default().delay(delay))?;
    let mut trajectory = Trajectory::new(1, delay, None)?;
    for y in series {
        if let Some((x, x_plus)) = trajectory.push(&[*y], None, None)? {
            learner.update(x, x_plus)?;
        }
    }
    learner.model(12, 20)
}

/// Nearly normal numbers of variance 1: sums of twelve uniform ones.
fn noise(seed: u64, count: usize) -> Vec<f64> {
    uniforms(seed, 12 * count).chunks_exact(12).map(|twelve| twelve.iter().sum::<f64>() - 6.0).collect()
}

#[test]
fn no_mode_of_noise_is_reliable_at_any_delay() -> Outcome {
    for delay in [1, 3, 8] {
        let model = model(&noise(5, 1000), delay)?;
        let others = model.modes().iter().filter(|mode| mode.reason != Reason::Constant);
        assert!(others.clone().all(|mode| !mode.is_reliable()), "delay {delay}: {:?}", model.modes());
        // Copies in a window are no skill.
        let quality = model.quality();
        assert!(quality.held_out > 0.98 * quality.mean && !model.is_deterministic(), "{quality:?}");
    }
    Ok(())
}

#[test]
fn a_random_walk_and_a_trend_are_not_stationary() -> Outcome {
    let steps = noise(6, 2000);
    let walk: Vec<f64> = steps
        .iter()
        .scan(0.0, |at, step| {
            *at += step;
            Some(*at)
        })
        .collect();
    let trend: Vec<f64> = steps.iter().enumerate().map(|(t, noise)| 0.01 * t as f64 + noise).collect();
    for series in [walk, trend] {
        let model = model(&series, 1)?;
        assert!(model.wanders());
        let others = model.modes().iter().filter(|mode| mode.reason != Reason::Constant);
        assert!(others.clone().all(|mode| !mode.is_reliable()), "{:?}", model.modes());
    }
    Ok(())
}

#[test]
fn the_slow_mode_of_an_autoregression_is_reliable_with_and_without_copies() -> Outcome {
    let noise = noise(7, 6000);
    let series: Vec<f64> = noise
        .iter()
        .scan(0.0, |at, step| {
            *at = 0.9 * *at + step;
            Some(*at)
        })
        .collect();
    for delay in [1, 3] {
        let model = model(&series, delay)?;
        let second = model.modes()[1];
        assert!(!model.wanders());
        assert_eq!((second.reliability, second.reason), (Reliability::Reliable, Reason::LagsAgree), "{second:?}");
        assert!((second.value.re - 0.9).abs() < 2.0 * second.spread + 0.02, "{second:?}");
    }
    Ok(())
}

/// Of an autoregression with the rate a the part 1 − a²ᵏ of the variance is missed k steps ahead;
/// of noise all of it, at any delay.
#[test]
fn errors_at_several_steps_are_those_of_the_newest_row() -> Outcome {
    let noise = noise(11, 6000);
    let series: Vec<f64> = noise
        .iter()
        .scan(0.0, |at, step| {
            *at = 0.9 * *at + step;
            Some(*at)
        })
        .collect();
    for delay in [1, 4] {
        let found = model(&series, delay)?;
        let later = found.later_errors();
        assert_eq!(later.iter().map(|(step, _)| *step).collect::<Vec<_>>(), [5, 20]);
        assert!((found.held_out_error(1).ok_or("one step")? - 0.19).abs() < 0.03, "{:?}", found.quality());
        for (step, error) in later {
            assert!((error - (1.0 - 0.9_f64.powi(2 * step as i32))).abs() < 0.2, "{step}: {error}");
        }
        assert_eq!(found.held_out_error(0), None);
        for (step, error) in model(&noise, delay)?.later_errors() {
            assert!((error - 1.0).abs() < 0.15, "{step}: {error}");
        }
    }
    // Paths of two rows tell nothing of later steps.
    let mut learner = OperatorSums::new(1, 0, OperatorSumsParams::default())?;
    noise.chunks_exact(2).take(500).try_for_each(|pair| learner.update(&pair[..1], &pair[1..]))?;
    assert_eq!(learner.held_out_errors(&[1, 5])?.len(), 1);
    Ok(())
}

/// A noisy logistic map: told by the state before it to a thousandth in one step, and not at all in
/// twenty, where forecasts are means.
#[test]
fn weak_noise_on_chaos_is_forgotten_and_forecasts_stay_in_range() -> Outcome {
    let noise = noise(8, 4000);
    let series: Vec<f64> = noise
        .iter()
        .scan(0.3, |at: &mut f64, step| {
            *at = (3.9 * *at * (1.0 - *at) + 0.01 * step).clamp(0.0, 1.0);
            Some(*at)
        })
        .collect();
    let model = model(&series, 1)?;
    assert!(model.quality().held_out < 0.01, "{:?}", model.quality());
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    for x in [0.01, 0.4, 0.99] {
        let path = model.forecast(&[x], &[], 20)?;
        assert!(path.iter().all(|state| (-0.1..=1.1).contains(&state[0])), "{path:?}");
        assert!((path[19][0] - mean).abs() < 0.1, "{path:?} {mean}");
    }
    Ok(())
}

/// A turning pair behind noise of a tenth of its deviation: least squares takes its modulus for too
/// small by .06, at any number of rows, and two lags tell. The spread holds it.
#[test]
fn spreads_hold_the_bias_that_noise_of_measurement_leaves() -> Outcome {
    let ((c, s), count) = ((0.98 * 0.2_f64.cos(), 0.98 * 0.2_f64.sin()), 6000);
    let noise = noise(9, 3 * count);
    let mut x = [0.0, 0.0];
    let series: Vec<f64> = noise
        .chunks_exact(3)
        .map(|e| {
            x = [c * x[0] - s * x[1] + 0.3 * e[0], s * x[0] + c * x[1] + 0.3 * e[1]];
            // The deviation is 0.3/√(1 − 0.98²).
            x[0] + 0.1 * 1.5 * e[2]
        })
        .collect();
    let model = model(&series, 4)?;
    let away = |mode: &mercer_koopman::Mode| (mode.value.re - c).hypot(mode.value.im - s);
    let nearest = model.modes().iter().min_by(|a, b| away(a).total_cmp(&away(b))).ok_or("a mode")?;
    // That it is off is what chance does not explain.
    assert!(away(nearest) > 0.03 && away(nearest) <= 2.0 * nearest.spread, "{nearest:?}");
    Ok(())
}

/// Without noise the functions are what is wrong: two spreads are at least the residual.
#[test]
fn spreads_of_a_system_without_noise_hold_its_residuals() -> Outcome {
    let mut learner = OperatorSums::new(2, 0, OperatorSumsParams::default())?;
    for draws in uniforms(10, 80).chunks_exact(2) {
        let (r, angle) = (0.3 + draws[0], std::f64::consts::TAU * draws[1]);
        let mut x = vec![r * angle.cos(), r * angle.sin()];
        for _ in 0..50 {
            let mut next = x.clone();
            for _ in 0..100 {
                let out = 1.0 - next[0] * next[0] - next[1] * next[1];
                next = vec![next[0] + 1e-3 * (next[0] * out - next[1]), next[1] + 1e-3 * (next[1] * out + next[0])];
            }
            learner.update(&x, &next)?;
            x = next;
        }
    }
    let model = learner.model(12, 1)?;
    assert!(model.is_deterministic());
    for mode in model.modes().iter().filter(|mode| mode.reason != Reason::Constant) {
        assert!(2.0 * mode.spread >= mode.residual, "{mode:?}");
    }
    Ok(())
}
