//! Dictionaries that points leave: against dense formulas, against removals by hand, and what every
//! learner promises.

use mercer_core::Validate;
use mercer_kernels::{AlignedVec, AnyKernel, Gaussian, Kernel};
use mercer_learners::update::{Coefficients, GrowingUpdate};
use mercer_learners::{
    AogdAld, AogdAldParams, Eviction, GrowThenStep, Krls, KrlsParams, NonsAld, NonsAldParams, OnDictionary, Regressor,
    RegressorExt, Removal, Rows, Target, Targets,
};
use mercer_sparsify::Ald;
use mercer_testkit::alloc::allocations_during;
use mercer_testkit::conformance::{Memory, Subject, check_regressor};
use mercer_testkit::oracle::Example;
use mercer_testkit::streams;
use nalgebra::{DMatrix, DVector};

type TestResult = Result<(), Box<dyn std::error::Error>>;

const HOWS: [Removal; 2] = [Removal::Marginalise, Removal::Condition];

fn kernel() -> Gaussian {
    Gaussian::new(0.4).expect("a positive width")
}

fn rules() -> Vec<Eviction> {
    let all = |how| {
        [
            Eviction::Oldest(how),
            Eviction::Random { how, seed: 7 },
            Eviction::SmallestCoefficient(how),
            Eviction::LeastSignificant(how),
        ]
    };
    HOWS.into_iter().flat_map(all).collect()
}

fn learners(sigma: f64, budget: usize, eviction: Eviction) -> Vec<(String, Box<dyn Regressor>)> {
    let (kernel, max) = (Gaussian::new(sigma).expect("a positive width"), Some(budget));
    let krls = KrlsParams::default().nu(1e-4).lambda(0.1).max_dictionary(max).eviction(eviction);
    let nons = NonsAldParams::default().alpha(1e-4).max_dictionary(max).eviction(eviction);
    let aogd = AogdAldParams::default().alpha(1e-4).max_dictionary(max).eviction(eviction);
    let interpolating = krls.lambda(0.0).nu(1e-2);
    vec![
        (format!("KRLS, {eviction:?}"), Box::new(Krls::new(kernel, 2, krls).expect("valid"))),
        (format!("KRLS forgetting, {eviction:?}"), {
            Box::new(Krls::new(kernel, 2, krls.forgetting(0.98)).expect("valid"))
        }),
        (format!("KRLS without ridge, {eviction:?}"), Box::new(Krls::new(kernel, 2, interpolating).expect("valid"))),
        (format!("NONS-ALD, {eviction:?}"), Box::new(NonsAld::new(kernel, 2, nons).expect("valid"))),
        (format!("AOGD-ALD, {eviction:?}"), Box::new(AogdAld::new(kernel, 2, aogd).expect("valid"))),
    ]
}

fn gram(points: &[Vec<f64>]) -> DMatrix<f64> {
    DMatrix::from_fn(points.len(), points.len(), |i, j| kernel().evaluate(&points[i], &points[j]))
}

fn row(points: &[Vec<f64>], x: &[f64]) -> DVector<f64> {
    DVector::from_fn(points.len(), |i, _| kernel().evaluate(&points[i], x))
}

/// KRLS-T without forgetting (Van Vaerenbergh, Lázaro-Gredilla and Santamaría 2012): the mean `μ`
/// and covariance `Σ` of the function's values at the kept points, of which the one with the least
/// `|(K⁻¹μ)_i|/[K⁻¹]_ii` goes, rows and columns and all.
fn krls_t(stream: &[Example], noise: f64, budget: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (mut predictions, mut points) = (Vec::new(), Vec::<Vec<f64>>::new());
    let (mut mean, mut covariance) = (DVector::<f64>::zeros(0), DMatrix::<f64>::zeros(0, 0));
    for (x, y) in stream {
        let (k, own) = (row(&points, x), kernel().self_value(x));
        let inverse = gram(&points).try_inverse().expect("independent points");
        let q = &inverse * &k;
        let m = q.dot(&mean);
        predictions.push(m);
        let h = &covariance * &q;
        let f = own - k.dot(&q) + q.dot(&h);
        let n = points.len();
        points.push(x.clone());
        let gain = h.clone().push(f);
        let mut larger = covariance.resize(n + 1, n + 1, 0.0);
        larger.view_mut((0, n), (n, 1)).copy_from(&h);
        larger.view_mut((n, 0), (1, n)).copy_from(&h.transpose());
        larger[(n, n)] = f;
        covariance = larger - &gain * gain.transpose() / (noise + f);
        mean = mean.push(m) + &gain * ((y - m) / (noise + f));
        if points.len() > budget {
            let inverse = gram(&points).try_inverse().expect("independent points");
            let alpha = &inverse * &mean;
            let weight = |i: usize| alpha[i].abs() / inverse[(i, i)];
            let least = (0..=n).min_by(|i, j| weight(*i).total_cmp(&weight(*j))).expect("points");
            points.remove(least);
            mean = mean.remove_row(least);
            covariance = covariance.remove_row(least).remove_column(least);
        }
    }
    (predictions, points)
}

