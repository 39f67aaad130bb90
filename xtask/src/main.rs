//! Repository tasks, run as `cargo xtask TASK`. One task a file; this one only names them.

mod ci;
mod datasets;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of this repository", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, rules of the tree, lints, feature combinations and documentation.
    Ci,
    /// List, fetch and verify data sets.
    Datasets(datasets::Arguments),
    /// Rules of the source tree that no compiler checks.
    Tidy,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Datasets(arguments) => datasets::run(&arguments),
        Task::Tidy => tidy::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
