//! `cargo xtask soak`: millions of rows through every learner whose memory is bounded by design.
//!
//! Each learner is a `mercer train -` that reads rows from a pipe and writes a checkpoint now and then. Its memory is looked at a hundred
//! times; once a fifth of the rows are learnt it must not grow by more than 1 %, and its losses must be finite. Learners that keep every
//! example are named, and left out.
//!
//! What counts is the memory in use that is the process's own, heap and stacks (`RssAnon`): rows can be nowhere else. The pages of the
//! program's file, five times as many, are left out, for the system maps and drops them as it likes. Linux only, where `/proc` tells this.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::product::{self, Stream};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Rows through each learner
    #[arg(long, default_value_t = 10_000_000)]
    rows: u64,
    /// Only these learners
    #[arg(long, value_delimiter = ',')]
    learners: Vec<String>,
}

/// Dictionaries and budgets that let ten million rows pass in minutes.
fn settings(learner: &str) -> &'static [&'static str] {
    match learner {
        "nons-ald" | "krls" => &["--set", "max_dictionary=60"],
        "pros-n-kons" | "con-kons" => &["--set", "max_dictionary=60"],
        // Bounded as long as its dictionary is, which this threshold sees to.
        "aogd-ald" => &["--set", "alpha=0.05"],
        "fogd" => &["--set", "features=50"],
        "nogd" => &["--set", "budget=100", "--set", "rank=50"],
        "experts" => &["--set", "members=krls max_dictionary=30; nons-ald max_dictionary=30; fogd features=20"],
        "auto" => &["--set", "budget=5000"],
        _ => &[],
    }
}

/// Largest growth of memory once a fifth of the rows are learnt.
const GROWTH: f64 = 0.01;

/// Runs them all.
///
/// # Errors
/// When a learner's memory grows, its losses are not finite, or it fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = product::build()?;
    let catalogue = product::json(&program, &["learners"])?;
    let learners = catalogue["learners"].as_array().context("the catalogue lists its learners")?;
    let folder = std::env::temp_dir().join(format!("mercer-soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut failed = Vec::new();
    let mut unbounded = BTreeMap::new();
    for learner in learners {
        let name = learner["name"].as_str().context("a learner has a name")?;
        if !arguments.learners.is_empty() && !arguments.learners.iter().any(|wanted| wanted == name) {
            continue;
        }
        match learner["growth"].as_str() {
            Some(growth) if name != "aogd-ald" => drop(unbounded.insert(name, growth)),
            _ => {
                if let Err(error) = soak(&program, name, arguments.rows, &folder.join("soak.mercer")) {
                    println!("{name:<14} FAILED: {error:#}");
                    failed.push(name);
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder)?;
    for (name, growth) in unbounded {
        println!("{name:<14} left out: {growth}");
    }
    if failed.is_empty() { Ok(()) } else { bail!("{} did not hold", failed.join(", ")) }
}

fn soak(program: &Path, learner: &str, rows: u64, model: &Path) -> Result<()> {
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(["train", "-", "--format", "csv", "--learner", learner, "--quiet", "--model"]).arg(model);
    if learner != "auto" {
        command.args(["--kernel", "gaussian:1"]);
    }
    let every = (rows / 7).max(1).to_string();
    command.args(settings(learner)).args(["--checkpoint", &every]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut input = BufWriter::with_capacity(1 << 16, child.stdin.take().context("the pipe was asked for")?);
    let mut stream = Stream::new(1);
    // The largest memory of the first fifth, with all that is ever allocated, and of the rest.
    let (mut before, mut after) = (0, 0);
    for row in 0..rows {
        stream.write(&mut input).context("the command ended early")?;
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
    let (learnt, loss) = (facts["learnt"].as_u64(), facts["mse"].as_f64());
    ensure!(learnt == Some(rows), "{learnt:?} of {rows} rows were learnt");
    let loss = loss.filter(|loss| loss.is_finite()).context("the loss is not finite")?;
    let growth = after as f64 / before as f64 - 1.0;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{learner:<14} {rows} rows in {seconds:.0} s, mse {loss:.6}, dictionary {}, memory {before} then {after} KiB ({:+.2} %)",
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
