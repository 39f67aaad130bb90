//! How far verdicts on modes can be trusted: on systems whose spectrum is known and on controls
//! that have none, the reliable and the other modes that are true and false, how often two spreads
//! hold a leading eigenvalue, and errors beside those of other libraries.
//!
//! `cargo run --release -p mercer-benches --bin verdicts`. A mode is true within 0.05 of a true
//! eigenvalue, each of which counts once. Samples of a control are told at the delays 1, 3 and 8.
//! The tables at the end are those of `benches/README.md`.

mod controls;
mod gyre;
mod muller_brown;
mod scores;
mod summary;
mod systems;
mod tally;

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use clap::Parser;
use mercer_koopman::{OperatorModel, OperatorSums, OperatorSumsParams, Trajectory};
use mercer_streams::Draws;

use controls::{INDEPENDENT, OTHERS, WANDERING, control};
use scores::{Errors, best_peer, errors, steps};
use summary::Summary;
use systems::{SYSTEMS, Sample, system};
use tally::{MODES, Tally};

const SEEDS: u64 = 3;
const DELAYS: [usize; 3] = [1, 3, 8];
/// Pairs of the further paths that forecasts are asked for.
const FURTHER: usize = 2000;

/// Count the verdicts on modes of known systems and of controls, beside errors of other libraries
#[derive(Parser)]
struct Arguments {
    /// Numbers of pairs [default: 1000 and 20000], and names of systems and controls [default: all]
    asked: Vec<String>,
    /// The first of three seeds, several with commas; errors are those of its samples, and peers'
    /// are kept for 0
    #[arg(long, value_delimiter = ',', default_value = "0")]
    from: Vec<u64>,
    /// Samples that are learnt at the same time
    #[arg(long, value_name = "N", default_value = "2")]
    threads: NonZeroUsize,
    /// Tell each mode
    #[arg(short, long)]
    verbose: bool,
    /// Write the first sample of each system into this folder, for peers.py, and count nothing
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

impl Arguments {
    fn sizes(&self) -> Vec<usize> {
        let sizes: Vec<usize> = self.asked.iter().filter_map(|word| word.parse().ok()).collect();
        if sizes.is_empty() { vec![1000, 20_000] } else { sizes }
    }

    /// Those of these names that are asked for.
    fn wanted<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let words: Vec<&String> = self.asked.iter().filter(|word| word.parse::<usize>().is_err()).collect();
        names.iter().copied().filter(|name| words.is_empty() || words.iter().any(|word| word == name)).collect()
    }

    /// What comes of each job, in their order. Modes that are told come one after the other.
    fn each<I: Sync, O: Send>(
        &self,
        jobs: &[I],
        work: impl Fn(&I) -> Result<O, Box<dyn Error>> + Sync,
    ) -> Result<Vec<O>, Box<dyn Error>> {
        let threads = if self.verbose { 1 } else { self.threads.get() };
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs.len())));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((place, job)) =
                        Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
                    {
                        let made = work(job).map_err(|error| error.to_string());
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((place, made));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        Ok(done.into_iter().map(|(_, made)| made).collect::<Result<_, String>>()?)
    }
}

/// Samples that are counted together.
#[derive(Clone, Copy)]
struct Count {
    pairs: usize,
    /// The first of their seeds.
    from: u64,
}

