//! Faults that were found once: clipping far out, rules that commit too early, predictions that are
//! not finite, parameters that no model file takes, inputs without features.

use crate::common::{TestResult, kernel};
use mercer_auto::{Auto, AutoParams};
use mercer_core::{ExampleError, Validate};
use mercer_kernels::{AnyKernel, Kernel, Linear, Polynomial};
use mercer_learners::basis::Identity;
use mercer_learners::update::{GrowingUpdate, LeastSquares, LinearUpdate, NewtonStep, Ridge};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Fogd, FogdParams, GrowThenStep, KernelAwv, KernelKrr,
    KernelRidgeParams, Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Loss, Nogd, NogdParams, NonsAld,
    NonsAldParams, NystromParams, OnDictionary, OnFeatures, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrFrozen,
    PkrrNystrom, PkrrTaylor, ProsNKons, Regressor, RegressorExt, Rows, SketchedKons, SketchedKonsParams, StepThenGrow,
    Target, Targets, TaylorParams,
};
use mercer_registry::AnyRegressor;
use mercer_sparsify::Kors;
use mercer_testkit::streams;

/// `z − (z − clamp(z))` was 0 where `z` is beyond 10¹⁶ U; a clipped prediction is ±U however large
/// the score.
#[test]
fn clipping_holds_at_any_size() -> TestResult {
    let cubic = Polynomial::new(3, 1.0)?;
    let sampled = ConKonsParams::default().gamma(0.5);
    let learners: [Box<dyn Regressor>; 3] = [
        Box::new(NonsAld::new(cubic, 1, NonsAldParams::default())?),
        Box::new(ConKons::new(cubic, 1, sampled)?),
        Box::new(ProsNKons::new(cubic, 1, sampled.into())?),
    ];
    for mut learner in learners {
        for t in 0..40 {
            let x = f64::from(t % 10) / 10.0;
            learner.update(&[x], 0.3 + 0.2 * x)?;
        }
        // Scores near 10¹⁸, 10³⁰, 10⁹⁰.
        for x in [1e6, 1e10, 1e30, -1e6, -1e10] {
            let prediction = learner.predict(&[x])?;
            assert_eq!(prediction.abs(), 1.0, "predicts {prediction} at {x:e}");
        }
        for t in 0..60 {
            let x = 1e6 * f64::from(t % 7 - 3);
            let prediction = learner.predict_then_update(&[x], 0.5)?;
            assert!(prediction.abs() <= 1.0, "predicts {prediction} at {x:e}");
        }
    }
    Ok(())
}

/// A rule with coins under an update that may refuse its example: what is refused is not kept by
/// the rule either.
#[test]
fn a_rule_commits_after_the_step() -> TestResult {
    type Sampled<K, U> = OnDictionary<K, Kors, U, GrowThenStep>;
    fn check<U: GrowingUpdate + Validate>(update: U) -> TestResult {
        let mut learner =
            Sampled::from_parts(Polynomial::new(2, 1.0)?, 2, Kors::new(0.05, 2.0, 0.5, 7)?, update, None)?;
        let mut undisturbed = learner.clone();
        let mut refused = 0;
        for (t, (x, y)) in streams::smooth_noisy(51, 120, 2, 0.1).into_iter().enumerate() {
            for (bad, target) in [(x.clone(), 1e308), (vec![x[0] + 2.0, x[1] - 3.0], -1e308), (vec![1e60, t as f64], y)]
            {
                match learner.clone().predict_then_update(&bad, target) {
                    Err(error) => {
                        assert!(
                            matches!(error, Error::Example(ExampleError::Diverged | ExampleError::KernelOverflow)),
                            "{error}"
                        );
                        assert_eq!(learner.update(&bad, target), Err(error));
                        refused += 1;
                    }
                    Ok(prediction) => assert!(prediction.is_finite()),
                }
                assert_eq!(learner.validate(), Ok(()), "after round {t}");
            }
            let (a, b) = (learner.predict_then_update(&x, y)?, undisturbed.predict_then_update(&x, y)?);
            assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} for {b} in round {t}");
            assert_eq!(learner.dictionary_size(), undisturbed.dictionary_size());
        }
        assert!(refused > 60, "only {refused} rounds were refused");
        Ok(())
    }
    check(NewtonStep::new(1.0, 1.0, 1.0, Loss::SQUARED, 1)?)?;
    check(LeastSquares::<Ridge>::new(1e-12, 1.0)?)
}

