//! Promises of the learners beyond their formulas: budgets, forgetting that cannot wind up,
//! divergence that is caught.

use mercer_core::ExampleError;
use mercer_kernels::{AnyKernel, Gaussian, Linear, Polynomial};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Fogd, FogdParams, KernelAwv, KernelRidgeParams, Krls,
    KrlsParams, NonsAld, NonsAldParams, NystromParams, PkawvNystrom, Regressor, RegressorExt,
};
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;

#[test]
fn max_dictionary_is_never_exceeded() -> TestResult {
    let stream = streams::smooth_noisy(1, 300, 3, 0.1);
    let kernel = Gaussian::new(0.3)?;
    let nons = NonsAldParams::default().max_dictionary(Some(11));
    let con = ConKonsParams::default().gamma(0.1).max_dictionary(Some(11));
    let krls = KrlsParams::default().lambda(0.0).max_dictionary(Some(11));
    let learners: [Box<dyn Regressor>; 3] = [
        Box::new(NonsAld::new(kernel, 3, nons)?),
        Box::new(ConKons::new(kernel, 3, con)?),
        Box::new(Krls::new(kernel, 3, krls)?),
    ];
    for mut learner in learners {
        for (x, y) in &stream {
            learner.update(x, *y)?;
        }
        assert_eq!(learner.dictionary_size(), 11);
    }
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused_with_their_name() -> TestResult {
    let kernel = Gaussian::new(1.0)?;
    let message = |error: Option<Error>| error.map(|e| e.to_string()).unwrap_or_default();
    let mu = NonsAldParams::default().mu(0.0);
    assert_eq!(message(NonsAld::new(kernel, 1, mu).err()), "mu must be a number > 0, got 0");
    let forgetting = KrlsParams::default().lambda(0.0).forgetting(1.5);
    assert!(
        message(Krls::new(kernel, 1, forgetting).err()).starts_with("forgetting must be a number above 0, at most 1")
    );
    let alpha = AogdAldParams::default().alpha(f64::NAN);
    assert!(message(AogdAld::new(kernel, 1, alpha).err()).starts_with("alpha must be"));
    let features = FogdParams::default().features(0);
    assert_eq!(message(Fogd::new(1, features).err()), "features must be a whole number ≥ 1, got 0");
    Ok(())
}

#[test]
fn a_step_that_diverges_is_refused_and_the_learner_stays_usable() -> TestResult {
    let mut learner = Fogd::new(1, FogdParams::default().step(1e6).features(8))?;
    let mut refused = None;
    for t in 0..2000 {
        let x = [f64::from(t % 13) / 13.0];
        if let Err(error) = learner.update(&x, 1.0) {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused, Some(Error::Example(ExampleError::Diverged)));
    assert!(learner.predict(&[0.5])?.is_finite());
    Ok(())
}

#[test]
fn an_overflowing_kernel_is_an_error_not_a_panic() -> TestResult {
    let mut learner = Krls::new(Polynomial::new(3, 1.0)?, 1, KrlsParams::default().lambda(0.0))?;
    learner.update(&[0.5], 1.0)?;
    assert_eq!(learner.update(&[1e200], 1.0), Err(ExampleError::KernelOverflow.into()));
    assert_eq!(learner.predict(&[1e200]), Err(ExampleError::KernelOverflow.into()));
    Ok(())
}

#[test]
fn the_zero_vector_of_a_linear_kernel_is_learnt_around() -> TestResult {
    let mut learner = ConKons::new(Linear, 2, ConKonsParams::default())?;
    learner.update(&[0.0, 0.0], 1.0)?;
    learner.update(&[1.0, 0.0], 0.5)?;
    assert_eq!(learner.predict(&[0.0, 0.0])?, 0.0);
    Ok(())
}

/// The target turns over in mid-stream: with forgetting the learner follows, without it averages
/// both halves.
#[test]
fn forgetting_follows_a_change() -> TestResult {
    let error_after_change = |forgetting: f64| -> Result<f64, Error> {
        let params = KrlsParams::default().nu(1e-2).lambda(0.01).forgetting(forgetting).max_dictionary(None);
        let mut learner = Krls::new(Gaussian::new(0.5)?, 1, params)?;
        let mut loss = 0.0;
        for (t, (x, y)) in streams::smooth_noisy(3, 4000, 1, 0.02).into_iter().enumerate() {
            let target = if t < 2000 { y } else { -y };
            let prediction = learner.predict_then_update(&x, target)?;
            if t >= 3500 {
                loss += (prediction - target).powi(2);
            }
        }
        Ok(loss / 500.0)
    };
    let (with, without) = (error_after_change(0.99)?, error_after_change(1.0)?);
    assert!(with < 0.002 && without > 10.0 * with, "{with} with forgetting, {without} without");
    Ok(())
}

/// The stream visits one place only, for long: directions that are not excited must not lose what
/// is known of them.
#[test]
fn forgetting_cannot_wind_up() -> TestResult {
    let params = KrlsParams::default().nu(1e-3).lambda(0.1).forgetting(0.9).max_dictionary(None);
    let mut learner = Krls::new(Gaussian::new(0.5)?, 2, params)?;
    for (x, y) in streams::smooth_noisy(4, 500, 2, 0.05) {
        learner.update(&x, y)?;
    }
    let before = learner.predict(&[0.8, -0.8])?;
    for t in 0..20_000 {
        let wiggle = f64::from(t % 7) * 1e-3;
        learner.update(&[-0.7 + wiggle, 0.6], 0.2)?;
    }
    let trace = learner.linear().inverse().trace();
    assert!(trace <= learner.dictionary_size() as f64 / 0.1 * (1.0 + 1e-9), "trace {trace}");
    assert!((learner.predict(&[0.8, -0.8])? - before).abs() < 0.1);
    let here = learner.predict(&[-0.7, 0.6])?;
    assert!((here - 0.2).abs() < 0.01, "predicts {here}");
    Ok(())
}

/// Pairs of points 1e-5 apart, nearly all of them kept: a finite rank is exhausted soon, a wide
/// Gaussian nearly so, and the projection loses nothing of the whole kernel but rounding.
#[test]
fn projections_survive_points_of_the_span() -> TestResult {
    let mut stream = streams::smooth_noisy(5, 300, 3, 0.1);
    for t in (1..stream.len()).step_by(2) {
        stream[t].0 = stream[t - 1].0.iter().zip(&stream[t].0.clone()).map(|(x, step)| x + 1e-5 * step).collect();
    }
    for (spec, coordinates) in [("polynomial:4,1", 35..36), ("gaussian:1", 100..300), ("gaussian:1000", 3..10)] {
        let kernel: AnyKernel = spec.parse()?;
        let params = NystromParams::default().lambda(0.1).mu(1e-6).beta(20.0);
        let mut projected = PkawvNystrom::new(kernel.clone(), 3, params)?;
        let mut whole = KernelAwv::new(kernel, 3, KernelRidgeParams::default().lambda(0.1))?;
        for (x, y) in &stream {
            let gap = (projected.predict_then_update(x, *y)? - whole.predict_then_update(x, *y)?).abs();
            assert!(gap < 1e-6, "{spec}: {gap:e}");
        }
        assert!(coordinates.contains(&projected.dictionary_size()), "{spec}: {}", projected.dictionary_size());
    }
    Ok(())
}
