//! Corners of the contract, one test a fault that there was.

use mercer_core::ExampleError;
use mercer_experts::{PageHinkley, Rule};
use mercer_kernels::Gaussian;
use mercer_learners::catalogue::{Context, Value};
use mercer_learners::update::{GradientStep, GrowingUpdate, LinearUpdate, StepSize};
use mercer_learners::{
    ConKons, ConKonsParams, Error, Eviction, Fogd, FogdParams, Krls, KrlsParams, Loss, Mixture, NonsAld, NonsAldParams,
    Norma, NormaParams, Regressor, RegressorExt, Removal, Restarting, Schedule, Target, Targets,
};
use mercer_registry::entries;
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Predictions of counts are `eᶻ`; their loss is that of the score `z`.
#[test]
fn the_loss_of_predicted_counts() -> TestResult {
    let loss: Loss = "poisson".parse()?;
    for (z, y) in [(0.3, 2.0), (-4.0, 0.0), (3.0, 17.0)] {
        let mut prediction = [z];
        loss.predictions(&mut prediction);
        let (made, expected) = (loss.value_of_predictions(&prediction, &[y]), f64::exp(z) - y * z);
        assert!((made - expected).abs() < 1e-12, "{made} for {expected}");
    }
    assert!(loss.value_of_predictions(&[0.0], &[0.0]) == 0.0 && loss.value_of_predictions(&[0.0], &[1.0]) > 700.0);
    Ok(())
}

/// Counts of 20 stop. With `eᶻ` in the place of `z` the loss would be `e²⁰` before and after.
#[test]
fn a_detector_sees_the_loss_of_counts() -> TestResult {
    let params = FogdParams::default().features(20).step(2e-3).loss("poisson".parse()?);
    let mut learner = Restarting::new(Fogd::new(1, params)?, PageHinkley::default());
    for t in 0..3000 {
        let y = if t < 2000 { 20.0 } else { 0.0 };
        learner.update(&[f64::from(t % 7) / 7.0], y)?;
    }
    assert!(learner.restarts() > 0, "no alarm");
    Ok(())
}

#[test]
fn targets_of_no_width_are_refused() {
    assert!(matches!(Targets::new(&[], &[], 0), Err(Error::Targets { .. })));
    assert!(Targets::new(&[], &[], 1).is_ok_and(|targets| targets.is_empty()));
}

#[test]
fn scores_of_another_length_are_refused_before_anything_is_learnt() -> TestResult {
    let mut learner = Krls::new(Gaussian::new(1.0)?, 1, KrlsParams::default().lambda(0.1).outputs(2))?;
    learner.learn(&[0.5], Target::new(&[1.0, 2.0]), &mut [0.0; 2])?;
    let before = format!("{:?}", learner.linear());
    for length in [0, 1, 3] {
        let refused = learner.learn(&[0.5], Target::new(&[1.0, 2.0]), &mut vec![0.0; length]);
        assert!(
            matches!(refused, Err(Error::Example(ExampleError::Outputs { expected: 2, got })) if got == length),
            "{refused:?}"
        );
    }
    assert_eq!(format!("{:?}", learner.linear()), before);
    Ok(())
}

/// A ridge below `ε k(x, x)` is 0 to rounding, and the first example still leaves a positive `P`.
#[test]
fn a_tiny_ridge_is_none() -> TestResult {
    let stream: Vec<_> = (0..200).map(|t| (f64::from((t * 37) % 100) / 50.0 - 1.0, f64::from(t % 5) / 50.0)).collect();
    let run = |lambda: f64| -> Result<_, Error> {
        let mut learner = Krls::new(Gaussian::new(0.5)?, 1, KrlsParams::default().nu(1e-2).lambda(lambda))?;
        stream.iter().try_for_each(|(x, noise)| learner.update(&[*x], x.sin() + noise))?;
        Ok(learner)
    };
    let none = run(0.0)?;
    for lambda in [1e-30, 1e-18, 1e-16] {
        let tiny = run(lambda)?;
        for x in [-0.9, 0.1, 0.77] {
            let (a, b) = (tiny.predict(&[x])?, none.predict(&[x])?);
            assert!((a - b).abs() < 1e-6, "λ = {lambda} at {x}: {a}, without a ridge {b}");
        }
        let p = tiny.linear().inverse();
        assert!((0..p.dimension()).all(|j| p.entry(j, j) > 0.0), "λ = {lambda}");
    }
    Ok(())
}

