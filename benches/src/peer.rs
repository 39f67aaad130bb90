//! Mercer's side of a comparison with other libraries: a stream that their programs can read, and
//! what a row of ours takes on it.
//!
//! A file holds little-endian `f64`s: `J`, the number of examples, `d`, then for each of the `J`
//! anchors and of the examples its `d` coordinates and its target. A learner first learns the
//! anchors; the examples are timed. A series is such a file with `d = 0`. `benches/README.md` says
//! what the tasks are.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mercer_forecast::{Periods, SeasonMixture, SeasonParams};
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
use mercer_koopman::{Budget, OperatorLearner, Sogd, SogdParams};
use mercer_learners::{Fogd, FogdParams, Krls, KrlsParams, Regressor, RegressorExt, Scratch};

use crate::DIMENSION;
use crate::stream::{ALD_THRESHOLD, AnchorExample, AnchorStream, WIDTH};

/// Examples timed together.
const BATCH: usize = 64;

/// Examples of a stream.
const EXAMPLES: usize = 4096;

/// Constant that dlib's `krls` adds to its kernel. With the same here both compute the same
/// function, digit by digit.
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

fn read_numbers(file: &Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}

/// The stream of a file.
///
/// # Errors
/// When the file cannot be read or holds something else.
pub fn read(file: &Path) -> Result<AnchorStream> {
    let numbers = read_numbers(file)?;
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

/// Work of a learner on the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Predicts each and learns it.
    Learn,
    /// Predicts them.
    Predict,
}

/// Rows a second of the fastest batch of a second, over the inputs and targets of the batches again
/// and again.
fn fastest<E>(
    xs: &[f64],
    ys: &[f64],
    seconds: f64,
    mut batch: impl FnMut(&[f64], &[f64]) -> Result<(), E>,
) -> Result<f64, E> {
    let (mut best, start) = (f64::INFINITY, Instant::now());
    loop {
        for (xs, ys) in xs.chunks_exact(BATCH * DIMENSION).zip(ys.chunks_exact(BATCH)) {
            let clock = Instant::now();
            batch(xs, ys)?;
            best = best.min(clock.elapsed().as_secs_f64());
        }
        if start.elapsed().as_secs_f64() > seconds {
            return Ok(BATCH as f64 / best);
        }
    }
}

fn columns(examples: &[AnchorExample]) -> (Vec<f64>, Vec<f64>) {
    (examples.iter().flat_map(|(x, _)| *x).collect(), examples.iter().map(|(_, y)| *y).collect())
}

/// Rows a second of a learner. With `blocks` a batch is handed over at once, so that the learner
/// may look ahead.
///
/// # Errors
/// When the learner refuses an example.
pub fn rate<R: Regressor>(
    mut learner: R,
    examples: &[AnchorExample],
    work: Work,
    blocks: bool,
    seconds: f64,
) -> Result<f64> {
    let (xs, ys) = columns(examples);
    let (mut predictions, mut scratch) = (Vec::with_capacity(BATCH), Scratch::for_inputs(xs.len()));
    let rate = fastest(&xs, &ys, seconds, |xs, ys| {
        predictions.clear();
        match (work, blocks) {
            (Work::Learn, true) => learner.learn_block(xs, ys, &mut predictions)?,
            (Work::Predict, true) => learner.predict_rows(xs, &mut predictions)?,
            (work, false) => {
                for (x, y) in xs.chunks_exact(DIMENSION).zip(ys) {
                    predictions.push(match work {
                        Work::Learn => learner.predict_then_update(x, *y)?,
                        Work::Predict => learner.predict_with(x, &mut scratch)?,
                    });
                }
            }
        }
        std::hint::black_box(&predictions);
        Ok::<_, mercer_learners::Error>(())
    })?;
    Ok(rate)
}

/// A period of the series.
const SEASON: usize = 12;

/// Rows of a series after those that are learnt beforehand.
const LATER: usize = 128;

