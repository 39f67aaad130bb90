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
    let said = folder.run("eval t.csv --learner coin");
    assert!(
        said.err.contains(
            "its words and signs are tokens of learners that take them, such as auto and coin; --as 'text=category'"
        ),
        "{}",
        said.err
    );
}
