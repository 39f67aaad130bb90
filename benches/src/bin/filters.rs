//! Rounds a second of the least-squares filters on one core in the steady state, where every round
//! adds a point and removes one.
//!
//! Ten features, budgets of 50, 100 and 200 points. The figures are visited in turn; the smallest
//! time of each counts. The last column is the rate over that of the Matlab toolbox of kernel
//! adaptive filters under Octave.
//! `cargo run --release -p mercer-benches --bin filters [NAME] [BUDGET]`

use std::time::{Duration, Instant};

use anyhow::Result;
use mercer_kernels::Gaussian;
use mercer_learners::{FbKrls, FbKrlsParams, KrlsT, KrlsTParams, Regressor, RegressorExt, SwKrls, SwKrlsParams};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DIMENSION: usize = 10;
const ROWS: usize = 256;
const VISITS: usize = 60;
const BUDGETS: [usize; 3] = [50, 100, 200];
/// Rounds a second of the toolbox for each budget.
const OCTAVE: [(&str, [f64; 3]); 3] =
    [("KRLS-T", [1100.0, 720.0, 290.0]), ("SW-KRLS", [2100.0, 1800.0, 850.0]), ("FB-KRLS", [1900.0, 1700.0, 800.0])];

/// A full learner and its smallest time.
struct FilterFigure {
    name: &'static str,
    budget: usize,
    octave: f64,
    learner: Box<dyn Regressor>,
    fastest: Duration,
}

fn learner(name: &str, budget: usize) -> Result<Box<dyn Regressor>> {
    let kernel = Gaussian::new(1.0)?;
    Ok(match name {
        "KRLS-T" => Box::new(KrlsT::new(kernel, DIMENSION, KrlsTParams::default().max_dictionary(Some(budget)))?),
        "SW-KRLS" => Box::new(SwKrls::new(kernel, DIMENSION, SwKrlsParams::default().window(budget))?),
        _ => Box::new(FbKrls::new(kernel, DIMENSION, FbKrlsParams::default().max_dictionary(budget))?),
    })
}

fn main() -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let inputs: Vec<f64> = (0..ROWS * DIMENSION).map(|_| rng.random_range(-1.0..1.0)).collect();
    let target = |x: &[f64]| (x[0] + x[1] * x[2]).sin() * 0.5;
    let targets: Vec<f64> = inputs.chunks(DIMENSION).map(|x| target(x) + rng.random_range(-0.3..0.3)).collect();
    let mut figures = Vec::new();
    let mut arguments = std::env::args().skip(1);
    let (only, size) = (arguments.next(), arguments.next().map(|size| size.parse::<usize>()).transpose()?);
    for (name, rates) in OCTAVE.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)) {
        for (budget, octave) in
            BUDGETS.into_iter().zip(rates).filter(|(budget, _)| size.is_none_or(|size| size == *budget))
        {
            let learner = learner(name, budget)?;
            figures.push(FilterFigure { name, budget, octave, learner, fastest: Duration::MAX });
        }
    }
    for visit in 0..=VISITS {
        for FilterFigure { learner, fastest, .. } in &mut figures {
            let clock = Instant::now();
            for (x, y) in inputs.chunks(DIMENSION).zip(&targets) {
                learner.update(x, *y)?;
            }
            // In the first the dictionary grows.
            *fastest = if visit == 0 { Duration::MAX } else { clock.elapsed().min(*fastest) };
        }
    }
    println!("learner  points  a round  rounds a second  times Octave");
    for FilterFigure { name, budget, octave, learner, fastest } in &figures {
        assert_eq!(learner.dictionary_size(), *budget);
        let seconds = fastest.as_secs_f64() / ROWS as f64;
        let (micros, rate) = (seconds * 1e6, 1.0 / seconds);
        println!("{name:<7}  {budget:>6}  {micros:>5.2} µs  {rate:>15.0}  {:>12.0}", rate / octave);
    }
    Ok(())
}
