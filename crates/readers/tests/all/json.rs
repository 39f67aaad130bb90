//! JSON in its four shapes, and compression: the same rows and the same refusals.

use std::io::Cursor;

use mercer_readers::{
    Cell, ColumnChoice, Counts, DataError, Format, Header, Missing, ReadOptions, Record, RowReader, TargetColumn,
    read_bytes,
};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

fn json() -> ReadOptions {
    ReadOptions { format: Some(Format::Ndjson), ..ReadOptions::default() }
}

fn open(text: &str, options: &ReadOptions) -> Result<RowReader, DataError> {
    RowReader::records_from("f", Cursor::new(text.as_bytes().to_vec()), options)
}

fn records(text: &str, options: &ReadOptions) -> (Vec<String>, Vec<Record>) {
    let mut reader = open(text, options).unwrap();
    let (mut record, mut all) = (Record::new(), Vec::new());
    while reader.next_record(&mut record).unwrap() {
        all.push(record.clone());
    }
    (reader.columns().to_vec(), all)
}

fn refused(text: &str) -> String {
    let message = read_bytes("f", text.as_bytes().to_vec(), &json()).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn objects_and_arrays_are_rows() {
    let expected = vec![
        Record::from_iter([Cell::Number(1.5), Cell::Text("red"), Cell::Text("2024-05-31"), Cell::Missing]),
        Record::from_iter([Cell::Number(-2.0), Cell::Truth(true), Cell::Missing, Cell::Number(3.0)]),
    ];
    for text in [
        "{\"a\":1.5,\"b\":\"red\",\"c\":\"2024-05-31\",\"d\":null}\n{\"d\":3,\"b\":true,\"a\":-2}\n",
        "[{\"a\":1.5,\"b\":\"red\",\"c\":\"2024-05-31\",\"d\":null},{\"d\":3,\"b\":true,\"a\":-2}]",
        " \n[\n {\n  \"a\": 1.5,\n  \"b\": \"red\",\n  \"c\": \"2024-05-31\",\n  \"d\": NaN\n },\n {\"d\": 3,\n \"b\": true, \"a\": -2}\n]\n",
        "[\"a\",\"b\",\"c\",\"d\"]\n[1.5,\"red\",\"2024-05-31\",null]\n[-2,true,\"\",3]\n",
        "[[\"a\",\"b\",\"c\",\"d\"],\n[1.5,\"red\",\"2024-05-31\",null],\n[-2,true,null,3]]",
    ] {
        let (names, found) = records(text, &json());
        assert_eq!((names.join(""), &found), ("abcd".to_owned(), &expected), "{text}");
    }
    let (names, found) = records("[[1,2],[3,4]]", &json());
    assert_eq!((names, found.len()), (vec!["x1".to_owned(), "x2".to_owned()], 2));
    let (names, found) = records("[\"x\",\"y\"]\n[\"z\",\"y\"]\n", &ReadOptions { header: Header::Absent, ..json() });
    assert_eq!((&names[0][..], found.len()), ("x1", 2));
    // Rows of numbers, without names.
    let table = read_bytes("f.json", "[[1,2,3],[4,5,6]]".as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((table.row(1), table.target(1), table.feature_names()), (&[4.0, 5.0][..], 6.0, None));
    let mut reader =
        RowReader::from_reader("f.json", Cursor::new("[{\"a\":1,\"y\":2}]"), &ReadOptions::default()).unwrap();
    assert!(reader.are_objects() && reader.counts() == Counts::Rows);
    assert_eq!(reader.next_row(&mut Vec::new()).unwrap(), Some(2.0));
    assert_eq!(reader.text(), b"{\"a\":1,\"y\":2}");
}

/// Else a model of numbers refuses what a model of other columns reads.
#[test]
fn numbers_may_be_texts() {
    let rows = |text: &str| read_bytes("f", text.as_bytes().to_vec(), &json());
    let read = rows("{\"a\":1,\"y\":2}\n{\"a\":\" -3.5e1 \",\"y\":2}\n").unwrap();
    assert_eq!(read.row(1), [-35.0]);
    for other in ["3,5", "0x10", "3 kg", "1_0"] {
        assert!(rows(&format!("{{\"a\":1,\"y\":2}}\n{{\"a\":\"{other}\",\"y\":2}}\n")).is_err(), "{other}");
    }
}

/// Such a row is none with all values missing.
#[test]
fn a_row_with_other_keys_alone_is_refused() {
    let asked = ReadOptions { features: vec!["a".into(), "b".into()], missing: Missing::Nan, ..json() };
    let read = |text: &str| {
        let mut reader = open(text, &asked).unwrap();
        reader.next_record(&mut Record::new()).map_err(|error| (error.concerns_one_row(), error.to_string()))
    };
    let said = "f, line 1: none of its keys is one of \"a\", \"b\", which are needed; rename them, or remove the row";
    assert_eq!(read("{\"row\":{\"a\":1},\"n\":2}\n"), Err((true, said.to_owned())));
    for row in ["{\"a\":1,\"n\":2}", "{\"b\":null,\"n\":2}", "{}"] {
        assert_eq!(read(row), Ok(true), "{row}");
    }
    let known = ReadOptions { known: vec!["a".into(), "b".into()], later_keys: true, ..json() };
    let mut reader = open("{\"row\":{\"a\":1},\"n\":2}\n{\"n\":1,\"b\":2}\n", &known).unwrap();
    assert!(reader.next_record(&mut Record::new()).unwrap_err().to_string().contains("none of its keys"));
    assert!(reader.next_record(&mut Record::new()).unwrap());
}

#[test]
fn what_is_left_out_may_be_nested() {
    let text = "{\"a\":1,\"b\":{\"c\":[1,\"]}\"]},\"y\":2}\n{\"a\":3,\"b\":[],\"y\":4}\n";
    let options = ReadOptions { ignore: vec!["b".parse().unwrap()], ..json() };
    let (names, found) = records(text, &options);
    assert_eq!((names.join(""), found.len()), ("ay".to_owned(), 2));
    assert_eq!(read_bytes("f", text.as_bytes(), &options).unwrap().targets(), [2.0, 4.0]);
    assert!(refused(text).starts_with("f, line 1, column 2 (\"b\"): holds lists in lists;"));
}

#[test]
fn refusals_say_which_row() {
    assert_eq!(
        refused("[{\"a\":1,\"y\":2},\n\n{\"a\":\"x\",\"y\":2}]"),
        "f, row 2, column 1 (\"a\"): \"x\" is not a number; replace it by one, or leave the column out"
    );
    assert!(refused("[[1,2],[1]]").starts_with("f, row 2: has 1 cell, the first row has 2;"));
    assert!(refused("[[1,2],{\"a\":1}]").starts_with("f, row 2, character 1: expected an array that begins with ["));
    assert!(refused("[1,2]\n{\"a\":1}\n").starts_with("f, line 2, character 1: expected an array"));
    assert!(refused("[[1,2],[1,[2]]]").starts_with("f, row 2, column 2: holds a list of numbers"));
    assert!(refused("[[1,2],[1,[\"a\"]]]").starts_with("f, row 2, column 2: the value is nested;"));
    assert_eq!(
        refused("[{\"a\":1,\"y\":2},{\"a\":1,\"y\":2}"),
        "f: expected a closing ] at the end of the array, after row 1 of the JSON array; mend it, or write one object a line"
    );
    assert!(refused("[{\"a\":1,\"y\":2},]").contains("expected an element"));
    assert!(refused("[]").starts_with("f: is empty;"));
    assert!(refused("[[]]").contains("expected a number"));
    // A bad row is one row's affair.
    let mut reader =
        RowReader::from_reader("f", Cursor::new("[{\"a\":1,\"y\":2},{\"a\":oops},{\"a\":3,\"y\":4}]"), &json())
            .unwrap();
    let mut row = Vec::new();
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(2.0));
    assert!(reader.next_row(&mut row).unwrap_err().concerns_one_row());
    assert_eq!(reader.text(), b"{\"a\":oops}");
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(4.0));
    assert_eq!(reader.next_row(&mut row).unwrap(), None);
}

