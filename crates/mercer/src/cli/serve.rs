//! `mercer serve`: a model behind HTTP, which predicts for many at once and learns one example after the other.
//!
//! Predictions take a shared lock of the model, for one row at a time, with the scratch memory of their thread. One thread applies learning in the order in which
//! requests arrived, and takes the exclusive lock for one row at a time. A published snapshot instead would need a copy of the whole model (a matrix
//! of J² numbers) after every row, or show predictions an old state; a row is learnt in the time of a few predictions, so waiting for it costs less. The
//! lock is fair: neither a stream of predictions nor a batch that is learnt can keep the other out.

mod access;
mod answer;
mod connection;
mod curve;
mod learner;
mod metrics;
mod openapi;
mod page;
mod request;
mod routes;
mod schema;
mod served;

use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use tokio::runtime;
use tokio::sync::{RwLock, mpsc};

use super::failure::Failure;
use super::lock::ModelLock;
use super::output;
use super::plain::Plain;
use super::saving::Saving;
use super::stop::Stop;
use super::{count, every, store};
use access::Access;
use curve::Curve;
use learner::{Job, Learner};
use metrics::Metrics;
use schema::Schema;
use served::Served;

/// Serve a model over HTTP: predictions, learning, metrics and a page for people
///
/// POST /predict and POST /learn take JSON: {"row": {"a": 1, "b": 2}}, or {"rows": […]} for several. A row may also be an array in the order of the
/// columns. For /learn it holds the target, too (in an array behind the features); the answer is the prediction made before learning. Rows are learnt in the order in which
/// requests arrive, bit for bit as from a file. Of a series /learn takes the next row, and /predict tells the next {"steps": H} rows.
///
/// GET / is a page for people, /openapi.json describes everything, /metrics is for Prometheus, /health tells whether all is well, /model is the model file as it would be saved
/// now, /curve the loss so far.
///
/// The address is printed on stdout once requests are taken. SIGINT and SIGTERM end the service: requests in progress are answered, and what was learnt is saved.
///
/// Learning needs the header `Authorization: Bearer TOKEN` if the environment variable MERCER_TOKEN holds a token. Without one, learning is open on
/// loopback addresses and closed on all others.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The file of the model, which `mercer train` or `mercer forecast --save` has saved
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Where to listen: an IP address and a port; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    addr: SocketAddr,
    /// Only predict: /learn is closed, the file is not locked and never written
    #[arg(long, conflicts_with = "checkpoint")]
    read_only: bool,
    /// Write the model after every so many rows, not only at the end
    #[arg(long, value_name = "EVERY", value_parser = every)]
    checkpoint: Option<NonZeroU64>,
    /// Threads that answer requests; as many as there are processors unless given
    #[arg(long, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    limits: Limits,
}

/// What one client may ask for.
#[derive(Args, Clone, Copy)]
struct Limits {
    /// Most bytes in the body of a request
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1024..=1 << 30))]
    max_body: u32,
    /// Most bytes in the head of a request: its first line and its header fields
    #[arg(long, value_name = "BYTES", default_value_t = 16384, value_parser = clap::value_parser!(u32).range(8192..=1 << 20))]
    max_head: u32,
    /// Most rows in a request
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_rows: u32,
    /// Most connections at a time; further ones are answered 503 and closed
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// Seconds that a client may take to send a head, to send a body, or to accept the next part of an answer, and that it may be idle
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
}

impl Limits {
    fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }
}

const EXAMPLES: &str = "\
Examples:
  mercer serve --model krls.mercer
  mercer serve --model krls.mercer --addr 127.0.0.1:9000 --checkpoint 10000
  MERCER_TOKEN=$(cat secret) mercer serve --model krls.mercer --addr 0.0.0.0:9000
  curl -H 'Content-Type: application/json' -d '{\"row\": {\"a\": 0.1, \"b\": 0.2}}' http://127.0.0.1:8080/predict
";

/// All that requests share.
struct Service {
    model: RwLock<Served>,
    schema: Schema,
    limits: Limits,
    access: Access,
    metrics: Metrics,
    curve: Curve,
    openapi: Bytes,
    page: Bytes,
    /// The name under which the model is downloaded.
    file_name: String,
}

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let path = &arguments.model;
    let _lock = (!arguments.read_only).then(|| ModelLock::take("--model", path)).transpose()?;
    let model = Served::load(path)?;
    if !arguments.read_only {
        store::check_place("--model", path)?;
    }
    let access = Access::new(arguments.addr.ip(), arguments.read_only)?;
    let stop = Stop::listen()?;
    let addr = arguments.addr;
    let listener = std::net::TcpListener::bind(addr).and_then(|listener| {
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        Ok((listener, addr))
    });
    let (listener, addr) = listener.map_err(|error| {
        Failure::because(format!(
            "{addr}: cannot be listened on ({error}); give another --addr, or port 0 for a free one"
        ))
    })?;

    let schema = Schema::of(&model);
    let service = Arc::new(Service {
        openapi: openapi::document(&schema, &model, &access, &arguments.limits).to_string().into(),
        page: page::html(&schema, &model, &access).into(),
        metrics: Metrics::new(&model),
        curve: Curve::new(model.standing()),
        limits: arguments.limits,
        access,
        schema,
        model: RwLock::new(model),
        file_name: download_name(path),
    });
    let most = arguments.limits.max_connections as usize;
    let (jobs, waiting) = mpsc::channel::<Job>(most);
    let saving = Saving::new("--model", path.clone(), arguments.checkpoint);
    let learner = Learner::new(Arc::clone(&service), saving);
    let learner = thread::Builder::new().name("learner".to_owned()).spawn(move || learner.run(waiting));
    let learner = learner.map_err(|error| no_threads(&error))?;

    let threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, usize::from);
    let runtime = runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(|error| no_threads(&error))?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| no_threads(&error))?;
        output::print(&format!("http://{addr}/\n"))?;
        if let Some(remark) = service.access.remark() {
            eprintln!("mercer: {remark}");
        }
        connection::serve(listener, &service, jobs, &stop).await
    });
    // Whoever still waits for a client is ended; the learner then has its last job, and ends when it is done.
    runtime.shutdown_timeout(Duration::from_secs(1));
    match learner.join() {
        Ok(saved) => served.and(saved),
        Err(_) => Err(Failure::because(format!(
            "{}: the learner failed, and the file is as it was at the last checkpoint; please report this",
            path.display()
        ))),
    }
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "give an IP address and a port, such as 127.0.0.1:8080")
}

fn no_threads(error: &std::io::Error) -> Failure {
    Failure::because(format!(
        "the system gives no threads or sockets ({error}); end other programs, or raise its limits"
    ))
}

/// A file name that a header field can hold.
fn download_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = Plain(&name).to_string();
    plain.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}
