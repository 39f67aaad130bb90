//! Classifiers of two classes against their definitions, and what they do with hostile streams,
//! weights, other targets and saved state.

use crate::common::{self, TestResult, values};
use mercer_core::{ExampleError, Validate};
use mercer_kernels::{AnyKernel, Points};
use mercer_learners::{
    Bogd, BogdParams, BpaS, BpaSParams, Classifier, Error, Forgetron, ForgetronParams, Loss, Pa, PaParams, PaVariant,
    Pegasos, PegasosParams, Perceptron, Projectron, ProjectronParams, ProjectronPlus, ProjectronPlusParams, Rbp,
    RbpParams, Regressor, RegressorExt, Scratch, Target,
};
use mercer_sparsify::Basis;
use mercer_testkit::oracle::{self, MarginRule, Trace, WeightedExample};
use mercer_testkit::streams;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const NORMALISED: &str = "gaussian:0.6";
const KERNELS: [&str; 4] = [NORMALISED, "laplace:0.8", "polynomial:2,0.5", "mix:0.7*gaussian:0.5+0.8*laplace:2"];
const SEED: u64 = 11;

/// The draws of the learners with this seed.
fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(0x6275_6467_6574);
    move |n| rng.random_range(0..n)
}

fn points_of(points: &Points) -> Vec<Vec<f64>> {
    (0..points.len()).map(|i| points.point(i)).collect()
}

/// The streams with targets ±1: all of weight 1, and with several weights, 0 among them. Far away
/// from the origin a polynomial kernel is of the order of 1e12, and the differences of such numbers
/// that make a score have lost their last digits.
fn streams_of_classes(kernel: &str) -> Vec<(String, Vec<WeightedExample>)> {
    let mut all = Vec::new();
    for (name, stream) in common::streams() {
        if name == "far away" && kernel.starts_with("poly") {
            continue;
        }
        let weighted = common::weighted(&stream, "hinge", 1);
        let plain = weighted.iter().map(|example| WeightedExample { weight: 1.0, ..example.clone() }).collect();
        all.push((name.to_owned(), plain));
        all.push((format!("{name} with weights"), weighted));
    }
    all
}

/// The points without immediate repetitions: a passive-aggressive step makes the loss at its input
/// 0 to rounding, so that rounding decides whether the same input, if it comes again at once, is
/// kept with a coefficient of the order of 1e-16.
fn once(mut points: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    points.dedup();
    points
}

/// Demands the oracle's predictions, to `tolerance` on the scale of what is expected where that is
/// above 1, and its dictionary; gives the largest gap.
fn compare<L: Regressor>(
    tolerance: f64,
    name: &str,
    mut learner: L,
    stream: &[WeightedExample],
    expected: &Trace,
    points: impl Fn(&L) -> Vec<Vec<f64>>,
) -> Result<f64, Error> {
    let (mut scratch, mut largest) = (Scratch::default(), 0.0_f64);
    for (t, (example, expected)) in stream.iter().zip(&expected.predictions).enumerate() {
        let pure = learner.predict_with(&example.x, &mut scratch)?;
        let prediction = common::learn(&mut learner, example)?[0];
        common::same(name, pure, prediction);
        let gap = (prediction - expected).abs() / expected.abs().max(1.0);
        assert!(gap <= tolerance, "{name}: {prediction} for {expected} in round {t}");
        largest = largest.max(gap);
    }
    let kept: Vec<Vec<f64>> = expected.dictionary.iter().map(|t| stream[*t].x.clone()).collect();
    assert_eq!(learner.dictionary_size(), points(&learner).len(), "{name}");
    assert!(once(points(&learner)) == once(kept), "{name}: the dictionary holds other points");
    Ok(largest)
}

