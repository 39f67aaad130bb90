//! Columns of text, whose words learners of tokens take.

use std::fmt::Write as _;

use crate::support::Folder;

const WORDS: [&str; 12] =
    ["good", "bad", "slow", "quick", "red", "blue", "Größe", "naïve", "cheap", "dear", "old", "日本"];

/// The words of row `t`, and what they are worth.
fn review(t: usize) -> (String, f64) {
    let places: Vec<usize> = (0..5 + t % 4).map(|k| (t * t + 7 * t * (k + 1) + 13 * k * k) % WORDS.len()).collect();
    let words: Vec<&str> = places.iter().map(|place| WORDS[*place]).collect();
    let worth = places.iter().map(|place| ((place * 5) as f64).sin()).sum();
    (format!("{}, no {t}!", words.join(" ")), worth)
}

fn csv(rows: std::ops::Range<usize>) -> String {
    let mut text = "review,shop,size,stars,kind\n".to_owned();
    for t in rows {
        let (review, worth) = review(t);
        let stars = worth + (t % 3) as f64 + 0.1 * (t % 7) as f64;
        let kind = if stars > 1.0 { "fine" } else { "poor" };
        let _ = writeln!(text, "\"{review}\",{},{},{stars:.3},{kind}", ["Ulm", "Bonn", "Kiel"][t % 3], t % 7);
    }
    text
}

fn ndjson(rows: std::ops::Range<usize>) -> String {
    let csv = csv(rows);
    let mut text = String::new();
    for line in csv.lines().skip(1) {
        let (review, rest) = line[1..].split_once("\",").unwrap();
        let cells: Vec<&str> = rest.split(',').collect();
        let object = serde_json::json!({
            "review": review, "shop": cells[0], "size": cells[1].parse::<f64>().unwrap(),
            "stars": cells[2].parse::<f64>().unwrap(), "kind": cells[3],
        });
        let _ = writeln!(text, "{object}");
    }
    text
}

fn folder() -> Folder {
    Folder::new().with("all.csv", csv(0..600)).with("last.csv", csv(400..600)).with("all.ndjson", ndjson(0..600))
}

const MIXED: &str = "--learner experts --set members=coin;diagonal-kalman;pairs";

#[test]
fn words_are_learnt() {
    let folder = folder();
    let error = |options: &str| -> f64 {
        let report =
            folder.json(&format!("eval all.csv --target stars --ignore kind --scale standard --quiet {options}"));
        report["second_half"]["r2"].as_f64().unwrap_or_else(|| panic!("{report}"))
    };
    for learner in ["--learner coin", "--learner diagonal-kalman", "--learner auto", MIXED] {
        let (with, without) = (error(learner), error(&format!("{learner} --as review=identifier")));
        assert!(with > 0.8 && without < 0.7, "{learner}: {with} {without}");
    }
}

/// In pieces, with a resume between, as in one pass; from another format the same.
#[test]
fn words_are_learnt_in_pieces_and_from_any_format_alike() {
    for (options, targets) in [
        (format!("--target stars --ignore kind --scale standard {MIXED}"), 1),
        ("--target stars --ignore kind --learner coin --intervals 0.9".to_owned(), 1),
        ("--target kind --ignore stars --learner diagonal-kalman".to_owned(), 1),
        ("--target stars --ignore kind --learner auto --set budget=20000".to_owned(), 1),
    ] {
        let folder = folder();
        let behind = |file: &str| -> Vec<String> {
            let text = folder.read(file);
            text.lines().skip(1).map(|line| line.splitn(2 + targets, ',').last().unwrap().to_owned()).collect()
        };
        folder.done(&format!("eval all.csv {options} --block 1 --predictions p.csv --quiet"));
        folder.done(&format!("eval all.ndjson {options} --block 1 --predictions q.csv --quiet"));
        let expected = behind("p.csv");
        assert_eq!(behind("q.csv"), expected, "{options}");
        let train = format!("train all.csv {options} --out m.mercer --quiet");
        folder.done(&format!("{train} --limit 300 --checkpoint 100"));
        folder.done(&format!("{train} --limit 400 --resume"));
        let intervals = if options.contains("--intervals") { "--intervals 0.9" } else { "" };
        let made = folder.done(&format!("predict last.csv --model m.mercer --learn --quiet {intervals}"));
        let made: Vec<&str> = made.lines().skip(1).collect();
        assert_eq!(made, expected[400..], "{options}");
    }
}

/// A table of one text is learnt; a learner without tokens says why it cannot.
#[test]
fn a_text_alone_is_learnt() {
    let lines: String = (0..300).map(review).map(|(text, worth)| format!("\"{text}\",{worth:.3}\n")).collect();
    let folder = Folder::new().with("t.csv", format!("text,y\n{lines}"));
    let report = folder.json("eval t.csv --learner diagonal-kalman --scale standard --quiet");
    assert!(report["second_half"]["r2"].as_f64() > Some(0.8), "{report}");
    folder.refused(1, "eval t.csv --learner krls", &["text", "left out"]);
    folder.done("train t.csv --learner coin --out m.mercer --quiet");
    assert_eq!(folder.done("predict t.csv --model m.mercer --quiet").lines().count(), 300);
    let folder = folder.with("other.csv", "words,y\na b,1\n");
    folder.refused(1, "predict other.csv --model m.mercer", &["text"]);
    let said = folder.run("eval t.csv --learner coin");
    assert!(
        said.err.contains(
            "its words and signs are tokens of learners that take them, such as auto and coin; --as 'text=category'"
        ),
        "{}",
        said.err
    );
}

