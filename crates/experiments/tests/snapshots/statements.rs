//! The pages of `docs/papers`: every statement of a paper has a row, and what the row says is so.
//!
//! The modules check by computation, with dense matrices, what no experiment measures.

mod listing;
mod operator;
mod prediction;
mod projected;
mod sublinear;

use std::collections::BTreeSet;
use std::path::Path;

use crate::judgement::Outcome;
use crate::papers::experiments;
use crate::report::kept;
use crate::statements::{Evidence, PAGES, Selector, Statement, Status, read};
use nalgebra::DMatrix;

/// Statements that the papers number, read off their texts; the pages may say more.
const NUMBERED: [(&str, &[&str]); 4] = [
    (
        "sublinear",
        &[
            "Definition 2.1",
            "Lemma 3.1",
            "Theorem 3.2",
            "Theorem 4.1",
            "Lemma 4.2",
            "Lemma 4.3",
            "Remark 4.4",
            "Lemma 4.5",
            "Theorem 4.6",
            "Corollary 4.7",
            "Corollary 4.8",
            "Theorem 4.9",
            "Algorithm 1",
            "Algorithm 2",
            "Algorithm 3",
            "Table 1",
            "Table 2",
            "Table 3",
            "Goal G1",
            "Goal G2",
            "Goal G3",
            "Appendix B",
            "Lemma D.1",
            "Lemma G.1",
            "Lemma H.1",
            "Lemma H.2",
            "Lemma H.3",
        ],
    ),
    (
        "projected",
        &[
            "Proposition 1",
            "Proposition 2",
            "Theorem 3",
            "Theorem 4",
            "Proposition 5",
            "Theorem 6",
            "Corollary 7",
            "Corollary 8",
            "Theorem 9",
            "Lemma 10",
            "Lemma 11",
            "Lemma 12",
            "Lemma 13",
            "Algorithm 1",
            "Algorithm 2",
            "Table 1",
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Equation (37)",
            "Appendix H.2",
        ],
    ),
    (
        "prediction",
        &[
            "Theorem 1",
            "Remark 1",
            "Remark 2",
            "Lemma 1",
            "Lemma 2",
            "Lemma 3",
            "Lemma 4",
            "Lemma 5",
            "Algorithm 1",
            "Table 1",
            "Table 2",
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Figure 5",
            "Figure 6",
            "Equation (20)",
            "Section C.6",
            "Section D.1",
            "Section D.2",
            "Section E.1",
            "Section E.2",
            "Section E.3",
            "Section E.4",
            "Section F.1",
            "Section F.2",
        ],
    ),
    (
        "operator",
        &[
            "Lemma 2.1",
            "Theorem 4.1",
            "Lemma 5.1",
            "Lemma 5.2",
            "Lemma 6.1",
            "Theorem (almost sure convergence)",
            "Lemma (mixing)",
            "Lemma (one-step descent)",
            "Theorem (finite time)",
            "Corollary (constant steps)",
            "Corollary (diminishing steps)",
            "Lemma (properties of gradients)",
            "Lemma (uniform boundedness)",
            "Lemma (differences of iterates)",
            "Lemma (β-norm)",
            "Algorithm 1",
            "Figure 1",
            "Figure 2",
            "Figure 3",
            "Figure 4",
            "Figure 5",
        ],
    ),
];

/// Negative control: what a test says of something wrong. A test that it passes shows nothing.
fn breaks(wrong: &str, holds: bool) {
    assert!(!holds, "{wrong} passes as well");
}

/// Numbers in `[−1, 1]` from a seed.
fn matrix(seed: u64, rows: usize, columns: usize) -> DMatrix<f64> {
    let entries = mercer_testkit::streams::uniforms(seed, rows * columns);
    DMatrix::from_iterator(rows, columns, entries.into_iter().map(|v| 2.0 * v - 1.0))
}

/// The largest eigenvalue of a symmetric matrix.
fn largest(a: &DMatrix<f64>) -> f64 {
    a.symmetric_eigenvalues().max()
}

/// The outcomes that a selector chooses in a kept table, or why there are none.
fn outcomes(table: &str, selector: &Selector) -> Result<Vec<Outcome>, String> {
    let found = experiments().find_map(|experiment| {
        let full = kept::load(&kept::folder(), experiment.name).unwrap()?;
        full.report.find_table(table).map(|found| selector.choose(found))
    });
    found.unwrap_or_else(|| Err("no kept table is named so".to_owned()))
}

