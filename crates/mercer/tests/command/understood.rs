//! Cells as files have them: each kind has the right value, or is told with its remedy.

use serde_json::Value;

use super::support::{Folder, Said, object};

/// The first column by `inspect`: its kind, and all that is said of it.
fn first_column(cells: &str) -> (String, String, Value) {
    let folder = Folder::new().with("t.csv", cells);
    let found = object(&folder.run("inspect t.csv --json").out);
    let column = found["columns"][0].clone();
    (column["kind"].as_str().unwrap().to_owned(), column["why"].as_str().unwrap_or_default().to_owned(), column)
}

fn table(name: &str, rows: usize, cell: impl Fn(usize) -> String) -> String {
    let rows = (0..rows).map(|t| format!("{},{}\n", cell(t), t * 7 % 5));
    format!("{name},y\n{}", rows.collect::<String>())
}

#[test]
fn times_that_are_digits() {
    for (name, cell, why, first) in [
        ("valid", (|t| format!("20200130{t:02}")) as fn(usize) -> String, "hour in ten digits", "2020-01-30T00:00:00Z"),
        ("start", |t| format!("20200130{t:02}45"), "minute in twelve digits", "2020-01-30T00:45:00Z"),
        ("start", |t| format!("20200130{t:02}4530"), "second in fourteen digits", "2020-01-30T00:45:30Z"),
        ("date", |t| format!("{}", 2_020_001 + t), "day of the year in seven digits", "2020-01-01T00:00:00Z"),
        ("time", |t| format!("{}", 638_000_000_000_000_000 + t * 36_000_000_000), "ticks of .NET", "2022-09-28"),
        (
            "ts",
            |t| format!("{}", if t < 12 { 1_700_000_000 + t } else { 1000 * (1_700_000_000 + t) }),
            "each by its size",
            "2023-11-14T22:13:20Z",
        ),
    ] {
        let (kind, told, column) = first_column(&table(name, 24, cell));
        assert!(kind == "time" && told.contains(why), "{why}: {column}");
        assert!(column["smallest"].as_str().unwrap().starts_with(first), "{why}: {column}");
    }
    // Seconds whose digits are no days stay seconds, and the numbers of rows stay numbers.
    assert!(first_column(&table("ts", 24, |t| (1_700_000_000 + t * 60).to_string())).1.contains("seconds since 1970"));
    assert_eq!(first_column(&table("order_id", 24, |t| format!("20200130{t:02}"))).0, "identifier");
    // Days of a program that counts from 1970, and those of a spreadsheet.
    let (kind, told, _) = first_column(&table("date", 24, |t| (19_000 + t).to_string()));
    assert!(kind == "number" && told.contains("1952-01-07") && told.contains("2022-01-08"), "{told}");
    assert_eq!(first_column(&table("date", 24, |t| (45_000 + t).to_string())).0, "time");
}

#[test]
fn times_in_doubt_are_told() {
    let day = |t: usize| format!("2024-05-{:02}", t % 28 + 1);
    let (_, told, _) = first_column(&table("due", 40, |t| if t == 9 { "9999-12-31".to_owned() } else { day(t) }));
    assert!(told.contains("9999-12-31 is far from all others; --gap 9999-12-31 tells"), "{told}");
    let clock = |t: usize| format!("2024-05-31T{t:02}:00{}", ["+02:00", ""][t % 2]);
    let (_, told, _) = first_column(&table("at", 24, clock));
    assert!(told.contains("some tell their offset from UTC; the others are read as UTC, and --zone tells"), "{told}");
    for plain in [table("due", 40, day), table("at", 24, |t| format!("2024-05-31T{t:02}:00+02:00"))] {
        assert_eq!(first_column(&plain).1, "");
    }
    // Timetables go on behind midnight.
    let (kind, _, column) = first_column(&table("departure", 26, |t| format!("{t:02}:10:00")));
    assert_eq!((kind.as_str(), column["largest"].as_f64()), ("number", Some(90_600.0)), "{column}");
}

