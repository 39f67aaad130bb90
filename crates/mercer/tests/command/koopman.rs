//! `mercer koopman`: what is printed is what the library learns, and every option does what it
//! says.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use mercer::koopman::{Budget, BudgetTest, DictionaryShape, OperatorLearner, Sogd, SogdParams, StepSchedule};
use mercer::streams::{Ar1, Duffing, FiniteChain, Pairs};
use mercer::{AnyKernel, median_width};
use serde_json::Value;

use crate::support::{Folder, object};

const KEYS: [&str; 8] = [
    "pairs",
    "dictionary_size",
    "dictionary_indices",
    "hs_norm",
    "forced_rejections",
    "full_rejections",
    "eigenvalues",
    "seconds",
];

pub(crate) fn oscillator(n: usize) -> Pairs {
    Duffing::default().pairs(n, 1, 5).unwrap()
}

/// x⁺ = 0.9 x at 4000 states of [−1, 1].
fn contraction() -> Pairs {
    let mut pairs = Pairs::new(1, 1);
    for t in 0..4000 {
        let x = (f64::from(t) * 0.7).sin();
        pairs.push(&[x], &[0.9 * x]);
    }
    pairs
}

fn rows(pairs: &Pairs) -> Vec<Vec<f64>> {
    pairs.iter().map(|(x, next)| [x, next].concat()).collect()
}

fn lines(pairs: &Pairs, separator: &str) -> String {
    let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(separator) + "\n";
    rows(pairs).iter().map(line).collect()
}

pub(crate) fn csv(pairs: &Pairs) -> String {
    lines(pairs, ",")
}

/// A report without what the clock says.
fn timeless(mut report: Value) -> Value {
    assert!(report.as_object_mut().unwrap().remove("seconds").unwrap().as_f64().unwrap() > 0.0);
    report
}

fn kernel(spec: &str) -> AnyKernel {
    spec.parse().unwrap()
}

fn learnt(pairs: &Pairs, spec: &str, params: SogdParams) -> Sogd<AnyKernel> {
    let (d, d_plus) = (pairs.input_dimension(), pairs.output_dimension());
    let mut learner = Sogd::new(kernel(spec), d, kernel(spec), d_plus, params).unwrap();
    for (x, next) in pairs.iter() {
        learner.update(x, next).unwrap();
    }
    learner
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The command's numbers are the library's, to the last bit.
fn agrees(report: &Value, learner: &Sogd<AnyKernel>) {
    let indices: Vec<u64> =
        report["dictionary_indices"].as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect();
    assert_eq!(indices, learner.input_rounds());
    assert_eq!(report["dictionary_size"].as_u64(), Some(indices.len() as u64));
    assert_eq!(report["hs_norm"].as_f64(), Some(learner.operator().hs_norm()));
    assert_eq!(report["forced_rejections"].as_u64(), Some(learner.forced_rejections()));
    let eigenvalues = learner.operator().eigenvalues().unwrap();
    for (printed, value) in report["eigenvalues"].as_array().unwrap().iter().zip(&eigenvalues) {
        assert_eq!((printed["re"].as_f64(), printed["im"].as_f64()), (Some(value.re), Some(value.im)));
    }
}

#[test]
fn json_has_exactly_the_keys_of_the_contract_in_their_order() {
    let folder = Folder::new().with("pairs.csv", csv(&oscillator(300)));
    let text = folder.done("koopman pairs.csv --method sogd --set kernel=gaussian:0.25 --json");
    let report = object(&text);
    let position = |key: &&str| text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key} in {text}"));
    assert!(KEYS.iter().map(position).is_sorted(), "{text}");
    assert_eq!(report.as_object().unwrap().len(), KEYS.len());
    assert_eq!(report["pairs"].as_u64(), Some(300));
    let eigenvalues = report["eigenvalues"].as_array().unwrap();
    assert_eq!(eigenvalues.len(), 10);
    assert!(eigenvalues.iter().all(|value| value.as_object().unwrap().len() == 2));
    let modulus = |value: &Value| value["re"].as_f64().unwrap().hypot(value["im"].as_f64().unwrap());
    assert!(eigenvalues.windows(2).all(|pair| modulus(&pair[0]) >= modulus(&pair[1]) - 1e-12));
    assert_eq!(report["dictionary_indices"][0].as_u64(), Some(0));
    agrees(&report, &learnt(&oscillator(300), "gaussian:0.25", falling()));
}

