//! `cargo xtask faults`: kill −9 at random moments while checkpoints are written, and go on; slow
//! and greedy clients; forged model files.
//!
//! A run that learns a stream and writes a checkpoint every few rows is killed again and again, and
//! resumed. After every kill the model file must load, hold a whole number of checkpoints and no
//! fewer rows than it did before; and when the stream has been learnt in spite of it all, the file
//! must be that of a run which nobody disturbed, byte for byte.

pub(crate) mod client;
mod crowds;
mod fits;
mod moments;
mod service;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::product::{self, DriftStream};
use crate::root;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Times that a run is killed, a service with a journal and without, and a start; a fifth as
    /// often the power is lost
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Forged model files of each kind
    #[arg(long, default_value_t = 1000)]
    forged: u32,
    /// This mercer, and not one that is built for it
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Only these steps
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Step>,
    /// Seed of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Steps of the check.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Step {
    /// A run that learns a file is killed and resumed
    Run,
    /// A fit of many files is killed and resumed
    Fit,
    /// A service without a journal is killed
    Service,
    /// A service with a journal is killed
    Journal,
    /// Starts of a service with a journal are killed
    Starts,
    /// A service with a journal loses its power
    Power,
    /// Two signals behind each other
    Signals,
    /// Clients that ask for nothing on all connections
    Idle,
    /// Many large requests at once
    Large,
    /// Pages from elsewhere, misspelt and refused requests beside groups
    Pages,
    /// Slow clients and long forecasts at once, and slow clients at the end
    Siege,
    /// Clients that learn and predict many rows at once
    Bulk,
    /// Forged model files
    Forged,
}

/// Rows between two checkpoints.
const EVERY: u64 = 10;
/// Rows of the stream. A run takes longer than all waits together, which is seen to below.
const ROWS: u64 = 40_000;

/// Kills and resumes, and does what else a service must stand.
///
/// # Errors
/// When anything was lost or corrupt, or took too long.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { kills, seed, only, .. } = arguments;
    let program = product::given_or_built(arguments.program.as_deref())?;
    for step in Step::value_variants().iter().filter(|step| only.is_empty() || only.contains(step)) {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        match step {
            Step::Run => kill_and_resume(&program, folder, arguments)?,
            Step::Fit => fits::kills(&program, folder, *kills, *seed)?,
            Step::Service => service::kills(&program, folder, *kills, *seed, false)?,
            Step::Journal => service::kills(&program, folder, *kills, *seed, true)?,
            Step::Starts => moments::starts(&program, folder, *kills, *seed)?,
            Step::Power => moments::power(&program, folder, (*kills / 5).max(1))?,
            Step::Signals => moments::signals(&program, folder, 24)?,
            Step::Idle => crowds::idle(&program, folder)?,
            Step::Large => crowds::large(&program, folder)?,
            Step::Pages => crowds::pages(&program, folder)?,
            Step::Siege => service::siege(&program, folder)?,
            Step::Bulk => service::bulk(&program, folder)?,
            Step::Forged => forged(arguments.forged)?,
        }
    }
    Ok(())
}

/// Bytes that the process may take, its stacks and all.
const ROOM: u32 = 100 << 20;

/// Opens forged model files and uses those that are models, where a process that takes too much
/// memory is ended. (Each file is opened when the one before is gone.)
fn forged(count: u32) -> Result<()> {
    // The limit is that of the test, and not of the compiler before it.
    let limited = format!("ulimit -d {}; exec \"$0\" \"$@\"", ROOM >> 10);
    let runner = format!("target.'cfg(unix)'.runner=['sh', '-c', '{limited}']");
    let mut command = Command::new("cargo");
    command.args(["test", "--config", &runner, "--release", "--quiet", "-p", "mercer", "--all-features"]);
    command.args(["--test", "all", "forged_files", "--", "--ignored", "--nocapture"]);
    let output = command.current_dir(root()).env("MERCER_FORGED", count.to_string()).output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "forged files do harm: {told}{said}");
    let line = told.lines().find(|line| line.contains("forged files: ")).context("the test tells what it did")?;
    println!("{line}, in {} MB", ROOM >> 20);
    let slowest: u64 = line.rsplit(' ').next().unwrap_or_default().parse()?;
    ensure!(slowest <= 2000, "that is too long");
    Ok(())
}

