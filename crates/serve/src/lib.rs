//! A model that learns row by row, behind HTTP: predictions for many at once, learning one row
//! after the other, metrics for Prometheus, an OpenAPI document with the columns of the model, and
//! a page for people. It knows connections and JSON and no learner: what is served is a [`Model`]
//! of yours. (`mercer serve` is this server with the models of Mercer's files.)
//!
//! Predictions take a shared lock of the model, for one row at a time. One thread applies learning
//! in the order in which requests arrived, and takes the exclusive lock for one row at a time. A
//! published snapshot instead would need a copy of the whole model (a matrix of J² numbers) after
//! every row, or show predictions an old state; a row is learnt in the time of a few predictions,
//! so waiting for it costs less. The lock is fair: neither a stream of predictions nor a batch that
//! is learnt can keep the other out. Forecasts are made from a copy.
//!
//! The server speaks HTTP/1.1 without TLS; put a proxy before it where others may listen. Heads,
//! bodies, rows, connections and the time that a client takes are bounded by [`Limits`]; who may
//! learn and download the model is said by [`Access`].
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

mod access;
mod body;
mod compared;
mod components;
mod connection;
mod curve;
mod forecasts;
mod functions;
mod groups;
mod head;
mod idle;
mod journal;
mod learner;
mod learning;
mod log;
mod metrics;
mod model;
mod once;
mod openapi;
mod page;
mod pending;
mod queue;
mod reading;
mod refusal;
mod request;
mod routes;
mod snapshot;
mod v2;

use std::io::{self, Write};
use std::net::TcpListener;
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime;
use tokio::sync::{RwLock, Semaphore};

use curve::Curve;
use groups::{GroupModel, Parts, Threads};
use log::Log;
use metrics::{Beside, Metrics};
use once::KeyedAnswers;
use pending::PendingRows;
use queue::Queue;
use reading::Budget;

pub use access::{Access, Scope, Tokens};
pub use compared::Compared;
pub use groups::{Groups, OpenedGroup};
pub use journal::Journal;
pub use mercer_core::Oddity;
pub use model::{
    ALARMS, Column, Explain, Explained, Forecast, ForecastAnswer, ForecastQuery, ForecastRows, FunctionQuery, Model,
    Prediction, Reason, Row, Schema, Standing, Takes, Value,
};
pub use snapshot::{Replica, Snapshot};

/// Writes the bytes of a model where they are kept.
pub type Save = Box<dyn FnMut(Vec<u8>) -> Result<(), Reason> + Send>;

/// Where what was learnt is kept.
pub struct Keeping {
    /// Writes the model.
    pub save: Save,
    /// Keeps the rows that the saved model has not learnt yet.
    pub journal: Option<Box<dyn Journal>>,
    /// True if what is saved is behind the model already when the service begins.
    pub unsaved: bool,
    /// Keeps a copy of the model to go back to.
    pub snapshot: Option<Box<dyn Snapshot>>,
    /// Has the model anew when others have written it, of a service that only reads it.
    pub replica: Option<Box<dyn Replica>>,
    /// Has a model for each group; of groups themselves it is not asked.
    pub groups: Option<Box<dyn Groups>>,
    /// Takes a line of JSON for each request; of groups it is not asked.
    pub access_log: Option<Box<dyn Write + Send>>,
}

/// Options of a service.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits for one client.
    pub limits: Limits,
    /// Who may learn and download the model.
    pub access: Access,
    /// After how many rows the model is saved.
    pub checkpoint: Option<NonZeroU64>,
    /// Longest time for which learnt rows may stay unsaved.
    pub checkpoint_time: Option<Duration>,
    /// Longest time for requests in progress once the service is to end.
    pub drain: Duration,
    /// Time for which connections are still taken then, while `/health/ready` is 503 already.
    pub lame_duck: Duration,
    /// True if there are groups; [`run`] sees to this and the next two.
    pub groups: bool,
    /// True if the service only reads the model, and reads it anew when it has changed.
    pub replica: bool,
    /// True if the model has a challenger.
    pub challenger: bool,
    /// True if a row that names a column which the model does not have is refused, and not only
    /// that column ignored.
    pub refuse_unknown: bool,
    /// Threads that answer requests; as many as there are processors if none.
    pub threads: Option<NonZeroUsize>,
    /// The name under which the model is downloaded: ASCII letters, digits, dots and lines.
    pub file_name: String,
    /// The name of the model in the version 2 inference protocol, of the same characters.
    pub model_name: String,
    /// Takes what an operator should know.
    pub log: fn(Level, &str),
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// Something has happened as it should.
    Info,
    /// Something should be looked at.
    Warning,
    /// What was learnt may be lost, or is not learnt.
    Error,
}

