//! How far verdicts on modes can be trusted: on systems whose spectrum is known and on controls
//! that have none, the reliable and the other modes that are true and false, how often two spreads
//! hold a leading eigenvalue, and errors beside those of other libraries.
//!
//! `cargo run --release -p mercer-benches --bin verdicts`. A mode is true within 0.05 of a true
//! eigenvalue, each of which counts once. Samples of a control are told at the delays 1, 3 and 8.

mod controls;
mod gyre;
mod muller_brown;
mod scores;
mod systems;
mod tally;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use mercer_koopman::{OperatorModel, OperatorSums, OperatorSumsParams, Trajectory};
use mercer_streams::Draws;

use controls::{INDEPENDENT, OTHERS, WANDERING, control};
use scores::{Errors, best_peer, errors, steps};
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
    /// The first of the three seeds; errors are those of its samples, and peers' are kept for 0
    #[arg(long, default_value_t = 0)]
    from: u64,
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

    fn seeds(&self) -> std::ops::Range<u64> {
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
    for size in arguments.sizes() {
        if let Some(folder) = &arguments.write {
            for name in arguments.wanted(&SYSTEMS) {
                let [sample, further] = samples(name, size, arguments.from)?;
                scores::write(folder, &format!("{name}-{size}-{}", arguments.from), (&sample, &further), steps(name))?;
            }
            continue;
        }
        let seeds = arguments.seeds();
        println!("\n{size} pairs, seeds {} to {}: true/false modes of each verdict", seeds.start, seeds.end - 1);
        of_systems(arguments, size)?;
        for (what, names) in [("independent", &INDEPENDENT[..]), ("wandering", &WANDERING), ("some modes", &OTHERS)] {
            of_controls(arguments, size, (what, names))?;
        }
    }
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

fn of_systems(arguments: &Arguments, size: usize) -> Result<(), Box<dyn Error>> {
    let names = arguments.wanted(&SYSTEMS);
    if names.is_empty() {
        return Ok(());
    }
    let measures = ["eigenvalues", "step 1", "step 2", "step 3"].into_iter().flat_map(|name| [name, "best peer"]);
    row("", Tally::HEADS.into_iter().chain(measures).map(str::to_owned));
    let mut total = Tally::default();
    for name in names {
        let (mut tally, mut found, mut noted) = (Tally::default(), Errors::default(), Vec::new());
        for seed in arguments.seeds() {
            let [sample, further] = samples(name, size, seed)?;
            let model = learnt(&sample)?;
            tally.add(&Tally::count(&model, &sample, arguments.verbose));
            if seed == arguments.from {
                found = errors(&model, &sample, &further, steps(name))?;
            }
            if name == "gyre" {
                noted.push(gyre::told(&model, &mut Draws::new(7000 + seed))?);
            }
        }
        let kept = |k: usize| if arguments.from == 0 { best_peer(name, size, k) } else { None };
        let figure = |error: f64| if error.is_finite() { format!("{error:.2e}") } else { "–".to_owned() };
        let pair = |k: usize| [figure(found[k]), kept(k).map_or("–".to_owned(), figure)];
        row(name, tally.cells().into_iter().chain((0..4).flat_map(pair)));
        noted.iter().for_each(|note| println!("{:<14}{note}", ""));
        total.add(&tally);
    }
    row("all", total.cells());
    println!("systems: {}", total.of_systems());
    Ok(())
}

fn of_controls(arguments: &Arguments, size: usize, (what, names): (&str, &[&str])) -> Result<(), Box<dyn Error>> {
    let names = arguments.wanted(names);
    if names.is_empty() {
        return Ok(());
    }
    row("", Tally::HEADS.map(str::to_owned));
    let mut total = Tally::default();
    for name in names {
        let mut tally = Tally::default();
        for (seed, delay) in arguments.seeds().flat_map(|seed| DELAYS.map(|delay| (seed, delay))) {
            let sample = control(name, delay, size, &mut Draws::new(2000 + seed));
            tally.add(&Tally::count(&learnt(&sample)?, &sample, arguments.verbose));
        }
        row(name, tally.cells());
        total.add(&tally);
    }
    println!("{what}: {}", total.of_controls());
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
