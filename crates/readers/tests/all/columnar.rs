//! Parquet and Arrow IPC: cells come back as they were written, from files, streams and memory.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeListArray,
    Float32Array, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time64MicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt8Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field};
use mercer_readers::{
    Cell, ColumnChoice, Counts, DataError, Example, Format, Missing, ReadOptions, Record, RowReader, Targets, read_all,
    read_bytes, text_cell,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Parquet,
    File,
    Stream,
}

const KINDS: [Kind; 3] = [Kind::Parquet, Kind::File, Kind::Stream];

fn written(kind: Kind, batches: &[RecordBatch]) -> Vec<u8> {
    compressed(kind, batches, Compression::SNAPPY)
}

fn compressed(kind: Kind, batches: &[RecordBatch], compression: Compression) -> Vec<u8> {
    let (schema, mut bytes) = (batches[0].schema(), Vec::new());
    match kind {
        Kind::Parquet => {
            // Small row groups, so that there are several.
            let properties =
                WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(700)).build();
            let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.close().unwrap();
        }
        Kind::File => {
            let mut writer = FileWriter::try_new(&mut bytes, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        Kind::Stream => {
            let mut writer = StreamWriter::try_new(&mut bytes, &schema).unwrap();
            batches.iter().for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
    }
    bytes
}

fn options(kind: Kind) -> ReadOptions {
    let format = if kind == Kind::Parquet { Format::Parquet } else { Format::Arrow };
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, values)| (name, values, true))).unwrap()
}

fn records(bytes: Vec<u8>, options: &ReadOptions) -> Result<(Vec<String>, Vec<Record>), DataError> {
    let mut reader = RowReader::records_from("f", Cursor::new(bytes), options)?;
    let (mut record, mut all) = (Record::new(), Vec::new());
    while reader.next_record(&mut record)? {
        all.push(record.clone());
        assert_eq!(reader.line(), all.len() as u64);
    }
    Ok((reader.columns().to_vec(), all))
}

/// Every type that there is, with and without a value.
#[test]
fn types_are_cells() {
    let dictionary: DictionaryArray<Int8Type> = vec![Some("red"), None, Some("blue")].into_iter().collect();
    let table = batch(vec![
        ("float", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::NAN)]))),
        ("single", Arc::new(Float32Array::from(vec![0.25, -1.0, 3.0]))),
        ("long", Arc::new(Int64Array::from(vec![Some(-7), None, Some(1 << 40)]))),
        ("byte", Arc::new(UInt8Array::from(vec![0, 1, 255]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(StringArray::from(vec![Some("a, b"), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec!["x", "a text that is longer than twelve bytes", "z"]))),
        ("word", Arc::new(dictionary)),
        ("day", Arc::new(Date32Array::from(vec![Some(19_874), None, Some(-1)]))),
        ("time", Arc::new(TimestampMillisecondArray::from(vec![1_717_113_600_250, -500, 0]).with_timezone("UTC"))),
        ("nano", Arc::new(TimestampNanosecondArray::from(vec![1_500_000_000, 1, 0]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![1_500_000, 0, 1]))),
        ("money", Arc::new(Decimal128Array::from(vec![12_345, -1, 10]).with_precision_and_scale(20, 2).unwrap())),
    ]);
    use Cell::{Instant, LocalTime, Missing, Number, Text, TimeOfDay, Truth};
    let expected: Vec<Record> = [
        [
            Number(1.5),
            Number(0.25),
            Number(-7.0),
            Number(0.0),
            Truth(true),
            Text("a, b"),
            Text("x"),
            Text("red"),
            LocalTime(1_717_113_600.0),
            Instant(1_717_113_600.25),
            LocalTime(1.5),
            TimeOfDay(1.5),
            Number(123.45),
        ],
        [
            Missing,
            Number(-1.0),
            Missing,
            Number(1.0),
            Missing,
            Missing,
            Text("a text that is longer than twelve bytes"),
            Missing,
            Missing,
            Instant(-0.5),
            LocalTime(1e-9),
            TimeOfDay(0.0),
            Number(-0.01),
        ],
        [
            Missing,
            Number(3.0),
            Number((1_u64 << 40) as f64),
            Number(255.0),
            Truth(false),
            Missing,
            Text("z"),
            Text("blue"),
            LocalTime(-86_400.0),
            Instant(0.0),
            LocalTime(0.0),
            TimeOfDay(1e-6),
            Number(0.1),
        ],
    ]
    .into_iter()
    .map(Record::from_iter)
    .collect();
    for kind in KINDS {
        let (names, found) = records(written(kind, std::slice::from_ref(&table)), &options(kind)).unwrap();
        assert_eq!(names.len(), 13);
        for (row, expected) in found.iter().zip(&expected) {
            for (column, name) in names.iter().enumerate() {
                assert_eq!(row.cell(column), expected.cell(column), "{kind:?} {name}");
            }
        }
        assert_eq!(found.len(), 3);
    }
}

