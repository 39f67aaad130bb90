//! Doors × texts, lists and objects: the same cell has the same tokens at every door.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use serde_json::{Value, json};

use crate::support::{Folder, arrow_stream, noise, parquet};

const ROWS: usize = 400;
const WORDS: [&str; 8] = ["good", "bad", "slow", "Größe", "cheap", "naïve", "old", "日本"];

struct Row {
    review: String,
    tags: Vec<String>,
    counts: Vec<(String, f64)>,
    y: f64,
}

fn rows() -> Vec<Row> {
    let pick = |t: usize, k: u64, of: usize| ((noise(16 * t as u64 + k) + 0.5).clamp(0.0, 0.999) * of as f64) as usize;
    let row = |t: usize| {
        let words: Vec<usize> = (0..5).map(|k| pick(t, k, WORDS.len())).collect();
        let tags: Vec<usize> = (5..5 + (t % 3) as u64).map(|k| pick(t, k, 40)).collect();
        let counts = [(pick(t, 9, 30), 1.0 + (t % 4) as f64 / 2.0), (30 + t % 2, 2.0)];
        let worth = |k: usize| ((7 * k) as f64).sin();
        let sum: f64 = words.iter().chain(&tags).map(|k| worth(*k)).sum();
        Row {
            review: words.iter().map(|k| WORDS[*k]).collect::<Vec<_>>().join(" ") + &format!(", \"{t}\"!"),
            tags: tags.iter().map(|k| format!("tag \"{k}\"")).collect(),
            counts: counts.iter().map(|(k, count)| (format!("k{k}"), *count)).collect(),
            y: sum + counts.iter().map(|(k, count)| count * worth(*k)).sum::<f64>(),
        }
    };
    (0..ROWS).map(row).collect()
}

fn object(row: &Row) -> Value {
    let counts: serde_json::Map<String, Value> =
        row.counts.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
    json!({ "review": row.review, "tags": row.tags, "counts": counts, "y": row.y })
}

fn csv(rows: &[Row], python: bool) -> String {
    let mut text = "review,tags,counts,y\n".to_owned();
    for row in rows {
        let Value::Object(cells) = object(row) else { unreachable!("an object was made") };
        let (mut tags, mut counts) = (cells["tags"].to_string(), cells["counts"].to_string());
        if python {
            // As pandas writes lists and dictionaries.
            tags = format!("[{}]", row.tags.iter().map(|tag| format!("'{tag}'")).collect::<Vec<_>>().join(", "));
            counts = counts.replace('"', "'");
        }
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let _ = writeln!(text, "{},{},{},{}", quoted(&row.review), quoted(&tags), quoted(&counts), row.y);
    }
    text
}

fn batch(rows: &[Row]) -> RecordBatch {
    let mut tags = ListBuilder::new(StringBuilder::new());
    let mut counts = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
    for row in rows {
        tags.append_value(row.tags.iter().map(Some));
        for (name, count) in &row.counts {
            counts.keys().append_value(name);
            counts.values().append_value(*count);
        }
        counts.append(true).unwrap();
    }
    let columns: [(&str, ArrayRef); 4] = [
        ("review", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.review)))),
        ("tags", Arc::new(tags.finish())),
        ("counts", Arc::new(counts.finish())),
        ("y", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.y)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

const FILES: [&str; 5] = ["lines.ndjson", "json.csv", "python.csv", "typed.parquet", "typed.arrow"];

fn folder() -> Folder {
    let rows = rows();
    let lines = rows.iter().fold(String::new(), |text, row| text + &object(row).to_string() + "\n");
    Folder::new()
        .with("lines.ndjson", lines)
        .with("json.csv", csv(&rows, false))
        .with("python.csv", csv(&rows, true))
        .with("typed.parquet", parquet(&batch(&rows)))
        .with("typed.arrow", arrow_stream(&batch(&rows)))
}

fn predicted(folder: &Folder, file: &str) -> Vec<f64> {
    let said = folder.run(&format!("predict {file} --model m.mercer --quiet"));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{file}");
    let number = |line: &str| match serde_json::from_str(line).unwrap() {
        Value::Object(row) => row["prediction"].as_f64().unwrap(),
        number => number.as_f64().unwrap(),
    };
    said.out.lines().filter(|line| *line != "prediction").map(number).collect()
}

