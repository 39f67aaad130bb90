//! The order of rows: what is told of it, and `--permute`.

use std::fmt::Write as _;

use crate::support::{Folder, noise};

/// Rows of three classes in two features, class behind class, or in turn.
fn classes(sorted: bool) -> Vec<String> {
    let row = |t: u64| {
        let class = if sorted { t / 100 } else { t % 3 };
        let (x, y) = (noise(t) + class as f64, noise(t + 1000) - class as f64);
        format!("{x},{y},{}", ["a", "b", "c"][class as usize])
    };
    (0..300).map(row).collect()
}

fn csv(header: &str, rows: &[String]) -> String {
    rows.iter().fold(format!("{header}\n"), |text, row| text + row + "\n")
}

fn ndjson(rows: &[String]) -> String {
    rows.iter().fold(String::new(), |mut text, row| {
        let cells: Vec<&str> = row.split(',').collect();
        writeln!(text, "{{\"x\":{},\"y\":{},\"k\":\"{}\"}}", cells[0], cells[1], cells[2]).unwrap();
        text
    })
}

/// What `eval` and `train` tell of the order of the rows of a file, which is the same.
fn told(folder: &Folder, arguments: &str) -> Option<String> {
    let note = |text: &str| text.lines().find(|line| line.contains("docs/order-of-rows.md")).map(str::to_owned);
    let scored = note(&folder.run(&format!("eval {arguments} --learner krls")).out);
    let learnt = note(&folder.run(&format!("train {arguments} --learner krls --out m.mercer")).out);
    assert_eq!(scored, learnt, "{arguments}");
    scored
}

#[test]
fn classes_in_blocks_are_told_in_every_format_and_permuting_mends_them() {
    let (sorted, shuffled) = (classes(true), classes(false));
    let folder = Folder::new()
        .with("sorted.csv", csv("x,y,k", &sorted))
        .with("shuffled.csv", csv("x,y,k", &shuffled))
        .with("sorted.ndjson", ndjson(&sorted))
        .with("shuffled.ndjson", ndjson(&shuffled));
    let expected = "Note: classes come in blocks (2 changes in 300 rows, and some 200 in a random order), so the model knows the last rows best \
                    and its scores say little; unless this is the order of time, shuffle the rows (--permute 1): docs/order-of-rows.md";
    for ending in ["csv", "ndjson"] {
        assert_eq!(told(&folder, &format!("sorted.{ending}")).as_deref(), Some(expected));
        assert_eq!(told(&folder, &format!("sorted.{ending} --permute 1")), None);
        assert_eq!(told(&folder, &format!("shuffled.{ending}")), None);
    }
    // The model that all of this is about.
    let right = |options: &str| {
        folder.run(&format!("train sorted.csv --learner auto --out m.mercer --quiet {options}"));
        let answers = folder.run("predict sorted.csv --model m.mercer").out;
        let answers = answers.lines().skip(1).zip(&sorted);
        answers.filter(|(answer, row)| answer.split(',').next() == row.rsplit(',').next()).count()
    };
    assert!(right("--permute 1") > 285);
    assert!(right("") < 200);
}

#[test]
fn features_and_targets_that_run_one_way_are_told_unless_time_does() {
    let rows = |f: &dyn Fn(u64) -> String| (0..200).map(f).collect::<Vec<_>>();
    let (walk, day) = (|t: u64| noise(t) + noise(t / 7), |t: u64| format!("2024-{:02}-{:02}", 1 + t / 28, 1 + t % 28));
    let folder = Folder::new()
        .with("by_x.csv", csv("carat,y", &rows(&|t| format!("{},{}", (t * t) as f64 / 7.0, walk(t)))))
        .with("by_y.csv", csv("x,price", &rows(&|t| format!("{},{}", walk(t), 900.0 - (t as f64).sqrt()))))
        .with(
            "by_city.csv",
            csv("city,carat,y", &rows(&|t| format!("{},{},{}", ["Ulm", "Bonn"][t as usize % 2], t * t, walk(t)))),
        )
        .with("dated.csv", csv("day,carat,y", &rows(&|t| format!("{},{},{}", day(t), t * t, walk(t)))))
        .with(
            "seconds.csv",
            csv("time,v,k", &rows(&|t| format!("{},{},{}", t * t, walk(t), ["ok", "broken"][t as usize / 150]))),
        )
        .with("undated.csv", csv("day,carat,y", &rows(&|t| format!("{},{},{}", day(t * 37 % 200), t * t, walk(t)))))
        .with("trend.csv", csv("x,y", &rows(&|t| format!("{},{}", t as f64 / 50.0 + walk(t), walk(t)))));
    let has = |file: &str, text: &str| assert!(told(&folder, file).is_some_and(|note| note.contains(text)), "{file}");
    has("by_x.csv", "column \"carat\" rises from the first row to the last");
    has("by_city.csv", "column \"carat\" rises from the first row to the last");
    has("by_y.csv", "the target falls from the first row to the last");
    // Times in no order explain nothing.
    has("undated.csv", "column \"carat\" rises");
    for file in ["dated.csv", "seconds.csv", "trend.csv"] {
        assert_eq!(told(&folder, file), None, "{file}");
    }
}

#[test]
fn a_permuted_stream_is_a_permuted_file_and_its_rows_keep_their_lines() {
    let rows = classes(true);
    let text = csv("x,y,k", &rows);
    let folder = Folder::new().with("d.csv", &text).with("bad.csv", text.replacen('\n', "\n0.5,1,\n", 1));
    let train = "--learner krls --kernel gaussian:2 --permute 7 --quiet";
    folder.run(&format!("train d.csv {train} --out file.mercer"));
    assert_eq!(folder.piped(text.as_bytes(), &format!("train - --format csv {train} --out pipe.mercer")).code, Some(0));
    let model = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(model("file.mercer") == model("pipe.mercer"));
    folder.run(&format!("train d.csv {} --out other.mercer", train.replace('7', "8")));
    assert!(model("file.mercer") != model("other.mercer"));
    // The limit counts behind it, and a run goes on where it ended.
    folder.run(&format!("train d.csv {train} --out part.mercer --limit 120"));
    folder.run(&format!("train d.csv {train} --out part.mercer --resume"));
    assert!(model("file.mercer") == model("part.mercer"));
    let refused = folder.run("train bad.csv --learner krls --permute 1 --out bad.mercer");
    assert!(refused.code == Some(1) && refused.err.contains("bad.csv, line 2"), "{}", refused.err);
    let skipped = folder.run("train bad.csv --learner krls --permute 1 --out bad.mercer --on-error skip");
    assert!(skipped.err.contains("bad row was left out, the first: bad.csv, line 2"), "{}", skipped.err);
}
