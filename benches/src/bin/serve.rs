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
//!
//! `… -- target/release/mercer --beside 32 [CLIENTS] [REQUESTS]` has 32 clients learn without a
//! pause. Beside them CLIENTS (1) send REQUESTS (20,000) in each of five rounds to predict a row.
//! It prints rows a second and latencies of `/predict` and of `/learn`, of the round with the
//! median 99 % of `/predict`. The service has a journal. Clients and services share the machine.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
/// The argument that asks for predictions beside clients that learn.
const BESIDE: &str = "--beside";

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let usage = "say which mercer to run: serve PROGRAM [--beside LEARNERS] [CLIENTS] [REQUESTS]";
    let program = arguments.next().ok_or(usage)?;
    if program == MINIMAL {
        return minimal();
    }
    let program = fs::canonicalize(program)?;
    let rest: Vec<String> = arguments.collect();
    let number = |at: usize, default: usize| rest.get(at).map_or(Ok(default), |text| text.parse());
    let folder = env::temp_dir().join(format!("mercer-serve-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = if rest.first().is_some_and(|first| first == BESIDE) {
        let sizes = [number(1, 32)?, number(2, 1)?].map(|clients| clients.clamp(1, 256));
        beside(&program, &folder, sizes, number(3, 20_000)?.clamp(1, 10_000_000))
    } else {
        measure(&program, &folder, number(0, 64)?.clamp(1, 512), number(1, 100_000)?.min(10_000_000))
    };
    fs::remove_dir_all(&folder)?;
    measured
}

/// Trains the model `m.mercer` in a folder.
fn train(program: &Path, folder: &Path) -> Outcome<()> {
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
    if trained.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&trained.stderr).into()) }
}

/// Ends a service, whose saved model must have learnt so many rows.
fn saved(program: &Path, folder: &Path, model: &str, service: &mut Service, learnt: usize) -> Outcome<()> {
    service.end()?;
    let inspected = Command::new(program).args(["inspect", model, "--json"]).current_dir(folder).output()?;
    let told: Value = serde_json::from_slice(&inspected.stdout)?;
    if told["learnt"] != ROWS + learnt {
        return Err(format!("the saved model should have learnt {} rows: {}", ROWS + learnt, told["learnt"]).into());
    }
    println!("saved: all {learnt} learnt rows");
    Ok(())
}

fn measure(program: &Path, folder: &Path, clients: usize, requests: usize) -> Outcome<()> {
    train(program, folder)?;
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
        saved(program, folder, model, service, ROUNDS * learns(requests))?;
    }
    Ok(())
}

/// Predictions of some clients while others learn without a pause.
fn beside(program: &Path, folder: &Path, [learners, clients]: [usize; 2], requests: usize) -> Outcome<()> {
    train(program, folder)?;
    let mut service =
        Service::start(program, folder, "serve --addr 127.0.0.1:0 --model m.mercer --journal rows.journal")?;
    let (mut rounds, learnt) = (Vec::new(), AtomicUsize::new(0));
    for _ in 0..ROUNDS {
        let (next, done) = (AtomicUsize::new(0), AtomicBool::new(false));
        let predict = || Some((next.fetch_add(1, Ordering::Relaxed), false)).filter(|(request, _)| *request < requests);
        let learn = || (!done.load(Ordering::Relaxed)).then(|| (learnt.fetch_add(1, Ordering::Relaxed), true));
        let start = Instant::now();
        let (predictions, learning) = thread::scope(|scope| {
            let of_learners = scope.spawn(|| crowd(&service.address, learners, &learn));
            let predictions = crowd(&service.address, clients, &predict);
            done.store(true, Ordering::Relaxed);
            Outcome::Ok((predictions?, of_learners.join().map_err(|_| "a client failed")??))
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let names = [format!("/predict of {clients} clients"), format!("/learn of {learners} clients")];
        let told = [&predictions, &learning].into_iter().zip(names).map(|(latencies, name)| {
            let rate = latencies.len() as f64 / seconds;
            format!("{name}: {rate:.0} rows a second; {}", quantiles(latencies))
        });
        rounds.push((at(&predictions, 0.99), told.collect::<Vec<_>>().join("\n")));
    }
    rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("{}", rounds[ROUNDS / 2].1);
    println!("99 % of /predict by round: {:.2} to {:.2} ms", rounds[0].0, rounds[ROUNDS - 1].0);
    saved(program, folder, "m.mercer", &mut service, learnt.into_inner())
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
    let ask = || {
        let request = next.fetch_add(1, Ordering::Relaxed);
        (request < requests).then(|| (request, learn && request.is_multiple_of(4)))
    };
    let start = Instant::now();
    let latencies = crowd(address, clients, &ask)?;
    let rate = requests as f64 / start.elapsed().as_secs_f64();
    if latencies.len() != requests {
        return Err(format!("{} of {requests} requests were answered", latencies.len()).into());
    }
    let told = format!(
        "{name}: {requests} requests of {clients} clients, none lost, {rate:.0} a second; {}",
        quantiles(&latencies)
    );
    Ok((rate, told))
}

/// Tells a client what to ask next: the number of a row, and whether to learn it.
type Ask<'a> = &'a (dyn Fn() -> Option<(usize, bool)> + Sync);

/// So many clients that ask until there is nothing more to ask, and their latencies in order.
fn crowd(address: &str, clients: usize, ask: Ask<'_>) -> Outcome<Vec<Duration>> {
    let mut latencies = thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(|| client(address, ask))).collect();
        let mut latencies = Vec::new();
        for client in clients {
            latencies.extend(client.join().map_err(|_| "a client failed")??);
        }
        Outcome::Ok(latencies)
    })?;
    latencies.sort();
    Ok(latencies)
}

/// The latency in milliseconds that a share of the requests have at most.
fn at(latencies: &[Duration], share: f64) -> f64 {
    let last = latencies.len().saturating_sub(1);
    latencies.get((last as f64 * share) as usize).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1e3)
}

fn quantiles(latencies: &[Duration]) -> String {
    let [median, most_of, nearly_all, all] = [0.5, 0.99, 0.999, 1.0].map(|share| at(latencies, share));
    format!("latency in ms: median {median:.2}, 99% {most_of:.2}, 99.9% {nearly_all:.2}, most {all:.2}")
}

/// One connection that asks and waits for the answer.
fn client(address: &str, ask: Ask<'_>) -> Outcome<Vec<Duration>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let (mut latencies, mut answer) = (Vec::new(), Vec::new());
    while let Some((request, learns)) = ask() {
        let x = features(ROWS + request);
        let mut row = x.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
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
    Ok(latencies)
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
