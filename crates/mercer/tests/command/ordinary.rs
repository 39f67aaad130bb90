//! Ordinary files, each made here, go through `eval --learner auto` with no option at all.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::support::{Folder, object};

const ROWS: usize = 600;

/// Noise in [0, 1), whatever the platform.
fn noise(t: usize) -> f64 {
    (t.wrapping_mul(2_654_435_761) % 1_000_003) as f64 / 1_000_003.0
}

/// The report of `eval --learner auto`.
fn eval(folder: &Folder, file: &str) -> Value {
    let said = folder.run(&format!("eval {file} --learner auto --json"));
    assert_eq!(said.code, Some(0), "{file}: {}", said.err);
    object(&said.out)
}

/// Over the later half.
fn later(report: &Value, key: &str) -> f64 {
    report["second_half"][key].as_f64().unwrap()
}

/// Semicolons, decimal commas, points between thousands left out, a date as it is written there.
#[test]
fn a_european_table() {
    let mut text = "Datum;Filiale;Fläche;Umsatz in €\n".to_owned();
    for t in 0..ROWS {
        let (shop, area) = (["Köln", "Wien", "Zürich"][t % 3], 50.0 + 100.0 * noise(t));
        let sales = 1000.0 * (1 + t % 3) as f64 + 12.5 * area;
        let line = format!("{:02}.{:02}.2024;{shop};{area:.2};{sales:.2}\n", 1 + t % 28, 1 + t / 28 % 12);
        text += &line.replacen('.', "\u{1}", 2).replace('.', ",").replace('\u{1}', ".");
    }
    let folder = Folder::new().with("umsatz.csv", text);
    let report = eval(&folder, "umsatz.csv");
    assert_eq!(report["rows"].as_u64(), Some(ROWS as u64));
    assert!(later(&report, "r2") > 0.9, "{report}");
}

/// A mark before the text, line ends of two characters, and quotes around cells with separators,
/// quotes and line ends.
#[test]
fn an_export_of_a_spreadsheet() {
    let mut text = "\u{feff}\"Item, with unit\",Remark,Pieces,Price\r\n".to_owned();
    for t in 0..ROWS {
        let item = ["\"Screw, M3\"", "\"Nut \"\"hex\"\"\"", "Washer"][t % 3];
        let _ =
            write!(text, "{item},\"first line\r\nsecond, no {t}\",{},{}\r\n", 1 + t % 40, (1 + t % 3) * (1 + t % 40));
    }
    let folder = Folder::new().with("items.csv", text);
    let report = eval(&folder, "items.csv");
    assert_eq!(report["rows"].as_u64(), Some(ROWS as u64));
    assert!(later(&report, "r2") > 0.9, "{report}");
}

/// A date, three categories, one of them with 5,000 values, and 10% gaps.
#[test]
fn many_categories_and_gaps() {
    let rows = 6000;
    let mut text = "when,customer,plan,region,usage,bill\n".to_owned();
    for t in 0..rows {
        let gap = |column: usize, cell: String| if noise(7 * t + column) < 0.1 { String::new() } else { cell };
        let (plan, usage) = (t * 5 % 3, 100.0 * noise(t + 1));
        let _ = writeln!(
            text,
            "{},{},{},{},{},{:.3}",
            gap(1, format!("2024-{:02}-{:02} {:02}:30", 1 + t / 500 % 12, 1 + t % 28, t % 24)),
            gap(2, format!("c{}", t * 7919 % 5000)),
            gap(3, ["basic", "plus", "pro"][plan].to_owned()),
            gap(4, ["north", "south", "east", "west"][t % 4].to_owned()),
            gap(5, format!("{usage:.2}")),
            10.0 * (1 + plan) as f64 + 0.2 * usage,
        );
    }
    let folder = Folder::new().with("bills.csv", text);
    let report = eval(&folder, "bills.csv");
    assert_eq!(report["rows"].as_u64(), Some(rows as u64));
    assert!(later(&report, "r2") > 0.6, "{report}");
}