/// The file of the rows.
fn write_rows(folder: &Path) -> Result<PathBuf> {
    let data = folder.join("rows.csv");
    let mut file = BufWriter::new(File::create(&data)?);
    let mut stream = DriftStream::new(2);
    for _ in 0..ROWS {
        stream.write(&mut file)?;
    }
    file.flush()?;
    Ok(data)
}

fn kill_and_resume(program: &Path, folder: &Path, arguments: &Arguments) -> Result<()> {
    let data = write_rows(folder)?;
    let (whole, model) = (folder.join("whole.mercer"), folder.join("m.mercer"));
    ensure!(start(program, &data, &whole, &[])?.wait()?.success(), "the undisturbed run failed");

    let mut moments = DriftStream::new(arguments.seed);
    let (mut rows, mut kills, mut found) = (0, 0, 0);
    let mut longest = Duration::from_millis(40);
    let begun = Instant::now();
    while kills < arguments.kills {
        let every = EVERY.to_string();
        let mut child = start(program, &data, &model, &["--checkpoint", &every, "--resume"])?;
        thread::sleep(longest.mul_f64(moments.uniform()));
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "a resumed run failed");
            // The stream came to its end before all kills were made: once more from the beginning.
            compare(&whole, &model)?;
            fs::remove_file(&model)?;
            rows = 0;
            continue;
        }
        // The signal that cannot be caught.
        child.kill()?;
        child.wait()?;
        kills += 1;
        if !model.exists() {
            ensure!(rows == 0, "the model of {rows} rows is gone");
            // Killed before it could write once; give it longer.
            longest += Duration::from_millis(5);
            continue;
        }
        let facts = product::json(program, &["inspect", &model.display().to_string()])
            .with_context(|| format!("after kill {kills} the file is corrupt"))?;
        let now = facts["rows"].as_u64().context("a model tells its rows")?;
        ensure!(now >= rows, "after kill {kills} the model has {now} rows, and had {rows}");
        ensure!(now % EVERY == 0 || now == ROWS, "after kill {kills} the model has {now} rows, which is no checkpoint");
        found += u32::from(now > rows);
        // As rows are replayed before new ones are learnt, later runs need longer to get further.
        if now == rows {
            longest += Duration::from_millis(5);
        }
        rows = now;
    }
    let status = start(program, &data, &model, &["--resume"])?.wait()?;
    ensure!(status.success(), "the last run failed");
    compare(&whole, &model)?;
    let left: Vec<_> = fs::read_dir(folder)?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "partial"))
        .collect();
    ensure!(left.is_empty(), "{} unfinished files of killed runs were left", left.len());
    println!(
        "{kills} kills in {:.0} s: nothing lost beyond the last checkpoint, no file corrupt; {found} runs got further than the one \
         before, and the last wrote the file of an undisturbed run and cleared away what the others had left unfinished",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

fn start(program: &Path, data: &Path, model: &Path, more: &[&str]) -> Result<Child> {
    let mut command = Command::new(program);
    command.arg("train").arg(data).arg("--model").arg(model);
    // A file of some 200 KiB, so that a good part of the time goes into writing it.
    command.args(["--learner", "nons-ald", "--kernel", "gaussian:0.4", "--set", "max_dictionary=120", "--quiet"]);
    Ok(command.args(more).stdout(Stdio::null()).spawn()?)
}

fn compare(whole: &Path, model: &Path) -> Result<()> {
    ensure!(fs::read(whole)? == fs::read(model)?, "the model is not that of an undisturbed run");
    Ok(())
}