#[test]
fn zstd_is_seen_and_promised() {
    let text = "a,y\n1,2\n3,4\n".to_owned();
    let bytes = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    for name in ["f.csv.zst", "f.csv"] {
        let table = read_bytes(name, bytes.clone(), &ReadOptions::default()).unwrap();
        assert_eq!((table.len(), table.name()), (2, "f"));
    }
    let message = |bytes: Vec<u8>| read_bytes("f.csv.zst", bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        message(text.into_bytes()),
        "f.csv.zst: is not zstd although its name ends in .zst; take the ending off, or compress the file"
    );
    let cut = message(bytes[..bytes.len() - 6].to_vec());
    assert!(cut.starts_with("f.csv.zst: the zstd data is damaged or cut short after line"), "{cut}");
}

proptest! {
    /// A table comes back the same from every shape.
    #[test]
    fn every_shape_reads_back(
        rows in prop::collection::vec(prop::collection::vec(prop_oneof![
            Just(serde_json::Value::Null),
            any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(serde_json::Value::from),
            "[a-z]([ -~é\n\t]{0,8}[a-z])?".prop_filter("not absent", |text| text != "null").prop_map(serde_json::Value::from),
        ], 3), 1..8),
        shape in 0..4,
        pretty: bool,
        zstd: bool,
    ) {
        let names = ["a", "b\"", "c"];
        let object = |row: &Vec<serde_json::Value>| {
            serde_json::Value::Object(names.iter().map(|name| (*name).to_owned()).zip(row.iter().cloned()).collect())
        };
        let array = |row: &Vec<serde_json::Value>| serde_json::Value::Array(row.clone());
        let named = std::iter::once(serde_json::Value::from(names.to_vec())).chain(rows.iter().map(array));
        let values: Vec<serde_json::Value> = if shape % 2 == 0 { rows.iter().map(object).collect() } else { named.collect() };
        let text = match (shape / 2, pretty) {
            (0, _) => values.iter().map(|value| format!("{value}\n")).collect(),
            (_, false) => serde_json::Value::Array(values).to_string(),
            (_, true) => serde_json::to_string_pretty(&serde_json::Value::Array(values)).unwrap(),
        };
        let bytes = if zstd { compress_to_vec(text.as_bytes(), CompressionLevel::Fastest) } else { text.clone().into_bytes() };
        let options = ReadOptions { header: if shape % 2 == 0 { Header::Detect } else { Header::Present }, ..json() };
        let mut reader = RowReader::records_from("f", Cursor::new(bytes), &options).unwrap();
        prop_assert_eq!(reader.columns(), names);
        let mut record = Record::new();
        for row in &rows {
            prop_assert!(reader.next_record(&mut record).unwrap());
            let expected: Record = row.iter().map(|value| match value {
                serde_json::Value::Number(number) => Cell::Number(number.as_f64().unwrap()),
                serde_json::Value::String(text) => Cell::Text(text.trim()),
                _ => Cell::Missing,
            }).collect();
            prop_assert_eq!(&record, &expected, "{}", text);
        }
        prop_assert!(!reader.next_record(&mut record).unwrap());
    }

    /// Any text: rows or refusals, never a panic.
    #[test]
    fn anything_is_read_or_refused(text in "[\\[\\]{}\",:a1. \n-]{0,60}") {
        let options = ReadOptions { target: TargetColumn::None, ..json() };
        let Ok(mut reader) = RowReader::from_reader("f", Cursor::new(text.into_bytes()), &options) else { return Ok(()) };
        let mut row = Vec::new();
        loop {
            match reader.next_features(&mut row) {
                Ok(true) => prop_assert_eq!(row.len(), reader.dimension()),
                Ok(false) => break,
                Err(error) if error.concerns_one_row() => {}
                Err(_) => break,
            }
        }
    }
}

