//! Load on `mercer serve`: many clients on loopback that predict and learn, none of whose requests
//! may be lost.
//!
//! `cargo run --release -p mercer-benches --bin serve -- target/release/mercer [CLIENTS]
//! [REQUESTS]` trains a small model in a folder of its own, serves it, sends REQUESTS (100,000
//! unless told otherwise) from CLIENTS (64) connections that stay open, every fourth of them to
//! learn a row, and then as many that only predict. It prints requests a second and latencies,
//! checks that every request to learn is counted in the saved model, and ends the service. Clients
//! and service share the machine.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, error, fs, thread};

type Outcome<T> = Result<T, Box<dyn error::Error + Send + Sync>>;

/// Features of a row.
const FEATURES: usize = 18;
/// Rows that the model learns beforehand.
const ROWS: usize = 5000;

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let program = arguments.next().ok_or("say which mercer to run: serve PROGRAM [CLIENTS] [REQUESTS]")?;
    let program = fs::canonicalize(program)?;
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (clients, requests) = (number(64)?.clamp(1, 512), number(100_000)?.min(10_000_000));
    let folder = env::temp_dir().join(format!("mercer-serve-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = measure(&program, &folder, clients, requests);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(program: &Path, folder: &Path, clients: usize, requests: usize) -> Outcome<()> {
    let mut csv = (0..FEATURES).fold(String::new(), |line, at| line + &format!("x{at},")) + "y\n";
    for row in 0..ROWS {
        let x = features(row);
        let cells = x.iter().map(|value| format!("{value},")).collect::<String>();
        writeln!(csv, "{cells}{}", target(&x))?;
    }
    fs::write(folder.join("rows.csv"), csv)?;
    let train = "train rows.csv --learner krls --kernel gaussian:2 --set lambda=0.1 --set max_dictionary=100 --quiet --out m.mercer";
    let trained = Command::new(program).args(train.split(' ')).current_dir(folder).output()?;
    print!("{}", String::from_utf8_lossy(&trained.stdout));
    let mut service = Service::start(program, folder)?;
    for (name, learn) in [("predict and learn", true), ("predict alone", false)] {
        load(name, &service.address, clients, requests, learn)?;
    }
    service.end()?;
    let inspected = Command::new(program).args(["inspect", "m.mercer", "--json"]).current_dir(folder).output()?;
    let told = String::from_utf8(inspected.stdout)?;
    let expected = format!("\"learnt\":{}", ROWS + learns(requests));
    if !told.contains(&expected) {
        return Err(format!("the saved model should have {expected}: {told}").into());
    }
    println!("saved: all {} learnt rows", learns(requests));
    Ok(())
}

/// How many of so many requests learn.
fn learns(requests: usize) -> usize {
    requests.div_ceil(4)
}

fn features(row: usize) -> [f64; FEATURES] {
    let mut state = row as u64 + 1;
    std::array::from_fn(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 23) as f64 - 1.0
    })
}

fn target(x: &[f64; FEATURES]) -> f64 {
    (x[0] * x[1] + x[2]).sin()
}

struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(program: &Path, folder: &Path) -> Outcome<Self> {
        let mut command = Command::new(program);
        let arguments = ["serve", "--model", "m.mercer", "--addr", "127.0.0.1:0"];
        let mut child = command.args(arguments).current_dir(folder).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Ok(Self { child, address })
    }

    /// Asks it to end, and waits.
    fn end(&mut self) -> Outcome<()> {
        Command::new("kill").arg(self.child.id().to_string()).status()?;
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the service ended with {status}").into()) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Already ended, if all went well.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn load(name: &str, address: &str, clients: usize, requests: usize, learn: bool) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let mut latencies = thread::scope(|scope| {
        let client = || client(address, &next, requests, learn);
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let mut latencies = Vec::with_capacity(requests);
        for client in clients {
            latencies.extend(client.join().map_err(|_| "a client failed")??);
        }
        Outcome::Ok(latencies)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    if latencies.len() != requests {
        return Err(format!("{} of {requests} requests were answered", latencies.len()).into());
    }
    latencies.sort();
    let at = |share: f64| latencies[((requests - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name}: {requests} requests of {clients} clients, none lost, {:.0} a second; latency in ms: median {:.2}, 99% {:.2}, 99.9% {:.2}, most {:.2}",
        requests as f64 / seconds,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    Ok(())
}

/// One connection that asks and waits for the answer until enough was asked.
fn client(address: &str, next: &AtomicUsize, requests: usize, learn: bool) -> Outcome<Vec<Duration>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let (mut latencies, mut answer) = (Vec::new(), Vec::new());
    loop {
        let request = next.fetch_add(1, Ordering::Relaxed);
        if request >= requests {
            return Ok(latencies);
        }
        let x = features(ROWS + request);
        let mut row = x.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let learns = learn && request.is_multiple_of(4);
        if learns {
            write!(row, ",{}", target(&x))?;
        }
        let body = format!("{{\"row\":[{row}]}}");
        let path = if learns { "learn" } else { "predict" };
        let head = format!(
            "POST /{path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let start = Instant::now();
        stream.write_all((head + &body).as_bytes())?;
        read_answer(&mut stream, &mut answer)?;
        latencies.push(start.elapsed());
        if !answer.starts_with(b"HTTP/1.1 200 ") {
            return Err(String::from_utf8_lossy(&answer).into());
        }
    }
}

/// The head and the body of an answer.
fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> Outcome<()> {
    answer.clear();
    let mut part = [0; 4096];
    loop {
        let length = stream.read(&mut part)?;
        if length == 0 {
            return Err("the connection was closed before the answer".into());
        }
        answer.extend_from_slice(&part[..length]);
        let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&answer[..end])?.to_ascii_lowercase();
        let told = head.lines().find_map(|line| line.strip_prefix("content-length:")).ok_or("no content-length")?;
        if answer.len() >= end + 4 + told.trim().parse::<usize>()? {
            return Ok(());
        }
    }
}
