//! `--gap`: values that a person says stand for none.

use std::fmt::Write as _;

use crate::support::{Folder, object};

/// Rows of a number, a category and a target; `gap` gives what stands for none of the two.
fn rows(count: usize, gap: [&str; 2]) -> Vec<[String; 3]> {
    let row = |t: usize| {
        let x = (t * 37 % 101).to_string();
        let city = ["Ulm", "Bonn", "Kiel"][t % 3].to_owned();
        [
            if t % 7 == 3 { gap[0].to_owned() } else { x.clone() },
            if t % 11 == 5 { gap[1].to_owned() } else { city },
            (2 * x.parse::<usize>().unwrap_or(0) + t % 3).to_string(),
        ]
    };
    (0..count).map(row).collect()
}

fn csv(rows: &[[String; 3]]) -> String {
    rows.iter().fold("x,city,y\n".to_owned(), |text, row| text + &row.join(",") + "\n")
}

fn ndjson(rows: &[[String; 3]]) -> String {
    let mut text = String::new();
    for [x, city, y] in rows {
        let x = if x.parse::<f64>().is_ok() { x.clone() } else { format!("{x:?}") };
        writeln!(text, "{{\"x\":{x},\"city\":{city:?},\"y\":{y}}}").unwrap();
    }
    text
}

#[test]
fn a_told_value_is_an_empty_cell_in_every_format_and_is_remembered() {
    let folder = Folder::new()
        .with("empty.csv", csv(&rows(400, ["", ""])))
        .with("told.csv", csv(&rows(400, ["-999", "unknown"])))
        .with("told.ndjson", ndjson(&rows(400, ["-999", "unknown"])));
    let gaps = ["--gap", "-999", "--gap", "unknown"];
    let score = |file: &str, gaps: &[&str]| {
        let arguments = [&["eval", file, "--learner", "krls", "--target", "y", "--json", "-q"][..], gaps].concat();
        let report = object(&folder.done_with(&arguments));
        (report["mse"].clone(), report["counts"].clone())
    };
    let expected = score("empty.csv", &[]);
    assert_eq!(score("told.csv", &gaps), expected);
    assert_eq!(score("told.ndjson", &gaps), expected);
    assert_ne!(score("told.csv", &[]), expected);
    // A model remembers them, for files and for what it says of itself.
    for (file, gaps) in [("told.csv", &gaps[..]), ("empty.csv", &[])] {
        let model = file.replace("csv", "mercer");
        let arguments = [
            "train",
            file,
            "--learner",
            "krls",
            "--kernel",
            "gaussian:2",
            "--target",
            "y",
            "--model",
            &model,
            "--quiet",
        ];
        folder.done_with(&[&arguments, gaps].concat());
    }
    let predicted = folder.done("predict empty.csv --model empty.mercer -q");
    assert_eq!(folder.done("predict told.csv --model told.mercer -q"), predicted);
    let facts = folder.json("inspect told.mercer");
    assert_eq!(facts["gaps"], serde_json::json!(["-999", "unknown"]));
    let resumed = "train told.csv --learner krls --kernel gaussian:2 --target y --out told.mercer --resume -q";
    folder.refused(1, resumed, &["other values stand for none (--gap)"]);
}

#[test]
fn gaps_among_numbers_alone_are_refused_or_encoded_and_data_without_cells_have_none() {
    let mut text = "x,z,y\n".to_owned();
    for t in 0..300 {
        let x = if t % 9 == 2 { -999 } else { t * 37 % 101 };
        writeln!(text, "{x},{t},{}", t * 37 % 101).unwrap();
    }
    let folder = Folder::new().with("d.csv", text).with("d.libsvm", "1 1:2\n2 1:3\n");
    let told = object(&folder.done("inspect d.csv --gap -999 --json"));
    assert_eq!(
        (told["columns"][0]["missing"].as_u64(), told["columns"][0]["smallest"].as_f64()),
        (Some(29), Some(0.0))
    );
    folder.refused(1, "eval d.libsvm --learner krls --gap 2", &["a libsvm file has no gaps"]);
    folder.refused(2, "eval diamonds --learner krls --gap 2", &["--gap is for files"]);
}