/// Keys that the first row lacks stand before its last one: those of the lines ahead, or those that
/// are known.
#[test]
fn later_rows_may_have_keys_of_their_own() {
    let text = "{\"a\":1,\"y\":2}\n{\"b\":\"x\",\"a\":3,\"y\":4}\n{\"y\":5,\"c\":6}\n";
    let later = ReadOptions { later_keys: true, ..json() };
    let (names, rows) = records(text, &later);
    assert_eq!(names, ["a", "b", "c", "y"]);
    use Cell::{Missing, Number, Text};
    let expected = [
        [Number(1.0), Missing, Missing, Number(2.0)],
        [Number(3.0), Text("x"), Missing, Number(4.0)],
        [Missing, Missing, Number(6.0), Number(5.0)],
    ];
    assert_eq!(rows, expected.map(Record::from_iter));
    let known = ReadOptions { known: ["y", "c", "b"].map(str::to_owned).to_vec(), ..later.clone() };
    assert_eq!(records(text, &known).0, ["a", "c", "b", "y"]);
    // A key that nobody foresees is left out, told and counted.
    let late = text.replace("\"b\"", "\"d\"");
    let mut reader = open(&late, &known).unwrap();
    assert!(reader.next_record(&mut Record::new()).unwrap());
    let mut record = Record::new();
    assert!(reader.next_record(&mut record).unwrap());
    assert_eq!(record, [Number(3.0), Missing, Missing, Number(4.0)].into_iter().collect());
    let remark = reader.take_remark().map(|remark| remark.to_string()).unwrap();
    assert!(remark.starts_with("f, line 2: the key \"d\" is in none of the first rows"), "{remark}");
    while reader.next_record(&mut record).unwrap() {}
    assert_eq!(
        (reader.take_remark().map(|remark| remark.to_string()), reader.left_out()),
        (None, vec!["key \"d\": left out of 1 row, since it came late".to_owned()])
    );
    // It is not told where it is to be left out; a key that never comes is.
    let told = ["d", "e"].map(|name| ColumnChoice::Name(name.to_owned())).to_vec();
    let mut reader = open(&late, &ReadOptions { ignore: told, ..known.clone() }).unwrap();
    while reader.next_record(&mut record).unwrap() {}
    assert_eq!(
        (reader.take_remark().map(|remark| remark.to_string()), reader.left_out()),
        (None, vec!["key \"e\": was to be left out, and no row has it".to_owned()])
    );
    // A list in a list is refused, where it stands.
    let mut reader = open(&text.replace("\"x\"", "[[]]"), &later).unwrap();
    assert!(reader.next_record(&mut Record::new()).unwrap());
    let message = reader.next_record(&mut Record::new()).unwrap_err().to_string();
    assert!(message.starts_with("f, line 2, column 2 (\"b\"): holds lists in lists"), "{message}");
}
