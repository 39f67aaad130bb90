//! Every command reads every format and dialect.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::support::{Folder, noise};

/// Rows of three numbers, the first of them whole.
fn rows() -> Vec<[f64; 3]> {
    (0..300_u32)
        .map(|i| {
            let t = f64::from(i);
            [f64::from(i % 7), (t / 9.0).sin(), (t / 11.0).cos() / 3.0]
        })
        .collect()
}

fn delimited(separator: &str, comma: bool) -> String {
    let mut text = ["a", "b", "y"].join(separator) + "\n";
    for row in rows() {
        let cells = row.map(|value| if comma { value.to_string().replace('.', ",") } else { value.to_string() });
        text += &(cells.join(separator) + "\n");
    }
    text
}

fn parquet() -> Vec<u8> {
    let column = |column: usize| rows().iter().map(|row| row[column]).collect::<Float64Array>();
    let whole: Int64Array = rows().iter().map(|row| row[0] as i64).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("a", Arc::new(whole)), ("b", Arc::new(column(1))), ("y", Arc::new(column(2)))];
    let (table, mut bytes) = (RecordBatch::try_from_iter(columns).unwrap(), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    bytes
}

fn json_array() -> String {
    let objects = rows().iter().map(|[a, b, y]| format!("{{\"a\": {a}, \"b\": {b}, \"y\": {y}}}")).collect::<Vec<_>>();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

/// The same table in many forms; the first is the plain one.
fn forms() -> (Folder, Vec<&'static str>) {
    let mut text = String::from("# a table\n");
    for line in delimited("  ", false).lines() {
        writeln!(text, "  {line} ").unwrap();
    }
    let folder = Folder::new()
        .with("t.csv", delimited(",", false))
        .with("semicolons.csv", delimited(";", true))
        .with("tabs.tsv", delimited("\t", true))
        .with("spaces.csv", text)
        .with("bars.csv", delimited("|", false))
        .with("array.json", json_array())
        .with("t.parquet", parquet());
    let mut packed = std::fs::File::create(folder.path("t.csv.zst")).unwrap();
    packed.write_all(&zstd(delimited(",", false).as_bytes())).unwrap();
    let names =
        vec!["t.csv", "semicolons.csv", "tabs.tsv", "spaces.csv", "bars.csv", "array.json", "t.parquet", "t.csv.zst"];
    (folder, names)
}

/// A frame of raw blocks, which hold 128 kB at most.
fn zstd(text: &[u8]) -> Vec<u8> {
    assert!(text.len() < 1 << 17);
    let mut bytes = b"\x28\xb5\x2f\xfd\xa0".to_vec();
    bytes.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(&u32::try_from((text.len() << 3) | 1).unwrap().to_le_bytes()[..3]);
    bytes.extend_from_slice(text);
    bytes
}

/// The printed report, without the time that it took.
fn timeless(mut report: Value) -> Value {
    for key in ["seconds", "seconds_per_example"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

#[test]
fn the_same_table_in_any_form() {
    let (folder, forms) = forms();
    for command in [
        "eval FILE --learner krls --kernel gaussian:1",
        "forecast FILE --t-init 20",
        "koopman FILE --method sogd --state-dim 1 --input-dim 2 --set kernel=gaussian:1",
    ] {
        let said = |form: &str| timeless(folder.json(&command.replace("FILE", form)));
        let plain = said(forms[0]);
        for form in &forms[1..] {
            assert_eq!(said(form), plain, "{command} {form}");
        }
    }
    for form in &forms {
        folder.done(&format!("train {form} --learner krls --kernel gaussian:1 --out m.mercer --quiet"));
        let answers: Vec<String> = forms
            .iter()
            .map(|form| {
                let said = folder.done(&format!("predict {form} --model m.mercer"));
                // Objects are answered by objects.
                said.lines()
                    .filter_map(|line| {
                        let number = line
                            .strip_prefix("{\"prediction\":")
                            .and_then(|rest| rest.strip_suffix('}'))
                            .unwrap_or(line);
                        (number != "prediction").then(|| format!("{number}\n"))
                    })
                    .collect()
            })
            .collect();
        assert!(answers.iter().all(|answer| *answer == answers[0] && answer.lines().count() == 300), "{form}");
    }
}

#[test]
fn pipes_are_read_the_same() {
    let (folder, _) = forms();
    for command in [
        "eval - --learner krls --kernel gaussian:1",
        "forecast - --t-init 20",
        "koopman - --method sogd --state-dim 1 --input-dim 2 --set kernel=gaussian:1",
    ] {
        let said =
            |bytes: &[u8], format: &str| timeless(folder.json_of(bytes, &format!("{command} --format {format}")));
        let plain = said(delimited(",", false).as_bytes(), "csv");
        assert_eq!(
            said(delimited(";", true).as_bytes(), "csv --separator ; --decimal comma --header yes"),
            plain,
            "{command}"
        );
        assert_eq!(said(json_array().as_bytes(), "json"), plain, "{command}");
        assert_eq!(said(&parquet(), "parquet"), plain, "{command}");
    }
}

#[test]
fn what_is_told_of_a_file() {
    let folder = Folder::new()
        .with("counts.csv", "0,1,2\n0.5,1.5,2.5\n1,2,3.25\n")
        .with("doubt.csv", "1;1,234\n2;3,456\n")
        .with("wide.csv", "a,b\n1,2\n2,3\n3,4\n".bytes().flat_map(|byte| [byte, 0]).collect::<Vec<u8>>());
    let said = folder.run("eval counts.csv --learner krls --json");
    assert_eq!(said.code, Some(0));
    assert_eq!(
        said.err,
        "mercer: counts.csv, line 1: holds whole numbers that count, as names of columns may; it is read as a header: --header no reads it otherwise\n"
    );
    assert_eq!(folder.json("eval counts.csv --learner krls --header no")["rows"], 3);
    assert_eq!(folder.json("eval counts.csv --learner krls --header yes")["rows"], 2);
    folder.refused(
        1,
        "eval doubt.csv --learner krls",
        &["doubt.csv, line 1, column 2", "may mean 1234 or 1.234; say which with --thousands comma"],
    );
    assert_eq!(folder.json("eval doubt.csv --learner krls --decimal comma")["rows"], 2);
    let said = folder.run("eval wide.csv --learner krls");
    assert_eq!((said.code, said.err.as_str()), (Some(0), "mercer: wide.csv: is UTF-16LE, and is read as such\n"));
    folder.refused(2, "eval counts.csv --learner krls --separator x", &["\"x\" is not a separator"]);
    folder.refused(2, "eval diamonds --learner krls --decimal comma", &["diamonds: --decimal is for files"]);
    folder.refused(2, "forecast earth_orientation --separator tab", &["earth_orientation: --separator is for files"]);
}

#[test]
fn a_bad_row_of_parquet_is_kept_as_an_object() {
    let columns: [(&str, ArrayRef); 2] = [
        ("a", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)]))),
        ("y", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0]))),
    ];
    let (table, mut bytes) = (
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, values)| (name, values, true))).unwrap(),
        Vec::new(),
    );
    let mut writer = ArrowWriter::try_new(&mut bytes, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let folder = Folder::new().with("t.parquet", bytes);
    let train = "train t.parquet --learner krls --kernel gaussian:1 --out m.mercer";
    let said = folder.run(train);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("t.parquet: is not a complete table of numbers"), "{}", said.err);
    let said = folder.run(&format!("{train} --on-error quarantine=bad.ndjson"));
    assert_eq!(said.code, Some(0));
    assert!(said.err.contains("t.parquet, row 2, column 1 (\"a\"): the cell has no value"), "{}", said.err);
    assert_eq!(folder.read("bad.ndjson"), "{\"a\": null, \"y\": 2.0}\n");
}

