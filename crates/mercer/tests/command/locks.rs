//! One writer at a time for a model file; readers are not in anybody's way.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use crate::support::{Folder, csv, examples};

/// A process that has the model `m.mercer` open and waits for rows.
struct Holder {
    child: Child,
}

impl Holder {
    /// Starts a command that reads rows from standard input and answers the first of them.
    fn start(folder: &Folder, arguments: &str, rows: &str) -> Self {
        let words: Vec<&str> = arguments.split(' ').collect();
        let mut command = folder.command(&words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(rows.as_bytes()).unwrap();
        Self { child }
    }

    fn wait_for_answer(&mut self) {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
    }

    /// Ends the rows.
    fn end(mut self) {
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((self.child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
    }
}

fn trained() -> Folder {
    let folder = Folder::new().with("all.csv", csv(&examples(50)));
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    folder
}

const LEARN: &str = "predict - --format csv --model m.mercer --learn --quiet";

#[test]
fn a_second_writer_ends_at_once_and_says_why() {
    let folder = trained();
    let mut holder = Holder::start(&folder, LEARN, "a,b,c,y\n0,0,0,0\n");
    holder.wait_for_answer();
    let said = |option| ["m.mercer: process ", " is learning this model", option];
    folder.refused(1, "predict all.csv --model m.mercer --learn", &said("give another --model"));
    folder.refused(1, "train all.csv --learner krls --out m.mercer", &said("give another --out"));
    folder.refused(1, "train all.csv --learner krls --out m.mercer --resume", &said("give another --out"));
    std::os::unix::fs::symlink(folder.path("m.mercer"), folder.path("link.mercer")).unwrap();
    folder.refused(1, "predict all.csv --model ./link.mercer --learn", &["is learning this model"]);
    std::fs::hard_link(folder.path("m.mercer"), folder.path("hard.mercer")).unwrap();
    folder.refused(1, "predict all.csv --model hard.mercer --learn", &["hard.mercer: another process is learning"]);
    std::fs::remove_file(folder.path("hard.mercer")).unwrap();
    // Readers see the model as it was.
    assert_eq!(folder.done("predict all.csv --model m.mercer").lines().count(), 51);
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(50));
    // A model beside it is another one.
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out other.mercer --quiet");
    holder.end();
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(51));
    folder.done("predict all.csv --model m.mercer --learn --quiet");
    assert_eq!(folder.names(), ["all.csv", "link.mercer", "m.mercer", "other.mercer"]);
}

/// A checkpoint renames a new file into the place of the old one, and the lock is still held.
#[test]
fn the_lock_survives_checkpoints() {
    let folder = trained();
    let arguments = format!("{LEARN} --checkpoint 1");
    let mut holder = Holder::start(&folder, &arguments, "a,b,c,y\n0,0,0,0\n1,1,1,1\n");
    holder.wait_for_answer();
    while folder.json("inspect m.mercer")["learnt"].as_u64() != Some(52) {}
    folder.refused(1, "predict all.csv --model m.mercer --learn", &["is learning this model"]);
    holder.end();
}

#[test]
fn a_killed_writer_holds_nothing() {
    let folder = trained();
    let mut holder = Holder::start(&folder, LEARN, "a,b,c,y\n0,0,0,0\n");
    holder.wait_for_answer();
    holder.child.kill().unwrap();
    holder.child.wait().unwrap();
    folder.done("predict all.csv --model m.mercer --learn --quiet");
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(100));
    assert_eq!(folder.names(), ["all.csv", "m.mercer"]);
}

#[test]
fn forecasters_and_operators_have_one_writer_too() {
    let folder = Folder::new().with("pairs.csv", "0,0.1\n0.5,0.6\n1,1.1\n").with("series.csv", "1\n2\n3\n4\n5\n");
    folder.done("koopman pairs.csv --method sogd --state-dim 1 --set kernel=gaussian:1 --out k.mercer");
    let mut holder = Holder::start(&folder, "forecast - --format csv --header no --out f.mercer --t-init 2", "1\n2\n");
    holder.wait_for_answer();
    folder.refused(1, "forecast series.csv --out f.mercer", &["f.mercer: process", "give another --out"]);
    folder.done("forecast series.csv --out g.mercer --t-init 2");
    holder.end();
    let mut holder =
        Holder::start(&folder, "forecast - --format csv --header no --model f.mercer --out k.mercer", "1\n");
    holder.wait_for_answer();
    folder.refused(1, "koopman pairs.csv --model k.mercer --out k.mercer", &["k.mercer: process", "another --out"]);
    holder.end();
}
