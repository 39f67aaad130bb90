//! The operator learner at the sizes asked for, beside the machine's roofs, and 40,000 pairs of the four-well Langevin process.
//!
//! `cargo run -p mercer-benches --bin operator -- 50 200 1000` (a dictionary of 6,000 takes minutes to fill).

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mercer_benches::{Roofs, catalogue, timing};
use mercer_data::FourWells;
use mercer_kernels::{Gaussian, Mixture};
use mercer_learners::operator::{Budget, OperatorLearner, Sogd, SogdParams, StepSize};

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
    let sizes = if sizes.is_empty() { vec![50, 200, 1000] } else { sizes };
    let mut operations = catalogue::operator(&sizes)?;
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
    println!(
        "{:<16}{:>6}{:>14}{:>10}{:>16}{:>16}",
        "operation", "m", "time", "GB/s", "of memory roof", "of arithmetic"
    );
    for (best, operation) in seconds.iter().zip(&operations) {
        let (memory, arithmetic) = roofs.seconds(operation.work);
        println!(
            "{:<16}{:>6}{:>11.2} µs{:>10.1}{:>15.0}%{:>15.0}%",
            operation.name,
            operation.size,
            best * 1e6,
            operation.work.bytes() as f64 / best * 1e-9,
            100.0 * memory / best,
            100.0 * arithmetic / best,
        );
    }
    Ok(())
}

/// The setting of the paper's Fig. 2, with a rank guard that lets nearly everything in.
fn langevin() -> Result<(), Box<dyn std::error::Error>> {
    let pairs = FourWells::default().pairs(400, 100, 1)?;
    let kernel = Mixture::new(vec![(0.4, Gaussian::new(0.4)?), (0.6, Gaussian::new(0.7)?)])?;
    let params = SogdParams {
        step: StepSize::Constant(0.3),
        budget: Budget::Constant(0.3f64.powi(4)),
        rank_guard: 1e-12,
        ..SogdParams::default()
    };
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
