//! Predictions by kernel coefficients are those of the coordinates, and never those of an earlier
//! state.

use mercer_core::ExampleError;
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Matern52};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Eviction, KernelKrr, KernelRidgeParams, Krls, KrlsParams,
    Loss, NonsAld, NonsAldParams, Regressor, RegressorExt, Rows, Scratch, Target, Targets,
};
use mercer_linalg_incremental::Removal;
use mercer_sparsify::Probe;
use mercer_testkit::streams;

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// `wᵀL⁻¹k_S(x)`, with the smaller of what rounding may do to the value of `α = L⁻ᵀw` and what is
/// allowed before the coordinates predict: `4ε(1 + ‖α‖₁)` and `1e-12 ‖w‖`, where `k(x, x) = 1`.
fn by_coordinates<K: Kernel>(learner: &Krls<K>, x: &[f64]) -> (f64, f64) {
    let (mut probe, mut alpha) = (Probe::default(), AlignedVec::new());
    let w = &learner.linear().weights().vectors()[0];
    learner.basis().probe(x, &mut probe);
    learner.basis().coefficients(w, &mut alpha);
    let value = w.iter().zip(probe.coordinates().iter()).map(|(w, phi)| w * phi).sum();
    let sum = 4.0 * f64::EPSILON * (1.0 + alpha.iter().map(|a| a.abs()).sum::<f64>());
    (value, sum.min(1e-12 * w.iter().map(|w| w * w).sum::<f64>().sqrt()))
}

fn check_conditioning<K: Kernel + Copy>(kernel: K, nu: f64, lambda: f64) -> TestResult {
    let stream = streams::smooth_noisy(1, 300, 2, 0.1);
    let mut learner = Krls::new(kernel, 2, KrlsParams::default().nu(nu).lambda(lambda).max_dictionary(Some(150)))?;
    stream.iter().try_for_each(|(x, y)| learner.update(x, *y))?;
    assert!(learner.dictionary_size() > 1);
    for (x, _) in streams::smooth_noisy(2, 50, 2, 0.1) {
        let (expected, rounding) = by_coordinates(&learner, &x);
        let value = learner.predict(&x)?;
        assert!((value - expected).abs() <= rounding, "ν = {nu}, λ = {lambda}: {value} for {expected} ± {rounding:e}");
    }
    Ok(())
}

#[test]
fn they_are_as_good_as_the_coordinates_however_ill_conditioned_the_factor_is() -> TestResult {
    for nu in [1e-2, 1e-6, 1e-10, 1e-14] {
        for lambda in [0.1, 1e-10] {
            for sigma in [0.3, 1.0, 5.0] {
                check_conditioning(Gaussian::new(sigma)?, nu, lambda)?;
                check_conditioning(Matern52::new(sigma)?, nu, lambda)?;
            }
        }
    }
    Ok(())
}

/// Compares with the predictions of a copy, which has no coefficients from before.
#[track_caller]
fn is_fresh(what: &str, learner: &(impl Regressor + Clone)) {
    for x in [[0.3, -0.2], [-0.8, 0.9]] {
        let of = |learner: &dyn Regressor| {
            let mut scores = vec![0.0; learner.outputs()];
            learner.predict_into(&x, &mut Scratch::default(), &mut scores).expect("an ordinary input");
            scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(of(learner), of(&learner.clone()), "{what}");
    }
}

fn check_changes(what: &str, mut learner: impl Regressor + Clone) -> TestResult {
    let stream = streams::smooth_noisy(3, 120, 2, 0.1);
    for (t, (x, y)) in stream.iter().enumerate() {
        is_fresh(what, &learner);
        let y = if learner.loss() == Loss::LOGISTIC { y.signum() } else { *y };
        learner.learn(x, Target::weighted(&[y], (t % 3) as f64), &mut [0.0])?;
    }
    is_fresh(what, &learner);
    let (xs, ys): (Vec<_>, Vec<_>) = stream.iter().map(|(x, y)| (x.clone(), y.signum())).unzip();
    learner.learn_rows(Rows::new(&xs.concat(), 2, Targets::numbers(&ys))?, &mut Vec::new())?;
    is_fresh(what, &learner);
    if learner.add_output(Some(0)).is_ok() {
        is_fresh(what, &learner);
    }
    Ok(())
}

#[test]
fn they_are_those_of_the_state() -> TestResult {
    let kernel = Gaussian::new(0.5)?;
    let krls = KrlsParams::default().lambda(0.1).max_dictionary(Some(20));
    check_changes("krls", Krls::new(kernel, 2, krls)?)?;
    check_changes("krls, removing", Krls::new(kernel, 2, krls.eviction(Eviction::Oldest(Removal::Marginalise)))?)?;
    check_changes("nons-ald", NonsAld::new(kernel, 2, NonsAldParams::default().loss(Loss::LOGISTIC))?)?;
    check_changes("aogd-ald", AogdAld::new(kernel, 2, AogdAldParams::default())?)?;
    check_changes("aogd-ald that keeps all", AogdAld::new(kernel, 2, AogdAldParams::default().growth_limit(Some(9)))?)?;
    check_changes("con-kons", ConKons::new(kernel, 2, ConKonsParams::default())?)?;
    let mut learner = Krls::new(kernel, 2, krls)?;
    for (x, y) in streams::smooth_noisy(3, 120, 2, 0.1) {
        learner.update(&x, y)?;
    }
    is_fresh("before a removal", &learner);
    learner.remove(3, Removal::Condition);
    is_fresh("after a removal", &learner);
    Ok(())
}

/// With `k = 1e-290` the coefficient of a target of 1e150 is 1e440.
#[test]
fn coefficients_out_of_range_are_done_without() -> TestResult {
    let mut learner = Krls::new(mercer_kernels::Linear, 1, KrlsParams::default().nu(0.0).lambda(0.0))?;
    learner.update(&[1e-145], 1e150)?;
    for factor in [1.0, 3.0] {
        assert!((learner.predict(&[factor * 1e-145])? / 1e150 - factor).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn threads_that_ask_together_get_the_same() -> TestResult {
    let mut learner = Krls::new(Gaussian::new(0.3)?, 2, KrlsParams::default().lambda(0.1))?;
    for (x, y) in streams::smooth_noisy(5, 400, 2, 0.1) {
        learner.update(&x, y)?;
    }
    let told: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| learner.predict(&[0.1, 0.2]).map(f64::to_bits))).collect();
        asked.into_iter().map(|thread| thread.join().expect("a prediction")).collect()
    });
    assert!(told.iter().all(|made| *made == told[0] && made.is_ok()));
    Ok(())
}

