//! The least-squares filters against their definitions: SW-KRLS, FB-KRLS, KRLS-T, EX-KRLS and
//! ALD-KRLS.

use crate::common::{self, TestResult, values};
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::{
    Error, ExKrls, ExKrlsParams, FbKrls, FbKrlsParams, KernelKrr, KernelRidgeParams, Krls, KrlsParams, KrlsT,
    KrlsTParams, KrlsTRule, Krmc, KrmcParams, Regressor, RegressorExt, Robust, RobustParams, Scratch, SwKrls,
    SwKrlsParams, Weights,
};
use mercer_registry::{entries, trial};
use mercer_testkit::oracle::{self, Example, Trace, WeightedExample};
use mercer_testkit::streams;
use nalgebra::{DMatrix, DVector};

/// EX-KRLS is exact to 1e-7 from this regulariser on.
const LEAST_RIDGE: f64 = 1e-3;

const KERNELS: [&str; 3] = ["gaussian:0.6", "matern52:1.2", "mix:0.5*gaussian:0.5+0.5*laplace:2"];

/// The stream with weights, 0 among them, or with weights 1.
fn examples(stream: &[Example], weighted: bool) -> Vec<WeightedExample> {
    let mut examples = common::weighted(stream, "squared", 1);
    if !weighted {
        examples.iter_mut().for_each(|example| example.weight = 1.0);
    }
    examples
}

/// The largest gap of the predictions on the scale of what is expected where that is above 1; the
/// dictionaries must have one size.
fn gap(name: &str, mut learner: impl Regressor, stream: &[WeightedExample], expected: &Trace) -> f64 {
    let mut largest = 0.0_f64;
    for (t, (example, expected)) in stream.iter().zip(&expected.predictions).enumerate() {
        let made = common::learn(&mut learner, example);
        let [prediction] = made.unwrap_or_else(|error| panic!("{name}: {error} in round {t}"))[..] else {
            panic!("{name}: one output")
        };
        largest = largest.max((prediction - expected).abs() / expected.abs().max(1.0));
    }
    assert_eq!(learner.dictionary_size(), expected.dictionary.len(), "{name}: dictionary size");
    largest
}

/// Runs `compare` on every stream with every kernel, with and without weights, and demands
/// agreement.
fn compare(tolerance: f64, mut compare: impl FnMut(&str, &AnyKernel, &[WeightedExample]) -> f64) {
    let mut largest = (0.0, String::new());
    for spec in KERNELS.into_iter().chain(["polynomial:2,0.5"]) {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        for (stream_name, stream) in common::streams() {
            // There the Gram matrix has entries of 1e20.
            if stream_name == "far away" && spec.starts_with("poly") {
                continue;
            }
            for weighted in [false, true] {
                let name = format!("{spec}, {stream_name}, weights {weighted}");
                let gap = compare(&name, &kernel, &examples(&stream, weighted));
                if gap >= largest.0 {
                    largest = (gap, name);
                }
            }
        }
    }
    println!("largest gap {:e}: {}", largest.0, largest.1);
    assert!(largest.0 <= tolerance, "{largest:?}");
}

#[test]
fn sw_krls_equals_ridge_regression_on_its_window() {
    for (lambda, window) in [(0.1, 1), (0.01, 12), (1e-3, 37)] {
        compare(1e-9, |name, kernel, stream| {
            let expected = oracle::sw_krls(stream, &values(kernel), lambda, window);
            let params = SwKrlsParams::default().lambda(lambda).window(window);
            let learner = SwKrls::new(kernel.clone(), stream[0].x.len(), params).expect("valid");
            gap(&format!("{name}, window {window}"), learner, stream, &expected)
        });
    }
}

#[test]
fn fb_krls_equals_its_definition() {
    for (lambda, budget, eta_y) in [(0.1, 1, 0.0), (0.01, 12, 0.0), (0.1, 7, 0.05), (1e-3, 30, 0.0), (0.1, 25, 0.01)] {
        compare(1e-9, |name, kernel, stream| {
            let expected = oracle::fb_krls(stream, &values(kernel), lambda, budget, eta_y);
            let params = FbKrlsParams::default().lambda(lambda).max_dictionary(budget).eta_y(eta_y);
            let learner = FbKrls::new(kernel.clone(), stream[0].x.len(), params).expect("valid");
            gap(&format!("{name}, budget {budget}"), learner, stream, &expected)
        });
    }
}

