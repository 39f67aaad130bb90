//! Whole blocks and single rounds of recursive least squares beside a general library's matrix
//! product and the machine's roofs, and every learner's `learn_block` beside its own loop.
//!
//! A round on `r` coordinates is counted as `4r²` floating-point operations, whatever it takes:
//! twice a product of the matrix with a vector, the customary count of a step that multiplies and
//! updates. `mm` is faer's product of two matrices of order 512 on one thread. The memory roof is
//! the time of reading a triangle of order `r` once a round, which no single round can do without
//! (`read`), and of reading it and writing it back (`write back`), which the covariance form does
//! in every eighth round only, so that its share can pass 100 %. Everything is measured again and
//! again in turn; the fastest of each counts.
//!
//! `blocks` prints the tables; `blocks --rows 5000000` instead learns a stream of that many rows of
//! 18 inputs with PKAWV on Taylor features of degree 2 (`r = 190`), features included, on one
//! thread and on two.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Parser;
use faer::{Accum, Mat, Par, linalg::matmul::matmul};
use mercer_benches::stream::{ALD_THRESHOLD, AnchorExample, AnchorStream, WIDTH};
use mercer_benches::{DIMENSION, Roofs, Workload, timing::smallest};
use mercer_kernels::{AlignedVec, Gaussian};
use mercer_learners::update::{Awv, GrowingUpdate, LeastSquares, LinearUpdate};
use mercer_learners::{
    AogdAld, AogdAldParams, Fogd, FogdParams, KernelAwv, KernelRidgeParams, Krls, KrlsParams, NonsAld, NonsAldParams,
    PkawvTaylor, Regressor, RegressorExt, Target, Targets, TaylorParams,
};
use mercer_linalg_incremental::{SquareRootRls, SquareRootScratch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rounds of a batch, and of a block given to a learner.
const ROUNDS: usize = 64;
/// Time of one figure in one visit.
const BUDGET: Duration = Duration::from_millis(100);
/// Visits to every figure. Its time is spread over the run, because other programs of the host may
/// burden it for a while.
const VISITS: usize = 12;
/// Coordinates at which the forms are measured.
const ORDERS: [usize; 4] = [190, 500, 715, 2300];

#[derive(Debug, Parser)]
#[command(about = "Blocks and single rounds beside a matrix product and the machine's roofs")]
struct Arguments {
    /// Learn a stream of this many rows of 18 inputs instead
    #[arg(long)]
    rows: Option<usize>,
}

fn main() -> Result<()> {
    match Arguments::parse().rows {
        Some(rows) => long_stream(rows),
        None => tables(),
    }
}

/// Something measured: `run` gives the seconds of a round.
struct BlockFigure {
    run: Box<dyn FnMut() -> f64>,
    seconds: f64,
}

impl BlockFigure {
    fn new(run: Box<dyn FnMut() -> f64>) -> Self {
        Self { run, seconds: f64::INFINITY }
    }

    fn visit(&mut self) {
        self.seconds = self.seconds.min(smallest(BUDGET, &mut self.run));
    }
}

fn tables() -> Result<()> {
    let mut forms = Vec::new();
    for r in ORDERS {
        forms.push((r, "AWV, one by one", BlockFigure::new(single(r)?)));
        forms.push((r, "AWV, in blocks", BlockFigure::new(blocked(r)?)));
        forms.push((r, "square-root form, one by one", BlockFigure::new(square_root(r))));
    }
    let mut learners = learners()?;
    let mut roofs = Roofs::new(BUDGET / 10);
    let mut product = f64::INFINITY;
    for _ in 0..VISITS {
        product = product.min(faer_product());
        forms.iter_mut().for_each(|(_, _, figure)| figure.visit());
        for (_, alone, together) in &mut learners {
            alone.visit();
            together.visit();
        }
        for r in ORDERS {
            roofs.at(4 * r * r);
        }
        roofs.measure_again();
    }
    let rate = 2.0 * 512f64.powi(3) / product / 1e9;
    println!("mm: {rate:.1} GFLOP/s\n");
    println!(
        "| r | round | µs | GFLOP/s (4r²) | of mm | of roof: read | write back | arithmetic |\n|---:|---|---:|---:|---:|---:|---:|---:|"
    );
    for (r, name, BlockFigure { seconds, .. }) in &forms {
        let triangle = 4 * r * r;
        let gflops = triangle as f64 / seconds / 1e9;
        let (read, _) = roofs.seconds(Workload { read: triangle, ..Workload::default() });
        let (updated, arithmetic) =
            roofs.seconds(Workload { updated: 2 * triangle, arithmetic: 3 * r * r / 2, ..Workload::default() });
        let [read, updated, arithmetic] = [read, updated, arithmetic].map(|roof| 100.0 * roof / seconds);
        print!("| {r} | {name} | {:.2} | {gflops:.1} | {:.0} % ", seconds * 1e6, 100.0 * gflops / rate);
        println!("| {read:.0} % | {updated:.0} % | {arithmetic:.0} % |");
    }
    println!("\n| learner | one by one, µs | learn_block, µs | ratio |\n|---|---:|---:|---:|");
    for (name, alone, together) in &learners {
        let (alone, together) = (alone.seconds * 1e6, together.seconds * 1e6);
        println!("| {name} | {alone:.2} | {together:.2} | {:.2} |", alone / together);
    }
    Ok(())
}

/// Learners one by one and in blocks, on settled dictionaries of `J` points and fixed features;
/// Kernel-AWV, which keeps every point, around its `J`th.
fn learners() -> Result<Vec<(String, BlockFigure, BlockFigure)>> {
    let mut pairs = Vec::new();
    let mut add =
        |name: String, alone, together| pairs.push((name, BlockFigure::new(alone), BlockFigure::new(together)));
    for j in [50, 100, 150, 400] {
        let stream = AnchorStream::new(j, 1);
        let kernel = Gaussian::new(WIDTH)?;
        let most = Some(j);
        let params = KrlsParams::default().nu(ALD_THRESHOLD).lambda(0.0).max_dictionary(most);
        let (alone, together) = runs(Krls::new(kernel, DIMENSION, params)?, &stream, false)?;
        add(format!("KRLS, J = {j}"), alone, together);
        let params = NonsAldParams::default().alpha(ALD_THRESHOLD).max_dictionary(most);
        let (alone, together) = runs(NonsAld::new(kernel, DIMENSION, params)?, &stream, false)?;
        add(format!("NONS-ALD, J = {j}"), alone, together);
        let params = AogdAldParams::default().alpha(ALD_THRESHOLD);
        let (alone, together) = runs(AogdAld::new(kernel, DIMENSION, params)?, &stream, false)?;
        add(format!("AOGD-ALD, J = {j}"), alone, together);
        let (alone, together) = runs(KernelAwv::new(kernel, DIMENSION, KernelRidgeParams::default())?, &stream, true)?;
        add(format!("Kernel-AWV, round {j}"), alone, together);
    }
    for features in [100, 1000] {
        let params = FogdParams::default().sigma(WIDTH).features(features);
        let (alone, together) = runs(Fogd::new(DIMENSION, params)?, &AnchorStream::new(features, 1), false)?;
        add(format!("FOGD, D = {features}"), alone, together);
    }
    for degree in [2, 3] {
        let params = TaylorParams::default().sigma(4.0).degree(degree);
        let learner = PkawvTaylor::new(DIMENSION, params)?;
        let name = format!("PKAWV, M = {degree}, r = {}", learner.dictionary_size());
        let (alone, together) = runs(learner, &AnchorStream::new(100, 1), false)?;
        add(name, alone, together);
    }
    Ok(pairs)
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

fn single(r: usize) -> Result<Box<dyn FnMut() -> f64>> {
    let mut update: LeastSquares<Awv> = LeastSquares::new(1.0, 1.0)?;
    update.restart(r)?;
    let (mut phis, ys) = (vectors(r), targets());
    Ok(timed(move || {
        for (phi, y) in phis.iter_mut().zip(&ys) {
            black_box(update.step(phi, None, Target::new(&[*y]), &mut [0.0]).is_ok());
        }
    }))
}

fn blocked(r: usize) -> Result<Box<dyn FnMut() -> f64>> {
    let mut update: LeastSquares<Awv> = LeastSquares::new(1.0, 1.0)?;
    update.restart(r)?;
    let (mut phis, ys, mut predictions) = (vectors(r), targets(), Vec::new());
    Ok(timed(move || {
        predictions.clear();
        let size = update.block_size();
        for (phis, ys) in phis.chunks_mut(size).zip(ys.chunks(size)) {
            black_box(update.learn_block(phis, Targets::numbers(ys), &mut predictions).is_ok());
        }
    }))
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

type BlockRuns = (Box<dyn FnMut() -> f64>, Box<dyn FnMut() -> f64>);

/// A learner that has seen the anchors, over the examples: one by one, and as a block; `anew`
/// always from that state, for learners that keep every point.
fn runs(mut learner: impl Regressor + Clone + 'static, stream: &AnchorStream, anew: bool) -> Result<BlockRuns> {
    for (x, y) in &stream.anchors {
        learner.update(x, *y)?;
    }
    let examples = &stream.examples[..ROUNDS];
    let (mut alone, mut together) = (Rounds::new(examples), Rounds::new(examples));
    let mut other = learner.clone();
    Ok((
        Box::new(move || if anew { alone.one_by_one(&mut learner.clone()) } else { alone.one_by_one(&mut learner) }),
        Box::new(move || if anew { together.in_a_block(&mut other.clone()) } else { together.in_a_block(&mut other) }),
    ))
}

/// Examples to learn, whose targets turn their sign each time so that no gradient vanishes.
struct Rounds {
    xs: Vec<f64>,
    ys: Vec<f64>,
    predictions: Vec<f64>,
}

impl Rounds {
    fn new(examples: &[AnchorExample]) -> Self {
        Self {
            xs: examples.iter().flat_map(|(x, _)| *x).collect(),
            ys: examples.iter().map(|(_, y)| *y).collect(),
            predictions: Vec::with_capacity(ROUNDS),
        }
    }

    /// Seconds of a round.
    fn one_by_one(&mut self, learner: &mut impl Regressor) -> f64 {
        self.ys.iter_mut().for_each(|y| *y = -*y);
        let clock = Instant::now();
        for (x, y) in self.xs.chunks_exact(DIMENSION).zip(&self.ys) {
            assert!(black_box(learner.predict_then_update(x, *y)).is_ok());
        }
        clock.elapsed().as_secs_f64() / ROUNDS as f64
    }

    fn in_a_block(&mut self, learner: &mut impl Regressor) -> f64 {
        self.ys.iter_mut().for_each(|y| *y = -*y);
        self.predictions.clear();
        let clock = Instant::now();
        assert!(learner.learn_block(&self.xs, &self.ys, &mut self.predictions).is_ok());
        clock.elapsed().as_secs_f64() / ROUNDS as f64
    }
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
    let params = TaylorParams::default().sigma(4.0).degree(2);
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