#[test]
fn least_squares_that_marginalises_the_least_significant_point_is_krls_t() -> TestResult {
    for budget in [1, 5, 12] {
        let stream = streams::smooth_noisy(3, 150, 2, 0.1);
        let (expected, points) = krls_t(&stream, 0.3, budget);
        let eviction = Eviction::LeastSignificant(Removal::Marginalise);
        let params = KrlsParams::default().nu(0.0).lambda(0.3).max_dictionary(Some(budget)).eviction(eviction);
        let mut learner = Krls::new(kernel(), 2, params)?;
        for (t, ((x, y), expected)) in stream.iter().zip(&expected).enumerate() {
            let prediction = learner.predict_then_update(x, *y)?;
            assert!((prediction - expected).abs() < 1e-9, "{prediction} for {expected} in round {t}, budget {budget}");
        }
        let kept: Vec<_> = (0..budget).map(|i| learner.basis().points().point(i)).collect();
        assert_eq!(kept, points);
    }
    Ok(())
}

/// Every example as a function in the span of its time, projected on the span that is left whenever
/// a point goes, and the ridge regression on those functions.
#[test]
fn least_squares_conditioned_on_a_window_is_a_ridge_regression_on_projections() -> TestResult {
    let (stream, budget, lambda) = (streams::smooth_noisy(4, 120, 2, 0.1), 9, 0.2);
    let eviction = Eviction::Oldest(Removal::Condition);
    let params = KrlsParams::default().nu(0.0).lambda(lambda).max_dictionary(Some(budget)).eviction(eviction);
    let mut learner = Krls::new(kernel(), 2, params)?;
    let mut points: Vec<Vec<f64>> = Vec::new();
    // Row s: the coefficients of example s over the kept points.
    let mut examples = DMatrix::<f64>::zeros(0, 0);
    let mut targets = DVector::<f64>::zeros(0);
    for (t, (x, y)) in stream.iter().enumerate() {
        let expected = if points.is_empty() {
            0.0
        } else {
            let gram = gram(&points);
            let design = &examples * &gram;
            let normal = design.transpose() * &design + &gram * lambda;
            let solved = normal.lu().solve(&(design.transpose() * &targets)).ok_or("singular")?;
            solved.dot(&row(&points, x))
        };
        let prediction = learner.predict_then_update(x, *y)?;
        assert!((prediction - expected).abs() < 1e-8, "{prediction} for {expected} in round {t}");
        points.push(x.clone());
        let n = points.len();
        examples = examples.resize(t + 1, n, 0.0);
        examples[(t, n - 1)] = 1.0;
        targets = targets.push(*y);
        if n > budget {
            let gone = points.remove(0);
            let project = gram(&points).lu().solve(&row(&points, &gone)).ok_or("singular")?;
            let first = examples.column(0).clone_owned();
            examples = examples.remove_column(0) + first * project.transpose();
        }
    }
    Ok(())
}

#[test]
fn the_oldest_leave_so_that_the_dictionary_is_a_window() -> TestResult {
    let stream = streams::smooth_noisy(5, 60, 2, 0.1);
    for how in HOWS {
        let params = NonsAldParams::default().alpha(0.0).max_dictionary(Some(8)).eviction(Eviction::Oldest(how));
        let mut learner = NonsAld::new(kernel(), 2, params)?;
        for (t, (x, y)) in stream.iter().enumerate() {
            learner.update(x, *y)?;
            let size = learner.dictionary_size();
            assert_eq!(size, 8.min(t + 1));
            for i in 0..size {
                assert_eq!(learner.basis().points().point(i), stream[t + 1 - size + i].0);
            }
        }
    }
    Ok(())
}

/// Without a rule a full dictionary keeps nothing more.
#[test]
fn never_is_the_default() -> TestResult {
    let mut learner = Krls::new(kernel(), 2, KrlsParams::default().nu(0.0).lambda(0.0).max_dictionary(Some(8)))?;
    assert_eq!(learner.eviction(), Eviction::Never);
    let stream = streams::smooth_noisy(5, 60, 2, 0.1);
    for (x, y) in &stream {
        learner.update(x, *y)?;
    }
    assert!((0..8).all(|i| learner.basis().points().point(i) == stream[i].0));
    Ok(())
}

