//! Every loss, with weights and several outputs: gradient and online Newton learners against their
//! formulas.

use crate::common::{self, TestResult, agree, kernel, pass, same_kernel, weighted};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Fogd, FogdParams, Kogd, KogdParams, Kons, KonsParams, Loss, Nogd,
    NogdParams, NonsAld, NonsAldParams, Regressor,
};
use mercer_testkit::oracle::{self, FunctionGradient, Steps, WeightedNewton};
use mercer_testkit::streams;

const LOSSES: [&str; 10] = [
    "squared",
    "absolute",
    "huber:0.3",
    "epsilon:0.1",
    "quantile:0.8",
    "poisson",
    "logistic",
    "hinge",
    "squared-hinge",
    "softmax",
];

#[test]
fn fogd_equals_its_loops_for_every_loss() -> TestResult {
    let stream = streams::smooth_noisy(11, 150, 2, 0.1);
    for name in LOSSES {
        for outputs in [1, 3] {
            let loss: Loss = name.parse()?;
            let examples = weighted(&stream, name, outputs);
            let params = FogdParams::default().features(13).step(0.2).loss(loss).outputs(outputs);
            let mut learner = Fogd::new(2, params)?;
            let map = learner.feature_map();
            let frequencies: Vec<Vec<f64>> = (0..map.frequencies()).map(|i| map.frequency(i)).collect();
            let features = |x: &[f64]| oracle::fourier_features(&frequencies, x);
            let expected = oracle::feature_gradient(&examples, &features, outputs, name, 0.2);
            if name == "softmax" && outputs == 1 {
                assert!(expected.iter().all(|z| *z == 0.0) && pass(&mut learner, &examples)? == expected);
                continue;
            }
            agree(&format!("{name}, {outputs}"), &pass(&mut learner, &examples)?, &expected, 1e-10);
        }
    }
    Ok(())
}

#[test]
fn gradient_learners_in_the_rkhs_equal_functions_for_every_loss() -> TestResult {
    let stream = streams::smooth_noisy(12, 90, 2, 0.1);
    for name in LOSSES {
        for (outputs, radius) in [(1, 0.6), (3, 0.6), (3, 5.0)] {
            if (name, outputs) == ("softmax", 1) {
                continue;
            }
            let loss: Loss = name.parse()?;
            let examples = weighted(&stream, name, outputs);
            let expected = |steps, radius, alpha| -> Vec<f64> {
                let mut functions = FunctionGradient::new(outputs, name, steps, radius, alpha);
                examples.iter().flat_map(|example| functions.learn(example, &same_kernel)).collect()
            };
            let what = format!("{name}, {outputs} outputs, radius {radius}");
            let params = KogdParams::default().radius(radius).loss(loss).outputs(outputs);
            let made = pass(&mut Kogd::new(kernel(), 2, params)?, &examples)?;
            agree(&what, &made, &expected(Steps::Adaptive, radius, None), 1e-10);
            let params = AogdAldParams::default().radius(radius).alpha(5e-3).loss(loss).outputs(outputs);
            let made = pass(&mut AogdAld::new(kernel(), 2, params)?, &examples)?;
            agree(&what, &made, &expected(Steps::Adaptive, radius, Some(5e-3)), 1e-10);
            let params = NogdParams::default().budget(200).step(0.3).radius(Some(radius)).loss(loss).outputs(outputs);
            let made = pass(&mut Nogd::new(kernel(), 2, params)?, &examples)?;
            agree(&what, &made, &expected(Steps::Constant(0.3), radius, None), 1e-10);
        }
    }
    Ok(())
}

/// Past its growth limit AOGD-ALD is gradient descent on all points, from the same function.
#[test]
fn aogd_ald_carries_all_outputs_past_its_growth_limit() -> TestResult {
    let examples = weighted(&streams::smooth_noisy(13, 80, 2, 0.1), "softmax", 3);
    let params = AogdAldParams::default().radius(0.7).alpha(1e-3).loss(Loss::SOFTMAX).outputs(3).growth_limit(Some(7));
    let mut learner = AogdAld::new(kernel(), 2, params)?;
    let mut functions = FunctionGradient::new(3, "softmax", Steps::Adaptive, 0.7, Some(1e-3));
    let mut expected = Vec::new();
    let made: Result<Vec<_>, _> = examples
        .iter()
        .map(|example| {
            if learner.keeps_everything() {
                functions.alpha = None;
            }
            expected.extend(functions.learn(example, &same_kernel));
            common::learn(&mut learner, example)
        })
        .collect();
    agree("past the limit", &made?.concat(), &expected, 1e-10);
    assert!(learner.keeps_everything());
    Ok(())
}