impl Count {
    fn seeds(self) -> std::ops::Range<u64> {
        self.from..self.from + SEEDS
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let sizes = arguments.sizes();
    let counts = arguments.from.iter().flat_map(|from| sizes.iter().map(|pairs| Count { pairs: *pairs, from: *from }));
    let mut summary = Summary::default();
    for count in counts {
        let Count { pairs, from } = count;
        if let Some(folder) = &arguments.write {
            for name in arguments.wanted(&SYSTEMS) {
                let [sample, further] = samples(name, pairs, from)?;
                scores::write(folder, &format!("{name}-{pairs}-{from}"), (&sample, &further), steps(name))?;
            }
            continue;
        }
        let seeds = count.seeds();
        println!("\n{pairs} pairs, seeds {} to {}: true/false modes of each verdict", seeds.start, seeds.end - 1);
        of_systems(arguments, count, &mut summary)?;
        for (what, names) in [("independent", &INDEPENDENT[..]), ("wandering", &WANDERING), ("some modes", &OTHERS)] {
            of_controls(arguments, count, (what, names), &mut summary)?;
        }
    }
    summary.print();
    Ok(())
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) {
    println!("{name:<14}{}", cells.into_iter().map(|cell| format!("{cell:>11}")).collect::<String>());
}

/// The sample of a system, and one of further paths.
fn samples(name: &str, size: usize, seed: u64) -> Result<[Sample; 2], Box<dyn Error>> {
    let of = |size, seed| system(name, size, &mut Draws::new(seed));
    Ok([of(size, 1000 + seed)?, of(FURTHER, 5000 + seed)?])
}

fn of_systems(arguments: &Arguments, count: Count, summary: &mut Summary) -> Result<(), Box<dyn Error>> {
    let names = arguments.wanted(&SYSTEMS);
    if names.is_empty() {
        return Ok(());
    }
    let measures = ["eigenvalues", "step 1", "step 2", "step 3"].into_iter().flat_map(|name| [name, "best peer"]);
    row("", Tally::HEADS.into_iter().chain(measures).map(str::to_owned));
    let mut total = Tally::default();
    let jobs = count.seeds().flat_map(|seed| names.iter().map(move |name| (*name, seed)));
    let jobs: Vec<(&str, u64)> = jobs.collect();
    let outcomes = arguments.each(&jobs, |(name, seed)| VerdictOutcome::new(arguments, (name, count), *seed))?;
    for name in &names {
        let (mut tally, mut found, mut noted) = (Tally::default(), Errors::default(), Vec::new());
        for (_, outcome) in jobs.iter().zip(&outcomes).filter(|((of, _), _)| of == name) {
            tally.add(&outcome.tally);
            found = outcome.errors.unwrap_or(found);
            noted.extend(outcome.note.as_ref());
        }
        let kept = |k: usize| if count.from == 0 { best_peer(name, count.pairs, k) } else { None };
        let figure = |error: f64| if error.is_finite() { format!("{error:.2e}") } else { "–".to_owned() };
        let pair = |k: usize| [figure(found[k]), kept(k).map_or("–".to_owned(), |(_, error)| figure(error))];
        row(name, tally.cells().into_iter().chain((0..4).flat_map(pair)));
        noted.iter().for_each(|note| println!("{:<14}{note}", ""));
        total.add(&tally);
        if count.from == 0 {
            summary.errors(name, count.pairs, found);
        }
    }
    row("all", total.cells());
    println!("systems: {}", total.of_systems());
    summary.count(count, &format!("{} systems", names.len()), &total);
    Ok(())
}

/// What is counted of one sample of a system; errors are those of the first.
struct VerdictOutcome {
    tally: Tally,
    errors: Option<Errors>,
    note: Option<String>,
}

impl VerdictOutcome {
    fn new(arguments: &Arguments, (name, count): (&str, Count), seed: u64) -> Result<Self, Box<dyn Error>> {
        let [sample, further] = samples(name, count.pairs, seed)?;
        let model = learnt(&sample)?;
        let is_first = seed == count.from;
        let errors = is_first.then(|| errors(&model, &sample, &further, steps(name))).transpose()?;
        let note = (name == "gyre").then(|| gyre::told(&model, &mut Draws::new(7000 + seed))).transpose()?;
        Ok(Self { tally: Tally::count(&model, &sample, arguments.verbose), errors, note })
    }
}

fn of_controls(
    arguments: &Arguments,
    count: Count,
    (what, names): (&str, &[&str]),
    summary: &mut Summary,
) -> Result<(), Box<dyn Error>> {
    let names = arguments.wanted(names);
    if names.is_empty() {
        return Ok(());
    }
    row("", Tally::HEADS.map(str::to_owned));
    let mut total = Tally::default();
    let seeds = count.seeds().flat_map(|seed| DELAYS.map(|delay| (seed, delay)));
    let jobs = seeds.flat_map(|(seed, delay)| names.iter().map(move |name| (*name, seed, delay)));
    let jobs: Vec<(&str, u64, usize)> = jobs.collect();
    let tallies = arguments.each(&jobs, |(name, seed, delay)| {
        let sample = control(name, *delay, count.pairs, &mut Draws::new(2000 + seed));
        Ok(Tally::count(&learnt(&sample)?, &sample, arguments.verbose))
    })?;
    for name in &names {
        let mut tally = Tally::default();
        jobs.iter().zip(&tallies).filter(|((of, ..), _)| of == name).for_each(|(_, one)| tally.add(one));
        row(name, tally.cells());
        total.add(&tally);
    }
    println!("{what}: {}", total.of_controls());
    summary.count(count, &format!("controls: {}", names.join(", ")), &total);
    Ok(())
}

fn learnt(sample: &Sample) -> Result<OperatorModel, Box<dyn Error>> {
    let columns = sample.paths[0][0].len();
    let params = OperatorSumsParams::default().delay(sample.delay);
    let mut learner = OperatorSums::new(columns * sample.delay, 0, params)?;
    for rows in &sample.paths {
        let mut trajectory = Trajectory::new(columns, sample.delay, None)?;
        for row in rows {
            if let Some((x, x_plus)) = trajectory.push(row, None, None)? {
                learner.update(x, x_plus)?;
            }
        }
    }
    Ok(learner.model(MODES, 1)?)
}