/// Classes that are text, and columns of names, tickets and cabins.
#[test]
fn classes_of_passengers() {
    let mut text = "PassengerId,Pclass,Name,Sex,Age,Ticket,Fare,Cabin,Embarked,Survived\n".to_owned();
    for t in 0..ROWS {
        let (class, sex) = (1 + t * 5 % 3, ["male", "female"][t * 11 / 3 % 2]);
        let age = if noise(t) < 0.2 { String::new() } else { format!("{}", 1 + t * 13 % 70) };
        let cabin = if t % 4 == 0 { format!("C{}", t * 3 % 120) } else { String::new() };
        let survived = if sex == "female" && (class < 3 || t % 3 == 0) || t % 17 == 0 { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "{},{class},\"Doe{t}, Mr. Richard Roe {t}\",{sex},{age},A/5 {},{:.2},{cabin},{},{survived}",
            t + 1,
            20_000 + t * 37 % 500,
            80.0 / class as f64 + 5.0 * noise(t),
            ["S", "C", "Q", ""][t % 4],
        );
    }
    let folder = Folder::new().with("passengers.csv", text);
    let report = eval(&folder, "passengers.csv");
    assert!(later(&report, "accuracy") > 0.85, "{report}");
}

#[test]
fn a_parquet_file_with_nulls_and_a_dictionary() {
    let cities: DictionaryArray<Int32Type> =
        (0..ROWS).map(|t| (t % 10 != 3).then(|| ["Ulm", "Bonn", "Kiel"][t % 3])).collect();
    let size: Float64Array = (0..ROWS).map(|t| (t % 8 != 5).then(|| 100.0 * noise(t))).collect();
    let rooms: Int64Array = (0..ROWS).map(|t| Some((1 + t * 5 % 4) as i64)).collect();
    let price: Float64Array =
        (0..ROWS).map(|t| Some(1e5 * (1 + t % 3) as f64 + 1e4 * (1 + t * 5 % 4) as f64 + 500.0 * noise(t))).collect();
    let columns: [(&str, ArrayRef); 4] =
        [("city", Arc::new(cities)), ("size", Arc::new(size)), ("rooms", Arc::new(rooms)), ("price", Arc::new(price))];
    let columns = columns.map(|(name, values)| (name, values, true));
    let (table, mut bytes) = (RecordBatch::try_from_iter_with_nullable(columns).unwrap(), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let folder = Folder::new().with("homes.parquet", bytes);
    let report = eval(&folder, "homes.parquet");
    assert_eq!(report["rows"].as_u64(), Some(ROWS as u64));
    assert!(later(&report, "r2") > 0.7, "{report}");
}

/// Keys that are missing in some lines are gaps; a value within a value is refused in words.
#[test]
fn lines_of_json_with_missing_and_nested_keys() {
    let mut text = String::new();
    for t in 0..ROWS {
        let colour = if t % 6 == 4 { String::new() } else { format!("\"colour\":\"{}\",", ["red", "blue"][t % 2]) };
        let size = if t % 9 == 7 { "null".to_owned() } else { format!("{:.3}", noise(t)) };
        let _ = writeln!(text, "{{{colour}\"size\":{size},\"y\":{:.3}}}", 3.0 * (t % 2) as f64 + noise(t));
    }
    // A key that the first line lacks.
    let (first, rest) = text.split_once('\n').unwrap();
    let late = first.replacen("\"colour\":\"red\",", "", 1);
    assert_ne!(late, first);
    let folder = Folder::new().with("late.ndjson", format!("{late}\n{rest}")).with("things.ndjson", &text);
    let report = eval(&folder, "late.ndjson");
    assert!(later(&report, "r2") > 0.7, "{report}");
    folder.done("train late.ndjson --learner krls --out m.mercer --quiet");
    let lines = folder.done("predict late.ndjson --model m.mercer");
    assert_eq!(lines.lines().count(), ROWS);
    let facts = folder.json("inspect late.ndjson");
    let names: Vec<&str> =
        facts["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["size", "colour", "y"]);
    let nested = text.replacen("\"size\":", "\"place\":{\"x\":[1]},\"size\":", 1);
    let folder = folder.with("nested.ndjson", nested);
    let report = eval(&folder, "things.ndjson");
    assert_eq!(report["rows"].as_u64(), Some(ROWS as u64));
    assert!(later(&report, "r2") > 0.7, "{report}");
    folder.refused(
        1,
        "eval nested.ndjson --learner auto --quiet",
        &["nested.ndjson, line 1, column 2 (\"place\")", "holds lists in lists"],
    );
}

#[test]
fn a_series_with_times() {
    let mut text = "timestamp,load\n".to_owned();
    for t in 0..ROWS {
        let _ = writeln!(text, "2024-03-{:02}T{:02}:00:00,{:.4}", 1 + t / 24, t % 24, 10.0 + (t as f64 / 7.0).sin());
    }
    let folder = Folder::new().with("load.csv", text);
    let said = folder.run("forecast load.csv --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let report = object(&said.out);
    assert_eq!((report["rows"].as_u64(), report["outputs"].as_u64()), (Some(ROWS as u64), Some(1)));
    assert!(report["mse"].as_f64().unwrap() < 0.01, "{report}");
}

#[test]
fn hashes_are_cells_where_a_row_has_one() {
    let rows: String = (0..60).map(|t| format!("{},{}\n", ["#sale", "plain"][t % 2], [1, 9][t % 2])).collect();
    let folder = Folder::new()
        .with("t.csv", format!("tag,y\n{rows}"))
        .with("new.csv", "tag\n#sale\nplain\n# a word on the rows\n#sale\n");
    folder.run("train t.csv --target y --learner krls --scale standard --out m.mercer");
    let said = folder.done("predict new.csv --model m.mercer");
    let predicted: Vec<f64> = said.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(predicted.len() == 3 && predicted[0] < 4.0 && predicted[1] > 6.0 && predicted[0] == predicted[2], "{said}");
}

#[test]
fn numbers_of_columns_are_a_header_beside_a_name() {
    let row = |t: usize| format!("{}.5,{},{},{}\n", t % 7, t % 5, t % 3, ["cat", "dog"][t % 2]);
    let rows: String = (0..60).map(row).collect();
    let folder =
        Folder::new().with("t.csv", format!("0,1,2,label\n{rows}")).with("data.csv", format!("0,1,2,cat\n{rows}"));
    let said = folder.run("eval t.csv --learner krls --scale standard --json");
    assert!(said.err.contains("line 1") && said.err.contains("is read as a header"), "{}", said.err);
    let facts = object(&said.out);
    assert_eq!((facts["rows"].as_u64(), facts["task"].as_str()), (Some(60), Some("class")));
    // A class that comes again is no name.
    assert_eq!(folder.json("eval data.csv --learner krls --scale standard")["rows"], 61);
}

#[test]
fn times_are_no_classes_unless_they_are_called_so() {
    let rows: String = (0..60).map(|t| format!("{},2021-{:02}-{:02}\n", t % 7, 1 + t / 28, 1 + t % 28)).collect();
    let folder = Folder::new().with("t.csv", format!("x,due\n{rows}"));
    for command in [
        "eval t.csv --learner krls",
        "train t.csv --learner krls --out m.mercer",
        "tune t.csv --learner krls --trials 2",
        "compare t.csv --learners krls,klms",
        "fit t.csv --learner ridge --out m.mercer",
        "fit t.csv --learner ridge --scale standard --scale-from t.csv --out m.mercer",
    ] {
        let refusal = ["\"due\"", "60 different times", "--as due=duration"];
        folder.refused(1, &format!("{command} --target due"), &refusal);
    }
    let facts = folder.json("inspect t.csv --target due");
    assert!(facts["notes"][0].as_str().unwrap().contains("60 different times"), "{facts}");
    let names: String = (0..60).map(|t| format!("{},n{t}\n", t % 7)).collect();
    let folder = folder.with("n.csv", format!("x,name\n{names}"));
    folder.refused(1, "fit n.csv --target name --learner ridge --out m.mercer", &["60 different texts"]);
    folder.done("fit n.csv --target name --task class --learner ridge --out m.mercer");
    assert_eq!(folder.run("eval t.csv --target due --task class --learner krls").code, Some(0));
}

#[test]
fn rows_learnt_before_a_bad_one_are_told() {
    let rows: String = (0..40).map(|t| format!("{},{}\n", t % 7, 2 * (t % 7))).collect();
    let folder = Folder::new().with("t.csv", format!("x,y\n{rows}")).with("more.csv", "x,y\n1,2\n2,4\n3,z\n");
    folder.run("train t.csv --learner krls --scale standard --out m.mercer");
    let said = folder.run("predict more.csv --model m.mercer --learn");
    assert!(said.code == Some(1) && said.err.contains("2 rows were learnt before the run stopped"), "{}", said.err);
    assert_eq!(folder.json("inspect m.mercer")["rows"], 42);
}
