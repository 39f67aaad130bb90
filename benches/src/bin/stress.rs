//! The matrix of `mercer_testkit::stress`: a line a stress, a column a learner or a forecaster, and
//! the cells that do not hold; then the shares that intervals hold. `cargo xtask soak --matrix`
//! runs it.

use anyhow::{Result, anyhow};
use clap::Parser;
use mercer_testkit::stress::{Matrix, MatrixParams, coverage};

/// Errors after a stress as multiples of those without it; what does not hold is bold.
#[derive(Parser)]
struct Arguments {
    /// Rows of each stream
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Only learners and forecasters whose name begins so
    #[arg(long, default_value = "")]
    learner: String,
    /// Only stresses whose name begins so
    #[arg(long, default_value = "")]
    stress: String,
    /// Cells at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Rows before and after a stress over which intervals hold their share.
const COVERED: usize = 5000;

fn main() -> Result<()> {
    let Arguments { rows, learner, stress, threads } = Arguments::parse();
    let params = MatrixParams { rows, learner, stress, threads };
    let (mut failing, mut count) = (Vec::new(), 0);
    for make in [Matrix::for_learners, Matrix::for_forecasters] {
        let matrix = make(&params).map_err(|error| anyhow!("{error}"))?;
        println!("{matrix}");
        failing.extend(matrix.failing());
        count += matrix.count();
    }
    println!("{} of {count} cells do not hold:\n{}\n", failing.len(), failing.join("\n"));
    println!("| kind | intervals of | asked | before | after | outside |\n|---|---|---:|---:|---:|---:|");
    for share in coverage::all(COVERED, threads).map_err(|error| anyhow!("{error}"))? {
        println!("{share}");
    }
    Ok(())
}