#[test]
fn texts_lists_and_objects_are_the_same_at_every_door() {
    let folder = folder();
    for learner in ["coin", "auto --set budget=20000"] {
        let mut first = None;
        for trained in FILES {
            folder.done(&format!("train {trained} --target y --learner {learner} --out m.mercer --quiet"));
            for file in FILES {
                let made = predicted(&folder, file);
                let expected: &Vec<f64> = first.get_or_insert_with(|| made.clone());
                assert_eq!(&made, expected, "{learner}: {trained} predicts {file}");
            }
            let found = folder.json(&format!("inspect {trained}"));
            let kinds: Vec<&str> =
                found["columns"].as_array().unwrap().iter().map(|column| column["kind"].as_str().unwrap()).collect();
            let mut sorted = kinds.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, ["list", "list", "number", "text"], "{trained}");
        }
        let report = folder.json(&format!("eval lines.ndjson --target y --learner {learner} --quiet"));
        assert!(report["second_half"]["r2"].as_f64() > Some(0.5), "{report}");
        // Other members would be found.
        let turned = folder.read("lines.ndjson").replace("tag", "gat");
        std::fs::write(folder.path("turned.ndjson"), turned).unwrap();
        assert_ne!(Some(predicted(&folder, "turned.ndjson")), first);
    }
}

#[cfg(all(unix, feature = "serve"))]
#[test]
fn the_service_takes_texts_lists_and_objects() {
    let folder = folder();
    folder.done("train json.csv --target y --learner coin --out m.mercer --quiet");
    let expected = predicted(&folder, "lines.ndjson");
    let service = crate::http::Service::start(&folder, "--model m.mercer");
    let without = |row: &Row| {
        let mut row = object(row);
        row.as_object_mut().unwrap().remove("y");
        row
    };
    let answer = service.predict(&json!({ "rows": rows().iter().map(without).collect::<Vec<_>>() }));
    let made: Vec<f64> =
        answer["predictions"].as_array().unwrap().iter().map(|one| one["prediction"].as_f64().unwrap()).collect();
    assert_eq!(made, expected);
}

/// What is no list of names is refused by its place, with what to do.
#[test]
fn lists_that_say_nothing_are_refused_by_name() {
    for (cell, why) in [
        ("[1, 2]", "holds a list of numbers, whose places would be lost"),
        ("[true]", "holds a list of numbers"),
        ("[[\"a\"]]", "holds lists in lists"),
        ("{\"a\": {\"b\": 1}}", "holds lists in lists"),
    ] {
        let row = |cell: &str| format!("{{\"tags\": {cell}, \"y\": 1}}\n");
        let folder = Folder::new().with("t.ndjson", row("[\"a\"]").repeat(30) + &row(cell) + &row("[]"));
        folder.refused(1, "eval t.ndjson --learner coin --quiet", &["line 31, column 1 (\"tags\")", why, "--ignore"]);
        let said = folder.run("eval t.ndjson --learner coin --on-error skip");
        assert_eq!(said.code, Some(0), "{}", said.err);
    }
    // A learner without tokens says so, and a list is no target.
    let folder = Folder::new().with("t.ndjson", "{\"tags\": [\"a\"], \"x\": 1, \"y\": 2}\n".repeat(30));
    let said = folder.run("eval t.ndjson --learner krls");
    assert!(said.err.contains("column \"tags\": left out, for it holds lists"), "{}", said.err);
    folder.refused(1, "eval t.ndjson --learner krls --target tags", &["the value is nested"]);
}

/// The strongest words are told by name.
#[test]
fn inspect_tells_the_strongest_words() {
    let folder = folder();
    folder.done("train lines.ndjson --target y --learner coin --out m.mercer --quiet");
    let words = folder.json("inspect m.mercer")["strongest_words"].clone();
    let names: Vec<&str> = words.as_array().unwrap().iter().map(|word| word["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"tag \"3\"") || names.contains(&"bad"), "{words}");
    let weights: Vec<f64> =
        words.as_array().unwrap().iter().map(|word| word["weight"].as_f64().unwrap().abs()).collect();
    assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]) && weights.len() == 20, "{words}");
}

