//! Learners with several kernels against their definitions, and what their engine promises.

use crate::common::{self, TestResult, check, check_to, values};
use mercer_core::Validate;
use mercer_kernels::AnyKernel;
use mercer_learners::catalogue::{Context, Value, Values};
use mercer_learners::{
    Error, Knlms, KnlmsParams, MknlmsCs, MknlmsCsParams, Mxklms, MxklmsParams, Regressor, RegressorExt, Target,
};
use mercer_registry::entries;
use mercer_testkit::alloc::allocations_during;
use mercer_testkit::conformance::{Memory, check_regressor};
use mercer_testkit::oracle::{self, KernelFn};
use mercer_testkit::streams;

const LISTS: [&[&str]; 4] = [
    &["gaussian:0.3", "gaussian:0.6", "gaussian:1.2"],
    &["gaussian:0.6", "polynomial:2,0.5"],
    &["matern52:1.2", "linear", "mix:0.5*gaussian:0.5+0.5*laplace:2", "gaussian:1"],
    &["laplace:0.7"],
];

fn kernels(list: &[&str]) -> Vec<AnyKernel> {
    list.iter().map(|spec| spec.parse().expect("a kernel")).collect()
}

/// Runs `test` with the kernels and the same as functions.
fn with_lists(mut test: impl FnMut(&[&str], &[AnyKernel], &[KernelFn]) -> TestResult) -> TestResult {
    for list in LISTS {
        let kernels = kernels(list);
        let functions: Vec<_> = kernels.iter().map(values).collect();
        let functions: Vec<KernelFn> = functions.iter().map(|function| function as KernelFn).collect();
        test(list, &kernels, &functions)?;
    }
    Ok(())
}

#[test]
fn mknlms_cs_equals_its_definition() -> TestResult {
    with_lists(|list, kernels, functions| {
        for (name, stream) in common::streams() {
            for (eta, delta, eps, max) in [(0.5, 0.995, 1e-2, 1000), (0.2, 0.9, 0.1, 1000), (1.0, 1.0, 1e-3, 12)] {
                let params = oracle::MknlmsCsParams { eta, delta, eps, max_dictionary: max };
                let expected = oracle::mknlms_cs(&stream, functions, params);
                let params = MknlmsCsParams::default().eta(eta).delta(delta).eps(eps).max_dictionary(Some(max));
                let learner = MknlmsCs::new(kernels.to_vec(), stream[0].0.len(), params)?;
                // Far away inputs reach 3e5 and linear kernel values 1e11, whose sums cancel to the
                // size of the targets.
                let tolerance = if name == "far away" { 1e-10 } else { 1e-12 };
                check_to(tolerance, &format!("{name}, {list:?}, delta {delta}"), learner, &stream, &expected)?;
            }
        }
        Ok(())
    })
}

#[test]
fn mxklms_equals_its_definition() -> TestResult {
    with_lists(|list, kernels, functions| {
        let normalised = list.iter().all(|spec| !spec.starts_with("poly") && *spec != "linear");
        for (name, stream) in common::streams() {
            // Under kernels that grow with their inputs the steps have no common size far away, and
            // smaller ones elsewhere.
            if name == "far away" && !normalised {
                continue;
            }
            let scale = if normalised { 1.0 } else { 0.01 };
            for (eta, mu, max) in [(0.5, 1.0, 1000), (0.2, 5.0, 40), (0.8, 0.0, 100)] {
                let (eta, mu) = (scale * eta, scale * mu);
                let expected = oracle::mxklms(&stream, functions, eta, mu, max);
                let params = MxklmsParams::default().eta(eta).mu(mu).max_dictionary(Some(max));
                let learner = Mxklms::new(kernels.to_vec(), stream[0].0.len(), params)?;
                check(&format!("{name}, {list:?}, eta {eta}, mu {mu}"), learner, &stream, &expected)?;
            }
        }
        Ok(())
    })
}

