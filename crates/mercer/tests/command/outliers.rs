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
        for (row, size) in [(6, "1e6"), (6, "-1e60"), (1201, "1e9"), (1201, "1e3")] {
            let folder = Folder::new().with("clean.csv", table(0, "")).with("one.csv", table(row, size));
            let (clean, nothing) =
                judged(&folder, &format!("clean.csv --outliers skip --learner {learner}"), row + 500);
            let (spoilt, told) = judged(&folder, &format!("one.csv --outliers skip --learner {learner}"), row + 500);
            assert!(spoilt < 1.2 * clean, "{learner}, {size} in {row}: {spoilt} for {clean}");
            assert!(!nothing.contains("far beyond"), "{nothing}");
            assert!(told.contains(&format!("in row {row} is far beyond")), "{told}");
        }
    }
}

#[test]
fn outliers_are_kept_by_default_and_unknown_ways_are_refused() {
    let folder = Folder::new().with("clean.csv", table(0, "")).with("one.csv", table(1201, "1e6"));
    let of = |words: &str| judged(&folder, &format!("{words} --learner krls --set lambda=0.1"), 1300);
    let (clean, kept, weighed) = (of("clean.csv"), of("one.csv"), of("one.csv --outliers weigh"));
    assert!(kept.0 > 100.0 * clean.0 && !kept.1.contains("--outliers"), "{kept:?}");
    assert!(weighed.0 < 0.1 * kept.0 && weighed.1.contains("less weight"), "{weighed:?}");
    folder.refused(2, "eval clean.csv --learner krls --outliers clip", &["keep, weigh and skip"]);
}
