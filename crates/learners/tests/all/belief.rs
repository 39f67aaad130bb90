//! Variances of least-squares learners against closed forms, and intervals around any learner.

use crate::common::{TestResult, kernel, learn, same_kernel, weighted};
use mercer_core::Validate;
use mercer_experts::{ConformalIntervals, IntervalParams};
use mercer_kernels::{AlignedVec, TaylorFeatures};
use mercer_learners::basis::Identity;
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::update::{Forgetting, GrowingUpdate, LeastSquares};
use mercer_learners::{
    Error, FeatureMap, KernelAwv, KernelKrr, KernelRidgeParams, Knlms, KnlmsParams, Krls, KrlsParams, NonsAld,
    NonsAldParams, NystromParams, OnFeatures, PkawvNystrom, PkawvTaylor, PkrrFrozen, PkrrNystrom, PkrrTaylor,
    Regressor, RegressorExt, Rows, Scratch, Target, Targets, TaylorParams,
};
use mercer_testkit::oracle::{Belief, Example, WeightedExample, gaussian_process};
use mercer_testkit::streams;
use nalgebra::{DMatrix, DVector};

/// Predictions and variances, if there are any.
fn belief(learner: &(impl Regressor + ?Sized), x: &[f64]) -> Result<(Vec<f64>, Option<Vec<f64>>), Error> {
    let m = learner.outputs();
    let (mut scores, mut variances, mut plain) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
    let known = learner.predict_variance_into(x, &mut Scratch::default(), &mut scores, &mut variances)?;
    learner.predict_into(x, &mut Scratch::default(), &mut plain)?;
    let close = scores.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0));
    assert!(close, "the prediction with a variance is {scores:?}, without {plain:?}");
    assert!(known || variances.iter().all(|variance| variance.is_nan()));
    Ok((scores, known.then_some(variances)))
}

fn learn_rows(learner: &mut impl Regressor, examples: &[WeightedExample]) -> Result<(), Error> {
    let inputs: Vec<f64> = examples.iter().flat_map(|example| example.x.clone()).collect();
    let ys: Vec<f64> = examples.iter().flat_map(|example| example.y.clone()).collect();
    let weights: Vec<f64> = examples.iter().map(|example| example.weight).collect();
    let targets = Targets::new(&ys, &weights, learner.outputs())?;
    learner.learn_rows(Rows::new(&inputs, learner.dimension(), targets)?, &mut Vec::new())
}

#[track_caller]
fn close(what: &str, got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (a, b) in got.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{what}: {a} for {b}");
    }
}

fn all_streams() -> Vec<(&'static str, Vec<Example>)> {
    vec![
        ("smooth", streams::smooth_noisy(1, 60, 2, 0.1)),
        ("near duplicates", streams::near_duplicates(2, 60, 2)),
        ("exact duplicates", streams::exact_duplicates(3, 60, 2, 15)),
        ("far away", streams::far_away(5, 60, 2)),
    ]
}

fn queries(stream: &[Example]) -> Vec<Vec<f64>> {
    let mut queries: Vec<Vec<f64>> = stream.iter().step_by(13).map(|(x, _)| x.clone()).collect();
    queries.extend([vec![0.1, -0.2], vec![0.7, 0.9], vec![40.0, -3.0]]);
    queries
}

/// Learns row by row and compares on the way; `shrinks` where the prediction is not the posterior
/// mean.
fn is_the_process(
    what: &str,
    learner: &mut impl Regressor,
    examples: &[WeightedExample],
    shrinks: bool,
    lambda: f64,
    inner: &dyn Fn(&[f64], &[f64]) -> f64,
    queries: &[Vec<f64>],
) -> TestResult {
    assert!(learner.has_variance());
    assert_eq!(belief(learner, &examples[0].x)?.1, None, "{what}: before the first row");
    for (t, example) in examples.iter().enumerate() {
        learn(learner, example)?;
        if t % 14 != 5 && t + 1 != examples.len() {
            continue;
        }
        for x in queries {
            let Belief { means, variances } = gaussian_process(&examples[..=t], inner, lambda, x);
            let (scores, made) = belief(learner, x)?;
            close(&format!("{what}, variance after {} rows", t + 1), &made.ok_or("no variance")?, &variances);
            if !shrinks {
                close(&format!("{what}, mean after {} rows", t + 1), &scores, &means);
            }
        }
    }
    Ok(())
}

