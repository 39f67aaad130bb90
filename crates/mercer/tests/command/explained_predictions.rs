//! `mercer predict --explain`: base and effects beside each prediction, in every format.

use serde_json::Value;

use super::explain::table;
use super::support::{Folder, object};

/// What a run prints that succeeds, whatever it remarks.
fn done(folder: &Folder, words: &str) -> String {
    let said = folder.run(words);
    assert_eq!(said.code, Some(0), "{words}: {}", said.err);
    said.out
}

/// The cells of a CSV with their names, row by row.
fn cells(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let row: Vec<_> =
            names.iter().zip(line.split(',')).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect();
        assert_eq!(row.len(), names.len(), "{line}");
        row
    };
    lines.map(row).collect()
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    row.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}: {row:?}")).1.parse().unwrap()
}

/// The base and all effects of a row.
fn sum(row: &[(String, String)]) -> f64 {
    let told = |name: &str| name == "base" || name == "other_effects" || name.starts_with("effect_");
    row.iter().filter(|(name, _)| told(name)).map(|(_, cell)| cell.parse::<f64>().unwrap()).sum()
}

#[test]
fn base_and_effects_are_the_prediction() {
    let folder = Folder::new().with("t.csv", table(300)).with("one.csv", table(1));
    for (learner, sampled) in [("krls", false), ("fogd", false), ("auto", true)] {
        let scale = if learner == "auto" { "" } else { "--scale standard" };
        done(&folder, &format!("train t.csv --target y --ignore kind --learner {learner} {scale} --out m.mercer"));
        // The lines stay those without effects, and the columns of the data are named.
        let plain = done(&folder, "predict one.csv --model m.mercer");
        for data in ["t.csv", "one.csv"] {
            let rows = cells(&done(&folder, &format!("predict {data} --model m.mercer --explain 2 --permutations 20")));
            for row in &rows {
                let made = number(row, "prediction");
                assert!((sum(row) - made).abs() < 1e-9 * made.abs().max(1.0), "{learner}: {row:?}");
                assert!(number(row, "effect_1").abs() >= number(row, "effect_2").abs());
                assert_eq!(row.iter().any(|(name, _)| name == "standard_error_2"), sampled, "{learner}");
            }
            assert_eq!(number(&rows[0], "prediction"), plain.lines().nth(1).unwrap().parse::<f64>().unwrap());
            // The background is the model's: what a row means hangs on no other row of DATA.
            assert_ne!(number(&rows[0], "effect_1"), 0.0);
        }
    }
    let whole = cells(&done(&folder, "predict t.csv --model m.mercer --explain 2 --permutations 20"));
    let one = cells(&done(&folder, "predict one.csv --model m.mercer --explain 2 --permutations 20"));
    assert_eq!(whole[0], one[0]);
    // The same as `mercer explain` tells.
    let told = object(&done(&folder, "explain one.csv --model m.mercer --permutations 20 --json"));
    let (name, effect) = (&one[0].iter().find(|(name, _)| name == "column_1").unwrap().1, number(&one[0], "effect_1"));
    assert_eq!(told["rows"][0]["effects"][name.as_str()].as_f64().unwrap(), effect);
}

#[test]
fn classes_are_explained_on_the_score_that_is_told() {
    let folder = Folder::new().with("t.csv", table(300));
    for learner in ["krls", "fogd"] {
        let words = "train t.csv --target kind --ignore y --scale standard --out m.mercer --learner";
        done(&folder, &format!("{words} {learner}"));
        for row in cells(&done(&folder, "predict t.csv --model m.mercer --explain 9")) {
            assert!((sum(&row) - number(&row, "score")).abs() < 1e-9, "{learner}: {row:?}");
            assert!(!row.iter().any(|(name, _)| name.starts_with("standard_error")), "{learner} is an expansion");
            assert_eq!(number(&row, "other_effects"), 0.0);
        }
    }
    // Of three, the class that is predicted: `mercer explain --class` says the same.
    done(&folder, "train t.csv --target colour --learner krls --scale standard --out c.mercer");
    let rows = cells(&done(&folder, "predict t.csv --model c.mercer --explain 9"));
    let class = rows[0].iter().find(|(name, _)| name == "prediction").unwrap().1.clone();
    let told = object(&done(&folder, &format!("explain t.csv --model c.mercer --class {class} -n 1 --json")));
    assert!((told["rows"][0]["prediction"].as_f64().unwrap() - sum(&rows[0])).abs() < 1e-9);
    let others = ["red", "green", "blue"].into_iter().find(|name| **name != class).unwrap();
    let told = object(&done(&folder, &format!("explain t.csv --model c.mercer --class {others} -n 1 --json")));
    assert!((told["rows"][0]["prediction"].as_f64().unwrap() - sum(&rows[0])).abs() > 1e-6, "another class");
}

