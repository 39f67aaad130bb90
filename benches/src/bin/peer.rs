//! The other side of a comparison with a KRLS of another library: writes the stream, then times ours on it.
//!
//! `peer write FILE SIZE` writes the stream as little-endian `f64`s: `J`, the number of examples, `d`, then for each of
//! the `J` anchors and the examples its `d` coordinates and its target. `peer time FILE` learns the anchors, then times
//! the examples, and prints the steps a second of the fastest batch. `peer predict FILE OUT` writes the prediction made
//! before each step instead, in the same format.
//!
//! Other libraries add a constant to the kernel, a bias in effect; `--bias` does the same here, so that both compute the
//! same function and predictions can be compared digit by digit.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use mercer_benches::DIMENSION;
use mercer_benches::stream::{ALD_THRESHOLD, Example, Stream, WIDTH};
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
use mercer_learners::{Krls, KrlsParams, Regressor};

/// Examples timed together.
const BATCH: usize = 64;

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
        Action::Write { file, size } => write(file, *size),
        Action::Time { file, blocks } => {
            let (learner, examples) = filled(file, arguments.bias)?;
            println!("{:.0}", rate(learner, &examples, *blocks)?);
            Ok(())
        }
        Action::Predict { file, out } => {
            let (mut learner, examples) = filled(file, arguments.bias)?;
            let predictions: Result<Vec<f64>, _> =
                examples.iter().map(|(x, y)| learner.predict_then_update(x, *y)).collect();
            write_numbers(out, &predictions?)
        }
    }
}

/// Steps a second of the fastest batch; the examples are repeated until a second has passed.
fn rate(mut learner: Krls<Biased>, examples: &[Example], blocks: bool) -> Result<f64> {
    let xs: Vec<f64> = examples.iter().flat_map(|(x, _)| *x).collect();
    let ys: Vec<f64> = examples.iter().map(|(_, y)| *y).collect();
    let mut predictions = Vec::with_capacity(BATCH);
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 1.0 {
        for (xs, ys) in xs.chunks_exact(BATCH * DIMENSION).zip(ys.chunks_exact(BATCH)) {
            let clock = Instant::now();
            if blocks {
                predictions.clear();
                learner.learn_block(xs, ys, &mut predictions)?;
            } else {
                for (x, y) in xs.chunks_exact(DIMENSION).zip(ys) {
                    learner.predict_then_update(x, *y)?;
                }
            }
            best = best.min(clock.elapsed().as_secs_f64());
        }
    }
    Ok(BATCH as f64 / best)
}

fn write(file: &Path, size: usize) -> Result<()> {
    let stream = Stream::with_examples(size, 4096, 1);
    let mut numbers = vec![size as f64, stream.examples.len() as f64, DIMENSION as f64];
    for (x, y) in stream.anchors.iter().chain(&stream.examples) {
        numbers.extend(x);
        numbers.push(*y);
    }
    write_numbers(file, &numbers)
}

fn write_numbers(file: &Path, numbers: &[f64]) -> Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(file, bytes).with_context(|| format!("writing {}", file.display()))
}

/// KRLS that has learnt the anchors of the stream in `file`, and the examples.
fn filled(file: &Path, bias: f64) -> Result<(Krls<Biased>, Vec<Example>)> {
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    ensure!(numbers.len() > 3 && numbers[2] == DIMENSION as f64, "{} holds no stream of this kind", file.display());
    let size = numbers[0] as usize;
    let mut examples: Vec<Example> = numbers[3..]
        .as_chunks::<{ DIMENSION + 1 }>()
        .0
        .iter()
        .map(|row| (std::array::from_fn(|i| row[i]), row[DIMENSION]))
        .collect();
    ensure!(examples.len() >= size, "{} ends early", file.display());
    let params = KrlsParams::default().nu(ALD_THRESHOLD).max_dictionary(Some(size));
    let mut learner = Krls::new(Biased { gaussian: Gaussian::new(WIDTH)?, bias }, DIMENSION, params)?;
    for (x, y) in examples.drain(..size) {
        learner.update(&x, y)?;
    }
    ensure!(learner.dictionary_size() == size, "the anchors fill {} of {size}", learner.dictionary_size());
    Ok((learner, examples))
}

/// A Gaussian plus a constant.
#[derive(Clone, Copy, Debug)]
struct Biased {
    gaussian: Gaussian,
    bias: f64,
}

impl Kernel for Biased {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        self.gaussian.evaluate(x, z) + self.bias
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        self.gaussian.self_value(x) + self.bias
    }
    fn row(&self, points: &Points, x: &[f64], row: &mut AlignedVec) {
        self.gaussian.row(points, x, row);
        row.iter_mut().for_each(|value| *value += self.bias);
    }
}