#[test]
fn on_all_points_they_are_the_gaussian_process() -> TestResult {
    for (name, stream) in all_streams() {
        for outputs in [1, 2] {
            let (examples, queries) = (weighted(&stream, "squared", outputs), queries(&stream));
            for lambda in [0.3, 0.01] {
                let what = |learner: &str| format!("{learner} on {name}, λ = {lambda}, {outputs} outputs");
                let ridge = KernelRidgeParams::default().lambda(lambda).outputs(outputs);
                let krls = KrlsParams::default().nu(0.0).lambda(lambda).max_dictionary(None).outputs(outputs);
                let mut krr = KernelKrr::new(kernel(), 2, ridge)?;
                is_the_process(&what("krr"), &mut krr, &examples, false, lambda, &same_kernel, &queries)?;
                let mut awv = KernelAwv::new(kernel(), 2, ridge)?;
                is_the_process(&what("awv"), &mut awv, &examples, true, lambda, &same_kernel, &queries)?;
                let mut krls = Krls::new(kernel(), 2, krls)?;
                is_the_process(&what("krls"), &mut krls, &examples, false, lambda, &same_kernel, &queries)?;
            }
        }
    }
    Ok(())
}

#[test]
fn on_features_they_are_bayesian_linear_regression() -> TestResult {
    let stream = streams::smooth_noisy(7, 80, 2, 0.2);
    let map = TaylorFeatures::new(0.8, 3, vec![0.0; 2], 1 << 30)?;
    let inner = |x: &[f64], z: &[f64]| {
        let features = |x: &[f64]| {
            let mut features = AlignedVec::new();
            FeatureMap::map(&map, x, &mut features, &mut AlignedVec::new());
            features
        };
        features(x).iter().zip(features(z).iter()).map(|(a, b)| a * b).sum()
    };
    let queries = &queries(&stream)[..8];
    for outputs in [1, 2] {
        let examples = weighted(&stream, "squared", outputs);
        for lambda in [1.0, 0.1] {
            let params = TaylorParams::default().sigma(0.8).degree(3).lambda(lambda).outputs(outputs);
            let mut ridge = PkrrTaylor::new(2, params.clone())?;
            is_the_process("pkrr-taylor", &mut ridge, &examples, false, lambda, &inner, queries)?;
            let mut awv = PkawvTaylor::new(2, params)?;
            is_the_process("pkawv-taylor", &mut awv, &examples, true, lambda, &inner, queries)?;
        }
    }
    Ok(())
}

/// Where every point is kept the projections change nothing, and directions that no point has keep
/// the variance of their prior.
#[test]
fn with_every_point_kept_projections_are_the_process() -> TestResult {
    let stream = streams::smooth_noisy(9, 40, 2, 0.1);
    let (examples, queries) = (weighted(&stream, "squared", 1), queries(&stream));
    let params = NystromParams::default().lambda(0.2).beta(1e12);
    let inputs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
    let mut frozen = PkrrFrozen::new(kernel(), 2, &inputs, params)?;
    is_the_process("pkrr-frozen", &mut frozen, &examples, false, 0.2, &same_kernel, &queries)?;
    // What was learnt of the noise before a point was kept is that of the smaller span, so only the
    // shape is compared.
    let variance =
        |learner: &dyn Regressor, x: &[f64]| Ok::<_, Error>(belief(learner, x)?.1.map_or(f64::NAN, |v| v[0]));
    let (mut ridge, mut awv) = (PkrrNystrom::new(kernel(), 2, params)?, PkawvNystrom::new(kernel(), 2, params)?);
    for example in &examples {
        learn(&mut ridge, example)?;
        learn(&mut awv, example)?;
    }
    let exact = |x: &[f64]| gaussian_process(&examples, &same_kernel, 0.2, x).variances[0];
    let first = &queries[0];
    for x in &queries {
        for learner in [&ridge as &dyn Regressor, &awv] {
            let (made, expected) = (variance(learner, x)? / variance(learner, first)?, exact(x) / exact(first));
            close("projected ridge", &[made], &[expected]);
        }
    }
    Ok(())
}