#[test]
fn ex_krls_equals_its_recursion() {
    for (alpha, beta, lambda, q, max) in [
        (0.999, 0.995, 0.1, 1e-3, 500),
        (1.0, 1.0, 0.01, 0.0, 40),
        (0.95, 0.99, 1.0, 0.1, 100),
        (1.02, 1.0, 0.3, 0.01, 25),
    ] {
        compare(1e-7, |name, kernel, stream| {
            let params = oracle::ExKrlsParams { alpha, beta, lambda, q, max_dictionary: max };
            let expected = oracle::ex_krls(stream, &values(kernel), params);
            let params = ExKrlsParams::default().alpha(alpha).beta(beta).lambda(lambda).q(q).max_dictionary(Some(max));
            let learner = ExKrls::new(kernel.clone(), stream[0].x.len(), params).expect("valid");
            gap(&format!("{name}, a {alpha}"), learner, stream, &expected)
        });
    }
}

#[test]
fn krmc_equals_least_squares_with_the_weights_of_its_rounds() {
    for (scale, lambda, nu) in [(1.0, 0.1, 1e-3), (0.3, 1e-2, 1e-2)] {
        compare(1e-7, |name, kernel, stream| {
            let stream = &stream[..90];
            let expected = oracle::krmc(stream, &values(kernel), scale, lambda, nu);
            let params = KrmcParams::default().scale(scale).lambda(lambda).nu(nu).max_dictionary(None);
            let learner = Krmc::new(kernel.clone(), stream[0].x.len(), params).expect("valid");
            gap(&format!("{name}, s {scale}"), learner, stream, &expected)
        });
    }
}

/// Both kinds of weights, with the median of the last 50 errors by sorting.
#[test]
fn robust_learners_equal_least_squares_with_the_weights_of_their_rounds() {
    for (weights, cut) in [(Weights::Huber, 1.345), (Weights::Correntropy, 2.11)] {
        compare(1e-7, |name, kernel, stream| {
            let stream = &stream[..120];
            let mut errors: Vec<f64> = Vec::new();
            let mut factor = |error: f64| {
                let mut last = errors[errors.len().saturating_sub(50)..].to_vec();
                last.sort_by(f64::total_cmp);
                errors.push(error.abs());
                let scale = if last.len() < 9 { 0.0 } else { 1.4826 * last[last.len() / 2] };
                let u = error.abs() / scale;
                match weights {
                    _ if scale == 0.0 => 1.0,
                    Weights::Huber => f64::min(1.0, cut / u),
                    _ => (-u * u / (2.0 * cut * cut)).exp(),
                }
            };
            let expected = oracle::weighted_by_errors(stream, &values(kernel), (0.1, 1e-3), &mut factor);
            let params = KrlsParams::default().lambda(0.1).nu(1e-3);
            let krls = Krls::new(kernel.clone(), stream[0].x.len(), params).expect("valid");
            let learner = Robust::around(krls, RobustParams::default().weights(weights)).expect("squared");
            gap(&format!("{name}, {weights:?}"), learner, stream, &expected)
        });
    }
}

/// One target in ten is wrong by a million, in every least-squares learner that a wrapper takes; a
/// tenth of the targets cost less than a tenth of the accuracy, and a jump is followed.
#[test]
fn wrong_targets_do_not_move_robust_learners() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    for weights in [Weights::Huber, Weights::Correntropy] {
        let run = |robust: bool, spoilt: bool| -> Result<f64, Error> {
            let krls = Krls::new(kernel.clone(), 2, KrlsParams::default().forgetting(0.998))?;
            let params = RobustParams::default().weights(weights).cut((!robust).then_some(1e300));
            let mut learner = Robust::around(krls, params)?;
            let mut squares = 0.0;
            for (t, (x, y)) in streams::smooth_noisy(5, 4000, 2, 0.1).iter().enumerate() {
                let wrong = t % 10 == 9;
                let y = if t < 2000 { *y } else { y + 20.0 };
                let prediction = learner.predict_then_update(x, if wrong && spoilt { y + 1e6 } else { y })?;
                squares += if t % 2000 >= 1000 && !wrong { (prediction - y).powi(2) } else { 0.0 };
            }
            Ok((squares / 1800.0).sqrt())
        };
        let (spoilt, clean, plain) = (run(true, true)?, run(true, false)?, run(false, false)?);
        assert!(clean < 1.05 * plain, "{weights:?}: {clean} with weights, {plain} without");
        assert!(spoilt < 1.1 * plain, "{weights:?}: {spoilt} with wrong targets, {plain} without");
        assert!(run(false, true)? > 1e4, "they ruin least squares");
    }
    Ok(())
}

