//! Efficient online learning with kernels for adversarial large scale problems.

use mercer_experiments::projected;

use crate::{plan, rounded};

#[test]
fn bounds_of_projections_at_short_lengths() {
    let rows = |threads| {
        let report = projected::bounds::run_at(&plan(threads), 100).unwrap();
        let csv = report.find_table("bounds").unwrap().csv();
        // What a dictionary of all points neglects is rounding, and the machine's own.
        csv.lines().filter(|line| !line.contains("neglected")).map(|line| rounded(line) + "\n").collect::<String>()
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    assert!(!two.contains(",NO"), "a bound is broken:\n{two}");
    insta::assert_snapshot!("bounds", two);
}
