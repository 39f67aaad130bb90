//! Settings that suit the data: the search of the library over prequential passes.

use mercer::catalogue::{Context, Settings, find};
use mercer::kernels::weighted_median_width;
use mercer::tune::{Plan, Space, search};
use mercer::{AnyKernel, Classifier, Gaussian, KernelSpec, Laplace, Matern32, Matern52, RegressorExt, Rows, Targets};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{arrays, errors};

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

/// Trials, best first: of the learner `name` with the pairs `fixed`, on numbers `y` (or on classes 0, 1, …, `classes` of them). The score is the mean squared
/// error, or the share of wrong classes, of predictions made before their row was learnt.
#[pyfunction]
#[pyo3(signature = (name, fixed, kernel, x, y, classes, trials, seed, threads, skip))]
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
    let score = |values: &[f64], rows: usize| -> Result<f64, String> {
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
            learner.learn_rows(block, &mut made).map_err(refused)?;
            let errors = made.iter().zip(ys).skip(skip).map(|(made, y)| (made - y) * (made - y));
            return Ok(errors.sum::<f64>() / counted);
        }
        let mut classifier =
            if outputs == 1 { Classifier::two(learner) } else { Classifier::new(learner) }.map_err(refused)?;
        let codes: Vec<usize> = ys[..rows].iter().map(|y| *y as usize).collect();
        let mut wrong = 0.0;
        let learnt = classifier.learn_rows(&inputs[..rows * d], &codes, &[], |row, classifier, scores| {
            wrong += f64::from(u8::from(row >= skip && classifier.choice(scores) != Some(codes[row])));
        });
        learnt.map_err(refused)?;
        Ok(wrong / counted)
    };
    let found = py.detach(|| search(&space, &plan, score)).map_err(errors::settings)?;
    found
        .trials()
        .iter()
        .map(|trial| {
            let (kernel, pairs) = made(&trial.values).map_err(errors::settings)?;
            Ok((kernel.to_string(), pairs, trial.rows, trial.score))
        })
        .collect()
}