/// Scores that overflow are an error, and a residual of minus infinity is no residual of zero.
#[test]
fn predictions_are_finite_or_errors() -> TestResult {
    let mut learner = Krls::new(Polynomial::new(3, 1.0)?, 1, KrlsParams::default().lambda(1.0))?;
    learner.update(&[0.5], 1e250)?;
    assert_eq!(learner.predict(&[1e40]), Err(ExampleError::KernelOverflow.into()));
    assert!(learner.predict(&[0.4])?.is_finite());
    // Near the root of the largest number the squares of coordinates may round to infinity where
    // k(x, x) does not.
    let largest = f64::MAX.sqrt();
    for t in 0..200 {
        let mut learner = Krls::new(Linear, 2, KrlsParams::default().lambda(1.0))?;
        let angle = f64::from(t) * 0.01;
        learner.update(&[angle.cos(), angle.sin()], 1.0)?;
        for scale in [1.0, 1.0 - 1e-16, 1.0 - 1e-15, 1.0 - 1e-13] {
            let x = [largest * scale * angle.cos(), largest * scale * angle.sin()];
            match learner.predict(&x) {
                Ok(prediction) => assert!(prediction.is_finite() && Linear.self_value(&x).is_finite()),
                Err(error) => assert_eq!(error, Error::Example(ExampleError::KernelOverflow)),
            }
            let before = learner.dictionary_size();
            if learner.update(&x, 1.0).is_err() {
                assert_eq!(learner.dictionary_size(), before);
            }
            assert_eq!(learner.validate(), Ok(()));
        }
    }
    Ok(())
}

type Made = Result<AnyRegressor<AnyKernel>, Error>;

/// Every learner for inputs of dimension `d`, each parameter in turn with the value `v`.
fn with_parameter(v: f64, d: usize) -> Vec<(&'static str, Made)> {
    fn any(made: Result<impl Into<AnyRegressor<AnyKernel>>, Error>) -> Made {
        made.map(Into::into)
    }
    let k = || "gaussian:1".parse::<AnyKernel>().expect("a kernel");
    let nons = NonsAldParams::default;
    let sampled = ConKonsParams::default;
    let nystrom = NystromParams::default;
    let logistic = Loss::LOGISTIC;
    vec![
        ("NONS-ALD radius", any(NonsAld::new(k(), d, nons().radius(v)))),
        ("NONS-ALD label_bound", any(NonsAld::new(k(), d, nons().label_bound(v)))),
        ("NONS-ALD mu", any(NonsAld::new(k(), d, nons().mu(v)))),
        ("NONS-ALD alpha", any(NonsAld::new(k(), d, nons().alpha(v)))),
        ("NONS-ALD logistic radius", any(NonsAld::new(k(), d, nons().radius(v).loss(logistic)))),
        ("NONS-ALD softmax radius", any(NonsAld::new(k(), d, nons().radius(v).loss(Loss::SOFTMAX).outputs(3)))),
        ("CON-KONS clip", any(ConKons::new(k(), d, sampled().clip(v)))),
        ("CON-KONS alpha", any(ConKons::new(k(), d, sampled().alpha(v)))),
        ("PROS-N-KONS gamma", any(ProsNKons::new(k(), d, sampled().gamma(v).into()))),
        ("PROS-N-KONS beta", any(ProsNKons::new(k(), d, sampled().beta(v).into()))),
        ("PROS-N-KONS epsilon", any(ProsNKons::new(k(), d, sampled().epsilon(v).into()))),
        ("AOGD-ALD radius", any(AogdAld::new(k(), d, AogdAldParams::default().radius(v)))),
        ("AOGD-ALD alpha", any(AogdAld::new(k(), d, AogdAldParams::default().alpha(v)))),
        ("KOGD radius", any(Kogd::new(k(), d, KogdParams::default().radius(v)))),
        ("NOGD step", any(Nogd::new(k(), d, NogdParams::default().step(v).budget(4)))),
        ("NOGD radius", any(Nogd::new(k(), d, NogdParams::default().radius(Some(v))))),
        ("FOGD step", any(Fogd::new(d, FogdParams::default().features(9).step(v)))),
        ("FOGD sigma", any(Fogd::new(d, FogdParams::default().features(9).sigma(v)))),
        ("KONS mu", any(Kons::new(k(), d, KonsParams::default().mu(v)))),
        ("KONS eta", any(Kons::new(k(), d, KonsParams::default().eta(v)))),
        ("KONS clip", any(Kons::new(k(), d, KonsParams::default().clip(Some(v))))),
        ("Sketched-KONS mu", any(SketchedKons::new(k(), d, SketchedKonsParams::default().mu(v)))),
        ("Sketched-KONS beta", any(SketchedKons::new(k(), d, SketchedKonsParams::default().beta(v)))),
        ("KRLS lambda", any(Krls::new(k(), d, KrlsParams::default().lambda(v)))),
        ("KRLS nu", any(Krls::new(k(), d, KrlsParams::default().nu(v).lambda(0.0)))),
        ("KRLS forgetting", any(Krls::new(k(), d, KrlsParams::default().forgetting(v).lambda(0.0)))),
        ("Kernel-AWV lambda", any(KernelAwv::new(k(), d, KernelRidgeParams::default().lambda(v)))),
        ("Kernel-KRR lambda", any(KernelKrr::new(k(), d, KernelRidgeParams::default().lambda(v)))),
        ("PKAWV-Taylor lambda", any(PkawvTaylor::new(d, TaylorParams::default().lambda(v)))),
        ("PKRR-Taylor sigma", any(PkrrTaylor::new(d, TaylorParams::default().sigma(v)))),
        ("PKAWV-Nyström lambda", any(PkawvNystrom::new(k(), d, nystrom().lambda(v)))),
        ("PKRR-Nyström mu", any(PkrrNystrom::new(k(), d, nystrom().mu(v)))),
        ("PKAWV, frozen, lambda", any(PkawvFrozen::new(k(), d, &[], nystrom().lambda(v)))),
        ("PKRR, frozen, beta", any(PkrrFrozen::new(k(), d, &[], nystrom().beta(v)))),
        ("auto", any(Auto::new(d, AutoParams::default().budget(20_000)))),
    ]
}