/// The command's default: the step falls, the budget does not.
fn falling() -> SogdParams {
    let step = StepSchedule::Power { eta: 1.5, exponent: 0.6, offset: 10.0 };
    SogdParams::default().step(step).budget(Budget::Constant(0.1 * step.at(1) * step.at(1)))
}

#[test]
fn every_option_is_the_librarys_parameter() {
    let pairs = oscillator(400);
    let folder = Folder::new().with("pairs.csv", csv(&pairs));
    let default = falling();
    let budget = Budget::Constant(0.05);
    for (options, params) in [
        ("--set eta=0.2", default.step(StepSchedule::Constant(0.2)).budget(Budget::Constant(0.1 * 0.2 * 0.2))),
        ("--set lambda=0.01", default.lambda(0.01)),
        ("--set budget=0.05", default.budget(budget)),
        ("--set budget=0.5 --set budget_schedule=eta-squared", default.budget(Budget::EtaSquared(0.5))),
        (
            "--set eta=2 --set eta_schedule=power:0.75,30 --set budget=0.1 --set budget_schedule=eta-squared",
            default
                .step(StepSchedule::Power { eta: 2.0, exponent: 0.75, offset: 30.0 })
                .budget(Budget::EtaSquared(0.1)),
        ),
        ("--set budget=0.05 --set budget_test=squared", default.budget(budget).test(BudgetTest::Squared)),
        ("--set budget=0.05 --set budget_test=output-ald", default.budget(budget).test(BudgetTest::OutputAld)),
        ("--set budget=0.05 --set rank_guard=0.3", default.budget(budget).rank_guard(0.3)),
        ("--set max_dictionary=20", default.max_dictionary(Some(20))),
        ("--set max_dictionary=none", default.max_dictionary(None)),
    ] {
        let report = folder.json(&format!("koopman pairs.csv --method sogd --set kernel=laplace:0.5 {options}"));
        agrees(&report, &learnt(&pairs, "laplace:0.5", params));
    }
    let report = folder.json("koopman pairs.csv --method sogd");
    let inputs = pairs.inputs();
    agrees(&report, &learnt(&pairs, &format!("gaussian:{}", median_width(2, inputs)), falling()));
    for (options, count) in
        [("--eigen 0", 0), ("--eigen 3", 3), ("--eigen 100000", report["dictionary_size"].as_u64().unwrap())]
    {
        let eigenvalues = folder.json(&format!("koopman pairs.csv --method sogd {options}"))["eigenvalues"].clone();
        assert_eq!(eigenvalues.as_array().unwrap().len() as u64, count);
    }
}

#[test]
fn every_format_gives_the_same_from_a_file_gzipped_and_from_standard_input() {
    let pairs = oscillator(500);
    let names = ["z", "v", "z2", "v2"];
    let object_line = |row: &Vec<f64>| {
        let cells: Vec<String> = names.iter().zip(row).map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}\n", cells.join(","))
    };
    let texts = [
        ("csv", csv(&pairs)),
        ("csv", format!("{}\n{}", names.join(","), csv(&pairs))),
        ("tsv", lines(&pairs, "\t")),
        ("ndjson", rows(&pairs).iter().map(object_line).collect()),
    ];
    let mut reports = Vec::new();
    for (format, text) in texts {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = encoder.finish().unwrap();
        let folder = Folder::new().with(&format!("p.{format}"), &text).with(&format!("p.{format}.gz"), &packed);
        reports.push(folder.json(&format!("koopman p.{format} --method sogd")));
        reports.push(folder.json(&format!("koopman p.{format}.gz --method sogd")));
        reports.push(folder.json_of(text.as_bytes(), &format!("koopman - --format {format} --method sogd")));
        reports.push(folder.json_of(&packed, &format!("koopman - --format {format} --state-dim 2 --method sogd")));
    }
    let reports: Vec<Value> = reports.into_iter().map(timeless).collect();
    assert_eq!(reports.len(), 16);
    assert!(reports.iter().all(|report| *report == reports[0]));
}

