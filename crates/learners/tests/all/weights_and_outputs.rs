//! Least squares with weights, several outputs and forgetting against dense solves of what it minimises.

use crate::common::{TestResult, agree, kernel, learn, pass, same_kernel, weighted};
use mercer_kernels::{AlignedVec, AnyKernel, TaylorFeatures};
use mercer_learners::basis::Identity;
use mercer_learners::catalogue;
use mercer_learners::update::{
    Awv, Forgetting, GradientStep, GrowingUpdate, LeastSquares, LinearUpdate, Readout, Ridge, StepSize,
};
use mercer_learners::{
    AogdAld, AogdAldParams, Error, Fogd, FogdParams, KernelAwv, KernelKrr, KernelRidgeParams, Kogd, KogdParams, Krls,
    KrlsParams, Loss, NystromParams, OnFeatures, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrNystrom, PkrrTaylor, Regressor,
    RegressorExt, Target, TaylorParams,
};
use mercer_testkit::oracle::{self, Example, Forgets, WeightedExample, WeightedLeastSquares, newton_coordinates};
use mercer_testkit::streams;

const NEVER: Forgets = Forgets::Exponential(1.0);

fn all_streams(count: usize) -> Vec<(&'static str, Vec<Example>)> {
    vec![
        ("smooth", streams::smooth_noisy(1, count, 2, 0.1)),
        ("near duplicates", streams::near_duplicates(2, count, 2)),
        ("exact duplicates", streams::exact_duplicates(3, count, 2, count / 4)),
        ("far away", streams::far_away(5, count, 2)),
    ]
}

/// Least squares on an ALD dictionary.
fn on_a_dictionary(examples: &[WeightedExample], nu: f64, most: usize, fit: WeightedLeastSquares) -> Vec<f64> {
    on_a_dictionary_by(examples, (nu, most), fit, |_| 1.0)
}

/// The same where weights are multiplied by this factor of the length of the error.
fn on_a_dictionary_by(
    examples: &[WeightedExample],
    (nu, most): (f64, usize),
    mut fit: WeightedLeastSquares,
    factor: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut predictions = Vec::new();
    for WeightedExample { x, y, weight } in examples {
        let (mut phi, residual) = newton_coordinates(&points, x, &same_kernel);
        let made = fit.predict(&phi);
        let error = made.iter().zip(y).map(|(made, y)| (y - made).powi(2)).sum::<f64>().sqrt();
        predictions.extend(made);
        if *weight > 0.0 && residual > nu && points.len() < most {
            phi.push(residual.sqrt());
            points.push(x.clone());
        }
        fit.learn(&phi, y, weight * factor(error));
    }
    predictions
}

#[test]
fn krls_minimises_the_weighted_squares_of_all_outputs() -> TestResult {
    for (name, stream) in all_streams(100) {
        for outputs in [1, 3] {
            for (lambda, most) in [(0.0, 100), (0.1, 100), (2.0, 9)] {
                let examples = weighted(&stream, "squared", outputs);
                let fit = WeightedLeastSquares::new(outputs, lambda, false, NEVER);
                let expected = on_a_dictionary(&examples, 1e-3, most, fit);
                let params = KrlsParams::default().nu(1e-3).lambda(lambda).max_dictionary(Some(most)).outputs(outputs);
                let made = pass(&mut Krls::new(kernel(), 2, params)?, &examples)?;
                agree(&format!("{name}, {outputs} outputs, λ = {lambda}"), &made, &expected, 1e-10);
            }
        }
    }
    Ok(())
}

#[test]
fn krls_weighs_residuals_as_its_rules_say() -> TestResult {
    for (name, stream) in all_streams(100) {
        for outputs in [1, 3] {
            let examples = weighted(&stream, "squared", outputs);
            let fit = || WeightedLeastSquares::new(outputs, 0.1, false, NEVER);
            let params = KrlsParams::default().nu(1e-3).lambda(0.1).max_dictionary(Some(100)).outputs(outputs);
            let huber = on_a_dictionary_by(&examples, (1e-3, 100), fit(), |r| (0.3 / r).min(1.0));
            let made = pass(&mut Krls::new(kernel(), 2, params.huber(Some(0.3)))?, &examples)?;
            agree(&format!("huber, {name}, {outputs} outputs"), &made, &huber, 1e-10);
            let narrow = on_a_dictionary_by(&examples, (1e-3, 100), fit(), |r| (-r * r / 0.5).exp());
            let made = pass(&mut Krls::new(kernel(), 2, params.correntropy(Some(0.5)))?, &examples)?;
            agree(&format!("correntropy, {name}, {outputs} outputs"), &made, &narrow, 1e-10);
        }
    }
    let both = KrlsParams::default().huber(Some(1.0)).correntropy(Some(1.0));
    assert!(Krls::new(kernel(), 2, both).is_err());
    assert!(Krls::new(kernel(), 2, KrlsParams::default().lambda(0.0).huber(Some(1.0))).is_err());
    Ok(())
}

