//! `train`, `predict` and `inspect`: what is saved goes on as if it had never been, and damage is
//! told.

use mercer::catalogue;

use crate::support::{Folder, csv, examples, predictions};

/// A setting for every learner that keeps a small test small.
fn options(learner: &str) -> &'static str {
    match learner {
        "auto" => "--set budget=5000",
        "fogd" => "--kernel gaussian:0.7 --set features=20",
        "nogd" => "--kernel gaussian:0.7 --set budget=150 --set rank=40",
        "kernel-awv" | "kernel-krr" => "--kernel mix:0.5*gaussian:0.5+0.5*matern32:1",
        "krls" => "--kernel laplace:0.7 --set lambda=0.01 --set forgetting=0.999",
        _ => "--kernel gaussian:0.7",
    }
}

/// Answers of `predict` as bits.
fn answers(text: &str) -> Vec<u64> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("prediction"));
    lines.map(|line| line.parse::<f64>().unwrap().to_bits()).collect()
}

/// The header with lines `from..to` of the rows.
fn part(text: &str, from: usize, to: usize) -> String {
    let rows = text.lines().skip(1).skip(from).take(to - from);
    std::iter::once("a,b,c,y").chain(rows).map(|line| format!("{line}\n")).collect()
}

#[test]
fn half_trained_and_half_served_is_one_uninterrupted_pass_for_every_learner() {
    let text = csv(&examples(600));
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("first.csv", part(&text, 0, 300))
        .with("second.csv", part(&text, 300, 450))
        .with("third.csv", part(&text, 450, 600));
    for entry in catalogue::entries().iter().filter(|entry| entry.takes.numbers()) {
        let learner = format!("--learner {} {} --seed 5", entry.name, options(entry.name));
        folder.done(&format!("eval all.csv {learner} --block 1 --predictions whole.csv"));
        let expected: Vec<u64> = predictions(&folder.path("whole.csv")).iter().map(|row| row.2.to_bits()).collect();
        folder.done(&format!("train first.csv {learner} --out m.mercer --quiet"));
        let second = folder.done("predict second.csv --model m.mercer --learn --quiet");
        assert_eq!(answers(&second), expected[300..450], "{}", entry.name);
        // Predicting without learning changes nothing.
        let before = std::fs::read(folder.path("m.mercer")).unwrap();
        folder.done("predict third.csv --model m.mercer");
        assert_eq!(std::fs::read(folder.path("m.mercer")).unwrap(), before, "{}", entry.name);
        let third = folder.done("predict third.csv --model m.mercer --learn --quiet");
        assert_eq!(answers(&third), expected[450..], "{}", entry.name);
        let facts = folder.json("inspect m.mercer");
        assert_eq!((facts["learner"].as_str(), facts["learnt"].as_u64()), (Some(entry.name), Some(600)));
    }
}

#[test]
fn a_resumed_run_writes_the_file_of_an_uninterrupted_one() {
    let text = csv(&examples(700));
    let folder = Folder::new().with("all.csv", &text).with("begun.csv", part(&text, 0, 437));
    // The width is that of the first rows, which a resumed run must find again.
    let learner = "--learner con-kons --kernel median --scale standard --quiet";
    folder.done(&format!("train all.csv {learner} --out whole.mercer"));
    folder.done(&format!("train begun.csv {learner} --out m.mercer --checkpoint 100"));
    let begun = folder.json("inspect m.mercer");
    assert_eq!(begun["rows"].as_u64(), Some(437));
    folder.done(&format!("train all.csv {learner} --out m.mercer --resume"));
    let (whole, resumed) = ["whole.mercer", "m.mercer"].map(|name| std::fs::read(folder.path(name)).unwrap()).into();
    assert!(whole == resumed, "the files differ");
    // Nothing is left to learn.
    folder.done(&format!("train all.csv {learner} --out m.mercer --resume"));
    assert!(std::fs::read(folder.path("m.mercer")).unwrap() == whole, "the file changed");
    // Without a file, --resume begins.
    folder.done(&format!("train all.csv {learner} --out new.mercer --resume"));
    assert!(std::fs::read(folder.path("new.mercer")).unwrap() == whole);

    // One row, behind those that settle the kernel.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[600] = lines[599].clone();
    let other = lines.join("\n") + "\n";
    let folder = folder.with("other.csv", other).with("short.csv", part(&text, 0, 300));
    let refused = |data: &str, options: &str, parts: &[&str]| {
        folder.refused(1, &format!("train {data} {options} --out m.mercer --resume --quiet"), parts);
    };
    let same = "--learner con-kons --kernel median --scale standard";
    refused("other.csv", same, &["first 700 rows are not those"]);
    refused("short.csv", same, &["first 700 rows are not those"]);
    refused("all.csv", &same.replace("con-kons", "krls"), &["its learner is con-kons, not krls"]);
    refused("all.csv", &format!("{same} --seed 3"), &["its seed is 0, not 3"]);
    refused("all.csv", &format!("{same} --set alpha=3"), &["its alpha is 5, not 3"]);
    refused("all.csv", &same.replace("median", "gaussian:1"), &["its kernel is gaussian:"]);
    refused("all.csv", "--learner con-kons --kernel median", &["cannot be resumed with these options"]);
}