/// On linear functions the Koopman operator of a linear map is the map.
#[test]
fn a_spiral_has_its_own_eigenvalues() {
    let mut pairs = Pairs::new(2, 2);
    for t in 0..500 {
        let (x, y) = (f64::from(t) * 0.7).sin_cos();
        let (sin, cos) = 0.5_f64.sin_cos();
        pairs.push(&[x, y], &[0.9 * (cos * x - sin * y), 0.9 * (sin * x + cos * y)]);
    }
    let folder = Folder::new().with("pairs.csv", csv(&pairs));
    let report = folder.json("koopman pairs.csv --method sogd --set kernel=linear --set eta=0.5");
    assert_eq!(report["dictionary_size"].as_u64(), Some(2));
    for (value, sign) in report["eigenvalues"].as_array().unwrap().iter().zip([1.0, -1.0]) {
        let (re, im) = (value["re"].as_f64().unwrap(), value["im"].as_f64().unwrap());
        assert!((re - 0.9 * 0.5_f64.cos()).abs() < 1e-9 && (im - sign * 0.9 * 0.5_f64.sin()).abs() < 1e-9, "{report}");
    }
}

/// From 0 to 0 or 1, evenly, and from 1 to 0. Behind the pair 0, 0 none is new on both of its
/// sides.
#[test]
fn a_finite_chain_is_found_by_the_default_shape() {
    let chain = FiniteChain::new(1, vec![0.0, 1.0], vec![0.5, 0.5, 1.0, 0.0]).unwrap();
    let mut pairs = Pairs::new(1, 1);
    pairs.push(&[0.0], &[0.0]);
    chain.pairs(20_000, 3).iter().for_each(|(x, next)| pairs.push(x, next));
    let folder = Folder::new().with("chain.csv", csv(&pairs)).with("states.csv", "0\n1\n");
    let arguments = "koopman chain.csv --method sogd --set kernel=gaussian:0.7 --set eta=10 --set eta_schedule=power:1,20 --predict states.csv";
    for shape in ["", "--set dictionary_shape=rectangular"] {
        let report = folder.json(&format!("{arguments} {shape}"));
        let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 0.03;
        let eigenvalues = report["eigenvalues"].as_array().unwrap();
        assert!(near(&eigenvalues[0]["re"], 1.0) && near(&eigenvalues[1]["re"], -0.5), "{report}");
        let forecasts = report["predictions"].as_array().unwrap();
        assert!(near(&forecasts[0][0], 0.5) && near(&forecasts[1][0], 0.0), "{report}");
        assert_eq!(report["forced_rejections"].as_u64(), Some(0), "{report}");
        assert!(!folder.done(&format!("{arguments} {shape}")).contains("Note"));
    }
}

/// States on a fine grid are no repetitions, but soon dependent: the report names the way out.
#[test]
fn many_forced_rejections_name_the_rectangular_shape() {
    let mut pairs = Pairs::new(1, 1);
    for t in 0..1000 {
        let x = f64::from(t * 7 % 33) / 16.0 - 1.0;
        pairs.push(&[x], &[6.0 * x * x + (0.618 * f64::from(t)).fract() - 3.0]);
    }
    let folder = Folder::new().with("grid.csv", csv(&pairs));
    let paired = folder.done("koopman grid.csv --method sogd --set kernel=gaussian:1 --set eta=0.3");
    assert!(
        paired.contains("Note: ") && paired.contains("--set dictionary_shape=rectangular keeps the new side"),
        "{paired}"
    );
    let rectangular = folder.done(
        "koopman grid.csv --method sogd --set kernel=gaussian:1 --set eta=0.3 --set dictionary_shape=rectangular",
    );
    assert!(!rectangular.contains("Note: "), "{rectangular}");
}

