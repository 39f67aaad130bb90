//! The growing Cholesky factor: append, both solves, rank-one up- and downdate.

use std::hint::black_box;

use mercer_linalg_incremental::{AlignedVec, GrowingCholesky, RankOneScratch};

use super::triangle_read;
use crate::operation::LEAD;
use crate::{Operation, Workload};

/// Appends timed from one start.
const APPENDS: usize = 16;

/// Append, forward solve, backward solve and rank-one change of an `n × n` factor, at every size.
#[must_use]
pub fn factor(sizes: &[usize]) -> Vec<Operation> {
    let kinds: [fn(usize) -> Operation; 4] = [append, forward_solve, backward_solve, rank_one];
    kinds.iter().flat_map(|kind| sizes.iter().map(|&n| kind(n))).collect()
}

/// A vector of `n` numbers of either sign.
fn vector(n: usize, size: f64) -> AlignedVec {
    (0..n).map(|i| (i as f64 * 0.7).sin() * size).collect()
}

/// A factor with small entries below a unit diagonal: well conditioned, no number in it special.
fn example(n: usize) -> GrowingCholesky {
    let mut factor = GrowingCholesky::with_capacity(n);
    (0..n).for_each(|i| factor.append(&vector(i, 0.5 / (n as f64).sqrt()), 1.0));
    factor
}

/// An append writes one number into each of `n` columns that lie a cache line apart.
fn append(n: usize) -> Operation {
    let first = n.saturating_sub(LEAD + APPENDS / 2);
    let rows: Vec<AlignedVec> = (first..first + LEAD + APPENDS).map(|i| vector(i, 0.01)).collect();
    let work = Workload { updated: 16 * n, arithmetic: n, ..Workload::default() };
    Operation::growing("append", n, work, APPENDS as u64, example(first), move |factor: &mut GrowingCholesky| {
        factor.append(&rows[factor.dimension() - first], 1.0);
    })
}

fn forward_solve(n: usize) -> Operation {
    let (factor, b, mut x) = (example(n), vector(n, 1.0), AlignedVec::zeros(n));
    Operation::steady("forward_solve", n, triangle_read(n), move || {
        factor.forward_solve(black_box(&b), &mut x);
        black_box(&mut x);
    })
}

fn backward_solve(n: usize) -> Operation {
    let (factor, b, mut x) = (example(n), vector(n, 1.0), AlignedVec::zeros(n));
    Operation::steady("backward_solve", n, triangle_read(n), move || {
        factor.backward_solve(black_box(&b), &mut x);
        black_box(&mut x);
    })
}

/// An update and the downdate that undoes it, in turn: each a forward solve and a sweep of two
/// products an entry.
fn rank_one(n: usize) -> Operation {
    let (mut factor, v, mut scratch) = (example(n), vector(n, 0.3 / (n as f64).sqrt()), RankOneScratch::default());
    let mut down = false;
    let sweep = Workload { updated: 8 * n * n, arithmetic: 3 * n * n / 2, ..Workload::default() };
    Operation::steady("rank_one", n, triangle_read(n) + sweep, move || {
        if down {
            assert_eq!(factor.downdate(black_box(&v), &mut scratch), Ok(()));
        } else {
            factor.update(black_box(&v), &mut scratch);
        }
        down = !down;
    })
}
