//! Settings that `mercer tune` finds, beside the best of many random points of the same box and
//! learner.
//!
//! Data are scaled by their ranges, 10,000 rows at most, and learnt in blocks of 256 rows
//! as by `mercer eval`. A ratio above 1 says that a random point was better.
//!
//! `cargo run --release -p mercer-benches --bin tune -- FOLDER [POINTS [THREADS [SETTING…]]]`,
//! where FOLDER holds NAME.csv.gz and a SETTING such as `krls:max_dictionary=200` fixes a key

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use mercer::catalogue::{Context, Entry, Settings, find};
use mercer::readers::{Dataset, Ranges, ReadOptions, Scaling, Scheme, read_all};
use mercer::tune::{Plan, Space, in_parallel, search};
use mercer::{AnyKernel, Gaussian, RegressorExt, Rows, Targets, median_width};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SETS: [&str; 4] = ["elevators", "bank", "cpusmall", "calhousing"];
const LEARNERS: [&str; 3] = ["fogd", "krls", "nons-ald"];
const ROWS: usize = 10_000;
const BLOCK: usize = 256;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context("give the folder of the data sets")?;
    let points: usize = arguments.next().map_or(Ok(500), |points| points.parse())?;
    let threads: usize = arguments.next().map_or(Ok(2), |threads| threads.parse())?;
    let fixed: Vec<String> = arguments.collect();
    println!(
        "{:<12} {:<10} {:>12} {:>12} {:>12} {:>7} {:>7} {:>8} {:>8}",
        "set", "learner", "tune", "best random", "median", "ratio", "passes", "tune s", "random s"
    );
    for learner in LEARNERS {
        for set in SETS {
            let mut table = read_all(Path::new(&folder).join(format!("{set}.csv.gz")), &ReadOptions::default())?;
            Scaling::new(Ranges::from_table(&table), Scheme::PAPER01).apply(&mut table)?;
            table.truncate(ROWS);
            let own = fixed.iter().filter_map(|setting| setting.strip_prefix(learner)?.strip_prefix(':'));
            run(find(learner)?, set, &table, (points, threads), &own.collect::<Vec<_>>())?;
        }
    }
    Ok(())
}

fn run(
    entry: &'static Entry,
    set: &str,
    table: &Dataset,
    (points, threads): (usize, usize),
    fixed: &[&str],
) -> Result<()> {
    let width = median_width(table.dimension(), &table.features()[..BLOCK * table.dimension()]);
    let space = Space::for_entry(entry, Some(width));
    let score = |values: &[f64], rows: usize| score(entry, &space, table, fixed, values, rows);
    let plan = Plan::new(table.len()).in_blocks(BLOCK).threads(threads);
    let begun = Instant::now();
    let found = search(&space, &plan, score)?;
    let tuning = begun.elapsed();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut draw = || space.random(|| rng.random());
    let drawn: Vec<Vec<f64>> = (0..points).map(|_| draw()).collect();
    let begun = Instant::now();
    let mut scores = in_parallel(threads, points, |i| score(&drawn[i], table.len()).unwrap_or(f64::INFINITY));
    scores.sort_by(f64::total_cmp);
    let (tuned, best) = (found.best().score, scores[0]);
    println!(
        "{set:<12} {:<10} {tuned:>12.6e} {best:>12.6e} {:>12.6e} {:>7.4} {:>7} {:>8.1} {:>8.1}   {}",
        entry.name,
        scores[points / 2],
        tuned / best,
        found.passes(),
        tuning.as_secs_f64(),
        begun.elapsed().as_secs_f64(),
        found.best().values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    );
    Ok(())
}

/// The mean squared error over a prefix.
fn score(
    entry: &'static Entry,
    space: &Space,
    table: &Dataset,
    fixed: &[&str],
    values: &[f64],
    rows: usize,
) -> Result<f64> {
    let d = table.dimension();
    let kernel = AnyKernel::Gaussian(Gaussian::new(space.width(values).context("a width")?)?);
    let pairs = space.pairs(values);
    let settings = Settings::new(entry, pairs.iter().map(String::as_str).chain(fixed.iter().copied()))?;
    let context = Context { dimension: d, ..Context::default() };
    let mut learner = settings.build(kernel, &context)?.learner;
    let (mut predictions, mut loss) = (Vec::new(), 0.0);
    for first in (0..rows).step_by(BLOCK) {
        let last = rows.min(first + BLOCK);
        let targets = &table.targets()[first..last];
        predictions.clear();
        learner.learn_rows(
            Rows::new(&table.features()[first * d..last * d], d, Targets::new(targets, &[], 1)?)?,
            &mut predictions,
        )?;
        loss += predictions.iter().zip(targets).map(|(made, target)| (made - target).powi(2)).sum::<f64>();
    }
    Ok(loss / rows as f64)
}