#[test]
fn forecasts_follow_the_map_and_are_the_same_everywhere() {
    let folder = Folder::new()
        .with("pairs.csv", format!("x,x_next\n{}", csv(&contraction())))
        .with("queries.csv", "0.5\n-0.25\n0\n");
    let arguments = "koopman pairs.csv --method sogd --set kernel=gaussian:0.5 --set eta=0.9 --set budget=1e-6 --predict queries.csv";
    for (steps, factor) in [(1, 0.9), (3, 0.729)] {
        let report = folder.json(&format!("{arguments} --steps {steps} --predictions out.csv"));
        let forecasts: Vec<f64> = report["predictions"].as_array().unwrap().iter().flat_map(floats).collect();
        for (forecast, query) in forecasts.iter().zip([0.5, -0.25, 0.0]) {
            assert!((forecast - factor * query).abs() < 0.02, "{steps}: {report}");
        }
        let text = folder.read("out.csv");
        let written: Vec<f64> = text.lines().skip(1).map(|line| line.parse().unwrap()).collect();
        assert_eq!((text.lines().next(), written), (Some("x_next"), forecasts.clone()));
        // Without a file they are shown.
        let shown = folder.done(&format!("{arguments} --steps {steps}"));
        assert!(shown.ends_with(&text), "{shown}");
        let summary = folder.done(&format!("{arguments} --steps {steps} --predictions out.csv"));
        assert!(!summary.contains("x_next"), "{summary}");
    }
    assert_eq!(folder.json(arguments)["predictions"], folder.json(&format!("{arguments} --steps 1"))["predictions"]);
    assert!(folder.json("koopman pairs.csv").get("predictions").is_none());
}

/// The two files are the whole operator: with them a forecast can be made by hand.
#[test]
fn weights_and_dictionary_make_up_the_operator() {
    let pairs = oscillator(300);
    let folder = Folder::new().with("pairs.csv", csv(&pairs)).with("q.csv", "0.5,0.25\n-1,1\n");
    let arguments = "koopman pairs.csv --method sogd --set kernel=gaussian:0.5 --set rank_guard=1e-4 --predict q.csv";
    let report = folder.json(&format!("{arguments} --weights w.csv --dictionary d.csv"));
    let table = |text: &str| -> Vec<Vec<f64>> {
        text.lines().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
    };
    let weights = table(&folder.read("w.csv"));
    let text = folder.read("d.csv");
    let (header, body) = text.split_once('\n').unwrap();
    assert_eq!(header, "index,x1,x2,next1,next2");
    let kept = table(body);
    let size = report["dictionary_size"].as_u64().unwrap() as usize;
    assert_eq!((kept.len(), weights.len(), weights[0].len()), (size, size, size));
    for (row, index) in kept.iter().zip(report["dictionary_indices"].as_array().unwrap()) {
        assert_eq!(row[0], index.as_f64().unwrap());
        assert_eq!(row[1..], rows(&pairs)[row[0] as usize]);
    }
    for (query, printed) in [[0.5, 0.25], [-1.0, 1.0]].iter().zip(report["predictions"].as_array().unwrap()) {
        let similar: Vec<f64> =
            kept.iter().map(|row| (-((row[1] - query[0]).powi(2) + (row[2] - query[1]).powi(2)) / 0.5).exp()).collect();
        let alpha: Vec<f64> =
            weights.iter().map(|row| row.iter().zip(&similar).map(|(w, k)| w * k).sum::<f64>()).collect();
        for (coordinate, printed) in floats(printed).into_iter().enumerate() {
            let mean = kept.iter().map(|row| row[3 + coordinate]).sum::<f64>() / size as f64;
            let change: f64 = kept.iter().zip(&alpha).map(|(row, a)| a * (row[3 + coordinate] - mean)).sum();
            assert!((mean + change - printed).abs() < 1e-8, "{} {printed}", mean + change);
        }
    }
}

#[test]
fn rectangular_dictionaries_keep_each_side_on_its_own() {
    let pairs = oscillator(600);
    let folder = Folder::new().with("pairs.csv", csv(&pairs));
    let arguments = "koopman pairs.csv --method sogd --set kernel=gaussian:0.5 --set dictionary_shape=rectangular --set budget=0.05";
    let report = folder.json(&format!("{arguments} --dictionary d.csv --weights w.csv"));
    let params = falling().shape(DictionaryShape::Rectangular).budget(Budget::Constant(0.05));
    let learner = learnt(&pairs, "gaussian:0.5", params);
    let sides = (learner.output_rounds().len(), learner.input_rounds().len());
    assert_ne!(sides.0, sides.1);
    let weights = folder.read("w.csv");
    assert_eq!((weights.lines().count(), weights.lines().next().unwrap().split(',').count()), sides);
    let dictionary = folder.read("d.csv");
    let cells: Vec<Vec<&str>> = dictionary.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(cells.len() as u64, report["dictionary_size"].as_u64().unwrap());
    assert_eq!(cells.iter().filter(|row| !row[1].is_empty()).count(), sides.1);
    assert_eq!(cells.iter().filter(|row| !row[3].is_empty()).count(), sides.0);
    assert!(cells.iter().all(|row| row.len() == 5 && !(row[1].is_empty() && row[3].is_empty())));
}

