//! Streams that never stop: answers while nothing comes, signals, readers that go away, disks that
//! are full.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, csv, examples};

fn trained() -> Folder {
    let folder = Folder::new().with("all.csv", csv(&examples(200)));
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    folder
}

fn start(folder: &Folder, arguments: &str) -> Child {
    folder
        .command(&arguments.split(' ').collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Exit code and what was said on stderr.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn each_row_is_answered_before_the_next_is_sent() {
    let folder = trained();
    let expected = folder.done("predict all.csv --model m.mercer --learn --quiet");
    // The same again, from the model as it was, one question at a time.
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    let mut child = start(&folder, "predict - --format csv --model m.mercer --learn --quiet");
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let text = folder.read("all.csv");
    let mut answers = expected.lines();
    for (at, line) in text.lines().enumerate().take(40) {
        writeln!(stdin, "{line}").unwrap();
        if at == 0 {
            // The header is answered with the first row, whose reading settles the columns.
            continue;
        }
        for expected in answers.by_ref().take(if at == 1 { 2 } else { 1 }) {
            let mut answer = String::new();
            stdout.read_line(&mut answer).unwrap();
            assert_eq!(answer.trim_end(), expected, "row {at}");
        }
    }
    drop(stdin);
    assert_eq!(end(child), (Some(0), String::new()));
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(239));
}

/// Nothing waits for rows to come unless something is to be found in them.
#[test]
fn training_begins_with_the_first_row() {
    for learner in
        ["krls --kernel gaussian:0.7", "auto --set budget=5000", "experts --kernel gaussian:1 --set members=krls"]
    {
        let folder = Folder::new();
        let arguments = format!("train - --format csv --learner {learner} --out m.mercer --checkpoint 1");
        let mut child = start(&folder, &arguments);
        let mut stdin = child.stdin.take().unwrap();
        let mut table = BufReader::new(child.stderr.take().unwrap()).lines();
        for (at, line) in csv(&examples(3)).lines().enumerate() {
            writeln!(stdin, "{line}").unwrap();
            // The table tells the rows 1 and 2 below its own header; the third comes when the rows
            // end.
            if at == 1 {
                assert!(table.next().unwrap().unwrap().contains("loss since last"), "{learner}");
            }
            if at == 1 || at == 2 {
                let row = table.next().unwrap().unwrap();
                assert_eq!(row.split_whitespace().next(), Some(at.to_string().as_str()), "{learner}: {row}");
            }
        }
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{learner}");
        assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(3), "{learner}");
    }
}

/// Where the first rows settle the kernel, there is nothing yet that could be saved.
#[test]
fn a_signal_before_the_kernel_is_settled_saves_nothing() {
    let folder = Folder::new().with("all.csv", csv(&examples(300)));
    let mut child = start(&folder, "train - --format csv --learner krls --out m.mercer --quiet");
    let mut stdin = child.stdin.take().unwrap();
    // Rows so long that they fit into no pipe: once all are written, some have been read, and
    // signals are listened for.
    for (x, y) in examples(100).iter() {
        writeln!(stdin, "{:.8000},{:.8000},{:.8000},{y}", x[0], x[1], x[2]).unwrap();
    }
    signal(&child, "-TERM");
    let (code, said) = end(child);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("ended by a signal before the first rows could settle the kernel"), "{said}");
    drop(stdin);
    assert!(!folder.path("m.mercer").exists());
}

/// The number of signals that end a run: not the last where these tests ignore it, since the
/// program then does, too.
fn signals() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    if ignored.is_some_and(|set| set.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f'])) { 2 } else { 3 }
}

#[test]
fn signals_end_a_run_with_its_state_saved() {
    for name in ["-TERM", "-INT", "-HUP"].into_iter().take(signals()) {
        let folder = trained();
        let rows: Vec<String> = folder.read("all.csv").lines().map(str::to_owned).collect();
        let mut child = start(&folder, "predict - --format csv --model m.mercer --learn --quiet");
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        // The last line is cut off in the middle, and must not be learnt.
        write!(stdin, "{}\n0.1,0.2,0.3,0", rows[..=50].join("\n")).unwrap();
        for _ in 0..51 {
            stdout.read_line(&mut String::new()).unwrap();
        }
        signal(&child, name);
        assert_eq!(end(child), (Some(0), String::new()), "{name}");
        drop(stdin);
        assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(250), "{name}");

        // Training from a pipe alike; the run is resumed from a file to the model of an
        // uninterrupted one.
        let learner = "--learner con-kons --kernel gaussian:0.7 --quiet";
        folder.done(&format!("train all.csv {learner} --out whole.mercer"));
        let mut child = start(&folder, &format!("train - --format csv {learner} --out t.mercer --checkpoint 130"));
        let mut stdin = child.stdin.take().unwrap();
        write!(stdin, "{}\n0.1,0.2,", rows[..=150].join("\n")).unwrap();
        let begun = Instant::now();
        while !folder.path("t.mercer").exists() && begun.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&child, name);
        assert_eq!(end(child).0, Some(0), "{name}");
        folder.done(&format!("train all.csv {learner} --out t.mercer --resume"));
        let [whole, resumed] = ["whole.mercer", "t.mercer"].map(|file| std::fs::read(folder.path(file)).unwrap());
        assert!(whole == resumed, "{name}: the files differ");
    }
}

