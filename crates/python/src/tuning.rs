//! Settings that suit the data: the search of the library over prequential passes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mercer::catalogue::{Context, Settings, find};
use mercer::kernels::weighted_median_width;
use mercer::tune::{Plan, Space, search};
use mercer::{
    AnyKernel, Classifier, Gaussian, KernelSpec, Laplace, Matern32, Matern52, Regressor, RegressorExt, Rows, Targets,
};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::rows::piece;
use crate::{arrays, errors};

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(20);

/// The family of a kernel whose one number is its width, and that width.
fn family(kernel: &AnyKernel) -> Option<(&'static str, f64)> {
    match kernel {
        AnyKernel::Gaussian(kernel) => Some(("gaussian", kernel.sigma())),
        AnyKernel::Laplace(kernel) => Some(("laplace", kernel.sigma())),
        AnyKernel::Matern32(kernel) => Some(("matern32", kernel.sigma())),
        AnyKernel::Matern52(kernel) => Some(("matern52", kernel.sigma())),
        _ => None,
    }
}

fn of_width(name: &str, width: f64) -> Result<AnyKernel, String> {
    let refused = |error: mercer::KernelError| error.to_string();
    match name {
        "laplace" => Laplace::new(width).map(AnyKernel::Laplace).map_err(refused),
        "matern32" => Matern32::new(width).map(AnyKernel::Matern32).map_err(refused),
        "matern52" => Matern52::new(width).map(AnyKernel::Matern52).map_err(refused),
        _ => Gaussian::new(width).map(AnyKernel::Gaussian).map_err(refused),
    }
}

/// A trial: the kernel, `KEY=VALUE` pairs, rows and score.
type Trial = (String, Vec<String>, usize, f64);

/// A pass that was done: its point, rows and score.
type Pass = (Vec<f64>, usize, f64);

