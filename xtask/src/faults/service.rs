//! What a service stands: kill −9 while it saves, with a journal and without, and clients that take
//! their time beside forecasts that take all of it.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::client::{Service, get, head, post};
use super::compare;
use crate::product::DriftStream;

/// Rows between two checkpoints.
const EVERY: u64 = 5;
/// Rows that the model learns beforehand.
const BEFORE: u64 = 50;
/// The largest time from a start to the kill.
const LONGEST: Duration = Duration::from_millis(40);

/// Lines of `a,b,c,d,y`.
fn lines(count: u64) -> Result<Vec<String>> {
    let mut stream = DriftStream::new(3);
    let mut bytes = Vec::new();
    for _ in 0..count {
        stream.write(&mut bytes)?;
    }
    Ok(String::from_utf8(bytes)?.lines().map(str::to_owned).collect())
}

fn train(program: &Path, folder: &Path, rows: &[String], model: &str) -> Result<()> {
    let mut file = BufWriter::new(File::create(folder.join("rows.csv"))?);
    writeln!(file, "a,b,c,d,y")?;
    rows.iter().try_for_each(|row| writeln!(file, "{row}"))?;
    file.flush()?;
    let set = ["--learner", "krls", "--kernel", "gaussian:0.7", "--set", "max_dictionary=60", "--set", "lambda=0.1"];
    let mut command = Command::new(program);
    command.args(["train", "rows.csv", "--quiet", "--out", model]).args(set).current_dir(folder);
    let output = command.output()?;
    ensure!(output.status.success(), "train: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Kills a service that learns and saves; after each kill no row may be missing that was answered
/// (with a journal), or that the last checkpoint had (without). In the end the model must be that
/// of a run over the same rows from a file.
pub(super) fn kills(program: &Path, folder: &Path, count: u32, seed: u64, journal: bool) -> Result<()> {
    let options = if journal { "--journal rows.journal" } else { "" };
    let arguments = format!("--model m.mercer --checkpoint {EVERY} {options}");
    let rows = lines(BEFORE + 200 * u64::from(count))?;
    train(program, folder, &rows[..BEFORE as usize], "m.mercer")?;
    let mut moments = DriftStream::new(seed);
    let (mut safe, mut replayed, mut lost) = (BEFORE, 0, 0);
    let begun = Instant::now();
    for kill in 1..=count {
        let mut service = Service::start(program, folder, &arguments)?;
        let found = service.rows()?;
        ensure!(found >= safe, "after kill {} the model has {found} rows, and {safe} were safe", kill - 1);
        let (address, last) = (service.address, AtomicU64::new(found));
        let wait = LONGEST.mul_f64(moments.uniform());
        thread::scope(|scope| {
            let client = scope.spawn(|| {
                for row in &rows[found as usize..] {
                    let Ok((200, told)) = post(address, "/learn", &format!("{{\"row\":[{row}]}}")) else { break };
                    last.store(told["rows"].as_u64().unwrap_or(0), Relaxed);
                }
            });
            thread::sleep(wait);
            // The signal that cannot be caught.
            service.child.kill()?;
            service.child.wait()?;
            client.join().map_err(|_| anyhow::anyhow!("the client failed"))
        })?;
        let answered = last.load(Relaxed);
        ensure!(answered < rows.len() as u64, "the rows were at their end after kill {kill}");
        // A checkpoint is written before its row is answered.
        safe = if journal { answered } else { found.max(answered - answered % EVERY) };
        replayed += answered - found;
        lost += answered - safe;
    }
    let service = Service::start(program, folder, &arguments)?;
    let found = service.rows()?;
    service.end()?;
    train(program, folder, &rows[..found as usize], "whole.mercer")?;
    compare(&folder.join("whole.mercer"), &folder.join("m.mercer"))?;
    for name in ["m.mercer", "rows.journal"] {
        drop(fs::remove_file(folder.join(name)));
    }
    let kind = if journal { "with a journal" } else { "without a journal" };
    println!(
        "service {kind}: {count} kills in {:.0} s while {replayed} rows were answered; at most {lost} of them were lost, those behind \
         the last checkpoint, and the model is that of a run from a file",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Slow clients, and forecasts.
const SLOW: usize = 512;
const FORECASTS: usize = 12;
/// Columns of the series.
const COLUMNS: usize = 20;
/// How long they go on.
const SIEGE: Duration = Duration::from_secs(10);

/// Beside so many slow clients and long forecasts a service must say how it is within 100 ms, and
/// learn a row within a second or say that it cannot now.
pub(super) fn siege(program: &Path, folder: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(folder.join("series.csv"))?);
    let row = |t: usize| -> String {
        let cells = (0..COLUMNS).map(|at| format!("{:.4}", (t as f64 / (5.0 + at as f64)).sin()));
        cells.collect::<Vec<_>>().join(",")
    };
    let names: Vec<String> = (0..COLUMNS).map(|at| format!("s{at}")).collect();
    writeln!(file, "{}", names.join(","))?;
    (0..300).try_for_each(|t| writeln!(file, "{}", row(t)))?;
    file.flush()?;
    let train = "forecast series.csv --method opf --gamma 0.5 --t-init 50 --out s.mercer --quiet";
    let output = Command::new(program).args(train.split(' ')).current_dir(folder).output()?;
    ensure!(output.status.success(), "{train}: {}", String::from_utf8_lossy(&output.stderr));
    let service = Service::start(program, folder, "--model s.mercer --max-connections 600")?;
    let address = service.address;

    let slow: Vec<TcpStream> = (0..SLOW)
        .map(|at| {
            let mut stream = TcpStream::connect(address)?;
            // Some stop in the head, others in the body.
            let request = head("/learn", 1000) + "{\"row\":[";
            stream.write_all(&request.as_bytes()[..request.len() - 30 * (at % 2)])?;
            Ok(stream)
        })
        .collect::<Result<_>>()?;
    let (ended, made, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let (mut health, mut learn, mut turned) = (Duration::ZERO, Duration::ZERO, 0);
    let mut rounds = 0;
    thread::scope(|scope| {
        for _ in 0..FORECASTS {
            scope.spawn(|| {
                while !ended.load(Relaxed) {
                    match post(address, "/predict", "{\"steps\":100}") {
                        Ok((200, _)) => made.fetch_add(1, Relaxed),
                        _ => refused.fetch_add(1, Relaxed),
                    };
                }
            });
        }
        let asked = (|| {
            let begun = Instant::now();
            while begun.elapsed() < SIEGE {
                let (status, took) = timed(|| get(address, "/health"))?;
                ensure!(status == 200, "/health is {status}");
                health = health.max(took);
                let body = format!("{{\"row\":[{}]}}", row(300 + rounds));
                let (status, took) = timed(|| post(address, "/learn", &body))?;
                ensure!(matches!(status, 200 | 503), "/learn is {status}");
                turned += u32::from(status == 503);
                learn = learn.max(took);
                rounds += 1;
            }
            Ok(())
        })();
        ended.store(true, Relaxed);
        asked
    })?;
    drop(slow);
    service.end()?;
    println!(
        "{SLOW} slow clients and {FORECASTS} of long forecasts ({} made, {} refused): in {rounds} rounds /health took at most {} ms, and \
         /learn {} ms ({turned} were told to ask again)",
        made.load(Relaxed),
        refused.load(Relaxed),
        health.as_millis(),
        learn.as_millis()
    );
    ensure!(health <= Duration::from_millis(100) && learn <= Duration::from_secs(1), "that is too long");
    Ok(())
}

/// The status of an answer, and how long it took.
fn timed(ask: impl FnOnce() -> Result<(u16, serde_json::Value)>) -> Result<(u16, Duration)> {
    let begun = Instant::now();
    let (status, _) = ask().context("a request was not answered")?;
    Ok((status, begun.elapsed()))
}
