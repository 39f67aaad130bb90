//! The operator learner: a whole step at a settled dictionary, its pass over `A` alone, the step by
//! the Gram formulas of the paper's appendix, and the evaluation of eigenfunctions on a grid.
//!
//! The dictionary is filled with `m` pairs of anchors; what follows is within the rank guard of it,
//! so that it stays.

use std::hint::black_box;

use anyhow::{Result, ensure};
use mercer_kernels::{Gaussian, Points};
use mercer_koopman::{KernelOperator, OperatorLearner, Sogd};
use mercer_linalg_incremental::{AlignedVec, Matrix, StateMatrix};

use super::{row_arithmetic, table_read, triangle_read};
use crate::peer::{self, STATES};
use crate::stream::AnchorStream;
use crate::{DIMENSION, Operation, Workload};

/// Above this the Gram formulas take minutes a step.
const LARGEST_BY_GRAM: usize = 1000;
/// Points of a heat map: 61 × 61.
const GRID: usize = 61;
/// Eigenfunctions on it.
const FUNCTIONS: usize = 4;
const SEED: u64 = 7;

/// Everything of the operator learner, at every size.
///
/// # Errors
/// When a dictionary does not reach its size.
pub fn operator(sizes: &[usize]) -> Result<Vec<Operation>> {
    let mut operations: Vec<Operation> = sizes.iter().map(|&m| state_pass(m)).collect();
    for &m in sizes {
        let settled = settled(m)?;
        operations.push(step(m, settled.clone(), 1));
        operations.push(step(m, settled, 4));
    }
    operations.extend(sizes.iter().filter(|&&m| m <= LARGEST_BY_GRAM).map(|&m| gram_step(m)));
    for &m in sizes {
        operations.push(heat_map(m)?);
    }
    Ok(operations)
}

/// A full `m × m` matrix, read and written back; the arithmetic of a product and a rank-one term.
fn square_updated(m: usize) -> Workload {
    Workload { read: 0, updated: 16 * m * m, arithmetic: 2 * m * m }
}

fn state_pass(m: usize) -> Operation {
    let mut matrix = StateMatrix::from_fn(m, m, |i, j| ((i * 31 + j * 17) % 13) as f64);
    let vectors: Vec<AlignedVec> =
        (0..16).map(|t| (0..m).map(|i| ((i * (t + 1)) as f64 * 0.7).sin()).collect()).collect();
    // What is added is as small as what decays, so that the numbers keep their size.
    let added: AlignedVec = vectors[0].iter().map(|value| 1e-3 * value).collect();
    let (mut y, mut t) = (AlignedVec::zeros(m), 0);
    Operation::steady("state_pass", m, square_updated(m), move || {
        t = (t + 1) % vectors.len();
        matrix.multiply(black_box(&vectors[t]), &mut y);
        matrix.decay_and_add(0.999, &added, &vectors[t]);
    })
}

