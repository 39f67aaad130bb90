//! `train` and `predict` of tables that are not all numbers: in pieces, with a resume between, they
//! do what one `eval` does.

use std::fmt::Write as _;

use crate::support::Folder;

/// `rows` sales: a date, a city, a size with gaps, a weight, whether it was paid, and a price in
/// euros.
fn sales(rows: std::ops::Range<usize>) -> String {
    let mut text = "day;city;size;weight;paid;price\n".to_owned();
    for t in rows {
        let size = if t % 9 == 4 { String::new() } else { format!("{},5", 40 + t * 37 % 80) };
        let city = ["Ulm", "Bonn", "Kiel", "Jena"][if !(8..=500).contains(&t) { t % 4 } else { t % 3 }];
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
    let train = format!("train all.csv {options} {more} --out m.mercer --quiet");
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
    // Both leave out the first row of `auto`, before which nothing is known.
    let first = if options.contains("auto") { 2 } else { 1 };
    assert_eq!((facts["scored_from_row"].as_u64(), facts["learnt"].as_u64()), (Some(first), Some(700)), "{options}");
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
    same_in_pieces("--learner krls --set lambda=0.1 --scale standard", "--as city=mean --weight weight", 1);
    same_in_pieces("--learner krls --set lambda=0.1", "--target price,weight --ignore paid --scale standard", 2);
}

#[test]
fn classes_are_learnt_in_pieces_as_in_one_pass() {
    for learner in ["krls", "nons-ald --scale standard", "pegasos --scale robust"] {
        same_in_pieces(&format!("--learner {learner} --kernel gaussian:2 --target paid"), "", 1);
    }
    same_in_pieces("--learner krls --kernel gaussian:2 --target paid --as city=mean", "--scale standard", 1);
    same_in_pieces("--learner krls --kernel gaussian:2 --target city --only day,size,price", "--scale standard", 1);
}

/// A pipe is a file: its first rows are kept and read again.
#[test]
fn a_pipe_of_a_table_gives_what_a_file_gives() {
    let folder = folder();
    let text = folder.read("all.csv");
    let piped = |arguments: &str| {
        let said = folder.piped(text.as_bytes(), arguments);
        assert_eq!(said.code, Some(0), "{arguments}: {}", said.err);
        said.out
    };
    let timeless = |text: &str| {
        let mut facts: serde_json::Value = serde_json::from_str(text).unwrap();
        let facts = facts.as_object_mut().unwrap();
        facts.remove("seconds");
        facts.remove("seconds_per_example");
        facts.clone()
    };
    for learner in ["krls --kernel gaussian:3", "nons-ald --scale standard", "krls --target paid"] {
        let from_file = succeeds(&folder, &format!("eval all.csv --learner {learner} --block 1 --json"));
        let from_pipe = piped(&format!("eval - --format csv --learner {learner} --json"));
        assert_eq!(timeless(&from_pipe), timeless(&from_file), "{learner}");
        succeeds(&folder, &format!("train all.csv --learner {learner} --out file.mercer --quiet"));
        piped(&format!(
            "train - --format csv --learner {learner} --out pipe.mercer --quiet --task {}",
            if learner.contains("paid") { "class" } else { "regression" }
        ));
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(read("file.mercer") == read("pipe.mercer"), "{learner}");
        let expected = succeeds(&folder, "predict second.csv --model file.mercer");
        let second = folder.read("second.csv");
        let said = folder.piped(second.as_bytes(), "predict - --format csv --model file.mercer");
        assert_eq!(said.out, expected, "{learner}");
    }
}

/// With a model that knows the columns, each row is answered before the next is sent.
#[test]
fn rows_of_a_table_are_answered_one_by_one() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = folder();
    succeeds(&folder, "train all.csv --learner krls --kernel gaussian:3 --out m.mercer --quiet");
    let expected = succeeds(&folder, "predict second.csv --model m.mercer");
    let mut command = folder.command(&["predict", "-", "--format", "csv", "--model", "m.mercer"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut answers = expected.lines();
    for (at, line) in folder.read("second.csv").lines().enumerate().take(20) {
        writeln!(stdin, "{line}").unwrap();
        let due = [0, 2, 1][at.min(2)];
        for expected in answers.by_ref().take(due) {
            let mut answer = String::new();
            stdout.read_line(&mut answer).unwrap();
            assert_eq!(answer.trim_end(), expected, "row {at}");
        }
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Columns are found by name; one that is missing, or a category that is new, is told once.
#[test]
fn columns_of_other_files_are_matched() {
    let folder = folder();
    succeeds(&folder, "train all.csv --learner krls --kernel gaussian:3 --out m.mercer --quiet");
    let expected = succeeds(&folder, "predict second.csv --model m.mercer");
    let second = folder.read("second.csv");
    let swapped: String = second
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(';').collect();
            format!("note {};{};{};{};{};{}\n", cells[0].len(), cells[2], cells[4], cells[0], cells[3], cells[1])
        })
        .collect();
    let bare = second.split_once('\n').unwrap().1.to_owned();
    let lacking: String = second.lines().map(|line| line.split_once(';').unwrap().1.to_owned() + "\n").collect();
    let folder = folder
        .with("swapped.csv", swapped)
        .with("bare.csv", bare)
        .with("lacking.csv", lacking.replace("Ulm", "Paris").replace("Bonn", "Rome"))
        .with("other.csv", "p,q\n1,2\n");
    let said = folder.run("predict swapped.csv --model m.mercer");
    assert_eq!((said.out, said.err), (expected.clone(), String::new()));
    let bare = succeeds(&folder, "predict bare.csv --model m.mercer");
    assert_eq!(bare.trim_start_matches("prediction\n"), expected.trim_start_matches("prediction\n"));
    let said = folder.run("predict lacking.csv --model m.mercer");
    let told: Vec<&str> = said.err.lines().collect();
    assert_eq!((said.code, told.len()), (Some(0), 3), "{}", said.err);
    assert!(told[0].contains("lacking.csv: has no column \"day\", which the model knows"), "{}", said.err);
    assert!(told[1].contains("column \"city\": has no number of its own for this category"), "{}", said.err);
    assert_eq!(told[2], "mercer: column \"city\": 92 cells of categories without a number of their own");
    folder.refused(1, "predict other.csv --model m.mercer", &["none of the columns \"p\", \"q\""]);
    let learn = "predict lacking.csv --model m.mercer --learn --target cost --quiet";
    folder.refused(1, learn, &["has no column \"cost\", which is to be learnt"]);
    let without: String = second.lines().map(|line| line.rsplit_once(';').unwrap().0.to_owned() + "\n").collect();
    let folder = folder.with("without.csv", without);
    assert_eq!(succeeds(&folder, "predict without.csv --model m.mercer"), expected);
    folder.refused(1, "predict without.csv --model m.mercer --learn --quiet", &["\"price\"", "--target"]);
}

/// Rows that cannot be read are left out as they are of plain tables, and the quarantine has them
/// as they stand.
#[test]
fn bad_rows_of_a_table_are_put_aside() {
    let folder = folder();
    let good = folder.read("all.csv");
    let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
    lines.insert(300, "01.01.2024;Ulm".to_owned());
    lines.insert(310, "01.01.2024;Ulm;1;1;yes;free".to_owned());
    lines.insert(320, "01.01.2024;Ulm;1;1;yes;".to_owned());
    let folder = folder.with("bad.csv", lines.join("\n") + "\n");
    let learner = "--learner krls --kernel gaussian:3 --quiet";
    let said = folder.run(&format!("train bad.csv {learner} --out b.mercer --on-error quarantine=aside.csv"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("3 bad rows were put into aside.csv, the first: bad.csv, line 301"), "{}", said.err);
    assert_eq!(folder.read("aside.csv"), "01.01.2024;Ulm\n01.01.2024;Ulm;1;1;yes;free\n01.01.2024;Ulm;1;1;yes;\n");
    succeeds(&folder, &format!("train all.csv {learner} --out a.mercer"));
    let predict = |model: &str| succeeds(&folder, &format!("predict second.csv --model {model}.mercer"));
    assert_eq!(predict("a"), predict("b"));
    // A run that is resumed puts aside what the model has not met.
    let again = format!("train bad.csv {learner} --out b.mercer --resume --on-error quarantine=aside.csv");
    assert_eq!(folder.run(&again).code, Some(0));
    assert_eq!(folder.read("aside.csv").lines().count(), 3);
    // Neither does one that was killed between the rows put aside and the model that has met them.
    let quarantine = format!("{learner} --out k.mercer --resume --on-error quarantine=kept.csv");
    assert_eq!(folder.run(&format!("train bad.csv --limit 305 {quarantine}")).code, Some(0));
    let before = std::fs::read(folder.path("k.mercer")).unwrap();
    for _ in 0..2 {
        std::fs::write(folder.path("k.mercer"), &before).unwrap();
        assert_eq!(folder.run(&format!("train bad.csv {quarantine}")).code, Some(0));
        assert_eq!(folder.read("kept.csv"), folder.read("aside.csv"));
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path("aside.csv"), folder.path("link.csv")).unwrap();
        let through = "predict bad.csv --model b.mercer --on-error quarantine=link.csv";
        folder.refused(1, through, &["link.csv: is a link"]);
    }
    let facts = folder.json("inspect b.mercer");
    assert_eq!((facts["rows"].as_u64(), facts["bad_rows"].as_u64()), (Some(703), Some(3)));
    let stopped = folder.run(&format!("train bad.csv {learner} --out s.mercer"));
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.err.contains("line 301") && stopped.err.contains("is saved in s.mercer"), "{}", stopped.err);
    succeeds(&folder, &format!("train all.csv {learner} --out s.mercer --resume"));
    let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(read("s.mercer") == read("a.mercer"));
}
