//! Kernel adaptive filters against their definitions, and how they relate to each other.

use crate::common::{self, TestResult, values, weighted};
use mercer_core::Validate;
use mercer_kernels::AnyKernel;
use mercer_learners::{
    Error, FbKlms, FbKlmsParams, Kap, KapParams, KapSm, KapSmLoss, KapSmParams, Klms, KlmsCsal1, KlmsCsal1Params,
    KlmsCsl1, KlmsCsl1Params, KlmsParams, Knlms, KnlmsParams, Leak, Lkapa, LkapaParams, Loss, Nlkapa, NlkapaParams,
    Norma, NormaParams, Qklms, QklmsFb, QklmsFbParams, QklmsParams, Regressor, RegressorExt, Schedule, Scratch, Target,
};
use mercer_testkit::oracle::{self, Trace, WeightedExample};
use mercer_testkit::streams;

const KERNELS: [&str; 4] = ["gaussian:0.6", "matern52:1.2", "polynomial:2,0.5", "mix:0.5*gaussian:0.5+0.5*laplace:2"];

/// A kernel as it is written, a stream's name, the stream.
type Case = (&'static str, String, Vec<WeightedExample>);

/// All kernels with all streams, and a Gaussian with weights, 0 among them. Gradient steps on
/// inputs far away leave the range of numbers under a polynomial kernel.
fn cases(loss: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for kernel in KERNELS {
        for (name, stream) in common::streams() {
            if name == "far away" && kernel.starts_with("poly") {
                continue;
            }
            let mixed = weighted(&stream, loss, 1);
            let plain = mixed.iter().map(|example| WeightedExample { weight: 1.0, ..example.clone() }).collect();
            cases.push((kernel, format!("{name}, {kernel}"), plain));
            if kernel == KERNELS[0] {
                cases.push((kernel, format!("{name} with weights, {kernel}"), mixed));
            }
        }
    }
    cases
}

/// Steps under a polynomial kernel have to be smaller.
fn scaled(step: f64, kernel: &str) -> f64 {
    if kernel.starts_with("poly") { 0.01 * step } else { step }
}

/// [`compare_to`] 1e-12.
#[track_caller]
fn compare(what: &str, learner: Result<impl Regressor, Error>, stream: &[WeightedExample], expected: &Trace) {
    compare_to(1e-12, what, learner, stream, expected);
}

/// Demands the oracle's predictions to `tolerance`, on the scale of what is expected where that is
/// above 1, and its dictionary.
#[track_caller]
fn compare_to(
    tolerance: f64,
    what: &str,
    learner: Result<impl Regressor, Error>,
    stream: &[WeightedExample],
    expected: &Trace,
) {
    let mut learner = learner.expect("valid parameters");
    let mut scratch = Scratch::default();
    let (mut pure, mut score) = ([0.0], [0.0]);
    for (t, (example, expected)) in stream.iter().zip(&expected.predictions).enumerate() {
        learner.predict_into(&example.x, &mut scratch, &mut pure).expect("an ordinary input");
        let target = Target::weighted(&example.y, example.weight);
        learner.learn(&example.x, target, &mut score).expect("an ordinary example");
        assert_eq!(pure[0].to_bits(), score[0].to_bits(), "{what}: predict differs from the prequential step");
        let gap = (score[0] - expected).abs() / expected.abs().max(1.0);
        assert!(gap <= tolerance, "{what}: {} for {expected} in round {t}, {gap:e}", score[0]);
    }
    let moves = expected.predictions.iter().any(|z| z.abs() > 1e-4);
    assert!(moves, "{what}: predictions are all but zero, nothing is compared");
    assert_eq!(learner.dictionary_size(), expected.dictionary.len(), "{what}: dictionary size");
}

#[test]
fn klms_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (eta, max) in [(0.3, 1000), (0.9, 50)] {
            let eta = scaled(eta, spec);
            let expected = oracle::klms(&stream, &values(&kernel), eta, max);
            let params = KlmsParams::default().eta(eta).max_dictionary(Some(max));
            compare(&name, Klms::new(kernel.clone(), stream[0].x.len(), params), &stream, &expected);
        }
    }
    Ok(())
}