#[test]
fn predictions_come_in_the_units_of_the_target() {
    let table = examples(300);
    let rows = table.iter().map(|(x, y)| format!("{},{},{},{}\n", 100.0 * x[0], x[1], x[2], 50.0 + 10.0 * y));
    let text: String = std::iter::once("a,b,c,y\n".to_owned()).chain(rows).collect();
    let folder = Folder::new().with("all.csv", &text);
    let options = "--learner krls --set lambda=1e-6 --kernel gaussian:1 --scale standard";
    folder.done(&format!("train all.csv {options} --out m.mercer --quiet"));
    let answers = folder.done("predict all.csv --model m.mercer");
    let errors = answers.lines().zip(text.lines()).skip(1).map(|(answer, row)| {
        let target: f64 = row.rsplit(',').next().unwrap().parse().unwrap();
        (answer.parse::<f64>().unwrap() - target).abs()
    });
    assert!(errors.fold(0.0, f64::max) < 1.0);
}

#[test]
fn data_may_come_with_or_without_target_and_in_any_format() {
    let table = examples(60);
    let text = csv(&table);
    let rows = |row: fn(&[f64], f64) -> String| table.iter().map(|(x, y)| row(x, y)).collect::<String>();
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("features.csv", rows(|x, _| format!("{},{},{}\n", x[0], x[1], x[2])))
        .with("first.csv", rows(|x, y| format!("{y},{},{},{}\n", x[0], x[1], x[2])))
        .with("all.ndjson", rows(|x, y| format!("{{\"a\":{},\"b\":{},\"c\":{},\"y\":{y}}}\n", x[0], x[1], x[2])))
        .with("features.ndjson", rows(|x, _| format!("{{\"a\":{},\"b\":{},\"c\":{}}}\n", x[0], x[1], x[2])))
        .with("all.libsvm", rows(|x, y| format!("{y} 1:{} 2:{} 3:{}\n", x[0], x[1], x[2])));
    folder.done("train all.csv --learner krls --kernel gaussian:1 --out m.mercer --quiet");
    let expected = folder.done("predict all.csv --model m.mercer");
    assert_eq!(expected.lines().count(), 61);
    let plain = expected.split_once('\n').unwrap().1;
    assert_eq!(folder.done("predict features.csv --model m.mercer"), plain);
    assert_eq!(folder.done("predict first.csv --model m.mercer --target 1"), plain);
    assert_eq!(folder.done("predict all.libsvm --model m.mercer"), plain);
    let objects: String = plain.lines().map(|number| format!("{{\"prediction\":{number}}}\n")).collect();
    assert_eq!(folder.done("predict all.ndjson --model m.mercer"), objects);
    assert_eq!(folder.done("predict features.ndjson --model m.mercer"), objects);
    assert_eq!(folder.done("predict all.csv --model m.mercer --predictions out.csv"), "");
    assert_eq!(folder.read("out.csv"), expected);
}

