//! Steps of square-root least squares beside a plain Givens loop and its relatives, the exponent of
//! the cost, and a run of OPF over a long series.
//!
//! `cargo run -p mercer-benches --bin prediction -- 63 150 300 600`

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mercer_benches::catalogue::{self, series};
use mercer_benches::timing;
use mercer_forecast::{Forecaster, Opf, OpfParams};

/// Rounds over everything; the best counts.
const ROUNDS: usize = 5;
/// Steps of the long run, and of each of its stretches.
const LONG: usize = 1_000_000;
const STRETCH: usize = 1000;

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
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![21, 63, 150, 300, 600] } else { sizes };
    let mut operations = catalogue::prediction(&sizes)?;
    let mut seconds = vec![f64::INFINITY; operations.len()];
    for _ in 0..ROUNDS {
        for (best, operation) in seconds.iter_mut().zip(&mut operations) {
            *best = best.min(timing::fastest(operation, Duration::from_millis(40)));
        }
    }
    let find = |name: &str, size: usize| {
        let place = operations.iter().position(|o| o.name == name && o.size == size);
        place.map_or(f64::NAN, |place| seconds[place])
    };
    println!("{:<18}{:>6}{:>14}{:>22}", "operation", "n", "time", "times square_root");
    for (best, operation) in seconds.iter().zip(&operations) {
        let ratio = best / find("square_root", operation.size);
        println!("{:<18}{:>6}{:>11.3} µs{:>22.2}", operation.name, operation.size, best * 1e6, ratio);
    }
    for pair in sizes.windows(2) {
        let exponent =
            |name: &str| (find(name, pair[1]) / find(name, pair[0])).ln() / (pair[1] as f64 / pair[0] as f64).ln();
        println!(
            "exponent of the cost in n from {} to {}: square_root {:.2}, opf {:.2}, plain_givens {:.2}, dense_solve {:.2}",
            pair[0],
            pair[1],
            exponent("square_root"),
            exponent("opf"),
            exponent("plain_givens"),
            exponent("dense_solve")
        );
    }
    horizon()
}

/// OPF as it comes (three outputs, room for 35 lags): the fastest stretch in each tenfold stretch
/// of time.
fn horizon() -> Result<(), Box<dyn std::error::Error>> {
    let series = series(STRETCH);
    let (mut opf, mut prediction) = (Opf::new(3, &OpfParams::default())?, [0.0; 3]);
    let (mut best, mut next) = (f64::INFINITY, 10_000);
    for k in (0..LONG).step_by(STRETCH) {
        let start = Instant::now();
        for y in &series {
            opf.predict_then_observe(&[], y, &mut prediction)?;
        }
        if k > 0 {
            best = best.min(start.elapsed().as_secs_f64() / STRETCH as f64);
        }
        if k + STRETCH == next {
            println!("OPF up to step {next}: {:.3} µs a step, {} lags", best * 1e6, opf.lags());
            (best, next) = (f64::INFINITY, 10 * next);
        }
    }
    Ok(())
}