fn examples(kind: Kind) -> Vec<u8> {
    let rows = 3000;
    let number = |i: i32| f64::from(i) / 8.0;
    let parts: Vec<RecordBatch> = (0..3)
        .map(|part| {
            let range = part * rows / 3..(part + 1) * rows / 3;
            batch(vec![
                ("a", Arc::new(range.clone().map(number).collect::<Float64Array>())),
                ("w", Arc::new(range.clone().map(|i| f64::from(i % 3)).collect::<Float64Array>())),
                ("skipped", Arc::new(StringArray::from_iter_values(range.clone().map(|i| i.to_string())))),
                ("b", Arc::new(range.clone().map(i64::from).collect::<Int64Array>())),
                ("y", Arc::new(StringArray::from_iter_values(range.map(|i| ["no", "yes"][i as usize % 2])))),
            ])
        })
        .collect();
    written(kind, &parts)
}

#[test]
fn rows_have_weights_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let name = |name: &str| ColumnChoice::Name(name.to_owned());
        let options = ReadOptions {
            weight: Some(name("w")),
            ignore: vec![name("skipped")],
            targets: Targets::Auto,
            ..options(kind)
        };
        let bytes = examples(kind);
        let mut reader = RowReader::from_reader("f", Cursor::new(bytes.clone()), &options).unwrap();
        assert!(reader.is_label() && reader.is_weighted() && reader.counts() == Counts::Rows);
        assert_eq!(reader.feature_names().unwrap(), ["a", "b"]);
        let mut example = Example::default();
        for i in 0..3000 {
            assert!(reader.next_example(&mut example).unwrap());
            let label = ["no", "yes"][i % 2].to_owned();
            let expected = Example {
                features: vec![i as f64 / 8.0, i as f64],
                targets: vec![],
                label,
                weight: (i % 3) as f64,
                tokens: None,
            };
            assert_eq!((&example, reader.line()), (&expected, i as u64 + 1));
        }
        assert!(!reader.next_example(&mut example).unwrap());
        // A file, told by its name, and the bytes in memory.
        let path = folder.path().join(if kind == Kind::Parquet { "t.parquet" } else { "t.arrow" });
        std::fs::write(&path, &bytes).unwrap();
        let told = ReadOptions { format: None, ..options.clone() };
        let table = read_all(&path, &told).unwrap();
        assert_eq!((table.len(), table.name(), table.classes().unwrap().len()), (3000, "t", 2));
        assert_eq!(read_bytes("t", bytes, &options).unwrap().features(), table.features());
    }
}

#[test]
fn refusals_name_row_and_column() {
    let table = batch(vec![
        ("a", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::INFINITY), Some(4.0), Some(5.0)]))),
        ("b", Arc::new(Date32Array::from(vec![0, 0, 0, 0, 0]))),
        ("y", Arc::new(Int64Array::from(vec![Some(1), Some(2), Some(3), None, Some(5)]))),
    ]);
    for kind in KINDS {
        let bytes = written(kind, std::slice::from_ref(&table));
        let date = read_bytes("f", bytes.clone(), &options(kind)).unwrap_err().to_string();
        assert!(date.starts_with("f, row 1, column 2 (\"b\"): \"1970-01-01T00:00:00\" is not a number;"), "{date}");
        let options = ReadOptions { ignore: vec!["b".parse().unwrap()], ..options(kind) };
        let mut reader = RowReader::from_reader("f", Cursor::new(bytes.clone()), &options).unwrap();
        let (mut row, mut said) = (Vec::new(), Vec::new());
        loop {
            match reader.next_row(&mut row) {
                Ok(Some(target)) => said.push(target.to_string()),
                Ok(None) => break,
                Err(error) => {
                    assert!(error.concerns_one_row() && row.is_empty());
                    said.push(error.to_string());
                    assert!(reader.text().starts_with(b"{\"a\": "), "{:?}", String::from_utf8_lossy(reader.text()));
                }
            }
        }
        assert_eq!(
            said,
            [
                "1",
                "f, row 2, column 1 (\"a\"): the cell has no value; fill it, or remove the row",
                "f, row 3, column 1 (\"a\"): \"an infinity\" is not a finite number; replace it, or remove the row",
                "f, row 4, column 3 (\"y\"): the target is missing; fill it, or remove the row",
                "5",
            ]
        );
        let gaps = ReadOptions { missing: Missing::Nan, ..options };
        let mut reader = RowReader::from_reader("f", Cursor::new(bytes), &gaps).unwrap();
        assert_eq!(reader.next_row(&mut row).unwrap(), Some(1.0));
        assert!(reader.next_row(&mut row).unwrap().is_some() && row[0].is_nan());
    }
}

