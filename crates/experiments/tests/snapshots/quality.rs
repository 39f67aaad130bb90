//! `auto` beside its peers, on the bundled set and on streams written for the test.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use crate::judgement::ComparisonKind;
use crate::plan::Plan;
use crate::report::Report;
use crate::table::TableVerdict;

use super::{plan, rounded, run};

fn lines(csv: &str) -> String {
    csv.lines().map(|line| rounded(line) + "\n").collect()
}

#[test]
fn quality_without_the_streams() {
    let tables = |threads| {
        let plan = plan(threads);
        let standing = run("quality_standing", &plan, 400);
        let budgets = run("quality_budgets", &plan, 300);
        assert_eq!((standing.remarks().count(), budgets.remarks().count()), (1, 1));
        let tables = ["quality_standing", "quality_start"].map(|stem| lines(&standing.find_table(stem).unwrap().csv()));
        [tables.join("\n"), lines(&budgets.find_table("quality_budgets").unwrap().csv())].join("\n")
    };
    let two = tables(2);
    assert_eq!(two, tables(1));
    insta::assert_snapshot!("quality", two);
}

/// On the streams of this folder.
fn run_in(name: &str, threads: usize, folder: &Path, rows: usize) -> Report {
    run(name, &Plan { quality: Some(folder.to_owned()), ..plan(threads) }, rows)
}

/// Writes a stream of two features with this target.
fn write<T: Display>(path: &Path, rows: usize, target: impl Fn([f64; 2]) -> T) {
    let row = |t: usize| {
        let x = [0.37, 0.71].map(|step| (t as f64 * step).sin());
        format!("{},{},{}\n", x[0], x[1], target(x))
    };
    let text: String = std::iter::once("a,b,target\n".to_owned()).chain((0..rows).map(row)).collect();
    fs::write(path, text).unwrap();
}

/// A stream that is there is compared with its peers on all of its rows and judged; the others are
/// named.
#[test]
fn a_stream_that_is_there_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("casp.csv"), 400, |x| (3.0 * x[0]).sin() + x[1]);
    let report = run_in("quality_standing", 1, folder.path(), usize::MAX);
    let table = report.find_table("quality_standing").unwrap().csv();
    assert!(table.contains("casp,permuted,400,2,") && table.contains(",0.50437,rv-amf-std,"), "{table}");
    let claims = report.find_table("quality_claims").unwrap().csv();
    assert!(claims.contains("ahead of refitted LightGBM on at least 7 of 10,1 of 1,"), "{claims}");
    assert_eq!(report.judged().len(), 4);
    let missing = report.remarks().next().unwrap();
    assert!(missing.subject.contains("ccpp") && !missing.subject.contains("casp"));
    assert!(!missing.subject.contains("class_"));
}

/// The peers' first rows stand beside those of a shortened run, too, once it has as many.
#[test]
fn first_rows_stand_beside_the_peers() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("casp.csv"), 1100, |x| (3.0 * x[0]).sin() + x[1]);
    for (rows, shown, judged) in [(999, false, 0), (1000, true, 0), (usize::MAX, true, 1)] {
        let report = run_in("quality_standing", 2, folder.path(), rows);
        let table = report.find_table("quality_start").unwrap().csv();
        assert_eq!(table.contains("0.785427"), shown, "{rows}: {table}");
        let of_first = |judged: &&TableVerdict| judged.subject.starts_with("first 1000 rows");
        assert_eq!(report.judged().iter().filter(of_first).count(), judged, "{rows}");
    }
}

#[test]
fn classes_without_the_streams_are_not_run() {
    let report = run("quality_classes", &plan(1), 400);
    let missing = report.remarks().next().unwrap();
    assert_eq!((missing.missing, report.judged().len()), (Some((ComparisonKind::Claim, 12)), 0));
    assert!(missing.subject.starts_with("class_ijcnn1, ") && missing.subject.ends_with("class_segments"));
    assert!(report.find_table("quality_classes").is_none());
}

/// A shortened run shows no peer and judges nothing; a whole one does both. The numbers are the
/// same for every number of threads.
#[test]
fn classes_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("class_cod_rna.csv"), 500, |x| if x[0] * x[1] > 0.1 { 1 } else { -1 });
    write(&folder.path().join("class_digits.csv"), 400, |x| (2.0 * (x[0] + x[1] + 2.0)).floor());
    let tables = |threads, rows| {
        let report = run_in("quality_classes", threads, folder.path(), rows);
        let judged = report.judged().len();
        assert_eq!(report.remarks().next().unwrap().missing, Some((ComparisonKind::Claim, 8)));
        let table = |stem| lines(&report.find_table(stem).unwrap().csv());
        (["quality_classes", "quality_log_loss"].map(table).join("\n"), judged)
    };
    let (two, one) = (tables(2, 300), tables(1, 300));
    assert_eq!((&two, two.1), (&one, 0));
    let (whole, judged) = tables(2, usize::MAX);
    assert_eq!(judged, 2);
    insta::assert_snapshot!("quality_classes", [two.0, whole].join("\n"));
}