/// A learner that a constructor takes can be saved, then and after rounds that it learns or
/// refuses; a constructor names what it does not take.
#[test]
fn what_a_constructor_takes_can_be_saved() -> TestResult {
    let values =
        [0.0, -1.0, f64::NAN, f64::INFINITY, 5e-324, 1e-308, 1e-200, 1e-150, 1e-30, 1e30, 1e150, 1e160, 1e200, 1e308];
    let stream = streams::smooth_noisy(52, 30, 2, 0.1);
    for v in values {
        for (name, made) in with_parameter(v, 2) {
            // The sampler and the features check no more than that these are positive.
            if matches!(name, "PROS-N-KONS gamma" | "FOGD sigma" | "PKRR-Taylor sigma") && v.abs() < 1e-300 {
                continue;
            }
            let mut learner = match made {
                Ok(learner) => learner,
                Err(Error::Parameter(_) | Error::Kernel(_)) => continue,
                Err(error) => return Err(format!("{name} = {v:e}: {error}").into()),
            };
            assert_eq!(learner.validate(), Ok(()), "{name} = {v:e}: made, but cannot be saved");
            for (x, y) in &stream {
                let y = if learner.loss().is_margin() { y.signum() } else { *y };
                let y = if learner.loss() == Loss::SOFTMAX { 1.0 } else { y };
                let mut scores = vec![0.0; learner.outputs()];
                let _ = learner.learn(x, Target::new(&[y]), &mut scores);
                assert!(scores.iter().all(|z| z.is_finite()), "{name} = {v:e}: predicts {scores:?}");
                assert_eq!(learner.validate(), Ok(()), "{name} = {v:e}: learnt, but cannot be saved");
            }
        }
    }
    for refused in
        [NewtonStep::new(1.0, 1.0, -1.0, Loss::SQUARED, 1), NewtonStep::new(1.0, 1e200, 1.0, Loss::SQUARED, 1)]
    {
        assert!(matches!(refused, Err(Error::Parameter(_))));
    }
    assert!(LeastSquares::<Ridge>::new(-1.0, 1.0).is_err() && LeastSquares::<Ridge>::new(1.0, 0.0).is_err());
    // Parts that do not fit.
    let mut used = LeastSquares::<Ridge>::new(1.0, 1.0)?;
    used.grow()?;
    assert!(OnFeatures::from_parts(Identity::new(3, false), used.clone()).is_err());
    let rule = mercer_sparsify::Ald::new(0.1)?;
    assert!(OnDictionary::<_, _, _, GrowThenStep>::from_parts(kernel(), 2, rule, used, None).is_err());
    // Without a ridge a coordinate has no variance before its example.
    let mut bare = LeastSquares::<Ridge>::new(0.0, 1.0)?;
    assert!(matches!(bare.grow(), Err(Error::Parameter(wrong)) if wrong.name == "lambda"));
    assert!(bare.restart(2).is_err() && bare.restart(0).is_ok() && bare.inverse().dimension() == 0);
    assert!(OnDictionary::<_, _, _, StepThenGrow>::from_parts(kernel(), 2, rule, bare.clone(), None).is_err());
    assert!(OnDictionary::<_, _, _, GrowThenStep>::from_parts(kernel(), 2, rule, bare, None).is_ok());
    Ok(())
}