/// One target in ten is off by 20. Least squares follow them; both rules come near what clean targets give. Blocks are
/// the same to rounding.
#[test]
fn robust_least_squares_withstand_wrong_targets() -> TestResult {
    let stream = streams::smooth_noisy(3, 1200, 2, 0.05);
    let off = |t: usize| if t % 10 == 3 { 20.0 } else { 0.0 };
    let (xs, ys): (Vec<f64>, Vec<f64>) =
        (stream.iter().flat_map(|(x, _)| x.clone()).collect(), stream.iter().enumerate().map(|(t, (_, y))| y + off(t)).collect());
    let late = |made: &[f64]| {
        let errors = stream.iter().zip(made).skip(600).map(|((_, y), made)| (made - y).powi(2));
        (errors.sum::<f64>() / 600.0).sqrt()
    };
    let run = |mut learner: Box<dyn Regressor>| -> Result<f64, Error> {
        let made: Result<Vec<f64>, Error> =
            xs.chunks(2).zip(&ys).map(|(x, y)| learner.predict_then_update(x, *y)).collect();
        Ok(late(&made?))
    };
    let krls = KrlsParams::default();
    let taylor = TaylorParams::default().sigma(0.8).degree(5).lambda(0.1);
    let plain = run(Box::new(Krls::new(kernel(), 2, krls)?))?;
    let robust: [Box<dyn Regressor>; 4] = [
        Box::new(Krls::new(kernel(), 2, krls.huber(Some(0.2)))?),
        Box::new(Krls::new(kernel(), 2, krls.correntropy(Some(1.0)))?),
        Box::new(PkrrTaylor::new(2, taylor.clone().huber(Some(0.2)))?),
        Box::new(PkawvTaylor::new(2, taylor.correntropy(Some(1.0)))?),
    ];
    for (which, learner) in robust.into_iter().enumerate() {
        let error = run(learner)?;
        assert!(error < 0.2 && plain > 1.0, "learner {which}: {error}, least squares {plain}");
    }
    let mut blocks = Krls::new(kernel(), 2, krls.huber(Some(0.2)))?;
    let mut alone = blocks.clone();
    let mut made = Vec::new();
    blocks.learn_block(&xs, &ys, &mut made)?;
    for ((x, y), made) in xs.chunks(2).zip(&ys).zip(made) {
        let expected = alone.predict_then_update(x, *y)?;
        assert!((made - expected).abs() < 1e-9, "{made} in a block, {expected} alone");
    }
    Ok(())
}

#[test]
fn krls_forgets_as_its_objective_says() -> TestResult {
    for (name, stream) in all_streams(100) {
        let examples = weighted(&stream, "squared", 2);
        for (forgets, literal) in
            [(Forgetting::Exponential, Forgets::Exponential(0.97)), (Forgetting::ToPrior, Forgets::ToPrior(0.97))]
        {
            let fit = WeightedLeastSquares::new(2, 0.2, false, literal);
            let expected = on_a_dictionary(&examples, 1e-2, 15, fit);
            let params = KrlsParams::default().nu(1e-2).lambda(0.2).max_dictionary(Some(15)).outputs(2);
            let params = params.forgetting(0.97).forgets(forgets);
            let made = pass(&mut Krls::new(kernel(), 2, params)?, &examples)?;
            agree(&format!("{name}, {forgets:?}"), &made, &expected, 1e-10);
        }
    }
    Ok(())
}

