//! Load on `mercer serve`: many clients on loopback that predict and learn, none of whose requests
//! may be lost.
//!
//! `cargo run --release -p mercer-benches --bin serve -- target/release/mercer [CLIENTS]
//! [REQUESTS]` trains a small model in a folder of its own, serves it without and with a journal,
//! and starts beside them a minimal server on hyper that reads the same JSON and answers with the
//! sum of a row. In each of five rounds every server is sent REQUESTS (100,000 unless told
//! otherwise) from CLIENTS (64) connections that stay open: predictions alone, and then, of those
//! that learn, every fourth to learn a row. It prints requests a second and latencies of the median
//! round, checks that every request to learn is counted in the saved models, and ends the services.
//! Clients and services share the machine.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, error, fs, thread};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn error::Error + Send + Sync>>;

/// Features of a row.
const FEATURES: usize = 18;
/// Rows that the model learns beforehand.
const ROWS: usize = 5000;

/// Rounds over all servers.
const ROUNDS: usize = 5;
/// The argument with which this program is the minimal server.
const MINIMAL: &str = "--minimal";

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let program = arguments.next().ok_or("say which mercer to run: serve PROGRAM [CLIENTS] [REQUESTS]")?;
    if program == MINIMAL {
        return minimal();
    }
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
    fs::copy(folder.join("m.mercer"), folder.join("j.mercer"))?;
    let serve = |arguments: &str| Service::start(program, folder, &format!("serve --addr 127.0.0.1:0 {arguments}"));
    let mut services = [
        Service::start(&env::current_exe()?, folder, MINIMAL)?,
        serve("--model m.mercer")?,
        serve("--model j.mercer --journal rows.journal")?,
    ];
    let cases = [
        ("minimal hyper, sums alone", 0, false),
        ("predict alone", 1, false),
        ("predict and learn", 1, true),
        ("predict and learn with a journal", 2, true),
    ];
    let mut told: [Vec<(f64, String)>; 4] = Default::default();
    for _ in 0..ROUNDS {
        for ((name, service, learn), told) in cases.into_iter().zip(&mut told) {
            told.push(load(name, &services[service].address, clients, requests, learn)?);
        }
    }
    let medians = told.map(|mut rounds| {
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!("{}", rounds[ROUNDS / 2].1);
        rounds[ROUNDS / 2].0
    });
    println!(
        "predict alone: {:.0} % of minimal hyper; with a journal: {:.0} % of without",
        100.0 * medians[1] / medians[0],
        100.0 * medians[3] / medians[2]
    );
    for (model, service) in ["m.mercer", "j.mercer"].into_iter().zip(&mut services[1..]) {
        service.end()?;
        let inspected = Command::new(program).args(["inspect", model, "--json"]).current_dir(folder).output()?;
        let told = String::from_utf8(inspected.stdout)?;
        let learnt = ROUNDS * learns(requests);
        let expected = format!("\"learnt\":{}", ROWS + learnt);
        if !told.contains(&expected) {
            return Err(format!("the saved model should have {expected}: {told}").into());
        }
        println!("saved: all {learnt} learnt rows");
    }
    Ok(())
}

/// Answers with the sum of the numbers of a row, until it is killed.
fn minimal() -> Outcome<()> {
    async fn sum(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
        let body = request.into_body().collect().await?.to_bytes();
        let told: Value = serde_json::from_slice(&body).unwrap_or_default();
        let row = told["row"].as_array().into_iter().flatten();
        let sum: f64 = row.filter_map(Value::as_f64).sum();
        let mut answer = Response::new(Full::new(json!({ "prediction": sum }).to_string().into()));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(answer)
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}/", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(sum)));
        }
    })
}

/// Number of requests that learn, out of so many.
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
    fn start(program: &Path, folder: &Path, arguments: &str) -> Outcome<Self> {
        let mut command = Command::new(program);
        let mut child = command.args(arguments.split(' ')).current_dir(folder).stdout(Stdio::piped()).spawn()?;
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

fn load(name: &str, address: &str, clients: usize, requests: usize, learn: bool) -> Outcome<(f64, String)> {
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
    let rate = requests as f64 / seconds;
    let told = format!(
        "{name}: {requests} requests of {clients} clients, none lost, {:.0} a second; latency in ms: median {:.2}, 99% {:.2}, 99.9% {:.2}, most {:.2}",
        rate,
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    Ok((rate, told))
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
