//! The moments at which a service may be stopped: in a start, by a loss of power, by two signals.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::client::{Service, post};
use super::compare;
use super::service::{BEFORE, KRLS, lines, train};
use crate::product::{self, DriftStream};

/// Rows that a service learns before it is killed.
const ROWS: u64 = 7;

const ARGUMENTS: &str = "--model m.mercer --journal rows.journal --checkpoint 5";

/// Has a service learn rows one by one; how many it has met then.
fn learn(service: &Service, rows: &[String]) -> Result<u64> {
    let mut met = service.rows()?;
    for row in rows {
        let (status, told) = post(service.address, "/learn", &format!("{{\"row\":[{row}]}}"))?;
        ensure!(status == 200, "/learn is {status}: {told}");
        met = told["rows"].as_u64().context("/learn tells the rows")?;
    }
    Ok(met)
}

fn killed(mut child: Child) -> Result<()> {
    // The signal that cannot be caught.
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Kills starts that learn a journal anew and save it, at random moments; no start may be refused
/// afterwards, and no row may be missing.
pub(super) fn starts(program: &Path, folder: &Path, count: u32, seed: u64) -> Result<()> {
    let all = lines(BEFORE + ROWS * u64::from(count / 4 + 1))?;
    train(program, folder, &all[..BEFORE as usize], "m.mercer", KRLS)?;
    let (begun, mut moments) = (Instant::now(), DriftStream::new(seed));
    let (mut met, mut kills, mut midway) = (BEFORE, 0, 0);
    let mut longest = Duration::from_millis(20);
    while kills < count {
        let start = Instant::now();
        let mut service = Service::start(program, folder, ARGUMENTS)?;
        longest = longest.max(start.elapsed()).min(Duration::from_millis(100));
        let found = service.rows()?;
        ensure!(found == met, "after {kills} killed starts there are {found} rows, and {met} were answered");
        met = learn(&service, &all[met as usize..(met + ROWS) as usize])?;
        service.child.kill()?;
        service.child.wait()?;
        for _ in 0..4 {
            let mut command = Command::new(program);
            command.env_remove("MERCER_TOKEN").args(["serve", "--addr", "127.0.0.1:0", "--quiet"]);
            command.args(ARGUMENTS.split(' ')).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn()?;
            thread::sleep(longest.mul_f64(moments.uniform()));
            let ended = child.try_wait()?;
            ensure!(ended.is_none(), "a start ended by itself after {kills} killed ones: {ended:?}");
            killed(child)?;
            kills += 1;
            let journal = fs::metadata(folder.join("rows.journal"))?.len();
            midway += u32::from(journal > 40);
        }
    }
    let service = Service::start(program, folder, ARGUMENTS)?;
    let found = service.rows()?;
    ensure!(found == met, "in the end there are {found} rows, and {met} were answered");
    service.end()?;
    train(program, folder, &all[..met as usize], "whole.mercer", KRLS)?;
    compare(&folder.join("whole.mercer"), &folder.join("m.mercer"))?;
    println!(
        "{kills} kills of starts in {:.0} s, {midway} of them before the journal was shortened: no row of {} was lost, no start was \
         refused, and the model is that of a run from a file",
        begun.elapsed().as_secs_f64(),
        met - BEFORE
    );
    Ok(())
}

/// The disk at the moment of a loss of power is a copy of the image of a mounted ext4. It needs the
/// right to mount; where that is missing the step says so.
pub(super) fn power(program: &Path, folder: &Path, count: u32) -> Result<()> {
    let shell = Shell::new()?;
    let _place = shell.push_dir(folder);
    let image = cmd!(shell, "truncate -s 32M disk.img").quiet().run().and_then(|()| {
        cmd!(shell, "mkfs.ext4 -q disk.img").quiet().ignore_stderr().run()?;
        fs::create_dir_all(folder.join("a")).and_then(|()| fs::create_dir_all(folder.join("b"))).ok();
        cmd!(shell, "mount -o loop disk.img a").quiet().ignore_stderr().run()
    });
    if image.is_err() {
        println!("loss of power: skipped: no image can be mounted here");
        return Ok(());
    }
    let told = cuts(program, folder, &shell, count);
    cmd!(shell, "umount a").quiet().run()?;
    told
}

fn cuts(program: &Path, folder: &Path, shell: &Shell, count: u32) -> Result<()> {
    let all = lines(BEFORE + 10 * u64::from(count) + 10)?;
    train(program, folder, &all[..BEFORE as usize], "m.mercer", KRLS)?;
    cmd!(shell, "cp m.mercer a/m.mercer").quiet().run()?;
    cmd!(shell, "sync").quiet().run()?;
    let (mut met, begun) = (BEFORE, Instant::now());
    let arguments =
        |at: &str| format!("--model {at}/m.mercer --journal {at}/r.journal --journal-sync row --checkpoint 5");
    let mut service = Service::start(program, folder, &arguments("a"))?;
    for cut in 0..count {
        // The last row is, and is not, the last of a checkpoint.
        let more = 5 + u64::from(cut % 6);
        met = learn(&service, &all[met as usize..(met + more) as usize])?;
        cmd!(shell, "cp disk.img lost.img").quiet().run()?;
        cmd!(shell, "mount -o loop lost.img b").quiet().run()?;
        let found = Service::start(program, folder, &arguments("b")).and_then(|after| {
            let found = after.rows()?;
            after.end().map(|()| found)
        });
        cmd!(shell, "umount b").quiet().run()?;
        let found = found.with_context(|| format!("after {} cuts", cut + 1))?;
        ensure!(found == met, "after cut {} there are {found} rows, and {met} were answered", cut + 1);
        if cut % 10 == 9 {
            service.child.kill()?;
            service.child.wait()?;
            service = Service::start(program, folder, &arguments("a"))?;
        }
    }
    service.end()?;
    println!(
        "{count} losses of power in {:.0} s: each of {} rows that were answered was there at the next start",
        begun.elapsed().as_secs_f64(),
        met - BEFORE
    );
    Ok(())
}

/// Two signals behind each other: the model is saved.
pub(super) fn signals(program: &Path, folder: &Path, count: u32) -> Result<()> {
    let all = lines(BEFORE + u64::from(count))?;
    train(program, folder, &all[..BEFORE as usize], "m.mercer", KRLS)?;
    for round in 0..count {
        let service = Service::start(program, folder, "--model m.mercer")?;
        let met = BEFORE + u64::from(round);
        learn(&service, &all[met as usize..=met as usize])?;
        service.signal()?;
        thread::sleep(Duration::from_millis(u64::from(round % 4) * 7));
        service.end()?;
        let found = product::json(program, &["inspect", &folder.join("m.mercer").display().to_string()])?;
        ensure!(found["rows"].as_u64() == Some(met + 1), "two signals have lost the row {}", met + 1);
    }
    println!("{count} times two signals within 0 to 21 ms: each time the service ended with 0, and all was saved");
    Ok(())
}
