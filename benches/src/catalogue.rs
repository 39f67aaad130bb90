//! Every operation that is measured, one file a topic.
//!
//! Each function sets its topic up at the given sizes; the least work of each operation stands
//! beside its set-up, as the papers count it: a triangle of `n × n` is `4n²` bytes, a kernel row
//! `2d` operations and one exponential a point.

use anyhow::Result;

use crate::{Operation, Workload};

mod elementary;
mod factor;
mod inverse;
mod kernel_row;
mod operator;
mod prediction;
mod steps;
mod update;

pub use elementary::exp_sincos;
pub use factor::factor;
pub use inverse::inverse;
pub use kernel_row::{PLAIN_DIMENSION, PLAIN_SIZE, kernel_row};
pub use operator::operator;
pub use prediction::{prediction, series};
pub use steps::{PLAIN_FEATURES, plain_fogd, step};
pub use update::update;

/// Arithmetic operations of the vectorised exponential, a value.
const EXP: usize = 18;
/// Arithmetic operations of the vectorised sine and cosine together, an angle.
const SINCOS: usize = 19;

/// Everything, at every size: `(topic, operations)`.
///
/// # Errors
/// When a set-up does not reach its size.
pub fn everything(sizes: &[usize]) -> Result<Vec<(&'static str, Vec<Operation>)>> {
    Ok(vec![
        ("kernel_row", kernel_row(sizes)?),
        ("exp_sincos", exp_sincos()),
        ("factor", factor(sizes)),
        ("inverse", inverse(sizes)),
        ("update", update(sizes)?),
        ("step", step(sizes)?),
        ("operator", operator(sizes)?),
        ("prediction", prediction(sizes)?),
    ])
}

/// A triangle of an `n × n` matrix, read.
fn triangle_read(n: usize) -> Workload {
    Workload { read: 4 * n * n, updated: 0, arithmetic: n * n / 2 }
}

/// A triangle of an `n × n` matrix, read and written back; the arithmetic of a product and a
/// rank-one update.
fn triangle_updated(n: usize) -> Workload {
    Workload { read: 0, updated: 8 * n * n, arithmetic: 3 * n * n / 2 }
}

/// The arithmetic of a Gaussian kernel row.
fn row_arithmetic(points: usize, dimension: usize) -> Workload {
    Workload { arithmetic: points * (2 * dimension + EXP), ..Workload::default() }
}

/// `rows × columns` numbers, read.
fn table_read(rows: usize, columns: usize) -> Workload {
    Workload { read: 8 * rows * columns, ..Workload::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_runs_at_a_small_size() -> Result<()> {
        for (topic, operations) in everything(&[24])? {
            assert!(!operations.is_empty(), "{topic}");
            for mut operation in operations {
                operation.time(20);
                assert!(operation.work.bytes() > 0 && operation.work.arithmetic > 0, "{}", operation.name);
            }
        }
        Ok(())
    }
}
