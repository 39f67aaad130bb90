//! Doors × values: one table with every kind of column through every door. A model that was trained
//! from one predicts the rows of any other, and all commands agree on what a column is.

use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DurationSecondArray, Float64Array, Int64Array, RecordBatch, StringArray,
    Time32SecondArray, TimestampMicrosecondArray,
};
use mercer::readers::instant_text;
use serde_json::Value;

use crate::support::{Folder, arrow_stream, noise, object, parquet};

const ROWS: usize = 60;

/// A value of a row, with its column.
#[derive(Clone, Copy)]
struct Row {
    flag: bool,
    /// Seconds since 1970.
    instant: i64,
    /// Days since 1970.
    day: i32,
    /// Seconds since midnight.
    clock: i32,
    /// Seconds that something took, some more than a day.
    took: i64,
    code: u32,
    shop: &'static str,
    count: i64,
    size: Option<f64>,
}

/// The table's columns, the target last.
const NAMES: [&str; 10] = ["flag", "instant", "day", "clock", "took", "code", "shop", "count", "size", "y"];

/// The kind of each column, in any file but that with truth values as numbers.
const KINDS: [&str; 9] = ["category", "time", "time", "time", "number", "category", "category", "number", "number"];

impl Row {
    fn all() -> Vec<Self> {
        let draw = |t: usize, column: u64| (noise(16 * t as u64 + column) + 0.5).clamp(0.0, 0.999_999);
        let row = |t: usize| {
            let share = |column| draw(t, column);
            Self {
                flag: share(0) < 0.5,
                instant: 1_699_999_980 + 60 * (share(1) * 500_000.0) as i64,
                day: 19_000 + (share(2) * 400.0) as i32,
                clock: 60 * (share(3) * 1440.0) as i32,
                took: 60 * (share(4) * 3000.0) as i64,
                code: 100 + t as u32 % 4,
                shop: ["Ulm", "Bonn", "São Paulo"][t % 3],
                count: (share(5) * 50.0) as i64,
                size: (t % 7 != 3).then(|| (share(6) * 1e4).round() / 16.0),
            }
        };
        (0..ROWS).map(row).collect()
    }

    fn target(&self) -> f64 {
        let parts = [
            2.0 * f64::from(self.flag),
            (self.clock as f64 / 43_200.0 - 1.0).abs(),
            self.took as f64 / 90_000.0,
            f64::from(self.code % 4),
            self.size.unwrap_or(300.0) / 600.0,
        ];
        parts.iter().sum()
    }

    /// The cells as a writer of text has them, in the order of [`NAMES`].
    fn texts(&self, writer: Writer) -> [String; 10] {
        let Self { flag, instant, day, clock, took, code, shop, count, size } = self;
        let (instant, day) = (instant_text(*instant as f64), instant_text(86_400.0 * f64::from(*day)));
        let of = |seconds: i64| format!("{:02}:{:02}:00", seconds / 3600, seconds / 60 % 60);
        let target = self.target();
        let (flag, instant, day, took) = match writer {
            Writer::Pandas | Writer::Fortran => (
                if *flag { "True" } else { "False" }.to_owned(),
                instant[..19].replace('T', " "),
                day[..10].to_owned(),
                format!("{} days {}", took / 86_400, of(took % 86_400)),
            ),
            Writer::Spreadsheet => (
                if *flag { "WAHR" } else { "FALSCH" }.to_owned(),
                format!("{}.{}.{} {}", &instant[8..10], &instant[5..7], &instant[..4], &instant[11..16]),
                format!("{}.{}.{}", &day[8..10], &day[5..7], &day[..4]),
                of(*took),
            ),
            Writer::DataBase => (
                if *flag { "t" } else { "f" }.to_owned(),
                instant[..19].replace('T', " ") + "+00",
                day[..10].to_owned(),
                format!("PT{}H{}M", took / 3600, took / 60 % 60),
            ),
            Writer::Bits => (u8::from(*flag).to_string(), instant, day[..10].to_owned(), of(*took)),
        };
        let decimal = |number: f64| {
            match writer {
                Writer::Spreadsheet => format!("{number:?}").replace('.', ","),
                // As `1.25D+02`.
                Writer::Fortran => format!("{:.1$e}", number, 17).replace('e', "D"),
                _ => format!("{number:?}"),
            }
        };
        let size = size.map(decimal).unwrap_or_default();
        [
            flag,
            instant,
            day,
            of((*clock).into()),
            took,
            format!("{code:05}"),
            (*shop).to_owned(),
            count.to_string(),
            size,
            decimal(target),
        ]
    }