/// One target in ten is wrong by a hundred deviations.
#[test]
fn outliers_do_not_move_krmc() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let wrong = |t: usize| t % 10 == 9;
    let mut learner = Krmc::new(kernel, 2, KrmcParams::default())?;
    let mut squares = 0.0;
    for (t, (x, y)) in streams::smooth_noisy(5, 1000, 2, 0.1).iter().enumerate() {
        let prediction = learner.predict_then_update(x, if wrong(t) { y + 100.0 } else { *y })?;
        squares += if t >= 500 && !wrong(t) { (prediction - y) * (prediction - y) } else { 0.0 };
    }
    assert!((squares / 450.0).sqrt() < 0.15, "{squares}");
    Ok(())
}

fn tracker(kernel: &AnyKernel, dimension: usize, params: oracle::KrlsTParams) -> KrlsT<AnyKernel> {
    let oracle::KrlsTParams { forgetting, noise, jitter, max_dictionary, back_to_prior, .. } = params;
    let rule = if back_to_prior { KrlsTRule::BackToPrior } else { KrlsTRule::UncertaintyInjection };
    let params = KrlsTParams::default().forgetting(forgetting).noise(noise).jitter(jitter).rule(rule);
    let limit = (max_dictionary < usize::MAX).then_some(max_dictionary);
    KrlsT::new(kernel.clone(), dimension, params.max_dictionary(limit)).expect("valid")
}

#[test]
fn krls_t_equals_its_recursion() {
    for (forgetting, noise, jitter, max_dictionary, back_to_prior, anew) in [
        (0.99, 0.1, 1e-2, 1, true, false),
        (0.99, 0.1, 1e-3, 12, true, false),
        (0.9, 0.1, 1e-3, 20, true, false),
        (0.999, 0.01, 1e-4, 30, true, true),
        (0.98, 0.1, 1e-3, 12, false, false),
        (0.999, 0.05, 1e-4, 25, false, true),
        (0.99, 0.1, 1e-2, usize::MAX, true, false),
    ] {
        compare(1e-9, |name, kernel, stream| {
            let stream = if max_dictionary == usize::MAX { &stream[..120] } else { stream };
            let params = oracle::KrlsTParams { forgetting, noise, jitter, max_dictionary, back_to_prior, anew };
            let expected = oracle::krls_t(stream, &values(kernel), params);
            let mut learner = tracker(kernel, stream[0].x.len(), params);
            let (mut scratch, mut largest) = (Scratch::default(), 0.0_f64);
            for (example, expected) in stream.iter().zip(&expected.variances) {
                let variance = learner.predict_variance(&example.x, &mut scratch).expect("an ordinary input");
                assert_eq!(variance.is_some(), expected.is_some(), "{name}");
                let (a, b) = (variance.unwrap_or(0.0), expected.unwrap_or(0.0));
                largest = largest.max((a - b).abs() / b.max(1.0));
                common::learn(&mut learner, example).expect("an ordinary example");
            }
            let learner = tracker(kernel, stream[0].x.len(), params);
            gap(&format!("{name}, M {max_dictionary}"), learner, stream, &expected.trace).max(largest)
        });
    }
}

