//! The short form of the matrix of learners and stresses: every cell holds.

use mercer_testkit::stress::{Matrix, MatrixParams, StressResult};

/// `LEARNER` and `STRESS` in the environment ask for a part of it, by the first letters.
fn holds(make: fn(&MatrixParams) -> StressResult<Matrix>) {
    let part = |name: &str| std::env::var(name).unwrap_or_default();
    let params = MatrixParams { rows: 1400, learner: part("LEARNER"), stress: part("STRESS"), threads: 2 };
    let matrix = make(&params).unwrap();
    println!("{matrix}");
    let failing = matrix.failing();
    assert!(failing.is_empty(), "{} of {} cells do not hold:\n{}", failing.len(), matrix.count(), failing.join("\n"));
}

#[test]
fn learners_hold_under_every_stress() {
    holds(Matrix::for_learners);
}

#[test]
fn forecasters_hold_under_every_stress() {
    holds(Matrix::for_forecasters);
}
