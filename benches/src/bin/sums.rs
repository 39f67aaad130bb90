//! Time and memory of operators by sums, with those at two lags, on long paths of three numbers.
//!
//! `cargo run --release -p mercer-benches --bin sums -- 1000000`. The clock is that of the
//! processor on this program, and runs only while pairs are learnt, and while the operator is read
//! off. Memory is the most that the process had. Both come from Linux.

use std::fs;

use anyhow::{Context, Result};
use mercer_koopman::{OperatorSums, OperatorSumsParams};
use mercer_streams::{Draws, rk4};

/// Pairs, unless told.
const PAIRS: usize = 1_000_000;
/// Pairs that are drawn before the clock runs.
const TOGETHER: usize = 4096;
const MODES: usize = 10;
const STEPS: usize = 10;
/// Systems: an autoregression, a double well beside two autoregressions, and Lorenz's with noise.
const SYSTEMS: [&str; 3] = ["autoregression", "well", "lorenz"];

fn main() -> Result<()> {
    let pairs = std::env::args().nth(1).map(|pairs| pairs.parse()).transpose()?.unwrap_or(PAIRS);
    println!("{pairs} pairs of three numbers");
    println!("{:<16}{:>12}{:>12}{:>14}{:>12}", "", "seconds", "µs a pair", "to read off", "most MB");
    for name in SYSTEMS {
        // The most so far is forgotten (Linux).
        let _ = fs::write("/proc/self/clear_refs", "5");
        let (learning, reading) = measure(name, pairs)?;
        println!(
            "{name:<16}{:>12.2}{:>12.2}{:>14.2}{:>12}",
            learning,
            1e6 * learning / pairs as f64,
            reading,
            most_memory().map_or("–".to_owned(), |megabytes| format!("{megabytes:.0}"))
        );
    }
    Ok(())
}

/// Seconds of learning, and of reading off.
fn measure(name: &str, pairs: usize) -> Result<(f64, f64)> {
    let mut learner = OperatorSums::new(3, 0, OperatorSumsParams::default())?;
    let (mut draws, mut x, mut learning) = (Draws::new(1), [1.0; 3], 0.0);
    let (mut done, mut path) = (0, Vec::with_capacity(TOGETHER + 1));
    while done < pairs {
        path.clear();
        path.push(x);
        for _ in 0..TOGETHER.min(pairs - done) {
            x = next(name, x, &mut draws);
            path.push(x);
        }
        let start = on_processor()?;
        for pair in path.windows(2) {
            learner.update(&pair[0], &pair[1])?;
        }
        learning += on_processor()? - start;
        done += path.len() - 1;
    }
    let start = on_processor()?;
    std::hint::black_box(learner.model(MODES, STEPS)?);
    Ok((learning, on_processor()? - start))
}

fn next(name: &str, mut x: [f64; 3], draws: &mut Draws) -> [f64; 3] {
    let mut autoregression = |x: f64, rate: f64| rate * x + (1.0 - rate * rate).sqrt() * draws.normal();
    match name {
        "autoregression" => [autoregression(x[0], 0.9), autoregression(x[1], 0.7), autoregression(x[2], 0.5)],
        "well" => {
            let others = [autoregression(x[1], 0.8), autoregression(x[2], 0.5)];
            let step = 0.02_f64;
            for _ in 0..10 {
                x[0] += -4.0 * x[0] * (x[0] * x[0] - 1.0) * step + (0.6 * step).sqrt() * draws.normal();
            }
            [x[0], others[0], others[1]]
        }
        _ => {
            let field =
                |x: &[f64; 3]| [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - 8.0 / 3.0 * x[2]];
            (0..5).for_each(|_| rk4(field, &mut x, 0.01));
            x.map(|x| x + 0.05 * draws.normal())
        }
    }
}

/// Seconds that the processor was on this program.
fn on_processor() -> Result<f64> {
    let told = fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds: f64 = told.split_whitespace().next().context("schedstat is empty")?.parse()?;
    Ok(1e-9 * nanoseconds)
}

/// The most memory that the process had, in megabytes (Linux).
fn most_memory() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    kilobytes?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}
