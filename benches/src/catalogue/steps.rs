//! A whole prequential step, `predict_then_update`, of every learner.
//!
//! - Dictionary learners stand at exactly `J` points, and the examples that follow are all in the span.
//! - PROS-N-KONS and CON-KONS toss a coin for every example. The coins are made so rare that most batches keep nothing;
//!   only those batches are timed, and a copy made at `J` points takes over when the dictionary has drifted by 2%.
//! - KOGD, KONS and Sketched-KONS keep every example: they are timed over the rounds around `t = J`.
//! - FOGD has `J` frequencies; NOGD has switched, with budget and rank `J`.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use mercer_kernels::Gaussian;
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, Fogd, FogdParams, Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Nogd,
    NogdParams, NonsAld, NonsAldParams, ProsNKons, Regressor, SampledKonsParams, SketchedKons, SketchedKonsParams,
};

use super::{SINCOS, row_arithmetic, table_read, triangle_read, triangle_updated};
use crate::operation::LEAD;
use crate::plain::PlainFogd;
use crate::stream::{ALD_THRESHOLD, Repeat, Stream, WIDTH};
use crate::{DIMENSION, Operation, Work};

/// The learners, as they are named here.
pub const LEARNERS: [&str; 10] =
    ["kogd", "aogd_ald", "kons", "sketched_kons", "nons_ald", "pros_n_kons", "con_kons", "fogd", "nogd", "krls"];

/// Number of frequencies at which FOGD is compared with a plain loop.
pub const PLAIN_FEATURES: usize = 100;

/// Examples between two looks at the size of a dictionary that may grow.
const BATCH: u64 = 16;
/// Share of the rounds that enter the sketch of Sketched-KONS.
const SKETCHED: f64 = 0.25;
const SEED: u64 = 7;

/// A step of every learner, at every size, and the plain FOGD.
///
/// # Errors
/// When a learner refuses an example or does not reach its size.
pub fn step(sizes: &[usize]) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for learner in LEARNERS {
        for &size in sizes {
            operations.push(learner_step(learner, size)?);
        }
        // Side by side with ours, so that both see the same moment of the machine.
        if learner == "fogd" {
            operations.push(plain_fogd()?);
        }
    }
    Ok(operations)
}

fn learner_step(name: &'static str, j: usize) -> Result<Operation> {
    let kernel = Gaussian::new(WIDTH)?;
    let d = DIMENSION;
    let row = row_arithmetic(j, d);
    let newton = triangle_read(j) + triangle_updated(j) + row;
    let kors = newton + triangle_read(j);
    let alpha = ALD_THRESHOLD;
    // Keeping one point must take about as many rounds at every size: 67,000 rounds fill the dictionary.
    let beta = 1e-5 * j as f64;
    // A dictionary at its largest size would not toss any more.
    let max_dictionary = None;
    let sampled = SampledKonsParams::default().beta(beta).gamma(0.1).seed(SEED).max_dictionary(max_dictionary);
    match name {
        "kogd" => {
            let work = table_read(j, d + 1) + row;
            growing(name, j, work, Kogd::new(kernel, d, KogdParams::default())?)
        }
        "aogd_ald" => {
            let learner = AogdAld::new(kernel, d, AogdAldParams::default().alpha(alpha))?;
            settled(name, j, triangle_read(j) + row, learner)
        }
        "kons" => {
            let learner = Kons::new(kernel, d, KonsParams::default())?;
            growing(name, j, triangle_read(j) + table_read(j, d) + row, learner)
        }
        "sketched_kons" => {
            let params = SketchedKonsParams::default().gamma(SKETCHED).beta(1e-12).seed(SEED);
            let sketch = (SKETCHED * j as f64) as usize;
            growing(name, j, triangle_read(sketch) + table_read(j, d) + row, SketchedKons::new(kernel, d, params)?)
        }
        "nons_ald" => {
            let learner =
                NonsAld::new(kernel, d, NonsAldParams::default().alpha(alpha).max_dictionary(max_dictionary))?;
            settled(name, j, newton, learner)
        }
        "krls" => {
            let params = KrlsParams::default().nu(alpha).max_dictionary(max_dictionary);
            settled(name, j, newton, Krls::new(kernel, d, params)?)
        }
        "pros_n_kons" => tossing(name, j, kors, ProsNKons::new(kernel, d, sampled)?),
        "con_kons" => tossing(name, j, kors, ConKons::new(kernel, d, sampled)?),
        "fogd" => settled(name, j, fogd_work(j), Fogd::new(d, fogd_params(j))?),
        _ => {
            let gradient = Work { updated: 16 * j, arithmetic: j * j + 2 * j, ..Work::default() };
            let work = table_read(j, d + j) + row + gradient;
            let params = NogdParams::default().budget(j).rank(j);
            settled(name, j, work, Nogd::new(kernel, d, params)?)
        }
    }
}

