//! Common parts of the comparisons with oracles: a kernel, streams with weights and targets for
//! each loss, one pass over them.

use std::cell::RefCell;

use mercer_kernels::{AlignedVec, AnyKernel, Gaussian, Kernel, Points};
use mercer_learners::{Error, Regressor, RegressorExt, Scratch, Target};
use mercer_testkit::oracle::{Example, Trace, WeightedExample};
use mercer_testkit::streams;

pub(crate) type TestResult = Result<(), Box<dyn std::error::Error>>;

pub(crate) fn kernel() -> Gaussian {
    Gaussian::new(0.8).expect("a positive width")
}

/// The learner's own kernel values, bit for bit: at small thresholds a last-bit difference of the
/// exponential alone moves predictions by 1e-10.
pub(crate) fn same_kernel(x: &[f64], z: &[f64]) -> f64 {
    let mut row = AlignedVec::new();
    kernel().row(&Points::from_rows(x.len(), x), z, &mut row);
    row[0]
}

/// The stream with weights, 0 among them, and targets for this loss.
pub(crate) fn weighted(stream: &[Example], loss: &str, outputs: usize) -> Vec<WeightedExample> {
    let weights = [1.0, 0.5, 0.0, 2.0, 1.0, 0.1, 3.0];
    let targets = |t: usize, y: f64| -> Vec<f64> {
        let number = |k: usize| y * (1.0 - 0.7 * k as f64) + 0.2 * (t as f64 * (k as f64 + 1.0)).sin();
        match loss {
            "softmax" => vec![((y.abs() * 10.0) as usize % outputs) as f64],
            "poisson" => (0..outputs).map(|k| (3.0 * number(k)).abs().floor()).collect(),
            "logistic" | "hinge" | "squared-hinge" => {
                (0..outputs).map(|k| if number(k) < 0.0 { -1.0 } else { 1.0 }).collect()
            }
            _ => (0..outputs).map(number).collect(),
        }
    };
    let example = |(t, (x, y)): (usize, &Example)| WeightedExample {
        x: x.clone(),
        y: targets(t, *y),
        weight: weights[t % weights.len()],
    };
    stream.iter().enumerate().map(example).collect()
}

/// One prequential round.
pub(crate) fn learn(learner: &mut (impl Regressor + ?Sized), example: &WeightedExample) -> Result<Vec<f64>, Error> {
    let mut scores = vec![0.0; learner.outputs()];
    learner.learn(&example.x, Target::weighted(&example.y, example.weight), &mut scores)?;
    Ok(scores)
}

/// All predictions of one pass.
pub(crate) fn pass(learner: &mut (impl Regressor + ?Sized), stream: &[WeightedExample]) -> Result<Vec<f64>, Error> {
    let mut all = Vec::new();
    for example in stream {
        all.extend(learn(learner, example)?);
    }
    Ok(all)
}

/// Demands agreement to `tolerance`, on the scale of what is expected where that is above 1.
#[track_caller]
pub(crate) fn agree(what: &str, got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    assert!(expected.iter().any(|z| z.abs() > 1e-3), "{what}: predictions are all but zero, nothing is compared");
    for (t, (a, b)) in got.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {a} against {b} at number {t}");
    }
}

/// Streams of each kind that learners on a dictionary are compared on.
pub(crate) fn streams() -> Vec<(&'static str, Vec<Example>)> {
    vec![
        ("smooth", streams::smooth_noisy(1, 300, 2, 0.1)),
        ("near duplicates", streams::near_duplicates(2, 300, 2)),
        ("exact duplicates", streams::exact_duplicates(3, 300, 2, 60)),
        ("constant column", streams::constant_column(4, 300, 3)),
        ("far away", streams::far_away(5, 300, 2)),
        ("embedded", streams::embedded(6, 300, 4)),
        ("switching", streams::switching(7, 300, 2)),
    ]
}

/// The learner's own kernel values: those of an oracle then differ by no bit.
pub(crate) fn values(kernel: &AnyKernel) -> impl Fn(&[f64], &[f64]) -> f64 {
    // Oracles ask for millions of values: the memory is kept.
    let kept = RefCell::new((Points::new(0), AlignedVec::new()));
    move |x, z| {
        let (point, row) = &mut *kept.borrow_mut();
        if point.dimension() != x.len() {
            *point = Points::new(x.len());
        }
        point.clear();
        point.push(x);
        kernel.row(point, z, row);
        row[0]
    }
}

/// Demands that a prediction asked for is that of the prequential step: kernel coefficients may
/// move it by 1e-12 of `‖w‖ √k(x,x)`, which is below 10 on these streams.
#[track_caller]
pub(crate) fn same(name: &str, asked: f64, prequential: f64) {
    let apart = (asked - prequential).abs() / prequential.abs().max(1.0);
    assert!(apart <= 1e-11, "{name}: {asked} when asked, {prequential} in the prequential step");
}

/// Demands the oracle's predictions, to 1e-12, and its dictionary.
pub(crate) fn check(name: &str, learner: impl Regressor, stream: &[Example], expected: &Trace) -> TestResult {
    check_to(1e-12, name, learner, stream, expected)
}

/// Demands the oracle's predictions to `tolerance`, on the scale of what is expected where that is
/// above 1, and its dictionary.
pub(crate) fn check_to(
    tolerance: f64,
    name: &str,
    mut learner: impl Regressor,
    stream: &[Example],
    expected: &Trace,
) -> TestResult {
    let mut scratch = Scratch::default();
    for (t, ((x, y), expected)) in stream.iter().zip(&expected.predictions).enumerate() {
        let pure = learner.predict_with(x, &mut scratch)?;
        let prediction = learner.predict_then_update(x, *y)?;
        same(name, pure, prediction);
        let gap = (prediction - expected).abs() / expected.abs().max(1.0);
        assert!(gap <= tolerance, "{name}: {prediction} for {expected} in round {t}");
    }
    assert_eq!(learner.dictionary_size(), expected.dictionary.len(), "{name}: dictionary size");
    Ok(())
}
