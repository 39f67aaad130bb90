//! The catalogue against the learners that it describes.

use mercer::catalogue::{self, CatalogueError, Context, Value};
use mercer::{
    AnyKernel, AogdAldParams, FogdParams, KernelRidgeParams, KogdParams, KonsParams, KrlsParams, NogdParams,
    NonsAldParams, NystromParams, Regressor, SampledKonsParams, SketchedKonsParams, TaylorParams,
};
use proptest::prelude::*;

const CONTEXT: Context = Context { rounds: None, dimension: 3, seed: 1 };

fn gaussian() -> AnyKernel {
    "gaussian:1".parse().unwrap()
}

fn parameters(learner: &str, settings: &[&str], context: &Context) -> Vec<(&'static str, Value)> {
    let settings = catalogue::find(learner).unwrap().settings(settings.iter().copied()).unwrap();
    settings.build(gaussian(), context).unwrap().parameters
}

fn refusal(learner: &str, settings: &[&str]) -> String {
    let built = catalogue::find(learner)
        .and_then(|entry| entry.settings(settings.iter().copied()))
        .and_then(|settings| settings.build(gaussian(), &CONTEXT));
    let message = built.unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// `NonsAld` is `nons-ald`.
fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        if c.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    name
}

/// An enum does not tell its variants, so they are read where they are declared.
#[test]
fn the_entries_are_the_learners_of_the_enum() {
    let source = include_str!("../../learners/src/regression/any.rs");
    let (_, declared) = source.split_once("\nany_regressor! {\n").unwrap();
    let variants: Vec<String> = declared
        .lines()
        .take_while(|line| !line.starts_with('}'))
        .filter_map(|line| line.trim().split_once('('))
        .map(|(variant, _)| kebab(variant))
        .collect();
    let names: Vec<&str> = catalogue::entries().iter().map(|entry| entry.name).collect();
    assert_eq!(variants, names);
}

#[test]
fn every_default_builds_the_learner_it_names_and_learns() {
    for entry in catalogue::entries() {
        let built = entry.settings([]).unwrap().build(gaussian(), &CONTEXT).unwrap();
        let mut learner = built.learner;
        let shown = format!("{learner:?}");
        assert_eq!(kebab(shown.split('(').next().unwrap()), entry.name);
        let mut late = 0.0;
        for t in 0..600 {
            let x = f64::from(t) * 0.1;
            let y = x.sin();
            let prediction = learner.predict_then_update(&[y, x.cos(), (2.0 * x).sin()], y).unwrap();
            late += if t < 300 { 0.0 } else { (prediction - y).powi(2) / 300.0 };
        }
        // Who predicts 0 suffers the mean of y², one half; who has learnt suffers a fifth of that at most.
        assert!(late < 0.1, "{}: {late}", entry.name);
        assert_eq!(entry.settings([]).unwrap().needs_rounds(), None, "{}: no default needs T", entry.name);
    }
}

