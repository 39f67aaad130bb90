//! Least squares with weights, several outputs and forgetting against dense solves of what it
//! minimises.

use crate::common::{TestResult, agree, kernel, learn, pass, same_kernel, weighted};
use mercer_kernels::TaylorFeatures;
use mercer_learners::basis::Identity;
use mercer_learners::update::{Awv, Forgetting, GrowingUpdate, LeastSquares, Readout, Ridge};
use mercer_learners::{
    AogdAld, AogdAldParams, Fogd, FogdParams, KernelAwv, KernelKrr, KernelRidgeParams, Kogd, KogdParams, Krls,
    KrlsParams, NystromParams, OnFeatures, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrNystrom, PkrrTaylor, Regressor,
    RegressorExt, TaylorParams,
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
fn on_a_dictionary(examples: &[WeightedExample], nu: f64, most: usize, mut fit: WeightedLeastSquares) -> Vec<f64> {
    let mut points: Vec<Vec<f64>> = Vec::new();
    let mut predictions = Vec::new();
    for WeightedExample { x, y, weight } in examples {
        let (mut phi, residual) = newton_coordinates(&points, x, &same_kernel);
        predictions.extend(fit.predict(&phi));
        if *weight > 0.0 && residual > nu && points.len() < most {
            phi.push(residual.sqrt());
            points.push(x.clone());
        }
        fit.learn(&phi, y, *weight);
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
        update.restart(4)?;
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
        // Who is kept follows from the sizes; with the coin of its round each prediction knows the
        // point it may keep.
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
        // The dictionary of KRLS is full now: with the first of two equal rounds a new point would
        // interpolate.
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