#[test]
fn all_formats_tell_the_same() {
    let folder = Folder::new().with("t.csv", table(200));
    done(&folder, "train t.csv --target y --ignore kind --learner krls --scale standard --out m.mercer");
    let csv = cells(&done(&folder, "predict t.csv --model m.mercer --explain 2"));
    for name in ["out.ndjson", "out.json"] {
        done(&folder, &format!("predict t.csv --model m.mercer --explain 2 -o {name}"));
        let text = folder.read(name);
        let rows: Vec<Value> = match name {
            "out.json" => serde_json::from_str(&text).unwrap(),
            _ => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        for (row, told) in csv.iter().zip(&rows) {
            assert_eq!(told["base"].as_f64().unwrap(), number(row, "base"));
            assert_eq!(told["other_effects"].as_f64().unwrap(), number(row, "other_effects"));
            let effects = told["effects"].as_object().unwrap();
            let sum = effects.values().map(|effect| effect.as_f64().unwrap()).sum::<f64>();
            assert!((sum - number(row, "effect_1") - number(row, "effect_2")).abs() < 1e-12);
            assert!(effects.len() == 2 && told["standard_error"].is_null());
        }
    }
    if cfg!(feature = "arrow") {
        done(&folder, "predict t.csv --model m.mercer --explain 2 -o out.parquet");
        let columns = folder.json("inspect out.parquet")["columns"].clone();
        let names: Vec<&str> =
            columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["prediction", "base", "column_1", "effect_1", "column_2", "effect_2", "other_effects"]);
        // Its numbers are those of the CSV: a learner of both has the same error.
        std::fs::write(folder.path("out.csv"), done(&folder, "predict t.csv --model m.mercer --explain 2")).unwrap();
        let error = |file: &str| {
            object(&done(&folder, &format!("eval {file} --target other_effects --learner krls --json")))["mse"].clone()
        };
        assert_eq!(error("out.parquet"), error("out.csv"));
    }
}

#[test]
fn groups_are_explained_by_the_model_that_answers() {
    let rows = table(400);
    let mut lines = rows.lines();
    let mut text = format!("{},shop\n", lines.next().unwrap());
    for (t, line) in lines.enumerate() {
        text += &format!("{line},{}\n", ["x", "y"][t % 2]);
    }
    let folder = Folder::new().with("t.csv", text);
    done(&folder, "train t.csv --target y --ignore kind --group shop --learner krls --scale standard --out m.mercer");
    for row in cells(&done(&folder, "predict t.csv --model m.mercer --explain 3")).iter().take(40) {
        let made = number(row, "prediction");
        assert!((sum(row) - made).abs() < 1e-9 * made.abs().max(1.0), "{row:?}");
    }
    folder.refused(1, "explain t.csv --model m.mercer", &["has models of groups", "predict --explain 5"]);
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = Folder::new().with("t.csv", table(100)).with("two.csv", "a,b,y,z\n1,2,3,4\n2,3,4,5\n4,3,1,2\n");
    done(&folder, "train two.csv --target y,z --learner krls --out two.mercer");
    folder.refused(2, "predict two.csv --model two.mercer --explain 2", &["predicts y, z", "--output"]);
    folder.refused(2, "predict two.csv --model two.mercer --output y", &["--explain"]);
    done(&folder, "train t.csv --target y --ignore kind --learner krls --out m.mercer");
    folder.refused(2, "predict t.csv --model m.mercer --explain 2 --learn", &["--explain", "--learn"]);
    folder.refused(2, "predict t.csv --model m.mercer --permutations 2", &["--explain"]);
    done(&folder, "fit t.csv --target y --ignore kind,colour --learner pkrr-taylor --kernel gaussian:1 --out s.mercer");
    folder.refused(1, "predict t.csv --model s.mercer --explain 2", &["keeps no rows", "mercer explain"]);
}