    /// As a JSON object.
    fn json(&self) -> Value {
        let texts = self.texts(Writer::Pandas);
        let mut object: serde_json::Map<String, Value> =
            NAMES.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), Value::from(text))).collect();
        object.insert("flag".to_owned(), self.flag.into());
        object.insert("count".to_owned(), self.count.into());
        object.insert("size".to_owned(), self.size.into());
        object.insert("y".to_owned(), self.target().into());
        object.into()
    }
}

/// Who writes a file of text.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Pandas,
    Spreadsheet,
    DataBase,
    Bits,
    Fortran,
}

fn delimited(rows: &[Row], writer: Writer, separator: char) -> String {
    let line = |cells: &[String]| cells.join(&separator.to_string()) + "\n";
    let head = line(&NAMES.map(str::to_owned));
    rows.iter().fold(head, |text, row| text + &line(&row.texts(writer)))
}

fn batch(rows: &[Row]) -> RecordBatch {
    let texts = |text: fn(&Row) -> String| Arc::new(StringArray::from_iter_values(rows.iter().map(text))) as ArrayRef;
    let columns: [ArrayRef; 10] = [
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.flag)))),
        Arc::new(TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| 1_000_000 * row.instant))),
        Arc::new(Date32Array::from_iter_values(rows.iter().map(|row| row.day))),
        Arc::new(Time32SecondArray::from_iter_values(rows.iter().map(|row| row.clock))),
        Arc::new(DurationSecondArray::from_iter_values(rows.iter().map(|row| row.took))),
        texts(|row| format!("{:05}", row.code)),
        texts(|row| row.shop.to_owned()),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.count))),
        Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.size))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(Row::target))),
    ];
    RecordBatch::try_from_iter_with_nullable(NAMES.into_iter().zip(columns).map(|(name, values)| (name, values, true)))
        .unwrap()
}

/// A table as MySQL prints it.
fn printed(rows: &[Row]) -> String {
    let text = delimited(rows, Writer::DataBase, '\t');
    let line = |line: &str| format!("| {} |\n", line.replace('\t', " | "));
    let rule = format!("{}+\n", "+----".repeat(NAMES.len()));
    let mut lines = text.lines();
    let head = lines.next().map(line).unwrap_or_default();
    [rule.clone(), head, rule.clone(), lines.map(line).collect(), rule].concat()
}

/// The table at every door.
fn files() -> (Folder, [&'static str; 14]) {
    let rows = Row::all();
    let ndjson = rows.iter().fold(String::new(), |mut text, row| {
        let _ = writeln!(text, "{}", row.json());
        text
    });
    let array = Value::from(rows.iter().map(Row::json).collect::<Vec<_>>()).to_string();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, delimited(&rows, Writer::Pandas, ',').as_bytes()).unwrap();
    let windows = delimited(&rows, Writer::Spreadsheet, ';');
    let wide = delimited(&rows, Writer::Pandas, '\t');
    let wide = wide.encode_utf16();
    let folder = Folder::new()
        .with("pandas.csv", delimited(&rows, Writer::Pandas, ','))
        .with("spreadsheet.csv", delimited(&rows, Writer::Spreadsheet, ';'))
        .with("database.tsv", delimited(&rows, Writer::DataBase, '\t'))
        .with("lines.ndjson", ndjson)
        .with("array.json", array)
        .with("typed.parquet", parquet(&batch(&rows)))
        .with("typed.arrow", arrow_stream(&batch(&rows)))
        .with("packed.csv.gz", packed.finish().unwrap())
        .with("fortran.csv", delimited(&rows, Writer::Fortran, ','))
        .with("tilde.csv", delimited(&rows, Writer::Pandas, '~'))
        .with("printed.csv", printed(&rows))
        .with("utf16.csv", wide.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        .with("windows.csv", windows.chars().map(|c| c as u8).collect::<Vec<u8>>())
        .with("bits.csv", delimited(&rows, Writer::Bits, ','));
    let names = [
        "pandas.csv",
        "spreadsheet.csv",
        "database.tsv",
        "lines.ndjson",
        "array.json",
        "typed.parquet",
        "typed.arrow",
        "packed.csv.gz",
        "fortran.csv",
        "tilde.csv",
        "printed.csv",
        "utf16.csv",
        "windows.csv",
        "bits.csv",
    ];
    (folder, names)
}

/// The predictions of a model for the rows of a file, which are all understood.
fn predicted(folder: &Folder, file: &str, model: &str) -> Vec<f64> {
    // What is told of the file as such is no part of this; odd cells are counted all the same.
    let said = folder.run(&format!("predict {file} --model {model} --quiet"));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{model} predicts {file}");
    // A file of JSON lines is answered in JSON lines.
    let number = |line: &str| match serde_json::from_str(line).unwrap() {
        Value::Object(row) => row["prediction"].as_f64().unwrap(),
        number => number.as_f64().unwrap(),
    };
    said.out.lines().filter(|line| *line != "prediction").map(number).collect()
}

fn assert_close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (row, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= 1e-9, "{what}, row {row}: {got} and not {expected}");
    }
}

