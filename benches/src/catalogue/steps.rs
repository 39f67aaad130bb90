//! A whole prequential step, `predict_then_update`, of every learner of the catalogue.
//!
//! A learner is measured as soon as it is registered, under its name with `_` for `-`
//! ([`of_entry`]):
//! - one with a key for its size (`max_dictionary`, `budget`, …) has this key at `J` and defaults
//!   for the others; it learns the anchors and the examples once and is timed on the examples;
//! - one whose memory grows with the stream is timed over the rounds around `t = J`;
//! - any other is timed once, with its defaults, after the stream of 100 anchors.
//!
//! Its least work is what the catalogue says of its costs. Some learners reach their size by
//! settings of their own, and have their work counted by hand ([`set_up`]):
//! - Dictionary learners stand at exactly `J` points, and the examples that follow are all in the
//!   span.
//! - PROS-N-KONS and CON-KONS toss a coin for every example. The coins are made so rare that most
//!   batches keep nothing; only those batches are timed, and a copy made at `J` points takes over
//!   when the dictionary has drifted by 2%.
//! - KOGD, KONS and Sketched-KONS keep every example: they are timed over the rounds around
//!   `t = J`.
//! - FOGD has `J` frequencies; NOGD has switched, with budget and rank `J`.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use mercer_core::Symbol;
use mercer_kernels::{AnyKernel, Gaussian};
use mercer_learners::catalogue::{Context, Entry, Key, Kind, Value};
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Fogd, FogdParams, Kogd, KogdParams, Kons, KonsParams, Krls,
    KrlsParams, Nogd, NogdParams, NonsAld, NonsAldParams, ProsNKons, Regressor, RegressorExt, SketchedKons,
    SketchedKonsParams,
};
use mercer_registry::{AnyRegressor, Built, build_with, entries};

use super::{EXP, SINCOS, row_arithmetic, table_read, triangle_read, triangle_updated};
use crate::operation::LEAD;
use crate::plain::PlainFogd;
use crate::stream::{ALD_THRESHOLD, AnchorExample, AnchorStream, Repeat, WIDTH};
use crate::{DIMENSION, Operation, Workload};

/// Keys that say how large a learner becomes; the first that it has counts.
const SIZE_KEYS: [&str; 5] = ["max_dictionary", "budget", "features", "tau", "window"];

/// Anchors of the stream of a learner whose size no key tells; also the size in its name.
const ANCHORS: usize = 100;

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
    for entry in entries() {
        let measured = of_entry(entry, sizes);
        operations.extend(measured.with_context(|| format!("setting up the step of {}", entry.name))?);
        // Side by side with ours, so that both see the same moment of the machine.
        if entry.name == "fogd" {
            operations.push(plain_fogd()?);
        }
    }
    Ok(operations)
}

/// The steps of one learner.
fn of_entry(entry: &Entry, sizes: &[usize]) -> Result<Vec<Operation>> {
    let name = entry.name.replace('-', "_");
    let sized = |key: &&Key| key.kind == Kind::Count && !entry.autonomous;
    let size_key = SIZE_KEYS.iter().filter_map(|name| entry.key(name)).find(sized);
    let mut operations = Vec::new();
    for &size in sizes {
        if let Some(operation) = set_up(&name, size)? {
            operations.push(operation);
        } else if entry.memory.grows() {
            let Built { learner, parameters } = built(entry, &[])?;
            let (fed, examples) = Fed::before(size, learner)?;
            let work = work(entry, &parameters, size, fed.0.dictionary_size());
            operations.push(around(&name, size, work, fed, examples, Fed::learn));
        } else if let Some(key) = size_key {
            operations.push(Fed::steady(&name, size, entry, built(entry, &[(key.name, Value::Whole(size))])?)?);
        } else if operations.is_empty() {
            operations.push(Fed::steady(&name, ANCHORS, entry, built(entry, &[])?)?);
        }
    }
    Ok(operations)
}