/// A learner at `m` pairs, and rows of inputs and outputs that leave it there. Filling takes
/// `O(m³)`: minutes at 6,000.
#[derive(Clone)]
struct FilledOperator {
    learner: Sogd<Gaussian>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

fn settled(m: usize) -> Result<FilledOperator> {
    let stream = AnchorStream::new(m, SEED);
    let mut learner = peer::operator(&stream)?;
    let inputs: Vec<f64> = stream.examples.iter().flat_map(|(x, _)| *x).collect();
    let outputs: Vec<f64> = stream.examples.iter().skip(1).chain(&stream.examples[..1]).flat_map(|(x, _)| *x).collect();
    let (some, mut steps) = (inputs.len().min(200 * DIMENSION), Vec::new());
    learner.learn_block(&inputs[..some], &outputs[..some], &mut steps)?;
    let reached = learner.operator().inputs().len();
    ensure!(reached == m, "the operator learner stands at {reached} instead of {m} points");
    Ok(FilledOperator { learner, inputs, outputs })
}

/// A settled step, one by one or in blocks of `together`: two kernel rows, two solves and a pass.
fn step(m: usize, settled: FilledOperator, together: usize) -> Operation {
    let FilledOperator { mut learner, inputs, outputs } = settled;
    let (mut steps, block) = (Vec::with_capacity(together), together * DIMENSION);
    let work = triangle_read(m) + triangle_read(m) + row_arithmetic(m, DIMENSION) + row_arithmetic(m, DIMENSION);
    let work = work + table_read(m, 2 * DIMENSION) + square_updated(m);
    let mut position = 0;
    let run = move || {
        let range = position..position + block;
        position = if range.end + block > inputs.len() { 0 } else { range.end };
        let learnt = learner.learn_block(&inputs[range.clone()], &outputs[range], &mut steps);
        assert!(learnt.is_ok(), "a step on the bench stream was refused");
        steps.clear();
    };
    if together == 1 {
        Operation::steady("sogd_step", m, work, run)
    } else {
        let work = (1..together).fold(work, |sum, _| sum + work);
        Operation::steady(format!("sogd_{together}_steps"), m, work, run)
    }
}

/// The test and the projection of one round as the appendix prints them, with the inverses of the
/// Gram matrices given: `ℓ(Z⋆) = Tr[W̃ᵀ(G̃_Y − Ḡ_Y G_Y⁻¹ Ḡ_Yᵀ) W̃ G̃_X]` and
/// `Z⋆ = G_Y⁻¹ Ḡ_Yᵀ W̃ Ḡ_X G_X⁻¹`, by matrix products at the speed of the machine.
fn gram_step(m: usize) -> Operation {
    let wave = |rows, columns, f: f64| Matrix::from_fn(rows, columns, move |i, j| ((i * 7 + j * 3) as f64 * f).sin());
    let (weights, gram_x, gram_y) = (wave(m + 1, m + 1, 0.1), wave(m + 1, m + 1, 0.2), wave(m + 1, m + 1, 0.3));
    let (bar_x, bar_y, inverse_x, inverse_y) =
        (wave(m + 1, m, 0.4), wave(m + 1, m, 0.5), wave(m, m, 0.6), wave(m, m, 0.7));
    // Seven products of m × m matrices.
    let work = Workload { read: 8 * 7 * m * m, updated: 16 * 7 * m * m, arithmetic: 7 * m * m * m };
    Operation::steady("gram_formulas", m, work, move || {
        let left = inverse_y.times_transposed(black_box(&bar_y));
        let projected = bar_y.times(&left);
        let rest = Matrix::from_fn(m + 1, m + 1, |i, j| gram_y.entry(i, j) - projected.entry(i, j));
        let seen = rest.times(&weights).times(&gram_x);
        let error: f64 = seen.values().iter().zip(weights.values()).map(|(a, b)| a * b).sum();
        black_box((error, left.times(&weights).times(&bar_x).times(&inverse_x)));
    })
}

/// The values of four functions on a 61 × 61 grid of the plane.
fn heat_map(m: usize) -> Result<Operation> {
    let kernel = Gaussian::new(STATES)?;
    let wave = |count: usize, f: f64| (0..count).map(|i| (i as f64 * f).sin()).collect::<Vec<_>>();
    let points = Points::from_rows(2, &wave(2 * m, 0.37));
    let diagonal: Vec<f64> = (0..m * m).map(|k| if k / m == k % m { 1.0 } else { 0.0 }).collect();
    let operator = KernelOperator::from_weights(kernel, points.clone(), kernel, points, &diagonal)?;
    let functions: Vec<Vec<f64>> = (0..FUNCTIONS).map(|f| wave(m, 0.1 + f as f64)).collect();
    let grid: Vec<f64> =
        (0..GRID * GRID).flat_map(|k| [(k / GRID) as f64 / 30.0 - 1.0, (k % GRID) as f64 / 30.0 - 1.0]).collect();
    let grid = Points::from_rows(2, &grid);
    let row = row_arithmetic(m, 2)
        + table_read(m, 2 + FUNCTIONS)
        + Workload { arithmetic: FUNCTIONS * m, ..Workload::default() };
    let points = GRID * GRID;
    // The dictionary stays in the cache; each value is written once.
    let work = Workload { read: row.read, updated: 16 * FUNCTIONS * points, arithmetic: row.arithmetic * points };
    Ok(Operation::steady("heat_map", m, work, move || {
        let functions: Vec<&[f64]> = functions.iter().map(Vec::as_slice).collect();
        assert!(black_box(operator.evaluate_all(&functions, &grid)).is_ok());
    }))
}
