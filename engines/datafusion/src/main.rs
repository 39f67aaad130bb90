//! `mercer-sql`: SQL over Parquet and CSV files, with Mercer's functions.

use std::process::ExitCode;

use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use mercer_datafusion::sql::{self, Query};

const HELP: &str = "\
mercer-sql [OPTIONS] 'SELECT …'

Runs SQL with the functions mercer_fit(y, x…, 'options'), mercer_predict(model, x…) and mercer_evaluate(model, y, x…).

  --table NAME=PATH    a Parquet or CSV file, or a folder of Parquet files ending in /, as a table; may be given several times
  --model NAME=FILE    a model file, as a table with one row whose column is model
  --partitions N       partitions that are summed up side by side (the number of cores)
  --memory MB          most memory that groups may take; what is above goes to files in the temporary folder
  --out FILE           write the single binary value of the result, such as a model, to this file
";

async fn run(query: &Query) -> Result<()> {
    let mut config = SessionConfig::new();
    if let Some(partitions) = query.number("--partitions") {
        config = config.with_target_partitions(partitions);
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = query.number("--memory") {
        runtime = runtime.with_memory_limit(memory << 20, 1.0);
    }
    let context = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
    mercer_datafusion::register(&context);
    sql::run(&context, query).await
}

#[tokio::main]
async fn main() -> ExitCode {
    let query = match Query::parse(std::env::args().skip(1), &["--partitions", "--memory"]) {
        Ok(query) => query,
        Err(words) => {
            eprintln!("{}", words.unwrap_or(HELP.to_owned()));
            return ExitCode::from(2);
        }
    };
    match run(&query).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mercer-sql: {error}");
            ExitCode::FAILURE
        }
    }
}