/// Whoever refuses a row for its target keeps it.
#[test]
fn every_row_has_a_text() {
    let table = batch(vec![
        ("a", Arc::new(Float64Array::from(vec![1.0, 2.5]))),
        ("y", Arc::new(StringArray::from(vec![Some("x\""), None]))),
    ]);
    for kind in KINDS {
        let bytes = written(kind, std::slice::from_ref(&table));
        let mut reader = RowReader::records_from("f", Cursor::new(bytes), &options(kind)).unwrap();
        let mut record = Record::new();
        for expected in ["{\"a\": 1.0, \"y\": \"x\\\"\"}", "{\"a\": 2.5, \"y\": null}"] {
            assert!(reader.next_record(&mut record).unwrap());
            assert_eq!(str::from_utf8(reader.text()), Ok(expected));
        }
    }
}

/// pandas writes the numbers of rows that it has sorted or left out behind the last column.
#[test]
fn the_row_numbers_of_pandas_are_no_target() {
    let table = batch(vec![
        ("a", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
        ("y", Arc::new(Float64Array::from(vec![3.0, 4.0]))),
        ("__index_level_0__", Arc::new(Int64Array::from(vec![7, 3]))),
    ]);
    for kind in KINDS {
        let bytes = written(kind, std::slice::from_ref(&table));
        assert_eq!(records(bytes.clone(), &options(kind)).unwrap().0, ["a", "y"]);
        let mut reader = RowReader::from_reader("f", Cursor::new(bytes.clone()), &options(kind)).unwrap();
        assert_eq!(reader.target_name(), Some("y"));
        let told =
            "f: column \"__index_level_0__\" holds the numbers of the rows, as pandas keeps them, and is left out";
        let remark = reader.take_remark().map(|remark| (remark.to_string(), remark.leaves_out()));
        assert_eq!(remark, Some((told.to_owned(), false)));
        let named = ReadOptions { target: "__index_level_0__".parse().unwrap(), ..options(kind) };
        let mut reader = RowReader::from_reader("f", Cursor::new(bytes), &named).unwrap();
        assert_eq!(reader.take_remark().map(|remark| remark.to_string()), None);
        assert_eq!(reader.target_name(), Some("__index_level_0__"));
    }
}

#[test]
fn lists_structs_and_maps_are_cells() {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("red"), None, Some("a \"b\"")]);
    lists.append_null();
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
    maps.keys().append_value("k1");
    maps.values().append_value(1.5);
    maps.append(true).unwrap();
    maps.append(true).unwrap();
    let (x, z): (ArrayRef, ArrayRef) =
        (Arc::new(Float64Array::from(vec![Some(1.0), None])), Arc::new(StringArray::from(vec!["one", "two"])));
    let field = |name: &str, values: &ArrayRef| Arc::new(Field::new(name, values.data_type().clone(), true));
    let pair = StructArray::from(vec![(field("x", &x), x.clone()), (field("z", &z), z.clone())]);
    let named = StructArray::from(vec![(field("name", &z), z.clone()), (field("value", &x), x.clone())]);
    let pairs = FixedSizeListArray::new(
        Arc::new(Field::new("item", named.data_type().clone(), true)),
        1,
        Arc::new(named),
        None,
    );
    let table = batch(vec![
        ("lists", Arc::new(lists.finish())),
        ("maps", Arc::new(maps.finish())),
        ("structs", Arc::new(pair)),
        ("pairs", Arc::new(pairs)),
        ("y", Arc::new(Float64Array::from(vec![3.0, 4.0]))),
    ]);
    for kind in KINDS {
        let bytes = written(kind, std::slice::from_ref(&table));
        let (_, rows) = records(bytes.clone(), &options(kind)).unwrap();
        let shown: Vec<Vec<String>> =
            rows.iter().map(|row| row.cells().map(|cell| cell.to_string()).collect()).collect();
        assert_eq!(
            shown,
            [
                ["[\"red\",\"a \\\"b\\\"\"]", "{\"k1\":1.5}", "{\"x\":1,\"z\":\"one\"}", "{\"one\":1}", "3"],
                ["", "{}", "{\"z\":\"two\"}", "{}", "4"],
            ]
        );
        assert!(rows.iter().all(|row| matches!(row.cell(1), Cell::List(_))));
        // A table of numbers alone has no place for them.
        let message = read_bytes("f", bytes, &options(kind)).unwrap_err().to_string();
        assert!(message.starts_with("f, row 1, column 1 (\"lists\"): the value is nested"), "{message}");
    }
}