/// Without a budget and without forgetting the tracker is the Gaussian process with covariance
/// `k + jitter` and this noise.
#[test]
fn krls_t_is_the_gaussian_process() -> TestResult {
    for jitter in [1e-2, 1e-6, 1e-10] {
        for (noise, sigma) in [(0.1, 0.6), (1e-3, 0.6), (0.01, 2.0)] {
            let kernel = AnyKernel::Gaussian(Gaussian::new(sigma)?);
            for (name, stream) in common::streams() {
                let stream = &stream[..150];
                let params = KrlsTParams::default().forgetting(1.0).noise(noise).jitter(jitter).max_dictionary(None);
                let mut learner = KrlsT::new(kernel.clone(), stream[0].0.len(), params)?;
                let (k, mut scratch) = (values(&kernel), Scratch::default());
                let matrix = DMatrix::from_fn(150, 150, |i, j| {
                    k(&stream[i].0, &stream[j].0) + if i == j { jitter + noise } else { 0.0 }
                });
                let (mut sum, mut largest) = (0.0, 0.0_f64);
                for (t, (x, y)) in stream.iter().enumerate() {
                    let row = DVector::from_fn(t, |i, _| k(&stream[i].0, x));
                    let targets = DVector::from_fn(t, |i, _| stream[i].1);
                    let own = k(x, x) + jitter;
                    let (mean, variance) = if t == 0 {
                        (0.0, own + noise)
                    } else {
                        let factor = matrix.view((0, 0), (t, t)).into_owned().cholesky().ok_or("not definite")?;
                        (row.dot(&factor.solve(&targets)), own + noise - row.dot(&factor.solve(&row)))
                    };
                    let made = learner.predict_variance(x, &mut scratch)?;
                    assert_eq!(made.is_none(), t == 0);
                    let scale = sum / t as f64;
                    largest = largest.max(made.map_or(0.0, |made| (made - scale * variance).abs()));
                    largest = largest.max((learner.predict_then_update(x, *y)? - mean).abs());
                    sum += (y - mean).powi(2) / variance;
                }
                assert_eq!(learner.dictionary_size(), 150);
                assert!(largest <= 1e-9, "{name}, jitter {jitter:e}, noise {noise}, width {sigma}: {largest:e}");
            }
        }
    }
    Ok(())
}

/// After many rounds on a budget the state is what its points, means and covariances make of it
/// anew.
fn rebuilt_gap(rows: usize, params: KrlsTParams) -> Result<f64, Box<dyn std::error::Error>> {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let k = values(&kernel);
    let mut learner = KrlsT::new(kernel.clone(), 2, params)?;
    for (x, y) in streams::near_duplicates(3, rows, 2) {
        learner.update(&x, y)?;
    }
    let basis = learner.basis();
    let (n, points) = (basis.len(), basis.points());
    let lower = DMatrix::from_fn(n, n, |i, j| basis.factor().entry(i, j));
    let squares = learner.linear().squares();
    let weights = DVector::from_column_slice(&squares.weights().vectors()[0]);
    let inverse = DMatrix::from_fn(n, n, |i, j| squares.inverse().entry(i, j));
    let mean = &lower * weights;
    let covariance = &lower * inverse * lower.transpose() * params.noise;
    let gram =
        DMatrix::from_fn(n, n, |i, j| k(&points.point(i), &points.point(j)) + if i == j { params.jitter } else { 0.0 });
    let factor = gram.cholesky().ok_or("not definite")?;
    let (mut scratch, mut largest) = (Scratch::default(), 0.0_f64);
    let scale = learner.linear().scale().ok_or("no scale")?;
    for (x, _) in streams::smooth_noisy(4, 200, 2, 0.1) {
        let row = DVector::from_fn(n, |i, _| k(&points.point(i), &x));
        let q = factor.solve(&row);
        largest = largest.max((learner.predict(&x)? - q.dot(&mean)).abs());
        let variance = 1.0 + params.jitter - row.dot(&q) + q.dot(&(&covariance * &q)) + params.noise;
        let made = learner.predict_variance(&x, &mut scratch)?.ok_or("no variance")?;
        largest = largest.max((made - scale * variance).abs());
    }
    Ok(largest)
}

#[test]
fn krls_t_on_a_budget_does_not_drift() -> TestResult {
    for (budget, forgetting, rule) in [
        (20, 0.999, KrlsTRule::BackToPrior),
        (20, 0.999, KrlsTRule::UncertaintyInjection),
        (40, 1.0, KrlsTRule::BackToPrior),
    ] {
        for jitter in [1e-4, 1e-6] {
            let params = KrlsTParams::default().forgetting(forgetting).rule(rule).jitter(jitter);
            let rows = std::env::var("MERCER_ROWS").map_or(Ok(20_000), |rows| rows.parse())?;
            let gap = rebuilt_gap(rows, params.max_dictionary(Some(budget)))?;
            println!("{rule:?}, budget {budget}, jitter {jitter:e}: {gap:e} after {rows} rows");
            assert!(gap <= 1e-9, "{rule:?}, budget {budget}, jitter {jitter:e}: {gap:e}");
        }
    }
    Ok(())
}

