//! One pass of one learner over one permutation, and what it leaves behind.

use crate::prelude::*;
use std::time::Instant;

use mercer_core::ExampleError;
use mercer_learners::{Error, Regressor, RoundError, prequential};
use mercer_readers::Dataset;

/// Points of a curve along a pass.
const CHECKPOINTS: usize = 120;

/// The state of a pass after some round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table3Checkpoint {
    /// The round, from 1.
    pub t: usize,
    /// Cumulative loss up to it.
    pub loss: f64,
    /// Stored points or features after it.
    pub size: usize,
}

/// Measurements of one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Table3Pass {
    /// `Σ (ŷ − y)²/T`; infinite if the learner diverged.
    pub mse: f64,
    /// Stored points or features at the end.
    pub size: usize,
    /// Seconds of the pass alone: no reading, no scaling, no construction.
    pub seconds: f64,
    /// Rounds.
    pub rounds: usize,
    /// The round at which an update left the range of numbers, if one did.
    pub diverged_at: Option<usize>,
    /// The way there, at rounds that are the same for every learner.
    pub curve: Vec<Table3Checkpoint>,
}

/// Runs a learner over a stream in its order.
pub fn run(learner: &mut dyn Regressor, stream: &Dataset) -> Result<Table3Pass> {
    let rounds = stream.len();
    let recorded = log_spaced(1, rounds, CHECKPOINTS);
    let mut curve: Vec<Table3Checkpoint> = Vec::with_capacity(recorded.len());
    let start = Instant::now();
    let outcome = prequential(learner, stream.iter(), |round| {
        if recorded.get(curve.len()) == Some(&round.t) {
            curve.push(Table3Checkpoint {
                t: round.t,
                loss: round.score.cumulative_loss(),
                size: round.dictionary_size,
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let (mse, diverged_at) = match outcome {
        Ok(score) => (score.mse(), None),
        Err(RoundError { round, error: Error::Example(ExampleError::Diverged) }) => (f64::INFINITY, Some(round)),
        Err(RoundError { error, .. }) => return Err(error.into()),
    };
    let size = learner.dictionary_size();
    Ok(Table3Pass { mse, size, seconds, rounds, diverged_at, curve })
}
