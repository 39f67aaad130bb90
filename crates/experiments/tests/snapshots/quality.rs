//! `auto` beside its peers, on the bundled set and on a stream written for the test.

use mercer_experiments::quality::{budgets, standing};

use crate::{plan, rounded};

fn lines(csv: &str) -> String {
    csv.lines().map(|line| rounded(line) + "\n").collect()
}

#[test]
fn quality_without_the_streams() {
    let tables = |threads| {
        let plan = plan(threads);
        let standing = standing::run_in(&plan, None, 400).unwrap();
        let budgets = budgets::run_in(&plan, None, 300).unwrap();
        assert_eq!((standing.remarks().count(), budgets.remarks().count()), (1, 1));
        let tables = ["quality_standing", "quality_start"].map(|stem| lines(&standing.find_table(stem).unwrap().csv()));
        [tables.join("\n"), lines(&budgets.find_table("quality_budgets").unwrap().csv())].join("\n")
    };
    let two = tables(2);
    assert_eq!(two, tables(1));
    insta::assert_snapshot!("quality", two);
}

/// A stream that is there is compared with its peers on all of its rows and judged; the others are named.
#[test]
fn a_stream_that_is_there_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let row = |t: usize| {
        let x = [0.37, 0.71].map(|step| (t as f64 * step).sin());
        format!("{},{},{}\n", x[0], x[1], (3.0 * x[0]).sin() + x[1])
    };
    let text: String = std::iter::once("a,b,target\n".to_owned()).chain((0..400).map(row)).collect();
    std::fs::write(folder.path().join("casp.csv"), text).unwrap();
    let report = standing::run_in(&plan(1), Some(folder.path()), usize::MAX).unwrap();
    let table = report.find_table("quality_standing").unwrap().csv();
    assert!(table.contains("casp,permuted,400,2,") && table.contains(",0.56533,rv-amf,"), "{table}");
    let claims = report.find_table("quality_claims").unwrap().csv();
    assert!(claims.contains("ahead of refitted LightGBM on at least 7 of 10,1 of 1,"), "{claims}");
    assert_eq!(report.judged().len(), 4);
    let missing = report.remarks().next().unwrap();
    assert!(missing.subject.contains("ccpp") && !missing.subject.contains("casp"));
}