#[test]
fn a_weight_counts_as_many_rows() -> TestResult {
    let stream = streams::smooth_noisy(4, 30, 2, 0.3);
    let params = KrlsParams::default().lambda(0.5);
    let (mut heavy, mut many) = (Krls::new(kernel(), 2, params)?, Krls::new(kernel(), 2, params)?);
    for (t, (x, y)) in stream.iter().enumerate() {
        let count = 1 + t % 3;
        heavy.learn(x, Target::weighted(&[*y], count as f64), &mut [0.0])?;
        (0..count).try_for_each(|_| many.update(x, *y))?;
    }
    let [a, b] = [&heavy, &many].map(|learner| belief(learner, &[0.2, 0.1]));
    close("weights", &a?.1.ok_or("none")?, &b?.1.ok_or("none")?);
    Ok(())
}

/// `Σ γ^{t−s} e²/(1+s) / Σ γ^{t−s}` with every round solved anew; what is forgotten counts as one
/// row.
#[test]
fn forgetting_forgets_residuals_too() -> TestResult {
    const GAMMA: f64 = 0.9;
    let stream = streams::smooth_noisy(11, 50, 3, 0.3);
    let mut update: LeastSquares = LeastSquares::new(0.7, GAMMA)?.forgetting_by(Forgetting::Exponential)?;
    update.restart(3)?;
    let mut learner = OnFeatures::from_parts(Identity::new(3, false), update)?;
    let (mut sum, mut weight, mut past) = (0.0, 0.0, (0.0, 0.0));
    // The state at round t weighs the past by powers of γ, and the prior with it.
    let solve = |t: usize, x: &[f64]| {
        let mut a = DMatrix::identity(3, 3) * 0.7 * GAMMA.powi(t as i32);
        let mut b = DVector::zeros(3);
        for (s, (x, y)) in stream[..t].iter().enumerate() {
            let (x, weight) = (DVector::from_column_slice(x), GAMMA.powi((t - s) as i32));
            a += &x * x.transpose() * weight;
            b += x * (y * weight);
        }
        let x = DVector::from_column_slice(x);
        let inverse = a.try_inverse().expect("a positive definite matrix");
        (x.dot(&(&inverse * b)), x.dot(&(&inverse * &x)))
    };
    for (t, (x, y)) in stream.iter().enumerate() {
        let (z, s) = solve(t, x);
        past = (past.0 + (1.0 - GAMMA) * sum, past.1 + (1.0 - GAMMA) * weight);
        sum = GAMMA * sum + (y - z).powi(2) / (1.0 + s);
        weight = GAMMA * weight + 1.0;
        learner.update(x, *y)?;
        let query = [0.3, -0.4, 0.9];
        let row = past.1.min(1.0);
        let before = if past.1 > 0.0 { past.0 / past.1 } else { 0.0 };
        let expected = (sum + row * before) / (weight + row) * (1.0 + solve(t + 1, &query).1);
        close(&format!("round {t}"), &belief(&learner, &query)?.1.ok_or("none")?, &[expected]);
    }
    Ok(())
}

