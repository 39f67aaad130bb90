//! Runs the program and looks at what it said.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use mercer::readers::Dataset;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn mercer() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mercer"));
    command.stdin(Stdio::null());
    command
}

pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with files in it, where the program runs.
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all that is there.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = mercer();
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    /// A run that the modes of files bind, also where root runs the tests.
    #[cfg(unix)]
    pub(crate) fn unprivileged(&self, arguments: &str) -> Command {
        use std::os::unix::fs::MetadataExt;
        if fs::metadata(self.folder.path()).unwrap().uid() != 0 {
            return self.command(&words(arguments));
        }
        let mut command = Command::new("setpriv");
        command.args(["--inh-caps=-all", "--bounding-set=-all", env!("CARGO_BIN_EXE_mercer")]).args(words(arguments));
        command.stdin(Stdio::null()).current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Said {
        said(&mut self.command(&words(arguments)))
    }

    /// The output of a successful run.
    pub(crate) fn done(&self, arguments: &str) -> String {
        succeeded(arguments, self.run(arguments))
    }

    /// The same for arguments that hold spaces.
    pub(crate) fn done_with(&self, arguments: &[&str]) -> String {
        succeeded(&arguments.join(" "), said(&mut self.command(arguments)))
    }

    /// The object that a successful run with `--json` printed, and its text.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        object(&self.done(&format!("{arguments} --json")))
    }

    /// The same with this on standard input.
    pub(crate) fn json_of(&self, input: &[u8], arguments: &str) -> Value {
        object(&succeeded(arguments, self.piped(input, &format!("{arguments} --json"))))
    }

    pub(crate) fn piped(&self, input: &[u8], arguments: &str) -> Said {
        let mut command = self.command(&words(arguments));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A program that has read enough closes the pipe, which is its right.
        let writer = thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        drop(writer.join());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// A run that must fail: nothing on stdout, a line on stderr that holds `parts`, and no file
    /// more or less than before.
    pub(crate) fn refused(&self, code: i32, arguments: &str, parts: &[&str]) {
        let before = self.names();
        check_refusal(&self.run(arguments), code, arguments, parts);
        assert_eq!(self.names(), before, "{arguments}");
    }

    pub(crate) fn refused_input(&self, code: i32, input: &str, arguments: &str, parts: &[&str]) {
        check_refusal(&self.piped(input.as_bytes(), arguments), code, arguments, parts);
    }
}

fn words(arguments: &str) -> Vec<&str> {
    arguments.split_whitespace().collect()
}

fn succeeded(arguments: &str, said: Said) -> String {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{arguments}");
    said.out
}

fn check_refusal(said: &Said, code: i32, arguments: &str, parts: &[&str]) {
    let Said { code: got, out, err } = said;
    assert_eq!(*got, Some(code), "{arguments}: {err}");
    assert_eq!(out, "", "{arguments}");
    // Before the refusal stands nothing but what was left out, which no option hides.
    let before = err.lines().rev().skip(1).all(|line| line.contains("left out") || line.contains("count as missing"));
    assert!(err.starts_with("mercer: ") && err.ends_with('\n') && before, "{arguments}: {err}");
    for part in parts {
        assert!(err.contains(part), "{arguments}: {part:?} is not in {err}");
    }
}

/// One JSON object on one line.
pub(crate) fn object(text: &str) -> Value {
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    let value: Value = serde_json::from_str(text).unwrap();
    assert!(value.is_object());
    value
}

/// A report without what the clock says.
pub(crate) fn timeless(mut report: Value) -> Value {
    let object = report.as_object_mut().unwrap();
    assert!(object.remove("seconds").unwrap().as_f64().unwrap() > 0.0);
    assert!(object.remove("seconds_per_example").unwrap().as_f64().unwrap() > 0.0);
    report
}

/// `rows` examples of three features in [−1, 1] and a smooth target in [−1, 1], whatever the
/// platform.
pub(crate) fn examples(rows: usize) -> Dataset {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 23) as f64 - 1.0
    };
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x = [uniform(), uniform(), uniform()];
        targets.push((x[0] * x[1] + x[2]) / 2.0);
        features.extend(x);
    }
    Dataset::new("examples", 3, features, targets).unwrap()
}

/// A table as CSV with a header.
pub(crate) fn csv(table: &Dataset) -> String {
    let rows = table.iter().map(|(x, y)| format!("{},{},{},{y}\n", x[0], x[1], x[2]));
    std::iter::once("a,b,c,y\n".to_owned()).chain(rows).collect()
}

/// The rows of a file of predictions: t, target, prediction.
pub(crate) fn predictions(path: &Path) -> Vec<(usize, f64, f64)> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,target,prediction"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [t, target, prediction] = cells[..] else { panic!("{line}") };
        (t.parse().unwrap(), target.parse().unwrap(), prediction.parse().unwrap())
    };
    lines.map(row).collect()
}

/// Numbers that look like noise: even, in [−0.5, 0.5].
pub(crate) fn noise(t: u64) -> f64 {
    let mut z = t.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / 2f64.powi(53) - 0.5
}

/// A table as the bytes of a Parquet file.
#[cfg(feature = "arrow")]
pub(crate) fn parquet(batch: &arrow_array::RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// A table as the bytes of a stream of Arrow.
#[cfg(feature = "arrow")]
pub(crate) fn arrow_stream(batch: &arrow_array::RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}
