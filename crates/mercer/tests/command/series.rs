//! Ordinary series: times found, rows missing and twice there, and what is forecast.

use serde_json::json;

use crate::support::Folder;
use crate::times::day_after;

/// A wave of 25 rows.
fn wave(t: usize) -> f64 {
    50.0 + 10.0 * (t as f64 / 4.0).sin()
}

/// `rows` rows of a time, which `time` writes, and a value.
fn timed(name: &str, rows: impl IntoIterator<Item = usize>, time: impl Fn(usize) -> String) -> String {
    let row = |t: usize| format!("{},{:.3}\n", time(t), wave(t));
    std::iter::once(format!("{name},y\n")).chain(rows.into_iter().map(row)).collect()
}

fn digits(t: usize) -> String {
    day_after("2020-12-01", t).replace('-', "")
}

fn slashes(t: usize) -> String {
    let day = day_after("2020-12-01", t);
    format!("{}/{}/{}", &day[8..], &day[5..7], &day[..4])
}

/// Dates are no series to be forecast, however they are written, and go on in the answer.
#[test]
fn times_are_found_and_go_on() {
    let month = |t: usize| format!("{}-{:02}", 2001 + t / 12, 1 + t % 12);
    let cases: [(&str, &str, String, [&str; 2]); 9] = [
        ("date", "1 day", timed("date", 0..90, |t| day_after("2020-12-01", t)), ["2021-03-01", "2021-03-02"]),
        ("date", "1 day", timed("date", 0..90, digits), ["2021-03-01", "2021-03-02"]),
        ("d", "1 day", timed("d", 0..90, digits), ["2021-03-01", "2021-03-02"]),
        ("date", "1 day", timed("date", 0..90, slashes), ["2021-03-01", "2021-03-02"]),
        (
            "timestamp",
            "30 minutes",
            timed("timestamp", 0..90, |t| (1_577_836_800 + 1800 * t).to_string()),
            ["2020-01-02T21:00Z", "2020-01-02T21:30Z"],
        ),
        ("m", "1 month", timed("m", 0..90, month), ["2008-07", "2008-08"]),
        ("q", "1 quarter", timed("q", 0..90, |t| format!("{}Q{}", 1990 + t / 4, 1 + t % 4)), ["2012Q3", "2012Q4"]),
        ("year", "1 year", timed("year", 0..90, |t| (1931 + t).to_string()), ["2021", "2022"]),
        (
            "at",
            "1 hour",
            timed("at", 0..90, |t| format!("{} {:02}:00", day_after("2024-02-28", t / 24), t % 24)),
            ["2024-03-02T18:00", "2024-03-02T19:00"],
        ),
    ];
    for (column, step, text, next) in cases {
        let folder = Folder::new().with("s.csv", &text);
        let said = folder.run("forecast s.csv --steps 2 --json");
        let found = format!("mercer: s.csv: column {column:?} holds the times, with a step of {step}\n");
        assert_eq!((said.code, said.err.as_str()), (Some(0), found.as_str()), "{text}");
        let report = crate::support::object(&said.out);
        assert_eq!(report["times"], json!(next), "{column}");
        assert_eq!(report["time"]["step"], step);
        assert_eq!((report["outputs"].as_u64(), report["time"]["missing_rows"].as_u64()), (Some(1), Some(0)));
        let told = folder.json(&format!("forecast s.csv --steps 2 --time {column} --predictions p.csv"));
        assert_eq!(told["forecast"], report["forecast"]);
        let lines = folder.read("p.csv");
        assert!(lines.starts_with("k,time,y\n0,"), "{lines}");
        assert!(lines.lines().last().unwrap().starts_with(&format!("91,{},", next[1])), "{lines}");
    }
}

#[test]
fn rows_that_run_backwards_are_refused_with_or_without_time() {
    let folder = Folder::new().with("s.csv", timed("date", (0..90).rev(), |t| day_after("2020-12-01", t)));
    for option in ["", "--time date"] {
        let said = folder.run(&format!("forecast s.csv --steps 2 {option}"));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
        for part in ["s.csv, line 3, column 1 (\"date\")", "2021-02-27", "is before", "sort the rows", "--ignore"] {
            assert!(said.err.contains(part), "{part}: {}", said.err);
        }
        assert!(!said.err.contains("evenly"), "{}", said.err);
    }
}

/// 2 days and a week are missing: the same as if they stood there without values.
#[test]
fn missing_rows_are_gaps_and_are_counted() {
    let is_there = |t: &usize| *t != 40 && *t != 41 && !(60..67).contains(t);
    let day = |t: usize| day_after("2021-01-01", t);
    let full = |t: usize| {
        let value = if is_there(&t) { format!("{:.3}", wave(t)) } else { String::new() };
        format!("{},{value}\n", day(t))
    };
    let full: String = std::iter::once("date,y\n".to_owned()).chain((0..120).map(full)).collect();
    let folder = Folder::new().with("gap.csv", timed("date", (0..120).filter(is_there), day)).with("na.csv", full);
    let said = folder.run("forecast gap.csv --time date --steps 1 --json");
    let told = "mercer: gap.csv: 9 rows are missing between others a step of 1 day apart, the first before line 42; they are put \
                in as gaps\n";
    assert_eq!(said.err, told);
    let (gap, full) = (crate::support::object(&said.out), folder.json("forecast na.csv --time date --steps 1"));
    assert_eq!((gap["rows"].as_u64(), gap["time"]["missing_rows"].as_u64()), (Some(120), Some(9)));
    for fact in ["rows", "scores", "forecast", "times"] {
        assert_eq!(gap[fact], full[fact], "{fact}");
    }
    let said = folder.run("forecast gap.csv --time date --steps 1");
    assert!(said.out.contains("date: a step of 1 day, 9 rows missing, until 2021-04-30"), "{}", said.out);
}

