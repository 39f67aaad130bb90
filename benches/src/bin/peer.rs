//! The other side of a comparison with another library, by hand: writes the stream, then times ours
//! on it or records what it predicts.
//!
//! `peer write FILE SIZE` writes the stream of [`mercer_benches::peer`]. `peer time FILE` learns
//! the anchors, then times the examples, and prints the steps a second of the fastest batch.
//! `peer predict FILE OUT` writes the prediction made before each step instead, as little-endian
//! `f64`s.
//!
//! Other libraries add a constant to the kernel, a bias in effect; `--bias` does the same here, so
//! that both compute the same function and predictions can be compared digit by digit.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use mercer_benches::peer;
use mercer_learners::RegressorExt;

#[derive(Debug, Parser)]
#[command(about = "Times KRLS on a stream that other libraries can read")]
struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Constant added to the kernel
    #[arg(long, global = true, default_value_t = 0.0)]
    bias: f64,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the stream for a dictionary of SIZE points
    Write { file: PathBuf, size: usize },
    /// Print the steps a second at a full dictionary
    Time {
        file: PathBuf,
        /// Hand over 64 examples at a time, so that the learner may look ahead
        #[arg(long)]
        blocks: bool,
    },
    /// Write the predictions of the examples
    Predict { file: PathBuf, out: PathBuf },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match &arguments.action {
        Action::Write { file, size } => peer::write(file, *size),
        Action::Time { file, blocks } => {
            let stream = peer::read(file)?;
            let learner = peer::krls(&stream, arguments.bias)?;
            println!("{:.0}", peer::rate(learner, &stream.examples, peer::Work::Learn, *blocks, 1.0)?);
            Ok(())
        }
        Action::Predict { file, out } => {
            let stream = peer::read(file)?;
            let mut learner = peer::krls(&stream, arguments.bias)?;
            let predictions: Result<Vec<f64>, _> =
                stream.examples.iter().map(|(x, y)| learner.predict_then_update(x, *y)).collect();
            peer::write_numbers(out, &predictions?)
        }
    }
}
