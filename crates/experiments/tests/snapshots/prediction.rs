//! Model-free online learning for the Kalman filter: forgetting factor and logarithmic regret.

use mercer_experiments::prediction;

use crate::{plan, untimed};

#[test]
fn online_prediction_at_short_lengths() {
    let tables = |threads| {
        let plan = plan(threads);
        let reports = [
            ("opf_overfitting", prediction::overfitting::run_for(&plan, 3).unwrap()),
            ("opf_forgetting", prediction::forgetting::run_for(&plan, 3).unwrap()),
            ("opf_terms", prediction::terms::run_for(&plan, 3).unwrap()),
            ("opf_methods", prediction::methods::run_for(&plan, 1).unwrap()),
            ("opf_bias", prediction::bias::run_for(&plan, 3).unwrap()),
            ("opf_orders", prediction::orders::run_for(&plan, 4).unwrap()),
            ("opf_earth", prediction::earth::run_for(&plan, 600).unwrap()),
        ];
        let tables = reports.iter().map(|(name, report)| untimed(&report.find_table(name).unwrap().csv()));
        tables.collect::<Vec<_>>().join("\n")
    };
    let two = tables(2);
    assert_eq!(two, tables(1));
    insta::assert_snapshot!("online_prediction", two);
}

/// The comparators of this one lose their digits on purpose, so that their numbers are no
/// snapshot's business.
#[test]
fn the_square_root_stays_where_an_inverse_breaks() {
    let report = prediction::stability::run_for(&plan(1), 3, 150_000).unwrap();
    let table = report.find_table("opf_stability").unwrap().csv();
    let long =
        |way: &str| table.lines().filter(|line| line.starts_with("one coordinate") && line.contains(way)).count();
    assert_eq!((long("square root"), long("row by row")), (2, 2), "{table}");
    for line in table.lines().filter(|line| line.contains("square root")) {
        assert!(line.contains("0 of 1"), "{line}");
    }
    let broken = table.lines().filter(|line| line.starts_with("one coordinate") && line.contains("1 of 1"));
    assert!(broken.count() >= 1, "{table}");
}