#[test]
fn blocks_and_threads_tell_the_same_variance() -> TestResult {
    let stream = streams::smooth_noisy(21, 2400, 2, 0.1);
    let examples = weighted(&stream, "squared", 2);
    let params = KrlsParams::default().nu(1e-4).lambda(0.1).max_dictionary(Some(150)).outputs(2);
    let taylor = TaylorParams::default().sigma(0.8).degree(4).lambda(0.1).outputs(2);
    let (mut single, mut blocks) = (Krls::new(kernel(), 2, params)?, Krls::new(kernel(), 2, params)?);
    let (mut alone, mut threads) = (PkrrTaylor::new(2, taylor.clone())?, PkrrTaylor::new(2, taylor)?);
    threads.set_threads(2);
    for rows in examples.chunks(1200) {
        rows.iter().try_for_each(|example| learn(&mut single, example).map(drop))?;
        rows.iter().try_for_each(|example| learn(&mut alone, example).map(drop))?;
        learn_rows(&mut blocks, rows)?;
        learn_rows(&mut threads, rows)?;
        for x in [[0.1, 0.2], [-0.5, 0.9]] {
            close("krls", &belief(&blocks, &x)?.1.ok_or("none")?, &belief(&single, &x)?.1.ok_or("none")?);
            close("pkrr-taylor", &belief(&threads, &x)?.1.ok_or("none")?, &belief(&alone, &x)?.1.ok_or("none")?);
        }
    }
    Ok(())
}

/// Without a ridge kept points say nothing of the noise: what is left is the estimate over the
/// rest.
#[test]
fn interpolated_rounds_say_nothing_of_the_noise() -> TestResult {
    let mut learner = Krls::new(kernel(), 1, KrlsParams::default().lambda(0.0).nu(0.5))?;
    learner.update(&[0.0], 1.0)?;
    assert_eq!(belief(&learner, &[0.0])?.1, None);
    learner.update(&[0.0], 3.0)?;
    // One coordinate, P = 1, e = 2: σ̂² = 4/2; then P = 1/2.
    close("by hand", &belief(&learner, &[0.0])?.1.ok_or("none")?, &[3.0]);
    Ok(())
}

#[test]
fn who_has_no_variance_says_so() -> TestResult {
    let mut learners: Vec<Box<dyn Regressor>> = vec![
        Box::new(NonsAld::new(kernel(), 1, NonsAldParams::default())?),
        Box::new(Knlms::new(kernel(), 1, KnlmsParams::default())?),
    ];
    let by_deviation = LearnerIntervals::new(1, IntervalParams::default(), IntervalScale::Deviation)?;
    for learner in &mut learners {
        learner.update(&[0.5], 1.0)?;
        assert!(!learner.has_variance());
        assert_eq!(belief(learner, &[0.2])?.1, None);
        let mut intervals = by_deviation.clone();
        let mut scratch = Scratch::default();
        let refused = intervals.learn(learner, &[0.5], Target::new(&[1.0]), &mut scratch, &mut [0.0], &mut [0.0; 2]);
        assert_eq!(refused, Err(Error::NoVariance));
        let refused = intervals.predict_into(learner, &[0.5], &mut scratch, &mut [0.0], &mut [0.0; 2]);
        assert_eq!(refused, Err(Error::NoVariance));
    }
    Ok(())
}

#[test]
fn huge_targets_leave_a_finite_variance() -> TestResult {
    let mut learner = Krls::new(kernel(), 1, KrlsParams::default().lambda(1.0))?;
    for y in [1e200, -1e300, 0.0] {
        let _ = learner.update(&[0.1], y);
        let variance = belief(&learner, &[3.0])?.1.ok_or("none")?[0];
        assert!(variance.is_finite() && variance > 0.0, "{variance}");
    }
    Ok(())
}