#[test]
fn nested_columns_are_refused_by_name() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)]), None]);
    let inner: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let pair = StructArray::from(vec![(Arc::new(Field::new("x", DataType::Float64, true)), inner)]);
    let outer = Field::new("pair", pair.data_type().clone(), true);
    let inner_pair = StructArray::from(vec![(Arc::new(outer), Arc::new(pair) as ArrayRef)]);
    let bytes = BinaryArray::from(vec![&b"a"[..], b"b"]);
    for (values, kind_name) in
        [(Arc::new(list) as ArrayRef, "List"), (Arc::new(inner_pair), "Struct"), (Arc::new(bytes), "Binary")]
    {
        let table = batch(vec![
            ("a", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
            ("b", values),
            ("y", Arc::new(Float64Array::from(vec![3.0, 4.0]))),
        ]);
        for kind in KINDS {
            let bytes = written(kind, std::slice::from_ref(&table));
            let message = read_bytes("f", bytes.clone(), &options(kind)).unwrap_err().to_string();
            let expected = format!("f, column 2 (\"b\"): holds values of type {kind_name}");
            assert!(message.starts_with(&expected) && message.contains("--ignore"), "{message}");
            let ignored = ReadOptions { ignore: vec!["b".parse().unwrap()], ..options(kind) };
            assert_eq!(read_bytes("f", bytes.clone(), &ignored).unwrap().targets(), [3.0, 4.0]);
            assert_eq!(records(bytes, &ignored).unwrap().0, ["a", "y"]);
        }
    }
}

/// Groups that are passed over are not read: damage in them is not met.
#[test]
fn row_groups_are_passed_over_without_being_read() {
    let numbers: Vec<f64> = (0..2000).map(f64::from).collect();
    let column = |factor: f64| Arc::new(Float64Array::from_iter_values(numbers.iter().map(|x| factor * x))) as ArrayRef;
    let bytes = written(Kind::Parquet, &[batch(vec![("x", column(1.0)), ("y", column(2.0))])]);
    let options = options(Kind::Parquet);
    let open = |bytes: &[u8]| RowReader::from_reader("rows", Cursor::new(bytes.to_vec()), &options).unwrap();
    assert_eq!(open(&bytes).row_groups(), [700, 700, 600]);
    let mut damaged = bytes.clone();
    damaged[4..400].fill(0xff);
    for (passes, next) in [(0, 0.0), (699, 699.0), (700, 700.0), (1400, 1400.0), (1500, 1500.0), (1999, 1999.0)] {
        let mut row = Vec::new();
        let mut reader = open(&bytes);
        assert_eq!(reader.skip_rows(passes).unwrap(), passes);
        assert_eq!(reader.next_row(&mut row).unwrap(), Some(2.0 * next));
        assert_eq!((row[0], reader.line()), (next, passes + 1));
        let mut reader = open(&damaged);
        let passed = reader.skip_rows(passes).is_ok() && reader.next_row(&mut row).is_ok();
        assert_eq!(passed, passes >= 700, "{passes}");
    }
    let mut all = open(&damaged);
    assert_eq!(all.skip_rows(u64::MAX).unwrap(), 2000);
    // Other formats have no groups.
    let arrow = written(Kind::Stream, &[batch(vec![("x", column(1.0)), ("y", column(2.0))])]);
    let mut reader = RowReader::from_reader("rows", Cursor::new(arrow), &self::options(Kind::Stream)).unwrap();
    assert!(reader.row_groups().is_empty());
    assert_eq!(reader.skip_batches(5).unwrap(), 5);
}

