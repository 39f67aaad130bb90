//! The symmetric inverse: a product alone, and a product that applies the deferred rank-one update
//! on its way.

use std::hint::black_box;

use mercer_linalg_incremental::{AlignedVec, SymmetricMatrix};

use super::{triangle_read, triangle_updated};
use crate::{Operation, Workload};

/// Product and deferred step of an `n × n` inverse, at every size.
#[must_use]
pub fn inverse(sizes: &[usize]) -> Vec<Operation> {
    sizes.iter().map(|&n| multiply(n)).chain(sizes.iter().map(|&n| deferred_step(n))).collect()
}

fn vectors(n: usize) -> Vec<AlignedVec> {
    let scale = 1.0 / (n as f64).sqrt();
    (0..16).map(|t| (0..n).map(|i| ((i * (t + 1)) as f64 * 0.7).sin() * scale).collect()).collect()
}

/// A product reads half of the matrix and multiplies twice with each number of it.
fn multiply(n: usize) -> Operation {
    let mut inverse = SymmetricMatrix::scaled_identity(n, 1.0);
    let (x, mut y) = (vectors(n).swap_remove(3), AlignedVec::zeros(n));
    let work = Workload { arithmetic: n * n, ..triangle_read(n) };
    Operation::steady("multiply", n, work, move || {
        black_box(inverse.multiply(black_box(&x), &mut y));
    })
}

/// `A ← A + w xxᵀ` over and over, with `w` small enough that the inverse keeps its size for
/// millions of them.
fn deferred_step(n: usize) -> Operation {
    let mut inverse = SymmetricMatrix::scaled_identity(n, 1.0);
    let (xs, mut y, mut t) = (vectors(n), AlignedVec::zeros(n), 0);
    Operation::steady("deferred_step", n, triangle_updated(n), move || {
        t = (t + 1) % xs.len();
        assert!(inverse.rank_one(1e-6, black_box(&xs[t]), &mut y).is_ok());
    })
}