/// One kernel: KNLMS, whose coherence is the kernel value where the kernel is normalised and not
/// negative.
#[test]
fn one_kernel_is_knlms() -> TestResult {
    let kernel: AnyKernel = "gaussian:0.6".parse()?;
    let one = KnlmsParams::default().eta(0.5).mu0(0.9).eps(0.01).max_dictionary(Some(30));
    let mut one = Knlms::new(kernel.clone(), 2, one)?;
    let several = MknlmsCsParams::default().eta(0.5).delta(0.9).eps(0.01).max_dictionary(Some(30));
    let mut several = MknlmsCs::new(vec![kernel], 2, several)?;
    for (x, y) in streams::smooth_noisy(12, 300, 2, 0.1) {
        let (a, b) = (one.predict_then_update(&x, y)?, several.predict_then_update(&x, y)?);
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    assert_eq!((several.dictionary_size(), one.dictionary_size()), (30, 30));
    Ok(())
}

/// The kernel that fits gains weight, and the weights sum to 1.
#[test]
fn the_mixture_finds_the_kernel_that_fits() -> TestResult {
    let list = kernels(&["gaussian:0.01", "gaussian:0.6"]);
    let mut learner = Mxklms::new(list, 2, MxklmsParams::default())?;
    for (x, y) in streams::smooth_noisy(13, 300, 2, 0.0) {
        learner.update(&x, y)?;
    }
    let psi = learner.weights();
    assert!(psi[1] > 0.8 && (psi[0] + psi[1] - 1.0).abs() < 1e-15, "{psi:?}");
    Ok(())
}

/// Makes a learner.
type Make = Box<dyn Fn() -> Box<dyn Regressor>>;

/// Both learners, with a dictionary that fills.
fn learners() -> Vec<(&'static str, Make)> {
    let list = || kernels(&["gaussian:0.3", "gaussian:0.6", "polynomial:2,0.5"]);
    let normalised = move || {
        let params = MknlmsCsParams::default().delta(1.9).max_dictionary(Some(30));
        Box::new(MknlmsCs::new(list(), 2, params).expect("valid")) as Box<dyn Regressor>
    };
    let mixture = move || {
        // A step that ends before the target.
        let params = MxklmsParams::default().eta(0.1).max_dictionary(Some(30));
        Box::new(Mxklms::new(list(), 2, params).expect("valid")) as Box<dyn Regressor>
    };
    vec![("MKNLMS-CS", Box::new(normalised)), ("MXKLMS", Box::new(mixture))]
}

/// The whole contract, with kernels that are not normalised too.
#[test]
fn the_contract_holds_with_any_kernels() {
    for list in LISTS {
        let normalised = list.iter().all(|spec| !spec.starts_with("poly") && *spec != "linear");
        let params = MknlmsCsParams::default().max_dictionary(Some(20));
        let make = || MknlmsCs::new(kernels(list), 3, params).expect("valid").into();
        check_regressor(&format!("MKNLMS-CS with {list:?}"), Memory::Bounded, normalised, &make);
        let params = MxklmsParams::default().eta(0.1).max_dictionary(Some(20));
        let make = || Mxklms::new(kernels(list), 3, params).expect("valid").into();
        check_regressor(&format!("MXKLMS with {list:?}"), Memory::Bounded, normalised, &make);
    }
}

#[test]
fn a_weight_multiplies_the_error() -> TestResult {
    let stream = streams::smooth_noisy(7, 60, 2, 0.1);
    for (name, make) in learners() {
        for (t, (x, y)) in stream.iter().enumerate() {
            let (mut weighted, mut plain, mut score) = (make(), make(), [0.0]);
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
            for (x, _) in &stream {
                let (a, b) = (weighted.predict(x)?, plain.predict(x)?);
                assert!((a - b).abs() < 1e-12, "{name}: {a} {b}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_step_of_fixed_size_allocates_nothing() {
    for (name, make) in learners() {
        let stream = streams::smooth_noisy(10, 400, 2, 0.1);
        let mut learner = make();
        let mut learn = || stream.iter().filter(|(x, y)| learner.predict_then_update(x, *y).is_err()).count();
        assert_eq!(learn(), 0);
        assert_eq!(allocations_during(|| assert_eq!(learn(), 0)), 0, "{name}");
    }
}

#[test]
fn late_features_count_as_zero_before() -> TestResult {
    let make = |dimension| Mxklms::new(kernels(LISTS[0]), dimension, MxklmsParams::default());
    let (mut narrow, mut wide) = (make(1)?, make(2)?);
    let stream = streams::smooth_noisy(9, 200, 2, 0.1);
    for (x, y) in &stream[..50] {
        assert_eq!(narrow.predict_then_update(&x[..1], *y)?, wide.predict_then_update(&[x[0], 0.0], *y)?);
    }
    narrow.grow(1)?;
    for (x, y) in &stream[50..] {
        assert_eq!(narrow.predict_then_update(x, *y)?, wide.predict_then_update(x, *y)?);
    }
    Ok(())
}

#[test]
fn saved_state_goes_on_bit_for_bit_and_is_checked() -> TestResult {
    let stream = streams::smooth_noisy(11, 90, 2, 0.1);
    let mut learner = Mxklms::new(kernels(LISTS[0]), 2, MxklmsParams::default())?;
    for (x, y) in &stream[..40] {
        learner.update(x, *y)?;
    }
    let text = serde_json::to_string(&learner)?;
    let mut restored: Mxklms<AnyKernel> = serde_json::from_str(&text)?;
    assert_eq!(restored.validate(), Ok(()));
    for (x, y) in &stream[40..] {
        assert_eq!(restored.predict_then_update(x, *y)?, learner.predict_then_update(x, *y)?);
    }
    let state: serde_json::Value = serde_json::from_str(&text)?;
    for (path, broken) in [
        ("/kernels", serde_json::json!([])),
        ("/kernels/0", serde_json::json!({"Gaussian": {"sigma": -1.0}})),
        ("/update/v", serde_json::json!([0.0, 0.0])),
        ("/update/mu", serde_json::json!(-1.0)),
        ("/points/len", serde_json::json!(39)),
    ] {
        let mut state = state.clone();
        *state.pointer_mut(path).ok_or(path)? = broken;
        if let Ok(read) = serde_json::from_value::<Mxklms<AnyKernel>>(state) {
            assert!(read.validate().is_err(), "{path}");
        }
    }
    Ok(())
}

#[test]
fn parameters_out_of_range_are_refused() {
    let list = || kernels(LISTS[0]);
    let normalised = MknlmsCsParams::default();
    for wrong in [normalised.eta(0.0), normalised.delta(-0.1), normalised.eps(-1.0), normalised.max_dictionary(Some(0))]
    {
        assert!(MknlmsCs::new(list(), 2, wrong).is_err(), "{wrong:?}");
    }
    let mixture = MxklmsParams::default();
    for wrong in [mixture.eta(f64::NAN), mixture.mu(-0.1), mixture.max_dictionary(Some(0))] {
        assert!(Mxklms::new(list(), 2, wrong).is_err(), "{wrong:?}");
    }
    let none = Mxklms::<AnyKernel>::new(Vec::new(), 2, mixture).err();
    assert!(matches!(&none, Some(Error::Parameter(error)) if error.name == "the number of kernels"), "{none:?}");
}

/// `auto` is the Gaussian that is given at several widths, another kernel alone.
#[test]
fn kernels_are_scaled_by_default() -> TestResult {
    for entry in entries().iter().filter(|entry| entry.key("kernels").is_some()) {
        let look = entry.key("kernels").and_then(|key| key.auto).map(|rule| rule.look).ok_or("a rule")?;
        for (spec, expected) in [
            ("gaussian:2", "gaussian:0.5;gaussian:1;gaussian:2;gaussian:4;gaussian:8"),
            ("laplace:2", "laplace:2"),
            ("polynomial:3,1", "polynomial:3,1;"),
        ] {
            let found: Value = look.find(&spec.parse()?, &Context::default(), &Values::new(&[]))?;
            assert_eq!(found.to_string(), expected);
        }
    }
    Ok(())
}
