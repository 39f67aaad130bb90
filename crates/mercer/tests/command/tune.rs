//! `mercer tune`: the command that it prints gives the score that it prints.

use serde_json::Value;

use crate::support::{Folder, csv, examples, object};

/// Runs the command that a search printed.
fn printed(folder: &Folder, found: &Value) -> Value {
    let command = found["command"].as_str().unwrap();
    let words: Vec<String> =
        command.strip_prefix("mercer ").unwrap().split(' ').map(|word| word.replace('\'', "")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
    object(&folder.done_with(&words))
}

fn folder() -> Folder {
    let rows = csv(&examples(1500));
    // Classes with names, and columns that are not looked at.
    let classes: String = rows
        .lines()
        .skip(1)
        .map(|row| {
            let (x, y) = row.rsplit_once(',').unwrap();
            format!("{x};{}\n", if y.starts_with('-') { "low" } else { "high" }).replace(',', ";")
        })
        .collect();
    Folder::new().with("d.csv", rows).with("c.csv", format!("a;b;c;class\n{classes}"))
}

/// The findings without what depends on the clock.
fn timeless(mut found: Value) -> Value {
    assert!(found.as_object_mut().unwrap().remove("seconds").unwrap().as_f64().unwrap() > 0.0);
    found
}

#[test]
fn the_printed_command_gives_the_printed_score() {
    let folder = folder();
    for options in [
        "d.csv --learner krls",
        "d.csv --learner krls --set nu=0.01 --scale standard --limit 1100 --permute 3",
        "d.csv --learner fogd --set features=20 --seed 5",
        "d.csv --learner nons-ald --kernel laplace:1 --search sigma=0.5..5 --search radius=1..3",
        "d.csv --learner kogd --kernel linear --limit 300",
        "d.csv --learner fogd --set features=20 --set step=0.1 --block 7 --target b --ignore a",
        "d.csv --learner pkawv-taylor --search degree=1..3",
    ] {
        let found = folder.json(&format!("tune {options} --trials 12 --threads 2"));
        let report = printed(&folder, &found);
        assert_eq!(report["rmse"], found["score"], "{options}: {}", found["command"]);
        assert_eq!(report["rows"], found["rows"]);
        let whole = |trial: &&Value| trial["rows"] == found["rows"];
        let trials = found["trials"].as_array().unwrap();
        assert_eq!((trials.len(), trials[0]["score"].clone()), (12, found["score"].clone()), "{options}");
        assert_eq!(report["dictionary_size"], trials[0]["dictionary_size"]);
        let scores: Vec<f64> = trials.iter().filter(whole).map(|trial| trial["score"].as_f64().unwrap()).collect();
        assert!(scores.len() > 1 && scores.is_sorted(), "{options}: {scores:?}");
    }
    let found = folder.json("tune d.csv --learner krls --trials 6 --metric r2 --skip 700");
    assert_eq!((&found["metric"], &found["score"]), (&Value::from("r2"), &printed(&folder, &found)["r2"]));
    for learner in ["krls", "fogd --set features=20", "perceptron"] {
        let found = folder.json(&format!("tune c.csv --learner {learner} --trials 6"));
        let metric = if learner == "perceptron" { "accuracy" } else { "log_loss" };
        let report = printed(&folder, &found);
        assert_eq!((&found["metric"], &found["score"]), (&Value::from(metric), &report[metric]), "{learner}");
    }
}

#[test]
fn threads_change_nothing_and_standard_input_is_read_once() {
    let folder = folder();
    let of =
        |threads: usize| timeless(folder.json(&format!("tune d.csv --learner krls --trials 16 --threads {threads}")));
    let one = of(1);
    assert_eq!(one, of(3));
    assert_eq!(one["metric"], "rmse");
    let piped = folder.json_of(csv(&examples(1500)).as_bytes(), "tune - --format csv --learner krls --trials 16");
    // Rows of a pipe are learnt one by one, which agrees to rounding.
    let [score, from_file] = [&piped["score"], &one["score"]].map(|score| score.as_f64().unwrap());
    assert!((score / from_file - 1.0).abs() < 1e-9, "{score} {from_file}");
    assert!(
        piped["command"].as_str().unwrap().starts_with("mercer eval - --learner krls --format csv --kernel gaussian:")
    );
}

#[test]
fn what_was_found_is_better_than_the_defaults() {
    let folder = folder();
    let usual = folder.json("eval d.csv --learner krls")["rmse"].as_f64().unwrap();
    let text = folder.done("tune d.csv --learner krls --trials 32");
    let command =
        text.lines().find(|line| line.starts_with("  mercer eval d.csv --learner krls --kernel gaussian:")).unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--json"]).collect();
    let tuned = object(&folder.done_with(&words))["rmse"].as_f64().unwrap();
    assert!(tuned <= usual, "{tuned} {usual}");
    assert!(text.contains(&format!("rmse {} by", mercer::catalogue::Value::Number(tuned))), "{text}");
    for head in ["dictionary", "sigma", "nu", "lambda", "32 points"] {
        assert!(text.contains(head), "{head}: {text}");
    }
    // So is a bound that no setting of the others gets over.
    let text = folder.done("tune d.csv --learner nons-ald --set radius=0.1 --trials 4 --limit 200");
    assert!(text.contains("keeps predictions within ±0.1"), "{text}");
    // A best value at the end of its range is told.
    let text = folder.done("tune d.csv --learner krls --trials 32 --set nu=0.01 --search lambda=1e3..1e6 --limit 200");
    assert!(text.contains("Note: lambda is at the lower end of its range, 1000 to 1000000"), "{text}");
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let folder = folder();
    for (options, parts) in [
        ("d.csv --learner krsl", &["krsl", "is krls meant?"][..]),
        ("d.csv", &["auto: there is nothing to tune", "--search KEY=LOW..HIGH"]),
        ("d.csv --learner krls --search lamda=1..2", &["\"lamda\"", "is lambda meant?", "nu, lambda"]),
        ("d.csv --learner krls --search forgets=1..2", &["\"forgets\" that is a number"]),
        ("d.csv --learner krls --search lambda", &["--search lambda: write KEY=LOW..HIGH"]),
        ("d.csv --learner krls --search lambda=1..x", &["write KEY=LOW..HIGH"]),
        ("d.csv --learner krls --search lambda=2..1", &["LOW must be below HIGH"]),
        ("d.csv --learner krls --search lambda=0..1:log", &["above 0"]),
        ("d.csv --learner krls --search lambda=1..2 --set lambda=1", &["both fixed by --set and looked for"]),
        ("d.csv --learner krls --kernel linear --search sigma=1..2", &["has no width", "gaussian:SIGMA"]),
        ("d.csv --learner krls --trials 0", &["--trials", "mercer tune --help"]),
        ("d.csv --learner krls --predictions out.csv", &["--predictions", "mercer tune --help"]),
        ("d.csv --learner krls --search nu=-2..-1:linear", &["nu", "got"]),
    ] {
        folder.refused(2, &format!("tune {options}"), parts);
    }
    folder.refused(1, "tune none.csv --learner krls", &["none.csv"]);
}
