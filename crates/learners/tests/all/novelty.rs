//! The novelty criterion, whose second half looks at the error: what is kept, and what is learnt of
//! the points that are not.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{self, TestResult, values};
use mercer_kernels::AnyKernel;
use mercer_learners::update::{GradientStep, GrowingUpdate, LeastSquares, Ridge, StepSize, WhenWrong};
use mercer_learners::{
    Error, GrowThenStep, Loss, NormalisedStep, OnCoefficients, OnDictionary, Regressor, RegressorExt, Scratch,
};
use mercer_sparsify::{Admission, Answer, Basis, Novelty, Probe};
use mercer_testkit::oracle::Example;

const KERNELS: [&str; 3] = ["gaussian:0.6", "matern52:1.2", "polynomial:2,0.5"];

/// `(δ₁, δ₂)`
const CRITERIA: [(f64, f64); 4] = [(0.3, 0.15), (0.1, 0.4), (0.5, 0.0), (0.0, 0.3)];

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// KNLMS under the novelty criterion, over plain vectors.
fn by_definition(
    stream: &[Example],
    kernel: &dyn Fn(&[f64], &[f64]) -> f64,
    (delta1, delta2): (f64, f64),
    (eta, eps, max): (f64, f64, usize),
) -> (Vec<f64>, usize) {
    let (mut points, mut alpha): (Vec<&[f64]>, Vec<f64>) = Default::default();
    let mut predictions = Vec::new();
    for (x, y) in stream {
        let mut k: Vec<f64> = points.iter().map(|d| kernel(d, x)).collect();
        let prediction: f64 = alpha.iter().zip(&k).map(|(a, k)| a * k).sum();
        predictions.push(prediction);
        let nearest = points.iter().map(|d| distance(d, x)).fold(f64::INFINITY, f64::min);
        let novel = points.is_empty() || (nearest > delta1 && (y - prediction).abs() > delta2);
        if novel && points.len() < max {
            points.push(x);
            alpha.push(0.0);
            k.push(kernel(x, x));
        }
        let step = eta * (y - prediction) / (eps + k.iter().map(|k| k * k).sum::<f64>());
        alpha.iter_mut().zip(&k).for_each(|(a, k)| *a += step * k);
    }
    (predictions, points.len())
}

#[test]
fn kernel_coefficients_equal_the_definition() -> TestResult {
    for spec in KERNELS {
        let kernel: AnyKernel = spec.parse()?;
        for (name, stream) in common::streams() {
            // Predictions reach 1e10 there.
            if name == "far away" && spec.starts_with("poly") {
                continue;
            }
            for (criterion, max) in CRITERIA.into_iter().flat_map(|criterion| [(criterion, 1000), (criterion, 12)]) {
                let (delta1, delta2) = criterion;
                let update = WhenWrong::new(NormalisedStep::new(0.5, 1e-2)?, delta2)?;
                let parts = (1, Some(max));
                let mut learner = OnCoefficients::from_parts(
                    kernel.clone(),
                    stream[0].0.len(),
                    Novelty::new(delta1)?,
                    update,
                    parts,
                )?;
                let (expected, size) = by_definition(&stream, &values(&kernel), criterion, (0.5, 1e-2, max));
                for ((x, y), expected) in stream.iter().zip(expected) {
                    let prediction = learner.predict_then_update(x, *y)?;
                    let gap = (prediction - expected).abs() / expected.abs().max(1.0);
                    assert!(gap <= 1e-12, "{name}, {spec}, {criterion:?}: {prediction} for {expected}");
                }
                assert_eq!(learner.dictionary_size(), size, "{name}, {spec}, {criterion:?}");
            }
        }
    }
    Ok(())
}

/// Keeps the inputs of the rounds that it is told. It is asked in every round.
struct Told {
    keeps: Vec<bool>,
    round: AtomicUsize,
}

impl<B: Basis> Admission<B> for Told {
    type Decision = Answer;

    fn decide(&self, basis: &B, _: &[f64], probe: &Probe) -> Answer {
        let told = self.keeps[self.round.fetch_add(1, Ordering::Relaxed)];
        basis.new_coordinate(probe).filter(|_| told).into()
    }
}

