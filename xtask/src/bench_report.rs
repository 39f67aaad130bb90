//! `cargo xtask bench-report`: every operation as a share of the machine's roofs, into `benches/results`.
//!
//! Takes under two minutes once built, on one core. What the columns mean is in `benches/README.md`.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use xshell::{Shell, cmd};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Date in the name of the report, as 2026-11-21 [default: today, UTC]
    #[arg(long)]
    date: Option<String>,
}

/// Builds and runs the reporter.
///
/// # Errors
/// When it does not build, or cannot write its results.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let shell = Shell::new()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the root of the repository")?;
    shell.change_dir(root);
    let date = arguments.date.iter().flat_map(|date| ["--date", date.as_str()]);
    Ok(cmd!(shell, "cargo run --release --quiet --package mercer-benches --bin report -- {date...}").run()?)
}
