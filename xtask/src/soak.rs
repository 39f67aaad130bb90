//! `cargo xtask soak`: millions of rows through every learner whose memory is bounded by design.
//!
//! Each learner is a `mercer train -` that reads rows from a pipe and writes a checkpoint now and
//! then. Its memory is looked at a hundred times; once a fifth of the rows are learnt it must not
//! grow by more than 1 %, and its losses must be finite. Learners that keep every example are
//! named, and left out.
//!
//! What counts is the memory in use that is the process's own, heap and stacks (`RssAnon`): rows
//! can be nowhere else. The pages of the program's file, five times as many, are left out, for the
//! system maps and drops them as it likes. Linux only, where `/proc` tells this.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::product::{self, DriftStream};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Rows through each learner
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// The errors of all learners on streams of every odd kind, beside those of a window, and those
    /// of learners and forecasters after every stress, instead
    #[arg(long)]
    matrix: bool,
    /// The promise of `mercer watch` by simulation, instead: alarms without a change, delays with
    /// one
    #[arg(long)]
    watch: bool,
    /// Only these learners
    #[arg(long, value_delimiter = ',')]
    learners: Vec<String>,
    /// This mercer, and not one that is built for it
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Rows of a stream of the matrix at most.
const MATRIX_ROWS: u64 = 100_000;

/// Sizes that let ten million rows pass in minutes, for keys of that name.
const SIZES: [(&str, &str); 6] = [
    ("max_dictionary", "max_dictionary=60"),
    ("budget", "budget=60"),
    ("window", "window=30"),
    ("tau", "tau=60"),
    ("features", "features=50"),
    ("rank", "rank=30"),
];

/// Learners that grow by design, and are bounded by what is set for them here.
const BY_SETTINGS: [&str; 4] = ["aogd-ald", "experts", "restart", "robust"];

/// Settings for a learner with these keys.
fn settings(learner: &str, keys: &[&str]) -> Vec<&'static str> {
    match learner {
        "aogd-ald" => vec!["alpha=0.05"],
        "experts" => vec!["members=krls max_dictionary=30; nons-ald max_dictionary=30; fogd features=20"],
        "restart" | "robust" => vec!["learner=krls lambda=0.1 max_dictionary=30"],
        // The grid, and a window of a few hundred rows.
        "auto" => vec!["budget=300000", "neighbours=8"],
        _ => SIZES.iter().filter(|(key, _)| keys.contains(key)).map(|(_, set)| *set).collect(),
    }
}

/// Largest growth of memory once a fifth of the rows are learnt.
const GROWTH: f64 = 0.01;

/// Runs them all.
///
/// # Errors
/// When a learner's memory grows, its losses are not finite, or it fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.matrix {
        let (shell, rows) = (Shell::new()?, arguments.rows.min(MATRIX_ROWS).to_string());
        let matrix = |name: &str| {
            cmd!(shell, "cargo run --release --quiet -p mercer-benches --bin {name} -- --rows {rows}").run()
        };
        // Both are shown, whatever the first one finds.
        let (soak, stress) = (matrix("soak"), matrix("stress"));
        return Ok(soak.and(stress)?);
    }
    if arguments.watch {
        let shell = Shell::new()?;
        return Ok(cmd!(shell, "cargo run --release --quiet -p mercer-benches --bin watch").run()?);
    }
    let program = product::given_or_built(arguments.program.as_deref())?;
    let catalogue = product::json(&program, &["learners"])?;
    let learners = catalogue["learners"].as_array().context("the catalogue lists its learners")?;
    let folder = tempfile::tempdir()?;
    let mut failed = Vec::new();
    let mut unbounded = BTreeMap::new();
    for learner in learners {
        let name = learner["name"].as_str().context("a learner has a name")?;
        if !arguments.learners.is_empty() && !arguments.learners.iter().any(|wanted| wanted == name) {
            continue;
        }
        match learner["growth"].as_str() {
            Some(growth) if !BY_SETTINGS.contains(&name) => drop(unbounded.insert(name, growth)),
            _ => {
                let list = |field: &str| learner[field].as_array().into_iter().flatten();
                let keys: Vec<_> = list("keys").filter_map(|key| key["key"].as_str()).collect();
                let classifies = list("targets").all(|target| target != "number");
                let subject = SoakSubject { name, settings: settings(name, &keys), classifies };
                if let Err(error) = soak(&program, &subject, arguments.rows, &folder.path().join("soak.mercer")) {
                    println!("{name:<14} FAILED: {error:#}");
                    failed.push(name);
                }
            }
        }
    }
    for (name, growth) in unbounded {
        println!("{name:<14} left out: {growth}");
    }
    if failed.is_empty() { Ok(()) } else { bail!("{} did not hold", failed.join(", ")) }
}

/// A learner with what is set for it, and whether it takes nothing but classes.
struct SoakSubject<'a> {
    name: &'a str,
    settings: Vec<&'static str>,
    classifies: bool,
}

fn soak(
    program: &Path,
    SoakSubject { name: learner, settings, classifies }: &SoakSubject<'_>,
    rows: u64,
    model: &Path,
) -> Result<()> {
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(["train", "-", "--format", "csv", "--learner", learner, "--quiet", "--model"]).arg(model);
    if *learner != "auto" {
        command.args(["--kernel", "gaussian:1"]);
    }
    // Two come in the first fifth: the system's allocator keeps the buffer of the second one, which
    // it gave back after the first.
    let every = (rows / 12).max(1).to_string();
    for set in settings {
        command.args(["--set", set]);
    }
    command.args(["--checkpoint", &every]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut input = BufWriter::with_capacity(1 << 16, child.stdin.take().context("the pipe was asked for")?);
    let mut stream = DriftStream::new(1);
    // The largest memory of the first fifth, with all that is ever allocated, and of the rest.
    let (mut before, mut after) = (0, 0);
    for row in 0..rows {
        if *classifies { stream.write_class(&mut input) } else { stream.write(&mut input) }
            .context("the command ended early")?;
        if (row + 1) % (rows / 100).max(1) == 0 {
            input.flush()?;
            let memory = memory(child.id())?;
            let side = if row < rows / 5 { &mut before } else { &mut after };
            *side = memory.max(*side);
        }
    }
    drop(input);
    ensure!(child.wait()?.success(), "the command failed");
    let facts = product::json(program, &["inspect", &model.display().to_string()])?;
    let (learnt, loss) = (facts["learnt"].as_u64(), facts[if *classifies { "accuracy" } else { "mse" }].as_f64());
    ensure!(learnt == Some(rows), "{learnt:?} of {rows} rows were learnt");
    let loss = loss.filter(|loss| loss.is_finite()).context("the loss is not finite")?;
    let growth = after as f64 / before as f64 - 1.0;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{learner:<14} {rows} rows in {seconds:.0} s, {} {loss:.6}, dictionary {}, memory {before} then {after} KiB ({:+.2} %)",
        if *classifies { "accuracy" } else { "mse" },
        facts["dictionary_size"],
        100.0 * growth
    );
    ensure!(growth <= GROWTH, "memory grows");
    Ok(())
}

/// Memory in use that is the process's own, in KiB.
fn memory(process: u32) -> Result<u64> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("the process tells its memory")?;
    line.trim().trim_end_matches("kB").trim().parse().context("memory is a number")
}