/// Fixed features: a linear model with an intercept, one by one and in blocks, both readouts.
fn on_inputs<F: Readout>(vovk: bool) -> TestResult {
    let examples = weighted(&streams::smooth_noisy(6, 90, 3, 0.1), "squared", 2);
    for (forgetting, forgets, literal) in [
        (1.0, Forgetting::Exponential, NEVER),
        (0.95, Forgetting::Exponential, Forgets::Exponential(0.95)),
        (0.9, Forgetting::ToPrior, Forgets::ToPrior(0.9)),
    ] {
        if vovk && forgets == Forgetting::ToPrior {
            continue;
        }
        let mut update = LeastSquares::<F>::new(0.3, forgetting)?.forgetting_by(forgets)?.with_outputs(2);
        update.restart(4);
        let mut learner = OnFeatures::from_parts(Identity::new(3, true), update)?;
        let mut fit = WeightedLeastSquares::new(2, 0.3, vovk, literal);
        let mut expected = Vec::new();
        for WeightedExample { x, y, weight } in &examples {
            let phi = [&x[..], &[1.0]].concat();
            expected.extend(fit.predict(&phi));
            fit.learn(&phi, y, *weight);
        }
        agree(&format!("{forgets:?}, vovk {vovk}"), &pass(&mut learner, &examples)?, &expected, 1e-10);
    }
    Ok(())
}

#[test]
fn linear_least_squares_equals_its_objective() -> TestResult {
    on_inputs::<Ridge>(false)?;
    on_inputs::<Awv>(true)
}

#[test]
fn taylor_learners_minimise_the_weighted_squares() -> TestResult {
    let examples = weighted(&streams::smooth_noisy(7, 80, 2, 0.1), "squared", 3);
    let map = TaylorFeatures::new(0.9, 3, vec![0.0; 2], 1 << 20)?;
    let features = |x: &[f64]| {
        let mut phi = mercer_kernels::AlignedVec::new();
        mercer_learners::FeatureMap::map(&map, x, &mut phi, &mut mercer_kernels::AlignedVec::new());
        phi.to_vec()
    };
    for vovk in [true, false] {
        let mut fit = WeightedLeastSquares::new(3, 0.2, vovk, NEVER);
        let mut expected = Vec::new();
        for WeightedExample { x, y, weight } in &examples {
            expected.extend(fit.predict(&features(x)));
            fit.learn(&features(x), y, *weight);
        }
        let params = TaylorParams::default().sigma(0.9).degree(3).lambda(0.2).outputs(3);
        let made = if vovk {
            pass(&mut PkawvTaylor::new(2, params)?, &examples)?
        } else {
            pass(&mut PkrrTaylor::new(2, params)?, &examples)?
        };
        agree(&format!("Taylor, vovk {vovk}"), &made, &expected, 1e-10);
    }
    Ok(())
}

#[test]
fn kernel_ridge_solves_the_weighted_system() -> TestResult {
    for (name, stream) in all_streams(70) {
        for outputs in [1, 3] {
            let examples = weighted(&stream, "squared", outputs);
            let inner = |_: usize, i: usize, j: usize| same_kernel(&examples[i].x, &examples[j].x);
            let params = KernelRidgeParams::default().lambda(0.3).outputs(outputs);
            let expected = oracle::weighted_kernel_ridge(&examples, 0.3, true, &inner);
            agree(name, &pass(&mut KernelAwv::new(kernel(), 2, params)?, &examples)?, &expected, 1e-10);
            let expected = oracle::weighted_kernel_ridge(&examples, 0.3, false, &inner);
            agree(name, &pass(&mut KernelKrr::new(kernel(), 2, params)?, &examples)?, &expected, 1e-10);
        }
    }
    Ok(())
}