impl Level {
    /// Its name in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Options {
    fn threads(&self) -> usize {
        self.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, usize::from)
    }
}

impl Default for Options {
    /// For an address that only this machine reaches: what was learnt is saved every minute, and
    /// requests have five seconds at the end.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            access: Access { loopback: true, ..Access::default() },
            checkpoint: None,
            checkpoint_time: Some(Duration::from_secs(60)),
            drain: Duration::from_secs(5),
            lame_duck: Duration::ZERO,
            groups: false,
            replica: false,
            challenger: false,
            refuse_unknown: false,
            threads: None,
            file_name: "model".to_owned(),
            model_name: "model".to_owned(),
            log: |_, _| (),
        }
    }
}

/// Limits for one client.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes in the body of a request.
    pub body: usize,
    /// Most bytes in the head of a request, at least 8192.
    pub head: usize,
    /// Most rows in a request.
    pub rows: usize,
    /// Most bytes in the name of a class.
    pub class_name: usize,
    /// Most bytes that the bodies and rows of all requests take together; larger requests wait, and
    /// are answered 503 then.
    pub memory: usize,
    /// Most connections at a time. A further one takes the place of the one that has been idle for
    /// longest, and is answered 503 and closed if all are at work.
    pub connections: u32,
    /// Most rows that were predicted and wait for their labels; the oldest are forgotten.
    pub kept_rows: usize,
    /// Time that a row waits for its label.
    pub kept_time: Duration,
    /// Most groups that are open.
    pub groups: usize,
    /// Longest time that a row may wait for others to be learnt, as far as that can be told, and a
    /// forecast for others to be made. A request that would wait longer is answered 503 and is to
    /// be sent again.
    pub wait: Duration,
    /// Longest time for learning the rows of a request. Rows that are left then are answered 503,
    /// and are to be sent again.
    pub learning: Duration,
    /// Longest time for a client to send a head, to send a body, or to accept the next part of an
    /// answer, and longest idle time.
    pub timeout: Duration,
}

impl Default for Limits {
    /// A megabyte in 10,000 rows, heads of 16 KiB, names of 256 bytes, 256 MiB in all, 512
    /// connections, 10,000 rows that wait an hour for labels, 100 groups, a second of waiting, five
    /// of learning, and 30 for clients.
    fn default() -> Self {
        Self {
            body: 1 << 20,
            head: 16384,
            rows: 10_000,
            class_name: 256,
            memory: 1 << 28,
            connections: 512,
            kept_rows: 10_000,
            kept_time: Duration::from_secs(3600),
            groups: 100,
            wait: Duration::from_secs(1),
            learning: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    }
}

/// Why a service ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system gives no threads or sockets.
    #[error("the system gives no threads or sockets ({0}); end other programs, or raise its limits")]
    System(#[from] io::Error),
    /// The model could not be saved at the end.
    #[error("{0}")]
    Save(Reason),
    /// The model panicked while it learnt; what was saved is from before.
    #[error("the learner failed, and what is saved is from the last checkpoint; please report this")]
    Learner,
}

/// An order of whoever runs the service. It is asked for twenty times a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Go on.
    GoOn,
    /// Read the model anew.
    Reload,
    /// End, when requests in progress are answered.
    End,
    /// End without waiting for these. What was learnt is saved all the same.
    EndNow,
}

/// Where requests come from.
#[derive(Debug)]
pub struct Listeners {
    /// Those of everybody.
    pub all: TcpListener,
    /// Those of probes, which ask for `/health` and what is below it, without a token, until the
    /// service has ended.
    pub probes: Option<TcpListener>,
}

impl From<TcpListener> for Listeners {
    fn from(all: TcpListener) -> Self {
        Self { all, probes: None }
    }
}

/// What all models share.
#[derive(Clone)]
struct Shared {
    log: Log,
    budget: Budget,
}

