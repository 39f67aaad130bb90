//! The catalogue against the learners that it describes.

use mercer::catalogue::{self, CatalogueError, Context, Settings, Value};
use mercer::experts::{Adwin, Share};
use mercer::{AnyKernel, AnyRegressor, Krls, KrlsParams, Laplace, Loss, Regressor, RegressorExt, Restarting};
use proptest::prelude::*;

const CONTEXT: Context<'_> = Context { dimension: 3, seed: 1, rows: &[], outputs: 1, classes: false, tokens: false };

fn gaussian() -> AnyKernel {
    "gaussian:1".parse().unwrap()
}

fn set(learner: &str, settings: &[&str]) -> Settings {
    Settings::new(catalogue::find(learner).unwrap(), settings.iter().copied()).unwrap()
}

fn parameters(learner: &str, settings: &[&str], context: &Context<'_>) -> Vec<(&'static str, Value)> {
    set(learner, settings).build(gaussian(), context).unwrap().parameters
}

fn refusal(learner: &str, settings: &[&str]) -> String {
    let built = catalogue::find(learner)
        .and_then(|entry| Settings::new(entry, settings.iter().copied()))
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

#[test]
fn every_default_builds_the_learner_it_names_and_learns() {
    for entry in catalogue::entries() {
        let built = Settings::new(entry, []).unwrap().build(gaussian(), &CONTEXT).unwrap();
        let mut learner = built.learner;
        let variant = match entry.name {
            "experts" => "mixture",
            "restart" => "restarting",
            "projectron++" => "projectron-plus",
            "ald-krls" => "krls",
            name => name,
        };
        assert_eq!(kebab(learner.name()), variant);
        let classifies = !entry.takes.numbers();
        let mut late = 0.0;
        for t in 0..600 {
            let x = f64::from(t) * 0.1;
            let sine = x.sin();
            let y = if classifies { 1_f64.copysign(sine) } else { sine };
            let prediction = learner.predict_then_update(&[sine, x.cos(), (2.0 * x).sin()], y).unwrap();
            let loss = if classifies { f64::from(prediction * y <= 0.0) } else { (prediction - y).powi(2) };
            late += if t < 300 { 0.0 } else { loss / 300.0 };
        }
        // Who predicts 0 suffers the mean of y², one half; who has learnt suffers a fifth of that
        // at most. Of classes these are mistakes.
        // No sum of products of two of these numbers is a sine.
        let most = if entry.name == "pairs" { 0.3 } else { 0.1 };
        assert!(late < most, "{}: {late}", entry.name);
    }
}

/// A default shown is a default used, and is written as a person would.
#[test]
fn defaults_are_those_of_the_library() {
    let mut shown = Vec::new();
    for entry in catalogue::entries() {
        let used = parameters(entry.name, &[], &CONTEXT);
        for (key, (name, value)) in entry.keys.iter().zip(used) {
            assert_eq!(key.name, name, "{}", entry.name);
            // `auto` comes to a value.
            assert!(key.default() == value || key.default() == Value::Words("auto".to_owned()), "{}", entry.name);
        }
        let keys: Vec<String> = entry.keys.iter().map(|key| format!("{}={}", key.name, key.default_text())).collect();
        shown.push((entry.name, keys.join(" ")));
    }
    let shown = |name: &str| shown.iter().find(|(entry, _)| *entry == name).unwrap().1.as_str();
    assert_eq!(
        shown("nons-ald"),
        "mu=1 alpha=1e-3 radius=1 label_bound=1 max_dictionary=1000 loss=squared removal=never steps=short"
    );
    assert_eq!(shown("krls"), "nu=1e-3 lambda=0.1 forgetting=1 max_dictionary=1000 forgets=directional removal=never");
    assert_eq!(shown("kons"), "mu=1 eta=0.125 clip=none loss=squared");
    assert_eq!(shown("fogd"), "features=400 step=0.1 loss=squared");
    assert_eq!(shown("experts"), "members=nons-ald;krls;aogd-ald rule=ml-poly share=0");
    assert_eq!(shown("restart"), "learner=krls detector=page-hinkley threshold=50 tolerance=0.5 delta=2e-3");
    assert_eq!(shown("auto"), "rule=ml-poly neighbours=32 budget=2000000");
    assert_eq!(shown("mknlms-cs"), "kernels=auto eta=0.1 delta=0.995 eps=1 max_dictionary=500");
}

/// Losses reach the learner; classes choose their own where none is set.
#[test]
fn losses_and_classes() {
    let built = |learner: &str, settings: &[&str], context: &Context<'_>| {
        set(learner, settings).build(gaussian(), context).unwrap()
    };
    let two = Context { classes: true, ..CONTEXT };
    let many = Context { classes: true, outputs: 4, ..CONTEXT };
    let vector = Context { outputs: 4, ..CONTEXT };
    assert_eq!(built("kogd", &["loss=huber:0.5"], &CONTEXT).learner.loss().to_string(), "huber:0.5");
    for learner in ["kogd", "aogd-ald", "fogd", "nogd", "nons-ald", "pros-n-kons", "con-kons"] {
        assert_eq!(built(learner, &[], &two).learner.loss(), Loss::LOGISTIC, "{learner}");
        let of_four = built(learner, &[], &many).learner;
        assert_eq!((of_four.loss(), of_four.outputs()), (Loss::SOFTMAX, 4), "{learner}");
        assert_eq!(built(learner, &["loss=squared"], &two).learner.loss(), Loss::SQUARED, "{learner}");
    }
    for learner in ["kons", "sketched-kons"] {
        assert_eq!(built(learner, &[], &two).learner.loss(), Loss::LOGISTIC);
    }
    for learner in ["krls", "kernel-krr", "kernel-awv", "pkawv-taylor", "pkrr-taylor", "auto"] {
        for context in [&many, &vector] {
            let learner = built(learner, &[], context).learner;
            assert_eq!((learner.loss(), learner.outputs()), (Loss::SQUARED, 4));
        }
    }
    let radius = |settings: &[&str], context| built("nons-ald", settings, context).parameters[2].1.clone();
    assert_eq!(radius(&[], &two), Value::Number(2.0));
    assert_eq!(radius(&["radius=1"], &two), Value::Number(1.0));
    assert_eq!(radius(&[], &CONTEXT), Value::Number(1.0));
    // A mixture stays one of squared losses.
    let AnyRegressor::Mixture(_) = built("experts", &[], &two).learner else { panic!("a mixture") };
    for (learner, context, expected) in [
        ("kons", &many, "kons has one output, and cannot learn 4 classes; take kogd, aogd-ald, nons-ald"),
        ("nons-ald", &vector, "nons-ald has one output, and cannot learn 4 numbers; take kogd, aogd-ald, fogd"),
        ("kons", &vector, "kons has one output"),
    ] {
        let message = set(learner, &[]).build(gaussian(), context).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_time_stands_for_the_budget_that_takes_it() {
    let context = Context { dimension: 3, ..Context::default() };
    let settings = set("auto", &["budget=20ms"]);
    assert_eq!((settings.measured(), set("auto", &["budget=2e6"]).measured()), (Some("budget"), None));
    assert_eq!(set("experts", &["members=krls;auto budget=5us"]).measured(), Some("budget"));
    let built = settings.build(gaussian(), &context).unwrap();
    let Value::Whole(budget) = built.parameters[2].1 else { panic!("{:?}", built.parameters) };
    assert!(budget > 100_000, "{budget}");
    // The number it came to makes the same learner.
    let again = parameters("auto", &[&format!("budget={budget}")], &context);
    assert_eq!(again, built.parameters);
    let error = set("auto", &["budget=1e-9us"]).build(gaussian(), &context).unwrap_err().to_string();
    assert!(error.contains("budget") && error.contains("time"), "{error}");
    assert!(refusal("auto", &["budget=5 hours"]).contains("budget"));
    assert!(refusal("fogd", &["features=5us"]).contains("features"));
}

#[test]
fn settings_reach_the_learner() {
    let whole = parameters("fogd", &["features=6", " step = 1e-2 "], &CONTEXT);
    assert_eq!(whole[..2], [("features", Value::Whole(6)), ("step", Value::Number(0.01))]);
    let none = parameters("krls", &["max_dictionary=none"], &CONTEXT);
    assert_eq!(none[3].1, Value::None);
    let settings = set("krls", &["nu=0", "max_dictionary=2"]);
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
        ("krls", &["nu=1+"], "krls: nu must be a number ≥ 0, got \"1+\""),
        ("krls", &["nu="], "krls: nu must be a number ≥ 0, got \"\""),
        ("krls", &["nu=inf"], "krls: nu must be a number ≥ 0, got \"inf\""),
        ("nons-ald", &["alpha=25/T"], "nons-ald: alpha must be a number ≥ 0, got \"25/T\""),
        ("fogd", &["features=2.5"], "fogd: features must be a whole number ≥ 1, got 2.5"),
        ("fogd", &["features=-1"], "fogd: features must be a whole number ≥ 1, got -1"),
        ("fogd", &["features=1e300"], "fogd: features must be a whole number ≥ 1, got 1e300"),
        ("fogd", &["features=1e12"], "fogd: that many frequencies take more than 1 GiB for 3 features"),
        ("fogd", &["features=0"], "fogd: features must be a whole number ≥ 1, got 0"),
        ("nons-ald", &["max_dictionary=0"], "nons-ald: max_dictionary must be a whole number ≥ 1, or none, got 0"),
        ("krls", &["forgetting=1.5"], "krls: forgetting must be a number above 0, at most 1, got 1.5"),
        ("sketched-kons", &["gamma=2"], "sketched-kons: gamma must be"),
        ("nogd", &["budget=0"], "nogd: budget must be a whole number ≥ 1, got 0"),
        ("kons", &["clip=-1"], "kons: clip must be a number > 0, or none, got -1"),
        (
            "pkawv-taylor",
            &["centre=1,2"],
            "pkawv-taylor: centre has 2 numbers for 3 features; give one, or one a feature",
        ),
        ("pkawv-taylor", &["centre=1,x,2"], "pkawv-taylor: centre must be"),
        ("pkawv-taylor", &["centre=auto"], "pkawv-taylor: centre=auto needs the first rows, which is not known here"),
        ("pkawv-taylor", &["degree=400"], "pkawv-taylor: 10827401 Taylor features of degree 400"),
        ("experts", &["rule=hedge"], "experts: rule must be ewa, boa or ml-poly, got \"hedge\""),
        ("experts", &["rule=auto"], "experts: rule must be ewa, boa or ml-poly, got \"auto\""),
        (
            "experts",
            &["members= ; "],
            "experts: in members, a mixture needs a member; list learners, such as nons-ald;",
        ),
        ("experts", &["members=krls; nons"], "experts: in members, no learner is called \"nons\" (is nons-ald meant?)"),
        (
            "experts",
            &["members=krls; perceptron"],
            "experts: in members, perceptron only classifies, and a mixture learns numbers; list learners for numbers, such as",
        ),
        ("rbp", &["budget=0"], "rbp: budget must be a whole number ≥ 1, got 0"),
        ("pa", &["variant=3"], "pa: variant must be 1 or 2, got \"3\""),
        ("bogd", &["eta=3", "lambda=1"], "bogd: lambda must be at most 1/eta, got 1"),
        ("projectron++", &["eta=0"], "projectron++: eta must be a number > 0, got 0"),
        ("perceptron", &["budget=9"], "perceptron has no key \"budget\""),
        ("experts", &["members=krls mu=2"], "experts: in members, krls has no key \"mu\" (is nu meant?)"),
        ("experts", &["members=krls nu=-2"], "experts: in members, krls: nu must be a number ≥ 0, got -2"),
        ("experts", &["members=krls kernel=rbf:1"], "experts: in members, no kernel is called \"rbf:1\""),
        ("experts", &["members=fogd kernel=linear"], "experts: in members, fogd cannot use the kernel linear"),
        ("experts", &["members=krls kernel=linear kernel=linear"], "experts: in members, krls: kernel is set twice"),
        (
            "experts",
            &["share=0.1"],
            "experts: share must be 0 under the rule ml-poly; take the rule ewa or boa, got 0.1",
        ),
        ("experts", &["share=1", "rule=boa"], "experts: share must be a number of at least 0, below 1, got 1"),
        ("restart", &["learner= "], "restart: in learner, \"\" is not one learner; give a name with its settings"),
        ("restart", &["learner=krls; fogd"], "restart: in learner, \"krls; fogd\" is not one learner"),
        ("restart", &["learner=krls nu=-2"], "restart: in learner, krls: nu must be a number ≥ 0, got -2"),
        ("restart", &["detector=ddm"], "restart: detector must be page-hinkley or adwin, got \"ddm\""),
        ("restart", &["delta=1"], "restart: delta must be above 0 and below 1, got 1"),
        (
            "experts",
            &["members=krls; restart learner=(krls mu=2)"],
            "experts: in members, restart: in learner, krls has no key \"mu\" (is nu meant?)",
        ),
        ("kons", &["loss=hinge"], "kons: loss must be squared or logistic, got \"hinge\""),
        ("kogd", &["loss=huber"], "kogd: in loss, the loss \"huber\" needs the form huber:δ"),
        ("kogd", &["loss=l2"], "kogd: in loss, there is no loss \"l2\"; the losses are squared, absolute"),
        ("krls", &["forgets=all"], "krls: forgets must be directional, exponential or prior, got \"all\""),
        ("krls", &["forgets=prior", "lambda=0"], "krls: lambda must be positive to forget back to the prior, got 0"),
        ("auto", &["budget=999"], "auto: budget must be at least 1000, got 999"),
    ] {
        let message = refusal(learner, settings);
        assert!(message.contains(expected), "{learner} {settings:?}: {message}");
    }
}

/// Every parameter that a learner could choke on is refused by name rather than taken.
#[test]
fn negative_parameters_are_refused_everywhere() {
    for entry in catalogue::entries() {
        // A centre may lie anywhere.
        for key in entry.keys.iter().filter(|key| key.name != "centre") {
            let message = refusal(entry.name, &[&format!("{}=-1", key.name)]);
            assert!(message.contains(entry.name) && message.contains(key.name), "{message}");
        }
    }
}

/// The centre and the radius look at the rows they are shown.
#[test]
fn rules_that_look_at_the_data() {
    let rows = [0.5, 1.0, 0.0, 1.5, 1.0, 0.0, 1.0, 1.0, 0.3];
    let context = Context { dimension: 3, rows: &rows, ..Context::default() };
    let centred = parameters("pkawv-taylor", &["centre=auto"], &context);
    let Value::Numbers(centre) = &centred[1].1 else { panic!("{centred:?}") };
    assert!(centre.iter().zip([1.0, 1.0, 0.1]).all(|(a, b)| (a - b).abs() < 1e-15), "{centre:?}");
    let given = parameters("pkrr-taylor", &["centre=-1,3,2", "degree=1"], &context);
    assert_eq!(given[1].1.to_string(), "-1,3,2");
    assert_eq!(parameters("pkrr-taylor", &["centre=2"], &context)[1].1, Value::Number(2.0));
    assert_eq!(parameters("pkawv-taylor", &[], &context)[1].1, centred[1].1);
    // A default can do without rows; what is asked for cannot.
    assert_eq!(parameters("pkawv-taylor", &[], &CONTEXT)[1].1, Value::None);
    // The last row is the nearest to both others, √0.34 away.
    let Value::Number(radius) = parameters("qklms", &[], &context)[1].1 else { panic!("a number") };
    assert!((radius - 0.34_f64.sqrt()).abs() < 1e-15, "{radius}");
    assert_eq!(parameters("qklms", &[], &CONTEXT)[1].1, Value::Number(0.1));
}

/// A learner is as good far from the origin as near it, if its features are centred there.
#[test]
fn the_centre_reaches_the_features() {
    let loss = |settings: &[&str], shift: f64| {
        let row = |t: u32| [1, 3, 7].map(|k| shift + (f64::from(k * t)).sin());
        let rows: Vec<f64> = (0..50).flat_map(row).collect();
        let context = Context { dimension: 3, rows: &rows, ..Context::default() };
        let settings = set("pkawv-taylor", settings);
        let mut learner = settings.build(gaussian(), &context).unwrap().learner;
        let loss = |t| {
            let y = f64::from(t).sin();
            (learner.predict_then_update(&row(t), y).unwrap() - y).powi(2)
        };
        (0..300).map(loss).sum::<f64>()
    };
    let near = loss(&[], 0.0);
    assert!(loss(&["centre=auto"], 20.0) < 1.1 * near && loss(&["centre=20"], 20.0) < 1.1 * near);
    let uncentred = loss(&["centre=none"], 20.0);
    assert!(uncentred > 3.0 * near, "{uncentred} {near}");
}

#[test]
fn members_are_built_as_they_are_written() {
    let settings = ["members=nons-ald mu=5; krls  lambda=0.3 kernel=laplace:2;nons-ald", "rule=boa"];
    let settings = set("experts", &settings);
    let built = settings.build(gaussian(), &CONTEXT).unwrap();
    assert_eq!(built.parameters[1], ("rule", Value::Words("boa".to_owned())));
    let AnyRegressor::Mixture(mut mixture) = built.learner else { panic!("a mixture") };
    let names: Vec<String> = mixture.members().map(|member| member.name.to_owned()).collect();
    assert_eq!(names, ["nons-ald mu=5", "krls lambda=0.3 kernel=laplace:2", "nons-ald"]);
    let params = KrlsParams::default().lambda(0.3);
    let mut alone = Krls::new(Laplace::new(2.0).unwrap(), 3, params).unwrap();
    let (mut loss, mut low, mut high) = (0.0, 0.0_f64, 0.0_f64);
    for t in 0..100 {
        let x = [1, 3, 7].map(|k| f64::from(k * t).sin());
        let y = x[0] * x[1];
        mixture.update(&x, y).unwrap();
        loss += (alone.predict_then_update(&x, y).unwrap().clamp(low, high) - y).powi(2);
        (low, high) = (low.min(y), high.max(y));
    }
    let member = mixture.members().nth(1).unwrap().cumulative_loss;
    assert!((member - loss).abs() < 1e-9 * loss, "{member} is not {loss}");
}

/// Members that forget, and members that start anew, whose learner stands in parentheses with
/// settings and members of its own.
#[test]
fn members_may_forget_and_start_anew() {
    let members = "members=krls forgetting=0.99 lambda=0.1; fogd features=50; \
                   restart learner=(krls lambda=0.2 kernel=laplace:2) detector=adwin delta=0.03; \
                   restart learner=(experts members=(krls; restart learner=fogd) rule=boa)";
    let settings = set("experts", &[members, "rule=ewa", "share=auto"]);
    let built = settings.build(gaussian(), &CONTEXT).unwrap();
    assert_eq!(built.parameters[2], ("share", Value::Words("auto".to_owned())));
    let AnyRegressor::Mixture(mut mixture) = built.learner else { panic!("a mixture") };
    assert_eq!(mixture.aggregation().share(), Share::Decreasing);
    let names: Vec<String> = mixture.members().map(|member| member.name.to_owned()).collect();
    assert_eq!(names[2], "restart learner=(krls lambda=0.2 kernel=laplace:2) detector=adwin delta=0.03");
    let alone = Krls::new(Laplace::new(2.0).unwrap(), 3, KrlsParams::default().lambda(0.2)).unwrap();
    let mut alone = Restarting::new(alone, Adwin::new(0.03).unwrap());
    let (mut loss, mut low, mut high) = (0.0, 0.0_f64, 0.0_f64);
    for t in 0..300 {
        let x = [1, 3, 7].map(|k| f64::from(k * t).sin());
        let y = if t < 150 { x[0] * x[1] } else { 3.0 - x[1] };
        mixture.update(&x, y).unwrap();
        loss += (alone.predict_then_update(&x, y).unwrap().clamp(low, high) - y).powi(2);
        (low, high) = (low.min(y), high.max(y));
    }
    assert_eq!(alone.restarts(), 1);
    let member = mixture.members().nth(2).unwrap();
    assert!(member.active && (member.cumulative_loss - loss).abs() < 1e-9 * loss, "{member:?} is not {loss}");
    let share = |share: &str| {
        let built = set("experts", &["rule=boa", share]).build(gaussian(), &CONTEXT).unwrap();
        let AnyRegressor::Mixture(mixture) = built.learner else { panic!("a mixture") };
        mixture.aggregation().share()
    };
    assert_eq!((share("share=0.01"), share("share=0")), (Share::Fixed(0.01), Share::Fixed(0.0)));
    // Too deep to be saved, and for the stack.
    let deep = format!("learner={}krls{}", "(restart learner=".repeat(10_000), ")".repeat(10_000));
    assert!(refusal("restart", &[&deep]).contains("at most 16 learners may be one inside the other"));
}

/// A learner that starts anew learns what it is made for: several numbers, classes.
#[test]
fn what_starts_anew_learns_what_its_learner_learns() {
    let built = |learner: &str, context: &Context<'_>| set("restart", &[learner]).build(gaussian(), context);
    let many = Context { classes: true, outputs: 4, ..CONTEXT };
    let learner = built("learner=fogd", &many).unwrap().learner;
    assert_eq!((learner.outputs(), learner.loss()), (4, Loss::SOFTMAX));
    let learner = built("learner=krls", &Context { outputs: 4, ..CONTEXT }).unwrap().learner;
    assert_eq!((learner.outputs(), learner.loss()), (4, Loss::SQUARED));
    let refused = built("learner=kons", &many).unwrap_err().to_string();
    assert!(refused.starts_with("restart: in learner, kons has one output, and cannot learn 4 classes"), "{refused}");
}

#[test]
fn fogd_wants_a_gaussian() {
    for spec in ["laplace:1", "linear", "polynomial:2,1", "mix:1*gaussian:1"] {
        let settings = set("fogd", &[]);
        let error = settings.build(spec.parse().unwrap(), &CONTEXT).unwrap_err();
        assert!(matches!(&error, CatalogueError::Kernel { kernel, .. } if kernel == spec), "{error}");
        assert!(error.to_string().contains("gaussian:SIGMA"), "{error}");
    }
}

#[test]
fn lists_of_kernels_read_back() {
    for list in ["gaussian:1;linear", "polynomial:3,1;", "polynomial:3,1;mix:1*gaussian:1+2*linear", "laplace:0.5"] {
        let shown = parameters("mxklms", &[&format!("kernels={list}")], &CONTEXT)[0].1.to_string();
        assert_eq!(shown, list);
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
            let keyed = format!("{}={value}", entry.keys.first().map_or("key", |key| key.name));
            for text in [&pair, &keyed] {
                if let Err(error) = Settings::new(entry, [text.as_str()]) {
                    prop_assert_eq!(error.to_string().lines().count(), 1);
                }
            }
        }
    }
}