#[test]
fn a_model_of_any_door_predicts_the_rows_of_any_other() {
    let (folder, files) = files();
    let mut first = None;
    for trained in files {
        let options = "--target y --as code=category --learner krls --scale standard --quiet";
        folder.run(&format!("train {trained} {options} --out m.mercer"));
        let expected = predicted(&folder, trained, "m.mercer");
        let error = Row::all().iter().zip(&expected).map(|(row, y)| (row.target() - y).abs()).sum::<f64>();
        assert!(error < 0.25 * ROWS as f64, "{trained}: {error}");
        for file in files {
            assert_close(&predicted(&folder, file, "m.mercer"), &expected, &format!("{trained} predicts {file}"));
        }
        // A door that told other truth values would be found.
        let turned: Vec<Row> = Row::all().iter().map(|row| Row { flag: !row.flag, ..*row }).collect();
        std::fs::write(folder.path("turned.csv"), delimited(&turned, Writer::Pandas, ',')).unwrap();
        let turned = predicted(&folder, "turned.csv", "m.mercer");
        assert!(turned.iter().zip(&expected).all(|(turned, right)| (turned - right).abs() > 1e-3), "{trained}");
        // Truth values as numbers are one number, and not two places.
        if trained != "bits.csv" {
            assert_close(&expected, first.get_or_insert(expected.clone()), trained);
        }
    }
}

#[test]
fn every_door_has_the_same_kinds() {
    let (folder, files) = files();
    for file in files {
        let found = folder.json(&format!("inspect {file} --as code=category --quiet"));
        let columns = found["columns"].as_array().unwrap();
        for (kind, name) in KINDS.into_iter().zip(NAMES) {
            let column = columns.iter().find(|column| column["name"] == name).unwrap();
            let kind = if (file, name) == ("bits.csv", "flag") { "number" } else { kind };
            assert_eq!(column["kind"], kind, "{file}: {column}");
        }
    }
}

