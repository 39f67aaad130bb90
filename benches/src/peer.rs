//! Mercer's side of a comparison with other libraries: a stream that their programs can read, and
//! what a step of ours takes on it.
//!
//! A file holds little-endian `f64`s: `J`, the number of examples, `d`, then for each of the `J`
//! anchors and of the examples its `d` coordinates and its target. A learner first learns the
//! anchors; the examples are timed.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
use mercer_learners::{Fogd, FogdParams, Krls, KrlsParams, Regressor, RegressorExt};

use crate::DIMENSION;
use crate::stream::{ALD_THRESHOLD, AnchorExample, AnchorStream, WIDTH};

/// Examples timed together.
const BATCH: usize = 64;

/// Examples of a stream.
const EXAMPLES: usize = 4096;

/// What dlib's `krls` adds to its kernel. With the same here both compute the same function, digit
/// by digit.
pub const BIAS: f64 = 0.01;

/// Writes the stream for a dictionary of `size` points, or for as many random features.
///
/// # Errors
/// When the file cannot be written.
pub fn write(file: &Path, size: usize) -> Result<()> {
    let stream = AnchorStream::with_examples(size, EXAMPLES, 1);
    let mut numbers = vec![size as f64, stream.examples.len() as f64, DIMENSION as f64];
    for (x, y) in stream.anchors.iter().chain(&stream.examples) {
        numbers.extend(x);
        numbers.push(*y);
    }
    write_numbers(file, &numbers)
}

/// Writes numbers as little-endian `f64`s.
///
/// # Errors
/// When the file cannot be written.
pub fn write_numbers(file: &Path, numbers: &[f64]) -> Result<()> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(file, bytes).with_context(|| format!("writing {}", file.display()))
}

/// The stream of a file.
///
/// # Errors
/// When the file cannot be read or holds something else.
pub fn read(file: &Path) -> Result<AnchorStream> {
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    ensure!(numbers.len() > 3 && numbers[2] == DIMENSION as f64, "{} holds no stream of this kind", file.display());
    let size = numbers[0] as usize;
    let mut anchors: Vec<AnchorExample> = numbers[3..]
        .as_chunks::<{ DIMENSION + 1 }>()
        .0
        .iter()
        .map(|row| (std::array::from_fn(|i| row[i]), row[DIMENSION]))
        .collect();
    ensure!(anchors.len() > size, "{} ends early", file.display());
    let examples = anchors.split_off(size);
    Ok(AnchorStream { anchors, examples })
}

/// KRLS that has learnt the anchors, and keeps all of them.
///
/// # Errors
/// When it keeps fewer.
pub fn krls(stream: &AnchorStream, bias: f64) -> Result<Krls<BiasedGaussian>> {
    let size = stream.anchors.len();
    let params = KrlsParams::default().nu(ALD_THRESHOLD).lambda(0.0).max_dictionary(Some(size));
    let mut learner = Krls::new(BiasedGaussian { gaussian: Gaussian::new(WIDTH)?, bias }, DIMENSION, params)?;
    for (x, y) in &stream.anchors {
        learner.update(x, *y)?;
    }
    ensure!(learner.dictionary_size() == size, "the anchors fill {} of {size}", learner.dictionary_size());
    Ok(learner)
}

/// FOGD with as many random frequencies as the stream has anchors, which it has learnt.
///
/// # Errors
/// None for a stream of this crate.
pub fn fogd(stream: &AnchorStream) -> Result<Fogd> {
    let params = FogdParams::default().sigma(WIDTH).features(stream.anchors.len()).seed(1);
    let mut learner = Fogd::new(DIMENSION, params)?;
    for (x, y) in &stream.anchors {
        learner.update(x, *y)?;
    }
    Ok(learner)
}

/// Steps a second of the fastest batch, each a prediction and then an update; the examples are
/// repeated until a second has passed. With `blocks` a batch is handed over at once, so that the
/// learner may look ahead.
///
/// # Errors
/// When the learner refuses an example.
pub fn rate<R: Regressor>(mut learner: R, examples: &[AnchorExample], blocks: bool) -> Result<f64> {
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

/// A Gaussian plus a constant.
#[derive(Clone, Copy, Debug)]
pub struct BiasedGaussian {
    gaussian: Gaussian,
    bias: f64,
}

impl Kernel for BiasedGaussian {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_back_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("mercer-peer-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("stream.bin");
        write(&file, 20).unwrap();
        let stream = read(&file).unwrap();
        assert_eq!(stream, AnchorStream::with_examples(20, EXAMPLES, 1));
        assert_eq!(krls(&stream, BIAS).unwrap().dictionary_size(), 20);
        std::fs::write(&file, [0; 80]).unwrap();
        assert!(read(&file).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