/// A model of LIBSVM takes the pairs of a row by index.
#[cfg(all(unix, feature = "serve"))]
#[test]
fn the_service_takes_sparse_rows() {
    let pairs = |t: usize| [(1 + t % 7, 1.0), (20 + t % 5, 0.5), (5000 + t % 3, 2.0)];
    let lines = (0..200).fold(String::new(), |mut text, t| {
        let cells: Vec<String> = pairs(t).iter().map(|(index, value)| format!("{index}:{value}")).collect();
        let _ = writeln!(text, "{} {}", (t % 7) as f64 - (t % 3) as f64, cells.join(" "));
        text
    });
    let folder = Folder::new().with("t.svm", lines);
    folder.done("train t.svm --learner diagonal-kalman --out m.mercer --quiet");
    let expected: Vec<f64> =
        folder.done("predict t.svm --model m.mercer").lines().filter_map(|line| line.parse().ok()).collect();
    let service = crate::http::Service::start(&folder, "--model m.mercer");
    let row = |t: usize| {
        let pairs: serde_json::Map<String, Value> =
            pairs(t).iter().map(|(index, value)| (index.to_string(), (*value).into())).collect();
        json!({ "pairs": pairs })
    };
    let answer = service.predict(&json!({ "rows": (0..200).map(row).collect::<Vec<_>>() }));
    let made: Vec<f64> =
        answer["predictions"].as_array().unwrap().iter().map(|one| one["prediction"].as_f64().unwrap()).collect();
    assert_eq!(made, expected);
}

/// A list in a column of categories is no category: it counts as missing and is told, from JSON as
/// from CSV, and learners of tokens take its members.
#[test]
fn a_list_among_categories_does_not_fit() {
    let rows = |cell: &dyn Fn(usize) -> String| -> String {
        (0..60).map(|t| format!("{{\"c\":{},\"x\":{},\"y\":{}}}\n", cell(t), t % 7, t % 3 + t % 7)).collect()
    };
    let plain = rows(&|t| format!("\"{}\"", ["u", "v", "w"][t % 3]));
    let odd =
        rows(&|t| if t % 5 == 2 { "[\"u\",\"v\"]".to_owned() } else { format!("\"{}\"", ["u", "v", "w"][t % 3]) });
    let csv = rows(&|t| if t % 5 == 2 { "[L]".to_owned() } else { ["u", "v", "w"][t % 3].to_owned() });
    let line = |line: &str| line.replace("{\"c\":", "").replace("\"x\":", "").replace("\"y\":", "").replace('}', "");
    let csv: String = csv.lines().map(|text| line(text) + "\n").collect();
    let csv = "c,x,y\n".to_owned() + &csv.replace("[L]", "\"[\"\"u\"\",\"\"v\"\"]\"");
    let folder = Folder::new().with("d.ndjson", plain).with("odd.ndjson", odd).with("odd.csv", csv);
    folder.run("train d.ndjson --learner krls --target y --out m.mercer --quiet");
    let [json, csv] = ["odd.ndjson", "odd.csv"].map(|file| folder.run(&format!("predict {file} --model m.mercer")));
    for said in [&json, &csv] {
        assert!(said.err.contains("does not fit its column and counts as missing"), "{}", said.err);
        assert!(said.err.contains("column \"c\": 12 cells did not fit and counted as missing"), "{}", said.err);
    }
    let numbers = |text: &str| -> Vec<f64> {
        let digits = |line: &str| line.trim_matches(|c: char| !(c.is_ascii_digit() || c == '-')).parse().ok();
        text.lines().filter_map(|line| digits(line.trim_start_matches("{\"prediction\":"))).collect()
    };
    assert_eq!((numbers(&json.out).len(), numbers(&json.out)), (60, numbers(&csv.out)));
    folder.run("train d.ndjson --learner auto --target y --out a.mercer --quiet");
    assert_eq!(folder.run("predict odd.ndjson --model a.mercer").code, Some(0));
}
