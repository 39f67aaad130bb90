//! The three linear updates at a fixed number of coordinates: the part of a learner's step that is
//! not the basis.

use std::hint::black_box;

use anyhow::Result;
use mercer_kernels::AlignedVec;
use mercer_learners::update::{GradientStep, GrowingUpdate, LeastSquares, NewtonStep, StepSize};
use mercer_learners::{Loss, Target};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::triangle_updated;
use crate::{Operation, Workload};

/// Coordinate vectors used in turn.
const VECTORS: usize = 64;

/// Prediction and step of each update on `n` coordinates, at every size.
///
/// # Errors
/// When a step is refused while the update is warmed up.
pub fn update(sizes: &[usize]) -> Result<Vec<Operation>> {
    let mut operations = Vec::new();
    for &n in sizes {
        let work = Workload { updated: 16 * n, arithmetic: 2 * n, read: 8 * n };
        operations.push(operation(
            "gradient",
            n,
            work,
            GradientStep::new(n, 1, Loss::SQUARED, StepSize::Constant(0.1), None),
        )?);
    }
    for &n in sizes {
        let mut update = NewtonStep::new(1.0, 1.0, 1.0, Loss::SQUARED, 1)?;
        update.restart(n)?;
        operations.push(operation("newton", n, triangle_updated(n), update)?);
    }
    for &n in sizes {
        let mut update: LeastSquares = LeastSquares::new(1.0, 1.0)?;
        update.restart(n)?;
        operations.push(operation("least_squares", n, triangle_updated(n), update)?);
    }
    Ok(operations)
}

fn operation(name: &str, n: usize, work: Workload, mut update: impl GrowingUpdate + 'static) -> Result<Operation> {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let scale = 1.0 / (n as f64).sqrt();
    let mut examples: Vec<(AlignedVec, f64)> = (0..VECTORS)
        .map(|_| ((0..n).map(|_| rng.random_range(-scale..scale)).collect(), rng.random_range(-0.5..0.5)))
        .collect();
    for (phi, y) in &mut examples {
        update.step(phi, None, Target::new(&[*y]), &mut [0.0])?;
    }
    let mut t = 0;
    Ok(Operation::steady(name, n, work, move || {
        t = (t + 1) % VECTORS;
        let (phi, y) = &mut examples[t];
        // As in the stream: targets that turn their sign cannot be fitted.
        *y = -*y;
        assert!(black_box(update.step(phi, None, Target::new(&[*y]), &mut [0.0])).is_ok());
    }))
}
