//! Faults that a service has to stand: kill −9 while it saves, with a journal and without, clients
//! that take their time, and clients that ask for much.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::client::{Service, get, head, post};
use super::compare;
use crate::product::{self, DriftStream};

/// Rows between two checkpoints.
const EVERY: u64 = 5;
/// Rows that the model learns beforehand.
pub(super) const BEFORE: u64 = 50;
/// The largest time from a start to the kill.
const LONGEST: Duration = Duration::from_millis(40);

/// Lines of `a,b,c,d,y`.
pub(super) fn lines(count: u64) -> Result<Vec<String>> {
    let mut stream = DriftStream::new(3);
    let mut bytes = Vec::new();
    for _ in 0..count {
        stream.write(&mut bytes)?;
    }
    Ok(String::from_utf8(bytes)?.lines().map(str::to_owned).collect())
}

/// Runs a command of words without spaces.
fn mercer(program: &Path, folder: &Path, arguments: &str) -> Result<()> {
    let output = Command::new(program).args(arguments.split(' ')).current_dir(folder).output()?;
    ensure!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Options that the killed service learns with.
pub(super) const KRLS: &str = "--learner krls --kernel gaussian:0.7 --set max_dictionary=60 --set lambda=0.1";

pub(super) fn train(program: &Path, folder: &Path, rows: &[String], model: &str, learner: &str) -> Result<()> {
    let mut file = BufWriter::new(File::create(folder.join("rows.csv"))?);
    writeln!(file, "a,b,c,d,y")?;
    rows.iter().try_for_each(|row| writeln!(file, "{row}"))?;
    file.flush()?;
    mercer(program, folder, &format!("train rows.csv --quiet --out {model} {learner}"))
}

/// Kills a service that learns and saves; after each kill no row may be missing that was answered
/// (with a journal), or that the last checkpoint had (without). In the end the model must be that
/// of a run over the same rows from a file.
pub(super) fn kills(program: &Path, folder: &Path, count: u32, seed: u64, journal: bool) -> Result<()> {
    let options = if journal { "--journal rows.journal" } else { "" };
    let arguments = format!("--model m.mercer --checkpoint {EVERY} {options}");
    let rows = lines(BEFORE + 200 * u64::from(count))?;
    train(program, folder, &rows[..BEFORE as usize], "m.mercer", KRLS)?;
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
    train(program, folder, &rows[..found as usize], "whole.mercer", KRLS)?;
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

/// Slow clients, and others that ask for much.
const SLOW: usize = 512;
const GREEDY: usize = 12;
/// Columns of the series, and rows in a large request.
const COLUMNS: usize = 20;
const ROWS: usize = 10_000;
/// Time that they go on.
const SIEGE: Duration = Duration::from_secs(10);

/// Long forecasts beside slow clients, which are still there when the service is to end.
pub(super) fn siege(program: &Path, folder: &Path) -> Result<()> {
    let row = |t: u64| -> String {
        let cells = (0..COLUMNS).map(|at| format!("{:.4}", (t as f64 / (5.0 + at as f64)).sin()));
        cells.collect::<Vec<_>>().join(",")
    };
    let names: Vec<String> = (0..COLUMNS).map(|at| format!("s{at}")).collect();
    let rows: Vec<String> = std::iter::once(names.join(",")).chain((0..300).map(row)).collect();
    fs::write(folder.join("series.csv"), rows.join("\n"))?;
    mercer(program, folder, "forecast series.csv --method opf --gamma 0.5 --t-init 50 --out s.mercer --quiet")?;
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
    let asks: [Ask<'_>; 2] = [
        ("/health", &|_| String::new(), HEALTH),
        ("/learn", &|round| format!("{{\"row\":[{}]}}", row(300 + round)), LEARN),
    ];
    let told = beside(address, &|_| post(address, "/predict", "{\"steps\":100}"), &asks)?;
    println!("{SLOW} slow clients and {GREEDY} of long forecasts: {told}");

    let (rows, model) = (service.rows()?, folder.join("s.mercer"));
    let (before, begun) = (fs::metadata(&model)?.modified()?, Instant::now());
    service.signal()?;
    while fs::metadata(&model)?.modified()? == before && begun.elapsed() < SIEGE {
        thread::sleep(Duration::from_millis(1));
    }
    let saved = begun.elapsed();
    service.ended()?;
    let ended = begun.elapsed();
    drop(slow);
    let found = product::json(program, &["inspect", &model.display().to_string()])?["observed"].as_u64();
    println!(
        "the slow clients at the end: {rows} rows were saved {} ms after the signal, and the service ended after {} ms",
        saved.as_millis(),
        ended.as_millis()
    );
    ensure!(found == Some(rows), "the model was saved with {found:?} rows");
    ensure!(saved <= LEARN && ended <= DRAIN + 2 * LEARN, "that is too long");
    Ok(())
}

/// Requests of many rows to a model that takes its time with each.
pub(super) fn bulk(program: &Path, folder: &Path) -> Result<()> {
    let rows = lines(ROWS as u64)?;
    train(program, folder, &rows[..1000], "a.mercer", "--learner auto")?;
    let service = Service::start(program, folder, "--model a.mercer")?;
    let address = service.address;
    let inputs: Vec<&str> = rows.iter().filter_map(|row| Some(row.rsplit_once(',')?.0)).collect();
    let (learnt, predicted) = (rows.join("],["), inputs.join("],["));
    let all = |rows: &str| format!("{{\"rows\":[[{rows}]]}}");
    let (learnt, predicted) = (all(&learnt), all(&predicted));
    let others = |client: usize| match client % 2 {
        0 => post(address, "/learn", &learnt),
        _ => post(address, "/predict", &predicted),
    };
    let asks: [Ask<'_>; 3] = [
        ("/health", &|_| String::new(), HEALTH),
        ("/predict", &|round| format!("{{\"row\":[{}]}}", inputs[round as usize % ROWS]), LEARN),
        ("/learn", &|round| format!("{{\"row\":[{}]}}", rows[round as usize % ROWS]), LEARN),
    ];
    let told = beside(address, &others, &asks)?;
    service.end()?;
    println!("{GREEDY} clients that learn or predict {ROWS} rows at once with auto: {told}");
    Ok(())
}

/// Longest time for a service to say how it is, and to learn a row or to say that it cannot now.
const HEALTH: Duration = Duration::from_millis(100);
const LEARN: Duration = Duration::from_secs(1);
/// Time that it waits for clients at the end.
const DRAIN: Duration = Duration::from_secs(5);

/// A path, what is sent in each round, if anything, and how long that may take.
type Ask<'a> = (&'static str, &'a dyn Fn(u64) -> String, Duration);

/// Asks a service while others do so again and again; what was found.
fn beside(
    address: SocketAddr,
    others: &(dyn Fn(usize) -> Result<(u16, Value)> + Sync),
    asks: &[Ask<'_>],
) -> Result<String> {
    let (ended, served, refused) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let mut longest = vec![(Duration::ZERO, 0); asks.len()];
    let mut round = 0;
    thread::scope(|scope| {
        for client in 0..GREEDY {
            let (ended, served, refused) = (&ended, &served, &refused);
            scope.spawn(move || {
                while !ended.load(Relaxed) {
                    let well = matches!(others(client), Ok((200, _)));
                    (if well { served } else { refused }).fetch_add(1, Relaxed);
                }
            });
        }
        let asked = (|| {
            let begun = Instant::now();
            while begun.elapsed() < SIEGE {
                for ((path, body, _), (longest, turned)) in asks.iter().zip(&mut longest) {
                    let (body, begun) = (body(round), Instant::now());
                    let answer = if body.is_empty() { get(address, path) } else { post(address, path, &body) };
                    let (status, told) = answer.with_context(|| format!("{path} was not answered"))?;
                    ensure!(status == 200 || status == 503 && !body.is_empty(), "{path} is {status}: {told}");
                    *longest = begun.elapsed().max(*longest);
                    *turned += u32::from(status == 503);
                }
                round += 1;
            }
            Ok(())
        })();
        ended.store(true, Relaxed);
        asked
    })?;
    let mut told =
        format!("{} were served and {} refused; in {round} rounds", served.into_inner(), refused.into_inner());
    for ((path, ..), (longest, turned)) in asks.iter().zip(&longest) {
        told += &format!(", {path} took {} ms at most ({turned} times 503)", longest.as_millis());
    }
    let long = asks.iter().zip(&longest).any(|((_, _, most), (longest, _))| longest > most);
    ensure!(!long, "{told}, which is too long");
    Ok(told)
}
