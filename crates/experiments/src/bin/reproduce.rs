//! Runs the papers' experiments and writes their tables, pictures and a summary.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use mercer_data::Registry;
use mercer_experiments::experiment::{Experiment, PAPERS, Paper, experiments};
use mercer_experiments::plan::Plan;

/// Runs the papers' experiments and writes their tables (Markdown, CSV, text), pictures (SVG, PNG) and a summary.
///
/// Without options everything runs at a reduced size that takes a few minutes. Data sets are looked for in --data, in
/// $MERCER_DATA, in datasets/cache and in datasets; those not found are named in the summary, and the bundled one always runs.
#[derive(Parser)]
#[command(name = "reproduce")]
struct Arguments {
    /// The papers' size: ten permutations, the whole grid, longer streams. An estimate of the time is printed first.
    #[arg(long)]
    full: bool,
    /// Only these papers and experiments, separated by commas. A name that there is not prints those that there are.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Permutations and repetitions, instead of each experiment's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// The folder to write to; it is made if missing, and files of the same names are replaced.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Threads; no result depends on them, but times do. All cores when left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// A folder of data sets to look in before all others.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The seed of every permutation, stream and learner.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what is asked for; whether all of it succeeded.
fn run(arguments: &Arguments) -> Result<bool> {
    let chosen = choose(&arguments.only)?;
    let mut registry = Registry::load()?;
    if let Some(folder) = &arguments.data {
        if !folder.is_dir() {
            bail!("--data {}: there is no such folder", folder.display());
        }
        registry = registry.with_folder(folder);
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let plan = Plan {
        registry,
        full: arguments.full,
        repetitions: arguments.seeds.map(|seeds| seeds as usize),
        seed: arguments.seed,
        threads: arguments.threads.map_or(cores, |threads| threads as usize),
        progress: true,
    };
    if plan.full {
        estimate(&chosen, &plan);
    }
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let start = Instant::now();
    let (mut sections, mut files, mut failures) = (Vec::new(), Vec::new(), 0);
    for experiment in &chosen {
        eprintln!("{}: {}", experiment.name, experiment.title);
        let begun = Instant::now();
        // What one experiment wrote is safe before the next begins, and an experiment that fails costs no other.
        match conduct(experiment, &plan, &arguments.out) {
            Ok((section, written)) => {
                eprintln!("{}: done in {:.0} s", experiment.name, begun.elapsed().as_secs_f64());
                sections.push(section);
                files.extend(written);
            }
            Err(error) => {
                eprintln!("error: {}: {error:#}", experiment.name);
                sections.push(format!("## {}\n\n**Failed**: {error:#}\n", experiment.title));
                failures += 1;
            }
        }
        let summary = summary(&plan, &sections, start);
        write(&arguments.out.join("summary.md"), &summary)?;
    }
    files.push(arguments.out.join("summary.md"));
    println!("Files:");
    for file in &files {
        println!("  {}", file.display());
    }
    eprintln!("{} experiments, {failures} failed, {:.0} s", chosen.len(), start.elapsed().as_secs_f64());
    Ok(failures == 0)
}

/// One experiment: its section of the summary and its files. Its main table goes to standard output.
fn conduct(experiment: &Experiment, plan: &Plan, out: &Path) -> Result<(String, Vec<PathBuf>)> {
    let report = (experiment.run)(plan)?;
    let files = report.save(out)?;
    if let Some(table) = report.find_table(experiment.name) {
        println!("{}\n\n{}", experiment.title, table.text());
    }
    Ok((report.markdown(), files))
}

/// The experiments named by themselves or by their paper; all of them if nothing is named.
fn choose(only: &[String]) -> Result<Vec<&'static Experiment>> {
    let wanted: BTreeSet<&str> = only.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let known = || PAPERS.iter().map(|paper| paper.name).chain(experiments().map(|experiment| experiment.name));
    if let Some(unknown) = wanted.iter().find(|name| known().all(|known| known != **name)) {
        bail!(
            "--only {unknown}: no paper or experiment has this name; there are {}",
            known().collect::<Vec<_>>().join(", ")
        );
    }
    let whole = |paper: &Paper| wanted.is_empty() || wanted.contains(paper.name);
    let mut chosen = Vec::new();
    for paper in PAPERS {
        chosen.extend(paper.experiments.iter().filter(|experiment| whole(paper) || wanted.contains(experiment.name)));
    }
    Ok(chosen)
}

fn estimate(chosen: &[&Experiment], plan: &Plan) {
    let mut total = 0.0;
    for experiment in chosen {
        if let Some(seconds) = (experiment.estimate)(plan) {
            eprintln!("{}: about {}", experiment.name, duration(seconds));
            total += seconds;
        }
    }
    eprintln!("all of it: about {} on {} threads", duration(total), plan.threads);
}

fn duration(seconds: f64) -> String {
    if seconds < 90.0 { format!("{:.0} s", seconds.max(1.0)) } else { format!("{:.0} min", seconds / 60.0) }
}

fn summary(plan: &Plan, sections: &[String], start: Instant) -> String {
    let size = if plan.full { "the papers' size" } else { "reduced size (`--full` for the papers')" };
    let mut text = format!(
        "# Reproduction\n\n{size}; seed {}; {} threads; {:.0} s so far. Numbers depend on the seed alone, times on the machine.\n",
        plan.seed,
        plan.threads,
        start.elapsed().as_secs_f64(),
    );
    for section in sections {
        let _ = write!(text, "\n{section}");
    }
    text
}

/// Beside first, then renamed, so that a summary is whole or the one before.
fn write(path: &Path, text: &str) -> Result<()> {
    let aside = path.with_extension("md.partial");
    std::fs::write(&aside, text).with_context(|| aside.display().to_string())?;
    std::fs::rename(&aside, path).with_context(|| path.display().to_string())
}