#[test]
fn bad_rows_stop_are_skipped_or_put_aside() {
    let mut lines: Vec<String> = csv(&examples(80)).lines().map(str::to_owned).collect();
    for (at, bad) in [(10, "1,2,x,4"), (20, "1,2,3"), (30, "1e300,0,0,1e308")] {
        lines.insert(at, bad.to_owned());
    }
    let text = lines.join("\n") + "\n";
    let clean: String = csv(&examples(80));
    // Text in a column of numbers would have the columns encoded; a row that is too short is no row
    // in any case.
    let short = text.replace("1,2,x,4", "1,2,4");
    let folder = Folder::new().with("bad.csv", &text).with("short.csv", &short).with("clean.csv", &clean);
    let learner = "--learner krls --kernel polynomial:2,1 --set lambda=1 --quiet";
    let stopped = folder.run(&format!("train short.csv {learner} --out m.mercer"));
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.err.contains("line 11") && stopped.err.contains("--on-error skip"), "{}", stopped.err);

    let said = folder.run(&format!("train bad.csv {learner} --out m.mercer --on-error skip"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("3 bad rows were left out, the first: bad.csv, line 11"), "{}", said.err);
    let facts = folder.json("inspect m.mercer");
    assert_eq!(
        (facts["rows"].as_u64(), facts["bad_rows"].as_u64(), facts["learnt"].as_u64()),
        (Some(83), Some(3), Some(80))
    );
    folder.done(&format!("train clean.csv {learner} --out clean.mercer"));
    assert_eq!(
        folder.done("predict clean.csv --model m.mercer"),
        folder.done("predict clean.csv --model clean.mercer")
    );

    // One line out for each line in, whatever the line.
    let said = folder.run("predict bad.csv --model m.mercer --on-error quarantine=aside.csv");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), text.lines().count()));
    assert_eq!(
        said.out.lines().enumerate().filter(|(_, line)| line.is_empty()).map(|(at, _)| at).collect::<Vec<_>>(),
        [10, 20, 30]
    );
    assert_eq!(folder.read("aside.csv"), "1,2,x,4\n1,2,3\n1e300,0,0,1e308\n");
    let said = folder.run("predict bad.csv --model m.mercer --learn --quiet --on-error quarantine=aside.csv");
    assert_eq!((said.code, said.out.lines().count()), (Some(0), text.lines().count()));
    assert_eq!(folder.read("aside.csv").lines().count(), 6);

    // A run that stops keeps what it had learnt, and goes on when the row is mended.
    let stopped = folder.run(&format!("train short.csv {learner} --out s.mercer"));
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.err.contains("line 11") && stopped.err.contains("is saved in s.mercer"), "{}", stopped.err);
    assert_eq!(folder.json("inspect s.mercer")["rows"].as_u64(), Some(9));
    folder.done(&format!("train clean.csv {learner} --out s.mercer --resume"));
    assert!(std::fs::read(folder.path("s.mercer")).unwrap() == std::fs::read(folder.path("clean.mercer")).unwrap());
}