#[test]
fn a_restart_forgets_the_sum_of_gradients() -> TestResult {
    let mut update = GradientStep::new(2, 1, Loss::SQUARED, StepSize::adaptive(1.0), None);
    let mut phi = mercer_kernels::AlignedVec::zeros(2);
    phi[0] = 1.0;
    let learn = |update: &mut GradientStep| {
        update.step(&mut phi.clone(), None, Target::new(&[3.0]), &mut [0.0]).map(|()| update.weights().vectors()[0][0])
    };
    let first = learn(&mut update)?;
    for _ in 0..10 {
        learn(&mut update)?;
    }
    update.restart(2)?;
    assert_eq!(learn(&mut update)?, first);
    Ok(())
}

/// Members predict means and compete by their squared errors; scores of another loss are none.
#[test]
fn a_mixture_refuses_members_of_another_loss() -> TestResult {
    for loss in ["hinge", "poisson", "quantile:0.9"] {
        let other = Fogd::new(1, FogdParams::default().loss(loss.parse()?))?;
        let krls = Krls::new(Gaussian::new(1.0)?, 1, KrlsParams::default())?;
        let members: [(String, Box<dyn Regressor>); 2] =
            [("krls".into(), Box::new(krls)), ("fogd".into(), Box::new(other))];
        let refused = Mixture::new(members, Rule::MlPoly).map(drop);
        assert!(matches!(refused, Err(Error::Loss { update: "a mixture", .. })), "{loss}: {refused:?}");
    }
    Ok(())
}

/// Steps that fall with all rounds would leave nothing in a window over the last: they fall until
/// it is full, and then are those of `η/√τ`.
#[test]
fn norma_with_falling_steps_does_not_forget_the_target() -> TestResult {
    let params = NormaParams::default().eta(0.5).tau(50);
    let mut falling = Norma::new(Gaussian::new(0.5)?, 1, params.schedule(Schedule::Sqrt))?;
    let mut constant = Norma::new(Gaussian::new(0.5)?, 1, params.eta(0.5 / f64::sqrt(50.0)))?;
    let mut furthest: f64 = 0.0;
    for t in 0..3000 {
        let x = f64::from((t * 37) % 100) / 50.0 - 1.0;
        let y = 1.0 + x / 10.0;
        let made = [falling.predict_then_update(&[x], y)?, constant.predict_then_update(&[x], y)?];
        if t >= 2000 {
            furthest = furthest.max((made[0] - made[1]).abs());
            assert!(made[0] > 0.3, "{made:?} for {y}");
        }
    }
    assert!(furthest < 1e-9, "{furthest} from the steps of a full window");
    Ok(())
}

/// A new point starts with `1/μ`: where points keep leaving, each would overshoot.
#[test]
fn newton_steps_do_not_overshoot_where_points_leave() -> TestResult {
    let stream = streams::smooth_noisy(1, 4000, 2, 0.05);
    let error = |mu: f64, eviction: Eviction| -> Result<f64, Error> {
        let params = NonsAldParams::default().mu(mu).max_dictionary(Some(40)).eviction(eviction);
        let mut learner = NonsAld::new(Gaussian::new(0.2)?, 2, params)?;
        let mut squares = 0.0;
        for (t, (x, y)) in stream.iter().enumerate() {
            let made = learner.predict_then_update(x, y.clamp(-1.0, 1.0))?;
            squares += if t >= 2000 { (made - y.clamp(-1.0, 1.0)).powi(2) / 2000.0 } else { 0.0 };
        }
        Ok(squares.sqrt())
    };
    for mu in [1.0, 0.1, 0.01, 0.001] {
        let fixed = error(mu, Eviction::Never)?;
        let moving = error(mu, Eviction::LeastSignificant(Removal::Marginalise))?;
        assert!(moving < 1.1 * fixed, "μ = {mu}: {moving}, where none leaves {fixed}");
    }
    Ok(())
}

#[test]
fn con_kons_stays_within_its_clip() -> TestResult {
    let params = ConKonsParams::default().alpha(0.01).gamma(0.1).clip(1.0);
    let mut learner = ConKons::new(Gaussian::new(0.3)?, 2, params)?;
    for (x, y) in streams::smooth_noisy(1, 600, 2, 0.1) {
        let asked = learner.predict(&x)?;
        let made = learner.predict_then_update(&x, 30.0 * y)?;
        assert!(made.abs() <= 1.0 && asked.abs() <= 1.0, "{made}, when asked {asked}");
    }
    Ok(())
}

#[test]
fn defaults_lie_within_their_search() {
    for entry in entries() {
        for range in entry.search() {
            let key = entry.key(range.key).expect("the key of a search");
            let default = match key.default_for(&Context::default()) {
                Value::Number(value) => value,
                Value::Whole(value) => value as f64,
                // A rule finds it.
                _ => continue,
            };
            let within = (range.low..=range.high).contains(&default);
            assert!(within, "{} {}: {default} in {} to {}", entry.name, range.key, range.low, range.high);
        }
    }
}
