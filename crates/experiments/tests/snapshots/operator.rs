//! Nonparametric sparse online learning of the Koopman operator.

use super::{plan, run};

/// Three digits: what comes out of an eigenvalue solver and a clustering is not told to more.
fn rounded(line: &str) -> String {
    let round = |cell: &str| match cell.parse::<f64>() {
        Ok(value) if cell.contains(['.', 'e']) => format!("{value:.2e}"),
        _ => cell.to_owned(),
    };
    line.split(',').map(round).collect::<Vec<_>>().join(",")
}

/// The main table of a reduced run, which has to be the same for one thread and for two.
fn table(name: &str, size: usize) -> String {
    let rows = |threads| {
        let csv = run(name, &plan(threads), size).find_table(name).unwrap().csv();
        csv.lines().map(|line| rounded(line) + "\n").collect::<String>()
    };
    let two = rows(2);
    assert_eq!(two, rows(1));
    two
}

#[test]
fn metastable_sets_of_few_trajectories() {
    insta::assert_snapshot!("langevin", table("langevin", 20));
}

#[test]
fn regions_of_attraction_from_few_pairs() {
    insta::assert_snapshot!("duffing", table("duffing", 600));
}

#[test]
fn convergence_of_short_passes() {
    insta::assert_snapshot!("convergence", table("convergence", 300));
}

/// The whole run alone tells how near they come.
#[test]
fn twelve_systems_of_few_pairs() {
    let table = table("operator_peers", 200);
    let lines: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let systems: Vec<&str> = lines.iter().map(|cells| cells[0]).collect();
    let order =
        ["ou", "two", "five", "lin3", "triple", "prinz", "four2d", "pendulum", "duffing", "lorenz", "vdp", "wave"];
    assert_eq!(systems, order);
    assert!(lines.iter().all(|cells| cells[2].parse::<f64>().unwrap() < 0.5), "{table}");
}

#[test]
fn a_pendulum_after_two_stages() {
    // Dictionaries of random torques, and what knows the pendulum; a torque that a policy chose
    // between two that are as good is the machine's own.
    let sizes = |line: &str| {
        let columns = if line.contains("dynamic") { 11 } else { 5 };
        line.split(',').take(columns).collect::<Vec<_>>().join(",") + "\n"
    };
    insta::assert_snapshot!("pendulum", table("pendulum", 2).lines().map(sizes).collect::<String>());
}