/// The rows of a file that `predict` wrote, column by column, as texts.
#[cfg(feature = "arrow")]
fn columns_of(batches: impl Iterator<Item = arrow_array::RecordBatch>) -> Vec<String> {
    use arrow_array::cast::AsArray;
    use arrow_array::{Array, types::Float64Type};
    let mut rows: Vec<String> = Vec::new();
    for batch in batches {
        if rows.is_empty() {
            rows.push(batch.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(","));
        }
        for row in 0..batch.num_rows() {
            let cell = |column: &arrow_array::ArrayRef| match column.as_string_opt::<i32>() {
                _ if column.is_null(row) => String::new(),
                Some(names) => names.value(row).to_owned(),
                None => column.as_primitive::<Float64Type>().value(row).to_string(),
            };
            rows.push(batch.columns().iter().map(cell).collect::<Vec<_>>().join(","));
        }
    }
    rows
}

/// Answers in Parquet and Arrow are those in CSV, also of more rows than are written together.
#[cfg(feature = "arrow")]
#[test]
fn answers_have_the_format_of_their_name() {
    let mut table = "x,colour,y\n".to_owned();
    for t in 0..9000_u64 {
        let x = noise(t);
        table += &format!("{x},{},{}\n", if x > 0.0 { "red" } else { "blue" }, x * x);
    }
    // A row that cannot be read has no answer.
    let folder = Folder::new().with("t.csv", &table).with("bad.csv", format!("{table}0.1,red\n"));
    folder.run("train t.csv --ignore colour --learner krls -n 100 --intervals 0.8 --out n.mercer");
    folder.run("train t.csv --target colour --ignore y --learner krls -n 100 --out c.mercer");
    for (model, options) in [("n", "--intervals 0.8"), ("c", "")] {
        let predict = format!("predict bad.csv --model {model}.mercer {options} --on-error skip");
        let said = folder.run(&predict);
        let lines: Vec<String> = said.out.lines().map(str::to_owned).collect();
        for ending in ["parquet", "arrow"] {
            let written = folder.run(&format!("{predict} --out {model}.{ending}"));
            assert!(written.code == Some(0) && written.out.is_empty(), "{}", written.err);
            let file = std::fs::File::open(folder.path(&format!("{model}.{ending}"))).unwrap();
            let rows = if ending == "parquet" {
                let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                columns_of(reader.build().unwrap().map(Result::unwrap))
            } else {
                columns_of(arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(Result::unwrap))
            };
            assert_eq!((rows.len(), &rows[0]), (9002, &lines[0]), "{ending}");
            for (row, line) in rows.iter().zip(&lines).skip(1) {
                let same = |(one, other): (&str, &str)| match (one.parse::<f64>(), other.parse::<f64>()) {
                    (Ok(one), Ok(other)) => one.to_bits() == other.to_bits(),
                    _ => one == other,
                };
                // A row without an answer is an empty line of CSV.
                assert!(
                    line.is_empty() && row.trim_matches(',').is_empty()
                        || row.split(',').zip(line.split(',')).all(same),
                    "{row} {line}"
                );
            }
        }
    }
}