/// Rows of five pairs among 5,000 indices.
fn wide(rows: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for t in rows {
        let mut pairs: Vec<usize> = (0..5).map(|k| (t * t * 31 + t * k * 17 + 977 * k) % 50 * 100 + k).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let y: f64 = pairs.iter().map(|index| ((index * 7) as f64).sin()).sum();
        let pairs: Vec<String> = pairs.iter().map(|index| format!("{}:1", index + 1)).collect();
        let _ = writeln!(text, "{:.3} {}", y / 2.0, pairs.join(" "));
    }
    text
}

/// The token of an index is that of the column, so that a dense row and a sparse one are the same.
#[test]
fn pairs_of_libsvm_are_tokens() {
    let folder = Folder::new().with("w.svm", wide(0..900)).with("last.svm", wide(600..900));
    let made = |options: &str| -> Vec<f64> {
        folder.done(&format!("eval w.svm {options} --block 1 --predictions p.csv --quiet"));
        let text = folder.read("p.csv");
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    let (sparse, dense) = (made("--learner coin"), made("--learner coin --dimension 5001"));
    for (sparse, dense) in sparse.iter().zip(&dense) {
        assert!((sparse - dense).abs() < 1e-9, "{sparse} {dense}");
    }
    let piped = folder.json_of(wide(0..900).as_bytes(), "eval - --format libsvm --learner coin --quiet");
    let report = folder.json("eval w.svm --learner coin --quiet");
    assert_eq!(piped["mse"].as_f64(), report["mse"].as_f64());
    let learnt = |options: &str| folder.json(&format!("eval w.svm --quiet {options}"))["second_half"]["r2"].as_f64();
    assert!(learnt("--learner diagonal-kalman") > Some(0.5) && learnt("--learner auto --set budget=20000") > Some(0.5));
    folder.done("train w.svm --learner coin --out m.mercer --quiet --limit 300 --checkpoint 100");
    folder.done("train w.svm --learner coin --out m.mercer --quiet --limit 600 --resume");
    let text = folder.done("predict last.svm --model m.mercer --learn --quiet");
    let late: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(late, sparse[600..]);
    let folder = folder.with("bad.svm", "1 5:1 4:2\n");
    folder.refused(1, "eval bad.svm --learner coin", &["line 1", "index 4 comes after 5"]);
}

/// Filters of shards add up by their precisions; others are refused by name.
#[test]
fn filters_of_shards_merge() {
    let ndjson = |rows: std::ops::Range<usize>| -> String {
        let row = |t: usize| {
            let (text, worth) = review(t);
            let tags: Vec<&str> = text.split(' ').take(2).collect();
            serde_json::json!({ "text": text, "tags": tags, "y": worth }).to_string() + "\n"
        };
        rows.map(row).collect()
    };
    let folder = Folder::new().with("a.ndjson", ndjson(0..300)).with("b.ndjson", ndjson(300..600));
    let folder = folder.with("test.ndjson", ndjson(600..800)).with("a.svm", wide(0..300)).with("b.svm", wide(300..600));
    let error = |model: &str| -> f64 {
        let text = folder.done(&format!("predict test.ndjson --model {model} --quiet"));
        let made = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        made.zip(600..).map(|(row, t)| (row["prediction"].as_f64().unwrap() - review(t).1).powi(2)).sum::<f64>() / 200.0
    };
    for shard in ["a", "b"] {
        for format in ["ndjson", "svm"] {
            let target = if format == "svm" { "" } else { "--target y" };
            let learner = "--learner diagonal-kalman --quiet";
            folder.done(&format!("train {shard}.{format} {target} {learner} --out {shard}.{format}.mercer"));
        }
        folder.done(&format!("train {shard}.ndjson --target y --learner coin --out {shard}.coin --quiet"));
    }
    let facts = folder.json("merge a.ndjson.mercer b.ndjson.mercer --out m.mercer");
    assert_eq!((facts["files"].as_u64(), facts["rows"].as_u64()), (Some(2), Some(600)));
    let mean = (600..800).map(|t| review(t).1).sum::<f64>() / 200.0;
    let spread = (600..800).map(|t| (review(t).1 - mean).powi(2)).sum::<f64>() / 200.0;
    assert!(error("m.mercer") < 0.1 * spread, "{} {spread}", error("m.mercer"));
    folder.done("merge a.svm.mercer b.svm.mercer --out s.mercer");
    folder.refused(1, "merge a.coin b.coin --out c.mercer", &["a.coin: coin does not merge; diagonal-kalman does"]);
    folder.refused(1, "merge a.svm.mercer b.ndjson.mercer --out c.mercer", &["their columns differ"]);
    folder.refused(2, "merge a.svm.mercer --retract b.svm.mercer --out c.mercer", &["--retract are for the sums"]);
}
