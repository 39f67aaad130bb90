//! `mercer serve`: a model in a file behind HTTP. The server is the crate `mercer-serve`; here are
//! its arguments and the file.

mod cells;
mod dynamics;
mod groups;
mod journal;
mod keeping;
mod messages;
mod orders;
mod screened_model;
mod series;
mod served;
mod shadowed;
mod token_file;

use std::net::{SocketAddr, TcpListener};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use mercer_serve::{Access, Limits, Listeners, Model, Options, Replica, Scope, Tokens};

use crate::arguments::{count, every};
use crate::model::lock;
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::output::{self, refuse_same_places};
use crate::report::plain::Plain;
use crate::report::verbosity;
use groups::Folder;
pub(crate) use journal::{JournalCommand, run as run_journal};
use keeping::{Copy, JournalArguments, ModelPlace, ReadFile, rescued, snapshot_of};
use messages::LogForm;
use orders::Orders;
use screened_model::{ScreenedModel, Screens};
use shadowed::{Challenger, ShadowedModel};
use token_file::TokenFile;

/// Serve a model over HTTP: predictions, learning, metrics and a page for people
///
/// POST /predict and POST /learn take JSON: {"row": {"a": 1, "b": 2}}, or {"rows": […]} for
/// several. A row may also be an array in the order of the columns. For /learn it holds the target,
/// too (in an array behind the features); the answer is the prediction made before learning. Rows
/// are learnt in the order in which requests arrive, bit for bit as from a file. Of a series /learn
/// takes the next row, and /predict tells the next {"steps": H} rows.
///
/// GET / is a page for people, /openapi.json describes everything, /metrics is for Prometheus,
/// /health tells by its status whether all is saved (/health/live and /health/ready whether the
/// service works and takes requests), /model is the model file as it would be saved now, /curve the
/// loss so far.
///
/// The address is printed on stdout once requests are taken. SIGINT, SIGTERM and SIGHUP end the
/// service: what was learnt is saved at once, requests in progress are answered, and what these
/// taught is saved, too. With --journal what is answered survives a kill and a crash as well.
///
/// A row that is predicted with "keep": true gets an id; /learn takes its target later, as
/// {"label": {"id": ID, "target": 1.5}}. POST /snapshot keeps a copy of the model in FILE.snapshot,
/// and POST /rollback goes back to it; both need a token.
///
/// Learning and the model file need the header `Authorization: Bearer TOKEN` if the environment
/// variable MERCER_TOKEN holds a token. Without one, learning is open on loopback addresses, where
/// the Host of every request must be an IP address or localhost, and closed on all others.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The file of the model, which `mercer train` or `mercer forecast --out` has saved
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Where to listen: an IP address and a port; port 0 takes a free one
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    addr: SocketAddr,
    /// Where probes ask for /health, /health/live and /health/ready, without a token and until the
    /// service has ended: an IP address and a port
    #[arg(long, value_name = "IP:PORT", value_parser = address)]
    health_addr: Option<SocketAddr>,
    /// Only predict: /learn is closed, the file is not locked and never written. A new file in its
    /// place is served within a second, and SIGHUP or POST /reload has it read at once
    #[arg(long, conflicts_with_all = ["checkpoint", "checkpoint_time"])]
    read_only: bool,
    /// Write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every)]
    checkpoint: Option<NonZeroU64>,
    /// Write the model when rows have waited for it so long, such as 30s, 5m or 1h; 0s waits for
    /// the end
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    checkpoint_time: Duration,
    /// A folder where the model is saved while it cannot be saved in its own place
    #[arg(long, value_name = "DIR", conflicts_with = "read_only")]
    rescue: Option<PathBuf>,
    #[command(flatten)]
    journal: JournalArguments,
    /// Serve on an address that others reach without a token; they may then read the model, and its
    /// rows, and learn nothing
    #[arg(long)]
    open: bool,
    /// Every path needs the token, and not only learning and the model file
    #[arg(long)]
    closed: bool,
    /// Write a line of JSON for each request to the end of this file
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// Another model with the same columns, which predicts and learns the same rows and answers
    /// nobody; /compare, /metrics and the page tell the losses of both, with a test of their
    /// difference
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    shadow: Option<PathBuf>,
    /// A file of tokens in place of the variable MERCER_TOKEN: lines of `read TOKEN`, `learn TOKEN`
    /// or `admin TOKEN`, each good for what those before it are, too. It is read anew when it
    /// changes
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The form of messages on stderr: lines for people, or objects of JSON, with time and level
    #[arg(long, value_enum, default_value = "text", value_name = "FORM")]
    log: LogForm,
    /// A folder of groups: a request with ?group=NAME is about a model of its own, NAME.mercer,
    /// which begins as a copy of this one when its first row is learnt
    #[arg(long, value_name = "DIR", conflicts_with = "read_only")]
    groups: Option<PathBuf>,
    /// How long requests in progress may take once a signal has come
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    drain: Duration,
    /// How long connections are still taken once a signal has come, while /health/ready is 503
    /// already, so that whoever passes requests on sees it in time
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    lame_duck: Duration,
    /// What becomes of a row that names a column which the model does not have: that column is
    /// ignored, or the row is refused
    #[arg(long, value_enum, default_value = "ignore")]
    unknown: UnknownColumns,
    #[command(flatten)]
    screens: Screens,
    /// Threads that answer requests; as many as there are processors unless given
    #[arg(long, value_name = "N", value_parser = count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    limits: LimitArguments,
}