#[test]
fn columns_are_left_out_and_found_by_name() {
    let table = examples(60);
    let rows = |row: &dyn Fn(usize, &[f64], f64) -> String| -> String {
        table.iter().enumerate().map(|(at, (x, y))| row(at, x, y)).collect()
    };
    let folder = Folder::new()
        .with("all.csv", csv(&table))
        .with(
            "ids.csv",
            "id,a,b,c,y\n".to_owned() + &rows(&|at, x, y| format!("k{at},{},{},{},{y}\n", x[0], x[1], x[2])),
        )
        .with(
            "other.csv",
            "c,note,a,y,b\n".to_owned() + &rows(&|_, x, _| format!("{},\"n\",{},,{}\n", x[2], x[0], x[1])),
        )
        .with("bare.csv", rows(&|at, x, y| format!("k{at},{},{},{},{y}\n", x[0], x[1], x[2])))
        .with(
            "odd.ndjson",
            "what?\n{\"a\":1}\n".to_owned()
                + &rows(&|_, x, _| {
                    format!("{{\"c\":{},\"id\":\"k\",\"y\":null,\"a\":{},\"b\":{}}}\n", x[2], x[0], x[1])
                }),
        )
        .with("all.libsvm", rows(&|_, x, y| format!("{y} 1:{} 2:{} 3:{}\n", x[0], x[1], x[2])));
    let learner = "--learner krls --kernel gaussian:1 --quiet";
    folder.done(&format!("train all.csv {learner} --out m.mercer"));
    folder.done(&format!("train ids.csv {learner} --out ids.mercer --ignore id"));
    folder.done(&format!("train bare.csv {learner} --out bare.mercer --ignore 1"));
    folder.refused(
        1,
        &format!("train ids.csv {learner} --out x.mercer --ignore no"),
        &["ids.csv: has no column \"no\""],
    );
    let expected = folder.done("predict all.csv --model m.mercer");
    for data in ["all.csv", "ids.csv", "other.csv", "bare.csv --ignore 1"] {
        for model in ["m", "ids"] {
            let said = folder.done(&format!("predict {data} --model {model}.mercer"));
            assert_eq!(
                said.trim_start_matches("prediction\n"),
                expected.trim_start_matches("prediction\n"),
                "{data} {model}"
            );
        }
    }
    assert_eq!(folder.done("predict all.csv --model bare.mercer"), expected);
    let said = folder.run("predict odd.ndjson --model m.mercer --on-error skip");
    let answers: Vec<&str> = said.out.lines().collect();
    assert_eq!((said.code, answers.len()), (Some(0), 62), "{}", said.err);
    assert!(answers[..2].iter().all(|answer| *answer == "{\"prediction\":null}"), "{answers:?}");
    assert!(answers[2..].iter().zip(expected.lines().skip(1)).all(|(answer, number)| answer.contains(number)));
    // A stream does not tell how many features libsvm rows have.
    let stream = folder.read("all.libsvm");
    let said = folder.piped(stream.as_bytes(), &format!("train - --format libsvm {learner} --out s.mercer"));
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("--dimension N"), "{}", said.err);
    let said =
        folder.piped(stream.as_bytes(), &format!("train - --format libsvm --dimension 3 {learner} --out s.mercer"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(folder.done("predict all.csv --model s.mercer"), expected);
    folder.refused(1, "eval all.csv --learner krls --dimension 2", &["has 3 features, but --dimension says 2"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_learner_that_outgrows_the_machine_is_refused() {
    let folder = Folder::new().with("all.csv", csv(&examples(30)));
    let learner = "--learner kernel-krr --kernel gaussian:1 --quiet";
    folder.done(&format!("train all.csv {learner} --out m.mercer --limit 20"));
    let said = folder.run("train all.csv --learner kernel-awv --kernel gaussian:1 --out m.mercer");
    assert!(said.err.contains("this machine's memory is full after"), "{}", said.err);
    let said = folder.run("train all.csv --learner krls --kernel gaussian:1 --out m.mercer");
    assert!(!said.err.contains("memory is full"), "{}", said.err);
}

#[test]
fn no_two_files_of_a_run_are_one() {
    let folder = Folder::new().with("all.csv", "a,y\n1,2\nx,3\n2,3\n").with("notes.txt", "of some worth\n");
    let learner = "--learner krls --kernel gaussian:1 --quiet";
    assert_eq!(folder.run(&format!("train all.csv {learner} --out m.mercer --on-error skip")).code, Some(0));
    std::fs::hard_link(folder.path("all.csv"), folder.path("link.csv")).unwrap();
    let before: Vec<Vec<u8>> = folder.names().iter().map(|name| std::fs::read(folder.path(name)).unwrap()).collect();
    for (code, arguments, why) in [
        (1, "predict all.csv --model m.mercer --on-error quarantine=all.csv", "is a file that is read"),
        (1, "predict all.csv --model m.mercer --on-error quarantine=link.csv", "is a file that is read"),
        (1, "predict all.csv --model m.mercer --on-error quarantine=./m.mercer", "is a file that is read"),
        (1, "predict all.csv --model m.mercer --predictions link.csv", "is a file that is read"),
        (2, "predict all.csv --model m.mercer --predictions q --on-error quarantine=./q", "name the same file"),
        (2, "predict all.csv --model m.mercer --on-error quarantine=-", "cannot be standard output"),
        (1, "train all.csv LEARNER --out n.mercer --on-error quarantine=all.csv", "is a file that is read"),
        (2, "train all.csv LEARNER --out n.mercer --on-error quarantine=n.mercer", "name the same file"),
        (2, "train all.csv LEARNER --out m.mercer --on-error quarantine=m.mercer", "name the same file"),
        (2, "train all.csv LEARNER --out link.csv", "is read"),
        (2, "train all.csv LEARNER --out -", "cannot be standard output"),
        (2, "eval all.csv --learner krls --predictions -", "cannot be standard output"),
    ] {
        folder.refused(code, &arguments.replace("LEARNER", learner), &[why]);
    }
    folder.refused(1, &format!("train all.csv {learner} --out notes.txt"), &["is not a model file", "another --out"]);
    let after: Vec<Vec<u8>> = folder.names().iter().map(|name| std::fs::read(folder.path(name)).unwrap()).collect();
    assert!(before == after);
    let lines = folder.run("predict all.csv --model m.mercer --on-error skip").out;
    assert_eq!((lines.lines().count(), lines.lines().nth(2)), (4, Some("")));
    assert_eq!(folder.run("predict all.csv --model m.mercer --on-error skip --predictions -").out, lines);
}

#[test]
fn the_table_doubles_and_ends() {
    let folder = Folder::new().with("all.csv", csv(&examples(50)));
    let said = folder.run("train all.csv --learner krls --kernel gaussian:1 --set lambda=0 --out m.mercer");
    assert_eq!(said.code, Some(0));
    let rows: Vec<&str> = said.err.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(rows, ["row", "1", "2", "4", "8", "16", "32", "50"]);
    assert!(said.out.starts_with("m.mercer: krls with 50 rows learnt, mean squared error 0.0"), "{}", said.out);
    assert!(folder.done("inspect m.mercer").contains("dictionary size"));
}

#[test]
fn files_that_are_no_models_and_data_of_other_columns_are_refused() {
    let text = csv(&examples(40));
    let folder = Folder::new()
        .with("all.csv", &text)
        .with("narrow.csv", "a,b,y\n1,2,3\n")
        .with("other.csv", text.replacen("a,b", "b,x", 1));
    folder.done("train all.csv --learner krls --kernel gaussian:1 --out m.mercer --quiet");
    let whole = std::fs::read(folder.path("m.mercer")).unwrap();
    let mut altered = whole.clone();
    *altered.last_mut().unwrap() ^= 1;
    let mut newer = whole.clone();
    newer[8] = 200;
    let folder = folder
        .with("cut.mercer", &whole[..whole.len() / 2])
        .with("altered.mercer", altered)
        .with("newer.mercer", newer)
        .with("empty.mercer", "");
    for command in [
        "inspect FILE",
        "predict all.csv --model FILE",
        "predict all.csv --learn --model FILE",
        "train all.csv --learner krls --out FILE --resume",
    ] {
        let refused = |file: &str, part: &str| folder.refused(1, &command.replace("FILE", file), &[file, part]);
        if !command.contains("inspect") {
            refused("all.csv", "is not a model file");
        }
        refused("empty.mercer", "is not a model file");
        refused("cut.mercer", "is a truncated model file");
        refused("altered.mercer", "was altered");
        refused("newer.mercer", "format 200");
        if !command.contains("--resume") {
            refused("absent.mercer", "cannot be read");
        }
        refused(".", "is a folder");
    }
    folder.refused(1, "predict narrow.csv --model m.mercer", &["narrow.csv: has no column \"c\"; it has 3 columns"]);
    folder.refused(1, "predict other.csv --model m.mercer", &["other.csv: has no column \"a\""]);
    folder.refused(2, "train all.csv --learner krls --out all.csv", &["all.csv: is read"]);
    folder.refused(2, "predict all.csv --model m.mercer --checkpoint 5", &["--learn"]);
    folder.refused(
        2,
        "train all.csv --learner krls --out x.mercer --on-error maybe",
        &["stop, skip or quarantine=FILE"],
    );
    folder.refused(1, "train all.csv --learner krls --out nowhere/x.mercer", &["make the folder nowhere"]);
    folder.refused(1, "train all.csv --learner krls --out /dev/full", &["is not a file"]);
    folder.refused(
        1,
        "train all.csv --learner krls --out x.mercer --on-error quarantine=nowhere/q",
        &["cannot be written"],
    );
}

#[test]
fn a_forecaster_is_no_regression_learner() {
    use mercer::forecast::LastValue;
    use mercer::model::{Model, Prediction};
    let prediction = Prediction::new(vec!["y".to_owned()], LastValue::new(1).into());
    let bytes = Model::Prediction(Box::new(prediction)).to_bytes().unwrap();
    let folder = Folder::new().with("f.mercer", bytes).with("all.csv", csv(&examples(5)));
    folder.refused(1, "predict all.csv --model f.mercer", &["kind prediction, and a regression model is needed"]);
    assert_eq!(folder.json("inspect f.mercer")["forecaster"].as_str(), Some("LastValue"));
}