/// A default shown is a default used: the catalogue's are those of the parameter structs.
#[test]
fn defaults_are_those_of_the_library() {
    let number = Value::Number;
    let optional_number = |value: Option<f64>| value.map_or(Value::None, Value::Number);
    let optional_count = |value: Option<usize>| value.map_or(Value::None, Value::Whole);
    let defaults = |learner: &str| parameters(learner, &[], &CONTEXT);

    let KogdParams { radius } = KogdParams::default();
    assert_eq!(defaults("kogd"), [("radius", number(radius))]);

    let AogdAldParams { radius, alpha, growth_limit } = AogdAldParams::default();
    let expected =
        [("radius", number(radius)), ("alpha", number(alpha)), ("max_dictionary", optional_count(growth_limit))];
    assert_eq!(defaults("aogd-ald"), expected);

    let KonsParams { mu, eta, clip } = KonsParams::default();
    assert_eq!(defaults("kons"), [("mu", number(mu)), ("eta", number(eta)), ("clip", optional_number(clip))]);

    let SketchedKonsParams { mu, eta, gamma, beta, .. } = SketchedKonsParams::default();
    let expected = [("mu", number(mu)), ("eta", number(eta)), ("gamma", number(gamma)), ("beta", number(beta))];
    assert_eq!(defaults("sketched-kons"), expected);

    let NonsAldParams { mu, alpha, radius, label_bound, max_dictionary } = NonsAldParams::default();
    let expected = [
        ("mu", number(mu)),
        ("alpha", number(alpha)),
        ("radius", number(radius)),
        ("label_bound", number(label_bound)),
        ("max_dictionary", optional_count(max_dictionary)),
    ];
    assert_eq!(defaults("nons-ald"), expected);

    let KernelRidgeParams { lambda } = KernelRidgeParams::default();
    assert_eq!(defaults("kernel-awv"), [("lambda", number(lambda))]);
    assert_eq!(defaults("kernel-krr"), [("lambda", number(lambda))]);

    let TaylorParams { lambda, degree, .. } = TaylorParams::default();
    let expected = [("lambda", number(lambda)), ("degree", Value::Whole(degree))];
    assert_eq!(defaults("pkawv-taylor"), expected);
    assert_eq!(defaults("pkrr-taylor"), expected);

    let NystromParams { lambda, mu, beta, epsilon, .. } = NystromParams::default();
    let expected =
        [("lambda", number(lambda)), ("mu", number(mu)), ("beta", number(beta)), ("epsilon", number(epsilon))];
    assert_eq!(defaults("pkawv-nystrom"), expected);
    assert_eq!(defaults("pkrr-nystrom"), expected);

    let SampledKonsParams { alpha, gamma, beta, epsilon, clip, max_dictionary, .. } = SampledKonsParams::default();
    let expected = [
        ("alpha", number(alpha)),
        ("gamma", number(gamma)),
        ("beta", number(beta)),
        ("epsilon", number(epsilon)),
        ("clip", number(clip)),
        ("max_dictionary", optional_count(max_dictionary)),
    ];
    assert_eq!(defaults("pros-n-kons"), expected);
    assert_eq!(defaults("con-kons"), expected);

    let FogdParams { features, step, .. } = FogdParams::default();
    assert_eq!(defaults("fogd"), [("features", Value::Whole(features)), ("step", number(step))]);

    let NogdParams { budget, rank, step, radius } = NogdParams::default();
    let expected = [
        ("budget", Value::Whole(budget)),
        ("rank", Value::Whole(rank)),
        ("step", number(step)),
        ("radius", optional_number(radius)),
    ];
    assert_eq!(defaults("nogd"), expected);

    let KrlsParams { nu, lambda, forgetting, max_dictionary } = KrlsParams::default();
    let expected = [
        ("nu", number(nu)),
        ("lambda", number(lambda)),
        ("forgetting", number(forgetting)),
        ("max_dictionary", optional_count(max_dictionary)),
    ];
    assert_eq!(defaults("krls"), expected);
}

#[test]
fn rules_of_the_papers() {
    for (rounds, dimension) in [(8192, 32), (53_940, 9), (1, 1), (14_000, 8)] {
        let context = Context { rounds: Some(rounds), dimension, seed: 0 };
        let aogd = parameters("aogd-ald", &["alpha=auto", "max_dictionary=auto"], &context);
        assert_eq!(aogd[1].1, Value::Number(25.0 / rounds as f64));
        assert_eq!(aogd[2].1, Value::Whole(AogdAldParams::growth_limit_for(dimension, rounds)));
        let step = Value::Number(10.0 / (rounds as f64).sqrt());
        assert_eq!(parameters("fogd", &["step=auto"], &context)[1].1, step);
        assert_eq!(parameters("nogd", &["step=auto"], &context)[2].1, step);
        assert_eq!(parameters("nons-ald", &["alpha=auto"], &context)[1].1, Value::Number(25.0 / rounds as f64));
    }
}

/// Every rule is an expression that could be written instead.
#[test]
fn rules_can_be_written_out() {
    let context = Context { rounds: Some(1000), dimension: 7, seed: 0 };
    let mut rules = 0;
    for entry in catalogue::entries() {
        for key in entry.keys {
            let Some(rule) = key.auto else { continue };
            let (auto, written) = (format!("{}=auto", key.name), format!("{}={}", key.name, rule.formula));
            assert_eq!(parameters(entry.name, &[&auto], &context), parameters(entry.name, &[&written], &context));
            rules += 1;
        }
    }
    assert_eq!(rules, 7);
}

#[test]
fn settings_reach_the_learner() {
    let whole = parameters("fogd", &["features=d*2+0.5", " step = 1e-2 "], &CONTEXT);
    assert_eq!(whole, [("features", Value::Whole(6)), ("step", Value::Number(0.01))]);
    let none = parameters("krls", &["max_dictionary=none"], &CONTEXT);
    assert_eq!(none[3].1, Value::None);
    let settings = catalogue::find("krls").unwrap().settings(["nu=0", "max_dictionary=2"]).unwrap();
    let mut learner = settings.build(gaussian(), &CONTEXT).unwrap().learner;
    for t in 0..10 {
        learner.update(&[f64::from(t), 0.0, 0.0], 1.0).unwrap();
    }
    assert_eq!(learner.dictionary_size(), 2);
}

