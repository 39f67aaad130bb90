//! Learns an operator from pairs and prints its modes, and forecasts of given states.
//!
//! `cargo run --release -p mercer-koopman --example operator_sums -- pairs.csv [states.csv
//! STEPS…]`: a row of the first file is a state and its successor, numbers alone. Prints a line for
//! each mode, `re im spread residual reliable`, then for each number of steps a line with the
//! forecasts of all states, and to standard error what was chosen.

use std::error::Error;
use std::time::Instant;

use mercer_koopman::{OperatorSums, OperatorSumsParams};

fn table(path: &str) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let row = |line: &str| line.split(',').map(|cell| cell.trim().parse::<f64>()).collect::<Result<Vec<_>, _>>();
    Ok(text.lines().map(row).collect::<Result<_, _>>()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (pairs, rest) = arguments.split_first().ok_or("give a file of pairs")?;
    let pairs = table(pairs)?;
    let state = pairs.first().map_or(0, Vec::len) / 2;
    let mut learner = OperatorSums::new(state, 0, OperatorSumsParams::default())?;
    let start = Instant::now();
    for pair in &pairs {
        let (x, x_plus) = pair.split_at(state);
        learner.update(x, x_plus)?;
    }
    let learnt = start.elapsed();
    let steps: Vec<usize> = rest.iter().skip(1).map(|steps| steps.parse()).collect::<Result<_, _>>()?;
    let horizon = steps.iter().copied().max().unwrap_or(1);
    let model = learner.model(12, horizon)?;
    eprintln!(
        "learnt in {learnt:?}, read in {:?}; {} {:?}",
        start.elapsed() - learnt,
        if model.is_deterministic() { "deterministic" } else { "stochastic" },
        model.quality()
    );
    eprintln!("forecasts {:?}, modes {:?}", model.forecast_choice(), model.spectrum_choice());
    for mode in model.modes() {
        println!("{} {} {} {} {}", mode.value.re, mode.value.im, mode.spread, mode.residual, mode.is_reliable());
    }
    let Some(states) = rest.first() else { return Ok(()) };
    let mut forecasts = Vec::new();
    for state in table(states)? {
        forecasts.push(model.forecast(&state, &[], horizon)?);
    }
    for steps in steps {
        let line: Vec<String> = forecasts.iter().flat_map(|path| &path[steps - 1]).map(f64::to_string).collect();
        println!("{}", line.join(" "));
    }
    Ok(())
}