/// Inputs without features: every row is learnt, one by one and in a block.
#[test]
fn inputs_without_features_are_learnt() -> TestResult {
    let ys: Vec<f64> = (0..60).map(|t| 0.5 + 0.1 * f64::from(t).sin()).collect();
    for (name, made) in with_parameter(0.5, 0) {
        let Ok(mut learner) = made else { continue };
        if learner.outputs() > 1 || learner.loss() != Loss::SQUARED {
            continue;
        }
        let (mut single, mut predictions) = (learner.clone(), Vec::new());
        assert_eq!(learner.learn_block(&[], &ys, &mut predictions), Ok(()), "{name}");
        assert_eq!(predictions.len(), ys.len(), "{name}: a prediction for each row");
        for (t, (y, got)) in ys.iter().zip(&predictions).enumerate() {
            let expected = single.predict_then_update(&[], *y)?;
            assert!((got - expected).abs() < 1e-10, "{name}: {got} for {expected} at row {t}");
        }
        // Taylor features of no inputs are the constant, which their own check does not know.
        let taylor = name.contains("Taylor") || name == "auto";
        assert!(taylor || learner.validate() == Ok(()), "{name}: {:?}", learner.validate());
        // A frozen dictionary of no inputs spans nothing.
        let mean = learner.predict(&[])?;
        assert!((0.1..0.9).contains(&mean) || name.contains("frozen"), "{name}: predicts {mean} for a mean of 0.5");
        assert!(
            matches!(
                learner.learn_block(&[1.0], &ys, &mut predictions),
                Err(Error::Example(ExampleError::Block { .. }))
            ),
            "{name}"
        );
    }
    Ok(())
}

/// A row of weight 0 whose features overflow is refused in a block as it is alone, and spoils
/// nothing in a recursion over many rounds.
#[test]
fn an_idle_row_that_overflows_ends_a_block() -> TestResult {
    let params = TaylorParams::default().sigma(0.5).degree(9);
    let mut learner = PkawvTaylor::new(3, params)?;
    assert!(learner.linear().clone().block_size() > 1, "the recursion over blocks is not tried");
    let stream = streams::smooth_noisy(53, 32, 3, 0.1);
    let mut xs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
    let ys: Vec<f64> = stream.iter().map(|(_, y)| *y).collect();
    xs[15..18].fill(1e200);
    xs[17] = f64::MAX;
    let mut weights = [1.0; 32];
    weights[5] = 0.0;
    let alone = learner.clone().learn(&xs[15..18], Target::weighted(&ys[5..6], 0.0), &mut [0.0]);
    let mut single = learner.clone();
    let mut predictions = Vec::new();
    let together = learner.learn_rows(Rows::new(&xs, 3, Targets::new(&ys, &weights, 1)?)?, &mut predictions);
    assert_eq!((together, predictions.len()), (alone, 5));
    for (x, y) in &stream[..5] {
        single.update(x, *y)?;
    }
    for (x, y) in &stream[6..] {
        let (a, b) = (learner.predict_then_update(x, *y)?, single.predict_then_update(x, *y)?);
        assert!((a - b).abs() < 1e-10, "{a} for {b}");
    }
    assert_eq!(learner.validate(), Ok(()));
    Ok(())
}