/// A learner that evicts, and one that never does and has points removed by hand.
fn by_hand<U: GrowingUpdate>(
    mut learner: OnDictionary<Gaussian, Ald, U, GrowThenStep>,
    mut twin: OnDictionary<Gaussian, Ald, U, GrowThenStep>,
    budget: usize,
) -> TestResult {
    let rule = learner.eviction();
    for (x, y) in &streams::smooth_noisy(6, 150, 2, 0.1) {
        assert_eq!(learner.predict_then_update(x, *y)?, twin.predict_then_update(x, *y)?, "{rule:?}");
        if twin.dictionary_size() > budget {
            let points: Vec<_> = (0..=budget).map(|i| twin.basis().points().point(i)).collect();
            let inverse = gram(&points).try_inverse().ok_or("singular")?;
            let mut sizes = vec![0.0; points.len()];
            for w in twin.linear().coefficients().map_or(&[][..], Coefficients::vectors) {
                let mut alpha = AlignedVec::new();
                twin.basis().coefficients(w, &mut alpha);
                sizes.iter_mut().zip(alpha.iter()).for_each(|(size, alpha)| *size += alpha * alpha);
            }
            if matches!(rule, Eviction::LeastSignificant(_)) {
                sizes.iter_mut().enumerate().for_each(|(i, size)| *size /= inverse[(i, i)].powi(2));
            }
            let least = (0..=budget).min_by(|i, j| sizes[*i].total_cmp(&sizes[*j])).ok_or("points")?;
            let (index, how) = match rule {
                Eviction::Oldest(how) => (0, how),
                Eviction::SmallestCoefficient(how) | Eviction::LeastSignificant(how) => (least, how),
                _ => return Err("not a rule that can be followed".into()),
            };
            twin.remove(index, how);
        }
        assert_eq!(learner.basis().points(), twin.basis().points(), "{rule:?}");
    }
    assert_eq!(learner.dictionary_size(), budget);
    Ok(())
}

#[test]
fn rules_remove_what_they_say() -> TestResult {
    for rule in rules().into_iter().filter(|rule| !matches!(rule, Eviction::Random { .. })) {
        for budget in [1, 7, 19] {
            let krls = KrlsParams::default().nu(1e-3).lambda(0.1).max_dictionary(None).eviction(rule);
            let evicting = krls.max_dictionary(Some(budget));
            by_hand(Krls::new(kernel(), 2, evicting)?, Krls::new(kernel(), 2, krls)?, budget)?;
            let nons = NonsAldParams::default().alpha(1e-3).max_dictionary(None).eviction(rule);
            by_hand(
                NonsAld::new(kernel(), 2, nons.max_dictionary(Some(budget)))?,
                NonsAld::new(kernel(), 2, nons)?,
                budget,
            )?;
        }
    }
    Ok(())
}

/// The new point stays, any other may go, and the seed decides which.
#[test]
fn random_points_are_old_ones_drawn_by_the_seed() -> TestResult {
    let stream = streams::smooth_noisy(8, 400, 2, 0.1);
    let run = |seed| -> Result<_, Box<dyn std::error::Error>> {
        let eviction = Eviction::Random { how: Removal::Marginalise, seed };
        let params = KrlsParams::default().nu(0.0).lambda(0.1).max_dictionary(Some(5)).eviction(eviction);
        let mut learner = Krls::new(kernel(), 2, params)?;
        let (mut gone, mut last) = ([0; 5], Vec::<Vec<f64>>::new());
        for (x, y) in &stream {
            // An example of weight 0 draws nothing.
            learner.learn(&[0.1, 0.1], Target::weighted(&[0.0], 0.0), &mut [0.0])?;
            learner.update(x, *y)?;
            let points: Vec<_> = (0..learner.dictionary_size()).map(|i| learner.basis().points().point(i)).collect();
            assert_eq!(points.last(), Some(x));
            if let Some(index) = last.iter().position(|point| !points.contains(point)) {
                gone[index] += 1;
            }
            last = points;
        }
        Ok((gone, learner.predict(&[0.1, 0.2])?))
    };
    let (gone, prediction) = run(1)?;
    // 395 draws from five: 79 each, give or take 4 standard deviations of 8.
    assert!(gone.iter().sum::<i32>() == 395 && gone.iter().all(|count| (47..=111).contains(count)), "{gone:?}");
    assert_eq!(run(1)?.1, prediction);
    assert_ne!(run(2)?.0, gone);
    Ok(())
}

