//! The short form of the matrix of learners and stresses.

use mercer_testkit::stress::{Matrix, MatrixParams, StressResult};

fn show(make: fn(&MatrixParams) -> StressResult<Matrix>) {
    let text = |name: &str| std::env::var(name).unwrap_or_default();
    let params = MatrixParams { rows: 1400, learner: text("LEARNER"), stress: text("STRESS"), threads: 2 };
    let start = std::time::Instant::now();
    let matrix = make(&params).unwrap();
    println!("{matrix}");
    let failing = matrix.failing();
    println!(
        "{} of {} cells do not hold, {:?}:\n{}",
        failing.len(),
        matrix.count(),
        start.elapsed(),
        failing.join("\n")
    );
}

#[test]
fn learners() {
    show(Matrix::for_learners);
}

#[test]
fn forecasters() {
    show(Matrix::for_forecasters);
}