/// The kept points are the learner's; what it predicts on their span is the dense solution.
#[test]
fn nystrom_learners_solve_the_weighted_projected_system() -> TestResult {
    let stream = streams::smooth_noisy(8, 70, 2, 0.1);
    let examples = weighted(&stream, "squared", 1);
    let params = NystromParams::default().lambda(0.4).mu(0.2).seed(3);
    for vovk in [true, false] {
        // Who is kept follows from the sizes; with the coin of its round each prediction knows the point it may keep.
        let mut learner: Box<dyn Regressor> = if vovk {
            Box::new(PkawvNystrom::new(kernel(), 2, params)?)
        } else {
            Box::new(PkrrNystrom::new(kernel(), 2, params)?)
        };
        let (mut kept, mut made, mut expected) = (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
        for (t, example) in examples.iter().enumerate() {
            let before = learner.dictionary_size();
            if example.weight == 0.0 {
                // It would be kept or not by a coin that is not tossed: see the conformance suite.
                learn(&mut learner, example)?;
                continue;
            }
            made.extend(learn(&mut learner, example)?);
            if learner.dictionary_size() > before {
                kept.push(example.x.clone());
            }
            let coordinates: Vec<Vec<f64>> =
                examples[..=t].iter().map(|example| newton_coordinates(&kept, &example.x, &same_kernel).0).collect();
            let inner = |_: usize, i: usize, j: usize| -> f64 {
                coordinates[i].iter().zip(&coordinates[j]).map(|(a, b)| a * b).sum()
            };
            let all = oracle::weighted_kernel_ridge(&examples[..=t], 0.4, vovk, &|s, i, j| {
                if s == t { inner(s, i, j) } else { f64::from(u8::from(i == j)) }
            });
            expected.push(all[t]);
        }
        agree(&format!("vovk {vovk}"), &made, &expected, 1e-9);
        assert!(learner.dictionary_size() > 8);
    }
    Ok(())
}

/// Two learners that are the same, with their name.
type Pair = (&'static str, Box<dyn Regressor>, Box<dyn Regressor>);
type Make = fn(usize) -> Result<Box<dyn Regressor>, mercer_learners::Error>;

/// Least-squares learners for inputs of dimension 2 with so many outputs.
fn least_squares() -> [(&'static str, Make); 6] {
    [
        ("KRLS", |m| {
            let params = KrlsParams::default().lambda(0.1).nu(1e-2).max_dictionary(Some(8)).outputs(m);
            Ok(Box::new(Krls::new(kernel(), 2, params)?))
        }),
        ("KRLS without a ridge", |m| {
            let params = KrlsParams::default().nu(1e-2).lambda(0.0).max_dictionary(Some(8)).outputs(m);
            Ok(Box::new(Krls::new(kernel(), 2, params)?))
        }),
        ("Kernel-AWV", |m| Ok(Box::new(KernelAwv::new(kernel(), 2, KernelRidgeParams::default().outputs(m))?))),
        ("Kernel-KRR", |m| Ok(Box::new(KernelKrr::new(kernel(), 2, KernelRidgeParams::default().outputs(m))?))),
        ("PKAWV-Taylor", |m| Ok(Box::new(PkawvTaylor::new(2, TaylorParams::default().degree(4).outputs(m))?))),
        ("PKRR-Taylor", |m| Ok(Box::new(PkrrTaylor::new(2, TaylorParams::default().degree(4).outputs(m))?))),
    ]
}

#[test]
fn weight_two_is_learning_twice() -> TestResult {
    let stream = streams::smooth_noisy(9, 120, 2, 0.1);
    let inputs: Vec<f64> = stream.iter().flat_map(|(x, _)| x.clone()).collect();
    let params = NystromParams::default().lambda(0.3).mu(0.2);
    let frozen = Box::new(PkawvFrozen::new(kernel(), 2, &inputs, params)?);
    let (head, tail) = stream.split_at(40);
    let mut learners: Vec<Pair> = vec![("PKAWV, frozen", frozen.clone(), frozen)];
    for (name, make) in least_squares() {
        learners.push((name, make(1)?, make(1)?));
    }
    for (name, mut once, mut twice) in learners {
        for (x, y) in head {
            once.update(x, *y)?;
            twice.update(x, *y)?;
        }
        // The dictionary of KRLS is full now: with the first of two equal rounds a new point would interpolate.
        for (t, (x, y)) in tail.iter().enumerate() {
            let example = WeightedExample { x: x.clone(), y: vec![*y], weight: if t % 3 == 0 { 2.0 } else { 1.0 } };
            let (a, b) = (learn(&mut once, &example)?[0], twice.predict_then_update(x, *y)?);
            assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{name}: {a} for {b} at row {t}");
            if example.weight == 2.0 {
                twice.update(x, *y)?;
            }
        }
    }
    Ok(())
}

#[test]
fn several_outputs_are_as_many_learners() -> TestResult {
    let stream = streams::smooth_noisy(10, 120, 2, 0.1);
    let examples = weighted(&stream, "squared", 3);
    let column = |k: usize| -> Vec<WeightedExample> {
        examples.iter().map(|example| WeightedExample { y: vec![example.y[k]], ..example.clone() }).collect()
    };
    let gradient: [(&str, Make); 1] =
        [("FOGD", |m| Ok(Box::new(Fogd::new(2, FogdParams::default().features(20).outputs(m))?)))];
    for (name, make) in least_squares().into_iter().chain(gradient) {
        let together = pass(&mut make(3)?, &examples)?;
        for k in 0..3 {
            let alone = pass(&mut make(1)?, &column(k))?;
            let one: Vec<f64> = together.iter().skip(k).step_by(3).copied().collect();
            agree(&format!("{name}, output {k}"), &one, &alone, if name == "FOGD" { 1e-12 } else { 1e-10 });
        }
    }
    Ok(())
}

/// An output that is always 0 costs the others nothing: norms and steps are sums over the outputs.
#[test]
fn an_idle_output_changes_nothing() -> TestResult {
    let stream = streams::smooth_noisy(11, 100, 2, 0.1);
    let example = |y: Vec<f64>, t: usize| WeightedExample { x: stream[t].0.clone(), y, weight: 1.5 };
    let alone: Vec<_> = (0..100).map(|t| example(vec![stream[t].1], t)).collect();
    let beside: Vec<_> = (0..100).map(|t| example(vec![0.0, stream[t].1], t)).collect();
    let kogd = KogdParams::default().radius(0.4);
    let aogd = AogdAldParams::default().radius(0.4);
    let learners: [(Box<dyn Regressor>, Box<dyn Regressor>); 2] = [
        (Box::new(Kogd::new(kernel(), 2, kogd)?), Box::new(Kogd::new(kernel(), 2, kogd.outputs(2))?)),
        (Box::new(AogdAld::new(kernel(), 2, aogd)?), Box::new(AogdAld::new(kernel(), 2, aogd.outputs(2))?)),
    ];
    for (mut one, mut two) in learners {
        let made = pass(&mut two, &beside)?;
        let second: Vec<f64> = made.iter().skip(1).step_by(2).copied().collect();
        agree("beside an idle output", &second, &pass(&mut one, &alone)?, 1e-12);
        assert!(made.iter().step_by(2).all(|z| *z == 0.0));
    }
    Ok(())
}

/// A row that counts a million million times is learnt by heart at most: gradient steps, plain, normalised and
/// regularised, do not pass the least loss of their example, and the stream goes on.
#[test]
fn no_weight_carries_a_gradient_step_away() -> TestResult {
    let names = [
        "fogd", "kogd", "nogd", "aogd-ald", "norma", "klms", "knlms", "qklms", "qklms-fb", "fb-klms", "klms-csl1",
        "mknlms-cs", "mxklms",
    ];
    let stream = streams::smooth_noisy(1, 900, 2, 0.05);
    for name in names {
        let entry = catalogue::find(name)?;
        let run = |weight: f64| -> Result<(f64, f64), Box<dyn std::error::Error>> {
            let mut learner = catalogue::trial(entry, AnyKernel::Gaussian(kernel()), 2)?;
            let (mut largest, mut late): (f64, f64) = (0.0, 0.0);
            for (t, (x, y)) in stream.iter().enumerate() {
                let mut made = [0.0];
                learner.learn(x, Target::weighted(&[*y], if t == 300 { weight } else { 1.0 }), &mut made)?;
                largest = largest.max(made[0].abs());
                late += if t >= 600 { (made[0] - y).powi(2) } else { 0.0 };
            }
            Ok((largest, late))
        };
        let (plain, heavy) = (run(1.0)?, run(1e12)?);
        assert!(heavy.0 < 2.0 * plain.0 && heavy.1 < 1.2 * plain.1, "{name}: {heavy:?}, all weights 1 {plain:?}");
    }
    Ok(())
}

/// Up to where it would pass the least loss, a weight multiplies the gradient.
#[test]
fn weights_multiply_gradients_within_reach() -> TestResult {
    let losses = ["squared", "absolute", "huber:0.5", "epsilon:0.1", "quantile:0.3", "poisson", "logistic", "hinge", "squared-hinge"];
    for text in losses {
        let loss: Loss = text.parse()?;
        let moved = |weight: f64| -> Result<f64, Error> {
            let mut update = GradientStep::new(1, 1, loss, StepSize::Constant(0.01), None);
            let mut phi = AlignedVec::from_slice(&[1.0]);
            update.step(&mut phi, None, Target::weighted(&[1.0], weight), &mut [0.0])?;
            Ok(update.weights().vectors()[0][0])
        };
        let one = moved(1.0)?;
        let slope = loss.derivative(0.0, 1.0);
        assert!((one + 0.01 * slope).abs() < 1e-15 && (moved(3.0)? - 3.0 * one).abs() < 1e-15, "{text}");
        let far = moved(1e12)?;
        assert!(loss.value(&[far], &[1.0]) <= loss.value(&[one], &[1.0]) && far.abs() < 4.1, "{text}: {far}");
    }
    Ok(())
}
