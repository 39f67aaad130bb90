//! A fit of many files that is killed again and again, and goes on from what it has kept.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::compare;
use crate::product::{self, DriftStream};

/// Files, and rows of each.
const FILES: u64 = 100;
const ROWS: u64 = 1000;

fn start(program: &Path, folder: &Path, out: &str, more: &[&str]) -> Result<Child> {
    let mut command = Command::new(program);
    command.args(["fit", "parts", "--learner", "pkrr-taylor", "--kernel", "gaussian:1", "--set", "degree=5"]);
    command.args(["--threads", "2", "--quiet", "--out", out]).args(more);
    Ok(command.current_dir(folder).stdout(Stdio::null()).spawn()?)
}

/// Kills runs at random moments. What they have kept must load, hold whole files, and no fewer than
/// before; the last run must write the file of one that nobody disturbed, in which each row counts
/// once.
pub(super) fn kills(program: &Path, folder: &Path, count: u32, seed: u64) -> Result<()> {
    fs::create_dir(folder.join("parts"))?;
    let mut stream = DriftStream::new(2);
    for file in 0..FILES {
        let mut rows = Vec::new();
        writeln!(rows, "a,b,c,d,y")?;
        (0..ROWS).try_for_each(|_| stream.write(&mut rows))?;
        fs::write(folder.join(format!("parts/part-{file:03}.csv")), rows)?;
    }
    ensure!(start(program, folder, "whole.mercer", &[])?.wait()?.success(), "the undisturbed run failed");
    let (whole, model, kept) =
        (folder.join("whole.mercer"), folder.join("m.mercer"), folder.join("m.mercer.checkpoint"));
    let resumed = ["--checkpoint", "0", "--resume"];
    let (mut moments, begun) = (DriftStream::new(seed), Instant::now());
    let (mut rows, mut kills, mut further, mut ends) = (0, 0, 0, 0);
    let mut longest = Duration::from_millis(40);
    while kills < count {
        let mut child = start(program, folder, "m.mercer", &resumed)?;
        thread::sleep(longest.mul_f64(moments.uniform()));
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "a resumed run failed");
            // All files were summed up before all kills were made: once more from the beginning.
            compare(&whole, &model)?;
            fs::remove_file(&model)?;
            (rows, ends) = (0, ends + 1);
            continue;
        }
        // The signal that cannot be caught.
        child.kill()?;
        child.wait()?;
        kills += 1;
        let of = if model.exists() { &model } else { &kept };
        if !of.exists() {
            ensure!(rows == 0, "the sums of {rows} rows are gone");
            longest += Duration::from_millis(5);
            continue;
        }
        let facts = product::json(program, &["inspect", &of.display().to_string()])
            .with_context(|| format!("after kill {kills} what was kept is corrupt"))?;
        let now = facts["rows"].as_u64().context("sums tell their rows")?;
        ensure!(now >= rows, "after kill {kills} there are {now} rows, and there were {rows}");
        ensure!(now % ROWS == 0 && now <= FILES * ROWS, "after kill {kills} there are {now} rows, which is no file");
        further += u32::from(now > rows);
        if now == rows {
            longest += Duration::from_millis(5);
        }
        rows = now;
    }
    ensure!(start(program, folder, "m.mercer", &resumed)?.wait()?.success(), "the last run failed");
    compare(&whole, &model)?;
    let left: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.file_name()).collect();
    ensure!(left.len() == 3, "killed runs have left files: {left:?}");
    println!(
        "{kills} kills of fits of {FILES} files in {:.0} s: {further} runs got further than the one before, {ends} came to their \
         end and the last too, each with the sums of an undisturbed run, in which each row counts once",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
