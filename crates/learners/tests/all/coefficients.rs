//! Learners of kernel coefficients against their definitions, and what the engine promises of
//! weights, refusals, growth and memory.

use crate::common::{self, TestResult, check, values};
use mercer_core::{ExampleError, Validate};
use mercer_kernels::AnyKernel;
use mercer_learners::{Error, Knlms, KnlmsParams, Qklms, QklmsParams, Regressor, RegressorExt, Target};
use mercer_sparsify::Basis;
use mercer_testkit::alloc::allocations_during;
use mercer_testkit::oracle;
use mercer_testkit::streams;

const KERNELS: [&str; 4] = ["gaussian:0.6", "matern52:1.2", "polynomial:2,0.5", "mix:0.5*gaussian:0.5+0.5*laplace:2"];

#[test]
fn knlms_equals_its_definition() -> TestResult {
    for spec in KERNELS {
        let kernel: AnyKernel = spec.parse()?;
        for (name, stream) in common::streams() {
            for (eta, mu0, eps, max) in [(0.5, 0.9, 1e-4, 1000), (0.2, 0.5, 0.1, 1000), (1.0, 0.99, 0.01, 12)] {
                let params = oracle::KnlmsParams { eta, mu0, eps, max_dictionary: max };
                let expected = oracle::knlms(&stream, &values(&kernel), params);
                let params = KnlmsParams::default().eta(eta).mu0(mu0).eps(eps).max_dictionary(Some(max));
                let learner = Knlms::new(kernel.clone(), stream[0].0.len(), params)?;
                check(&format!("{name}, {spec}, mu0 {mu0}"), learner, &stream, &expected)?;
            }
        }
    }
    Ok(())
}

#[test]
fn qklms_equals_its_definition() -> TestResult {
    for spec in KERNELS {
        let kernel: AnyKernel = spec.parse()?;
        // Under a polynomial kernel inputs far away need a smaller step.
        let eta = if spec.starts_with("poly") { 1e-3 } else { 0.3 };
        for (name, stream) in common::streams() {
            if name == "far away" && spec.starts_with("poly") {
                continue;
            }
            for (epsilon, max) in [(0.1, 1000), (0.0, 1000), (0.4, 10)] {
                let expected = oracle::qklms(&stream, &values(&kernel), eta, epsilon, max);
                let params = QklmsParams::default().eta(eta).epsilon(epsilon).max_dictionary(Some(max));
                let learner = Qklms::new(kernel.clone(), stream[0].0.len(), params)?;
                check(&format!("{name}, {spec}, epsilon {epsilon}"), learner, &stream, &expected)?;
            }
        }
    }
    Ok(())
}

/// Makes a learner with so many outputs.
type Make = Box<dyn Fn(usize) -> Box<dyn Regressor>>;

fn learners() -> Vec<(&'static str, Make)> {
    let kernel = || "gaussian:0.6".parse::<AnyKernel>().expect("a kernel");
    let knlms = move |outputs| {
        let params = KnlmsParams::default().outputs(outputs).max_dictionary(Some(30));
        Box::new(Knlms::new(kernel(), 2, params).expect("valid")) as Box<dyn Regressor>
    };
    let qklms = move |outputs| {
        let params = QklmsParams::default().outputs(outputs).max_dictionary(Some(30));
        Box::new(Qklms::new(kernel(), 2, params).expect("valid")) as Box<dyn Regressor>
    };
    vec![("KNLMS", Box::new(knlms)), ("QKLMS", Box::new(qklms))]
}