/// The expansion of the paper, with a term for each round, is the same function.
#[test]
fn klms_with_repeated_inputs_is_the_sum_over_all_rounds() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let k = values(&kernel);
    let stream = streams::exact_duplicates(3, 200, 2, 7);
    let mut learner = Klms::new(kernel.clone(), 2, KlmsParams::default().max_dictionary(Some(7)))?;
    let mut terms: Vec<(&[f64], f64)> = Vec::new();
    for (x, y) in &stream {
        let expected: f64 = terms.iter().map(|(d, alpha)| alpha * k(d, x)).sum();
        let found = learner.predict_then_update(x, *y)?;
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        terms.push((x, 0.2 * (y - expected)));
    }
    assert_eq!((learner.dictionary_size(), terms.len()), (7, 200));
    Ok(())
}

#[test]
fn klms_learns_several_outputs_as_apart() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let params = KlmsParams::default().max_dictionary(Some(40));
    let mut together = Klms::new(kernel.clone(), 2, params.outputs(2))?;
    let mut apart = [Klms::new(kernel.clone(), 2, params)?, Klms::new(kernel, 2, params)?];
    for example in weighted(&streams::smooth_noisy(6, 200, 2, 0.1), "squared", 2) {
        let mut scores = [0.0; 2];
        together.learn(&example.x, Target::weighted(&example.y, example.weight), &mut scores)?;
        for k in 0..2 {
            let mut score = [0.0];
            apart[k].learn(&example.x, Target::weighted(&[example.y[k]], example.weight), &mut score)?;
            assert_eq!(score[0], scores[k]);
        }
    }
    Ok(())
}