#[test]
fn a_time_that_comes_twice_is_refused_or_taken_together() {
    let twice = (0..50).flat_map(|t| if t == 20 { vec![t, t] } else { vec![t] });
    let folder = Folder::new().with("dup.csv", timed("date", twice, |t| day_after("2021-01-01", t)));
    let line = [
        "dup.csv, line 23, column 1 (\"date\")",
        "2021-01-21",
        "the row before, too",
        "sum, mean or last; --group NAME",
    ];
    folder.refused(1, "forecast dup.csv --time date", &line);
    let value = |how: &str| {
        let said = folder.run(&format!("forecast dup.csv --time date --repeats {how} --out m.mercer --json"));
        assert!(
            said.err.contains(&format!("1 row was taken together with others of their time ({how})")),
            "{}",
            said.err
        );
        crate::support::object(&said.out)["scores"]["baselines"]["running_mean"]["mse"].clone()
    };
    assert_eq!(value("mean"), value("last"));
    folder.refused(2, "forecast dup.csv --repeats maybe", &["--repeats"]);
}

/// A saved forecaster knows the step, and when its last row was.
#[test]
fn a_saved_series_goes_on_in_time() {
    let day = |t: usize| day_after("2021-01-01", t);
    let folder = Folder::new()
        .with("all.csv", timed("date", (0..100).filter(|t| !(70..73).contains(t)), day))
        .with("begin.csv", timed("date", 0..70, day))
        .with("end.csv", timed("date", 73..100, day));
    let all = crate::support::object(&folder.run("forecast all.csv --time date --steps 2 --json").out);
    folder.done("forecast begin.csv --time date --out m.mercer");
    let end = folder.run("forecast end.csv --time date --model m.mercer --steps 2 --json");
    assert!(end.err.contains("3 rows are missing"), "{}", end.err);
    let end = crate::support::object(&end.out);
    for fact in ["rows", "mse", "forecast", "times"] {
        assert_eq!(end[fact], all[fact], "{fact}");
    }
    folder.refused(1, "forecast begin.csv --time date --model m.mercer", &["begin.csv, line 2", "is not behind"]);
}

#[test]
fn targets_are_chosen_by_name() {
    let rows: String = (0..90).map(|t| format!("{},{},{:.3}\n", t % 7, wave(t), wave(t + 3))).collect();
    let folder = Folder::new().with("s.csv", format!("promo,y,z\n{rows}")).with("z.csv", {
        let rows: String = (0..90).map(|t| format!("{:.3}\n", wave(t + 3))).collect();
        format!("z\n{rows}")
    });
    let alone = folder.json("forecast z.csv --steps 2 --method opf");
    let chosen = folder.json("forecast s.csv --steps 2 --method opf --target z");
    for fact in ["mse", "forecast", "outputs"] {
        assert_eq!(chosen[fact], alone[fact], "{fact}");
    }
    assert_eq!(folder.json("forecast s.csv --method opf --target y,z")["outputs"].as_u64(), Some(2));
    folder.refused(1, "forecast s.csv --target no", &["--target \"no\": there is no such column", "\"promo\""]);
    let with_input = folder.json("forecast s.csv --method opf --target z --inputs promo");
    assert_eq!((with_input["outputs"].as_u64(), with_input["parameters"]["inputs"].as_u64()), (Some(1), Some(1)));
}

/// As spreadsheets write money and shares, beside what a program writes.
#[test]
fn numbers_with_something_around_them_are_forecast() {
    let row = |t: usize, money: &dyn Fn(f64) -> String| {
        let (day, share) = (day_after("2024-01-01", t), 10 + t * 7 % 80);
        format!("{day};{};{share}", money(40.0 * wave(t) + share as f64))
    };
    let euros = |value: f64| {
        let cents = (100.0 * value).round() as u64;
        format!("{}.{:03},{:02} €", cents / 100_000, cents / 100 % 1000, cents % 100)
    };
    let plain = |value: f64| format!("{value:.2}");
    let table = |rows: std::ops::Range<usize>, money: &dyn Fn(f64) -> String, behind: &str| {
        let lines: String = rows.map(|t| format!("{}{behind}\n", row(t, money))).collect();
        format!("day;sold;share\n{lines}")
    };
    let folder = Folder::new()
        .with("plain.csv", table(0..90, &plain, ""))
        .with("marked.csv", table(0..90, &euros, " %"))
        .with("plain_future.csv", table(90..92, &plain, ""))
        .with("marked_future.csv", table(90..92, &euros, " %"));
    for options in ["--target sold", "--target sold --ignore day --method experts", "--target sold,share"] {
        let said = |file: &str| folder.json(&format!("forecast {file}.csv --steps 2 {options} -q"))["forecast"].clone();
        assert_eq!(said("marked"), said("plain"), "{options}");
    }
    let with_inputs = |file: &str| {
        let options = format!("--target sold --known share --future {file}_future.csv --steps 2 -q");
        folder.json(&format!("forecast {file}.csv {options}"))["forecast"].clone()
    };
    assert_eq!(with_inputs("marked"), with_inputs("plain"));
    let said = folder.run("forecast marked.csv --steps 1");
    let told = "mercer: marked.csv: column \"sold\": number, written with \" €\", thousands by \".\", decimal commas\n";
    assert!(said.err.contains(told), "{}", said.err);
}