#[test]
fn damaged_files_are_refused() {
    let table = batch(vec![
        ("a", Arc::new(Float64Array::from(vec![1.0; 100]))),
        ("y", Arc::new(Float64Array::from(vec![2.0; 100]))),
    ]);
    for kind in KINDS {
        let bytes = written(kind, std::slice::from_ref(&table));
        for length in [0, 3, 10, bytes.len() / 2] {
            let error = read_bytes("f", bytes[..length].to_vec(), &options(kind)).unwrap_err();
            assert!(!error.concerns_one_row() && error.to_string().lines().count() == 1, "{kind:?} {length}: {error}");
        }
        let text = read_bytes("f", &b"a,y\n1,2\n"[..], &options(kind)).unwrap_err().to_string();
        assert!(text.starts_with("f: cannot be read as "), "{text}");
        let empty = read_bytes("f", written(kind, &[table.slice(0, 0)]), &options(kind)).unwrap_err().to_string();
        assert_eq!(empty, "f: is empty; give a file with at least one row");
    }
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::LZ4_RAW,
    ] {
        let bytes = compressed(Kind::Parquet, std::slice::from_ref(&table), compression);
        assert_eq!(read_bytes("f", bytes, &options(Kind::Parquet)).unwrap().len(), 100);
    }
}

/// Pages and buffers compressed by zstd, brotli, and by another codec in each column, as another
/// program writes them (`files/README.md`).
const FOREIGN: [(&str, &[u8], Kind); 6] = [
    ("zstd_v1", include_bytes!("../files/zstd_v1.parquet"), Kind::Parquet),
    ("zstd_v2", include_bytes!("../files/zstd_v2.parquet"), Kind::Parquet),
    ("mixed", include_bytes!("../files/mixed.parquet"), Kind::Parquet),
    ("brotli_v2", include_bytes!("../files/brotli_v2.parquet"), Kind::Parquet),
    ("zstd.arrow", include_bytes!("../files/zstd.arrow"), Kind::File),
    ("zstd.arrows", include_bytes!("../files/zstd.arrows"), Kind::Stream),
];

