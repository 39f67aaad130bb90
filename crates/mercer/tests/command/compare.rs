//! `mercer compare`: the scores of `eval`, side by side.

use serde_json::Value;

use crate::support::{Folder, csv, examples, object};

fn folder() -> Folder {
    let rows = csv(&examples(900));
    let classes = rows
        .replace("a,b,c,y\n", "")
        .lines()
        .map(|row| {
            let (x, y) = row.rsplit_once(',').unwrap();
            format!("{x},{}\n", if y.starts_with('-') { "low" } else { "high" })
        })
        .collect::<String>();
    Folder::new().with("d.csv", rows).with("c.csv", format!("a,b,c,class\n{classes}"))
}

/// The report without what depends on the clock.
fn timeless(mut report: Value) -> Value {
    for learner in report["learners"].as_array_mut().unwrap() {
        let object = learner.as_object_mut().unwrap();
        if object.remove("seconds").is_some() {
            assert!(object.remove("seconds_per_example").unwrap().as_f64().unwrap() > 0.0);
        }
    }
    report
}

#[test]
fn each_learner_scores_what_eval_says() {
    let folder = folder();
    for (data, specs, options) in [
        (
            "d.csv",
            &["krls lambda=0.1", "fogd features=20", "auto", "kogd kernel=laplace:1"][..],
            "--scale standard --permute 2 --limit 800 --skip 1",
        ),
        ("d.csv", &["krls", "nons-ald mu=0.5"], "--skip 100 --window 50 --block 1"),
        ("c.csv", &["krls", "fogd features=20", "perceptron"], "--seed 3"),
    ] {
        let listed = specs.join(", ");
        let words: Vec<&str> =
            ["compare", data, "--learners", &listed, "--json"].into_iter().chain(options.split(' ')).collect();
        let report = object(&folder.done_with(&words));
        let learners = report["learners"].as_array().unwrap();
        assert_eq!(learners.len(), specs.len());
        for (learner, spec) in learners.iter().zip(specs) {
            assert_eq!(learner["learner"], *spec);
            let words: Vec<&str> = spec.split(' ').collect();
            let set = |word: &&str| {
                if let Some(kernel) = word.strip_prefix("kernel=") {
                    format!("--kernel {kernel}")
                } else {
                    format!("--set {word}")
                }
            };
            let settings: Vec<String> = words[1..].iter().map(set).collect();
            let alone = folder.json(&format!("eval {data} --learner {} {} {options}", words[0], settings.join(" ")));
            for key in [
                "kernel",
                "parameters",
                "mse",
                "rmse",
                "r2",
                "accuracy",
                "log_loss",
                "auc",
                "second_half",
                "dictionary_size",
                "baselines",
            ] {
                assert_eq!(learner[key], alone[key], "{spec}: {key}");
            }
            for key in ["rmse", "accuracy", "baselines"] {
                assert_eq!(learner["last_window"][key], alone["last_window"][key], "{spec}: {key}");
            }
        }
        assert_eq!(report["metric"], if data == "c.csv" { "accuracy" } else { "rmse" });
    }
}

#[test]
fn threads_change_nothing() {
    let folder = folder();
    let of =
        |threads: usize| timeless(folder.json(&format!("compare d.csv --learners krls,fogd,kogd --threads {threads}")));
    assert_eq!(of(1), of(3));
}

#[test]
fn people_read_one_table() {
    let folder = folder();
    let text = folder.done_with(&[
        "compare",
        "d.csv",
        "--learners",
        "krls lambda=0.1; kogd kernel=polynomial:3,1",
        "--metric",
        "mae",
    ]);
    for part in [
        "MAE on d.csv: 900 rows of 3 features",
        "all rows",
        "second half",
        "last 90",
        "µs a row",
        "dictionary",
        "krls lambda=0.1",
        "kogd kernel=polynomial:3,1",
        "running mean",
        "last value",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches('*').count(), 3, "the best of each column: {text}");
    // A learner that fails leaves the others their scores.
    let text = folder.done_with(&["compare", "d.csv", "--learners", "krls, fogd step=1e9"]);
    assert!(text.contains("Note: fogd step=1e9 has no score") && text.contains("krls"), "{text}");
    let report = folder.json("compare d.csv --learners krls --learners fogd");
    assert_eq!(report["learners"].as_array().unwrap().len(), 2);
}

#[test]
#[cfg(feature = "plots")]
fn one_picture_has_all_curves() {
    let folder = folder();
    let text = folder.done_with(&[
        "compare",
        "d.csv",
        "--learners",
        "krls lambda=0.1, fogd features=20",
        "--plot",
        "curves.svg",
    ]);
    assert!(text.starts_with("RMSE on d.csv"));
    let picture = folder.read("curves.svg");
    for part in ["<svg", "krls lambda=0.1", "fogd features=20", "running mean", "Score of the last 90 rows"] {
        assert!(picture.contains(part), "{part}");
    }
    folder.done("compare d.csv --learners krls,kogd --plot curves.png --json");
    assert!(std::fs::read(folder.path("curves.png")).unwrap().starts_with(b"\x89PNG"));
    folder.refused(2, "compare d.csv --learners krls --plot curves.gif", &["curves.gif"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder();
    for (options, parts) in [
        ("d.csv --learners krls,krsl", &["krsl", "is krls meant?"][..]),
        ("d.csv --learners ,", &["names none"]),
        ("d.csv", &["--learners", "mercer compare --help"]),
        ("d.csv --learners krls --learner fogd", &["--learner", "mercer compare --help"]),
        ("d.csv --learners krls --threads 0", &["--threads"]),
        ("d.csv --learners krls --metric accuracy", &["--metric accuracy"]),
    ] {
        folder.refused(2, &format!("compare {options}"), parts);
    }
    let said = folder.command(&["compare", "d.csv", "--learners", "krls lamda=1"]).output().unwrap();
    assert!(String::from_utf8_lossy(&said.stderr).contains("is lambda meant?") && said.status.code() == Some(2));
    folder.refused(1, "compare none.csv --learners krls", &["none.csv"]);
    folder.refused(1, "compare d.csv --learners krls --skip 900", &["--skip 900", "give less"]);
}
