//! `mercer fit` and `mercer merge`: shards of many files, joined, are one pass.

use std::fs;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use mercer::RegressorExt;
use mercer::model::{Model, Moments};
use parquet::arrow::ArrowWriter;

use crate::support::{Folder, Said, examples, object};

const TAYLOR: &str = "--learner pkrr-taylor --kernel gaussian:1.5 --set degree=3 --set lambda=0.1";

/// The first rows.
type Row = ([f64; 3], f64);

fn first(rows: usize) -> Vec<Row> {
    examples(rows).iter().map(|(x, y)| ([x[0], x[1], x[2]], y)).collect()
}

fn csv(rows: std::ops::Range<usize>) -> String {
    let all = first(rows.end);
    let lines = all[rows].iter().map(|(x, y)| format!("{},{},{},{y}\n", x[0], x[1], x[2]));
    format!("a,b,c,y\n{}", lines.collect::<String>())
}

/// The same rows with the columns in another order.
fn parquet(rows: std::ops::Range<usize>) -> Vec<u8> {
    let all = first(rows.end);
    let column = |of: &dyn Fn(&Row) -> f64| {
        Arc::new(Float64Array::from(all[rows.clone()].iter().map(of).collect::<Vec<_>>())) as ArrayRef
    };
    let columns = [
        ("y", column(&|(_, y)| *y)),
        ("c", column(&|(x, _)| x[2])),
        ("a", column(&|(x, _)| x[0])),
        ("b", column(&|(x, _)| x[1])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn folder() -> Folder {
    Folder::new()
        .with("all.csv", csv(0..900))
        .with("part-1.csv", csv(0..400))
        .with("part-2.parquet", parquet(400..700))
        .with("part-3.csv", csv(700..900))
        .with("new.csv", csv(900..960))
}

fn numbers(lines: &str) -> Vec<f64> {
    lines.lines().skip(1).map(|line| line.parse().unwrap()).collect()
}

fn predictions(folder: &Folder, model: &str) -> Vec<f64> {
    numbers(&folder.done(&format!("predict new.csv --model {model}")))
}

fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

#[test]
fn a_fit_is_the_learner_of_the_same_name() {
    let folder = folder();
    let told = folder.json(&format!("fit all.csv {TAYLOR} --out fit.mercer"));
    assert_eq!(
        (told["rows"].as_u64(), told["coordinates"].as_u64(), told["features"].as_u64()),
        (Some(900), Some(20), Some(3))
    );
    assert!(told["r2"].as_f64().unwrap() > 0.5 && told["gcv"].as_f64().unwrap() >= told["mse"].as_f64().unwrap());
    folder.done(&format!("train all.csv {TAYLOR} --set centre=none --quiet --out train.mercer"));
    assert!(furthest(&predictions(&folder, "fit.mercer"), &predictions(&folder, "train.mercer")) < 1e-8);
    // The ridge of the least generalised cross-validation is one of the grid, and no worse.
    let free = folder.json("fit all.csv --learner pkrr-taylor --kernel gaussian:1.5 --set degree=3 --out free.mercer");
    assert!(free["gcv"].as_f64().unwrap() <= told["gcv"].as_f64().unwrap() * (1.0 + 1e-9));
    assert_eq!(folder.json("inspect free.mercer")["lambda"], free["lambda"]);
    let people = folder.done("inspect fit.mercer");
    assert!(people.contains("kind") && people.contains("sums") && people.contains("0/1"), "{people}");
}

#[test]
fn shards_of_many_files_merge_to_one_pass_whatever_the_threads() {
    let folder = folder();
    folder.done(&format!("fit all.csv {TAYLOR} --out one.mercer"));
    let expected = predictions(&folder, "one.mercer");
    let files = "part-*.*";
    let mut bytes = Vec::new();
    for threads in [1, 2, 5] {
        folder.done(&format!("fit {files} {TAYLOR} --threads {threads} --out many.mercer"));
        bytes.push(fs::read(folder.path("many.mercer")).unwrap());
        fs::remove_file(folder.path("many.mercer")).unwrap();
    }
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "the sums depend on the threads");
    for shards in [2, 7] {
        for shard in 0..shards {
            let told = folder.json(&format!("fit {files} {TAYLOR} --shard {shard}/{shards} --out s{shard}.mercer"));
            let expected = 900 * (shard + 1) / shards - 900 * shard / shards;
            assert_eq!(told["rows"].as_u64(), Some(expected as u64));
        }
        let backwards: Vec<String> = (0..shards).rev().map(|shard| format!("s{shard}.mercer")).collect();
        let told = folder.json(&format!("merge {} --held-out --out merged.mercer", backwards.join(" ")));
        assert_eq!((told["rows"].as_u64(), told["shards"].as_u64()), (Some(900), Some(shards as u64)));
        assert_eq!(told["held_out"].as_object().unwrap().len(), shards);
        assert!(furthest(&predictions(&folder, "merged.mercer"), &expected) < 1e-9);
        // Without the first shard, as if it had never been.
        folder.done("merge merged.mercer --retract s0.mercer --quiet --out without.mercer");
        let rest: Vec<String> = (1..shards).map(|shard| format!("s{shard}.mercer")).collect();
        folder.done(&format!("merge {} --quiet --out rest.mercer", rest.join(" ")));
        assert!(furthest(&predictions(&folder, "without.mercer"), &predictions(&folder, "rest.mercer")) < 1e-9);
        let names: Vec<String> = folder.names().into_iter().filter(|name| name.ends_with(".mercer")).collect();
        names.iter().filter(|name| *name != "one.mercer").for_each(|name| fs::remove_file(folder.path(name)).unwrap());
    }
}

#[test]
fn scaling_and_points_are_those_of_a_file_that_all_shards_share() {
    let folder = folder();
    let scaled = "--scale standard --scale-from all.csv";
    for learner in
        ["pkrr-fourier --kernel median --set features=20", "ridge", "pkrr-frozen --kernel laplace:2 --points new.csv"]
    {
        let fit = format!("--learner {learner} --set lambda=0.01 {scaled}");
        folder.done(&format!("fit all.csv {fit} --out one.mercer"));
        folder.done(&format!("fit part-*.* {fit} --shard 0/2 --out a.mercer"));
        folder.done(&format!("fit part-*.* {fit} --shard 1/2 --out b.mercer"));
        folder.done("merge b.mercer a.mercer --out both.mercer");
        assert!(
            furthest(&predictions(&folder, "one.mercer"), &predictions(&folder, "both.mercer")) < 1e-8,
            "{learner}"
        );
    }
    let targets = "fit all.csv --learner ridge --target y,c --weight b --out t.mercer";
    let negative = folder.run(targets);
    assert!(negative.code == Some(1) && negative.err.contains("weight"), "{}", negative.err);
    folder.done("fit all.csv --learner ridge --target y,c --out t.mercer");
    let lines = folder.done("predict new.csv --model t.mercer");
    assert!(lines.starts_with("prediction_y,prediction_c\n") && lines.lines().count() == 61, "{lines}");
}

#[test]
fn an_interrupted_run_goes_on_where_a_shard_is_missing() {
    let folder = folder();
    let shard = format!("fit all.csv {TAYLOR} --shard 1/3 --out part.mercer --resume");
    folder.done(&shard);
    let before = fs::metadata(folder.path("part.mercer")).unwrap().modified().unwrap();
    let said = folder.run(&shard);
    assert!(said.code == Some(0) && said.err.contains("holds shard 1/3 already"), "{}", said.err);
    assert_eq!(fs::metadata(folder.path("part.mercer")).unwrap().modified().unwrap(), before);
    // Another shard, or other options, are done.
    folder.done(&format!("fit all.csv {TAYLOR} --shard 2/3 --out part.mercer --resume"));
    let Model::Moments(sums) = Model::from_bytes(&fs::read(folder.path("part.mercer")).unwrap()).unwrap() else {
        panic!("another kind")
    };
    assert_eq!((sums.parts[0].shard, sums.parts[0].of, sums.rows()), (2, 3, 300));
}

/// What engines write: parts without a row, in any place.
#[test]
fn parts_without_a_row_are_passed_over() {
    let folder = folder().with("head.csv", "a,b,c,y\n").with("nothing.csv", "");
    folder.done(&format!("fit part-1.csv {TAYLOR} --out one.mercer"));
    for files in ["part-1.csv head.csv", "head.csv nothing.csv part-1.csv"] {
        let said = folder.run(&format!("fit {files} {TAYLOR} --out all.mercer --json"));
        assert!(said.code == Some(0) && said.err.contains("no row, passed over"), "{}", said.err);
        assert_eq!(fitted(&sums(&folder, "all.mercer")), fitted(&sums(&folder, "one.mercer")));
    }
}

#[test]
fn standard_input_is_summed_up() {
    let folder = folder();
    folder.done(&format!("fit part-1.csv {TAYLOR} --out file.mercer"));
    let text = fs::read_to_string(folder.path("part-1.csv")).unwrap();
    let said = folder.piped(text.as_bytes(), &format!("fit - --format csv {TAYLOR} --part one --out pipe.mercer"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    let (file, pipe) = (sums(&folder, "file.mercer"), sums(&folder, "pipe.mercer"));
    assert_eq!(fitted(&file), fitted(&pipe));
    assert_eq!(pipe.parts[0].sources[0].name, "one");
    // The copy of a pipe is called as the pipe is.
    let said = folder.piped(text.as_bytes(), &format!("fit - {TAYLOR} --out pipe.mercer"));
    assert!(said.err.starts_with("mercer: standard input: the name does not tell"), "{}", said.err);
}

/// A row counts once, and rows of two files count twice, be they equal.
#[test]
fn a_file_counts_once_whatever_it_is_in() {
    let folder = folder();
    let fit = |data: &str, out: &str| folder.done(&format!("fit {data} {TAYLOR} --out {out}"));
    fit("part-1.csv part-3.csv", "both.mercer");
    fit("part-1.csv", "first.mercer");
    let twice = ["part-1.csv are in both states", "--part NAME"];
    folder.refused(1, "merge both.mercer first.mercer --out all.mercer", &twice);
    // Parts of one file that overlap, and parts that do not.
    fit("part-1.csv --shard 0/2", "half.mercer");
    fit("part-1.csv --shard 1/2", "other.mercer");
    folder.refused(1, "merge first.mercer half.mercer --out all.mercer", &twice);
    folder.done("merge half.mercer other.mercer --out all.mercer");
    assert_eq!(sums(&folder, "all.mercer").rows(), sums(&folder, "first.mercer").rows());
    // Equal rows under another name are other rows.
    fs::copy(folder.path("part-1.csv"), folder.path("like-1.csv")).unwrap();
    fit("like-1.csv", "like.mercer");
    folder.done("merge first.mercer like.mercer --out all.mercer");
    assert_eq!(sums(&folder, "all.mercer").rows(), 2 * sums(&folder, "first.mercer").rows());
    // A copy in another folder may be the same or not: that is told.
    fs::create_dir(folder.path("copies")).unwrap();
    fs::copy(folder.path("part-1.csv"), folder.path("copies/part-1.csv")).unwrap();
    fit("copies/part-1.csv", "copy.mercer");
    let told = |said: Said, is_told: bool| {
        let tells = said.err.contains("have the same contents and count as two");
        assert!(said.code == Some(0) && tells == is_told, "{}", said.err);
    };
    told(folder.run("merge first.mercer copy.mercer --out all.mercer"), true);
    let fit = |data: &str| format!("fit {data} {TAYLOR} --out all.mercer");
    told(folder.run(&fit("part-1.csv part-3.csv copies/part-1.csv")), true);
    told(folder.run(&fit("part-1.csv like-1.csv part-3.csv")), false);
    // So may what came by a pipe, which has no name.
    let text = fs::read(folder.path("part-1.csv")).unwrap();
    told(folder.piped(&text, &fit("- like-1.csv --format csv")), true);
    told(folder.piped(&text, &format!("fit - --format csv {TAYLOR} --out pipe.mercer")), false);
    told(folder.run("merge first.mercer pipe.mercer --out all.mercer"), true);
}

#[test]
fn shards_merge_whatever_the_order_of_their_columns() {
    let folder = Folder::new().with("one.csv", "b,a,y\n1,2,3\n2,1,5\n4,4,1\n").with("two.csv", "y,a,b\n2,1,1\n7,0,3\n");
    for name in ["one", "two"] {
        folder.done(&format!("fit {name}.csv --learner ridge --target y --out {name}.mercer"));
    }
    folder.done("fit one.csv two.csv --learner ridge --target y --out both.mercer");
    folder.done("merge one.mercer two.mercer --out merged.mercer");
    let (merged, both) = (sums(&folder, "merged.mercer"), sums(&folder, "both.mercer"));
    let (merged, both) = (merged.fit().unwrap().task.learner, both.fit().unwrap().task.learner);
    assert!((merged.predict(&[1.0, 2.0]).unwrap() - both.predict(&[1.0, 2.0]).unwrap()).abs() < 1e-12);
}

#[test]
fn weighted_and_unweighted_shards_are_told_apart() {
    let folder = Folder::new().with("w.csv", "a,w,y\n1,2,3\n2,1,5\n").with("n.csv", "a,y\n1,3\n2,5\n");
    folder.done("fit w.csv --learner ridge --target y --weight w --out w.mercer");
    folder.done("fit n.csv --learner ridge --target y --out n.mercer");
    let words = ["w.mercer and n.mercer", "the weights", "column \"w\" and none"];
    folder.refused(1, "merge w.mercer n.mercer --out all.mercer", &words);
}

/// The learner of all rows, to the bit.
fn fitted(sums: &Moments) -> Vec<u8> {
    Model::Regression(Box::new(sums.fit().unwrap())).to_bytes().unwrap()
}

/// The sums in a file.
fn sums(folder: &Folder, name: &str) -> Moments {
    Moments::from_bytes(&fs::read(folder.path(name)).unwrap()).unwrap()
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let folder = folder()
        .with("short.csv", "a,b,y\n1,2,3\n4,5,6\n")
        .with("gap.csv", "a,b,c,y\n1,2,3,4\n1,,3,4\n")
        .with("empty.csv", "a,b,c,y\n")
        .with("huge.csv", "a,b,c,y\n1,2,3,4\n1e200,2,3,4\n");
    folder.done(&format!("fit part-1.csv {TAYLOR} --shard 0/2 --out a.mercer"));
    let others = [
        ("--learner pkawv-taylor --kernel gaussian:1.5 --set degree=3 --set lambda=0.1", "the learners"),
        ("--learner pkrr-taylor --kernel gaussian:2 --set degree=3 --set lambda=0.1", "the kernels"),
        ("--learner pkrr-taylor --kernel gaussian:1.5 --set degree=2 --set lambda=0.1", "the parameters"),
        (&format!("{TAYLOR} --scale standard --scale-from all.csv"), "the encodings"),
        (&format!("{TAYLOR} --ignore c"), "the columns"),
    ];
    for (options, words) in others {
        folder.done(&format!("fit part-1.csv {options} --shard 1/2 --out b.mercer"));
        folder.refused(1, "merge a.mercer b.mercer --out c.mercer", &["a.mercer and b.mercer", words, "differ"]);
    }
    folder.refused(2, "merge a.mercer a.mercer --out c.mercer", &["given twice"]);
    fs::copy(folder.path("a.mercer"), folder.path("copy.mercer")).unwrap();
    folder.refused(1, "merge a.mercer copy.mercer --out c.mercer", &["part-1.csv are in both states", "--part NAME"]);
    folder.refused(1, "merge b.mercer --retract a.mercer --out c.mercer", &["differ"]);
    folder.refused(1, "merge a.mercer --out a.mercer", &["--out"]);
    let fit = |data: &str| format!("fit {data} {TAYLOR} --out c.mercer");
    folder.refused(1, &fit("part-1.csv short.csv"), &["short.csv", "\"c\""]);
    folder.refused(1, &fit("part-1.csv gap.csv"), &["gap.csv", "line 3", "no value"]);
    folder.refused(1, &fit("empty.csv"), &["empty.csv: has a header and no row"]);
    folder.refused(1, "fit huge.csv --learner ridge --threads 2 --out c.mercer", &["huge.csv, row 2", "overflow"]);
    folder.refused(1, &fit("none-*.csv"), &["none-*.csv: no file is named so"]);
    folder.refused(2, &fit("all.csv all.csv"), &["given twice"]);
    folder.refused(2, &fit("all.csv ./all.csv"), &["./all.csv: is given twice (also as all.csv)"]);
    folder.refused(2, "fit all.csv --learner ridge --shard 3/3 --out c.mercer", &["a shard is I/N"]);
    folder.refused(2, "fit all.csv --learner pkrr-tailor --out c.mercer", &["did you mean pkrr-taylor?"]);
    folder.refused(2, "fit all.csv --learner pkrr-taylor --out c.mercer", &["median", "--kernel gaussian:SIGMA"]);
    folder.refused(
        2,
        "fit all.csv --learner ridge --scale standard --out c.mercer",
        &["--scale standard", "--scale-from"],
    );
    folder.refused(2, "fit all.csv --learner pkrr-frozen --kernel linear --out c.mercer", &["--points"]);
    let folder = folder.with("more.csv", "x1,x2,x3,y\n1,2,3,4\n2,1,3,5\n").with("few.csv", "x1,x2,y\n1,2,4\n2,1,5\n");
    let said = folder.run("fit few.csv more.csv --learner ridge --target y --out few.mercer");
    let told = "more.csv: has columns that few.csv lacks, and they are left out: x3";
    assert!(said.err.contains(told) && said.code == Some(0), "{}", said.err);
    let ends = "give it a name that ends in .mercer";
    folder.refused(2, "merge a.mercer --out s.csv", &["s.csv: --out does not write csv", ends, ".parquet"]);
    for (place, format) in [("c.csv", "csv"), ("c.parquet", "parquet"), ("c.csv.gz", "gz"), ("c.XLSX", "xlsx")] {
        let said = format!("{place}: --out does not write {format}");
        for command in
            ["fit all.csv --learner ridge", "train all.csv --learner krls", "koopman all.csv", "forecast all.csv"]
        {
            folder.refused(2, &format!("{command} --out {place}"), &[&said, ends]);
        }
    }
    folder.refused(2, "merge all.csv --out c.mercer", &["all.csv", "is a table and no model file; --like FILE says"]);
    // A shard that was altered on its way.
    let mut bytes = fs::read(folder.path("a.mercer")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let folder = folder.with("bad.mercer", bytes);
    folder.refused(1, "merge a.mercer bad.mercer --out c.mercer", &["bad.mercer", "altered"]);
    assert!(Moments::from_bytes(&fs::read(folder.path("a.mercer")).unwrap()).is_ok());
}

/// As engines write them: a folder that is called like a file, notes beside the parts, and folders
/// of partitions.
#[test]
fn folders_and_patterns_name_their_files() {
    let part = |from: u32| (from..from + 40).map(|t| format!("{},{},{}\n", t % 7, t % 5, t % 11)).collect::<String>();
    let folder = Folder::new().with("all.csv", format!("a,b,y\n{}{}{}", part(0), part(40), part(80)));
    for (place, from) in [("t.csv/day=1/part-0.csv", 0), ("t.csv/day=2/part-0.csv", 40), ("t.csv/day=2/part-1.csv", 80)]
    {
        let path = folder.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("a,b,y\n{}", part(from))).unwrap();
    }
    fs::write(folder.path("t.csv/_SUCCESS"), "").unwrap();
    fs::write(folder.path("t.csv/_notes.csv"), "nothing\n").unwrap();
    fs::write(folder.path("t.csv/.part-0.csv"), "nothing\n").unwrap();
    fs::write(folder.path("t.csv/readme.txt"), "nothing\n").unwrap();
    fs::create_dir(folder.path("bare")).unwrap();
    let facts = |data: &str| {
        let mut facts = folder.json(&format!("fit {data} --learner ridge --out s.mercer"));
        for key in ["seconds", "files", "lambda", "mse", "r2", "gcv", "effective_dimension"] {
            facts[key].take();
        }
        let predicted = folder.done("predict all.csv --model s.mercer");
        (facts, predicted.lines().take(5).map(|line| line.chars().take(12).collect()).collect::<Vec<String>>())
    };
    let whole = facts("all.csv");
    // What a task that was not finished has left holds rows of other files again.
    fs::create_dir(folder.path("t.csv/_temporary")).unwrap();
    fs::copy(folder.path("t.csv/day=1/part-0.csv"), folder.path("t.csv/_temporary/part-0.csv")).unwrap();
    let deep = ["t.csv/**", "t.csv/**/*.csv", "**/part-*.csv"];
    let wide = ["t.csv/day=*", "t.csv/day=[12]", "t.csv/*[12Sy]", "t.csv/day=[12]/part-[01].csv"];
    for data in
        ["t.csv", "t.csv/", "t.csv/**/part-?.csv", "t.csv/day=*/part-[0-9].csv"].iter().chain(&deep).chain(&wide)
    {
        assert_eq!(facts(data), whole, "{data}");
    }
    assert_eq!(facts("t.csv/_temporary/part-*.csv").0["rows"], 40);
    let fit = |data: &str| format!("fit {data} --learner ridge --out s.mercer");
    folder.refused(1, &fit("bare"), &["bare: is a folder without a file to read"]);
    folder.refused(2, &fit("part-***.csv"), &["is no pattern"]);
    folder.refused(1, &fit("t.csv/day={1,2}"), &["braces are no pattern here"]);
    for (name, data) in [("sums/one.mercer", "t.csv/day=1"), ("sums/two.mercer", "t.csv/day=2")] {
        fs::create_dir_all(folder.path("sums")).unwrap();
        folder.done(&format!("fit {data} --learner ridge --out {name}"));
    }
    folder.done("merge sums --out s.mercer");
    assert_eq!(folder.json("inspect s.mercer")["rows"], 120);
}

#[test]
fn rows_that_cannot_be_read_are_left_out_and_counted() {
    let row = |t: usize| format!("{},{},{}\n", t % 7, t % 5, 2 * (t % 7) + t % 5);
    let rows = |of: &dyn Fn(usize) -> String| (0..20_000).map(of).collect::<String>();
    let is_bad = |t: &usize| t % 6_000 == 5_999;
    let bad = rows(&|t| if is_bad(&t) { "1,x,2\n".to_owned() } else { row(t) });
    let good = rows(&|t| if is_bad(&t) { String::new() } else { row(t) });
    let folder = Folder::new().with("bad.csv", format!("a,b,y\n{bad}")).with("good.csv", format!("a,b,y\n{good}"));
    let fit = |data: &str, more: &str| format!("fit {data} --learner ridge --part p --out s.mercer {more}");
    folder.refused(1, &fit("bad.csv", ""), &["bad.csv, line 6001", "\"x\" is not a number"]);
    let mut whole = folder.json(&fit("good.csv", ""));
    for threads in [1, 3] {
        let said = folder.run(&fit("bad.csv", &format!("--on-error skip --threads {threads} --json")));
        let mut facts = object(&said.out);
        assert_eq!((facts["rows"].as_u64(), facts["bad_rows"].take().as_u64()), (Some(19_997), Some(3)));
        for facts in [&mut whole, &mut facts] {
            facts["seconds"].take();
            facts["bad_rows"].take();
        }
        assert!((facts["mse"].as_f64().unwrap() - whole["mse"].as_f64().unwrap()).abs() < 1e-9);
    }
    let said = folder.run(&fit("bad.csv", "--on-error skip"));
    assert!(said.err.contains("3 bad rows were left out, the first: bad.csv, line 6001"), "{}", said.err);
    folder.refused(2, &fit("bad.csv", "--on-error skip --shard 0/2"), &["--shard counts all rows"]);
    folder.refused(2, &fit("bad.csv", "--on-error quarantine=q.csv"), &["belongs to train and predict"]);
}

/// The rows (1, 2), (2, 4), (3, 6), (4, 8) of a and y, as pyarrow writes them with checksums of the
/// pages.
const CHECKED: &str = "\
    504152311500154c154c159bc585b10f1c15081500150615061c000000020000000801000000000000f03f000000000000004000000000000008\
    4000000000000010401500154c154c1590f09b870a1c15081500150615061c000000020000000801000000000000004000000000000010400000\
    00000000184000000000000020401504193c35001806736368656d61150400150a250218016100150a2502180179001608191c192c26001c150a\
    192506001918016115001608167e167e2608491c150015001502003c29061926000800000026001c150a192506001918017915001608167e167e\
    268601491c150015001502003c29061926000800000016fc011608260816fc01002820706172717565742d6370702d6172726f77207665727369\
    6f6e2032362e302e31192c1c00001c000000b200000050415231";

/// A checksum that a writer has taken the trouble to write is looked at.
#[test]
fn a_page_of_parquet_that_was_altered_is_refused() {
    let digits: Vec<u8> =
        CHECKED.bytes().filter_map(|digit| char::from(digit).to_digit(16)).map(|digit| digit as u8).collect();
    let mut bytes: Vec<u8> = digits.chunks(2).map(|pair| 16 * pair[0] + pair[1]).collect();
    let three = bytes.windows(8).position(|word| word == 3f64.to_le_bytes()).unwrap();
    let folder = Folder::new().with("whole.parquet", &bytes);
    bytes[three + 2] ^= 1;
    let folder = folder.with("altered.parquet", &bytes);
    folder.done("fit whole.parquet --learner ridge --target y --out s.mercer");
    for skip in ["", "--on-error skip"] {
        let fit = format!("fit altered.parquet --learner ridge --target y --out t.mercer {skip}");
        folder.refused(1, &fit, &["altered.parquet", "CRC checksum mismatch"]);
    }
    assert!(!folder.path("t.mercer").exists());
}