#[test]
fn refusals_name_the_learner_the_key_and_the_way_out() {
    for (learner, settings, expected) in [
        ("nons", &[][..], "no learner is called \"nons\" (is nons-ald meant?); the learners are kogd, aogd-ald, kons,"),
        ("svm\n", &[], "no learner is called \"svm\\n\"; the learners are"),
        ("krls", &["nu"], "the setting \"nu\" is not KEY=VALUE; the keys of krls are nu, lambda, forgetting, max_dict"),
        ("krls", &["mu=1"], "krls has no key \"mu\" (is nu meant?); its keys are nu, lambda"),
        ("krls", &["maxdict=1"], "krls has no key \"maxdict\"; its keys"),
        ("krls", &["nu=1", "nu=2"], "krls: nu is set twice"),
        ("krls", &["nu=auto"], "krls: nu cannot be auto; give a number ≥ 0, such as nu=1e-3"),
        ("kogd", &["radius=none"], "kogd: radius cannot be none; give a number > 0, such as radius=2"),
        ("krls", &["max_dictionary=auto"], "such as max_dictionary=100"),
        ("krls", &["nu=1+"], "krls: in nu=1+, at character 3: expected a number"),
        ("krls", &["nu="], "krls: in nu=, at character 1: expected a number"),
        ("nons-ald", &["alpha=auto"], "nons-ald: alpha=25/T needs T, the number of rows, which is not known here"),
        ("krls", &["nu=1/(d-3)"], "krls: nu=1/(d-3) is inf for d = 3; give a number ≥ 0"),
        ("fogd", &["features=2.5"], "fogd: features must be a whole number ≥ 1, got 2.5"),
        ("fogd", &["features=-1"], "fogd: features must be a whole number ≥ 1, got -1"),
        ("fogd", &["features=1e300"], "fogd: features must be a whole number ≥ 1, got 1e300"),
        ("fogd", &["features=1e12"], "fogd: that many frequencies take more than 1 GiB for 3 features"),
        ("fogd", &["features=0"], "fogd: features must be at least 1, got 0"),
        ("nons-ald", &["max_dictionary=0"], "nons-ald: max_dictionary must be a whole number ≥ 1, or none, got 0"),
        ("krls", &["forgetting=1.5"], "krls: forgetting must be a number in (0, 1], got 1.5"),
        ("sketched-kons", &["gamma=2"], "sketched-kons: gamma must be"),
        ("nogd", &["budget=0"], "nogd: budget must be at least 1"),
        ("kons", &["clip=-1"], "kons: clip must be a positive number, got -1"),
    ] {
        let message = refusal(learner, settings);
        assert!(message.contains(expected), "{learner} {settings:?}: {message}");
    }
}

/// Every parameter that a learner could choke on is refused by name rather than taken.
#[test]
fn negative_parameters_are_refused_everywhere() {
    for entry in catalogue::entries() {
        for key in entry.keys {
            let message = refusal(entry.name, &[&format!("{}=-1", key.name)]);
            assert!(message.contains(entry.name) && message.contains(key.name), "{message}");
        }
    }
}

#[test]
fn fogd_wants_a_gaussian() {
    for spec in ["laplace:1", "linear", "polynomial:2,1", "mix:1*gaussian:1"] {
        let settings = catalogue::find("fogd").unwrap().settings([]).unwrap();
        let error = settings.build(spec.parse().unwrap(), &CONTEXT).unwrap_err();
        assert!(matches!(&error, CatalogueError::Kernel { kernel, .. } if kernel == spec), "{error}");
        assert!(error.to_string().contains("gaussian:SIGMA"), "{error}");
    }
}

#[test]
fn values_read_back() {
    for number in [0.0, 1.0, 0.1 + 0.2, 1e-300, 1.5e300, 1e-5, 123_456_789.125, f64::MIN_POSITIVE, f64::MAX] {
        let shown = Value::Number(number).to_string();
        assert!(shown.len() < 30, "{shown}");
        assert_eq!(shown.parse::<f64>(), Ok(number));
    }
}

proptest! {
    #[test]
    fn settings_never_panic(pair in "\\PC{0,40}", value in "\\PC{0,40}") {
        for entry in catalogue::entries() {
            let keyed = format!("{}={value}", entry.keys[0].name);
            for text in [&pair, &keyed] {
                if let Err(error) = entry.settings([text.as_str()]) {
                    prop_assert_eq!(error.to_string().lines().count(), 1);
                }
            }
        }
    }
}