fn fogd_params(features: usize) -> FogdParams {
    FogdParams::default().sigma(WIDTH).features(features).seed(SEED)
}

fn fogd_work(features: usize) -> Work {
    let map = Work { arithmetic: features * (DIMENSION + SINCOS + 2), ..table_read(features, DIMENSION) };
    map + Work { updated: 32 * features, arithmetic: 4 * features, ..Work::default() }
}

/// FOGD of [`PLAIN_FEATURES`] frequencies written with scalar loops and the standard library.
///
/// # Errors
/// When the frequencies cannot be drawn.
pub fn plain_fogd() -> Result<Operation> {
    let params = fogd_params(PLAIN_FEATURES);
    let ours = Fogd::new(DIMENSION, params)?;
    let frequencies = (0..PLAIN_FEATURES).flat_map(|j| ours.feature_map().frequency(j)).collect();
    let mut plain = PlainFogd::new(frequencies, DIMENSION, params.step);
    let mut examples = Stream::new(PLAIN_FEATURES, SEED).repeat();
    Ok(Operation::steady("plain_fogd", PLAIN_FEATURES, fogd_work(PLAIN_FEATURES), move || {
        let (x, y) = examples.next_example();
        std::hint::black_box(plain.predict_then_update(x, y));
    }))
}

/// One step that must not be refused: a refused one would be far too fast.
#[inline]
fn run(learner: &mut impl Regressor, examples: &mut Repeat) {
    let (x, y) = examples.next_example();
    assert!(learner.predict_then_update(x, y).is_ok(), "a step on the bench stream was refused");
}

/// Feeds the anchors, then the examples once; the size must be `size` after both.
fn settled<R: Regressor + 'static>(name: &str, size: usize, work: Work, mut learner: R) -> Result<Operation> {
    let stream = Stream::new(size, SEED);
    for part in [&stream.anchors, &stream.examples] {
        for (x, y) in part {
            learner.update(x, *y)?;
        }
        let reached = learner.dictionary_size();
        ensure!(reached == size, "{name} stands at {reached} instead of {size} points");
    }
    let mut examples = stream.repeat();
    Ok(Operation::steady(name, size, work, move || run(&mut learner, &mut examples)))
}

/// A learner that keeps every example, around round `size`.
fn growing<R: Regressor + Clone + 'static>(name: &str, size: usize, work: Work, mut learner: R) -> Result<Operation> {
    let half_window = (size / 20).max(4);
    let stream = Stream::new(size, SEED);
    let first = size.saturating_sub(half_window + LEAD);
    for (x, y) in &stream.anchors[..first] {
        learner.update(x, *y)?;
    }
    ensure!(learner.dictionary_size() == first, "{name} does not keep every example");
    let mut examples = stream.repeat();
    Ok(Operation::growing(name, size, work, 2 * half_window as u64, learner, move |learner| {
        run(learner, &mut examples);
    }))
}

/// A learner that tosses a coin for every example; see the head of this file.
fn tossing<R: Regressor + Clone + 'static>(name: &str, size: usize, work: Work, mut learner: R) -> Result<Operation> {
    let rounds = 40 * (1.0 / 1e-5) as usize;
    let mut fill = Stream::with_examples(4 * size, 4 * size, SEED).anchors.into_iter().cycle().take(rounds);
    while learner.dictionary_size() < size {
        let Some((x, y)) = fill.next() else {
            anyhow::bail!("{name} stands at {} instead of {size} points", learner.dictionary_size());
        };
        learner.update(&x, y)?;
    }
    let most = size + size.div_ceil(50);
    let (start, mut examples) = (learner.clone(), Stream::new(size, SEED).repeat());
    Ok(Operation::timed(name, size, work, move |runs| {
        let mut total = Duration::ZERO;
        let mut left = runs;
        while left > 0 {
            let before = learner.dictionary_size();
            let now = left.min(BATCH);
            let clock = Instant::now();
            (0..now).for_each(|_| run(&mut learner, &mut examples));
            let elapsed = clock.elapsed();
            if learner.dictionary_size() == before {
                total += elapsed;
                left -= now;
            } else if learner.dictionary_size() > most {
                learner = start.clone();
            }
        }
        total
    }))
}
