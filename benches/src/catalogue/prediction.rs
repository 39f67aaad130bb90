//! Least squares upon lags, a row at a time, with three outputs: the square-root engine, OPF with
//! all that belongs to a step, and what they are to be compared with: a plain Givens loop, the
//! Sherman–Morrison formula, and a dense solve anew in every step.
//!
//! Sizes are coordinates `n = mp` of the regression. Rows are windows of a noisy oscillation, so
//! that nothing degenerates.

use std::hint::black_box;

use anyhow::Result;
use faer::prelude::Solve as _;
use faer::{Mat, Side};
use mercer_forecast::{EpochSchedule, Forecaster, Forgetting, Opf, OpfParams};
use mercer_linalg_incremental::{AlignedVec, SquareRootRls, SquareRootScratch};

use super::triangle_updated;
use crate::plain::{PlainGivens, PlainShermanMorrison};
use crate::{Operation, Workload};

/// Outputs.
const OUTPUTS: usize = 3;
/// Rows that come again and again.
const ROWS: usize = 256;
/// Above this a dense solve takes tens of milliseconds.
const LARGEST_DENSE: usize = 500;

/// Everything of prediction, at every size.
///
/// # Errors
/// When OPF refuses a size.
pub fn prediction(sizes: &[usize]) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for &n in sizes {
        operations.push(square_root(n));
        operations.push(opf(n)?);
        operations.push(plain_givens(n, false));
        operations.push(plain_givens(n, true));
        operations.push(sherman_morrison(n));
    }
    operations.extend(sizes.iter().filter(|&&n| n <= LARGEST_DENSE).map(|&n| dense(n)));
    Ok(operations)
}

/// The series, three numbers a row.
#[must_use]
pub fn series(count: usize) -> Vec<[f64; OUTPUTS]> {
    let mut state = 1_u64;
    let mut noise = || {
        // Marsaglia's xorshift: numbers without structure are all that is wanted.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..count).map(|k| std::array::from_fn(|i| (k as f64 * (0.1 + 0.07 * i as f64)).sin() + noise())).collect()
}

/// Windows of it and what comes after each.
fn rows(n: usize) -> Vec<(AlignedVec, [f64; OUTPUTS])> {
    let series = series(ROWS + n);
    let row = |t: usize| {
        let lags = (1..).flat_map(|a: usize| series[n + t - a]);
        (lags.take(n).collect(), series[n + t])
    };
    (0..ROWS).map(row).collect()
}

/// A step of square-root least squares: the triangle rotated, read and written back; where rows
/// wait, half of the steps read it, and the others rotate it twice.
fn factor_rotated(n: usize) -> Workload {
    if n < SquareRootRls::WORTH_WAITING {
        Workload { read: 0, updated: 8 * n * n, arithmetic: n * n }
    } else {
        Workload { read: 2 * n * n, updated: 4 * n * n, arithmetic: 5 * n * n / 4 }
    }
}

fn square_root(n: usize) -> Operation {
    let (rows, mut t) = (rows(n), 0);
    let mut engine = SquareRootRls::new(&vec![1.0; n], OUTPUTS);
    let (mut prediction, mut scratch) = ([0.0; OUTPUTS], SquareRootScratch::default());
    Operation::steady("square_root", n, factor_rotated(n), move || {
        let (row, y) = &rows[t % ROWS];
        t += 1;
        let tau = engine.predict_then_update(black_box(row), y, n, &mut prediction, &mut scratch);
        assert!(tau.is_ok(), "a row of the bench series was refused");
    })
}

/// A step of OPF at its largest number of lags.
fn opf(n: usize) -> Result<Operation> {
    let lags = n / OUTPUTS;
    let schedule = EpochSchedule { beta: lags as f64, t_init: 2 * lags.max(2), max_lags: Some(lags.max(1)) };
    let mut opf =
        Opf::new(OUTPUTS, &OpfParams::default().schedule(schedule).lambda(1.0).forgetting(Forgetting::Scalar(0.95)))?;
    let (series, mut k, mut prediction) = (series(ROWS), 0, [0.0; OUTPUTS]);
    let mut step = move || {
        let step = opf.predict_then_observe(&[], black_box(&series[k % ROWS]), &mut prediction);
        k += 1;
        assert!(step.is_ok(), "a row of the bench series was refused");
    };
    (0..20 * lags.max(10)).for_each(|_| step());
    Ok(Operation::steady("opf", n, factor_rotated(n), step))
}

/// The rotations alone, or a whole step: predict, then rotate.
fn plain_givens(n: usize, predicts: bool) -> Operation {
    let (rows, mut t) = (rows(n), 0);
    let (mut plain, mut prediction) = (PlainGivens::new(n, OUTPUTS, 1.0), [0.0; OUTPUTS]);
    let name = if predicts { "plain_givens_step" } else { "plain_givens" };
    Operation::steady(name, n, triangle_updated(n), move || {
        let (row, y) = &rows[t % ROWS];
        t += 1;
        if predicts {
            plain.predict(black_box(row), &mut prediction);
            black_box(&prediction);
        }
        plain.update(black_box(row), y);
    })
}

fn sherman_morrison(n: usize) -> Operation {
    let (rows, mut t) = (rows(n), 0);
    let (mut plain, mut prediction) = (PlainShermanMorrison::new(n, OUTPUTS, 1.0), [0.0; OUTPUTS]);
    let work = Workload { read: 8 * n * n, updated: 16 * n * n, arithmetic: 2 * n * n };
    Operation::steady("sherman_morrison", n, work, move || {
        let (row, y) = &rows[t % ROWS];
        t += 1;
        plain.predict_then_update(black_box(row), y, &mut prediction);
    })
}

/// `V` and `S` one row further, Cholesky, and a solve.
fn dense(n: usize) -> Operation {
    let (rows, mut t) = (rows(n), 0);
    let mut gram = Mat::<f64>::identity(n, n);
    let mut cross = Mat::<f64>::zeros(n, OUTPUTS);
    let work = Workload { read: 0, updated: 16 * n * n, arithmetic: n * n * n / 6 + n * n };
    Operation::steady("dense_solve", n, work, move || {
        let (row, y) = &rows[t % ROWS];
        t += 1;
        for j in 0..n {
            for i in j..n {
                gram[(i, j)] += row[i] * row[j];
            }
            for (o, y) in y.iter().enumerate() {
                cross[(j, o)] += row[j] * y;
            }
        }
        let solution = gram.llt(Side::Lower).map(|factor| factor.solve(&cross));
        assert!(black_box(solution).is_ok(), "the Gram matrix of the bench rows is positive definite");
    })
}