#[test]
fn pages_of_every_codec_are_read() {
    let expected: Vec<Record> = (0..300_u32)
        .map(|i| {
            Record::from_iter([
                if i % 7 == 3 { Cell::Missing } else { Cell::Number(f64::from(i) / 8.0) },
                Cell::Number(f64::from(i)),
                if i % 11 == 5 { Cell::Missing } else { Cell::Text(["red", "green", "blue"][i as usize % 3]) },
                Cell::LocalTime(1_704_067_200.0 + 86_400.0 * f64::from(i % 40)),
                Cell::Number(f64::from(i * 37 % 100) / 4.0),
            ])
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, kind) in FOREIGN {
        let (names, found) = records(bytes.to_vec(), &options(kind)).unwrap();
        assert_eq!(names, ["a", "b", "word", "day", "y"], "{name}");
        assert!(found == expected, "{name}");
        // From a file, and only some of the columns.
        let path = folder.path().join(if matches!(kind, Kind::Parquet) { "t.parquet" } else { "t.arrow" });
        std::fs::write(&path, bytes).unwrap();
        let ignore = ["a", "word", "day"].map(|name| name.parse().unwrap()).to_vec();
        let table = read_all(&path, &ReadOptions { ignore, ..ReadOptions::default() }).unwrap();
        assert_eq!((table.len(), table.dimension(), table.row(299)), (300, 1, &[299.0][..]), "{name}");
        assert_eq!(table.target(299), f64::from(299 * 37 % 100) / 4.0, "{name}");
    }
}

/// Columns that are numbers in some batches and have a gap or an infinity in others give the same
/// rows, whichever way they are read.
#[test]
fn batches_with_and_without_gaps_are_the_same_rows() {
    let rows = 5000;
    let gap = |i: usize| i == 2500;
    let x: Vec<f64> = (0..rows).map(|i| i as f64 / 8.0).collect();
    let table = batch(vec![
        ("x", Arc::new(Float64Array::from(x.clone()))),
        ("n", Arc::new((0..rows as i64).map(|i| (!gap(i as usize)).then_some(i)).collect::<Int64Array>())),
        ("w", Arc::new(Float32Array::from_iter_values((0..rows).map(|i| (i % 2) as f32)))),
        ("small", Arc::new(UInt8Array::from_iter_values((0..rows).map(|i| (i % 200) as u8)))),
        ("y", Arc::new(Float64Array::from_iter_values(x.iter().map(|x| -x)))),
    ]);
    for kind in KINDS {
        for weight in [None, Some("w".parse().unwrap())] {
            let options = ReadOptions { weight: weight.clone(), ..options(kind) };
            let bytes = written(kind, std::slice::from_ref(&table));
            let mut reader = RowReader::from_reader("f", Cursor::new(bytes), &options).unwrap();
            let mut example = Example::default();
            for i in 0..rows {
                let read = reader.next_example(&mut example);
                assert_eq!(reader.line(), i as u64 + 1);
                if gap(i) {
                    assert!(
                        read.unwrap_err()
                            .to_string()
                            .starts_with("f, row 2501, column 2 (\"n\"): the cell has no value")
                    );
                    continue;
                }
                assert!(read.unwrap());
                let mut expected = vec![x[i], i as f64, (i % 2) as f64, (i % 200) as f64];
                if weight.is_some() {
                    expected.remove(2);
                }
                assert_eq!((&example.features, &example.targets), (&expected, &vec![-x[i]]), "{kind:?} {i}");
                assert_eq!(example.weight, if weight.is_some() { (i % 2) as f64 } else { 1.0 });
            }
            assert!(!reader.next_example(&mut example).unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same of compressed pages that another program wrote.
    #[test]
    fn changed_pages_do_not_panic(file in 0..FOREIGN.len(), at in any::<prop::sample::Index>(), value: u8) {
        let (_, bytes, kind) = FOREIGN[file];
        let mut bytes = bytes.to_vec();
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = records(bytes, &options(kind));
    }


    /// A table of numbers, texts and gaps comes back the same.
    #[test]
    fn every_format_reads_back(
        rows in prop::collection::vec((
            prop::option::of(any::<f64>().prop_filter("finite", |x| x.is_finite())),
            prop::option::of(any::<i32>()),
            prop::option::of("[ -~é]{0,8}"),
        ), 1..40),
        split in 0_usize..40,
    ) {
        let table = batch(vec![
            ("float", Arc::new(rows.iter().map(|row| row.0).collect::<Float64Array>())),
            ("long", Arc::new(rows.iter().map(|row| row.1.map(i64::from)).collect::<Int64Array>())),
            ("text", Arc::new(rows.iter().map(|row| row.2.clone()).collect::<StringArray>())),
        ]);
        let split = split.min(rows.len());
        let parts = [table.slice(0, split), table.slice(split, rows.len() - split)];
        let expected: Vec<Record> = rows.iter().map(|(float, long, text)| {
            Record::from_iter([
                float.map_or(Cell::Missing, Cell::Number),
                long.map_or(Cell::Missing, |value| Cell::Number(f64::from(value))),
                text.as_deref().map_or(Cell::Missing, text_cell),
            ])
        }).collect();
        for kind in KINDS {
            let (_, found) = records(written(kind, &parts), &options(kind)).unwrap();
            prop_assert_eq!(&found, &expected);
        }
    }

    /// Bytes that are no longer what they were are refused or read, without a panic.
    #[test]
    fn changed_bytes_do_not_panic(at in any::<prop::sample::Index>(), value: u8, kind in 0_usize..3) {
        let kind = KINDS[kind];
        let table = batch(vec![
            ("a", Arc::new((0..50).map(f64::from).collect::<Float64Array>())),
            ("y", Arc::new(StringArray::from_iter_values((0..50).map(|i| format!("text {i}"))))),
        ]);
        let mut bytes = written(kind, &[table]);
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = records(bytes, &options(kind));
    }
}