/// The update under the criterion is the update alone on the points that the criterion keeps, bit
/// for bit, in predictions and variances, and these are those of which distance and error say so.
fn keeps_what_it_says<U: GrowingUpdate>(
    what: &str,
    stream: &[Example],
    make: impl Fn() -> Result<U, Error>,
) -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let dimension = stream[0].0.len();
    for (delta1, delta2) in CRITERIA {
        let update = WhenWrong::new(make()?, delta2)?;
        let mut learner = OnDictionary::<_, _, _, GrowThenStep>::from_parts(
            kernel.clone(),
            dimension,
            Novelty::new(delta1)?,
            update,
            None,
        )?;
        let (mut kept, mut keeps, mut predictions): (Vec<Vec<f64>>, Vec<bool>, Vec<f64>) = Default::default();
        let mut probe = Probe::default();
        for (x, y) in stream {
            let prediction = learner.predict_then_update(x, *y)?;
            let nearest = kept.iter().map(|d| distance(d, x)).fold(f64::INFINITY, f64::min);
            let novel = kept.is_empty() || (nearest > delta1 && (y - prediction).abs() > delta2);
            // A point whose function is in the span, to rounding, cannot join.
            let keep = novel && learner.dictionary_size() > kept.len();
            learner.basis().probe(x, &mut probe);
            assert!(keep || !novel || probe.residual() < 1e-12, "{what}: {}", probe.residual());
            kept.extend(keep.then(|| x.clone()));
            keeps.push(keep);
            assert_eq!(learner.dictionary_size(), kept.len(), "{what}, {delta1}, {delta2}");
            predictions.push(prediction);
        }
        assert!(kept.len() > 1 && (delta2 == 0.0 || kept.len() < stream.len()), "{what}: {}", kept.len());
        let told = Told { keeps, round: AtomicUsize::new(0) };
        let mut told =
            OnDictionary::<_, _, _, GrowThenStep>::from_parts(kernel.clone(), dimension, told, make()?, None)?;
        let mut blocked = Vec::new();
        for ((x, y), expected) in stream.iter().zip(&predictions) {
            assert_eq!(told.predict_then_update(x, *y)?.to_bits(), expected.to_bits(), "{what}, {delta1}, {delta2}");
        }
        assert_eq!(learner.has_variance(), told.has_variance(), "{what}");
        for (x, _) in stream.iter().take(20) {
            let variance = |learner: &dyn Regressor| {
                let mut variance = [0.0];
                let known = learner.predict_variance_into(x, &mut Scratch::default(), &mut [0.0], &mut variance);
                known.map(|known| (known, variance[0].to_bits()))
            };
            assert_eq!(variance(&learner), variance(&told), "{what}, {delta1}, {delta2}");
        }
        // Rows known beforehand go the same way.
        let update = WhenWrong::new(make()?, delta2)?;
        let mut learner = OnDictionary::<_, _, _, GrowThenStep>::from_parts(
            kernel.clone(),
            dimension,
            Novelty::new(delta1)?,
            update,
            None,
        )?;
        let (xs, ys): (Vec<Vec<f64>>, Vec<f64>) = stream.iter().cloned().unzip();
        learner.learn_block(&xs.concat(), &ys, &mut blocked)?;
        assert_eq!(blocked, predictions, "{what}, {delta1}, {delta2}");
    }
    Ok(())
}

#[test]
fn orthonormal_coordinates_keep_what_the_criterion_says() -> TestResult {
    for (name, stream) in common::streams() {
        keeps_what_it_says(&format!("gradient, {name}"), &stream, || {
            Ok(GradientStep::new(0, 1, Loss::SQUARED, StepSize::Constant(0.1), None))
        })?;
        keeps_what_it_says(&format!("least squares, {name}"), &stream, || Ok(LeastSquares::<Ridge>::new(0.1, 1.0)?))?;
    }
    Ok(())
}

#[test]
fn thresholds_out_of_range_are_refused() -> TestResult {
    for wrong in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(Novelty::new(wrong).is_err() && WhenWrong::new(NormalisedStep::new(0.5, 0.0)?, wrong).is_err());
    }
    Ok(())
}
