//! Times in forms that look like others: what is read as what, and what is told.

use std::fmt::Write as _;

use mercer::readers::instant_text;
use serde_json::Value;

use crate::support::{Folder, object};

/// A table of one column and a target of its hour or place.
fn table(name: &str, rows: usize, cell: impl Fn(usize) -> String) -> String {
    (0..rows).fold(format!("{name},y\n"), |mut text, t| {
        let _ = writeln!(text, "{},{}", cell(t), 5 * t % 24);
        text
    })
}

/// The first column by `inspect`.
fn first_column(folder: &Folder, file: &str) -> Value {
    object(&folder.run(&format!("inspect {file} --json")).out)["columns"][0].clone()
}

/// Every fifth hour from the second of May 2023 on.
fn hour(t: usize, zone: &str) -> String {
    format!("{}{zone}", &instant_text((1_682_985_600 + 18_000 * t) as f64)[..16])
}

#[test]
fn a_mark_of_gaps_among_numbers_leaves_a_column_of_times() {
    let odd = |t: usize, mark: &str, time: String| if t % 60 == 3 { mark.to_owned() } else { time };
    let day = |t: usize| format!("2023{:02}{:02}", 1 + t / 28 % 12, 1 + t % 28);
    let folder = Folder::new()
        .with("zero.csv", table("timestamp", 200, |t| odd(t, "0", (1_672_531_200 + t * 18_000).to_string())))
        .with("minus.csv", table("epoch", 200, |t| odd(t, "-1", (1_672_531_200 + t * 18_000).to_string())))
        .with("digits.csv", table("day", 200, |t| odd(t, "0", day(t))))
        .with("serial.csv", table("date", 200, |t| odd(t, "0", (45_000 + t).to_string())))
        .with("count.csv", table("time", 200, |t| (90_000_000 + t * t * 700).to_string()));
    for (file, mark) in [("zero.csv", "0"), ("minus.csv", "-1"), ("digits.csv", "0"), ("serial.csv", "0")] {
        let column = first_column(&folder, file);
        assert_eq!((column["kind"].as_str(), column["missing"].as_u64()), (Some("time"), Some(4)), "{file}: {column}");
        let why = format!("\"{mark}\" is no time, and such cells count as missing");
        assert!(column["why"].as_str().unwrap().contains(&why), "{file}: {column}");
    }
    // Many numbers that are no times are no marks.
    assert_eq!(first_column(&folder, "count.csv")["kind"], "number");
}

#[test]
fn spans_are_read_as_their_beginning() {
    let slot = |t: usize| format!("{:02}:00-{:02}:00", t % 24, (t + 1) % 24);
    let folder = Folder::new()
        .with("slot.csv", table("hour", 200, slot))
        .with("offset.csv", table("hour", 200, |t| format!("{:02}:00-06:00", t % 24)))
        .with("years.csv", table("year", 12, |t| format!("{}-{:02}", 1995 + t, (1996 + t) % 100)))
        .with("series.csv", table("t", 23, |t| format!("2023-03-01 {t:02}:00-{:02}:00", t + 1)));
    let column = first_column(&folder, "slot.csv");
    assert_eq!(
        (&column["kind"], &column["smallest"], &column["largest"]),
        (&"time".into(), &"00:00:00".into(), &"23:00:00".into())
    );
    assert!(column["why"].as_str().unwrap().contains("spans of time, by their beginning"), "{column}");
    assert!(!first_column(&folder, "offset.csv")["why"].as_str().unwrap().contains("span"));
    let times = |file: &str| object(&folder.run(&format!("forecast {file} --steps 2 --json")).out)["times"].clone();
    assert_eq!(times("series.csv"), serde_json::json!(["2023-03-01T23:00", "2023-03-02T00:00"]));
    assert_eq!(times("years.csv"), serde_json::json!(["2007", "2008"]));
}

/// What a model is asked in another form than it has learnt is read as it stands, and told.
#[test]
fn other_offsets_and_other_precisions_are_told() {
    let folder = Folder::new()
        .with("ahead.csv", table("t", 100, |t| hour(t, "+06:00")))
        .with("none.csv", table("t", 100, |t| hour(t, "")))
        .with("zulu.csv", table("t", 100, |t| hour(t, "Z")))
        .with("clock.csv", table("t", 100, |t| hour(t, "")[11..].to_owned()))
        .with("day.csv", table("t", 100, |t| hour(t, "")[..10].to_owned()));
    for name in ["ahead", "none", "clock", "day"] {
        folder.run(&format!("train {name}.csv --target y --learner krls --scale standard --out {name}.mercer"));
    }
    for (model, file, odd) in [
        ("ahead", "none", true),
        ("none", "ahead", true),
        ("none", "clock", true),
        ("none", "day", true),
        ("clock", "none", true),
        ("day", "none", true),
        ("none", "none", false),
        ("none", "zulu", false),
        ("ahead", "ahead", false),
        ("clock", "clock", false),
        ("day", "day", false),
    ] {
        let said = folder.run(&format!("predict {file}.csv --model {model}.mercer"));
        assert_eq!(said.code, Some(0), "{}", said.err);
        let told = said.err.contains("is a time written otherwise than those learnt")
            && said.err.contains("cells were times written otherwise than those learnt");
        assert_eq!(told, odd, "{file} by {model}: {}", said.err);
    }
}

