//! Whatever is written in any of the formats reads back to the same bits.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use mercer_readers::{Dataset, Format, ReadOptions, RowReader, TargetColumn, read_all, read_bytes};
use proptest::prelude::*;

/// Any finite double, with the awkward ones more often than chance would have them.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite()),
        2 => -1e3..1e3_f64,
        1 => prop::sample::select(vec![0.0, -0.0, 1e308, -1.7e308, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1.0, -1.0]),
    ]
}

fn table() -> impl Strategy<Value = Dataset> {
    (1_usize..6, 1_usize..12).prop_flat_map(|(dimension, rows)| {
        (
            prop::collection::vec(finite(), rows * dimension),
            prop::collection::vec(finite(), rows),
            prop::collection::hash_set("[ -~é]{0,6}[a-z]", dimension + 1),
        )
            .prop_filter("names that would be numbers", |(.., names)| {
                names.iter().all(|name| name.parse::<f64>().is_err())
            })
            .prop_map(move |(features, targets, names)| {
                let mut names: Vec<String> = names.into_iter().map(|name| name.trim().to_owned()).collect();
                for (i, name) in names.iter_mut().enumerate() {
                    write!(name, "_{i}").unwrap();
                }
                let target = names.pop().unwrap();
                Dataset::new("t", dimension, features, targets).unwrap().with_names(names, target).unwrap()
            })
    })
}

fn cells(row: &[f64], target: f64) -> impl Iterator<Item = String> {
    row.iter().copied().chain([target]).map(
        |value| {
            if value.abs() > 1e20 { format!("{value:e}") } else { value.to_string() }
        },
    )
}

