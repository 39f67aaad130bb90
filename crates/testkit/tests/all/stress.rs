//! The short form of the matrix of learners and stresses: every cell holds.

use mercer_testkit::stress::{Matrix, MatrixParams, StressResult, coverage};

/// `LEARNER` and `STRESS` in the environment ask for a part of it, by the first letters; `ROWS` for
/// longer streams.
fn holds(make: fn(&MatrixParams) -> StressResult<Matrix>) {
    let part = |name: &str| std::env::var(name).unwrap_or_default();
    let params = MatrixParams { rows: rows(1400), learner: part("LEARNER"), stress: part("STRESS"), threads: 2 };
    let matrix = make(&params).unwrap();
    println!("{matrix}");
    let failing = matrix.failing();
    assert!(failing.is_empty(), "{} of {} cells do not hold:\n{}", failing.len(), matrix.count(), failing.join("\n"));
}

/// `ROWS`, or so many.
fn rows(short: usize) -> usize {
    std::env::var("ROWS").map_or(short, |rows| rows.parse().unwrap())
}

#[test]
fn learners_hold_under_every_stress() {
    holds(Matrix::for_learners);
}

/// What takes 20,000 rows to fail: sums of squares of weights, and inverses that are rounding.
#[test]
fn heavy_weights_are_held_for_long() {
    for (learner, stress) in [("forgetron", "weight 1e12"), ("nons-ald", "weight 1e17")] {
        let params = MatrixParams { rows: 20_000, learner: learner.to_owned(), stress: stress.to_owned(), threads: 2 };
        let failing = Matrix::for_learners(&params).unwrap().failing();
        assert!(failing.is_empty(), "{failing:?}");
    }
}

#[test]
fn forecasters_hold_under_every_stress() {
    holds(Matrix::for_forecasters);
}

#[test]
fn intervals_hold_their_share_before_and_after_a_stress() {
    let shares = coverage::all(rows(5000), 2).unwrap();
    shares.iter().for_each(|share| println!("{share}"));
    let wrong: Vec<_> = shares.iter().filter(|share| !share.is_right()).map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), shares.len(), wrong.join("\n"));
}