/// Each in its own units, row by row, equals what the formulas say.
#[test]
fn intervals_around_a_learner() -> TestResult {
    let stream = streams::smooth_noisy(31, 600, 2, 0.2);
    let params = KrlsParams::default().lambda(0.1).outputs(2);
    for scale in [IntervalScale::Error, IntervalScale::Deviation] {
        let (mut learner, mut plain) = (Krls::new(kernel(), 2, params)?, Krls::new(kernel(), 2, params)?);
        let mut intervals = LearnerIntervals::new(2, IntervalParams::default().window(50), scale)?;
        let mut by_hand = ConformalIntervals::new(2, IntervalParams::default().window(50))?;
        let mut scratch = Scratch::default();
        for (t, (x, y)) in stream.iter().enumerate() {
            let (y, weight) = ([*y, 1.0 - y], if t % 7 == 3 { 0.0 } else { 1.0 + (t % 2) as f64 });
            let (mut scores, mut told, mut ahead, mut reach) = ([0.0; 2], [0.0; 4], [0.0; 2], [0.0; 4]);
            intervals.predict_into(&learner, x, &mut scratch, &mut ahead, &mut reach)?;
            intervals.learn(&mut learner, x, Target::weighted(&y, weight), &mut scratch, &mut scores, &mut told)?;
            assert_eq!(told, reach);
            let variances = belief(&plain, x)?.1;
            let scales = (0..2).map(|output: usize| match (scale, &variances) {
                (IntervalScale::Deviation, Some(variances)) => {
                    (variances[output] / plain.noise(output).unwrap_or(f64::NAN)).sqrt()
                }
                (IntervalScale::Deviation, None) => f64::INFINITY,
                _ => 1.0,
            });
            let scales: Vec<f64> = scales.collect();
            assert!(t == 0 || scales.iter().all(|scale| (1.0..10.0).contains(scale)), "{scales:?}");
            for output in 0..2 {
                let radius = by_hand.radius(output) * scales[output];
                assert_eq!(told[2 * output..][..2], [radius; 2], "row {t}");
            }
            let mut made = [0.0; 2];
            plain.learn(x, Target::weighted(&y, weight), &mut made)?;
            if weight > 0.0 {
                by_hand.observe_scaled(&made, &y, |output| scales[output])?;
            }
        }
        assert!((intervals.held(0) - 0.9).abs() < 0.01, "{}", intervals.held(0));
    }
    Ok(())
}

/// Counts whose errors go far above and little below: each side is missed by its half and each
/// third of the predictions by its share, and no end is below 0.
#[test]
fn each_side_of_an_interval_has_errors_of_its_own() -> TestResult {
    let mut learner = Krls::new(kernel(), 1, KrlsParams::default().lambda(0.1))?;
    let mut intervals = LearnerIntervals::new(1, IntervalParams::default(), IntervalScale::Sides)?;
    let (mut scratch, mut score, mut reach) = (Scratch::default(), [0.0], [0.0; 2]);
    let (mut missed, mut below, mut rows, mut made) = ([0, 0], 0.0, 0, Vec::new());
    let mut state = 1_u64;
    for t in 0..6000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let x = [(t as f64 * 0.7).sin()];
        // A count that is 0 for the most part, and else up to 30 for large inputs.
        let y = (-(3.0 + 3.0 * x[0]) * (uniform.ln() + 0.7).min(0.0)).floor();
        intervals.learn(&mut learner, &x, Target::new(&[y]), &mut scratch, &mut score, &mut reach)?;
        // 19 errors tell a quantile of one in 20, and the first rows have no deviation.
        let known = reach.iter().all(|side| side.is_finite());
        assert!(reach.iter().all(|side| *side >= 0.0) && (t >= 19 || !known) && (t < 25 || known), "row {t}");
        if t >= 1000 {
            let ends = [score[0] - reach[0], score[0] + reach[1]];
            assert!(ends[0] >= score[0].min(0.0) - 1e-12, "{ends:?}");
            missed[0] += usize::from(y < ends[0] - 1e-12);
            missed[1] += usize::from(y > ends[1]);
            (below, rows) = (below + reach[0] - reach[1], rows + 1);
            made.push((score[0], (ends[0] - 1e-12..=ends[1]).contains(&y)));
        }
    }
    let [low, high] = missed.map(|missed| f64::from(u16::try_from(missed).unwrap_or(u16::MAX)) / f64::from(rows));
    assert!(low <= 0.055 && (0.04..0.06).contains(&high) && below < 0.0, "{low} {high} {below}");
    assert!((intervals.held(0) - (1.0 - low - high)).abs() < 0.02 && intervals.coverage() == 0.9);
    // In each third of the predictions.
    made.sort_by(|a, b| a.0.total_cmp(&b.0));
    for third in made.chunks(made.len() / 3) {
        let share = third.iter().filter(|(_, held)| *held).count() as f64 / third.len() as f64;
        assert!(third.len() < 100 || (0.87..0.97).contains(&share), "{share}");
    }
    intervals.validate()?;
    Ok(())
}
