//! Losses of one pass over shards: dictionaries of each shard, whose sums are moved onto the joint
//! points, beside one pass over all rows.
//!
//! Features are scaled by mean and deviation of the whole set. The kernel is the Gaussian with
//! twice the median distance of the first rows, and a point joins a dictionary whose squared
//! distance to the span of the others is above the threshold; what a row has outside of the span of
//! its shard's points is lost, so the shards' own dictionaries have a smaller threshold than the
//! joint one. The first nine tenths of the rows are learnt, whole or in contiguous shards, and the
//! squared error is that on the last tenth, with the ridge that generalised cross-validation finds
//! for the whole. The sets are cod_rna, casp, the bundled diamonds and rows drawn at random; those
//! whose files are not found are left out.
//!
//! `cargo run --release -p mercer-benches --bin shards -- [--rows N] [--threshold ALPHA]`

use anyhow::{Context, Result};
use clap::Parser;
use mercer_datasets::Registry;
use mercer_kernels::{Gaussian, Points, median_width};
use mercer_learners::update::Ridge;
use mercer_learners::{FixedMap, RegressorExt, RidgeMoments, Rows, Targets};
use mercer_readers::Dataset;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Shards that the rows are cut into.
const SHARDS: [usize; 2] = [7, 64];
/// First rows that tell the width.
const FIRST_ROWS: usize = 256;

type Map = FixedMap<Gaussian>;

/// Losses of one pass over shards.
#[derive(Parser)]
struct Arguments {
    /// Rows drawn at random
    #[arg(long, default_value_t = 1_000_000)]
    rows: usize,
    /// Threshold of the dictionaries
    #[arg(long, default_value_t = 1e-4)]
    threshold: f64,
    /// Factor by which the threshold of the shards' own dictionaries is smaller
    #[arg(long, default_value_t = 10.0)]
    finer: f64,
}

/// Scaled rows and targets.
struct ShardTable {
    dimension: usize,
    rows: Vec<f64>,
    targets: Vec<f64>,
}

impl ShardTable {
    fn len(&self) -> usize {
        self.targets.len()
    }

    fn points(&self, range: std::ops::Range<usize>) -> Points {
        Points::from_rows(self.dimension, &self.rows[range.start * self.dimension..range.end * self.dimension])
    }

    fn sums(&self, map: &Map, range: std::ops::Range<usize>) -> Result<RidgeMoments<Map>> {
        let mut sums = RidgeMoments::new(map.clone(), 0.0)?;
        let rows = &self.rows[range.start * self.dimension..range.end * self.dimension];
        sums.add_rows(Rows::new(rows, self.dimension, Targets::numbers(&self.targets[range]))?)?;
        Ok(sums)
    }

    /// Mean squared error on these rows.
    fn loss(&self, sums: &RidgeMoments<Map>, lambda: f64, range: std::ops::Range<usize>) -> Result<f64> {
        let (fit, count) = (sums.fit::<Ridge>(lambda)?, range.len() as f64);
        let squared = range.map(|row| {
            let x = &self.rows[row * self.dimension..(row + 1) * self.dimension];
            Ok((fit.predict(x)? - self.targets[row]).powi(2))
        });
        Ok(squared.sum::<Result<f64>>()? / count)
    }
}

fn scaled(set: &Dataset) -> ShardTable {
    let (d, n) = (set.dimension(), set.len() as f64);
    let column = |j: usize| (0..set.len()).map(move |row| set.row(row)[j]);
    let scales: Vec<(f64, f64)> = (0..d)
        .map(|j| {
            let mean = column(j).sum::<f64>() / n;
            let deviation = (column(j).map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
            (mean, if deviation > 0.0 { deviation } else { 1.0 })
        })
        .collect();
    let rows = (0..set.len()).flat_map(|row| set.row(row).iter().zip(&scales).map(|(x, (mean, dev))| (x - mean) / dev));
    ShardTable { dimension: d, rows: rows.collect(), targets: set.targets().to_vec() }
}

/// `sin(x₁ + 2x₂) + x₃²` with noise, uniform on a cube.
fn drawn(rows: usize) -> ShardTable {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut uniform = || rng.random_range(-1.0..1.0);
    let (mut all, mut targets) = (Vec::with_capacity(3 * rows), Vec::with_capacity(rows));
    for _ in 0..rows {
        let x: [f64; 3] = std::array::from_fn(|_| uniform());
        targets.push((x[0] + 2.0 * x[1]).sin() + x[2] * x[2] + 0.3 * uniform());
        all.extend_from_slice(&x);
    }
    ShardTable { dimension: 3, rows: all, targets }
}

fn dictionary(map: &Map) -> Option<&Points> {
    match map {
        FixedMap::Nystrom(basis) => Some(basis.points()),
        _ => None,
    }
}

fn report(name: &str, table: &ShardTable, threshold: f64, finer: f64) -> Result<()> {
    let learnt = table.len() / 10 * 9;
    let width = 2.0 * median_width(table.dimension, &table.rows[..FIRST_ROWS.min(learnt) * table.dimension]);
    let kernel = Gaussian::new(width)?;
    let whole = FixedMap::joined(kernel, &[&table.points(0..learnt)], threshold)?;
    let sums = table.sums(&whole, 0..learnt)?;
    let path = sums.path()?;
    let lambda = path.best(&path.grid())?.lambda;
    let single = table.loss(&sums, lambda, learnt..table.len())?;
    let points = dictionary(&whole).map_or(0, Points::len);
    println!("{name}: {learnt} rows, {points} points, squared error {single:.5} in one pass over all rows");
    for count in SHARDS {
        let cut = |shard: usize| learnt * shard / count;
        let ranges = (0..count).map(|shard| cut(shard)..cut(shard + 1));
        let apart: Vec<Map> = ranges
            .clone()
            .map(|range| FixedMap::joined(kernel, &[&table.points(range)], threshold / finer))
            .collect::<Result<_, _>>()?;
        let kept: Vec<&Points> = apart.iter().filter_map(dictionary).collect();
        let joint = FixedMap::joined(kernel, &kept, threshold)?;
        let mut merged = RidgeMoments::new(joint.clone(), 0.0)?;
        for (range, map) in ranges.zip(&apart) {
            merged.merge(&table.sums(map, range)?.projected(&joint)?.0)?;
        }
        let loss = table.loss(&merged, lambda, learnt..table.len())?;
        let points = dictionary(&joint).map_or(0, Points::len);
        let own = kept.iter().map(|points| points.len()).max().unwrap_or(0);
        println!(
            "  {count} shards of at most {own} points: {points} joint points, {loss:.5}, {:+.2} %",
            100.0 * (loss / single - 1.0)
        );
    }
    Ok(())
}

fn main() -> Result<()> {
    let Arguments { rows, threshold, finer } = Arguments::parse();
    let registry = Registry::load().context("the registry of data sets")?;
    for name in ["cod_rna", "casp", "diamonds"] {
        match registry.open(name) {
            Ok(set) => report(name, &scaled(&set.permuted(1)), threshold, finer)?,
            Err(error) => println!("{name}: left out ({error})"),
        }
    }
    report("drawn", &drawn(rows), threshold, finer)
}
