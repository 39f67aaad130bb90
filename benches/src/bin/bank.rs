//! One NONS-ALD pass over bank at the setting of Table 3, beside the literal SVD algorithm and the
//! paper's printed time.
//!
//! The oracle of `mercer-testkit` decomposes the Gram matrix anew at every growth and inverts `A`
//! by dense formulas, as the printed algorithm reads; its predictions must be ours. Needs `bank` of
//! the data-set registry (`MERCER_DATA`).

use std::process::ExitCode;
use std::time::Instant;

use mercer_datasets::Registry;
use mercer_kernels::Gaussian;
use mercer_learners::{NonsAld, NonsAldParams, prequential};
use mercer_readers::{Ranges, Scaling, Scheme};
use mercer_testkit::oracle;

/// Seconds a pass as printed in Table 3 of the paper (R, 2.8 GHz i7-1165G7).
const PRINTED: f64 = 11.18;
const SIGMA: f64 = 12.0;

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
    let mut table = Registry::load()?.open("bank")?;
    Scaling::new(Ranges::from_table(&table), Scheme::PAPER01).apply(&mut table)?;
    let table = table.permuted(1);
    let alpha = 25.0 / table.len() as f64;
    let params = NonsAldParams::default().alpha(alpha).max_dictionary(None);

    let mut best = f64::INFINITY;
    let mut predictions = Vec::new();
    let mut size = 0;
    for _ in 0..5 {
        let mut learner = NonsAld::new(Gaussian::new(SIGMA)?, table.dimension(), params)?;
        predictions.clear();
        let start = Instant::now();
        prequential(&mut learner, table.iter(), |round| {
            predictions.push(round.prediction);
            size = round.dictionary_size;
        })?;
        best = best.min(start.elapsed().as_secs_f64());
    }

    let stream: Vec<oracle::Example> = table.iter().map(|(x, y)| (x.to_vec(), y)).collect();
    let literal = oracle::NonsAldParams { mu: 1.0, alpha, radius: 1.0, label_bound: 1.0, max_dictionary: None };
    let start = Instant::now();
    let trace = oracle::nons_ald_svd(&stream, &oracle::gaussian(SIGMA), literal);
    let oracle_seconds = start.elapsed().as_secs_f64();
    let difference = trace.predictions.iter().zip(&predictions).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);

    println!("bank, {} rows of {} features, dictionary of {size}", table.len(), table.dimension());
    println!("  printed (R)          {PRINTED} s");
    println!("  literal SVD oracle   {oracle_seconds:.2} s");
    println!("  NONS-ALD             {:.1} ms", best * 1e3);
    println!("  largest difference of two predictions {difference:.1e}");
    Ok(())
}