#[test]
fn norma_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (tau, leak_first, decreasing) in
            [(1000, false, false), (40, true, false), (25, false, true), (1, true, true)]
        {
            let (eta, lambda) = (scaled(0.4, spec), 0.05);
            let expected = oracle::NormaParams { eta, lambda, tau, loss: "squared", leak_first, decreasing };
            let expected = oracle::norma(&stream, &values(&kernel), expected);
            let params = NormaParams::default().eta(eta).lambda(lambda).tau(tau);
            let params = params.leak(if leak_first { Leak::First } else { Leak::After });
            let params = params.schedule(if decreasing { Schedule::Sqrt } else { Schedule::Constant });
            let learner = Norma::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, tau {tau}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

#[test]
fn norma_takes_every_loss_of_one_score() -> TestResult {
    let names = [
        "squared",
        "absolute",
        "huber:0.3",
        "epsilon:0.1",
        "quantile:0.8",
        "poisson",
        "logistic",
        "hinge",
        "squared-hinge",
    ];
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    for loss in names {
        for (name, stream) in common::streams() {
            let stream = weighted(&stream, loss.split(':').next().unwrap_or(loss), 1);
            let (eta, lambda, tau) = (0.1, 0.05, 60);
            let expected = oracle::NormaParams { eta, lambda, tau, loss, leak_first: false, decreasing: false };
            let mut expected = oracle::norma(&stream, &values(&kernel), expected);
            if loss == "poisson" {
                expected.predictions.iter_mut().for_each(|z| *z = z.exp());
            }
            let params = NormaParams::default().eta(eta).lambda(lambda).tau(tau).loss(loss.parse()?);
            let learner = Norma::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, {loss}"), learner, &stream, &expected);
        }
    }
    assert!(matches!(Norma::new(kernel, 2, NormaParams::default().loss(Loss::SOFTMAX)), Err(Error::Loss { .. })));
    Ok(())
}

#[test]
fn fb_klms_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (nu, eps, max) in [(0.2, None, 1000), (0.05, Some(0.7), 12), (0.0, None, 40)] {
            let eta = 0.5;
            let expected = oracle::fb_klms(&stream, &values(&kernel), [eta, nu], eps, max);
            let params = FbKlmsParams::default().eta(eta).nu(nu).eps(eps).max_dictionary(max);
            let learner = FbKlms::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, nu {nu}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

#[test]
fn qklms_fb_equals_its_definition() -> TestResult {
    for (spec, sigma) in [("gaussian:0.6", 0.6), ("gaussian:0.2", 0.2), ("gaussian:2", 2.0)] {
        let kernel: AnyKernel = spec.parse()?;
        for (name, stream) in common::streams() {
            let mixed = weighted(&stream, "squared", 1);
            let plain = mixed.iter().map(|example| WeightedExample { weight: 1.0, ..example.clone() }).collect();
            for stream in [plain, mixed] {
                for (epsilon, beta, max) in [(0.1, 0.95, 1000), (0.0, 0.9, 20), (0.3, 1.0, 6), (0.2, 0.0, 1)] {
                    let eta = 0.3;
                    let expected = oracle::QklmsFbParams { eta, epsilon, beta, max_dictionary: max, sigma };
                    let expected = oracle::qklms_fb(&stream, &values(&kernel), expected);
                    let params = QklmsFbParams::default().eta(eta).epsilon(epsilon).beta(beta).max_dictionary(max);
                    let learner = QklmsFb::new(kernel.clone(), stream[0].x.len(), params);
                    compare(&format!("{name}, {spec}, epsilon {epsilon}"), learner, &stream, &expected);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn kap_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (eta, mu0, eps, order, max) in
            [(0.2, 0.9, 0.01, 4, 1000), (0.1, 0.5, 0.1, 1, 1000), (0.3, 0.95, 0.1, 9, 12)]
        {
            let expected = oracle::KapParams { eta, mu0, eps, order, max_dictionary: max };
            let expected = oracle::kap(&stream, &values(&kernel), expected);
            let params = KapParams::default().eta(eta).mu0(mu0).eps(eps).order(order).max_dictionary(Some(max));
            let learner = Kap::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, order {order}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

#[test]
fn lkapa_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (lambda, order, max) in [(0.1, 6, 1000), (0.0, 10, 60), (0.5, 1, 1000)] {
            let eta = scaled(0.1, spec);
            let expected = oracle::LkapaParams { eta, lambda, order, eps: None, max_dictionary: max };
            let expected = oracle::lkapa(&stream, &values(&kernel), expected);
            let params = LkapaParams::default().eta(eta).lambda(lambda).order(order).max_dictionary(Some(max));
            let learner = Lkapa::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, order {order}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

#[test]
fn nlkapa_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (lambda, order, eps, max) in [(0.1, 6, 0.1, 1000), (0.0, 10, 0.01, 60), (0.5, 1, 1.0, 1000)] {
            let eta = 0.1;
            let expected = oracle::LkapaParams { eta, lambda, order, eps: Some(eps), max_dictionary: max };
            let expected = oracle::lkapa(&stream, &values(&kernel), expected);
            let params =
                NlkapaParams::default().eta(eta).lambda(lambda).order(order).eps(eps).max_dictionary(Some(max));
            let learner = Nlkapa::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, order {order}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

/// Parameters of the Huber loss with this width, or of the squared loss.
fn of_loss(huber: Option<f64>) -> KapSmParams {
    let params = KapSmParams::default();
    huber.map_or(params, |width| params.loss(KapSmLoss::Huber).width(width))
}

#[test]
fn kap_sm_equals_its_definition() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (huber, window, max) in [(None, 5, 1000), (None, 8, 20), (Some(0.2), 3, 40), (Some(2.0), 7, 7)] {
            let mu = scaled(0.5, spec);
            let expected = oracle::KapSmParams { mu, huber, window, max_dictionary: max };
            let expected = oracle::kap_sm(&stream, &values(&kernel), expected);
            let params = of_loss(huber).mu(mu).window(window).max_dictionary(max);
            let learner = KapSm::new(kernel.clone(), stream[0].x.len(), params);
            compare(&format!("{name}, window {window}"), learner, &stream, &expected);
        }
    }
    Ok(())
}

#[test]
fn klms_csl1_and_klms_csal1_equal_their_definitions() -> TestResult {
    for (spec, name, stream) in cases("squared") {
        let kernel: AnyKernel = spec.parse()?;
        for (eta, mu0, lambda, max) in
            [(0.1, 0.7, 1e-3, 1000), (0.2, 0.5, 0.02, 9), (0.1, 0.6, 0.0, 1000), (0.3, 0.9, 0.06, 1000)]
        {
            let (eta, lambda) = (scaled(eta, spec), scaled(lambda, spec));
            let (d, what) = (stream[0].x.len(), format!("{name}, mu0 {mu0}, lambda {lambda}"));
            let oracle = |lambda, eps_alpha| {
                let params = oracle::KlmsCsl1Params { eta, mu0, lambda, eps_alpha, max_dictionary: max };
                oracle::klms_csl1(&stream, &values(&kernel), params)
            };
            let params = KlmsCsl1Params::default().eta(eta).mu0(mu0).lambda(lambda).max_dictionary(Some(max));
            compare(&what, KlmsCsl1::new(kernel.clone(), d, params), &stream, &oracle(lambda, None));
            let (lambda, eps) = (0.05 * lambda, 0.01);
            let params = KlmsCsal1Params::default().eta(eta).mu0(mu0).lambda(lambda).eps_alpha(eps);
            let learner = KlmsCsal1::new(kernel.clone(), d, params.max_dictionary(Some(max)));
            // The threshold λ/|α + ε| has a pole at α = −ε: near it the definition itself magnifies
            // what rounding leaves.
            compare_to(1e-9, &format!("adaptive: {what}"), learner, &stream, &oracle(lambda, Some(eps)));
        }
    }
    Ok(())
}

/// Demands that both learn the stream with the same predictions to rounding.
fn the_same(what: &str, mut a: impl Regressor, mut b: impl Regressor) -> TestResult {
    for (x, y) in streams::smooth_noisy(31, 200, 2, 0.1) {
        let [a, b] = [a.predict_then_update(&x, y)?, b.predict_then_update(&x, y)?];
        assert!((a - b).abs() <= 1e-12, "{what}: {a} against {b}");
    }
    Ok(())
}

#[test]
fn filters_are_special_cases_of_each_other() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let klms = || Klms::new(kernel.clone(), 2, KlmsParams::default().eta(0.3));
    let qklms = Qklms::new(kernel.clone(), 2, QklmsParams::default().eta(0.3).epsilon(0.0))?;
    the_same("KLMS is QKLMS without repeated inputs", klms()?, qklms)?;
    let qklms = Qklms::new(kernel.clone(), 2, QklmsParams::default().eta(0.3).epsilon(0.2))?;
    let budgeted = QklmsFb::new(kernel.clone(), 2, QklmsFbParams::default().eta(0.3).epsilon(0.2))?;
    the_same("QKLMS-FB with room is QKLMS", budgeted, qklms)?;
    let lkapa = Lkapa::new(kernel.clone(), 2, LkapaParams::default().eta(0.3).lambda(0.0).order(1))?;
    the_same("LKAPA of one example without a leak is KLMS", lkapa, klms()?)?;
    let norma = Norma::new(kernel.clone(), 2, NormaParams::default().eta(0.3).lambda(0.0))?;
    the_same("NORMA without a leak is KLMS", norma, klms()?)?;
    let kap = Kap::new(kernel.clone(), 2, KapParams::default().eta(0.3).mu0(0.9).eps(0.1).order(1))?;
    let knlms = Knlms::new(kernel.clone(), 2, KnlmsParams::default().eta(0.3).mu0(0.9).eps(0.1))?;
    the_same("KAP of one example is KNLMS", kap, knlms)
}

#[test]
fn an_emptied_dictionary_starts_again() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let params = KlmsCsl1Params::default().eta(0.1).lambda(0.05);
    let mut learner = KlmsCsl1::new(kernel, 1, params)?;
    learner.update(&[0.0], 0.1)?;
    assert_eq!((learner.dictionary_size(), learner.predict(&[0.0])?), (0, 0.0));
    learner.update(&[0.5], 2.0)?;
    assert_eq!(learner.dictionary_size(), 1);
    assert!((learner.predict(&[0.5])? - 0.15).abs() < 1e-15);
    Ok(())
}

/// A point with `k(x, x) = 0` is the zero function: nothing can be learnt there, and nothing fails.
#[test]
fn the_zero_function_teaches_nothing() -> TestResult {
    let mut learner = FbKlms::new("linear".parse::<AnyKernel>()?, 1, FbKlmsParams::default())?;
    learner.update(&[0.0], 1.0)?;
    learner.update(&[1.0], 1.0)?;
    learner.update(&[0.0], 1.0)?;
    assert_eq!((learner.dictionary_size(), learner.predict(&[0.0])?), (1, 0.0));
    Ok(())
}

#[test]
fn state_that_was_altered_is_refused() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let mut kap = Kap::new(kernel.clone(), 2, KapParams::default().order(3))?;
    let mut sm = KapSm::new(kernel.clone(), 2, KapSmParams::default().window(3).max_dictionary(8))?;
    let mut qklms = QklmsFb::new(kernel.clone(), 2, QklmsFbParams::default().max_dictionary(8))?;
    for (x, y) in streams::smooth_noisy(32, 20, 2, 0.1) {
        kap.update(&x, y)?;
        sm.update(&x, y)?;
        qklms.update(&x, y)?;
    }
    let (kap, sm, qklms) = (serde_json::to_value(&kap)?, serde_json::to_value(&sm)?, serde_json::to_value(&qklms)?);
    let valid_kap = |value| serde_json::from_value::<Kap<AnyKernel>>(value).map(|kap| kap.validate().is_ok());
    let valid_sm = |value| serde_json::from_value::<KapSm<AnyKernel>>(value).map(|sm| sm.validate().is_ok());
    let valid_qklms = |value| serde_json::from_value::<QklmsFb<AnyKernel>>(value).map(|q| q.validate().is_ok());
    assert!(valid_kap(kap.clone())? && valid_sm(sm.clone())? && valid_qklms(qklms.clone())?);
    for (place, value) in [
        ("/update/eps", 0.0.into()),
        ("/update/window/order", 2.into()),
        ("/update/window/order", 0.into()),
        ("/update/window/targets", serde_json::json!([0.5, 0.5])),
        ("/update/window/weights/0", (-1.0).into()),
        ("/update/window/rows/1/len", 1.into()),
        ("/update/window/inputs/dimension", 1.into()),
    ] {
        let mut altered = kap.clone();
        *altered.pointer_mut(place).ok_or(place)? = value;
        assert!(!valid_kap(altered)?, "KAP: {place}");
    }
    for (place, value) in [
        ("/update/window/order", 4.into()),
        ("/update/budget", 7.into()),
        ("/update/budget", 2.into()),
        ("/update/mu", 0.0.into()),
    ] {
        let mut altered = sm.clone();
        *altered.pointer_mut(place).ok_or(place)? = value;
        assert!(!valid_sm(altered)?, "KAP-SM: {place}");
    }
    for (place, value) in [("/update/significance", serde_json::json!([1.0])), ("/update/influence/0", (-1.0).into())] {
        let mut altered = qklms.clone();
        *altered.pointer_mut(place).ok_or(place)? = value;
        assert!(!valid_qklms(altered)?, "QKLMS-FB: {place}");
    }
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let k = || kernel.clone();
    let wrong = KlmsParams::default();
    for wrong in [wrong.eta(0.0), wrong.max_dictionary(Some(0)), wrong.outputs(0)] {
        assert!(Klms::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = NormaParams::default().eta(0.3);
    for wrong in [wrong.eta(-1.0), wrong.lambda(-0.1), wrong.lambda(5.1), wrong.tau(0)] {
        assert!(Norma::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = FbKlmsParams::default();
    for wrong in [wrong.eta(0.0), wrong.nu(f64::NAN), wrong.nu(-0.1), wrong.eps(Some(-1.0)), wrong.max_dictionary(0)] {
        assert!(FbKlms::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = QklmsFbParams::default();
    for wrong in [wrong.eta(0.0), wrong.epsilon(-0.1), wrong.beta(1.1), wrong.max_dictionary(0)] {
        assert!(QklmsFb::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = KapParams::default();
    for wrong in [wrong.eta(0.0), wrong.mu0(1.1), wrong.eps(0.0), wrong.order(0), wrong.max_dictionary(Some(0))] {
        assert!(Kap::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = LkapaParams::default().eta(0.05);
    for wrong in [wrong.eta(0.0), wrong.lambda(21.0), wrong.order(0), wrong.max_dictionary(Some(0))] {
        assert!(Lkapa::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = NlkapaParams::default();
    for wrong in [wrong.eta(0.0), wrong.lambda(-1.0), wrong.order(0), wrong.eps(0.0)] {
        assert!(Nlkapa::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = KapSmParams::default();
    for wrong in [wrong.mu(0.0), wrong.width(0.0), wrong.window(0), wrong.max_dictionary(9)] {
        assert!(KapSm::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = KlmsCsl1Params::default();
    for wrong in [wrong.eta(0.0), wrong.mu0(-0.1), wrong.lambda(-1.0), wrong.max_dictionary(Some(0))] {
        assert!(KlmsCsl1::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    let wrong = KlmsCsal1Params::default();
    for wrong in [wrong.eta(0.0), wrong.mu0(-0.1), wrong.lambda(-1.0), wrong.eps_alpha(-1.0)] {
        assert!(KlmsCsal1::new(k(), 2, wrong).is_err(), "{wrong:?}");
    }
    Ok(())
}
