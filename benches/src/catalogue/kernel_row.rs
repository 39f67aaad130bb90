//! Kernel rows of the Gaussian, and the two plain ones beside them.

use std::hint::black_box;

use anyhow::Result;
use mercer_kernels::{AlignedVec, Gaussian, Kernel, Points};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{row_arithmetic, table_read};
use crate::plain::{kernel_row_dimension_major, kernel_row_point_major};
use crate::stream::WIDTH;
use crate::{DIMENSION, Operation, Workload};

/// Points at which the row is compared with plain loops.
pub const PLAIN_SIZE: usize = 400;
/// Dimension at which the row is compared with plain loops.
pub const PLAIN_DIMENSION: usize = 18;

/// A row of `J` points in ten dimensions, at every size; at [`PLAIN_SIZE`] and [`PLAIN_DIMENSION`]
/// also the plain loops.
///
/// # Errors
/// Never in practice: the width is valid.
pub fn kernel_row(sizes: &[usize]) -> Result<Vec<Operation>> {
    let mut operations: Vec<Operation> = sizes.iter().map(|&size| row(size, DIMENSION)).collect::<Result<_>>()?;
    operations.push(row(PLAIN_SIZE, PLAIN_DIMENSION)?);
    operations.push(plain("plain_point_major", kernel_row_point_major));
    operations.push(plain("plain_dimension_major", kernel_row_dimension_major));
    Ok(operations)
}

fn work(size: usize, dimension: usize) -> Workload {
    let write = Workload { updated: 16 * size, ..Workload::default() };
    table_read(size, dimension) + write + row_arithmetic(size, dimension)
}

/// Any numbers will do: the cost does not depend on them.
fn numbers(count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn row(size: usize, dimension: usize) -> Result<Operation> {
    let kernel = Gaussian::new(WIDTH)?;
    let points = Points::from_rows(dimension, &numbers(size * dimension));
    let x = numbers(dimension);
    let mut row = AlignedVec::zeros(size);
    Ok(Operation::steady(format!("gaussian_d{dimension}"), size, work(size, dimension), move || {
        kernel.row(black_box(&points), black_box(&x), &mut row);
        black_box(&mut row);
    }))
}

fn plain(name: &str, run: fn(&[f64], &[f64], f64, &mut [f64])) -> Operation {
    let points = numbers(PLAIN_SIZE * PLAIN_DIMENSION);
    let x = numbers(PLAIN_DIMENSION);
    let mut row = vec![0.0; PLAIN_SIZE];
    let work = work(PLAIN_SIZE, PLAIN_DIMENSION);
    Operation::steady(format!("{name}_d{PLAIN_DIMENSION}"), PLAIN_SIZE, work, move || {
        run(black_box(&points), black_box(&x), -0.5 / (WIDTH * WIDTH), &mut row);
        black_box(&mut row);
    })
}