/// A class that is a truth value is the same class at every door, and keeps the name that it had at
/// the first.
#[test]
fn classes_are_the_same_truth_values_at_every_door() {
    let (folder, files) = files();
    for trained in files {
        folder.run(&format!("train {trained} --target flag --task class --learner krls --quiet --out m.mercer"));
        let known = |model: &str| {
            let classes = folder.json(&format!("inspect {model}"))["classes"].clone();
            classes.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        let names = known("m.mercer");
        assert_eq!(names.len(), 2, "{trained}: {names:?}");
        let classes = |file: &str| {
            let said = folder.run(&format!("predict {file} --model m.mercer"));
            assert_eq!(said.code, Some(0), "{trained} predicts {file}: {}", said.err);
            let class = |line: &str| match serde_json::from_str(line) {
                Ok(Value::Object(row)) => {
                    row["prediction"].as_str().map_or(row["prediction"].to_string(), str::to_owned)
                }
                _ => line.split(',').next().unwrap().to_owned(),
            };
            said.out.lines().filter(|line| !line.starts_with("prediction")).map(class).collect::<Vec<_>>()
        };
        let expected = classes(trained);
        for file in files {
            assert_eq!(classes(file), expected, "{trained} predicts {file}");
            std::fs::copy(folder.path("m.mercer"), folder.path("l.mercer")).unwrap();
            let said = folder.run(&format!("predict {file} --model l.mercer --learn --out p.csv"));
            assert_eq!(said.code, Some(0), "{trained} learns {file}: {}", said.err);
            assert_eq!(known("l.mercer"), names, "{trained} learns {file}");
        }
    }
}

/// The service reads the values of JSON as the files are read.
#[cfg(all(unix, feature = "serve"))]
#[test]
fn the_service_is_a_door_like_the_others() {
    let (folder, files) = files();
    for trained in files {
        let options = "--target y --as code=category --learner krls --scale standard --quiet";
        folder.run(&format!("train {trained} {options} --out m.mercer"));
        let expected = predicted(&folder, trained, "m.mercer");
        let service = crate::http::Service::start(&folder, "--model m.mercer");
        let rows = Row::all().iter().map(|row| without_target(row.json())).collect::<Vec<_>>();
        let answer = service.predict(&serde_json::json!({ "rows": rows }));
        let numbers: Vec<f64> =
            answer["predictions"].as_array().unwrap().iter().map(|one| one["prediction"].as_f64().unwrap()).collect();
        assert_close(&numbers, &expected, &format!("the service of {trained}"));
    }
}

#[cfg(all(unix, feature = "serve"))]
fn without_target(mut row: Value) -> Value {
    row.as_object_mut().unwrap().remove("y");
    row
}

/// A number among times that are written is read by its size, and told; one that may be anything
/// is a gap, and counted.
#[test]
fn numbers_among_times_are_read_by_their_size() {
    let row = |t: usize| format!("{},{}\n", &instant_text(86_400.0 * (19_000 + t) as f64)[..10], t % 7);
    let table = "day,y\n".to_owned() + &(0..300).map(row).collect::<String>();
    let folder = Folder::new()
        .with("t.csv", table)
        .with("iso.csv", "day\n2022-03-02\n")
        .with("sizes.csv", "day\n44622\n1646179200\n1646179200000\n20220302\n")
        .with("sizes.ndjson", "{\"day\": 44622}\n{\"day\": 1646179200}\n")
        .with("odd.csv", "day\n12\n-5\n7e30\n");
    folder.run("train t.csv --learner krls --scale standard --target y --quiet --out m.mercer");
    let right = predicted(&folder, "iso.csv", "m.mercer")[0];
    for (file, rows) in [("sizes.csv", 4), ("sizes.ndjson", 2)] {
        let said = folder.run(&format!("predict {file} --model m.mercer"));
        assert!(said.err.contains("column \"day\": is a time written otherwise than those learnt"), "{}", said.err);
        assert!(
            said.err.contains(&format!("column \"day\": {rows} cells were times written otherwise")),
            "{}",
            said.err
        );
        assert_eq!(said.out.matches(&right.to_string()).count(), rows, "{file}: {} and not {right}", said.out);
    }
    let said = folder.run("predict odd.csv --model m.mercer --quiet");
    assert_eq!(said.err, "mercer: column \"day\": 3 cells did not fit and counted as missing\n");
}

/// `forecast` and `koopman` take a column for what `inspect` finds. A column that counts the rows
/// or tells their times is no series and no state, and an odd cell is one at each.
#[test]
fn every_command_asks_the_same_of_a_column() {
    let turn = |t: usize| (0.99_f64.powi(t as i32) * (0.3 * t as f64).cos()).to_string();
    let of =
        |first: &dyn Fn(usize) -> String| (0..300).map(|t| format!("{},{}\n", first(t), turn(t))).collect::<String>();
    let day = |t: usize| instant_text(86_400.0 * (19_000 + t) as f64)[..10].to_owned();
    for (name, cells, kind, is_state) in [
        ("id", of(&|t| (7 + 3 * t).to_string()), "identifier", false),
        ("step", of(&|t| format!("{:.1}", 0.1 * t as f64)), "number", false),
        ("x", of(&|t| (t + 5).to_string()), "number", false),
        ("x", of(&|t| (2 * t).to_string()), "number", true),
        ("day", of(&day), "time", false),
        ("day", of(&|t| if t == 200 { "2023-02-30".to_owned() } else { day(t) }), "time", false),
        ("year", of(&|t| (1700 + t).to_string()), "time", false),
        ("ts", of(&|t| (1_700_000_000 + 60 * t).to_string()), "time", false),
        ("when", of(&|t| day(t).replace('-', "")), "time", false),
    ] {
        let folder = Folder::new().with("t.csv", format!("{name},y\n{cells}"));
        let found = folder.json("inspect t.csv");
        assert_eq!(found["columns"][0]["kind"], kind, "{name}: {found}");
        let said = folder.run("koopman t.csv --trajectory --delay 1 --json");
        let states = object(&said.out)["units"].as_array().unwrap().len();
        assert_eq!(states, if is_state { 2 } else { 1 }, "{name}: {}", said.err);
        assert_eq!(said.err.contains(&format!("column \"{name}\"")), !is_state, "{name}: {}", said.err);
        let said = folder.run("forecast t.csv --json");
        match (said.code, is_state) {
            (Some(0), true) => assert!(!said.err.contains(name), "{}", said.err),
            (Some(0), false) => assert!(said.err.contains(&format!("\"{name}\"")), "{name}: {}", said.err),
            _ => assert!(said.err.contains("line 202, column 1 (\"day\"): \"2023-02-30\" is no time"), "{}", said.err),
        }
    }
}