/// Names in the order of the columns, target last.
fn names(table: &Dataset) -> Vec<String> {
    table.feature_names().unwrap().iter().cloned().chain(table.target_name().map(str::to_owned)).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Manner in which a delimited file may differ and still be the same table.
#[derive(Clone, Copy, Debug)]
struct Manner {
    header: bool,
    quotes: bool,
    crlf: bool,
    mark: bool,
    blank_lines: bool,
    last_end: bool,
    gzip: bool,
}

fn manner() -> impl Strategy<Value = Manner> {
    any::<[bool; 7]>().prop_map(|[header, quotes, crlf, mark, blank_lines, last_end, gzip]| Manner {
        header,
        quotes,
        crlf,
        mark,
        blank_lines,
        last_end,
        gzip,
    })
}

fn delimited(table: &Dataset, separator: char, manner: Manner) -> String {
    let end = if manner.crlf { "\r\n" } else { "\n" };
    let separator = separator.to_string();
    let mut lines = Vec::new();
    if manner.header {
        lines.push(names(table).iter().map(|name| quoted(name)).collect::<Vec<_>>().join(&separator));
    }
    for (row, target) in table.iter() {
        let cells = cells(row, target).map(|cell| if manner.quotes { quoted(&cell) } else { cell });
        lines.push(cells.collect::<Vec<_>>().join(&separator));
    }
    let mut text = if manner.mark { "\u{feff}".to_owned() } else { String::new() };
    text += &lines.join(end);
    if manner.last_end || manner.blank_lines {
        text += end;
    }
    if manner.blank_lines {
        text += end;
        text += end;
    }
    text
}

fn ndjson(table: &Dataset) -> String {
    let names = names(table);
    let mut text = String::new();
    for (number, (row, target)) in table.iter().enumerate() {
        let mut pairs: Vec<String> = names
            .iter()
            .zip(cells(row, target))
            .map(|(name, cell)| format!("{} : {cell}", serde_json::to_string(name).unwrap()))
            .collect();
        // The first row fixes the order of the columns; the others may come in any.
        if number > 0 {
            pairs.rotate_left(number % names.len());
        }
        writeln!(text, "{{{}}}", pairs.join(", ")).unwrap();
    }
    text
}

fn libsvm(table: &Dataset, sparse: bool) -> String {
    let mut text = String::new();
    for (row, target) in table.iter() {
        write!(text, "{target:e}").unwrap();
        for (i, value) in row.iter().enumerate() {
            let absent = sparse && value.to_bits() == 0 && i + 1 < row.len();
            if !absent {
                write!(text, " {}:{value:e}", i + 1).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

/// Two gzip members, cut anywhere.
fn gzip(text: &str) -> Vec<u8> {
    let cut = text.len() / 3;
    let mut bytes = Vec::new();
    for part in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
        let mut encoder = GzEncoder::new(&mut bytes, Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    bytes
}

fn assert_same_bits(read: &Dataset, written: &Dataset) -> Result<(), TestCaseError> {
    prop_assert_eq!((read.len(), read.dimension()), (written.len(), written.dimension()));
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    prop_assert_eq!(bits(read.features()), bits(written.features()));
    prop_assert_eq!(bits(read.targets()), bits(written.targets()));
    Ok(())
}

/// Reads the bytes as a file, as memory and row by row, and demands the same table each time.
fn check(bytes: Vec<u8>, name: &str, written: &Dataset, named: bool) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, &bytes).unwrap();
    let options = ReadOptions::default();

    let whole = read_all(&path, &options).unwrap();
    assert_same_bits(&whole, written)?;
    prop_assert_eq!(whole.name(), "t");
    if named {
        prop_assert_eq!(whole.feature_names(), written.feature_names());
        prop_assert_eq!(whole.target_name(), written.target_name());
    }
    prop_assert_eq!(&read_bytes(name, bytes, &options).unwrap(), &whole);

    let mut reader = RowReader::open(&path, &options).unwrap();
    prop_assert_eq!(reader.dimension(), written.dimension());
    let (mut features, mut targets, mut row) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(target) = reader.next_row(&mut row).unwrap() {
        features.extend_from_slice(&row);
        targets.push(target);
    }
    assert_same_bits(&Dataset::new("t", reader.dimension(), features, targets).unwrap(), written)?;
    prop_assert!(reader.next_row(&mut row).unwrap().is_none());
    Ok(())
}

proptest! {
    #[test]
    fn csv_and_tsv(table in table(), manner in manner()) {
        for (separator, ending) in [(',', "csv"), ('\t', "tsv")] {
            let text = delimited(&table, separator, manner);
            let (bytes, ending) =
                if manner.gzip { (gzip(&text), format!("{ending}.gz")) } else { (text.into_bytes(), ending.to_owned()) };
            check(bytes, &format!("t.{ending}"), &table, manner.header)?;
        }
    }

    #[test]
    fn ndjson_in_any_order(table in table(), zip: bool) {
        let text = ndjson(&table);
        let (bytes, name) = if zip { (gzip(&text), "t.ndjson.gz") } else { (text.into_bytes(), "t.ndjson") };
        check(bytes, name, &table, true)?;
    }

    #[test]
    fn libsvm_dense_and_sparse(table in table(), sparse: bool, zip: bool) {
        let text = libsvm(&table, sparse);
        let (bytes, name) = if zip { (gzip(&text), "t.libsvm.gz") } else { (text.into_bytes(), "t.libsvm") };
        check(bytes, name, &table, false)?;
    }

    /// The csv crate is the oracle of what quotes mean.
    #[test]
    fn quotes_mean_what_they_mean_elsewhere(
        first in prop::collection::vec("[a-z\" ]{0,4}[\n,]?[a-z\"]{0,3}", 2..5),
        text in "[a-z0-9,\"\n]{1,30}",
    ) {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        writer.write_record(first.iter().map(|name| format!("n{name}"))).unwrap();
        writer.write_record(first.iter().map(|_| "1")).unwrap();
        let written = writer.into_inner().unwrap();
        for bytes in [written, format!("x{text}").into_bytes()] {
            let mut oracle = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
            let expected: Vec<String> = oracle.records().next().unwrap().unwrap().iter().map(|cell| cell.trim().to_owned()).collect();
            let options = ReadOptions {
                format: Some(Format::Csv),
                header: mercer_readers::Header::Present,
                target: TargetColumn::Index(1),
                ..ReadOptions::default()
            };
            // Both take a stray quote to the end of the text; here that is an error, there it is
            // not.
            if let Ok(reader) = RowReader::from_reader("t", std::io::Cursor::new(bytes), &options) {
                prop_assert_eq!(reader.target_name(), Some(&expected[0][..]));
                prop_assert_eq!(reader.feature_names().unwrap(), &expected[1..]);
            }
        }
    }
}

#[test]
fn any_column_may_be_the_target() {
    let text = "a,b,c\n1,2,3\n4,5,6\n";
    let read = |target: &str| {
        let options = ReadOptions { target: target.parse().unwrap(), ..ReadOptions::default() };
        read_bytes("t.csv", text.as_bytes(), &options).unwrap()
    };
    for (target, position) in [("b", 1), ("2", 1), ("a", 0), ("3", 2)] {
        let table = read(target);
        assert_eq!(table.targets(), [1.0 + position as f64, 4.0 + position as f64], "{target}");
        assert_eq!(table.row(0).iter().sum::<f64>(), 6.0 - table.target(0), "{target}");
        assert_eq!(table.target_name(), Some(["a", "b", "c"][position]), "{target}");
    }
    let json = "{\"a\":1,\"b\":2,\"c\":3}\n";
    let options = ReadOptions { target: "b".parse().unwrap(), ..ReadOptions::default() };
    let table = read_bytes("t.ndjson", json.as_bytes(), &options).unwrap();
    assert_eq!((table.row(0), table.target(0), table.target_name()), (&[1.0, 3.0][..], 2.0, Some("b")));
}

#[test]
fn escaped_keys_are_the_keys() {
    let text = "{\"t\\u00e9mp\":1,\"a\\\"b\":2}\n{\"témp\":3,\"a\\u0022b\":4}\n";
    let table = read_bytes("t.jsonl", text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(table.feature_names().unwrap(), ["témp"]);
    assert_eq!(table.target_name(), Some("a\"b"));
    assert_eq!((table.features(), table.targets()), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
}

#[test]
fn libsvm_rows_may_be_empty_commented_and_short() {
    let text = "+1 2:0.5 # a comment 9:9\n# only a comment\n-1\n\n1 1:3 3:-0\n";
    let table = read_bytes("t.libsvm", text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(table.features(), [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
    assert!(table.row(2)[2].is_sign_negative());
    assert_eq!(table.targets(), [1.0, -1.0, 1.0]);
    let wide = ReadOptions { libsvm_dimension: Some(5), ..ReadOptions::default() };
    assert_eq!(read_bytes("t.libsvm", text.as_bytes(), &wide).unwrap().dimension(), 5);
    let reader = RowReader::from_reader("t.libsvm", text.as_bytes(), &wide).unwrap();
    assert_eq!((reader.dimension(), reader.feature_names()), (5, None));
}

#[test]
fn blanks_around_numbers_do_no_harm() {
    let table = read_bytes("t.csv", " 1 , 2\n   \n3,\t4 \r\n".as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((table.features(), table.targets()), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
}

#[test]
fn gzip_is_seen_without_its_name() {
    let bytes = gzip("1,2\n3,4\n");
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    assert_eq!(read_bytes("pipe", bytes, &options).unwrap().targets(), [2.0, 4.0]);
}

#[test]
fn some_rows_can_be_taken_from_a_stream() {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let mut reader = RowReader::from_reader("pipe", "1,2\n3,4\n5,6\n".as_bytes(), &options).unwrap();
    assert_eq!(reader.read_rows(2).unwrap().targets(), [2.0, 4.0]);
    assert_eq!(reader.line(), 2);
    assert_eq!(reader.read_rows(usize::MAX).unwrap().targets(), [6.0]);
    assert!(reader.read_rows(1).unwrap().is_empty());
}
