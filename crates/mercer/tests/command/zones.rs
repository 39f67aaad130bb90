//! Zones of times: what clocks of a place show, at every command.

use std::fmt::Write as _;

use mercer::encoding::Zone;
use mercer::readers::{instant_text, parse_instant};

use crate::support::{Folder, object};

const ROWS: u32 = 400;

/// The same rows with times in UTC and as clocks in Vienna show them, over the end of summer time.
/// The target follows the local hour.
fn rows() -> Folder {
    let vienna = Zone::named("Europe/Vienna").unwrap();
    let begin = parse_instant("2024-10-18T00:00").unwrap();
    let (mut utc, mut local) = ("ts,y\n".to_owned(), "ts,y\n".to_owned());
    for t in 0..ROWS {
        // Half past, so that no row is of the hour that comes twice.
        let at = begin + 3600.0 * f64::from(t) + 1800.0;
        let shown = at + vienna.offset(at);
        if shown.rem_euclid(86_400.0) / 3600.0 < 3.0 {
            continue;
        }
        let hour = shown.rem_euclid(86_400.0) / 3600.0;
        let y = if (8.0..18.0).contains(&hour) { 5.0 } else { 1.0 };
        let _ = writeln!(utc, "{},{y}", instant_text(at));
        let _ = writeln!(local, "{},{y}", instant_text(shown).trim_end_matches('Z').replace('T', " "));
    }
    Folder::new().with("u.csv", utc).with("l.csv", local)
}

#[test]
fn a_zone_makes_local_times_and_those_of_utc_one() {
    let folder = rows();
    let eval = |file: &str, zone: &str| {
        let line = format!("eval {file} --learner krls --scale standard --target y --json {zone}");
        let found = object(&folder.run(&line).out);
        found["second_half"]["mse"].as_f64().unwrap()
    };
    let (zone, none) = ("--zone Europe/Vienna", "");
    let told = eval("l.csv", zone);
    assert!((told - eval("u.csv", zone)).abs() < 1e-9 * told, "{told}");
    // Without the zone the hours of UTC are others before and behind the change of clocks.
    let untold = eval("u.csv", none);
    assert!((told - untold).abs() > 1e-3 * told, "{told} {untold}");

    let said = folder.run("train l.csv --learner krls --scale standard --target y --zone Europe/Vienna --out m.mercer");
    assert!(said.err.contains("column \"ts\": time, by clocks of Europe/Vienna"), "{}", said.err);
    let [local, utc] = ["l.csv", "u.csv"].map(|file| folder.done(&format!("predict {file} --model m.mercer")));
    let numbers = |text: &str| text.lines().skip(1).map(|line| line.parse().unwrap()).collect::<Vec<f64>>();
    let (local, utc) = (numbers(&local), numbers(&utc));
    assert!(local.len() > 300 && local.iter().zip(&utc).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_eq!(folder.done("predict l.csv --model m.mercer --zone Europe/Vienna").lines().count(), local.len() + 1);
    folder.refused(2, "predict l.csv --model m.mercer --zone Asia/Tokyo", &["by clocks of Europe/Vienna", "--zone"]);
    folder.run("train l.csv --learner krls --scale standard --target y --out n.mercer");
    folder.refused(2, "predict l.csv --model n.mercer --zone Asia/Tokyo", &["without a zone", "leave --zone out"]);
}

/// Times of Parquet that have no zone are clocks' as those of text are; those in UTC are instants.
#[cfg(feature = "arrow")]
#[test]
fn times_without_a_zone_are_local_in_every_format() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, RecordBatch, TimestampMicrosecondArray};

    let folder = rows();
    let file = |name: &str, zone: Option<&str>| {
        let text = std::fs::read_to_string(folder.path(name)).unwrap();
        let cells: Vec<(i64, f64)> = text
            .lines()
            .skip(1)
            .map(|line| {
                let (time, y) = line.split_once(',').unwrap();
                ((parse_instant(time).unwrap() * 1e6) as i64, y.parse().unwrap())
            })
            .collect();
        let times = TimestampMicrosecondArray::from_iter_values(cells.iter().map(|row| row.0)).with_timezone_opt(zone);
        let targets = Float64Array::from_iter_values(cells.iter().map(|row| row.1));
        let columns = [("ts", Arc::new(times) as ArrayRef), ("y", Arc::new(targets))];
        crate::support::parquet(&RecordBatch::try_from_iter(columns).unwrap())
    };
    let (local, utc) = (file("l.csv", None), file("u.csv", Some("UTC")));
    let folder = folder.with("l.parquet", local).with("u.parquet", utc);
    let line = |file: &str| format!("{file} --target y --zone Europe/Vienna");
    let eval = |file: &str| {
        let found = object(&folder.run(&format!("eval {} --learner krls --scale standard --json", line(file))).out);
        found["second_half"]["mse"].as_f64().unwrap()
    };
    let told = eval("l.csv");
    for file in ["u.csv", "l.parquet", "u.parquet"] {
        let found = eval(file);
        assert!((found - told).abs() < 1e-9 * told, "{file}: {found} {told}");
    }
    let next = |line: &str| {
        let found = object(&folder.run(&format!("forecast {line} --steps 3 --json")).out);
        found["times"].as_array().unwrap().clone()
    };
    let zoned = next(&line("l.csv"));
    assert!(["u.csv", "l.parquet", "u.parquet"].iter().all(|file| next(&line(file)) == zoned), "{zoned:?}");
    assert!(next("l.parquet --target y") == next("l.csv --target y") && next("l.csv --target y") != zoned);
}

