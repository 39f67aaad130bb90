//! Model-free online learning for the Kalman filter: forgetting factor and logarithmic regret.

use super::{plan, run, untimed};

#[test]
fn online_prediction_at_short_lengths() {
    let tables = |threads| {
        let plan = plan(threads);
        let sizes = [
            ("opf_overfitting", 3),
            ("opf_forgetting", 3),
            ("opf_terms", 3),
            ("opf_methods", 1),
            ("opf_bias", 3),
            ("opf_orders", 4),
        ];
        let tables = sizes.iter().map(|(name, size)| untimed(&run(name, &plan, *size).find_table(name).unwrap().csv()));
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
    let report = run("opf_stability", &plan(1), 150_000);
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
