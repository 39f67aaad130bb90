//! Runs the papers' experiments and writes their tables and pictures, a summary and the report for
//! a browser.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use mercer_datasets::Registry;
use mercer_experiments::experiment::{Experiment, Paper};
use mercer_experiments::papers::{PAPERS, experiments, quality_folder};
use mercer_experiments::plan::Plan;
use mercer_experiments::report::Report;
use mercer_experiments::report::conduct::{Errand, News, conduct};
use mercer_experiments::report::kept;
use mercer_experiments::report::provenance::Provenance;

/// Runs the papers' experiments and writes their tables (Markdown, CSV, text), pictures (SVG, PNG,
/// the series as CSV), a summary and, in the folder `report`, pages for a browser (index.html) and
/// report.json.
///
/// Without options everything runs at a reduced size that takes a few minutes. Data sets are looked
/// for in --data, in the repository's datasets and datasets/cache, and in $MERCER_DATA; those not
/// found are named in the summary.
///
/// Every finished experiment is kept in the folder `kept` and reused while program, plan, data and
/// machine are the same, so that a run that was interrupted goes on where it was.
#[derive(Parser)]
#[command(name = "reproduce")]
struct Arguments {
    /// The papers' size: ten permutations, the whole grid, longer streams. An estimate of the time
    /// is printed first.
    #[arg(long)]
    full: bool,
    /// Only these papers and experiments, separated by commas, in this order. A name that there is
    /// not prints those that there are.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Permutations and repetitions, instead of each experiment's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seeds: Option<u32>,
    /// Keep what finishes in the repository (crates/experiments/full), to be committed: later
    /// reports show it beside a run that is reduced or lacks the data. For a program built from a
    /// commit without local changes.
    #[arg(long, requires = "full", conflicts_with = "seeds")]
    keep: bool,
    /// Run again what was finished in --out before.
    #[arg(long)]
    fresh: bool,
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
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let mut registry = Registry::load()?.with_folder(stored.join("cache")).with_folder(stored);
    if let Some(folder) = &arguments.data {
        if !folder.is_dir() {
            bail!("--data {}: there is no such folder", folder.display());
        }
        registry = registry.with_folder(folder);
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let plan = Plan {
        full: arguments.full,
        size: None,
        quality: quality_folder(&registry),
        repetitions: arguments.seeds.map(|seeds| seeds as usize),
        seed: arguments.seed,
        registry,
        threads: arguments.threads.map_or(cores, |threads| threads as usize),
        progress: true,
    };
    if plan.full {
        estimate(&chosen, &plan);
    }
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let start = Instant::now();
    let provenance = Provenance::collect(&plan)?;
    if arguments.keep && !provenance.program.is_clean() {
        bail!(
            "--keep: kept results name the commit they come from, and this tree is {:?}; commit first",
            provenance.program.commit
        );
    }
    let names: Vec<&str> = chosen.iter().map(|experiment| experiment.name).collect();
    let errand = Errand {
        papers: PAPERS,
        chosen: &names,
        plan: &plan,
        out: &arguments.out,
        fresh: arguments.fresh,
        full: &kept::folder(),
        keep: arguments.keep,
    };
    let done = conduct(&errand, provenance, &mut tell)?;
    println!("Files:");
    for file in &done.files {
        println!("  {}", file.display());
    }
    let page = arguments.out.join("report").join("index.html");
    eprintln!(
        "{} experiments, {} reused, {} failed, {:.0} s; the report: {}",
        chosen.len(),
        done.reused,
        done.failures,
        start.elapsed().as_secs_f64(),
        page.display(),
    );
    Ok(done.failures == 0)
}

/// Progress goes to standard error, the main tables to standard output.
fn tell(experiment: &Experiment, news: &News<'_>) {
    let name = experiment.name;
    match *news {
        News::Reused(kept) => {
            eprintln!(
                "{name}: reused; the same program, plan, data and machine finished it {} in {:.0} s (--fresh runs it again)",
                kept.finished, kept.seconds
            );
            show(experiment, &kept.report);
        }
        News::Begins => eprintln!("{name}: {}", experiment.title),
        News::Done(report, seconds) => {
            eprintln!("{name}: done in {seconds:.0} s");
            show(experiment, report);
        }
        News::Failed(error) => eprintln!("error: {name}: {error:#}"),
        News::Kept => eprintln!("{name}: kept in {}", kept::place(&kept::folder(), name).display()),
        News::NotKept(error) => eprintln!("warning: {name}: {error:#}"),
    }
}

fn show(experiment: &Experiment, report: &Report) {
    if let Some(table) = report.find_table(experiment.name) {
        println!("{}\n\n{}", experiment.title, table.text());
    }
}

/// The experiments named by themselves or by their paper, in the order named; all of them if
/// nothing is named.
fn choose(only: &[String]) -> Result<Vec<&'static Experiment>> {
    let wanted: BTreeSet<&str> = only.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    let known = || PAPERS.iter().map(|paper| paper.name).chain(experiments().map(|experiment| experiment.name));
    if let Some(unknown) = wanted.iter().find(|name| known().all(|known| known != **name)) {
        bail!(
            "--only {unknown}: no paper or experiment has this name; there are {}",
            known().collect::<Vec<_>>().join(", ")
        );
    }
    if wanted.is_empty() {
        return Ok(experiments().collect());
    }
    let mut chosen: Vec<&'static Experiment> = Vec::new();
    for name in only {
        let of = |paper: &'static Paper| {
            paper.experiments.iter().filter(|experiment| [paper.name, experiment.name].contains(&name.trim()))
        };
        for experiment in PAPERS.iter().flat_map(of) {
            if chosen.iter().all(|other| other.name != experiment.name) {
                chosen.push(experiment);
            }
        }
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
