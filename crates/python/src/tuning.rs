//! Settings that suit the data: the search of the library over prequential passes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mercer::catalogue::{Context, Entry, Settings, find};
use mercer::kernels::weighted_median_width;
use mercer::tune::{Plan, SearchResult, Space, TuneError, search};
use mercer::{
    AnyKernel, AnyRegressor, Classifier, Gaussian, KernelSpec, Laplace, Matern32, Matern52, Regressor, RegressorExt,
    Rows, Targets,
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
type TuningTrial = (String, Vec<String>, usize, f64);

/// A pass that was done: its point, rows and score.
type TuningPass = (Vec<f64>, usize, f64);

/// What is searched, and what was found so far.
struct TuningJob<'a> {
    entry: &'static Entry,
    fixed: Vec<String>,
    kernel: AnyKernel,
    space: Space,
    inputs: &'a [f64],
    ys: &'a [f64],
    /// How many classes there are, 0 of numbers.
    classes: usize,
    seed: u64,
    skip: usize,
    stop: AtomicBool,
    passes: Mutex<Vec<TuningPass>>,
}

impl TuningJob<'_> {
    fn dimension(&self) -> usize {
        self.inputs.len() / self.ys.len().max(1)
    }

    fn passes(&self) -> MutexGuard<'_, Vec<TuningPass>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn going(&self) -> Result<(), String> {
        if self.stop.load(Ordering::Relaxed) { Err("the search was stopped".to_owned()) } else { Ok(()) }
    }

    /// The kernel and the settings of a point.
    fn made(&self, values: &[f64]) -> Result<(AnyKernel, Vec<String>), String> {
        let kernel = match (self.space.width(values), family(&self.kernel)) {
            (Some(width), Some((name, _))) => of_width(name, width)?,
            _ => self.kernel.clone(),
        };
        Ok((kernel, self.fixed.iter().cloned().chain(self.space.pairs(values)).collect()))
    }

    /// The score of a point on the first rows, which is noted.
    fn score(&self, values: &[f64], rows: usize) -> Result<f64, String> {
        self.going()?;
        let (kernel, pairs) = self.made(values)?;
        let settings =
            Settings::new(self.entry, pairs.iter().map(String::as_str)).map_err(|error| error.to_string())?;
        let (dimension, classes) = (self.dimension(), self.classes > 0);
        let first = &self.inputs[..rows.min(256) * dimension];
        let context = Context { dimension, seed: self.seed, rows: first, classes, ..Context::default() };
        let learner = settings.build(kernel, &context).map_err(|error| error.to_string())?.learner;
        let sum = if classes { self.wrong(learner, rows) } else { self.squares(learner, rows) }?;
        let score = sum / rows.saturating_sub(self.skip).max(1) as f64;
        self.passes().push((values.to_vec(), rows, score));
        Ok(score)
    }

    /// The sum of the squared errors.
    fn squares(&self, mut learner: AnyRegressor<AnyKernel>, rows: usize) -> Result<f64, String> {
        let d = self.dimension();
        let mut made = Vec::new();
        let block = Rows::new(&self.inputs[..rows * d], d, Targets::numbers(&self.ys[..rows])).map_err(refused)?;
        while made.len() < rows {
            self.going()?;
            let end = rows.min(made.len() + piece(learner.dictionary_size()));
            learner.learn_rows(block.range(made.len(), end), &mut made).map_err(refused)?;
        }
        Ok(made.iter().zip(self.ys).skip(self.skip).map(|(made, y)| (made - y) * (made - y)).sum())
    }

    /// How many rows are given a wrong class.
    fn wrong(&self, learner: AnyRegressor<AnyKernel>, rows: usize) -> Result<f64, String> {
        let d = self.dimension();
        let made = if self.classes > 2 { Classifier::new(learner) } else { Classifier::two(learner) };
        let mut classifier = made.map_err(refused)?;
        let codes: Vec<usize> = self.ys[..rows].iter().map(|y| *y as usize).collect();
        let (mut wrong, mut first) = (0.0, 0);
        while first < rows {
            self.going()?;
            let end = rows.min(first + piece(classifier.learner().dictionary_size()));
            let (inputs, labels) = (&self.inputs[first * d..end * d], &codes[first..end]);
            let learnt = classifier.learn_rows(inputs, labels, &[], |row, classifier, scores| {
                let row = first + row;
                wrong += f64::from(u8::from(row >= self.skip && classifier.choice(scores) != Some(codes[row])));
            });
            learnt.map_err(refused)?;
            first = end;
        }
        Ok(wrong)
    }

    /// Searches, and meanwhile looks after signals and the `limit`, and calls `report`; a signal or
    /// an exception of `report` ends it.
    fn search(
        &self,
        py: Python<'_>,
        plan: &Plan,
        limit: Option<Instant>,
        report: Option<Py<PyAny>>,
    ) -> PyResult<Result<SearchResult, TuneError<String>>> {
        let (found, signal) = py.detach(|| {
            thread::scope(|scope| {
                let search = scope.spawn(|| search(&self.space, plan, |values, rows| self.score(values, rows)));
                let (mut signal, mut told) = (Ok(()), 0);
                while !search.is_finished() {
                    thread::sleep(PATIENCE);
                    if signal.is_ok() {
                        let done = self.passes().clone();
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
                        self.stop.store(true, Ordering::Relaxed);
                    }
                }
                (search.join(), signal)
            })
        });
        signal?;
        found.map_err(|_| errors::settings("a thread of the search failed"))
    }

    /// A trial as Python has it.
    fn told(&self, values: &[f64], rows: usize, score: f64) -> PyResult<TuningTrial> {
        let (kernel, pairs) = self.made(values).map_err(errors::settings)?;
        Ok((kernel.to_string(), pairs, rows, score))
    }
}

