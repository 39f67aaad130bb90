//! One wrong target costs nothing that lasts, and is told.

use std::fmt::Write;

use serde_json::Value;

use crate::support::Folder;

const ROWS: usize = 2000;

/// A smooth function of two inputs with a little noise; the target in `row`, counted from 1, is
/// `size`.
fn table(row: usize, size: &str) -> String {
    let mut text = "a,b,y\n".to_owned();
    for t in 0..ROWS {
        let (a, b) = ((t * 37 % 101) as f64 / 50.0 - 1.0, (t * 53 % 97) as f64 / 48.0 - 1.0);
        let y = 0.5 + (3.0 * a).sin() * b + 0.05 * ((t * 7919 % 1009) as f64 / 504.0 - 1.0);
        let y = if t + 1 == row { size.to_owned() } else { y.to_string() };
        writeln!(text, "{a},{b},{y}").unwrap();
    }
    text
}

/// The mean absolute error of the rows from there on, and the notes.
fn judged(folder: &Folder, words: &str, from: usize) -> (f64, String) {
    let report: Value = folder.json(&format!("eval {words} --metric mae --skip {from}"));
    (report["mae"].as_f64().unwrap(), report["notes"].to_string())
}

#[test]
fn one_wrong_target_is_told_and_costs_nothing_that_lasts() {
    let experts = "experts --set members=krls;fogd --set rule=ewa --set share=auto";
    let restart = "restart --set learner=krls";
    let learners = ["krls --set lambda=0.1", "nons-ald --scale standard", restart, experts, "auto --set budget=20000"];
    for learner in learners {
        let clean = Folder::new().with("clean.csv", table(0, ""));
        for (row, size) in [(4, "1e9"), (6, "-1e60"), (1201, "1e9"), (1201, "1e3")] {
            let one = Folder::new().with("one.csv", table(row, size));
            for how in ["", "--outliers skip"] {
                let (clean, nothing) = judged(&clean, &format!("clean.csv {how} --learner {learner}"), row + 500);
                let (spoilt, told) = judged(&one, &format!("one.csv {how} --learner {learner}"), row + 500);
                assert!(spoilt < 1.2 * clean, "{learner} {how}, {size} in {row}: {spoilt} for {clean}");
                assert!(!nothing.contains("far beyond"), "{nothing}");
                assert!(told.contains(&format!("in row {row} is far beyond")), "{told}");
            }
        }
    }
}

#[test]
fn outliers_are_kept_on_demand_and_unknown_ways_are_refused() {
    let folder = Folder::new().with("clean.csv", table(0, "")).with("one.csv", table(1201, "1e6"));
    let of = |words: &str| judged(&folder, &format!("{words} --learner krls --set lambda=0.1"), 1300);
    let (clean, kept, weighed) = (of("clean.csv"), of("one.csv --outliers keep"), of("one.csv"));
    assert!(kept.0 > 100.0 * clean.0 && !kept.1.contains("--outliers"), "{kept:?}");
    assert!(weighed.0 < 1.2 * clean.0 && weighed.1.contains("less weight"), "{weighed:?}");
    folder.refused(2, "eval clean.csv --learner krls --outliers clip", &["keep, weigh and skip"]);
}

/// A model keeps its way with wrong targets, in its file, after `train`, `predict --learn` and
/// `serve`.
#[test]
fn models_screen_what_they_learn_and_tell_it() {
    let (wrong, header) = (table(1201, "1e9"), "a,b,y\n");
    let lines: Vec<&str> = wrong.lines().skip(1).collect();
    let part = |lines: &[&str]| format!("{header}{}\n", lines.join("\n"));
    for columns in ["", " --scale standard"] {
        let folder = Folder::new().with("head.csv", part(&lines[..1000])).with("tail.csv", part(&lines[1000..]));
        let folder = folder.with("all.csv", &wrong);
        let train = |words: &str| folder.run(&format!("train {words} --learner krls{columns} --quiet")).out;
        let told = train("all.csv --model all.mercer");
        assert!(told.contains("target 1000000000 in row 1201 is far beyond"), "{told}");
        let quiet = train("head.csv --model head.mercer");
        assert!(!quiet.contains("far beyond"), "{quiet}");
        let facts = |model: &str| -> Value { folder.json(&format!("inspect {model}")) };
        let told = facts("head.mercer");
        assert!(told["outliers"] == "weigh" && told["implausible_targets"] == 0, "{told}");
        folder.run("predict tail.csv --model head.mercer --learn --quiet");
        assert_eq!(facts("head.mercer")["implausible_targets"], 1);
        for model in ["all.mercer", "head.mercer"] {
            let made = folder.done(&format!("predict head.csv --model {model}"));
            let largest = made.lines().skip(1).map(|line| line.parse::<f64>().unwrap().abs()).fold(0.0, f64::max);
            assert!(largest < 3.0, "{model}: {largest}");
        }
        let other = format!("train all.csv --out all.mercer --learner krls{columns} --resume --outliers keep");
        folder.refused(1, &other, &["its way with outliers is weigh, not keep"]);
    }
}

/// After a jump all methods begin anew, and tell the values that they took for wrong. With a
/// regulariser in squared units the paper's method follows the jump exactly, which is told.
#[test]
fn forecasts_beyond_everything_seen_are_told() {
    let noise = |t: u64| (t * 7919 % 1009) as f64 / 504.0 - 1.0;
    let level = |t: u64| if t < 1500 { 0.0 } else { 1e6 };
    let rows: String = (0..3000).map(|t| format!("{}\n", level(t) + noise(t) + 0.5 * noise(t + 1))).collect();
    let folder = Folder::new().with("jump.csv", format!("y\n{rows}"));
    let told = |method: &str| folder.done(&format!("forecast jump.csv {method}"));
    let opf = told("--gamma 1 --lambda 0.01");
    assert!(opf.contains("Note: the forecast of row 150") && opf.contains("opf"), "{opf}");
    for method in ["", "--gamma 1", "--method experts"] {
        let said = told(method);
        assert!(!said.contains("beyond all values"), "{method}: {said}");
        assert!(said.contains("values lie far beyond the others of late") && said.contains("--gap="), "{said}");
    }
}