/// Predictions at inputs of their own, one by one and together.
fn asked(learner: &impl Regressor) -> Result<[Vec<f64>; 2], Error> {
    let (mut alone, mut together, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for (x, _) in streams::smooth_noisy(4, 30, 2, 0.1) {
        let mut scores = vec![0.0; learner.outputs()];
        learner.predict_into(&x, &mut Scratch::default(), &mut scores)?;
        alone.extend(scores);
        inputs.extend(x);
    }
    learner.predict_rows(&inputs, &mut together)?;
    Ok([alone, together])
}

/// Several outputs have coefficients where many inputs are to come; with and without, the values
/// are those of learners of one output.
#[test]
fn outputs_together_are_predicted_as_each_alone() -> TestResult {
    let (kernel, params) = (Gaussian::new(0.3)?, KrlsParams::default().lambda(0.1));
    let ridge = |outputs| KernelRidgeParams::default().lambda(0.1).outputs(outputs);
    for outputs in [1, 2, 12] {
        check_outputs(outputs, |outputs| Krls::new(kernel, 2, params.outputs(outputs)))?;
        check_outputs(outputs, |outputs| KernelKrr::new(kernel, 2, ridge(outputs)))?;
    }
    Ok(())
}

fn check_outputs<R: Regressor>(outputs: usize, make: impl Fn(usize) -> Result<R, Error>) -> TestResult {
    let (mut together, mut alone) = (make(outputs)?, Vec::new());
    alone.resize_with(outputs, || make(1));
    let mut alone: Vec<R> = alone.into_iter().collect::<Result<_, _>>()?;
    for (x, y) in streams::smooth_noisy(3, 150, 2, 0.1) {
        let ys: Vec<f64> = (0..outputs).map(|output| y * output as f64 - x[0]).collect();
        together.learn(&x, Target::new(&ys), &mut vec![0.0; outputs])?;
        alone.iter_mut().zip(&ys).try_for_each(|(alone, y)| alone.update(&x, *y))?;
    }
    for made in asked(&together)? {
        for (output, alone) in alone.iter().enumerate() {
            for (row, expected) in asked(alone)?[0].iter().enumerate() {
                let made = made[row * outputs + output];
                assert!((made - expected).abs() < 1e-10, "{output} of {outputs} outputs: {made} for {expected}");
            }
        }
    }
    Ok(())
}

/// A refused row leaves the predictions before it.
#[test]
fn rows_are_predicted_up_to_the_first_that_is_refused() -> TestResult {
    let mut learner = Krls::new(Gaussian::new(0.3)?, 2, KrlsParams::default())?;
    learner.update(&[0.1, 0.2], 1.0)?;
    let mut scores = vec![7.0];
    assert!(learner.predict_rows(&[0.1, 0.2, 0.3, f64::NAN, 0.5, 0.6], &mut scores).is_err());
    assert_eq!(scores, [7.0, learner.predict(&[0.1, 0.2])?]);
    let torn = learner.predict_rows(&[0.1, 0.2, 0.3], &mut scores);
    assert!(matches!(torn, Err(Error::Example(ExampleError::Block { .. }))), "{torn:?}");
    Ok(())
}