/// Writes a series with a trend and a season, of which `size` rows come before those that are
/// timed.
///
/// # Errors
/// When the file cannot be written.
pub fn write_series(file: &Path, size: usize) -> Result<()> {
    let noise = AnchorStream::with_examples(size, LATER, 1);
    let rows = noise.anchors.iter().chain(&noise.examples).enumerate();
    let value = |(t, (_, noise)): (usize, &AnchorExample)| {
        let turn = (t % SEASON) as f64 / SEASON as f64 * std::f64::consts::TAU;
        100.0 + 0.05 * t as f64 + 10.0 * turn.sin() + 4.0 * noise
    };
    let head = [size as f64, LATER as f64, 0.0];
    write_numbers(file, &head.into_iter().chain(rows.map(value)).collect::<Vec<f64>>())
}

/// Rows a second of the season mixture that is told the period: each is learnt, and the next is
/// forecast.
///
/// # Errors
/// When the file cannot be read.
pub fn series_rate(file: &Path, seconds: f64) -> Result<f64> {
    let numbers = read_numbers(file)?;
    let (before, later) = numbers[3..].split_at(numbers[0] as usize);
    let mut mixture = SeasonMixture::new(SeasonParams::default().periods(Periods::Given(vec![SEASON])))?;
    for y in before {
        mixture.learn(Some(*y))?;
    }
    let zeros = vec![0.0; later.len() * DIMENSION];
    let rate = fastest(&zeros, later, seconds, |_, ys| {
        for y in ys {
            mixture.learn(Some(*y))?;
            std::hint::black_box(mixture.path(1));
        }
        Ok::<_, mercer_forecast::Error>(())
    })?;
    Ok(rate)
}

/// Width of the Gaussian of operators: narrow enough that thousands of points of the stream are far
/// from the span of each other.
pub const STATES: f64 = 0.5;

/// Between the residuals of anchors (0.5 and more) and of examples (0.02 and less).
const GUARD: f64 = 0.05;

/// An operator learner that has learnt a pair for each anchor, and keeps them.
///
/// # Errors
/// When a pair is refused.
pub fn operator(stream: &AnchorStream) -> Result<Sogd<Gaussian>> {
    let params =
        SogdParams::default().budget(Budget::Constant(0.0)).rank_guard(GUARD).max_dictionary(None).lambda(1e-3);
    let mut learner = Sogd::on_states(Gaussian::new(STATES)?, DIMENSION, params)?;
    let size = stream.anchors.len();
    for i in 0..size {
        learner.update(&stream.anchors[i].0, &stream.anchors[(i + 1) % size].0)?;
    }
    Ok(learner)
}

/// Pairs a second of an operator learner, each an example and the one after it; or states a second
/// whose next state is predicted.
///
/// # Errors
/// When a pair is refused, or a point kept.
pub fn operator_rate(stream: &AnchorStream, work: Work, blocks: bool, seconds: f64) -> Result<f64> {
    let mut learner = operator(stream)?;
    let (xs, _) = columns(&stream.examples);
    let mut after = xs.clone();
    after.rotate_left(DIMENSION);
    // A batch is told by its place, as there is a target of ten numbers.
    let places: Vec<f64> = (0..stream.examples.len()).map(|place| place as f64).collect();
    let mut steps = Vec::with_capacity(BATCH);
    let together = if blocks { BATCH } else { 1 };
    let rate = match work {
        Work::Learn => fastest(&xs, &places, seconds, |xs, places| {
            let first = places[0] as usize * DIMENSION;
            let pairs = xs.chunks(together * DIMENSION).zip(after[first..].chunks(together * DIMENSION));
            for (xs, after) in pairs {
                steps.clear();
                learner.learn_block(xs, after, &mut steps)?;
            }
            Ok::<_, mercer_koopman::Error>(())
        })?,
        Work::Predict => {
            let operator = learner.operator();
            let next: Vec<Vec<f64>> =
                (0..DIMENSION).map(|i| operator.pull_back(&operator.observe(|x| x[i]))).collect::<Result<_, _>>()?;
            let next: Vec<&[f64]> = next.iter().map(Vec::as_slice).collect();
            fastest(&xs, &places, seconds, |xs, _| {
                for xs in xs.chunks(together * DIMENSION) {
                    std::hint::black_box(operator.evaluate_all(&next, &Points::from_rows(DIMENSION, xs))?);
                }
                Ok::<_, mercer_koopman::Error>(())
            })?
        }
    };
    let reached = learner.operator().inputs().len();
    ensure!(reached == stream.anchors.len(), "the operator learner stands at {reached} points");
    Ok(rate)
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