/// Trials, best first: of the learner `name` with the pairs `fixed`, on numbers `y` (or on classes
/// 0, 1, …, `classes` of them). The score is the mean squared error, or the share of wrong classes,
/// of predictions made before their row was learnt. After so many `seconds` the trials are those so
/// far. `report` is called with the number of passes done and the best score on the most rows,
/// whenever it is another.
#[pyfunction]
#[pyo3(signature = (name, fixed, kernel, x, y, classes, trials, seed, threads, skip, seconds = None, report = None))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by its names")]
pub(crate) fn tune(
    py: Python<'_>,
    name: &str,
    fixed: Vec<String>,
    kernel: &str,
    x: PyReadonlyArray2<'_, f64>,
    y: PyReadonlyArray1<'_, f64>,
    classes: usize,
    trials: usize,
    seed: u64,
    threads: usize,
    skip: usize,
    seconds: Option<f64>,
    report: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<Trial>> {
    let entry = find(name).map_err(errors::catalogue)?;
    let (inputs, rows, d) = arrays::table(&x)?;
    let ys = arrays::numbers(&y)?;
    if ys.len() != rows {
        return Err(errors::data(format!("{rows} rows and {} targets", ys.len())));
    }
    let spec = if kernel == "auto" { "median" } else { kernel };
    let (given, searched) = match spec.parse::<KernelSpec>().map_err(errors::settings)? {
        KernelSpec::Given(kernel) => (kernel, false),
        KernelSpec::Median => {
            let width = weighted_median_width(d, inputs, &[]);
            (Gaussian::new(width).map(AnyKernel::Gaussian).map_err(errors::settings)?, !entry.autonomous)
        }
    };
    let space = Space::of(entry, family(&given).filter(|_| searched).map(|(_, width)| width));
    let keys = fixed.iter().filter_map(|pair| pair.split_once('=')).map(|(key, _)| key);
    let space = keys.fold(space, Space::without);
    let plan = Plan::new(rows).after(skip).trials(trials).seed(seed).threads(threads);
    let made = |values: &[f64]| -> Result<(AnyKernel, Vec<String>), String> {
        let kernel = match (space.width(values), family(&given)) {
            (Some(width), Some((name, _))) => of_width(name, width)?,
            _ => given.clone(),
        };
        Ok((kernel, fixed.iter().cloned().chain(space.pairs(values)).collect()))
    };
    let report = report.map(Bound::unbind);
    let stop = AtomicBool::new(false);
    let going = || if stop.load(Ordering::Relaxed) { Err("the search was stopped".to_owned()) } else { Ok(()) };
    let passes: Mutex<Vec<Pass>> = Mutex::default();
    let score = |values: &[f64], rows: usize| -> Result<f64, String> {
        going()?;
        let (kernel, pairs) = made(values)?;
        let settings = Settings::new(entry, pairs.iter().map(String::as_str)).map_err(|error| error.to_string())?;
        let outputs = if classes > 2 { classes } else { 1 };
        let first = &inputs[..rows.min(256) * d];
        let context = Context { rounds: Some(rows), dimension: d, seed, rows: first, outputs: 1, classes: classes > 0 };
        let mut learner = settings.build(kernel, &context).map_err(|error| error.to_string())?.learner;
        let refused = |error: mercer::Error| error.to_string();
        let counted = (rows.saturating_sub(skip)).max(1) as f64;
        if classes == 0 {
            let mut made = Vec::new();
            let targets = Targets::numbers(&ys[..rows]);
            let block = Rows::new(&inputs[..rows * d], d, targets).map_err(refused)?;
            while made.len() < rows {
                going()?;
                let end = rows.min(made.len() + piece(learner.dictionary_size()));
                learner.learn_rows(block.range(made.len(), end), &mut made).map_err(refused)?;
            }
            let errors = made.iter().zip(ys).skip(skip).map(|(made, y)| (made - y) * (made - y));
            return Ok(noted(&passes, values, rows, errors.sum::<f64>() / counted));
        }
        let mut classifier =
            if outputs == 1 { Classifier::two(learner) } else { Classifier::new(learner) }.map_err(refused)?;
        let codes: Vec<usize> = ys[..rows].iter().map(|y| *y as usize).collect();
        let (mut wrong, mut first) = (0.0, 0);
        while first < rows {
            going()?;
            let end = rows.min(first + piece(classifier.learner().dictionary_size()));
            let learnt = classifier.learn_rows(
                &inputs[first * d..end * d],
                &codes[first..end],
                &[],
                |row, classifier, scores| {
                    let row = first + row;
                    wrong += f64::from(u8::from(row >= skip && classifier.choice(scores) != Some(codes[row])));
                },
            );
            learnt.map_err(refused)?;
            first = end;
        }
        Ok(noted(&passes, values, rows, wrong / counted))
    };
    let limit = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let (found, signal) = py.detach(|| {
        thread::scope(|scope| {
            let search = scope.spawn(|| search(&space, &plan, score));
            let (mut signal, mut told) = (Ok(()), 0);
            while !search.is_finished() {
                thread::sleep(PATIENCE);
                if signal.is_ok() {
                    let done = passes.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    signal = Python::attach(|py| {
                        py.check_signals()?;
                        match report.as_ref().filter(|_| done.len() > told) {
                            Some(report) => report.call1(py, (done.len(), best(&done))).map(drop),
                            None => Ok(()),
                        }
                    });
                    told = done.len();
                }
                if signal.is_err() || limit.is_some_and(|limit| Instant::now() > limit) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            (search.join(), signal)
        })
    });
    signal?;
    let told = |(values, rows, score): (Vec<f64>, usize, f64)| {
        let (kernel, pairs) = made(&values).map_err(errors::settings)?;
        Ok((kernel.to_string(), pairs, rows, score))
    };
    if stop.into_inner() {
        let mut passes = passes.into_inner().unwrap_or_else(PoisonError::into_inner);
        passes.retain(|(.., score)| score.is_finite());
        passes.sort_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)));
        if passes.is_empty() {
            return Err(errors::settings("no trial was done within the time limit; give it more, or fewer rows"));
        }
        return passes.into_iter().map(told).collect();
    }
    let found = found.map_err(|_| errors::settings("a thread of the search failed"))?.map_err(errors::settings)?;
    found.trials().iter().map(|trial| told((trial.values.clone(), trial.rows, trial.score))).collect()
}

/// The best score on the most rows.
fn best(passes: &[Pass]) -> f64 {
    let most = passes.iter().map(|(_, rows, _)| *rows).max();
    let scores = passes.iter().filter(|(_, rows, _)| Some(*rows) == most).map(|(.., score)| *score);
    scores.fold(f64::INFINITY, f64::min)
}

/// Notes a pass that was done.
fn noted(passes: &Mutex<Vec<Pass>>, values: &[f64], rows: usize, score: f64) -> f64 {
    passes.lock().unwrap_or_else(PoisonError::into_inner).push((values.to_vec(), rows, score));
    score
}