/// What becomes of columns that the model does not have.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum UnknownColumns {
    Ignore,
    Refuse,
}

/// What one client may ask for.
#[derive(Args, Clone, Copy)]
struct LimitArguments {
    /// Most bytes in the body of a request
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1024..=1 << 30))]
    max_body: u32,
    /// Most bytes in the head of a request: its first line and its header fields
    #[arg(long, value_name = "BYTES", default_value_t = 16384, value_parser = clap::value_parser!(u32).range(8192..=1 << 20))]
    max_head: u32,
    /// Most rows in a request
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_rows: u32,
    /// Most bytes in the name of a class
    #[arg(long, value_name = "BYTES", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..))]
    max_class_name: u32,
    /// Most classes; a row of a class that would be one more is refused
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..))]
    max_classes: u32,
    /// Most bytes that the bodies and rows of all requests take together; larger requests wait for
    /// room as long as --max-wait
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 28, value_parser = clap::value_parser!(u32).range(1 << 20..=1 << 31))]
    max_memory: u32,
    /// Most connections at a time; a further one takes the place of the one that is idle for
    /// longest, and is answered 503 and closed if all are at work
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: u32,
    /// Most rows that were predicted with "keep" and wait for their labels; the oldest are
    /// forgotten
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_kept: u32,
    /// How long such a row waits
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = time)]
    keep_time: Duration,
    /// Most groups that are open at a time; the one unused for longest is saved and closed for
    /// another
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_groups: u32,
    /// How long a row may wait for others to be learnt, and a forecast, predictions of many rows or
    /// a download of the model for others, before a request is answered 503 and is to be sent again
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    max_wait: Duration,
    /// How long the rows of one request may be learnt; those that are left then are answered 503,
    /// and are to be sent again
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time)]
    max_learn: Duration,
    /// Seconds that a client may take to send a head, to send a body, or to accept the next part of
    /// an answer, and that it may be idle
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
}