#[test]
fn sums_of_local_times_predict_those_of_utc() {
    let folder = rows();
    let fit = "fit l.csv --learner ridge --scale standard --scale-from l.csv --target y";
    let fitted = |zone: &str, file: &str| {
        folder.run(&format!("{fit} {zone} --out sums.mercer"));
        let said = folder.done(&format!("predict {file} --model sums.mercer"));
        said.lines().skip(1).map(|line| line.parse().unwrap()).collect::<Vec<f64>>()
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    let (local, utc) = (fitted("--zone Europe/Vienna", "l.csv"), fitted("--zone Europe/Vienna", "u.csv"));
    assert!(local.len() > 300 && near(&local, &utc));
    assert!(!near(&fitted("", "l.csv"), &fitted("", "u.csv")));
    folder.refused(2, "fit l.csv --learner ridge --zone Europe/Vienna --out s.mercer", &["--zone", "--scale-from"]);
}

#[test]
fn a_time_that_clocks_leave_out_is_a_gap_that_is_told() {
    let mut rows = "ts,y\n".to_owned();
    (0..48).for_each(|t| {
        let _ = writeln!(rows, "2024-03-30 {:02}:30,{}", t % 24, t % 5);
    });
    let folder = Folder::new().with("s.csv", rows + "2024-03-31 02:30,2\n2024-03-31 03:30,1\n");
    let said = folder.run("eval s.csv --learner krls --target y --zone Europe/Vienna");
    assert!(said.err.contains("\"2024-03-31 02:30\" does not fit"), "{}", said.err);
    assert!(!folder.run("eval s.csv --learner krls --target y").err.contains("fit"));
}

#[test]
fn a_zone_that_nothing_has_is_refused() {
    let folder = Folder::new().with("n.csv", "a,y\n1,2\n2,3\n4,5\n").with("n.svm", "1 1:2\n2 1:3\n");
    for line in ["eval n.csv --learner krls", "train n.csv --learner krls --out m.mercer", "eval n.svm --learner krls"]
    {
        folder.refused(2, &format!("{line} --zone Europe/Vienna"), &["--zone Europe/Vienna", "leave it out"]);
    }
    folder.refused(2, "eval laser --learner krls --zone Europe/Vienna", &["--zone Europe/Vienna"]);
    folder.refused(2, "koopman n.csv --trajectory --zone Europe/Vienna", &["without --time", "--zone"]);
    folder.refused(2, "koopman n.csv --trajectory --time a --zone Europe/Vienna", &["n.csv", "--zone"]);
    folder.refused(2, "inspect n.csv --zone Mars", &["no such time zone"]);
}

/// A trajectory goes on over the hour that comes twice.
#[test]
fn a_trajectory_of_local_times_is_that_of_utc() {
    let vienna = Zone::named("Europe/Vienna").unwrap();
    let begin = parse_instant("2024-10-24T00:00").unwrap();
    let (mut utc, mut local) = ("ts,x,v\n".to_owned(), "ts,x,v\n".to_owned());
    for t in 0..400_u32 {
        let (at, angle) = (begin + 1800.0 * f64::from(t), f64::from(t) / 5.0);
        let state = format!("{},{}", angle.sin(), angle.cos());
        let shown = instant_text(at + vienna.offset(at));
        let _ = writeln!(utc, "{},{state}", instant_text(at));
        let _ = writeln!(local, "{},{state}", shown.trim_end_matches('Z'));
    }
    let folder = Folder::new().with("u.csv", utc).with("l.csv", local);
    let pairs = |line: &str| object(&folder.run(&format!("koopman {line} --trajectory --time ts --json")).out);
    let (utc, told) = (pairs("u.csv"), pairs("l.csv --zone Europe/Vienna"));
    assert!(utc["pairs"].as_u64() > Some(380), "{utc}");
    assert_eq!((&told["pairs"], &told["eigenvalues"]), (&utc["pairs"], &utc["eigenvalues"]));
    folder.refused(1, "koopman l.csv --trajectory --time ts", &["l.csv", "2024-10-27T02:00"]);
}