/// x = (state, action), x⁺ = 0.5 state + action.
#[test]
fn an_action_beside_the_state() {
    let (mut text, mut state) = ("s,u,s_next\n".to_owned(), 0.3_f64);
    for t in 0..600 {
        let action = 0.5 * (f64::from(t) * 1.3).sin();
        let next = 0.5 * state + action;
        text += &format!("{state},{action},{next}\n");
        state = next;
    }
    let folder = Folder::new().with("moves.csv", text).with("q.csv", "s,u\n0.2,0.3\n");
    for dimensions in ["--input-dim 2", "--input-dim 2 --state-dim 1", "--input-dim 1", "--input-dim 1 --state-dim 1"] {
        let report = folder.json(&format!(
            "koopman moves.csv {dimensions} --method sogd --set eta=0.9 --set budget=1e-4 --predict q.csv"
        ));
        let forecast = report["predictions"][0][0].as_f64().unwrap();
        assert!((forecast - 0.4).abs() < 0.05, "{report}");
        assert_eq!(report["eigenvalues"].as_array().unwrap().len(), 0);
    }
    folder.refused(
        2,
        "koopman moves.csv --method sogd --input-dim 2 --eigen 3",
        &["--eigen", "action", "--method sums"],
    );
    folder.refused(
        2,
        "koopman moves.csv --method sogd --input-dim 2 --predict q.csv --steps 2",
        &["--steps", "one step"],
    );
}

#[test]
fn a_person_reads_the_same_numbers() {
    let folder = Folder::new().with("pairs.csv", csv(&Ar1::default().pairs(400, 1).unwrap()));
    let report = folder.json("koopman pairs.csv --method sogd --eigen 2");
    let text = folder.done("koopman pairs.csv --method sogd --eigen 2");
    assert!(text.starts_with("Koopman operator of pairs.csv: 400 pairs, x of 1 and x⁺ of 1 numbers\n"), "{text}");
    let line = |label: &str| text.lines().find_map(|line| line.trim().strip_prefix(label)).unwrap().trim().to_owned();
    // Six digits of them.
    let same = |shown: &str, exact: &serde_json::Value| {
        let (shown, exact) = (shown.parse::<f64>().unwrap(), exact.as_f64().unwrap());
        assert!((shown / exact - 1.0).abs() < 1e-5, "{shown} for {exact}");
    };
    same(&line("Hilbert–Schmidt norm"), &report["hs_norm"]);
    assert_eq!(line("dictionary size").parse::<u64>().ok(), report["dictionary_size"].as_u64());
    same(line("1 ").split_whitespace().next().unwrap(), &report["eigenvalues"][0]["re"]);
    assert!(!text.contains("Note"), "{text}");
    let full = folder.done("koopman pairs.csv --method sogd --set max_dictionary=3");
    assert!(full.contains("Note: the dictionary was full") && full.contains("raise max_dictionary"), "{full}");
    let kept_out =
        folder.json("koopman pairs.csv --method sogd --set max_dictionary=3")["full_rejections"].as_u64().unwrap();
    assert!(kept_out > 0 && full.contains(&format!("full when {kept_out} more")), "{full}");
    assert_eq!(folder.json("koopman pairs.csv --method sogd")["full_rejections"].as_u64(), Some(0));
}

