//! Clients that sit on connections, send much at once, or are pages from elsewhere.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::client::{Service, get, head, post};
use super::service::{KRLS, lines, train};

/// Idle clients, and as many connections as a service takes.
const IDLE: usize = 512;
/// Longest time for a probe beside them: a connection is idle after one second.
const PROBE: Duration = Duration::from_millis(1500);
/// Large requests at once, and most memory that the service may come to take: what it is given for
/// requests, what it takes by itself, and what is read at the moment.
const LARGE: usize = 500;
const MEMORY: u64 = 600 << 20;

/// Probes are answered beside idle clients on all connections.
pub(super) fn idle(program: &Path, folder: &Path) -> Result<()> {
    train(program, folder, &lines(50)?, "m.mercer", KRLS)?;
    let service = Service::start(program, folder, "--model m.mercer")?;
    let clients: Vec<TcpStream> = (0..IDLE).map(|_| Ok(TcpStream::connect(service.address)?)).collect::<Result<_>>()?;
    let (mut longest, mut turned) = (Duration::ZERO, 0);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        let asked = Instant::now();
        // Those who have just come are not sent away at once: then the probe is asked to come back.
        while get(service.address, "/health/live")?.0 != 200 {
            turned += 1;
            thread::sleep(Duration::from_millis(50));
        }
        longest = longest.max(asked.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    drop(clients);
    service.end()?;
    println!("{IDLE} idle clients: a probe was answered within {} ms ({turned} times 503 before)", longest.as_millis());
    ensure!(longest <= PROBE, "that is too long");
    Ok(())
}

/// Large requests of many clients share a bounded memory.
pub(super) fn large(program: &Path, folder: &Path) -> Result<()> {
    let rows = lines(50)?;
    train(program, folder, &rows, "m.mercer", KRLS)?;
    let service = Service::start(program, folder, "--model m.mercer --max-rows 100000")?;
    let inputs = rows[0].rsplit_once(',').context("a row has a target")?.0;
    let count = (1 << 20) / (inputs.len() + 4);
    let body = format!("{{\"rows\":[{}]}}", vec![format!("[{inputs}]"); count].join(","));
    let address = service.address;
    let (served, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..LARGE {
            scope.spawn(|| {
                let asked = || -> Result<u16> {
                    let mut stream = TcpStream::connect(address)?;
                    stream.write_all(head("/predict", body.len()).as_bytes())?;
                    stream.write_all(body.as_bytes())?;
                    let mut answer = Vec::new();
                    stream.read_to_end(&mut answer)?;
                    Ok(String::from_utf8_lossy(&answer).split(' ').nth(1).context("a status")?.parse()?)
                };
                let well = matches!(asked(), Ok(200));
                (if well { &served } else { &refused }).fetch_add(1, Relaxed);
            });
        }
    });
    let status = fs::read_to_string(format!("/proc/{}/status", service.child.id()))?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    let most: u64 = most.context("the system tells the memory of a process")?;
    ensure!(post(address, "/predict", &format!("{{\"row\":[{inputs}]}}"))?.0 == 200, "the service works no more");
    service.end()?;
    println!(
        "{LARGE} predictions of {count} rows at once: {} MB at most, {} were served and {} asked to come back",
        most >> 10,
        served.into_inner(),
        refused.into_inner()
    );
    ensure!(most << 10 <= MEMORY, "that is too much");
    Ok(())
}

/// No page of another origin, no misspelt parameter and no refused row writes a file.
pub(super) fn pages(program: &Path, folder: &Path) -> Result<()> {
    let rows = lines(51)?;
    train(program, folder, &rows[..50], "m.mercer", KRLS)?;
    fs::create_dir(folder.join("g"))?;
    let service = Service::start(program, folder, "--model m.mercer --groups g --max-groups 3")?;
    let row = format!("{{\"row\":[{}]}}", rows[50]);
    let ask = |method: &str, path: &str, headers: &str, body: &str| -> Result<u16> {
        let mut stream = TcpStream::connect(service.address)?;
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n");
        stream.write_all(format!("{head}{headers}\r\n{body}").as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.split(' ').nth(1).context("a status")?.parse()?)
    };
    let json = "content-type: application/json\r\n";
    let foreign = format!("{json}origin: http://evil.example\r\nsec-fetch-site: cross-site\r\n");
    let mut refused = 0;
    for at in 0..100 {
        let path = format!("/learn?group=x{at}");
        for (method, path, headers, body) in [
            ("GET", &*path, "sec-fetch-site: cross-site\r\n", ""),
            ("POST", &path, "content-type: text/plain\r\n", &*row),
            ("POST", &path, &foreign, &row),
            ("POST", &path, json, "no JSON"),
            ("POST", &path, json, "{\"row\":[1]}"),
            ("POST", "/learn?groups=x", json, &row),
            ("GET", "/nothing?group=x", "", ""),
        ] {
            let status = ask(method, path, headers, body)?;
            ensure!((400..500).contains(&status), "{method} {path} {headers}: {status}");
            refused += 1;
        }
    }
    let files = fs::read_dir(folder.join("g"))?.count();
    ensure!(files == 0 && service.rows()? == 50, "{files} files were made");
    ensure!(ask("POST", "/learn?group=alice", json, &row)? == 200, "a good row is not learnt");
    service.end()?;
    println!(
        "{refused} requests of pages from elsewhere, misspelt or refused: no file was made, and nothing was learnt"
    );
    Ok(())
}
