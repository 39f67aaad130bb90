//! Strongly reduced experiments, end to end: the same numbers on every run and for every number of
//! threads.
//!
//! Numbers are shown with six significant digits; times are left out, being nobody's business but
//! the machine's.

mod filters;
mod operator;
mod prediction;
mod projected;
mod published;
mod quality;
mod statements;
mod sublinear;

use std::path::Path;

use crate::papers::experiments;
use crate::plan::Plan;
use crate::report::Report;
use crate::report::tally::Tally;
use mercer_datasets::Registry;

/// Only what the repository itself holds.
fn bundled() -> Registry {
    Registry::load_from(Vec::new()).unwrap()
}

fn plan(threads: usize) -> Plan {
    Plan { repetitions: Some(1), ..Plan::reduced(bundled(), 7, threads) }
}

/// Report of the experiment of this name at this size.
fn run(name: &str, plan: &Plan, size: usize) -> Report {
    run_whole(name, &Plan { size: Some(size), ..plan.clone() })
}

fn run_whole(name: &str, plan: &Plan) -> Report {
    let experiment = experiments().find(|experiment| experiment.name == name).unwrap();
    (experiment.run)(plan).unwrap()
}

/// The default run compares at least thirty printed numbers with the data that a clone holds. One
/// repetition compares as many as several.
#[test]
fn a_fresh_clone_compares_thirty_printed_numbers() {
    let datasets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets");
    let plan = Plan { registry: Registry::load_from(vec![datasets]).unwrap(), ..plan(2) };
    let compared = ["table3", "langevin", "duffing", "opf_methods"].map(|name| {
        let printed = Tally::of_report(&run_whole(name, &plan)).printed;
        printed.came_out + printed.differ
    });
    assert_eq!(compared, [24, 3, 2, 1]);
}

/// Six significant digits.
fn shown(value: f64) -> String {
    format!("{value:.5e}")
}

/// A table's rows without the times of the third quantity.
fn untimed(csv: &str) -> String {
    csv.lines().filter(|line| !line.contains("time a round")).map(|line| rounded(line) + "\n").collect()
}

/// Numbers with a point or an exponent, to six digits.
fn rounded(line: &str) -> String {
    let round = |cell: &str| match cell.parse::<f64>() {
        Ok(value) if cell.contains(['.', 'e']) => shown(value),
        _ => cell.to_owned(),
    };
    line.split(',').map(round).collect::<Vec<_>>().join(",")
}