#[test]
fn wrong_arguments_and_tables() {
    let folder = Folder::new()
        .with("p.csv", "0.1,0.2\n0.2,0.3\n0.4,0.1\n")
        .with("odd.csv", "1,2,3\n2,3,4\n")
        .with("q.csv", "1,2\n")
        .with("p.libsvm", "1 1:2\n");
    for (code, arguments, parts) in [
        (2, "koopman", &["<PAIRS>", "mercer koopman --help"][..]),
        (2, "koopman p.csv --method sogd --set eta", &["--set eta", "KEY=VALUE", "rank_guard"]),
        (2, "koopman p.csv --method sogd --set etta=1", &["is eta meant?"]),
        (2, "koopman p.csv --set eta=1", &["--set is an option of --method sogd"]),
        (2, "koopman p.csv --kernel gaussian:2", &["--kernel", "sums choose their features themselves"]),
        (2, "koopman p.csv --eta 0.3", &["--eta", "--method sogd --set eta=VALUE"]),
        (2, "koopman p.csv --eta-schedule constant", &["--eta-schedule", "--set eta_schedule=VALUE"]),
        (2, "koopman p.csv --method sogd --set eta=-1", &["eta", "positive", "-1", "mercer koopman --help"]),
        (2, "koopman p.csv --method sogd --set eta=2.5", &["eta", "2"]),
        (2, "koopman p.csv --method sogd --set lambda=-1", &["lambda"]),
        (2, "koopman p.csv --method sogd --set budget=-1", &["budget"]),
        (2, "koopman p.csv --method sogd --set rank_guard=1", &["rank_guard", "[0, 1)"]),
        (2, "koopman p.csv --method sogd --set max_dictionary=0", &["max_dictionary", "at least 1, or none"]),
        (2, "koopman p.csv --method sogd --set eta_schedule=power:1", &["eta_schedule", "power:0.75,30"]),
        (2, "koopman p.csv --method sogd --set eta_schedule=power:-1,3", &["exponent"]),
        (2, "koopman p.csv --method sogd --set budget_test=ald", &["budget_test", "output-ald"]),
        (2, "koopman p.csv --method sogd --set kernel=rbf:1", &["no kernel is called \"rbf:1\"", "gaussian:SIGMA"]),
        (2, "koopman p.csv --steps 2", &["--predict"]),
        (2, "koopman p.csv --predictions o.csv", &["--predict"]),
        (
            2,
            "koopman p.csv --method sogd --weights o.csv --dictionary o.csv",
            &["--weights and --dictionary name the same file"],
        ),
        (2, "koopman p.libsvm", &["libsvm", "csv, tsv or ndjson"]),
        (2, "koopman diamonds", &["diamonds", "give a file of pairs"]),
        (2, "koopman -", &["standard input", "--format csv, tsv, ndjson"]),
        (2, "koopman - --format csv --predict -", &["--predict must be a file"]),
        (1, "koopman odd.csv", &["odd.csv: has 3 columns", "--state-dim", "--input-dim"]),
        (1, "koopman odd.csv --state-dim 1", &["odd.csv: has 3 columns", "--state-dim 1 has 2", "--input-dim"]),
        (1, "koopman odd.csv --input-dim 3", &["--input-dim 3 alone does not settle", "--state-dim"]),
        (1, "koopman p.csv --input-dim 2 --state-dim 1", &["make 3, or 4", "has 2 columns"]),
        (1, "koopman p.csv --predict q.csv", &["q.csv: has 2 columns", "x has 1"]),
        (1, "koopman p.csv --predict nothing.csv", &["nothing.csv", "cannot be read"]),
        (1, "koopman nothing.csv", &["nothing.csv: cannot be read"]),
        (1, "koopman p.csv --method sogd --weights p.csv", &["p.csv: is a file that is read", "another --weights"]),
        (
            1,
            "koopman p.csv --method sogd --dictionary no/such/d.csv",
            &["make the folder no/such", "another --dictionary"],
        ),
    ] {
        folder.refused(code, arguments, parts);
    }
}

#[test]
fn spoilt_pairs_say_where_and_leave_no_file() {
    let good = csv(&oscillator(300));
    for (row, parts) in [
        ("1,nan,3,4\n", &["p.csv, line 301, column 2", "the cell has no value"][..]),
        ("1,2,3\n", &["p.csv, line 301", "has 3 cells"]),
        ("1,2,x,4\n", &["p.csv, line 301, column 3", "not a number"]),
        ("1,,3,4\n", &["p.csv, line 301, column 2"]),
    ] {
        let folder = Folder::new().with("p.csv", format!("{good}{row}"));
        folder.refused(1, "koopman p.csv --method sogd --weights w.csv --dictionary d.csv", parts);
    }
    let folder = Folder::new().with("p.csv", format!("{good}1e200,1e200,0,0\n"));
    folder.refused(
        1,
        "koopman p.csv --method sogd --set kernel=linear --set eta=0.01 --weights w.csv",
        &["p.csv, line ", "(row "],
    );
    Folder::new().refused_input(1, &format!("{good}1,2,3\n"), "koopman - --format csv", &["standard input, line 301"]);
}
