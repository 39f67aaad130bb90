//! Efficient online learning with kernels for adversarial large scale problems.

use super::{plan, rounded, run, untimed};

#[test]
fn bounds_of_projections_at_short_lengths() {
    let rows = |threads| {
        let report = run("bounds", &plan(threads), 100);
        let csv = report.find_table("bounds").unwrap().csv();
        // What a dictionary of all points neglects is rounding, and the machine's own.
        csv.lines().filter(|line| !line.contains("neglected")).map(|line| rounded(line) + "\n").collect::<String>()
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    assert!(!two.contains(",NO"), "a bound is broken:\n{two}");
    insta::assert_snapshot!("bounds", two);
}

/// A table's rows without its last column, a time.
fn without_last(csv: &str) -> String {
    let cut = |line: &str| rounded(line.rsplit_once(',').map_or(line, |(rest, _)| rest)) + "\n";
    csv.lines().map(cut).collect()
}

/// Data that is not in the repository is named as missing, and the bundled stream is always learnt.
#[test]
fn large_streams_at_short_lengths() {
    let rows = |threads| {
        let report = run("streams", &plan(threads), 400);
        let told = serde_json::to_string(&report).unwrap();
        assert!(told.contains("Not on this machine: casp"));
        without_last(&report.find_table("streams").unwrap().csv())
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    insta::assert_snapshot!("streams", two);
}

#[test]
fn the_greedy_adversary_of_short_games() {
    let report = |threads| run("adversary", &plan(threads), 16);
    let (one, two) = (report(1), report(2));
    let rows = |table: &str| two.find_table(table).unwrap().csv();
    assert_eq!(rows("adversary"), one.find_table("adversary").unwrap().csv());
    insta::assert_snapshot!(
        "adversary",
        rows("adversary").lines().map(|line| rounded(line) + "\n").collect::<String>()
    );
}

#[test]
fn exponents_of_short_streams() {
    let report = run("complexity", &plan(2), 160);
    insta::assert_snapshot!("complexity", untimed(&report.find_table("complexity").unwrap().csv()));
}