#[test]
fn outputs_are_learnt_as_apart_and_join_late() -> TestResult {
    for (name, make) in learners() {
        let (mut together, mut first, mut second) = (make(1), make(1), make(1));
        let mut scores = [0.0; 2];
        for (t, (x, y)) in streams::smooth_noisy(6, 200, 2, 0.1).iter().enumerate() {
            if t == 60 {
                together.add_output(Some(0))?;
            }
            let (y0, y1) = (*y, if t < 60 { *y } else { -2.0 * y });
            let apart = [first.predict_then_update(x, y0)?, second.predict_then_update(x, y1)?];
            if t < 60 {
                assert_eq!(together.predict_then_update(x, y0)?, apart[0], "{name}");
            } else {
                together.learn(x, Target::new(&[y0, y1]), &mut scores)?;
                assert_eq!(scores, apart, "{name}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_weight_multiplies_the_error() -> TestResult {
    let stream = streams::smooth_noisy(7, 60, 2, 0.1);
    for (name, make) in learners() {
        for (t, (x, y)) in stream.iter().enumerate() {
            let (mut weighted, mut plain, mut score) = (make(1), make(1), [0.0]);
            for (x, y) in &stream[..t] {
                plain.update(x, *y)?;
                weighted.update(x, *y)?;
            }
            let (prediction, size) = (weighted.predict(x)?, weighted.dictionary_size());
            weighted.learn(x, Target::weighted(&[*y], 0.0), &mut score)?;
            assert_eq!((score[0], weighted.predict(x)?, weighted.dictionary_size()), (prediction, prediction, size));
            // The same error times the weight, with weight 1.
            weighted.learn(x, Target::weighted(&[*y], 1.7), &mut score)?;
            plain.update(x, prediction + 1.7 * (y - prediction))?;
            assert_eq!(score[0], prediction, "{name}");
            let gap = (weighted.predict(x)? - plain.predict(x)?).abs();
            assert!(gap < 1e-12, "{name}: {gap:e}");
        }
    }
    Ok(())
}

#[test]
fn refused_steps_leave_no_trace() -> TestResult {
    for (name, make) in learners() {
        let stream = streams::smooth_noisy(8, 25, 2, 0.1);
        let (mut disturbed, mut calm) = (make(1), make(1));
        for (t, (x, y)) in stream.iter().enumerate() {
            let refused = disturbed.predict_then_update(&[0.3, 7.0 + t as f64], 1e200);
            assert!(matches!(refused, Err(Error::Example(ExampleError::Diverged))), "{name}: {refused:?}");
            assert!(disturbed.predict_then_update(&[0.0, f64::NAN], 0.0).is_err());
            assert_eq!(disturbed.predict_then_update(x, *y)?, calm.predict_then_update(x, *y)?, "{name}");
        }
        assert_eq!(disturbed.dictionary_size(), calm.dictionary_size());
    }
    Ok(())
}

#[test]
fn late_features_count_as_zero_before() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let stream = streams::smooth_noisy(9, 100, 2, 0.1);
    let mut narrow = Knlms::new(kernel.clone(), 1, KnlmsParams::default())?;
    let mut wide = Knlms::new(kernel.clone(), 2, KnlmsParams::default())?;
    let mut narrow_q = Qklms::new(kernel.clone(), 1, QklmsParams::default())?;
    let mut wide_q = Qklms::new(kernel, 2, QklmsParams::default())?;
    for (x, y) in &stream[..50] {
        assert_eq!(narrow.predict_then_update(&x[..1], *y)?, wide.predict_then_update(&[x[0], 0.0], *y)?);
        assert_eq!(narrow_q.predict_then_update(&x[..1], *y)?, wide_q.predict_then_update(&[x[0], 0.0], *y)?);
    }
    narrow.grow(1)?;
    narrow_q.grow(1)?;
    for (x, y) in &stream[50..] {
        assert_eq!(narrow.predict_then_update(x, *y)?, wide.predict_then_update(x, *y)?);
        assert_eq!(narrow_q.predict_then_update(x, *y)?, wide_q.predict_then_update(x, *y)?);
    }
    Ok(())
}

#[test]
fn a_step_of_fixed_size_allocates_nothing() {
    for (name, make) in learners() {
        let stream = streams::smooth_noisy(10, 400, 2, 0.1);
        let mut learner = make(1);
        let mut learn = || stream.iter().filter(|(x, y)| learner.predict_then_update(x, *y).is_err()).count();
        assert_eq!(learn(), 0);
        assert_eq!(allocations_during(|| assert_eq!(learn(), 0)), 0, "{name}");
    }
}

#[test]
fn saved_state_goes_on_bit_for_bit_and_is_checked() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let stream = streams::smooth_noisy(11, 90, 2, 0.1);
    let mut learner = Knlms::new(kernel, 2, KnlmsParams::default())?;
    for (x, y) in &stream[..40] {
        learner.update(x, *y)?;
    }
    let text = serde_json::to_string(&learner)?;
    let mut restored: Knlms<AnyKernel> = serde_json::from_str(&text)?;
    assert_eq!(restored.validate(), Ok(()));
    for (x, y) in &stream[40..] {
        assert_eq!(restored.predict_then_update(x, *y)?, learner.predict_then_update(x, *y)?);
    }
    assert_eq!(restored.basis().len(), restored.coefficients().coordinates());
    let broken: Knlms<AnyKernel> = serde_json::from_str(&text.replace("\"threshold\":0.7", "\"threshold\":1.7"))?;
    assert!(broken.validate().is_err());
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() {
    let kernel = || "gaussian:0.6".parse::<AnyKernel>().expect("a kernel");
    let knlms = KnlmsParams::default();
    for wrong in [knlms.eta(0.0), knlms.mu0(1.5), knlms.eps(-1.0), knlms.max_dictionary(Some(0)), knlms.outputs(0)] {
        assert!(Knlms::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
    let qklms = QklmsParams::default();
    for wrong in [qklms.eta(f64::NAN), qklms.epsilon(-0.1), qklms.max_dictionary(Some(0)), qklms.outputs(0)] {
        assert!(Qklms::new(kernel(), 2, wrong).is_err(), "{wrong:?}");
    }
}
