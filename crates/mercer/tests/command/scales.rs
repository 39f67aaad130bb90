//! `--scale standard|robust|range`: targets of any unit are learnt and answered in that unit;
//! `--only`; targets out of reach; memory.

use std::fmt::Write as _;

use crate::support::{Folder, csv, examples, object, timeless};

/// Prices in euros, in cents, and areas in square metres; two targets of different units.
fn prices(unit: f64) -> String {
    let mut text = "width,height,age,price,area\n".to_owned();
    for (x, _) in examples(600).iter() {
        let (width, height, age) = (50.0 + 20.0 * x[0], 8.0 + 3.0 * x[1], 1e4 * (x[2] + 1.0));
        let price = unit * (3e5 + 1e5 * x[0] * x[1] + 5e4 * x[2]);
        let _ = writeln!(text, "{width},{height},{age},{price},{}", width * height);
    }
    text
}

#[test]
fn targets_of_any_unit_are_answered_in_it() {
    let folder = Folder::new().with("euros.csv", prices(1.0)).with("powers.csv", prices(1024.0));
    for learner in ["nons-ald", "krls --set lambda=0.01", "kogd", "aogd-ald"] {
        for scale in ["standard", "robust", "range"] {
            let options = format!("--learner {learner} --scale {scale} --target price --ignore area --block 1");
            let [euros, powers] = ["euros", "powers"].map(|file| folder.json(&format!("eval {file}.csv {options}")));
            let r2 = |report: &serde_json::Value| report["second_half"]["r2"].as_f64().unwrap();
            assert!(r2(&euros) > if learner.contains("ogd") { 0.2 } else { 0.8 }, "{options}: {}", r2(&euros));
            // A unit that is a power of two changes no bit of what is learnt.
            let (small, large) = (euros["mse"].as_f64().unwrap(), powers["mse"].as_f64().unwrap());
            assert!((large / small / 1024.0_f64.powi(2) - 1.0).abs() < 1e-9, "{options}: {small} {large}");
        }
    }
}

#[test]
fn several_targets_and_their_intervals_are_in_their_units() {
    let folder = Folder::new().with("euros.csv", prices(1.0));
    let options = "--learner krls --set lambda=0.01 --scale standard --target price,area";
    let report = folder.json(&format!("eval euros.csv {options} --intervals 0.9 --predictions p.csv"));
    for output in report["outputs"].as_array().unwrap() {
        assert!(output["r2"].as_f64().unwrap() > 0.8, "{output}");
        let coverage = output["coverage"].as_f64().unwrap();
        assert!((coverage - 0.9).abs() < 0.03, "{output}");
    }
    let text = folder.read("p.csv");
    let cells: Vec<f64> = text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    let [_, price, area, price_made, area_made, low, high, area_low, area_high] = cells[..] else { panic!("{text}") };
    assert!((price - price_made).abs() < 5e4 && (area - area_made).abs() < 100.0, "{cells:?}");
    assert!(low < price_made && price_made < high && area_low < area_made && area_made < area_high, "{cells:?}");
    // The model answers in the same units, and tells variances in their squares.
    let rows = "--columns prediction,variance --block 1";
    folder.json(&format!("eval euros.csv {options} {rows} --predictions v.csv"));
    let text = folder.read("v.csv");
    let cells: Vec<f64> = text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!(cells[5] > 1e4 && cells[5] < 1e10 && cells[6] < 1e5, "{cells:?}");
}

#[test]
fn every_source_is_scaled_alike() {
    let text = prices(1.0);
    let folder = Folder::new().with("euros.csv", &text);
    let options = "--learner nons-ald --scale standard";
    let from_file = timeless(folder.json(&format!("eval euros.csv {options} --block 1")));
    assert_eq!(timeless(folder.json_of(text.as_bytes(), &format!("eval - --format csv {options}"))), from_file);
    for more in ["--permute 3", "--set alpha=0.05", "--limit 100"] {
        let of_file = timeless(folder.json(&format!("eval euros.csv {options} {more} --block 1")));
        let piped = folder.json_of(text.as_bytes(), &format!("eval - --format csv {options} {more}"));
        assert_eq!(timeless(piped), of_file, "{more}");
    }
    let report = folder.json("eval diamonds --learner krls --set lambda=0.1 --scale standard --limit 2000");
    assert!(report["r2"].as_f64() > Some(0.0), "{report}");
    folder.done("train diamonds --learner nons-ald --scale standard --limit 500 --out d.mercer --quiet");
    assert!(folder.json("inspect d.mercer")["columns"][0]["treatment"].is_string());
    assert!(folder.done("predict diamonds --model d.mercer").lines().count() > 500);
    let sparse: String = (0..20).map(|t| format!("{t} 1:{t} 2:0.5\n")).collect();
    let folder = folder.with("s.libsvm", sparse);
    folder.refused(2, "eval s.libsvm --learner krls --scale standard", &["--scale standard is for tables"]);
}