/// Compares a classifier of kernel coefficients with its definition, on every stream with every
/// kernel.
macro_rules! compare_all {
    ($kernels:expr, $rule:expr, $make:expr) => {
        let rule: MarginRule = $rule;
        let mut largest = 0.0_f64;
        for spec in $kernels {
            let kernel: AnyKernel = spec.parse()?;
            for (name, stream) in streams_of_classes(spec) {
                let expected = oracle::margin_classifier(&stream, &values(&kernel), rule, draws(SEED));
                let learner = $make(kernel.clone(), stream[0].x.len())?;
                let name = format!("{rule:?}, {name}, {spec}");
                let points = |learner: &_| kept(learner);
                largest = largest.max(compare(1e-12, &name, learner, &stream, &expected, points)?);
            }
        }
        println!("{rule:?}: {largest:e}");
    };
}

fn kept<A, U>(learner: &mercer_learners::OnCoefficients<AnyKernel, A, U>) -> Vec<Vec<f64>>
where
    A: mercer_sparsify::Admission<mercer_sparsify::KernelBasis<AnyKernel>>,
    U: mercer_learners::CoefficientUpdate<AnyKernel>,
{
    points_of(learner.basis().points())
}

#[test]
fn the_perceptron_equals_its_definition() -> TestResult {
    compare_all!(KERNELS, MarginRule::Perceptron, Perceptron::new);
    Ok(())
}

