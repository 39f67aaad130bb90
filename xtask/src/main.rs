//! Repository tasks, run as `cargo xtask TASK`. One task a file; this one only names them.

mod bench_report;
mod browser;
mod ci;
mod cross;
mod datasets;
mod faults;
mod features;
mod fuzz;
mod guide;
mod package;
mod product;
mod reproduce;
mod service;
mod soak;
mod tidy;
mod tools;
mod web;

use std::path::{Path, PathBuf};
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
    /// Unit tests of vectors, kernels and factors, and the contract of all learners, on an emulated
    /// aarch64.
    Aarch64,
    /// Times every operation beside the machine's roofs and other libraries; writes benches/results
    /// and the README's table.
    BenchReport(bench_report::Arguments),
    /// Checks beside the tests; --list names the steps, and which a change calls for.
    Ci(ci::Arguments),
    /// List, fetch and verify data sets.
    Datasets(datasets::Arguments),
    /// Kills a learning run at random moments, resumes it, and looks whether anything is lost.
    Faults(faults::Arguments),
    /// Coverage-guided fuzzing of readers, model files, kernels and settings.
    Fuzz(fuzz::Arguments),
    /// Runs the commands whose output GUIDE.md shows, and writes its pictures.
    Guide(guide::Arguments),
    /// Runs the papers' experiments and writes their tables, pictures and the report.
    Reproduce(reproduce::Arguments),
    /// The pages of the site at this address in a headless Chromium, if there is one.
    Site { url: String },
    /// Millions of rows through every learner of bounded memory.
    Soak(soak::Arguments),
    /// Rules of the source tree that no compiler checks.
    Tidy,
    /// Builds the command for browsers, with its page, into target/web.
    Web(web::Arguments),
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Aarch64 => cross::aarch64(),
        Task::BenchReport(arguments) => bench_report::run(&arguments),
        Task::Ci(arguments) => ci::run(&arguments),
        Task::Datasets(arguments) => datasets::run(&arguments),
        Task::Faults(arguments) => faults::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Guide(arguments) => guide::run(&arguments),
        Task::Reproduce(arguments) => return reproduce::run(&arguments),
        Task::Site { url } => browser::site(&url),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::Tidy => tidy::run(),
        Task::Web(arguments) => web::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
