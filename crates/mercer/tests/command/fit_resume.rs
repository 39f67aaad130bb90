//! `mercer fit`: runs that are killed go on and count each row once; row groups are read by all
//! threads.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use mercer::model::Moments;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::support::Folder;

const FILES: usize = 24;
const ROWS: usize = 300;
const FIT: &str = "fit parts --learner pkrr-taylor --kernel gaussian:2 --set degree=5 --target y";

fn number(t: usize) -> f64 {
    (t * 7_919 % 10_007) as f64 / 10_007.0
}

/// Rows `from..from + rows` of a table of three columns.
fn part(from: usize, rows: usize) -> String {
    let row = |t: usize| format!("{},{},{}\n", number(t), number(3 * t + 1), number(t) * number(3 * t + 1));
    std::iter::once("a,b,y\n".to_owned()).chain((from..from + rows).map(row)).collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("parts")).unwrap();
    (0..FILES).for_each(|file| fs::write(folder.path(&place(file)), part(file * ROWS, ROWS)).unwrap());
    folder
}

fn place(file: usize) -> String {
    format!("parts/part-{file:02}.csv")
}

fn sums(folder: &Folder, name: &str) -> Moments {
    Moments::from_bytes(&fs::read(folder.path(name)).unwrap()).unwrap()
}

/// The rows that a killed run has kept; none if nothing is kept.
fn kept(folder: &Folder) -> Option<u64> {
    // What is there is whole at any moment.
    fs::read(folder.path("m.mercer.checkpoint")).ok().map(|bytes| Moments::from_bytes(&bytes).unwrap().rows())
}

/// Begins a run and kills it as soon as it has kept more than `rows`; the rows that it has kept, or
/// none if it came to its end.
fn killed(folder: &Folder, arguments: &str, rows: u64) -> Option<u64> {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let mut child = folder.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && kept(folder).is_none_or(|kept| kept <= rows) {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(child.kill());
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "{status}");
    kept(folder)
}

/// The same until a run was killed before its end.
fn interrupted(folder: &Folder, arguments: &str, rows: u64) {
    while killed(folder, arguments, rows).is_none() {
        fs::remove_file(folder.path("m.mercer")).unwrap();
    }
}

#[test]
fn a_killed_run_goes_on_and_counts_each_file_once() {
    let folder = folder();
    folder.done(&format!("{FIT} --quiet --out whole.mercer"));
    for threads in [1, 3] {
        let fit = format!("{FIT} --threads {threads} --checkpoint 0 --resume --quiet --out m.mercer");
        let (mut rows, mut kills) = (0, 0);
        while let Some(kept) = killed(&folder, &fit, rows) {
            assert!(kept > rows && kept % ROWS as u64 == 0, "{kept} rows behind {rows}");
            (rows, kills) = (kept, kills + 1);
        }
        assert!(kills > 0, "no run was killed");
        assert!(fs::read(folder.path("m.mercer")).unwrap() == fs::read(folder.path("whole.mercer")).unwrap());
        assert_eq!(sums(&folder, "m.mercer").rows(), (FILES * ROWS) as u64);
        // Nothing is left, and there is nothing to do.
        assert_eq!(folder.names(), ["m.mercer", "parts", "whole.mercer"]);
        let said = folder.run(&format!("{FIT} --resume --out m.mercer"));
        assert!(said.err.contains("holds shard 0/1 already"), "{}", said.err);
        fs::remove_file(folder.path("m.mercer")).unwrap();
    }
}

/// What was kept is of no use where its files have changed, or the options are others.
#[test]
fn a_changed_file_or_option_begins_again() {
    let folder = folder();
    let fit = format!("{FIT} --checkpoint 0 --resume --out m.mercer");
    let rows = |said: &str| said.contains("going on");
    let kill = || interrupted(&folder, &format!("{fit} --quiet"), 2 * ROWS as u64);
    kill();
    let said = folder.run(&fit);
    assert!(said.code == Some(0) && rows(&said.err), "{}", said.err);
    for changes in [true, false] {
        fs::remove_file(folder.path("m.mercer")).unwrap();
        kill();
        if changes {
            fs::write(folder.path(&place(1)), part(5, ROWS)).unwrap();
        }
        let fit = if changes { fit.clone() } else { fit.replace("degree=5", "degree=4") };
        let said = folder.run(&fit);
        assert!(said.code == Some(0) && said.err.contains("beginning again") && !rows(&said.err), "{}", said.err);
        folder.done(&fit.replace("--checkpoint 0 --resume --out m.mercer", "--quiet --out whole.mercer"));
        assert!(fs::read(folder.path("m.mercer")).unwrap() == fs::read(folder.path("whole.mercer")).unwrap());
    }
}

#[test]
fn bad_rows_of_a_killed_run_are_counted_once() {
    let folder = folder();
    for file in [0, 1, FILES - 1] {
        let text = folder.read(&place(file));
        fs::write(folder.path(&place(file)), format!("{text}1,x,2\n")).unwrap();
    }
    let fit = format!("{FIT} --on-error skip --checkpoint 0 --resume --out m.mercer");
    interrupted(&folder, &format!("{fit} --quiet"), 3 * ROWS as u64);
    let said = folder.run(&format!("{fit} --json"));
    let facts: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((facts["rows"].as_u64(), facts["bad_rows"].as_u64()), (Some((FILES * ROWS) as u64), Some(3)));
    assert!(said.err.contains("3 bad rows were left out, the first: parts/part-23.csv, line 302"), "{}", said.err);
}

/// The bytes of a Parquet file with groups of so many rows.
fn grouped(rows: usize, group: usize) -> Vec<u8> {
    let column = |of: &dyn Fn(usize) -> f64| Arc::new(Float64Array::from_iter_values((0..rows).map(of))) as ArrayRef;
    let columns = [
        ("a", column(&number)),
        ("b", column(&|t| number(3 * t + 1))),
        ("y", column(&|t| number(t) * number(3 * t + 1))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn row_groups_are_read_by_all_threads_to_the_same_sums() {
    const ALL: usize = 180_000;
    let folder = Folder::new().with("groups.parquet", grouped(ALL, 20_000)).with("one.parquet", grouped(ALL, ALL));
    let fit = |data: &str, more: &str| {
        folder.done(&format!("fit {data} --learner ridge --target y --part p --quiet --out m.mercer {more}"));
        let bytes = fs::read(folder.path("m.mercer")).unwrap();
        fs::remove_file(folder.path("m.mercer")).unwrap();
        bytes
    };
    let [one, two, five] = [1, 2, 5].map(|threads| fit("groups.parquet", &format!("--threads {threads}")));
    assert!(one == two && one == five, "the sums depend on the threads");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let of = |bytes: &[u8]| Moments::from_bytes(bytes).unwrap();
    let (whole, expected) = (of(&one), of(&fit("one.parquet", "")));
    assert_eq!((whole.rows(), whole.parts[0].sources.len()), (ALL as u64, 1));
    assert!((0..3).all(|i| (0..=i).all(|j| near(whole.sums.gram(i, j), expected.sums.gram(i, j)))));
    // Shards end within groups.
    let mut merged = of(&fit("groups.parquet", "--shard 0/3"));
    for shard in 1..3 {
        merged.merge(&of(&fit("groups.parquet", &format!("--shard {shard}/3 --threads 2")))).unwrap();
    }
    assert_eq!(merged.rows(), ALL as u64);
    assert!((0..3).all(|i| (0..=i).all(|j| near(merged.sums.gram(i, j), expected.sums.gram(i, j)))));
}