fn refused(error: mercer::Error) -> String {
    error.to_string()
}

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
    report: Option<Py<PyAny>>,
) -> PyResult<Vec<TuningTrial>> {
    let entry = find(name).map_err(errors::catalogue)?;
    let ((inputs, rows, d), ys) = (arrays::table(&x)?, arrays::numbers(&y)?);
    if ys.len() != rows {
        return Err(errors::data(format!("{rows} rows and {} targets", ys.len())));
    }
    let spec = if kernel == "auto" { "median" } else { kernel };
    let (kernel, searched) = match spec.parse::<KernelSpec>().map_err(errors::settings)? {
        KernelSpec::Given(kernel) => (kernel, false),
        KernelSpec::Median => {
            let width = weighted_median_width(d, inputs, &[]);
            (Gaussian::new(width).map(AnyKernel::Gaussian).map_err(errors::settings)?, !entry.autonomous)
        }
    };
    let space = Space::for_entry(entry, family(&kernel).filter(|_| searched).map(|(_, width)| width));
    let keys = fixed.iter().filter_map(|pair| pair.split_once('=')).map(|(key, _)| key);
    let space = keys.fold(space, Space::without);
    let plan = Plan::new(rows).after(skip).trials(trials).seed(seed).threads(threads);
    let (stop, passes) = (AtomicBool::new(false), Mutex::default());
    let job = TuningJob { entry, fixed, kernel, space, inputs, ys, classes, seed, skip, stop, passes };
    let limit = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    let found = job.search(py, &plan, limit, report)?;
    if job.stop.load(Ordering::Relaxed) {
        let mut passes = job.passes().clone();
        passes.retain(|(.., score)| score.is_finite());
        passes.sort_by(|a, b| b.1.cmp(&a.1).then(a.2.total_cmp(&b.2)));
        if passes.is_empty() {
            return Err(errors::settings("no trial was done within the time limit; give it more, or fewer rows"));
        }
        return passes.iter().map(|(values, rows, score)| job.told(values, *rows, *score)).collect();
    }
    let found = found.map_err(errors::settings)?;
    found.trials().iter().map(|trial| job.told(&trial.values, trial.rows, trial.score)).collect()
}

/// The best score on the most rows.
fn best(passes: &[TuningPass]) -> f64 {
    let most = passes.iter().map(|(_, rows, _)| *rows).max();
    let scores = passes.iter().filter(|(_, rows, _)| Some(*rows) == most).map(|(.., score)| *score);
    scores.fold(f64::INFINITY, f64::min)
}
