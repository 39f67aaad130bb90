//! The smallest time of many short batches: on a shared machine, everything above it is somebody
//! else's work.

use std::time::{Duration, Instant};

use crate::Operation;

/// A batch lasts at least this long, so that reading the clock (some 30 ns) does not show.
const BATCH: Duration = Duration::from_micros(40);
/// Least-squares and Newton updates put off what they can and make up for it in every eighth run: a
/// batch of whole periods pays for all of it.
const PERIOD: u64 = 8;
/// An operation that takes longer than this puts nothing off.
const LONG: Duration = Duration::from_millis(5);
/// At least so many batches, however slow one is.
const LEAST_BATCHES: usize = 5;

/// Seconds of one run of `operation`: the smallest mean of a batch among the batches that fit into
/// `budget`.
pub fn fastest(operation: &mut Operation, budget: Duration) -> f64 {
    let mut runs = if operation.time(1) < LONG { PERIOD } else { 1 };
    while operation.time(runs) < BATCH && runs < 1 << 20 {
        runs *= 2;
    }
    smallest(budget, || operation.time(runs).as_secs_f64() / runs as f64)
}

/// The smallest value of `sample` among the calls that fit into `budget`.
pub fn smallest(budget: Duration, mut sample: impl FnMut() -> f64) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut samples = 0;
    while samples < LEAST_BATCHES || start.elapsed() < budget {
        best = best.min(sample());
        samples += 1;
    }
    best
}
