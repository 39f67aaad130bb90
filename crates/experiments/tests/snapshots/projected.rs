//! Efficient online learning with kernels for adversarial large scale problems.

use mercer_experiments::projected;

use crate::{plan, rounded, untimed};

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

/// A table's rows without its last column, a time.
fn without_last(csv: &str) -> String {
    let cut = |line: &str| rounded(line.rsplit_once(',').map_or(line, |(rest, _)| rest)) + "\n";
    csv.lines().map(cut).collect()
}

/// Data that is not in the repository is named as missing, and the bundled stream is always learnt.
#[test]
fn large_streams_at_short_lengths() {
    let rows = |threads| {
        let report = projected::streams::run_up_to(&plan(threads), &projected::streams::STREAMS, 400).unwrap();
        assert!(report.markdown().contains("Not on this machine: casp"));
        without_last(&report.find_table("streams").unwrap().csv())
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    insta::assert_snapshot!("streams", two);
}

#[test]
fn the_greedy_adversary_of_short_games() {
    let report = |threads| projected::adversary::run_at(&plan(threads), 16).unwrap();
    let (one, two) = (report(1), report(2));
    let rows = |table: &str| two.find_table(table).unwrap().csv();
    assert_eq!(rows("adversary"), one.find_table("adversary").unwrap().csv());
    insta::assert_snapshot!(
        "adversary",
        rows("adversary").lines().map(|line| rounded(line) + "\n").collect::<String>()
    );
}

#[test]
fn loss_against_coordinates_of_a_short_stream() {
    let report = projected::atoms::run_at(&plan(2), 200).unwrap();
    let csv = report.find_table("atoms").unwrap().csv();
    assert!(report.find_table("atoms_enough").unwrap().csv().contains("diamonds"));
    insta::assert_snapshot!("atoms", csv.lines().map(|line| rounded(line) + "\n").collect::<String>());
}

#[test]
fn exponents_of_short_streams() {
    let report = projected::complexity::run_up_to(&plan(2), 160).unwrap();
    insta::assert_snapshot!("complexity", untimed(&report.find_table("complexity").unwrap().csv()));
}

/// Points a thousandth apart: within 1e−8 of the dense solution in every round, where the paper's
/// update has broken down.
#[test]
fn near_duplicates_are_exact_where_the_listing_breaks_down() {
    let report = projected::near_duplicates::run_at(&plan(2), 240).unwrap();
    let csv = report.find_table("near_duplicates").unwrap().csv();
    let row: Vec<&str> = csv.lines().find(|line| line.starts_with("0.001,")).unwrap().split(',').collect();
    assert!(row[2].parse::<f64>().unwrap() <= 1e-8, "{row:?}");
    assert_eq!(row[6..], ["1 of 1", "within 1e-8"]);
}

#[test]
fn an_untuned_mixture_on_the_bundled_stream() {
    let rows = |threads| {
        let report = projected::experts::run_on(&plan(threads), &["diamonds"], Some(1500)).unwrap();
        without_last(&report.find_table("experts").unwrap().csv())
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    assert!(!two.contains("behind"), "{two}");
    insta::assert_snapshot!("experts", two);
}

/// The list of the experiment is that of the registry, except for series.
#[test]
fn untuned_mixtures_meet_every_data_set() {
    let plan = plan(1);
    let streams = plan.registry.entries().iter().filter(|entry| entry.task != mercer_datasets::Task::Series);
    for entry in streams {
        assert!(projected::experts::DATA_SETS.contains(&entry.name.as_str()), "{}", entry.name);
    }
}
