//! The operator learner at the sizes asked for, beside the machine's roofs, how its cost grows with
//! the size, and 40,000 pairs of the four-well Langevin process.
//!
//! `cargo run --release -p mercer-benches --bin operator -- 50 200 1000`; without sizes, 50 to
//! 6,000. A dictionary of 6,000 takes minutes to fill and 4 GB of memory; one size is in memory at
//! a time. The Gram formulas of the paper's appendix stop at 1,000.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mercer_benches::{Roofs, catalogue, timing};
use mercer_kernels::{Gaussian, KernelMixture};
use mercer_koopman::{Budget, OperatorLearner, Sogd, SogdParams, StepSchedule};
use mercer_streams::FourWells;

/// Rounds over everything; the best counts.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    langevin()?;
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let mut sizes = if sizes.is_empty() { vec![50, 200, 1000, 3000, 6000] } else { sizes };
    sizes.sort_unstable();
    let mut rows = Vec::new();
    for size in sizes {
        eprintln!("filling a dictionary of {size}");
        measure(size, &mut rows)?;
    }
    // The sizes of an operation together, in the order in which operations came.
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        if !names.contains(&row.name) {
            names.push(row.name.clone());
        }
    }
    println!(
        "{:<16}{:>6}{:>15}{:>10}{:>10}{:>16}{:>16}",
        "operation", "m", "time", "exponent", "GB/s", "of memory roof", "of arithmetic"
    );
    for name in names {
        let mut smaller: Option<&OperatorRow> = None;
        for row in rows.iter().filter(|row| row.name == name) {
            let exponent = smaller.map_or(String::new(), |smaller| format!("{:.2}", row.exponent(smaller)));
            println!(
                "{:<16}{:>6}{:>12.2} µs{:>10}{:>10.1}{:>15.0}%{:>15.0}%",
                row.name,
                row.size,
                row.seconds * 1e6,
                exponent,
                row.bytes * 1e-9 / row.seconds,
                100.0 * row.roofs.0 / row.seconds,
                100.0 * row.roofs.1 / row.seconds,
            );
            smaller = Some(row);
        }
    }
    println!("exponent: p in time ∝ mᵖ, from the size before");
    Ok(())
}

/// An operation at a size.
struct OperatorRow {
    name: String,
    size: usize,
    seconds: f64,
    bytes: f64,
    /// Time that memory and arithmetic alone would take, in seconds.
    roofs: (f64, f64),
}

impl OperatorRow {
    /// `p` in time ∝ mᵖ between two sizes.
    fn exponent(&self, smaller: &Self) -> f64 {
        (self.seconds / smaller.seconds).ln() / (self.size as f64 / smaller.size as f64).ln()
    }
}

/// Everything at one size.
fn measure(size: usize, rows: &mut Vec<OperatorRow>) -> Result<(), Box<dyn std::error::Error>> {
    let mut operations = catalogue::operator(&[size])?;
    let mut roofs = Roofs::new(Duration::from_millis(20));
    let mut seconds = vec![f64::INFINITY; operations.len()];
    for round in 0..ROUNDS {
        if round > 0 {
            roofs.measure_again();
        }
        for (best, operation) in seconds.iter_mut().zip(&mut operations) {
            *best = best.min(timing::fastest(operation, Duration::from_millis(50)));
            roofs.at(operation.work.working_set());
        }
    }
    rows.extend(operations.iter().zip(seconds).map(|(operation, seconds)| OperatorRow {
        name: operation.name.clone(),
        size: operation.size,
        seconds,
        bytes: operation.work.bytes() as f64,
        roofs: roofs.seconds(operation.work),
    }));
    Ok(())
}

/// The setting of the paper's Fig. 2, with a rank guard that lets nearly everything in.
fn langevin() -> Result<(), Box<dyn std::error::Error>> {
    let pairs = FourWells::default().pairs(400, 100, 1)?;
    let kernel = KernelMixture::new(vec![(0.4, Gaussian::new(0.4)?), (0.6, Gaussian::new(0.7)?)])?;
    let params = SogdParams::default()
        .step(StepSchedule::Constant(0.3))
        .budget(Budget::Constant(0.3f64.powi(4)))
        .rank_guard(1e-12);
    let (mut best, mut size) = (f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let mut learner = Sogd::on_states(kernel.clone(), 2, params)?;
        let mut steps = Vec::with_capacity(pairs.len());
        let start = Instant::now();
        learner.learn_block(pairs.inputs(), pairs.outputs(), &mut steps)?;
        best = best.min(start.elapsed().as_secs_f64());
        size = learner.operator().inputs().len();
    }
    println!("{} Langevin pairs, {size} kept: {best:.3} s", pairs.len());
    Ok(())
}