#[test]
fn truth_values_beside_bits_are_two_categories() {
    let (kind, told, column) = first_column(&table("ok", 40, |t| ["TRUE", "1", "FALSE", "0"][t % 4].to_owned()));
    assert_eq!((kind.as_str(), column["distinct"].as_u64()), ("category", Some(2)), "{column}");
    assert!(!told.contains("is no number"), "{told}");
    assert_eq!(first_column(&table("ok", 40, |t| ["TRUE", "2", "FALSE", "0"][t % 4].to_owned())).2["distinct"], 4);
}

#[test]
fn units_that_nobody_knows_are_told() {
    let (kind, told, _) = first_column(&table("price", 40, |t| format!("{}円", 100 + t % 30)));
    assert!(kind == "category" && told.contains("may be the number 100; --as 'price=number' reads it so"), "{told}");
    let folder = Folder::new().with("t.csv", table("price", 60, |t| format!("{}円", 100 + t % 30)));
    let column = object(&folder.run("inspect t.csv --as price=number --json").out)["columns"][0].clone();
    assert_eq!((column["kind"].as_str(), column["smallest"].as_f64()), (Some("number"), Some(100.0)), "{column}");
}

/// A unit is one with a blank before it and without; another unit is not.
#[test]
fn a_unit_stands_behind_a_blank_or_not() {
    let of = |units: [&'static str; 2]| table("size", 60, move |t| format!("{}.5{}", t % 30, units[t % 2]));
    for units in [[" %", "%"], ["kg", " kg"], [" parsec", "\u{a0}parsec"]] {
        let (kind, told, column) = first_column(&of(units));
        let found = (kind.as_str(), column["smallest"].as_f64(), column["largest"].as_f64());
        assert_eq!(found, ("number", Some(0.5), Some(29.5)), "{units:?}: {told}");
        assert!(told.contains(units[0].trim()), "{told}");
    }
    assert!(first_column(&of(["kg", "mg"])).1.contains("are numbers written in two ways"));
}

/// Footnotes and spreads behind a number.
#[test]
fn numbers_with_marks_are_told() {
    for (cell, told) in [
        ((|t| format!("{}.25{}", t % 50, ["", "*", "**"][t % 3])) as fn(usize) -> String, "\"1.25*\""),
        (|t| format!("{}.25 ± 0.1", t % 50), "\"0.25 ± 0.1\""),
    ] {
        let (kind, why, _) = first_column(&table("v", 60, cell));
        assert!(kind != "number" && why.contains(&format!("{told} begins with a number")), "{kind}: {why}");
    }
    // Versions and sizes are names.
    for cell in [(|t| format!("1.{t}.2")) as fn(usize) -> String, |t| format!("{} x {}", t % 7, t % 5)] {
        assert!(!first_column(&table("v", 60, cell)).1.contains("begins with a number"));
    }
}

/// A spreadsheet writes what it shows.
#[test]
fn digits_that_are_cut_are_told() {
    let cut = |t: usize| format!("1.{:02}E+09", 60 + t % 30);
    for name in ["account", "ts"] {
        let (_, why, _) = first_column(&table(name, 60, cut));
        assert!(why.contains("\"1.60E+09\" may have lost digits in a spreadsheet"), "{name}: {why}");
    }
    let whole = |t: usize| format!("1.{:09}E+09", 600_000_000 + t);
    for cell in [whole as fn(usize) -> String, |t| format!("1.{t:02}e+09"), |t| format!("1.{t:02}E+02")] {
        assert!(!first_column(&table("mass", 60, cell)).1.contains("lost digits"));
    }
}

/// A spreadsheet has .3 where it shows 30 %.
#[test]
fn a_number_beside_parts_of_a_whole_is_a_gap() {
    let folder = Folder::new()
        .with("t.csv", table("p", 60, |t| format!("{} %", t % 5)))
        .with("typed.ndjson", "{\"p\": 0.03}\n")
        .with("text.csv", "p\n0.03\n")
        .with("gap.csv", "p\nNA\n");
    folder.run("train t.csv --target y --learner krls --out m.mercer");
    let answers: Vec<Said> = ["typed.ndjson --out-format csv", "text.csv", "gap.csv"]
        .iter()
        .map(|file| folder.run(&format!("predict {} --model m.mercer", file.split(' ').next().unwrap())))
        .collect();
    let number = |said: &Said| -> f64 {
        let line = said.out.lines().last().unwrap();
        line.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').rsplit(':').next().unwrap().parse().unwrap()
    };
    assert_eq!(number(&answers[0]), number(&answers[2]));
    assert_eq!(number(&answers[1]), number(&answers[2]));
    for said in &answers[..2] {
        assert!(said.err.contains("does not fit its column and counts as missing"), "{}", said.err);
    }
}

#[test]
fn each_line_of_one_column_is_answered() {
    let folder = Folder::new().with("t.csv", table("x", 60, |t| (t % 5).to_string())).with("p.csv", "x\n1\n\n3\n\n");
    for learner in ["auto", "krls"] {
        folder.run(&format!("train t.csv --target y --learner {learner} --out m.mercer"));
        let said = folder.run("predict p.csv --model m.mercer");
        assert!(said.err.contains("line 3, column 1 (\"x\"): the cell has no value"), "{}", said.err);
        let said = folder.run("predict p.csv --model m.mercer --on-error skip");
        let lines: Vec<&str> = said.out.lines().collect();
        assert!(matches!(lines[..], ["prediction", one, "", three] if one != three), "{}", said.out);
    }
}

#[test]
fn names_that_look_like_numbers_are_names() {
    let name = |t: usize| ["Mario", "Zelda", "Infinity", "47e8379"][if t < 8 { t % 2 } else { t % 4 }].to_owned();
    let folder = Folder::new().with("t.csv", table("game", 60, name));
    let said = folder.run("eval t.csv --target y --json");
    assert_eq!((said.code, object(&said.out)["rows"].as_u64()), (Some(0), Some(60)), "{}", said.err);
    let folder = folder.with("n.csv", table("x", 60, |t| if t == 9 { "1e999".to_owned() } else { t.to_string() }));
    let said = folder.run("eval n.csv --target y");
    assert!(said.err.contains("line 11, column 1 (\"x\"): \"1e999\" is not a finite number"), "{}", said.err);
}

#[test]
fn the_newest_rows_first_and_codes_as_a_target_are_told() {
    let day = |t: usize| format!("2024-{:02}-{:02}", 10 - t / 28, 28 - t % 28);
    let folder = Folder::new()
        .with("t.csv", table("day", 200, day))
        .with("codes.csv", table("x", 60, |t| t.to_string()).replace(",1\n", ",01010\n"));
    let said = folder.run("eval t.csv --target y").out;
    assert!(said.contains("column \"day\" falls from the first row to the last: the newest rows come first"), "{said}");
    let said = folder.run("eval codes.csv --target y").err;
    assert!(said.contains("some begin with a zero; --task class takes them as classes"), "{said}");
}

#[test]
fn quotes_behind_a_backslash_close_no_cell() {
    let row = |t: usize| format!("{t},\"say \\\"hi\\\", {}\",{}\n", t % 3, t % 5);
    let folder = Folder::new().with("t.csv", format!("x,name,y\n{}", (0..30).map(row).collect::<String>()));
    let said = folder.run("inspect t.csv --json");
    let columns = object(&said.out)["columns"].clone();
    assert_eq!((columns[1]["kind"].as_str(), columns[1]["distinct"].as_u64()), (Some("category"), Some(3)));
    assert!(said.err.contains("t.csv, line 2: has quotes in a cell behind a backslash"), "{}", said.err);
}