#[test]
fn blocks_equal_one_by_one() -> TestResult {
    let mut stream = streams::smooth_noisy(9, 260, 2, 0.1);
    // Later rows are near those of before, so that most are not kept, and a new one comes now and
    // then.
    for t in 200..900 {
        let (x, y) = stream[t % 200].clone();
        let apart = if t % 23 == 0 { 0.3 } else { 1e-4 };
        stream.push((vec![x[0] + apart, x[1] - apart], y));
    }
    let inputs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
    let targets: Vec<f64> = stream.iter().map(|(_, y)| *y).collect();
    let weights: Vec<f64> = (0..stream.len()).map(|t| [1.0, 0.0, 2.0, 0.7][t % 4]).collect();
    let rows = Rows::new(&inputs, 2, Targets::new(&targets, &weights, 1)?)?;
    for budget in [10, 90, 140] {
        for rule in rules() {
            // Narrow enough that all these points are far from the span of the others.
            let pairs = learners(0.15, budget, rule).into_iter().zip(learners(0.15, budget, rule));
            for ((name, mut single), (_, mut blocked)) in pairs {
                let (mut expected, mut predictions) = (Vec::new(), Vec::new());
                for (x, target) in rows.iter() {
                    let mut score = [0.0];
                    single.learn(x, target, &mut score)?;
                    expected.push(score[0]);
                }
                for first in (0..rows.len()).step_by(100) {
                    blocked.learn_rows(rows.range(first, rows.len().min(first + 100)), &mut predictions)?;
                }
                assert_eq!(single.dictionary_size(), budget, "{name}");
                assert_eq!(blocked.dictionary_size(), budget, "{name}");
                for (t, (a, b)) in predictions.iter().zip(&expected).enumerate() {
                    assert!((a - b).abs() < 1e-9, "{name}, budget {budget}: {a} for {b} in row {t}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn refused_steps_leave_no_trace_and_nothing_is_allocated() -> TestResult {
    let stream = streams::smooth_noisy(10, 200, 2, 0.1);
    for rule in rules() {
        for ((name, mut disturbed), (_, mut calm)) in learners(0.4, 12, rule).into_iter().zip(learners(0.4, 12, rule)) {
            for (t, (x, y)) in stream.iter().enumerate() {
                // Interpolation takes a target of any size.
                if !name.starts_with("KRLS without") {
                    let huge = Target::weighted(&[1e305], 1e200);
                    assert!(disturbed.learn(&[5.0 + t as f64, 0.0], huge, &mut [0.0]).is_err(), "{name}");
                }
                assert_eq!(disturbed.predict_then_update(x, *y)?, calm.predict_then_update(x, *y)?, "{name}");
            }
            let mut again = || stream.iter().try_for_each(|(x, y)| calm.update(x, *y));
            assert_eq!(allocations_during(|| assert!(again().is_ok())), 0, "{name}");
        }
    }
    Ok(())
}

#[test]
fn saved_learners_go_on_bit_for_bit() -> TestResult {
    let stream = streams::smooth_noisy(11, 120, 2, 0.1);
    for rule in rules() {
        let params = KrlsParams::default().nu(1e-3).lambda(0.1).max_dictionary(Some(9)).eviction(rule);
        let mut learner = Krls::new("gaussian:0.4".parse::<AnyKernel>()?, 2, params)?;
        for (x, y) in &stream[..70] {
            learner.update(x, *y)?;
        }
        let text = serde_json::to_string(&learner)?;
        let mut restored: Krls<AnyKernel> = serde_json::from_str(&text)?;
        assert_eq!(restored.validate(), Ok(()));
        for (x, y) in &stream[70..] {
            assert_eq!(restored.predict_then_update(x, *y)?, learner.predict_then_update(x, *y)?, "{rule:?}");
        }
    }
    Ok(())
}

#[test]
fn the_contract_holds() {
    for rule in rules() {
        for spec in ["gaussian:0.9", "polynomial:2,0.5"] {
            let kernel = || spec.parse::<AnyKernel>().expect("a kernel");
            let check = |name: &str, make: &dyn Fn() -> Subject| {
                check_regressor(&format!("{name}, {spec}, {rule:?}"), Memory::Bounded, spec.starts_with("gauss"), make);
            };
            let max = Some(8);
            for (lambda, forgetting) in [(0.1, 1.0), (0.0, 1.0), (0.1, 0.97)] {
                let params = KrlsParams::default().lambda(lambda).forgetting(forgetting);
                let params = params.max_dictionary(max).eviction(rule);
                check("KRLS", &|| Krls::new(kernel(), 3, params).expect("valid").into());
            }
            let params = NonsAldParams::default().max_dictionary(max).eviction(rule);
            check("NONS-ALD", &|| NonsAld::new(kernel(), 3, params).expect("valid").into());
            let params = AogdAldParams::default().max_dictionary(max).eviction(rule);
            check("AOGD-ALD", &|| AogdAld::new(kernel(), 3, params).expect("valid").into());
        }
    }
}
