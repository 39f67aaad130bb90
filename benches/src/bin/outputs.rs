//! Cost of further outputs: KRLS with 200 points and 1 to 10 outputs, one by one and in blocks.
//!
//! All outputs share basis and matrix, so an output costs `4J` multiply-adds of some `2J² + Jd`.
//! The figures are visited in turn; the smallest time of each counts.
//! `cargo run --release -p mercer-benches --bin outputs`

use std::time::{Duration, Instant};

use anyhow::Result;
use mercer_kernels::Gaussian;
use mercer_learners::{Krls, KrlsParams, Regressor, RegressorExt, Rows, Target, Targets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DIMENSION: usize = 10;
const POINTS: usize = 200;
const ROWS: usize = 512;
const OUTPUTS: [usize; 4] = [1, 2, 5, 10];
const VISITS: usize = 60;

/// A learner whose dictionary is full, with rows to learn and the smallest times so far.
struct OutputFigure {
    learner: Krls<Gaussian>,
    targets: Vec<f64>,
    alone: Duration,
    blocks: Duration,
}

fn main() -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let inputs: Vec<f64> = (0..ROWS * DIMENSION).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut figures = Vec::new();
    for outputs in OUTPUTS {
        let params = KrlsParams::default().lambda(0.1).max_dictionary(Some(POINTS)).outputs(outputs);
        let mut learner = Krls::new(Gaussian::new(1.0)?, DIMENSION, params)?;
        let targets: Vec<f64> = (0..ROWS * outputs).map(|_| rng.random_range(-1.0..1.0)).collect();
        learner.learn_rows(Rows::new(&inputs, DIMENSION, Targets::new(&targets, &[], outputs)?)?, &mut Vec::new())?;
        assert_eq!(learner.dictionary_size(), POINTS);
        figures.push(OutputFigure { learner, targets, alone: Duration::MAX, blocks: Duration::MAX });
    }
    let (mut scores, mut made) = (vec![0.0; 10], Vec::new());
    for _ in 0..VISITS {
        for OutputFigure { learner, targets, alone, blocks } in &mut figures {
            let m = learner.outputs();
            let clock = Instant::now();
            for (x, y) in inputs.chunks(DIMENSION).zip(targets.chunks(m)) {
                learner.learn(x, Target::new(y), &mut scores[..m])?;
            }
            *alone = clock.elapsed().min(*alone);
            made.clear();
            let clock = Instant::now();
            learner.learn_rows(Rows::new(&inputs, DIMENSION, Targets::new(targets, &[], m)?)?, &mut made)?;
            *blocks = clock.elapsed().min(*blocks);
        }
    }
    println!("outputs  one by one  times one  in blocks  times one");
    let time = |duration: Duration| duration.as_secs_f64() / ROWS as f64 * 1e6;
    let [alone, blocks] = [time(figures[0].alone), time(figures[0].blocks)];
    for figure in &figures {
        let (m, a, b) = (figure.learner.outputs(), time(figure.alone), time(figure.blocks));
        println!("{m:>7}  {a:>7.2} µs  {:>9.3}  {b:>6.2} µs  {:>9.3}", a / alone, b / blocks);
    }
    Ok(())
}