/// Rounding that a window has forgotten is gone: after many rounds the fit is as exact as at the
/// beginning.
#[test]
fn a_window_does_not_drift() -> TestResult {
    let (kernel, window): (AnyKernel, _) = ("gaussian:0.6".parse()?, 25);
    let stream = streams::near_duplicates(5, 10_000, 2);
    let params = SwKrlsParams::default().lambda(1e-3).window(window);
    let mut learner = SwKrls::new(kernel.clone(), 2, params)?;
    for (x, y) in &stream {
        learner.update(x, *y)?;
    }
    let mut fresh = SwKrls::new(kernel, 2, params)?;
    stream[stream.len() - window..].iter().try_for_each(|(x, y)| fresh.update(x, *y))?;
    for (x, _) in streams::smooth_noisy(4, 100, 2, 0.1) {
        let (a, b) = (learner.predict(&x)?, fresh.predict(&x)?);
        assert!((a - b).abs() < 1e-11, "{a} for {b}");
    }
    Ok(())
}

/// The name is another one for KRLS without a ridge, which the other test files compare with
/// Engel's recursion.
#[test]
fn ald_krls_is_krls_without_a_ridge() -> TestResult {
    let entry = entries().iter().find(|entry| entry.name == "ald-krls").ok_or("no such entry")?;
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let (stream, params) = (streams::smooth_noisy(1, 200, 2, 0.1), KrlsParams::default().nu(1e-3).lambda(0.0));
    let mut named = trial(entry, kernel.clone(), 2)?;
    let mut plain = Krls::new(kernel.clone(), 2, params)?;
    let expected = oracle::krls_engel(&stream, &values(&kernel), 1e-3);
    for ((x, y), expected) in stream.iter().zip(&expected.predictions) {
        let prediction = named.predict_then_update(x, *y)?;
        assert_eq!(prediction, plain.predict_then_update(x, *y)?);
        assert!((prediction - expected).abs() < 1e-8, "{prediction} for {expected}");
    }
    // When full it learns on in the span of the points kept, whatever the ALD test says.
    let mut full = Krls::new(kernel, 2, params.max_dictionary(Some(5)))?;
    let mut changed = 0;
    for (x, y) in &stream {
        let before = full.predict(&[0.1, 0.2])?;
        full.update(x, *y)?;
        changed += usize::from(full.predict(&[0.1, 0.2])? != before);
    }
    assert_eq!((full.dictionary_size(), changed), (5, 200));
    Ok(())
}

/// With a function that does not move and nothing forgotten EX-KRLS is ridge regression on all
/// points: how far its recursion holds.
#[test]
fn ex_krls_holds_in_the_range_that_it_states() -> TestResult {
    for lambda in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8] {
        let mut largest = 0.0_f64;
        for (_, stream) in common::streams().into_iter().chain([("long", streams::smooth_noisy(9, 500, 2, 0.1))]) {
            let (kernel, dimension): (AnyKernel, _) = ("gaussian:0.6".parse()?, stream[0].0.len());
            let params = ExKrlsParams::default().alpha(1.0).beta(1.0).q(0.0).lambda(lambda);
            let mut learner = ExKrls::new(kernel.clone(), dimension, params)?;
            let mut exact = KernelKrr::new(kernel, dimension, KernelRidgeParams::default().lambda(lambda))?;
            for (x, y) in &stream {
                let expected = exact.predict_then_update(x, *y)?;
                let Ok(prediction) = learner.predict_then_update(x, *y) else {
                    largest = f64::INFINITY;
                    break;
                };
                largest = largest.max((prediction - expected).abs());
            }
        }
        println!("EX-KRLS, lambda {lambda:e}: {largest:e}");
        assert!(lambda < LEAST_RIDGE || largest < 1e-7, "lambda {lambda:e}: {largest:e}");
    }
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() {
    let kernel = || "gaussian:0.6".parse::<AnyKernel>().expect("a kernel");
    let window = SwKrlsParams::default();
    for wrong in [window.lambda(0.0), window.window(0), window.outputs(0)] {
        assert!(SwKrls::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let budget = FbKrlsParams::default();
    for wrong in [budget.lambda(f64::NAN), budget.max_dictionary(0), budget.eta_y(-0.1)] {
        assert!(FbKrls::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let tracker = KrlsTParams::default();
    for wrong in [
        tracker.forgetting(0.0),
        tracker.forgetting(1.1),
        tracker.noise(0.0),
        tracker.noise(1e-320),
        tracker.jitter(-1e-9),
        tracker.max_dictionary(Some(0)),
    ] {
        assert!(KrlsT::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let state = ExKrlsParams::default();
    for wrong in [
        state.alpha(0.0),
        state.beta(0.0),
        state.beta(1.5),
        state.lambda(0.0),
        state.q(-1.0),
        state.max_dictionary(Some(0)),
    ] {
        assert!(ExKrls::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
}
