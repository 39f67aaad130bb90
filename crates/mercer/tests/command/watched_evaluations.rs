//! `mercer eval --watch`: alarms beside the scores, of any learner and any table.

use serde_json::Value;

use super::support::{Folder, noise, object};

/// Rows of numbers, of which column `b` moves in row 1500 and the slope of `a` turns in row 2200;
/// with a category if it is wanted.
fn table(with_category: bool, changes: bool) -> String {
    let mut table = if with_category { "shop,a,b,y\n" } else { "a,b,y\n" }.to_owned();
    for t in 0..3000_u64 {
        let [a, b, u, e] = [0, 1, 2, 3].map(|j| noise(4 * t + j));
        let b = if changes && t >= 1500 { b + 1.2 } else { b };
        let slope = if changes && t >= 2200 { -1.0 } else { 1.0 };
        let y = slope * a + 0.5 + 0.05 * e;
        if with_category {
            table += if u < 0.1 { "Ulm," } else { "Bonn," };
        }
        table += &format!("{a},{b},{y}\n");
    }
    table
}

/// True if there is an alarm of that kind within 150 rows from `row` on, that blames `column`.
fn has(report: &Value, kind: &str, row: u64, column: &str) -> bool {
    report["alarms"].as_array().unwrap().iter().any(|alarm| {
        let at = alarm["row"].as_u64().unwrap();
        alarm["kind"] == kind && (row..row + 150).contains(&at) && alarm["columns"][0]["name"] == column
    })
}

#[test]
fn alarms_stand_beside_the_scores() {
    for with_category in [false, true] {
        let folder =
            Folder::new().with("t.csv", table(with_category, true)).with("calm.csv", table(with_category, false));
        let words = "--learner krls --set lambda=0.1 --scale standard --watch --json";
        let report = object(&folder.run(&format!("eval t.csv {words}")).out);
        assert!(has(&report, "inputs", 1500, "b"), "{}", report["alarms"]);
        assert!(has(&report, "errors", 2200, "a"), "{}", report["alarms"]);
        assert_eq!(report["promise"]["rows_to_a_false_alarm"], 10000.0);
        // The scores are those without.
        let plain = object(&folder.run(&format!("eval t.csv {}", words.replace("--watch ", ""))).out);
        let (watched, alone) = (report["mse"].as_f64().unwrap(), plain["mse"].as_f64().unwrap());
        assert!((watched - alone).abs() < 1e-9 * alone, "{watched} and {alone}");
        assert!(plain.get("alarms").is_none() && plain.get("promise").is_none());
        // Without a change there is at most the false alarm that was promised.
        let calm = object(&folder.run(&format!("eval calm.csv {words}")).out);
        assert!(calm["alarms"].as_array().unwrap().len() <= 1, "{}", calm["alarms"]);
    }
}

#[test]
fn the_text_and_the_picture_have_the_alarms() {
    let folder = Folder::new().with("t.csv", table(false, true));
    let said = folder
        .run("eval t.csv --learner krls --set lambda=0.1 --scale standard --watch --alarm-rate 1/100000 --plot p.svg");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("inputs changed") && said.out.contains("errors rose"), "{}", said.out);
    assert!(said.out.contains("Promise: 100000 rows to a false alarm"), "{}", said.out);
    let picture = folder.read("p.svg");
    assert!(picture.contains("alarm: b") && picture.contains("errors: a"));
    let folder = Folder::new().with("t.csv", table(false, true));
    folder.run("eval t.csv --learner krls --scale standard --plot p.svg");
    assert!(!folder.read("p.svg").contains("alarm"));
}

#[test]
fn mistakes_of_classes_rise() {
    let mut text = "a,b,kind\n".to_owned();
    for t in 0..3000_u64 {
        let [a, b] = [0, 1].map(|j| noise(2 * t + j));
        let sum = if t < 2000 { a } else { -a };
        text += &format!("{a},{b},{}\n", if sum > 0.0 { "yes" } else { "no" });
    }
    let folder = Folder::new().with("t.csv", text);
    let report = object(&folder.run("eval t.csv --learner nons-ald --scale standard --watch --json").out);
    let errors: Vec<&Value> =
        report["alarms"].as_array().unwrap().iter().filter(|alarm| alarm["kind"] == "errors").collect();
    let first = errors.iter().map(|alarm| alarm["row"].as_u64().unwrap()).find(|row| *row > 2000);
    assert!(first.is_some_and(|row| row < 2100), "{errors:?}");
    assert!(errors.iter().all(|alarm| alarm["row"].as_u64().unwrap() > 2000), "{errors:?}");
}

#[test]
fn what_is_not_watched_is_refused() {
    let folder = Folder::new().with("t.csv", table(false, false));
    folder.refused(2, "eval t.csv --learner krls --target a,y --watch", &["one target", "--target"]);
    folder.refused(2, "eval t.csv --learner krls --watch --label-delay 5", &["--watch", "--label-delay"]);
    folder.refused(2, "eval t.csv --learner krls --alarm-rate 1/100", &["--watch"]);
    folder.refused(2, "compare t.csv --learners krls,fogd --watch", &["--watch"]);
}