impl LimitArguments {
    fn limits(self) -> Limits {
        Limits {
            body: self.max_body as usize,
            head: self.max_head as usize,
            rows: self.max_rows as usize,
            class_name: self.max_class_name as usize,
            memory: self.max_memory as usize,
            connections: self.max_connections,
            kept_rows: self.max_kept as usize,
            kept_time: self.keep_time,
            groups: self.max_groups as usize,
            wait: self.max_wait,
            learning: self.max_learn,
            timeout: Duration::from_secs(self.timeout.into()),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  mercer serve --model krls.mercer
  mercer serve --model krls.mercer --addr 127.0.0.1:9000 --checkpoint 10000
  MERCER_TOKEN=$(cat secret) mercer serve --model krls.mercer --addr 0.0.0.0:9000
  curl -H 'Content-Type: application/json' -d '{\"row\": {\"a\": 0.1, \"b\": 0.2}}' http://127.0.0.1:8080/predict
";

/// The variable of the environment that holds the token.
const VARIABLE: &str = "MERCER_TOKEN";

/// One file cannot hold two things: all that a service writes has a place of its own.
fn check_places(arguments: &ServeArguments) -> Result<(), Failure> {
    let model = &arguments.model;
    let written = |path: PathBuf| (!arguments.read_only).then_some(path);
    refuse_same_places(&[
        ("--model", &Some(model.clone())),
        ("--journal", &arguments.journal.place()),
        ("--access-log", &arguments.access_log),
        ("--rescue", &arguments.rescue.as_ref().map(|folder| rescued(model, folder))),
        ("--shadow", &arguments.shadow),
        ("--token-file", &arguments.token_file),
        ("the snapshot of --model", &written(snapshot_of(model))),
    ])?;
    // A group has files of these names.
    let Some(groups) = &arguments.groups else { return Ok(()) };
    let journal = arguments.journal.place();
    for (option, path) in
        [("--model", Some(model)), ("--journal", journal.as_ref()), ("--access-log", arguments.access_log.as_ref())]
    {
        let inside = |path: &PathBuf| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let same = |one: &Path| one.canonicalize().ok();
            same(folder).is_some() && same(folder) == same(groups)
        };
        if path.is_some_and(inside) {
            return Err(Failure::usage(format!(
                "{option} lies in the folder of --groups, where files have the names of groups; give it another place"
            )));
        }
    }
    Ok(())
}

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let path = &arguments.model;
    let read_only = arguments.read_only;
    check_places(arguments)?;
    let addr = arguments.addr;
    let token_file = arguments.token_file.as_deref().map(TokenFile::open).transpose()?;
    let access = access(addr, arguments, token_file.as_ref())?;
    let _lock = (!read_only).then(|| lock::take("--model", path)).transpose()?;
    let place = ModelPlace::of(path, arguments.rescue.as_deref())?;
    let (limits, screens) = (arguments.limits, arguments.screens);
    let load = move |path: &Path| -> Result<Box<dyn Model>, Failure> {
        Ok(Box::new(ScreenedModel::new(served::load(path, &limits, screens.watching)?, screens)?))
    };
    let mut model = load(path)?;
    let challenger = arguments.shadow.as_deref().map(|file| Challenger::open(file, &*model, load)).transpose()?;
    let shadowed = move |model: Box<dyn Model>, challenger: &Option<Challenger>| -> Box<dyn Model> {
        match challenger.clone() {
            Some(challenger) => Box::new(ShadowedModel { model, challenger }),
            None => model,
        }
    };
    model = shadowed(model, &challenger);
    if !read_only {
        store::check_place("--model", path)?;
    }
    let groups =
        arguments.groups.as_deref().map(|folder| Folder::of(folder, &arguments.journal, (limits, screens), load));
    let groups = groups.transpose()?;
    let access_log = arguments.access_log.as_deref().map(keeping::access_log).transpose()?;
    let mut keeping = keeping::begin(place, &arguments.journal, &mut *model, challenger.clone(), read_only)?;
    let beside = challenger;
    keeping.snapshot = Some(Box::new(Copy::of(path, move |path: &Path| Ok(shadowed(load(path)?, &beside)))));
    keeping.replica = read_only.then(|| Box::new(ReadFile::of(path, load)) as Box<dyn Replica>);
    keeping.groups = groups.map(|groups| Box::new(groups) as Box<dyn mercer_serve::Groups>);
    keeping.access_log = access_log;
    let orders = Orders::listen(read_only)?;
    let (all, addr) = listen("--addr", addr)?;
    let probes = arguments.health_addr.map(|addr| listen("--health-addr", addr)).transpose()?;
    output::print(&format!("http://{addr}/\n"))?;
    if let Some((_, addr)) = &probes {
        output::print(&format!("http://{addr}/health\n"))?;
    }
    if access.closed.is_some() && !read_only {
        verbosity::say(format!(
            "/learn is closed, since others than this machine may reach it; set {VARIABLE} to open it to those who know the token"
        ));
    }
    let options = options(arguments, access);
    let listeners = Listeners { all, probes: probes.map(|(probes, _)| probes) };
    let now = || {
        token_file.iter().for_each(TokenFile::look);
        orders.now()
    };
    mercer_serve::run(listeners, model, options, keeping, &now).map_err(|error| Failure::because(error.to_string()))
}

/// What the server is told of the arguments.
fn options(arguments: &ServeArguments, access: Access) -> Options {
    Options {
        limits: arguments.limits.limits(),
        access,
        checkpoint: arguments.checkpoint,
        checkpoint_time: Some(arguments.checkpoint_time).filter(|time| !time.is_zero()),
        drain: arguments.drain,
        lame_duck: arguments.lame_duck,
        refuse_unknown: arguments.unknown == UnknownColumns::Refuse,
        threads: arguments.threads,
        file_name: download_name(&arguments.model),
        model_name: model_name(&arguments.model),
        log: messages::of(arguments.log),
        ..Options::default()
    }
}

/// Listens on an address; the one that it came to be.
fn listen(option: &str, addr: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind(addr).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (addr, listener) = listener.map_err(|error| {
        Failure::because(format!(
            "{addr}: cannot be listened on ({error}); give another {option}, or port 0 for a free one"
        ))
    })?;
    Ok((listener, addr))
}

/// Who may learn and download the model.
fn access(address: SocketAddr, arguments: &ServeArguments, file: Option<&TokenFile>) -> Result<Access, Failure> {
    let loopback = address.ip().is_loopback();
    let token = match std::env::var(VARIABLE) {
        Err(std::env::VarError::NotPresent) => None,
        // The characters that a header field can hold without quotes.
        Ok(token) if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) => Some(token),
        _ => {
            return Err(Failure::usage(format!(
                "{VARIABLE}: is empty or holds other characters than printable ASCII without spaces; give it a token, or unset it"
            )));
        }
    };
    let tokens = match (token, file) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage(format!("--token-file: {VARIABLE} holds a token, too; give one of them")));
        }
        (Some(token), None) => Tokens::new(vec![(Scope::Admin, token)]),
        (None, Some(file)) => file.tokens(),
        (None, None) => Tokens::default(),
    };
    if arguments.closed && !tokens.exist() {
        return Err(Failure::usage(format!("--closed: set {VARIABLE} to the token that all requests need")));
    }
    if !tokens.exist() && !loopback && !arguments.open {
        return Err(Failure::usage(format!(
            "--addr {address}: others reach this address, and /model shows them the rows that were learnt; set {VARIABLE} to a token, \
             or give --open to let everybody read"
        )));
    }
    let closed = if arguments.read_only {
        Some("the model is served with --read-only; start mercer serve without it to learn".to_owned())
    } else {
        (!tokens.exist() && !loopback).then(|| {
            format!("learning is closed on an address that others reach; start mercer serve with a token in {VARIABLE}")
        })
    };
    Ok(Access { closed, tokens, all: arguments.closed, loopback })
}

/// A time with its unit.
fn time(text: &str) -> Result<Duration, &'static str> {
    const LONGEST: f64 = 3.6e9;
    let seconds = mercer_session::parse_span(text).filter(|seconds| *seconds <= LONGEST);
    seconds.map(Duration::from_secs_f64).ok_or("give a number with its unit, such as 30s, 5m or 1h")
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "give an IP address and a port, such as 127.0.0.1:8080")
}

/// The name of the model: that of its file without the ending.
fn model_name(path: &Path) -> String {
    let name = download_name(path);
    name.split('.').next().filter(|name| !name.is_empty()).unwrap_or("model").to_owned()
}

/// A file name that a header field can hold.
fn download_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = Plain(&name).to_string();
    plain.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}
