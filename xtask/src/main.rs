//! Repository tasks, run as `cargo xtask TASK`. One task a file; this one only names them.

mod bench_report;
mod browser;
mod ci;
mod datasets;
mod reproduce;
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
    /// Times every operation beside the machine's roofs and writes benches/results.
    BenchReport(bench_report::Arguments),
    /// Formatting, rules of the tree, lints, feature combinations and documentation.
    Ci(ci::Arguments),
    /// List, fetch and verify data sets.
    Datasets(datasets::Arguments),
    /// Runs the papers' experiments and writes their tables, pictures and the report.
    Reproduce(reproduce::Arguments),
    /// Rules of the source tree that no compiler checks.
    Tidy,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::BenchReport(arguments) => bench_report::run(&arguments),
        Task::Ci(arguments) => ci::run(&arguments),
        Task::Datasets(arguments) => datasets::run(&arguments),
        Task::Reproduce(arguments) => return reproduce::run(&arguments),
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