/// Without scaling, numbers pass as they are, bit for bit.
#[test]
fn without_scaling_nothing_changes() {
    let folder = Folder::new().with("plain.csv", csv(&examples(300)));
    let plain = timeless(folder.json("eval plain.csv --learner krls"));
    assert_eq!(timeless(folder.json("eval plain.csv --learner krls --scale none")), plain);
    folder.done("train plain.csv --learner krls --out m.mercer --quiet");
    assert_eq!(folder.json("inspect m.mercer")["kind"], "regression");
}

#[test]
fn only_some_columns_are_features() {
    let text = csv(&examples(300));
    let folder = Folder::new().with("t.csv", &text).with("bare.csv", text.split_once('\n').unwrap().1);
    let expected = timeless(folder.json("eval t.csv --learner krls --ignore b"));
    for options in ["t.csv --only a,c", "t.csv --only 1,3", "bare.csv --only 1,3", "t.csv --only c,a,y --target y"] {
        assert_eq!(timeless(folder.json(&format!("eval {options} --learner krls"))), expected, "{options}");
    }
    let scaled = timeless(folder.json("eval t.csv --learner krls --ignore b --scale standard"));
    assert_eq!(timeless(folder.json("eval t.csv --learner krls --only a,c --scale standard")), scaled);
    folder.done("train t.csv --learner krls --only a,c --out only.mercer --quiet");
    folder.done("train t.csv --learner krls --ignore b --out ignore.mercer --quiet");
    assert_eq!(folder.done("predict t.csv --model only.mercer"), folder.done("predict t.csv --model ignore.mercer"));
    let piped = folder.json_of(text.as_bytes(), "eval - --format csv --learner krls --only a,c --block 256");
    assert_eq!(timeless(piped), expected);
    folder.refused(1, "eval t.csv --learner krls --only a,z", &["--only \"z\": there is no such column", "\"b\""]);
    folder.refused(2, "eval diamonds --learner krls --only carat", &["--only is for files"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_outgrows_the_machine_is_refused_at_once() {
    // Few rows of memory are enough for what keeps a matrix over all of them.
    let rows: String = (0..300_000).map(|t| format!("{},{}\n", t % 7, t % 8)).collect();
    let folder = Folder::new().with("big.csv", rows);
    folder.refused(1, "eval big.csv --learner kernel-awv", &["kernel-awv keeps every example", "--limit N"]);
    assert_eq!(folder.json("eval big.csv --learner kernel-awv --limit 300")["rows"].as_u64(), Some(300));
}

#[test]
fn a_target_to_predict_from_must_be_there() {
    let folder = Folder::new().with("t.csv", csv(&examples(60)));
    folder.done("train t.csv --learner krls --kernel gaussian:1 --out m.mercer --quiet");
    folder.refused(1, "predict t.csv --model m.mercer --target nope", &["--target \"nope\": there is no such column"]);
    assert_eq!(folder.done("predict t.csv --model m.mercer --target y").lines().count(), 61);
    let said = folder.run("train t.csv --learner nons-ald --set radius=0.1 --kernel gaussian:1 --out n.mercer");
    assert!(said.err.contains("nons-ald keeps predictions within ±0.1 (radius); add --scale standard"), "{}", said.err);
    let report = folder.run("eval t.csv --learner nons-ald --set radius=0.1 --json");
    assert_eq!(report.err.lines().count(), 1, "{}", report.err);
    object(&report.out);
}

/// An option hides no reason: a file that cannot be read is refused alike with and without scaling.
#[test]
fn scaling_hides_no_reason() {
    let folder = Folder::new().with("empty.csv", "").with("head.csv", "a,y\n").with("jagged.csv", "1,2\n3\n4\n5\n");
    for (file, reason) in [("empty.csv", "is empty"), ("head.csv", "has a header and no row"), ("jagged.csv", "line 2")]
    {
        for scale in ["", "--scale standard", "--scale robust", "--scale range"] {
            folder.refused(1, &format!("eval {file} --learner krls {scale}"), &[file, reason]);
        }
    }
}