/// The constants of the documentation, once more.
fn curvature(name: &str, radius: f64, label_bound: f64, outputs: usize) -> f64 {
    match name {
        "squared" => 1.0 / (4.0 * (radius * radius + label_bound * label_bound)),
        "logistic" => 0.5 * (-radius).exp(),
        _ => 1.0 / (1.0 + (outputs as f64 - 1.0) * (2.0 * radius).exp()),
    }
}

#[test]
fn nons_ald_equals_the_svd_algorithm_for_every_loss_of_a_newton_step() -> TestResult {
    for (stream_name, stream) in [
        ("smooth", streams::smooth_noisy(14, 130, 2, 0.1)),
        ("exact duplicates", streams::exact_duplicates(15, 100, 2, 20)),
        ("far away", streams::far_away(16, 100, 2)),
    ] {
        for (name, outputs) in [("squared", 1), ("logistic", 1), ("softmax", 3), ("softmax", 2)] {
            for (mu, alpha, radius) in [(1.0, 1e-2, 0.3), (0.1, 1e-3, 1.0), (0.5, 1e-3, 0.1)] {
                let examples = weighted(&stream, name, outputs);
                let curvature = curvature(name, radius, 0.8, outputs);
                let literal = WeightedNewton { loss: name, outputs, mu, alpha, radius, curvature, max_dictionary: 25 };
                let expected = literal.run(&examples, &same_kernel);
                let bound = expected.iter().any(|z| z.abs() == radius);
                assert!(bound || radius > 0.1, "no projection is tried");
                let params = NonsAldParams::default().mu(mu).alpha(alpha).radius(radius).label_bound(0.8);
                let params = params.max_dictionary(Some(25)).loss(name.parse()?).outputs(outputs);
                let made = pass(&mut NonsAld::new(kernel(), 2, params)?, &examples)?;
                agree(&format!("{name} on {stream_name}, radius {radius}"), &made, &expected, 1e-9);
            }
        }
    }
    Ok(())
}

#[test]
fn kons_equals_its_functions_with_weights_and_losses() -> TestResult {
    let stream = streams::smooth_noisy(17, 60, 2, 0.1);
    for name in ["squared", "logistic"] {
        for clip in [None, Some(0.3)] {
            let examples = weighted(&stream, name, 1);
            let expected = oracle::weighted_kons(&examples, &same_kernel, name, [0.7, 0.2], clip);
            let params = KonsParams::default().mu(0.7).eta(0.2).clip(clip).loss(name.parse()?);
            let made = pass(&mut Kons::new(kernel(), 2, params)?, &examples)?;
            agree(&format!("{name}, clip {clip:?}"), &made, &expected, 1e-9);
        }
    }
    Ok(())
}

/// Scores of softmax sum to zero while nothing is projected, and two classes are the logistic loss
/// of their difference.
#[test]
fn softmax_scores_sum_to_zero() -> TestResult {
    let examples = weighted(&streams::smooth_noisy(18, 120, 2, 0.1), "softmax", 3);
    let newton = NonsAldParams::default().radius(5.0).loss(Loss::SOFTMAX).outputs(3);
    let sampled = ConKonsParams::default().clip(5.0).loss(Loss::SOFTMAX).outputs(3);
    let gradient = AogdAldParams::default().loss(Loss::SOFTMAX).outputs(3);
    let learners: [Box<dyn Regressor>; 3] = [
        Box::new(NonsAld::new(kernel(), 2, newton)?),
        Box::new(ConKons::new(kernel(), 2, sampled)?),
        Box::new(AogdAld::new(kernel(), 2, gradient)?),
    ];
    for mut learner in learners {
        for scores in pass(&mut learner, &examples)?.chunks(3) {
            assert!(scores.iter().sum::<f64>().abs() < 1e-12, "{scores:?}");
        }
    }
    Ok(())
}
