//! `mercer fit` and `mercer merge` with a target that is a class.

use std::fs;

use crate::support::{Folder, examples};

const FOURIER: &str = "--learner pkrr-fourier --kernel gaussian:1.5 --set features=40 --set lambda=0.01";
const HEADER: &str = "a,b,c,colour\n";

/// Three classes, of which one has to be quoted and one comes after 600 rows.
fn colour(t: usize, x: &[f64]) -> &'static str {
    match (x[0] > 0.2, t >= 600 && x[1] > 0.6) {
        (true, _) => "red",
        (_, true) => "\"dark, blue\"",
        _ => "grey",
    }
}

fn csv(rows: std::ops::Range<usize>, header: &str, label: impl Fn(usize, &[f64]) -> String) -> String {
    let table = examples(rows.end);
    let all: Vec<(&[f64], f64)> = table.iter().collect();
    let lines = rows.map(|t| format!("{},{},{},{}\n", all[t].0[0], all[t].0[1], all[t].0[2], label(t, all[t].0)));
    format!("{header}{}", lines.collect::<String>())
}

fn folder() -> Folder {
    let colours = |rows| csv(rows, HEADER, |t, x| colour(t, x).to_owned());
    Folder::new()
        .with("all.csv", colours(0..900))
        .with("part-1.csv", colours(0..400))
        .with("part-2.csv", colours(400..700))
        .with("part-3.csv", colours(700..900))
        .with("new.csv", colours(900..1100))
}

/// The class predicted for each row of new.csv, and its numbers.
fn predictions(folder: &Folder, model: &str) -> Vec<(String, Vec<f64>)> {
    let lines = folder.done(&format!("predict new.csv --model {model}"));
    let line = |line: &str| {
        let (class, numbers) = match line.strip_prefix('"') {
            Some(rest) => rest.split_once("\",").unwrap(),
            None => line.split_once(',').unwrap(),
        };
        (class.to_owned(), numbers.split(',').map(|cell| cell.parse().unwrap()).collect())
    };
    lines.lines().skip(1).map(line).collect()
}

fn assert_near(folder: &Folder, ours: &str, theirs: &str) {
    let (ours, theirs) = (predictions(folder, ours), predictions(folder, theirs));
    assert_eq!(ours.len(), 200);
    for ((class, ours), (other, theirs)) in ours.iter().zip(&theirs) {
        assert!(class == other && ours.len() == theirs.len());
        assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?} {theirs:?}");
    }
}

#[test]
fn text_is_a_class_and_shards_of_different_classes_are_one_pass() {
    let folder = folder();
    let told = folder.json(&format!("fit all.csv {FOURIER} --out one.mercer"));
    assert_eq!(told["classes"], serde_json::json!(["dark, blue", "grey", "red"]));
    assert_eq!((told["outputs"].as_u64(), told["rows"].as_u64()), (Some(3), Some(900)));
    assert!(told["r2"].as_f64().unwrap() > 0.3 && told["mse"].as_f64().unwrap() < 1.0);
    let header = folder.done("predict new.csv --model one.mercer").lines().next().unwrap().to_owned();
    assert_eq!(header, "prediction,\"p_dark, blue\",p_grey,p_red");
    let made = predictions(&folder, "one.mercer");
    let table = examples(1100);
    let right = table.iter().enumerate().skip(900).zip(&made).filter(|((t, (x, _)), (class, probabilities))| {
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        colour(*t, x).trim_matches('"') == class
    });
    let right = right.count();
    assert!(right > 150, "{right} of 200");
    // The first shard has two classes, the last three.
    for shards in [2, 7] {
        let mut names = Vec::new();
        for shard in (0..shards).rev() {
            let name = format!("s{shard}.mercer");
            folder.done(&format!("fit part-*.csv {FOURIER} --shard {shard}/{shards} --out {name}"));
            names.push(name);
        }
        assert_eq!(folder.json("inspect s0.mercer")["classes"], serde_json::json!(["grey", "red"]));
        let told = folder.json(&format!("merge {} --held-out --out merged.mercer", names.join(" ")));
        assert_eq!((told["rows"].as_u64(), told["classes"].as_array().unwrap().len()), (Some(900), 3));
        let held_out = told["held_out"].as_object().unwrap();
        assert!(held_out.len() == shards && held_out.values().all(|error| error.as_f64().unwrap() < 2.0));
        assert_near(&folder, "merged.mercer", "one.mercer");
        // Without the last shard, as if it had never been.
        let last = format!("s{}.mercer", shards - 1);
        folder.done(&format!("merge merged.mercer --retract {last} --quiet --out without.mercer"));
        folder.done(&format!("merge {} --quiet --out rest.mercer", names[1..].join(" ")));
        assert_near(&folder, "without.mercer", "rest.mercer");
    }
    // It goes on learning.
    assert_eq!(folder.run("predict new.csv --model merged.mercer --learn").code, Some(0));
    assert_eq!(folder.json("inspect merged.mercer")["kind"], "classification");
}