#[test]
fn signals_end_a_run_that_keeps_nothing_as_they_end_others() {
    for (name, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)].into_iter().take(signals()) {
        let folder = trained();
        let names = folder.names();
        for file in ["", " --predictions out.csv"] {
            let mut child = start(&folder, &format!("predict - --format csv --model m.mercer{file}"));
            let mut stdin = child.stdin.take().unwrap();
            let mut stdout = BufReader::new(child.stdout.take().unwrap());
            let rows = folder.read("all.csv");
            stdin.write_all(rows.as_bytes()).unwrap();
            if file.is_empty() {
                for _ in rows.lines() {
                    stdout.read_line(&mut String::new()).unwrap();
                }
            } else {
                // Once the file is begun signals are listened for.
                let begun = Instant::now();
                while folder.names() == names && begun.elapsed() < Duration::from_secs(5) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            signal(&child, name);
            assert_eq!(end(child), (Some(code), "mercer: ended by a signal\n".to_owned()), "{name}{file}");
            drop(stdin);
            assert_eq!(folder.names(), names, "{name}{file}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly_with_its_state_saved() {
    let folder = trained();
    let mut child = start(&folder, "predict - --format csv --model m.mercer --learn --quiet");
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let rows: String = folder.read("all.csv").lines().skip(1).map(|row| format!("{row}\n")).collect();
    while stdin.write_all(rows.as_bytes()).is_ok() {}
    assert_eq!(end(child), (Some(0), String::new()));
    assert!(folder.json("inspect m.mercer")["learnt"].as_u64().unwrap() > 200);
}

/// Runs the command in a shell that prepares what is hard to prepare from here.
fn in_shell(folder: &Folder, preparation: &str, arguments: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_mercer");
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{preparation}; exec {program} {arguments}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let output = command.current_dir(folder.path("")).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A limit on the size of files is met as a full disk is: a write that fails in the middle.
#[test]
fn a_file_that_cannot_be_written_whole_leaves_the_old_one() {
    let folder = trained();
    let before = std::fs::read(folder.path("m.mercer")).unwrap();
    let names = folder.names();
    let full = "trap '' XFSZ; ulimit -f 1";
    for arguments in [
        "train all.csv --learner kernel-awv --kernel gaussian:0.7 --out m.mercer --quiet",
        "predict all.csv --model m.mercer --predictions out.csv",
    ] {
        let (code, said) = in_shell(&folder, full, arguments);
        assert_eq!((code, said.lines().count()), (Some(1), 1), "{arguments}: {said}");
        assert!(said.contains("cannot be written"), "{arguments}: {said}");
        assert_eq!(std::fs::read(folder.path("m.mercer")).unwrap(), before, "{arguments}");
        assert_eq!(folder.names(), names, "{arguments}: something was left behind");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn answers_on_a_full_disk_are_a_failure_and_what_was_learnt_is_kept() {
    let folder = trained();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder
        .command(&["predict", "all.csv", "--model", "m.mercer", "--learn", "--quiet"])
        .stdout(full)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("standard output cannot be written"), "{said}");
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(400));
}

/// Words that nobody can take are lost, and nothing else is.
#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_cannot_be_written_changes_nothing() {
    let folder = trained();
    let told = folder.done("predict all.csv --model m.mercer");
    for (arguments, code) in [
        ("train all.csv --learner krls --kernel gaussian:0.7 --out other.mercer", 0),
        ("train none.csv --learner krls --out none.mercer", 1),
        ("train all.csv --learner nothing --out none.mercer", 2),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = folder.command(&arguments.split(' ').collect::<Vec<_>>()).stderr(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{arguments}");
    }
    assert_eq!(folder.done("predict all.csv --model other.mercer"), told);
    assert_eq!(folder.names(), ["all.csv", "m.mercer", "other.mercer"]);
}

/// A model that others may not read is not shown to them by saving it.
#[test]
fn a_file_keeps_its_mode_and_its_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = trained();
    let model = folder.path("m.mercer");
    // Only root may give it away.
    let owner = chown(&model, Some(1234), Some(4321)).map_or_else(|_| None, |()| Some((1234, 4321)));
    for mode in [0o600, 0o640, 0o444, 0o666] {
        std::fs::set_permissions(&model, std::fs::Permissions::from_mode(mode)).unwrap();
        folder.done("predict all.csv --model m.mercer --learn --quiet");
        let facts = std::fs::metadata(&model).unwrap();
        assert_eq!(facts.mode() & 0o7777, mode);
        assert!(owner.is_none_or(|owner| owner == (facts.uid(), facts.gid())), "{facts:?}");
    }
}

/// The file is in its place all the same.
#[test]
fn a_folder_that_cannot_be_synchronised_is_a_remark() {
    use std::os::unix::fs::PermissionsExt;
    let folder = trained();
    let turn = |mode| std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(mode)).unwrap();
    turn(0o333);
    let ended = folder.unprivileged("predict all.csv --model m.mercer --learn").output();
    turn(0o755);
    let ended = ended.unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains(": the folder could not be synchronised to the disk (Permission denied"), "{said}");
    assert_eq!(folder.json("inspect m.mercer")["learnt"].as_u64(), Some(400));
}

/// A process killed at a random moment between checkpoints leaves a whole file, and goes on from it
/// to the same end. (The long form is `cargo xtask faults`.)
#[test]
fn killed_in_the_midst_of_checkpoints_a_run_goes_on_to_the_same_end() {
    let folder = Folder::new().with("all.csv", csv(&examples(3000)));
    let learner = "--learner nons-ald --kernel gaussian:0.5 --set max_dictionary=60 --quiet";
    folder.done(&format!("train all.csv {learner} --out whole.mercer"));
    let arguments = format!("train all.csv {learner} --out m.mercer --checkpoint 20 --resume");
    let mut kills = 0;
    for round in 0..200_u64 {
        let mut child = start(&folder, &arguments);
        std::thread::sleep(Duration::from_millis(5 + 7 * (round % 9)));
        let ended = child.try_wait().unwrap().is_some();
        drop(child.kill());
        let status = child.wait().unwrap();
        if ended {
            assert_eq!(status.code(), Some(0));
            break;
        }
        kills += 1;
        if folder.path("m.mercer").exists() {
            let facts = folder.json("inspect m.mercer");
            assert_eq!(facts["rows"].as_u64().unwrap() % 20, 0);
        }
    }
    folder.done(&arguments);
    assert!(kills > 0);
    let [whole, resumed] = ["whole.mercer", "m.mercer"].map(|file| std::fs::read(folder.path(file)).unwrap());
    assert!(whole == resumed, "after {kills} kills the files differ");
    assert_eq!(unfinished(&folder), 0, "a killed run's file was left");
}

fn unfinished(folder: &Folder) -> usize {
    folder.names().iter().filter(|name| name.ends_with(".partial")).count()
}

#[test]
fn what_a_killed_run_leaves_is_cleared_away_and_nothing_else() {
    let folder = trained();
    let waiting = |file: &str| {
        let before = unfinished(&folder);
        let mut child = start(&folder, &format!("predict - --format csv --model m.mercer --predictions {file}"));
        // The file is there before the first row is asked for, and answers wait in it.
        let mut stdin = child.stdin.take().unwrap();
        let begun = Instant::now();
        while unfinished(&folder) == before && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        stdin.write_all(b"a,b,c\n0.1,0.2,0.3\n").unwrap();
        (child, stdin)
    };
    let killed = |file: &str| {
        let (mut child, stdin) = waiting(file);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(stdin);
    };
    killed("out.csv");
    killed("other.csv");
    std::fs::write(folder.path(".mercer-mine.partial"), "").unwrap();
    assert_eq!(unfinished(&folder), 3);
    // Of the two that were killed, that of the same file is cleared away; those of another and of
    // nobody are left.
    folder.done("predict all.csv --model m.mercer --predictions out.csv");
    assert_eq!(unfinished(&folder), 2);
    // One that is being written stays, and becomes what it should.
    let (child, stdin) = waiting("out.csv");
    folder.done("predict all.csv --model m.mercer --predictions out.csv");
    folder.done("train all.csv --learner krls --kernel gaussian:0.7 --out m.mercer --quiet");
    assert_eq!((unfinished(&folder), folder.read("out.csv").lines().count()), (3, 201));
    drop(stdin);
    assert_eq!(end(child).0, Some(0));
    assert_eq!((unfinished(&folder), folder.read("out.csv").lines().count()), (2, 2));
    folder.done("predict all.csv --model m.mercer --predictions other.csv");
    assert_eq!(unfinished(&folder), 1);
}
