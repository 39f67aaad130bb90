//! Whole blocks and single rounds of recursive least squares beside a general library's matrix product.
//!
//! A round on `r` coordinates is counted as `4r²` floating-point operations, whatever it takes: twice a product of the matrix
//! with a vector, the customary count of a step that multiplies and updates. `mm` is faer's product of two matrices of order
//! 512 on one thread. Everything is measured again and again in turn; the fastest of each counts.
//!
//! `blocks` prints the table; `blocks --rows 5000000` instead learns a stream of that many rows of 18 inputs with
//! PKAWV on Taylor features of degree 2 (`r = 190`), features included, on one thread and on two.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Parser;
use faer::{Accum, Mat, Par, linalg::matmul::matmul};
use mercer_benches::stream::{ALD_THRESHOLD, Example, Stream, WIDTH};
use mercer_benches::{DIMENSION, timing::smallest};
use mercer_kernels::{AlignedVec, Gaussian};
use mercer_learners::update::{Awv, LeastSquares, LinearUpdate};
use mercer_learners::{Krls, KrlsParams, NonsAld, NonsAldParams, PkawvTaylor, Regressor, TaylorParams};
use mercer_linalg_incremental::{SquareRootRls, SquareRootScratch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rounds of a batch, and of a block given to a learner.
const ROUNDS: usize = 64;
/// How long one figure may take in one visit.
const BUDGET: Duration = Duration::from_millis(300);
/// How often every figure is visited.
const VISITS: usize = 4;

#[derive(Debug, Parser)]
#[command(about = "Blocks and single rounds beside a matrix product")]
struct Arguments {
    /// Learn a stream of this many rows of 18 inputs instead
    #[arg(long)]
    rows: Option<usize>,
}

fn main() -> Result<()> {
    match Arguments::parse().rows {
        Some(rows) => long_stream(rows),
        None => table(),
    }
}

/// One thing measured: seconds of a round.
struct Figure {
    name: String,
    /// `4r²`, where it is compared with the product.
    operations: f64,
    seconds: f64,
    run: Box<dyn FnMut() -> f64>,
}

fn table() -> Result<()> {
    let mut figures = Vec::new();
    for r in [190, 500, 715, 2300] {
        let operations = 4.0 * (r * r) as f64;
        let mut add = |form: &str, run| {
            figures.push(Figure { name: format!("r = {r:4} {form}"), operations, seconds: f64::INFINITY, run });
        };
        add("AWV, one by one", single(r));
        add("AWV, in blocks", blocked(r));
        add("square-root form, one by one", square_root(r));
    }
    for size in [50, 100, 150, 400] {
        let operations = 4.0 * (size * size) as f64;
        let stream = Stream::new(size, 1);
        let params = KrlsParams { nu: ALD_THRESHOLD, max_dictionary: Some(size), ..KrlsParams::default() };
        let krls = Krls::new(Gaussian::new(WIDTH)?, DIMENSION, params)?;
        let params = NonsAldParams { alpha: ALD_THRESHOLD, max_dictionary: Some(size), ..NonsAldParams::default() };
        let nons = NonsAld::new(Gaussian::new(WIDTH)?, DIMENSION, params)?;
        let mut add = |name: &str, run: Result<Box<dyn FnMut() -> f64>>| {
            let name = format!("J = {size:4} {name}");
            run.map(|run| figures.push(Figure { name, operations, seconds: f64::INFINITY, run }))
        };
        add("KRLS, one by one", rounds(krls.clone(), &stream, false))?;
        add("KRLS, learn_block", rounds(krls, &stream, true))?;
        add("NONS-ALD, one by one", rounds(nons.clone(), &stream, false))?;
        add("NONS-ALD, learn_block", rounds(nons, &stream, true))?;
    }
    let mut product = f64::INFINITY;
    for _ in 0..VISITS {
        product = product.min(faer_product());
        for figure in &mut figures {
            figure.seconds = figure.seconds.min(smallest(BUDGET, &mut figure.run));
        }
    }
    let rate = 2.0 * 512f64.powi(3) / product / 1e9;
    println!("mm: {rate:.1} GFLOP/s\n");
    println!("| round | µs | GFLOP/s (4r²) | of mm |\n|---|---:|---:|---:|");
    for Figure { name, operations, seconds, .. } in &figures {
        let gflops = operations / seconds / 1e9;
        println!("| {name} | {:.2} | {gflops:.1} | {:.0} % |", seconds * 1e6, 100.0 * gflops / rate);
    }
    Ok(())
}

fn vectors(r: usize) -> Vec<AlignedVec> {
    let mut rng = ChaCha8Rng::seed_from_u64(r as u64);
    let scale = 1.0 / (r as f64).sqrt();
    (0..ROUNDS).map(|_| (0..r).map(|_| rng.random_range(-scale..scale)).collect()).collect()
}

fn targets() -> Vec<f64> {
    (0..ROUNDS).map(|t| (t as f64).sin()).collect()
}

fn timed(mut run: impl FnMut() + 'static) -> Box<dyn FnMut() -> f64> {
    Box::new(move || {
        let clock = Instant::now();
        run();
        clock.elapsed().as_secs_f64() / ROUNDS as f64
    })
}

fn single(r: usize) -> Box<dyn FnMut() -> f64> {
    let mut update: LeastSquares<Awv> = LeastSquares::new(1.0, 1.0);
    update.restart(r);
    let (mut phis, ys) = (vectors(r), targets());
    timed(move || {
        for (phi, y) in phis.iter_mut().zip(&ys) {
            black_box(update.step(phi, None, *y).is_ok());
        }
    })
}

fn blocked(r: usize) -> Box<dyn FnMut() -> f64> {
    let mut update: LeastSquares<Awv> = LeastSquares::new(1.0, 1.0);
    update.restart(r);
    let (mut phis, ys, mut predictions) = (vectors(r), targets(), Vec::new());
    timed(move || {
        predictions.clear();
        let size = update.block_size();
        for (phis, ys) in phis.chunks_mut(size).zip(ys.chunks(size)) {
            black_box(update.learn_block(phis, ys, &mut predictions).is_ok());
        }
    })
}

fn square_root(r: usize) -> Box<dyn FnMut() -> f64> {
    let mut factor = SquareRootRls::new(&vec![1.0; r], 1);
    let (phis, ys, mut scratch) = (vectors(r), targets(), SquareRootScratch::default());
    timed(move || {
        for (phi, y) in phis.iter().zip(&ys) {
            let mut prediction = [0.0];
            black_box(factor.predict_then_update(phi, &[*y], r, &mut prediction, &mut scratch).is_ok());
        }
    })
}

/// A learner whose dictionary holds the anchors, over the examples.
fn rounds(mut learner: impl Regressor + 'static, stream: &Stream, blocks: bool) -> Result<Box<dyn FnMut() -> f64>> {
    for (x, y) in &stream.anchors {
        learner.update(x, *y)?;
    }
    let examples: Vec<Example> = stream.examples[..ROUNDS].to_vec();
    let xs: Vec<f64> = examples.iter().flat_map(|(x, _)| *x).collect();
    let mut ys: Vec<f64> = examples.iter().map(|(_, y)| *y).collect();
    let mut predictions = Vec::with_capacity(ROUNDS);
    Ok(timed(move || {
        // Targets turn their sign, so that no gradient vanishes.
        ys.iter_mut().for_each(|y| *y = -*y);
        if blocks {
            predictions.clear();
            black_box(learner.learn_block(&xs, &ys, &mut predictions).is_ok());
        } else {
            for (x, y) in xs.chunks_exact(DIMENSION).zip(&ys) {
                black_box(learner.predict_then_update(x, *y).is_ok());
            }
        }
    }))
}

/// Seconds of faer's product of two matrices of order 512.
fn faer_product() -> f64 {
    let a = Mat::<f64>::from_fn(512, 512, |i, j| ((i * 7 + j * 3) % 13) as f64);
    let b = Mat::<f64>::from_fn(512, 512, |i, j| ((i * 5 + j) % 17) as f64);
    let mut c = Mat::<f64>::zeros(512, 512);
    smallest(BUDGET, || {
        let clock = Instant::now();
        matmul(c.as_mut(), Accum::Replace, a.as_ref(), b.as_ref(), 1.0, Par::Seq);
        clock.elapsed().as_secs_f64()
    })
}

fn long_stream(rows: usize) -> Result<()> {
    const INPUTS: usize = 18;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let xs: Vec<f64> = (0..rows * INPUTS).map(|_| rng.random_range(-1.0..1.0)).collect();
    let ys: Vec<f64> = xs.chunks(INPUTS).map(|x| (x[0] + x[1] * x[2]).sin() + rng.random_range(-0.3..0.3)).collect();
    let params = TaylorParams { sigma: 4.0, degree: 2, ..TaylorParams::default() };
    let mut one_thread = f64::NAN;
    for threads in [1, 2] {
        let mut learner = PkawvTaylor::new(INPUTS, params.clone())?;
        learner.set_threads(threads);
        let mut predictions = Vec::with_capacity(rows);
        let product = faer_product();
        let clock = Instant::now();
        learner.learn_block(&xs, &ys, &mut predictions)?;
        let seconds = clock.elapsed().as_secs_f64();
        let product = product.min(faer_product());
        let loss = predictions.iter().zip(&ys).map(|(p, y)| (p - y).powi(2)).sum::<f64>() / rows as f64;
        let r = learner.dictionary_size();
        let gflops = 4.0 * (r * r) as f64 * rows as f64 / seconds / 1e9;
        let rate = 2.0 * 512f64.powi(3) / product / 1e9;
        println!("{rows} rows of {INPUTS} inputs, r = {r}, {threads} threads: {seconds:.2} s, mean loss {loss:.6}");
        println!(
            "{gflops:.1} GFLOP/s counted 4r² a row, features included: {:.0} % of mm at {rate:.1}",
            100.0 * gflops / rate
        );
        if threads == 1 {
            one_thread = seconds;
        } else {
            println!("{:.2} times as fast as one thread", one_thread / seconds);
        }
    }
    Ok(())
}