#[test]
fn rbp_equals_its_definition() -> TestResult {
    for budget in [1, 2, 7, 20] {
        let params = RbpParams::default().budget(budget).seed(SEED);
        compare_all!(KERNELS, MarginRule::Rbp { budget }, |kernel, d| Rbp::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn the_forgetron_equals_its_definition() -> TestResult {
    for budget in [1, 2, 7, 20] {
        let params = ForgetronParams::default().budget(budget);
        compare_all!(KERNELS, MarginRule::Forgetron { budget }, |kernel, d| Forgetron::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn bpa_s_equals_its_definition() -> TestResult {
    let normalised = [NORMALISED, "laplace:0.8", "mix:0.5*gaussian:0.5+0.5*laplace:2"];
    for (budget, c) in [(1, 1.0), (3, 0.3), (20, 5.0)] {
        let params = BpaSParams::default().budget(budget).c(c);
        compare_all!(normalised, MarginRule::BpaS { budget, c }, |kernel, d| BpaS::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn pa_equals_its_definition() -> TestResult {
    for c in [0.1, 1.0, 20.0] {
        let params = PaParams::default().c(c);
        compare_all!(KERNELS, MarginRule::Pa1 { c }, |kernel, d| Pa::new(kernel, d, params));
        let params = params.variant(PaVariant::Two);
        compare_all!(KERNELS, MarginRule::Pa2 { c }, |kernel, d| Pa::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn bogd_equals_its_definition() -> TestResult {
    for (budget, eta, lambda) in [(1, 0.2, 0.1), (2, 0.1, 1.0), (12, 0.5, 0.0), (40, 0.2, 0.01)] {
        let params = BogdParams::default().budget(budget).eta(eta).lambda(lambda).seed(SEED);
        let rule = MarginRule::Bogd { budget, eta, lambda };
        compare_all!(KERNELS, rule, |kernel, d| Bogd::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn pegasos_equals_its_definition() -> TestResult {
    for (budget, lambda) in [(1, 1.0), (8, 0.1), (50, 0.01)] {
        let params = PegasosParams::default().budget(budget).lambda(lambda);
        let rule = MarginRule::Pegasos { budget, lambda };
        compare_all!(KERNELS, rule, |kernel, d| Pegasos::new(kernel, d, params));
    }
    Ok(())
}

#[test]
fn projectron_equals_its_definition() -> TestResult {
    let mut largest = [0.0_f64; 2];
    for spec in KERNELS {
        let kernel: AnyKernel = spec.parse()?;
        for (name, stream) in streams_of_classes(spec) {
            let d = stream[0].x.len();
            for (eta, max) in [(0.1, 1000), (0.3, 1000), (0.6, 1000), (0.1, 6)] {
                let name = format!("{name}, {spec}, eta {eta}, at most {max}");
                let params = ProjectronParams::default().eta(eta).max_dictionary(Some(max));
                let of = |margins| {
                    let params = oracle::ProjectronParams { eta, max_dictionary: max, margins };
                    oracle::projectron(&stream, &values(&kernel), params)
                };
                let learner = Projectron::new(kernel.clone(), d, params)?;
                let points = |learner: &Projectron<AnyKernel>| points_of(learner.basis().points());
                largest[0] = largest[0].max(compare(1e-9, &name, learner, &stream, &of(false), points)?);
                let params = ProjectronPlusParams::default().eta(eta).max_dictionary(Some(max));
                let learner = ProjectronPlus::new(kernel.clone(), d, params)?;
                let points = |learner: &ProjectronPlus<AnyKernel>| points_of(learner.basis().points());
                largest[1] =
                    largest[1].max(compare(1e-9, &format!("++, {name}"), learner, &stream, &of(true), points)?);
            }
        }
    }
    println!("projectron, projectron++: {largest:?}");
    Ok(())
}

/// Makes a classifier for inputs of two features.
type Make = Box<dyn Fn(AnyKernel) -> Box<dyn Regressor>>;

fn make<L: Regressor + 'static>(make: impl Fn(AnyKernel) -> Result<L, Error> + 'static) -> Make {
    Box::new(move |kernel| Box::new(make(kernel).expect("valid")) as Box<dyn Regressor>)
}

/// All of them, with small budgets; those that want `k(x,x) = 1` last.
fn classifiers() -> Vec<(&'static str, Make)> {
    let projectron = ProjectronParams::default().max_dictionary(Some(10));
    let plus = ProjectronPlusParams::default().max_dictionary(Some(10));
    vec![
        ("perceptron", make(|k| Perceptron::new(k, 2))),
        ("rbp", make(|k| Rbp::new(k, 2, RbpParams::default().budget(10)))),
        ("forgetron", make(|k| Forgetron::new(k, 2, ForgetronParams::default().budget(10)))),
        ("projectron", make(move |k| Projectron::new(k, 2, projectron))),
        ("projectron++", make(move |k| ProjectronPlus::new(k, 2, plus))),
        ("pa", make(|k| Pa::new(k, 2, PaParams::default()))),
        ("pa, 2", make(|k| Pa::new(k, 2, PaParams::default().variant(PaVariant::Two)))),
        ("bogd", make(|k| Bogd::new(k, 2, BogdParams::default().budget(10)))),
        ("pegasos", make(|k| Pegasos::new(k, 2, PegasosParams::default().budget(10)))),
        ("bpa-s", make(|k| BpaS::new(k, 2, BpaSParams::default().budget(10)))),
    ]
}

#[test]
fn other_targets_and_further_outputs_are_refused() -> TestResult {
    for (name, make) in classifiers() {
        let mut learner = make(NORMALISED.parse()?);
        assert_eq!((learner.loss(), learner.outputs()), (Loss::HINGE, 1), "{name}");
        for y in [0.0, 0.5, 2.0] {
            let refused = learner.predict_then_update(&[0.1, 0.2], y);
            assert!(matches!(refused, Err(Error::Target { .. })), "{name}: {refused:?}");
        }
        assert_eq!(learner.add_output(Some(0)), Err(Error::FixedOutputs), "{name}");
        // The first score is 0, which is a mistake.
        assert_eq!(learner.predict_then_update(&[0.1, 0.2], -1.0), Ok(0.0), "{name}");
        assert_eq!(learner.dictionary_size(), 1, "{name}");
        assert!(learner.predict(&[0.1, 0.2])? < 0.0, "{name}");
        let classifier = Classifier::two(learner)?;
        assert!(!classifier.has_probabilities(), "{name}");
        assert_eq!(classifier.predict(&[0.1, 0.2])?, Some(0), "{name}");
    }
    Ok(())
}

#[test]
fn one_class_and_a_class_that_comes_once() -> TestResult {
    for (name, make) in classifiers() {
        for y in [-1.0, 1.0] {
            for odd in [None, Some(0), Some(57)] {
                let mut learner = make(NORMALISED.parse()?);
                let mut wrong = 0;
                for (t, (x, _)) in streams::smooth_noisy(3, 200, 2, 0.1).iter().enumerate() {
                    let y = if odd == Some(t) { -y } else { y };
                    let score = learner.predict_then_update(x, y)?;
                    assert!(score.is_finite(), "{name}");
                    wrong += usize::from(t >= 100 && y * score <= 0.0);
                }
                assert!(wrong < 20, "{name}: {wrong} mistakes on one class");
            }
        }
    }
    Ok(())
}

/// Inputs at the end of the range of numbers, and kernels that overflow there: scores stay finite
/// or the example is refused.
#[test]
fn huge_inputs_are_survived() -> TestResult {
    let huge = [1e308, -1e308, 1e154, -1e154, 1e100, 5e-324, 0.0];
    for (name, make) in classifiers() {
        for spec in [NORMALISED, "linear", "polynomial:3,1", "polynomial:9,0", "matern32:1e-3"] {
            let normalised = !(spec.starts_with("poly") || spec == "linear");
            if name == "bpa-s" && !normalised {
                continue;
            }
            let mut learner = make(spec.parse()?);
            for (t, (x, _)) in streams::smooth_noisy(4, 120, 2, 0.1).iter().enumerate() {
                let x = match t % 3 {
                    0 => vec![huge[t % huge.len()], huge[t / 3 % huge.len()]],
                    _ => x.clone(),
                };
                let y = if t * 7 % 5 < 2 { 1.0 } else { -1.0 };
                match learner.predict_then_update(&x, y) {
                    Ok(score) => assert!(score.is_finite(), "{name}, {spec}: {score}"),
                    Err(error) => {
                        assert!(
                            matches!(error, Error::Example(ExampleError::KernelOverflow | ExampleError::Diverged)),
                            "{name}, {spec}: {error}"
                        );
                        assert!(!normalised, "{name}, {spec}: {error} at {x:?}");
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn bpa_s_refuses_other_kernels() -> TestResult {
    for spec in ["linear", "polynomial:2,1", "polynomial:2,0", "mix:0.5*gaussian:1+0.4*laplace:1"] {
        let refused = BpaS::new(spec.parse::<AnyKernel>()?, 2, BpaSParams::default());
        assert!(matches!(refused, Err(Error::SelfValue(_))), "{spec}");
    }
    let mix: AnyKernel = "mix:0.1*gaussian:1+0.2*laplace:1+0.7*gaussian:3".parse()?;
    assert!(BpaS::new(mix, 2, BpaSParams::default()).is_ok());
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() -> TestResult {
    let kernel = || NORMALISED.parse::<AnyKernel>().expect("a kernel");
    assert!(Rbp::new(kernel(), 2, RbpParams::default().budget(0)).is_err());
    assert!(Forgetron::new(kernel(), 2, ForgetronParams::default().budget(0)).is_err());
    let bpa_s = BpaSParams::default();
    for wrong in [bpa_s.budget(0), bpa_s.c(0.0), bpa_s.c(f64::INFINITY)] {
        assert!(BpaS::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    for wrong in [-1.0, 0.0, f64::NAN] {
        assert!(Pa::new(kernel(), 2, PaParams::default().c(wrong)).is_err(), "{wrong:?}");
    }
    let bogd = BogdParams::default();
    for wrong in [bogd.budget(0), bogd.eta(0.0), bogd.lambda(-1.0), bogd.eta(2.0).lambda(0.6)] {
        assert!(Bogd::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let pegasos = PegasosParams::default();
    for wrong in [pegasos.budget(0), pegasos.lambda(0.0), pegasos.lambda(f64::NAN)] {
        assert!(Pegasos::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let projectron = ProjectronParams::default();
    for wrong in [projectron.eta(-0.1), projectron.eta(f64::NAN), projectron.max_dictionary(Some(0))] {
        assert!(Projectron::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let plus = ProjectronPlusParams::default();
    for wrong in [plus.eta(-0.1), plus.eta(f64::NAN), plus.max_dictionary(Some(0))] {
        assert!(ProjectronPlus::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    assert!(Projectron::new(kernel(), 2, projectron.eta(0.0)).is_ok());
    assert!(ProjectronPlus::new(kernel(), 2, plus.eta(0.0)).is_err());
    Ok(())
}

/// Another seed removes other points; the same one the same.
#[test]
fn the_seed_is_all_that_is_random() -> TestResult {
    let stream = streams_of_classes(NORMALISED).swap_remove(0).1;
    let run = |seed| -> Result<[Vec<f64>; 2], Error> {
        let kernel: AnyKernel = NORMALISED.parse().expect("a kernel");
        let mut rbp = Rbp::new(kernel.clone(), 2, RbpParams::default().budget(6).seed(seed))?;
        let mut bogd = Bogd::new(kernel, 2, BogdParams::default().budget(6).seed(seed))?;
        Ok([common::pass(&mut rbp, &stream)?, common::pass(&mut bogd, &stream)?])
    };
    let (one, again, other) = (run(1)?, run(1)?, run(2)?);
    assert!(one == again && one[0] != other[0] && one[1] != other[1]);
    Ok(())
}

/// A file whose numbers were changed by hand is found out.
#[test]
fn saved_state_is_checked() -> TestResult {
    let kernel: AnyKernel = NORMALISED.parse()?;
    let stream = streams_of_classes(NORMALISED).swap_remove(0).1;
    let mut bogd = Bogd::new(kernel.clone(), 2, BogdParams::default().budget(6).eta(0.25))?;
    let mut plus = ProjectronPlus::new(kernel.clone(), 2, ProjectronPlusParams::default().eta(0.25))?;
    let mut forgetron = Forgetron::new(kernel, 2, ForgetronParams::default().budget(6))?;
    common::pass(&mut bogd, &stream)?;
    common::pass(&mut plus, &stream)?;
    common::pass(&mut forgetron, &stream)?;
    let broken = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        text.replace(from, to)
    };
    let text = || serde_json::to_string(&bogd);
    for (from, to) in [
        ("\"budget\":6", "\"budget\":5"),
        ("\"budget\":6", "\"budget\":0"),
        ("\"eta\":0.25", "\"eta\":-1.0"),
        ("\"lambda\":0.001", "\"lambda\":9.0"),
    ] {
        let read: Bogd<AnyKernel> = serde_json::from_str(&broken(text()?, from, to))?;
        assert!(read.validate().is_err(), "{to}");
    }
    let read: ProjectronPlus<AnyKernel> =
        serde_json::from_str(&broken(serde_json::to_string(&plus)?, "\"eta\":0.25", "\"eta\":0.0"))?;
    assert!(read.validate().is_err());
    let read: Forgetron<AnyKernel> =
        serde_json::from_str(&broken(serde_json::to_string(&forgetron)?, "\"budget\":6", "\"budget\":5"))?;
    assert!(read.validate().is_err());
    Ok(())
}

/// A weight multiplies what an example adds.
#[test]
fn weights_multiply_the_step() -> TestResult {
    let x = [0.3, -0.2];
    for (name, make) in classifiers() {
        let mut learner = make(NORMALISED.parse()?);
        learner.learn(&x, Target::weighted(&[1.0], 0.25), &mut [0.0])?;
        let expected = match name {
            "pa, 2" => 1.0 / (1.0 + 0.5 / 0.25),
            "bogd" => 0.25 * 0.5,
            "pegasos" => 0.25 / 0.001,
            _ => 0.25,
        };
        assert!((learner.predict(&x)? - expected).abs() < 1e-14 * expected.max(1.0), "{name}");
    }
    Ok(())
}