#[test]
fn the_sums_of_classes_are_the_same_for_any_number_of_threads() {
    // Enough rows for several chunks; the classes of a chunk are not those of another.
    let label = |t: usize, x: &[f64]| if x[0] > 0.3 { "A".to_owned() } else { format!("g{}", t / 4000 % 3) };
    let folder =
        Folder::new().with("a.csv", csv(0..21_000, HEADER, label)).with("b.csv", csv(3000..4000, HEADER, label));
    let mut files = Vec::new();
    for threads in [1, 2, 5] {
        folder.done(&format!("fit a.csv b.csv {FOURIER} --threads {threads} --out t.mercer"));
        files.push(fs::read(folder.path("t.mercer")).unwrap());
        fs::remove_file(folder.path("t.mercer")).unwrap();
    }
    assert!(files.windows(2).all(|pair| pair[0] == pair[1]), "the sums depend on the threads");
}

#[test]
fn a_shard_of_classes_that_is_there_is_left_as_it_is() {
    let folder = folder();
    let shard = format!("fit all.csv {FOURIER} --shard 1/3 --out part.mercer --resume");
    folder.done(&shard);
    let said = folder.run(&shard);
    assert!(said.code == Some(0) && said.err.contains("holds shard 1/3 already"), "{}", said.err);
}

#[test]
fn numbers_are_classes_where_the_user_says_so() {
    let sign = |_: usize, x: &[f64]| if x[0] > x[1] { "1".to_owned() } else { "0.0".to_owned() };
    let folder =
        Folder::new().with("s.csv", csv(0..500, "a,b,c,y\n", sign)).with("new.csv", csv(500..700, "a,b,c,y\n", sign));
    let fit = "fit s.csv --learner ridge --set lambda=0.1 --scale standard --scale-from s.csv";
    let said = folder.run(&format!("{fit} --out numbers.mercer"));
    assert!(said.code == Some(0) && said.err.contains("say --task class"), "{}", said.err);
    assert!(folder.done("predict new.csv --model numbers.mercer").starts_with("prediction\n"));
    let told = folder.json(&format!("{fit} --task class --out classes.mercer"));
    assert_eq!(told["classes"], serde_json::json!(["0", "1"]));
    let lines = folder.done("predict new.csv --model classes.mercer");
    assert!(lines.starts_with("prediction,p_0,p_1,score\n"), "{lines}");
    let table = examples(700);
    let right = table
        .iter()
        .skip(500)
        .zip(lines.lines().skip(1))
        .filter(|((x, _), line)| line.starts_with(if x[0] > x[1] { "1," } else { "0," }));
    let right = right.count();
    assert!(right > 180, "{right} of 200");
    let alone = folder.run(&format!("{fit} --task regression --out again.mercer"));
    assert!(alone.code == Some(0) && alone.err.is_empty(), "{}", alone.err);
}

#[test]
fn classes_and_numbers_do_not_mix() {
    let many = |t: usize, _: &[f64]| format!("c{t}");
    let number = |_: usize, x: &[f64]| x[0].to_string();
    let folder = folder()
        .with("many.csv", csv(0..1500, HEADER, many))
        .with("numbers.csv", csv(0..50, HEADER, number))
        .with("gap.csv", "a,b,c,colour\n1,2,3,red\n1,2,4,\n");
    let ridge = "--learner ridge --out c.mercer";
    folder.done("fit part-1.csv --learner ridge --shard 0/2 --out a.mercer");
    folder.done("fit numbers.csv --learner ridge --shard 1/2 --out b.mercer");
    folder.refused(1, "merge a.mercer b.mercer --out c.mercer", &["the targets", "differ: classes and numbers"]);
    folder.refused(1, &format!("fit numbers.csv part-1.csv {ridge}"), &["part-1.csv", "colour", "\"grey\""]);
    folder.refused(1, &format!("fit part-1.csv --task regression {ridge}"), &["part-1.csv", "colour"]);
    folder.refused(1, &format!("fit gap.csv {ridge}"), &["gap.csv", "line 3", "colour"]);
    folder.refused(1, &format!("fit many.csv {ridge}"), &["many.csv", "colour", "too many for classes"]);
    let classes = format!("fit many.csv --task class {ridge}");
    folder.refused(1, &classes, &["many.csv", "1500 classes", "1000 at most"]);
    folder.refused(
        1,
        &format!("fit part-1.csv --task class --target a,b --ignore colour {ridge}"),
        &["2 targets", "labels"],
    );
}
