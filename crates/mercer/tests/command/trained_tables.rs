//! `train` and `predict` of tables that are not all numbers: in pieces, with a resume between, they do what one `eval` does.

use std::fmt::Write as _;

use crate::support::Folder;

/// `rows` sales: a date, a city, a size with gaps, a weight, whether it was paid, and a price in euros.
fn sales(rows: std::ops::Range<usize>) -> String {
    let mut text = "day;city;size;weight;paid;price\n".to_owned();
    for t in rows {
        let size = if t % 9 == 4 { String::new() } else { format!("{},5", 40 + t * 37 % 80) };
        let city = ["Ulm", "Bonn", "Kiel", "Jena"][if t > 500 || t < 8 { t % 4 } else { t % 3 }];
        let price = 100_000 * (1 + t % 3) + 2_000 * (t * 37 % 80);
        let paid = if t * 37 % 80 > 30 + 10 * (t % 3) { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "{:02}.{:02}.2024;{city};{size};{};{paid};{price}",
            1 + t % 28,
            1 + t / 28 % 12,
            [1, 2, 0, 1][t % 4]
        );
    }
    text
}

fn folder() -> Folder {
    Folder::new().with("all.csv", sales(0..700)).with("second.csv", sales(400..550)).with("third.csv", sales(550..700))
}

/// The lines behind the first, without what stands before the predictions.
fn evaluated(folder: &Folder, from: usize, targets: usize) -> Vec<String> {
    let text = folder.read("p.csv");
    let cells = |line: &str| line.splitn(2 + targets, ',').last().unwrap().to_owned();
    text.lines().skip(1 + from).map(cells).collect()
}

fn succeeds(folder: &Folder, arguments: &str) -> String {
    let said = folder.run(arguments);
    assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
    said.out
}

/// In pieces, against one pass; `targets` columns stand before the predictions.
fn same_in_pieces(options: &str, more: &str, targets: usize) {
    let folder = folder();
    succeeds(&folder, &format!("eval all.csv {options} {more} --block 1 --predictions p.csv"));
    let train = format!("train all.csv {options} {more} --model m.mercer --quiet");
    succeeds(&folder, &format!("{train} --limit 300 --checkpoint 100"));
    succeeds(&folder, &format!("{train} --limit 400 --resume"));
    let intervals = if more.contains("--intervals") { "--intervals 0.9" } else { "" };
    let mut made = Vec::new();
    for piece in ["second.csv", "third.csv"] {
        let out = succeeds(&folder, &format!("predict {piece} --model m.mercer --learn --quiet {intervals}"));
        made.extend(out.lines().skip(1).map(str::to_owned));
    }
    let expected = evaluated(&folder, 400, targets);
    assert_eq!(made.len(), expected.len());
    for (row, (made, expected)) in made.iter().zip(&expected).enumerate() {
        assert_eq!(made, expected, "row {row} of {options} {more}");
    }
    // Blocks agree to rounding.
    let whole = folder.run(&format!("eval all.csv {options} {more} --json")).out;
    let whole: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let facts = folder.json("inspect m.mercer");
    for key in ["mse", "accuracy", "log_loss"] {
        if let (Some(made), Some(expected)) = (facts[key].as_f64(), whole[key].as_f64()) {
            assert!((made - expected).abs() <= 1e-10 * expected.abs(), "{key}: {made} {expected}");
        }
    }
}

#[test]
fn numbers_are_learnt_in_pieces_as_in_one_pass() {
    for learner in
        ["krls --set lambda=1", "nons-ald --scale standard", "auto", "fogd --scale robust", "krls --scale range"]
    {
        let kernel = if learner.starts_with("auto") { "" } else { "--kernel gaussian:3" };
        same_in_pieces(&format!("--learner {learner} {kernel}"), "", 1);
    }
    same_in_pieces("--learner nons-ald --scale standard", "--weight weight", 1);
    same_in_pieces("--learner krls --scale standard --set lambda=0.1", "--intervals 0.9", 1);
    same_in_pieces("--learner krls --scale standard --set lambda=0.1", "--intervals 0.9 --interval-width local", 1);
    same_in_pieces("--learner krls --set lambda=0.1", "--target price,weight --ignore paid --scale standard", 2);
}

#[test]
fn classes_are_learnt_in_pieces_as_in_one_pass() {
    for learner in ["krls", "nons-ald --scale standard", "pegasos --scale robust"] {
        same_in_pieces(&format!("--learner {learner} --kernel gaussian:2 --target paid"), "", 1);
    }
    same_in_pieces("--learner krls --kernel gaussian:2 --target city --only day,size,price", "--scale standard", 1);
}