/// The learner with these values of keys, defaults for the others.
fn built(entry: &Entry, given: &[(&'static str, Value)]) -> Result<Built> {
    let context = Context { dimension: DIMENSION, seed: SEED, ..Context::default() };
    Ok(build_with(entry, AnyKernel::Gaussian(Gaussian::new(WIDTH)?), &context, given)?)
}

/// Costs of a learner of `points` points in round `round`, by the catalogue: one pass over its
/// memory, and its multiply-adds with an exponential a point.
fn work(entry: &Entry, parameters: &[(&'static str, Value)], round: usize, points: usize) -> Workload {
    let key = |symbol: Symbol| {
        let named = |key: &&Key| key.symbol == symbol.text() || key.name == symbol.text();
        let key = entry.keys.iter().find(named)?;
        let (_, value) = parameters.iter().find(|(name, _)| *name == key.name)?;
        match value {
            Value::Whole(count) => Some(*count as f64),
            Value::Kernels(kernels) => Some(kernels.len() as f64),
            _ => None,
        }
    };
    let letter = |symbol: Symbol| match symbol {
        Symbol::Features => DIMENSION as f64,
        Symbol::Outputs => 1.0,
        Symbol::Round => round as f64,
        symbol => key(symbol).unwrap_or(points as f64),
    };
    // A mixture costs what its members do, at least a kernel row.
    let row = row_arithmetic(points, DIMENSION).arithmetic as f64;
    let arithmetic = entry.time.value(letter).map_or(row, |operations| operations + (EXP * points) as f64);
    let numbers = entry.memory.value(letter).unwrap_or((points * DIMENSION) as f64);
    Workload { read: 8 * numbers as usize, updated: 0, arithmetic: arithmetic as usize }
}

/// Learners that reach their size by settings of their own.
fn set_up(name: &str, j: usize) -> Result<Option<Operation>> {
    let kernel = Gaussian::new(WIDTH)?;
    let d = DIMENSION;
    let row = row_arithmetic(j, d);
    let newton = triangle_read(j) + triangle_updated(j) + row;
    let kors = newton + triangle_read(j);
    let alpha = ALD_THRESHOLD;
    // Keeping one point must take about as many rounds at every size: 67,000 rounds fill the
    // dictionary.
    let beta = 1e-5 * j as f64;
    // A dictionary at its largest size would not toss any more.
    let max_dictionary = None;
    let sampled = ConKonsParams::default().beta(beta).gamma(0.1).seed(SEED).max_dictionary(max_dictionary);
    let operation = match name {
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
            let params = KrlsParams::default().nu(alpha).lambda(0.0).max_dictionary(max_dictionary);
            settled(name, j, newton, Krls::new(kernel, d, params)?)
        }
        "pros_n_kons" => tossing(name, j, kors, ProsNKons::new(kernel, d, sampled.into())?),
        "con_kons" => tossing(name, j, kors, ConKons::new(kernel, d, sampled)?),
        "fogd" => settled(name, j, fogd_work(j), Fogd::new(d, fogd_params(j))?),
        "nogd" => {
            let gradient = Workload { updated: 16 * j, arithmetic: j * j + 2 * j, ..Workload::default() };
            let work = table_read(j, d + j) + row + gradient;
            let params = NogdParams::default().budget(j).rank(j);
            settled(name, j, work, Nogd::new(kernel, d, params)?)
        }
        _ => return Ok(None),
    };
    operation.map(Some)
}

fn fogd_params(features: usize) -> FogdParams {
    FogdParams::default().sigma(WIDTH).features(features).seed(SEED)
}

fn fogd_work(features: usize) -> Workload {
    let map = Workload { arithmetic: features * (DIMENSION + SINCOS + 2), ..table_read(features, DIMENSION) };
    map + Workload { updated: 32 * features, arithmetic: 4 * features, ..Workload::default() }
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
    let mut examples = AnchorStream::new(PLAIN_FEATURES, SEED).repeat();
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
fn settled<R: Regressor + 'static>(name: &str, size: usize, work: Workload, mut learner: R) -> Result<Operation> {
    let stream = AnchorStream::new(size, SEED);
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
fn growing<R: Regressor + Clone + 'static>(
    name: &str,
    size: usize,
    work: Workload,
    mut learner: R,
) -> Result<Operation> {
    let stream = AnchorStream::new(size, SEED);
    let first = first_of_window(size);
    for (x, y) in &stream.anchors[..first] {
        learner.update(x, *y)?;
    }
    ensure!(learner.dictionary_size() == first, "{name} does not keep every example");
    Ok(around(name, size, work, learner, stream.repeat(), run))
}

/// Half the rounds that are timed around round `size`.
fn half_window(size: usize) -> usize {
    (size / 20).max(4)
}

/// The first round of the window around round `size`, those included that are not timed.
fn first_of_window(size: usize) -> usize {
    size.saturating_sub(half_window(size) + LEAD)
}

/// A learner that has learnt the rounds before the window around round `size`.
fn around<R: Clone + 'static>(
    name: &str,
    size: usize,
    work: Workload,
    learner: R,
    mut examples: Repeat,
    learn: impl Fn(&mut R, &mut Repeat) + 'static,
) -> Operation {
    let window = 2 * half_window(size) as u64;
    Operation::growing(name, size, work, window, learner, move |learner| learn(learner, &mut examples))
}

/// A learner of any entry, which may want signs for targets.
#[derive(Clone)]
struct Fed(AnyRegressor<AnyKernel>);

impl Fed {
    fn target(&self, y: f64) -> f64 {
        if self.0.loss().is_margin() { 1f64.copysign(y) } else { y }
    }

    fn learn_all(&mut self, examples: &[AnchorExample]) -> Result<()> {
        for (x, y) in examples {
            self.0.update(x, self.target(*y))?;
        }
        Ok(())
    }

    #[inline]
    fn learn(&mut self, examples: &mut Repeat) {
        let (x, y) = examples.next_example();
        let y = self.target(y);
        assert!(self.0.predict_then_update(x, y).is_ok(), "a step on the bench stream was refused");
    }

    /// Has learnt the rounds before the window around round `size`.
    fn before(size: usize, learner: AnyRegressor<AnyKernel>) -> Result<(Self, Repeat)> {
        let (stream, mut fed) = (AnchorStream::new(size, SEED), Self(learner));
        fed.learn_all(&stream.anchors[..first_of_window(size)])?;
        Ok((fed, stream.repeat()))
    }

    /// Its step on the examples, `anchors` of them and the examples being learnt.
    fn steady(name: &str, anchors: usize, entry: &Entry, built: Built) -> Result<Operation> {
        let (stream, mut fed) = (AnchorStream::new(anchors, SEED), Self(built.learner));
        fed.learn_all(&stream.anchors)?;
        fed.learn_all(&stream.examples)?;
        let work = work(entry, &built.parameters, anchors, fed.0.dictionary_size());
        let mut examples = stream.repeat();
        Ok(Operation::steady(name, anchors, work, move || fed.learn(&mut examples)))
    }
}

/// A learner that tosses a coin for every example; see the head of this file.
fn tossing<R: Regressor + Clone + 'static>(
    name: &str,
    size: usize,
    work: Workload,
    mut learner: R,
) -> Result<Operation> {
    let rounds = 40 * (1.0 / 1e-5) as usize;
    let mut fill = AnchorStream::with_examples(4 * size, 4 * size, SEED).anchors.into_iter().cycle().take(rounds);
    while learner.dictionary_size() < size {
        let Some((x, y)) = fill.next() else {
            anyhow::bail!("{name} stands at {} instead of {size} points", learner.dictionary_size());
        };
        learner.update(&x, y)?;
    }
    let most = size + size.div_ceil(50);
    let (start, mut examples) = (learner.clone(), AnchorStream::new(size, SEED).repeat());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every learner has a bench, and the names by which committed reports know theirs stay.
    #[test]
    fn benches_follow_from_the_catalogue() -> Result<()> {
        let operations = step(&[24])?;
        let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
        for entry in entries() {
            let named = names.iter().filter(|name| **name == entry.name.replace('-', "_"));
            assert_eq!(named.count(), 1, "{}", entry.name);
        }
        let before = [
            "kogd",
            "aogd_ald",
            "kons",
            "sketched_kons",
            "nons_ald",
            "pros_n_kons",
            "con_kons",
            "fogd",
            "plain_fogd",
            "nogd",
            "krls",
        ];
        assert!(before.iter().all(|old| names.contains(old)), "{names:?}");
        Ok(())
    }

    /// Letters stand for the sizes of the learner and the values of its keys.
    #[test]
    fn costs_are_those_of_the_catalogue() -> Result<()> {
        let entry = entries().iter().find(|entry| entry.name == "knlms").context("it is registered")?;
        let values = built(entry, &[("max_dictionary", Value::Whole(24))])?.parameters;
        // Jd + 4J and an exponential a point; Jd + 2J numbers.
        let expected = Workload { read: 8 * (240 + 48), updated: 0, arithmetic: 240 + 96 + EXP * 24 };
        assert_eq!(work(entry, &values, 24, 24), expected);
        let entry = entries().iter().find(|entry| entry.name == "mxklms").context("it is registered")?;
        let values = built(entry, &[])?.parameters;
        // P(Jd + J) with five kernels.
        assert_eq!(work(entry, &values, 24, 24).arithmetic, 5 * (240 + 24) + EXP * 24);
        Ok(())
    }
}
