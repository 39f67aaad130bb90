//! `cargo xtask faults`: kill −9 at random moments while checkpoints are written, and go on.
//!
//! A run that learns a stream and writes a checkpoint every few rows is killed again and again, and
//! resumed. After every kill the model file must load, hold a whole number of checkpoints and no
//! fewer rows than it did before; and when the stream has been learnt in spite of it all, the file
//! must be that of a run which nobody disturbed, byte for byte.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::product::{self, Stream};

#[derive(Args)]
pub(crate) struct Arguments {
    /// How often a run is killed
    #[arg(long, default_value_t = 200)]
    kills: u32,
    /// Seed of the moments
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Rows between two checkpoints.
const EVERY: u64 = 10;
/// Rows of the stream. A run takes longer than all waits together, which is seen to below.
const ROWS: u64 = 40_000;

/// Kills and resumes.
///
/// # Errors
/// When anything was lost or corrupt.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let program = product::build()?;
    let folder = tempfile::tempdir()?;
    kill_and_resume(&program, folder.path(), arguments)
}

fn kill_and_resume(program: &Path, folder: &Path, arguments: &Arguments) -> Result<()> {
    let data = folder.join("rows.csv");
    let mut file = BufWriter::new(File::create(&data)?);
    let mut stream = Stream::new(2);
    for _ in 0..ROWS {
        stream.write(&mut file)?;
    }
    file.flush()?;
    let (whole, model) = (folder.join("whole.mercer"), folder.join("m.mercer"));
    ensure!(start(program, &data, &whole, &[])?.wait()?.success(), "the undisturbed run failed");

    let mut moments = Stream::new(arguments.seed);
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