/// A model, and all that requests about it share.
struct Service {
    model: RwLock<Box<dyn Model>>,
    schema: Schema,
    options: Options,
    metrics: Metrics,
    curve: Curve,
    queue: Queue,
    kept: PendingRows,
    once: KeyedAnswers,
    shared: Shared,
    /// The group whose model it is; none of the main one.
    group: Option<String>,
    /// Forecasts, or slices of the predictions of many rows, that may be made at once.
    turns: Semaphore,
    /// Copies of the model that may be on their way at once.
    downloads: Arc<Semaphore>,
    openapi: Mutex<Bytes>,
    page: Bytes,
    /// The learner is to save, whatever it does.
    save_now: AtomicBool,
    /// No connection is taken any more.
    ending: AtomicBool,
    /// Nobody waits for an answer any more.
    ended: AtomicBool,
}

impl Service {
    fn new(model: Box<dyn Model>, options: Options, shared: Shared, group: Option<String>) -> Self {
        let schema = model.schema();
        let service = Self {
            openapi: Mutex::default(),
            page: page::html(&schema, &options).into(),
            metrics: Metrics::new(model.standing()),
            curve: Curve::new(model.standing()),
            queue: Queue::default(),
            kept: PendingRows::default(),
            once: KeyedAnswers::default(),
            shared,
            group,
            turns: Semaphore::new(options.threads()),
            downloads: Arc::new(Semaphore::new(options.threads())),
            model: RwLock::new(model),
            schema,
            options,
            save_now: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        };
        service.set_openapi(&service.schema);
        service
    }

    /// The document tells of the model as it is now, which may have other classes than the first.
    fn set_openapi(&self, schema: &Schema) {
        let document = openapi::document(schema, &self.options).to_string();
        *self.openapi.lock().unwrap_or_else(PoisonError::into_inner) = document.into();
    }

    fn beside(&self) -> Beside<'_> {
        let Shared { log, budget } = &self.shared;
        Beside { queue: &self.queue, kept: &self.kept, log, budget }
    }

    fn openapi(&self) -> Bytes {
        self.openapi.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves the model until `orders` says so. Then it saves what was learnt, answers the requests in
/// progress for as long as [`Options::drain`] says, and saves what these have taught.
///
/// # Errors
/// If the system gives no threads, and if what was learnt cannot be saved at the end. A checkpoint
/// that cannot be saved is told in the log and in `/health`, and the service goes on.
pub fn run(
    listeners: impl Into<Listeners>,
    model: Box<dyn Model>,
    options: Options,
    mut keeping: Keeping,
    orders: &dyn Fn() -> Order,
) -> Result<(), ServeError> {
    let Listeners { all, probes } = listeners.into();
    all.set_nonblocking(true)?;
    probes.as_ref().map_or(Ok(()), |probes| probes.set_nonblocking(true))?;
    let log = Log::new(keeping.access_log.take())?;
    let groups = keeping.groups.take();
    let threads = options.threads();
    let budget = Budget::new(options.limits.memory, options.limits.wait);
    let options = Options {
        groups: groups.is_some(),
        replica: keeping.replica.is_some(),
        challenger: model.compared().is_some(),
        ..options
    };
    let service = Service::new(model, options, Shared { log, budget }, None);
    let (part, learner) = GroupModel::begin(service, keeping)?;
    let learners = Threads::default();
    learners.lock().unwrap_or_else(PoisonError::into_inner).insert(String::new(), learner);
    let parts = Arc::new(Parts::new(part, groups, Arc::clone(&learners)));

    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(threads)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        if let Some(probes) = probes {
            let probes = tokio::net::TcpListener::from_std(probes)?;
            tokio::spawn(connection::probes(probes, Arc::clone(&parts)));
        }
        let listener = tokio::net::TcpListener::from_std(all)?;
        connection::serve(listener, parts, orders).await;
        Ok::<_, io::Error>(())
    })?;
    // Whoever still waits for a client is ended; the learners then have their last jobs, and end
    // when these are done.
    runtime.shutdown_timeout(Duration::from_secs(1));
    let learners = std::mem::take(&mut *learners.lock().unwrap_or_else(PoisonError::into_inner));
    // All of them save before the first failure is told.
    let ended: Vec<_> = learners.into_values().map(thread::JoinHandle::join).collect();
    ended.into_iter().try_for_each(|ended| ended.map_err(|_| ServeError::Learner)?.map_err(ServeError::Save))
}