/// A series goes on behind a model whose times are told otherwise, and that is told, too.
#[test]
fn a_series_with_other_offsets_goes_on_and_is_told() {
    let rows = |rows: std::ops::Range<usize>, zone: &str| {
        rows.fold("t,y\n".to_owned(), |mut text, t| {
            let at = instant_text((1_682_899_200 + 3600 * t) as f64);
            let _ = writeln!(text, "{}{zone},{}", &at[..16], t % 24);
            text
        })
    };
    let folder = Folder::new()
        .with("a.csv", rows(0..200, ""))
        .with("ahead.csv", rows(205..230, "+05:00"))
        .with("behind.csv", rows(205..230, ""));
    folder.run("forecast a.csv --out a.mercer");
    for (file, told) in [("ahead.csv", true), ("behind.csv", false)] {
        let said = folder.run(&format!("forecast {file} --model a.mercer --steps 1"));
        let words = "column \"t\": its times tell their offset from UTC, and those that the model has observed do not";
        assert_eq!((said.code, said.err.contains(words)), (Some(0), told), "{}", said.err);
    }
}

#[test]
fn years_may_stand_first_in_two_digits() {
    let day = |t: usize| instant_text((1_672_531_200 + 86_400 * t) as f64)[2..10].to_owned();
    let folder = Folder::new().with("d.csv", table("day", 60, day)).with("short.csv", table("day", 9, day));
    let next =
        |line: &str| object(&folder.run(&format!("forecast {line} --target y --steps 1 --json")).out)["times"].clone();
    assert_eq!(next("d.csv")[0], "2023-03-02");
    let column = object(&folder.run("inspect short.csv --as day=ymd --json").out)["columns"][0].clone();
    assert_eq!(column["smallest"], "2023-01-01T00:00:00Z");
    // Days of a month in order stand first as ever.
    let folder = folder.with(
        "first.csv",
        table("day", 60, |t| {
            let day = instant_text((1_672_531_200 + 86_400 * t) as f64);
            format!("{}-{}-{}", &day[8..10], &day[5..7], &day[2..4])
        }),
    );
    let said = folder.run("forecast first.csv --target y --steps 1 --json");
    assert_eq!(object(&said.out)["times"][0], "2023-03-02", "{}", said.err);
}

/// Times of samples that were not taken evenly are no states.
#[test]
fn uneven_times_order_the_rows() {
    let rows = |name: &str| {
        (0..120).fold(format!("{name},x,z\n"), |mut text, t| {
            let (at, angle) = (0.1 * f64::from(t) + 0.03 * f64::from(t * 7 % 5), 0.3 * f64::from(t));
            let _ = writeln!(text, "{at:.4},{:.5},{:.5}", angle.cos(), angle.sin());
            text
        })
    };
    let folder = Folder::new().with("k.csv", rows("time")).with("other.csv", rows("load"));
    let said = folder.run("koopman k.csv --trajectory --json");
    assert!(said.err.contains("column \"time\": left out, for it counts rows or time"), "{}", said.err);
    let said = folder.run("forecast k.csv --steps 1 --json");
    assert!(said.err.contains("\"time\" (counts rows or time) is not"), "{}", said.err);
    assert!(!folder.run("koopman other.csv --trajectory --json").err.contains("left out"));
}

#[test]
fn quarters_beside_years_have_letters() {
    let row = |t: usize, quarter: &str| format!("{},{quarter},{}\n", 2015 + t / 4, t % 4);
    let file = |name: &dyn Fn(usize) -> String| {
        "year,quarter,y\n".to_owned() + &(0..32).map(|t| row(t, &name(t % 4 + 1))).collect::<String>()
    };
    let folder = Folder::new()
        .with("q.csv", file(&|quarter| format!("Q{quarter}")))
        .with("t.csv", file(&|quarter| format!("{quarter}T")))
        .with("n.csv", file(&|quarter| quarter.to_string()));
    let times = |file: &str| {
        let said = folder.run(&format!("forecast {file} --steps 2 --json"));
        assert_eq!(said.code, Some(0), "{file}: {}", said.err);
        object(&said.out)["times"].clone()
    };
    assert_eq!(times("n.csv").as_array().unwrap().len(), 2);
    assert_eq!((times("q.csv"), times("t.csv")), (times("n.csv"), times("n.csv")));
}

#[test]
fn a_column_may_be_called_by_a_number_sign() {
    let rows: String = (0..100).map(|i| format!("{i},{},{}\n", i % 7, 2 * (i % 7))).collect();
    let folder = Folder::new()
        .with("h.csv", format!("#,x,y\n{rows}"))
        .with("c.csv", format!("# id,x,y\n{rows}"))
        .with("p.csv", "x,#,y\n3,5,0\n5,6,0\n");
    let names = |file: &str| {
        let columns = object(&folder.run(&format!("inspect {file} --json")).out)["columns"].clone();
        columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("h.csv"), ["#", "x", "y"]);
    assert_eq!(names("c.csv"), ["id", "x", "y"]);
    folder.run("train h.csv --target y --learner krls --scale standard --quiet --out m.mercer");
    let said = folder.run("predict p.csv --model m.mercer");
    let made: Vec<f64> =
        said.out.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!((made[0] - 6.0).abs() < 1.0 && (made[1] - 10.0).abs() < 1.0, "{}", said.out);
}