/// Fault of one piece of evidence.
fn fault(root: &Path, shown: &Evidence) -> Option<String> {
    match shown {
        Evidence::File { path, function } => {
            let Ok(text) = std::fs::read_to_string(root.join(path)) else {
                return Some(format!("{path} is not there"));
            };
            let function = function.as_ref()?;
            let Some(at) = text.find(&format!("fn {function}(")) else {
                return Some(format!("{path} has no function {function}"));
            };
            let body = text[at..].split_inclusive("\n}\n").next().unwrap_or_default();
            let is_lemma = path.contains("/snapshots/statements/");
            (is_lemma && !body.contains("breaks(")).then(|| format!("{path}#{function} has no negative control"))
        }
        Evidence::Table { table, selector, count } => {
            let found = match outcomes(table, selector) {
                Ok(found) => found,
                Err(fault) => return Some(format!("{table}: {fault}")),
            };
            let came_out = found.iter().filter(|outcome| **outcome == Outcome::Reproduced).count();
            let count = (*count)?;
            (count != (came_out, found.len()))
                .then(|| format!("{table} has {came_out} of {}, the page says {count:?}", found.len()))
        }
    }
}

fn faults(root: &Path, statement: &Statement) -> Vec<String> {
    let all = statement.code.iter().chain(&statement.shown);
    let mut faults: Vec<String> = all.filter_map(|shown| fault(root, shown)).collect();
    let counts = statement.shown.iter().filter_map(|shown| match shown {
        Evidence::Table { count, .. } => *count,
        Evidence::File { .. } => None,
    });
    let missed = counts.clone().any(|(came_out, all)| came_out < all);
    if statement.status == Status::Holds && missed {
        faults.push("it is said to hold, and some verdict does not".to_owned());
    }
    if statement.status != Status::Holds && statement.status != Status::Built && statement.reason.is_empty() {
        faults.push("its status needs a reason".to_owned());
    }
    faults
}

#[test]
fn every_statement_has_a_row_that_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    for ((paper, text), (listed, numbered)) in PAGES.iter().zip(NUMBERED) {
        assert_eq!(*paper, listed);
        let statements = read(text).unwrap();
        let names: BTreeSet<&str> = statements.iter().map(|statement| statement.name.as_str()).collect();
        assert_eq!(names.len(), statements.len(), "{paper}: a statement has two rows");
        wrong.extend(
            numbered.iter().filter(|name| !names.contains(**name)).map(|name| format!("{paper}: {name} has no row")),
        );
        for statement in &statements {
            wrong.extend(
                faults(&root, statement).into_iter().map(|fault| format!("{paper}, {}: {fault}", statement.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_wrong_row_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let row = |shown: &str, status: &str| {
        let text = format!(
            "| statement | in our words | code | shown by | status |\n|---|---|---|---|---|\n| Lemma | A. | `README.md` | {shown} | {status} |\n"
        );
        faults(&root, &read(&text).unwrap()[0])
    };
    assert_eq!(row("`lemma31` 52 of 52", "holds"), [] as [String; 0]);
    assert_eq!(row("`README.md#nothing`", "holds"), ["README.md has no function nothing"]);
    let control = "`crates/experiments/tests/snapshots/statements/operator.rs#stochastic`";
    assert!(row(control, "holds")[0].ends_with("operator.rs#stochastic has no negative control"));
    assert_eq!(row("`docs/nowhere.md`", "holds"), ["docs/nowhere.md is not there"]);
    assert_eq!(row("`lemma31` 1 of 84", "differs: so")[0], "lemma31 has 52 of 52, the page says (1, 84)");
    assert_eq!(row("`lemma99` 1 of 1", "holds"), ["lemma99: no kept table is named so"]);
    // Rows are chosen by whole cells, and a selector that chooses nothing is a fault.
    let bounds = |selector: &str, count: &str| row(&format!("`bounds[{selector}]` {count}"), "holds");
    assert_eq!(bounds("statement=Theorem 4", "1 of 1"), [] as [String; 0]);
    assert_eq!(bounds("statement=Theorem 4", "6 of 6"), ["bounds has 1 of 1, the page says (6, 6)"]);
    assert_eq!(bounds("statement=heorem 4", "1 of 1"), ["bounds: no cell of column \"statement\" is \"heorem 4\""]);
    assert_eq!(bounds("claim=Theorem 4", "1 of 1"), ["bounds: there is no column \"claim\""]);
    assert_eq!(bounds("statement=after…", "5 of 5"), [] as [String; 0]);
    assert_eq!(bounds("decay", "1 of 1"), ["bounds: no verdict is chosen"]);
    assert_eq!(row("`table3[verdict]` 26 of 42", "holds"), ["it is said to hold, and some verdict does not"]);
    assert_eq!(row("`lemma31` 52 of 52", "differs"), ["its status needs a reason"]);
    assert!(read("| Lemma | A. | `a` | `b` | perhaps |\n").is_err());
}
