//! Kernel adaptive filters and classifiers on a budget.

use super::{plan, rounded, run};

/// A table without its last column, which is a time.
fn without_times(csv: &str) -> String {
    let line = |line: &str| rounded(line.rsplit_once(',').map_or(line, |(rest, _)| rest)) + "\n";
    csv.lines().map(line).collect()
}

#[test]
fn filters_at_short_lengths() {
    let tables = |threads| {
        let plan = plan(threads);
        let curves = run("filters_curves", &plan, 400);
        let switch = run("filters_switch", &plan, 600);
        let mistakes = run("filters_mistakes", &plan, 400);
        [
            without_times(&curves.find_table("filters_curves").unwrap().csv()),
            switch.find_table("filters_switch").unwrap().csv().lines().map(|line| rounded(line) + "\n").collect(),
            mistakes.find_table("filters_mistakes").unwrap().csv().lines().map(|line| rounded(line) + "\n").collect(),
        ]
        .join("\n")
    };
    let two = tables(2);
    assert_eq!(two, tables(1));
    insta::assert_snapshot!("filters", two);
}
