//! The same data in other clothes: formats, compression, standard input, pipes that close.

use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{Folder, csv, examples, timeless};

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The same 500 rows as (file name, text).
fn formats() -> [(&'static str, String); 4] {
    let table = examples(500);
    let rows = |row: fn(&[f64], f64) -> String| table.iter().map(|(x, y)| row(x, y)).collect::<String>();
    [
        ("data.csv", csv(&table)),
        ("data.tsv", csv(&table).replace(',', "\t")),
        ("data.ndjson", rows(|x, y| format!("{{\"a\":{},\"b\":{},\"c\":{},\"y\":{y}}}\n", x[0], x[1], x[2]))),
        ("data.libsvm", rows(|x, y| format!("{y} 1:{} 2:{} 3:{}\n", x[0], x[1], x[2]))),
    ]
}

/// Median kernel, a dictionary that grows, scaling by a file: nothing here may depend on how the
/// rows arrive.
#[test]
fn every_format_gives_the_same_from_a_file_gzipped_and_from_standard_input() {
    for learner in ["nons-ald", "fogd --set features=30", "con-kons"] {
        let mut results = Vec::new();
        for (name, text) in formats() {
            let format = name.split('.').nth(1).unwrap();
            let packed = gzipped(&text);
            let folder = Folder::new().with(name, &text).with(&format!("{name}.gz"), &packed).with("plain", &text);
            results.push(folder.json(&format!("eval {name} --learner {learner}")));
            results.push(folder.json(&format!("eval {name}.gz --learner {learner}")));
            results.push(folder.json(&format!("eval plain --format {format} --learner {learner}")));
            let width = if format == "libsvm" { "--dimension 3" } else { "" };
            let from_input = format!("eval - --format {format} --learner {learner} {width}");
            results.push(folder.json_of(text.as_bytes(), &from_input));
            results.push(folder.json_of(&packed, &from_input));
        }
        let results: Vec<_> = results.into_iter().map(timeless).collect();
        assert_eq!(results.len(), 20);
        assert!(results.iter().all(|result| *result == results[0]), "{learner}");
    }
}

#[test]
fn standard_input_does_all_that_a_file_does() {
    let text = csv(&examples(500));
    let folder = Folder::new().with("data.csv", &text);
    for options in ["--scale standard", "--scale standard --permute 3", "--permute 4 --limit 100", "--set alpha=0.05"] {
        let from_file = folder.json(&format!("eval data.csv --learner nons-ald {options}"));
        let from_input = folder.json_of(text.as_bytes(), &format!("eval - --format csv --learner nons-ald {options}"));
        assert_eq!(timeless(from_input), timeless(from_file), "{options}");
    }
}

/// A stream that never ends is learnt as far as the limit: rows are neither gathered nor waited
/// for.
#[test]
fn an_endless_stream_is_learnt_row_by_row() {
    let folder = Folder::new();
    let arguments = "eval - --format csv --learner krls --limit 1000 --json --set max_dictionary=50";
    let mut child = folder
        .command(&arguments.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let rows = csv(&examples(100)).lines().skip(1).map(|row| format!("{row}\n")).collect::<String>();
    let writer = thread::spawn(move || while stdin.write_all(rows.as_bytes()).is_ok() {});
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["rows"].as_u64(), Some(1000));
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let folder = Folder::new().with("data.csv", csv(&examples(50)));
    for arguments in [
        "learners",
        "learners --json",
        "learners krls",
        "eval data.csv --learner krls --predictions p.csv",
        "eval --help",
    ] {
        let mut child = folder
            .command(&arguments.split(' ').collect::<Vec<_>>())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{arguments}");
    }
    // What was asked for on the side is there.
    assert_eq!(folder.read("p.csv").lines().count(), 51);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command(&["learners"]).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("standard output cannot be written"), "{said}");
}
