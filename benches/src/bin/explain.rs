//! Time of an explained row: exact effects of an expansion of `J` Gaussians on `d` columns.
//!
//! `cargo run --release -p mercer-benches --bin explain` prints it. With `--write FILE` it puts the
//! expansion, the background, rows and their effects into a file, by which `peers/explain.py` has
//! SHAP explain the same function.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use mercer::encoding::ScaledTargets;
use mercer::kernels::AnyKernel;
use mercer::learners::families::{Krls, KrlsParams};
use mercer::learners::{Regressor, RegressorExt};
use mercer::readers::Example;
use mercer::session::Row;
use mercer::session::explain::{Absence, Aim, Explainer, Ground};
use mercer::session::function::{FunctionPart, function_parts};
use mercer::session::model::{Numbers, Tabular, Task, Taught};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use serde_json::json;

#[derive(Parser)]
struct Arguments {
    /// Kept points
    #[arg(long, default_value_t = 1000)]
    points: usize,
    /// Columns
    #[arg(long, default_value_t = 20)]
    columns: usize,
    /// Rows of the background
    #[arg(long, default_value_t = 100)]
    background: usize,
    /// Where the function and the effects go
    #[arg(long)]
    write: Option<PathBuf>,
}

/// Rows that are explained, and how often each is: the least time counts.
const ROWS: usize = 20;
const PASSES: usize = 9;

fn main() -> Result<()> {
    let Arguments { points, columns, background, write } = Arguments::parse();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut row = || -> Vec<f64> { (0..columns).map(|_| rng.random_range(-1.0..1.0)).collect() };
    let width = (columns as f64).sqrt();
    let kernel: AnyKernel = format!("gaussian:{width}").parse()?;
    let mut learner = Krls::new(kernel, columns, KrlsParams::default().nu(1e-6).max_dictionary(Some(points)))?;
    let centres: Vec<Vec<f64>> = (0..points).map(|_| row()).collect();
    for x in &centres {
        learner.update(x, x[0] + x[1 % columns] * x[2 % columns])?;
    }
    ensure!(learner.dictionary_size() == points, "{} points are kept", learner.dictionary_size());
    let made = |x: Vec<f64>| Row { example: Example { features: x, ..Example::default() }, ..Row::default() };
    let task = Task::Numbers(Box::new(Numbers::new(ScaledTargets::unscaled(learner.into()))));
    let session = Tabular::plain(task);
    let known: Vec<Row> = (0..background).map(|_| made(row())).collect();
    let rows: Vec<Row> = (0..ROWS).map(|_| made(row())).collect();
    let ground = Ground::of_rows(&session, &[], &known)?;
    let mut told = Vec::new();
    for absence in [Absence::Independent, Absence::Together] {
        let explainer = Explainer::new(&session, &ground, Aim::number(0, 1), absence)?;
        ensure!(explainer.is_exact(), "the effects are exact");
        let mut least = [f64::INFINITY; ROWS];
        let mut off: f64 = 0.0;
        let mut effects = Vec::new();
        for _ in 0..if absence == Absence::Independent { PASSES } else { 1 } {
            effects.clear();
            for (row, least) in rows.iter().zip(&mut least) {
                let start = Instant::now();
                let one = explainer.explain(row)?;
                *least = least.min(start.elapsed().as_secs_f64());
                off = off.max((one.base + one.effects.iter().sum::<f64>() - one.prediction).abs());
                effects.push(json!({"base": one.base, "prediction": one.prediction, "effects": one.effects}));
            }
        }
        let time = 1e3 * least.iter().sum::<f64>() / ROWS as f64;
        let name = if absence == Absence::Independent { "columns independent" } else { "columns together" };
        println!("{points} points, {columns} columns, {name}: {time:.3} ms a row, sum off by {off:.1e}");
        told.push(json!({"name": name, "milliseconds": time, "rows": effects}));
    }
    let Some(path) = write else { return Ok(()) };
    let parts = function_parts(session.task.learner(), &[1.0]);
    let [FunctionPart::Expansion(sum)] = &parts.context("krls is an expansion")?[..] else { bail!("one expansion") };
    let numbers = |rows: &[Row]| rows.iter().map(|row| row.example.features.clone()).collect::<Vec<_>>();
    let written = json!({
        "width": width, "centres": centres, "alpha": &*sum.alpha, "background": numbers(&known), "rows": numbers(&rows), "told": told,
    });
    fs::write(&path, written.to_string()).with_context(|| path.display().to_string())
}
