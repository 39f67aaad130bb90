//! `mercer-ballista`: a scheduler, an executor and a client of
//! [Ballista](https://datafusion.apache.org/ballista) that know Mercer's functions.
//!
//! Functions travel by name in Ballista, so scheduler, executors and client must each know them:
//! all three are this program.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use ballista::prelude::SessionContextExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use mercer_datafusion::sql::{self, Query};

const HELP: &str = "\
mercer-ballista scheduler [--port N]
mercer-ballista executor [--port N] [--grpc-port N] [--scheduler-port N] [--cores N]
mercer-ballista sql [--scheduler URL] [--partitions N] [--table NAME=PATH]… [--out FILE] 'SELECT …'

A cluster on one machine: a scheduler, executors with ports of their own, and queries. All listen on 127.0.0.1. Ports are 50050 for the
scheduler, 50051 and 50052 for an executor, unless given. Tables must lie at the same path for all executors.
";

/// Seconds between two signs of life of an executor, and without one after which its tasks are
/// given to others.
const HEARTBEAT: u64 = 5;
const LOST_AFTER: u64 = 20;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A session that knows the functions beside the built-in ones.
fn session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let mut state = default_session_builder(config)?;
    register(&mut state)?;
    Ok(state)
}

fn register(functions: &mut dyn FunctionRegistry) -> datafusion::error::Result<()> {
    for function in mercer_datafusion::aggregates() {
        functions.register_udaf(function)?;
    }
    for function in mercer_datafusion::scalars() {
        functions.register_udf(function)?;
    }
    Ok(())
}

async fn scheduler(query: &Query) -> Result<(), Failure> {
    let port = port(query, "--port", 50050)?;
    let config = SchedulerConfig {
        bind_host: "127.0.0.1".into(),
        bind_port: port,
        external_host: "127.0.0.1".into(),
        executor_timeout_seconds: LOST_AFTER,
        expire_dead_executor_interval_seconds: HEARTBEAT,
        ..SchedulerConfig::default()
    };
    let config = config.with_override_session_builder(Arc::new(session));
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, SocketAddr::from(([127, 0, 0, 1], port)), Arc::new(config)).await?;
    Ok(())
}

async fn executor(query: &Query) -> Result<(), Failure> {
    let mut registry = BallistaFunctionRegistry::default();
    for function in mercer_datafusion::aggregates() {
        registry.aggregate_functions.insert(function.name().to_owned(), function);
    }
    for function in mercer_datafusion::scalars() {
        registry.scalar_functions.insert(function.name().to_owned(), function);
    }
    let config = ExecutorProcessConfig {
        bind_host: "127.0.0.1".into(),
        external_host: Some("127.0.0.1".into()),
        port: port(query, "--port", 50051)?,
        grpc_port: port(query, "--grpc-port", 50052)?,
        scheduler_host: "127.0.0.1".into(),
        scheduler_port: port(query, "--scheduler-port", 50050)?,
        scheduler_connect_timeout_seconds: 20,
        vcores: query.number("--cores").unwrap_or(1),
        executor_heartbeat_interval_seconds: HEARTBEAT,
        override_function_registry: Some(Arc::new(registry)),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await?;
    Ok(())
}

async fn client(query: &Query) -> Result<(), Failure> {
    let mut config = SessionConfig::new();
    if let Some(partitions) = query.number("--partitions") {
        config = config.with_target_partitions(partitions);
    }
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    let url = query.text("--scheduler").unwrap_or("df://127.0.0.1:50050");
    let context = SessionContext::remote_with_state(url, state).await?;
    // Afterwards, because a session that becomes remote forgets the functions that it had.
    register(&mut *context.state_ref().write())?;
    sql::run(&context, query).await?;
    Ok(())
}

fn port(query: &Query, option: &str, usual: u16) -> Result<u16, String> {
    let number = query.number(option).unwrap_or(usize::from(usual));
    u16::try_from(number).map_err(|_| format!("{option} is a port from 1 to 65535, got {number}"))
}

async fn run() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let role = words.next().unwrap_or_default();
    // The servers have no query.
    let end = (role != "sql").then(|| role.clone());
    let numbers = ["--port", "--grpc-port", "--scheduler-port", "--cores", "--partitions"];
    let query = Query::parse(words.chain(end), &numbers).map_err(|words| words.unwrap_or(HELP.to_owned()))?;
    match role.as_str() {
        "scheduler" => scheduler(&query).await,
        "executor" => executor(&query).await,
        "sql" => client(&query).await,
        _ => Err(HELP.into()),
    }
}

fn main() -> ExitCode {
    // Planning recurses deeply.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(32 << 20).build();
    let done = runtime.map_err(Failure::from).and_then(|runtime| runtime.block_on(run()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mercer-ballista: {error}");
            ExitCode::FAILURE
        }
    }
}
