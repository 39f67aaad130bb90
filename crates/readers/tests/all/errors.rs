//! Every way in which data can be wrong: the message is one line, says where, and the reader goes
//! on if it says it can.

mod by_line;

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use mercer_readers::{
    ContainerError, DataError, Format, Header, ReadOptions, RowReader, TargetColumn, read_all, read_bytes,
};

fn options() -> ReadOptions {
    ReadOptions::default()
}

fn targeted(target: &str) -> ReadOptions {
    ReadOptions { target: target.parse().unwrap(), ..options() }
}

fn message(result: Result<mercer_readers::Dataset, DataError>) -> String {
    let message = result.expect_err("the data should be refused").to_string();
    assert!(!message.contains('\n') && !message.contains('\r'), "{message}");
    message
}

/// Complaint about `text` under `name`.
fn complaint(name: &str, text: &str) -> String {
    message(read_bytes(name, text.as_bytes().to_vec(), &options()))
}

fn starts(message: &str, beginning: &str) {
    assert!(message.starts_with(beginning), "{message}\nshould begin: {beginning}");
}

#[test]
fn ragged_rows() {
    let few = complaint("f.csv", "a,b,y\n1,2,3\n4,5\n");
    assert_eq!(few, "f.csv, line 3: has 2 cells, the first row has 3; add the missing cells or remove the row");
    starts(&complaint("f.csv", "1,2,3\r\n\r\n4,5,6,7\r\n"), "f.csv, line 3: has 4 cells, the first row has 3;");
    starts(&complaint("f.tsv", "1\t2\n3\n"), "f.tsv, line 2: has 1 cell, the first row has 2;");
}

#[test]
fn empty_files() {
    for name in ["f.csv", "f.tsv", "f.ndjson", "f.libsvm"] {
        let expected = format!("{name}: is empty; give a file with at least one row");
        assert_eq!(complaint(name, ""), expected);
        assert_eq!(complaint(name, "\n \r\n\n"), expected);
    }
    assert_eq!(complaint("f.csv", "\u{feff}"), "f.csv: is empty; give a file with at least one row");
    starts(&complaint("f.libsvm", "# nothing\n"), "f.libsvm: is empty;");
}

#[test]
fn a_header_alone() {
    assert_eq!(complaint("f.csv", "a,b\n\n"), "f.csv: has a header and no row; add data below line 1");
    assert_eq!(complaint("f.tsv", "a\tb"), "f.tsv: has a header and no row; add data below line 1");
}

#[test]
fn text_in_a_numeric_column() {
    let named = complaint("f.csv", "a,b,y\n1,2,3\n4,five,6\n");
    assert_eq!(
        named,
        "f.csv, line 3, column 2 (\"b\"): \"five\" is not a number; replace it by one, or leave the column out"
    );
    starts(&complaint("f.csv", "1,2\n3,x\n"), "f.csv, line 2, column 2: \"x\" is not a number;");
    starts(&complaint("f.tsv", "1\t2\n3,5,1\t4\n"), "f.tsv, line 2, column 1: \"3,5,1\" is not a number;");
    starts(
        &complaint("f.csv", "a,y\n1,2\n\"3 \"\"x\",4\n"),
        "f.csv, line 3, column 1 (\"a\"): \"3 \\\"x\" is not a number;",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":2}\n{\"a\":\"3,1\",\"y\":2}\n"),
        "f.ndjson, line 2, column 1 (\"a\"): \"3,1\" is not",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":true}\n"),
        "f.ndjson, line 1, column 2 (\"y\"): \"true\" is not a number;",
    );
    starts(&complaint("f.libsvm", "1 1:2\n2 1:x\n"), "f.libsvm, line 2, column 1: \"x\" is not a number;");
    starts(&complaint("f.libsvm", "1,2 1:2\n"), "f.libsvm, line 1, column 2 (\"target\"): \"1,2\" is not a number;");
    let long = complaint("f.csv", &format!("1,2\n3,{}\n", "z".repeat(500)));
    assert!(long.len() < 200 && long.contains("zzz…"), "{long}");
    let binary = message(read_bytes("f.csv", b"1,2\n\xff\x81,3\n".to_vec(), &options()));
    starts(&binary, "f.csv, line 2, column 1: the text is not valid UTF-8;");
}

#[test]
fn lines_are_counted_under_every_line_end() {
    for end in ["\n", "\r\n"] {
        let text = ["a,\"b\nb\",y", "1,2,3", "", "\"4\",\"5\",\"6\"", "7,8,z"].join(end);
        let message = complaint("f.csv", &text);
        starts(&message, "f.csv, line 6, column 3 (\"y\"): \"z\" is not a number;");
    }
}

#[test]
fn cells_without_anything() {
    let feature = complaint("f.csv", "a,b,y\n1,,3\n");
    assert_eq!(feature, "f.csv, line 2, column 2 (\"b\"): the cell has no value; fill it, or remove the row");
    let target = complaint("f.csv", "a,b,y\n1,2,3\n1,2,\n");
    assert_eq!(target, "f.csv, line 3, column 3 (\"y\"): the target is missing; fill it, or remove the row");
    starts(&complaint("f.csv", "1, ,3\n"), "f.csv, line 1, column 2: the cell has no value;");
    starts(
        &complaint("f.ndjson", "{\"a\":null,\"y\":2}\n"),
        "f.ndjson, line 1, column 1 (\"a\"): the cell has no value;",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":null}\n"),
        "f.ndjson, line 1, column 2 (\"y\"): the target is missing;",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":2}\n{\"a\":1}\n"),
        "f.ndjson, line 2, column 2 (\"y\"): the target is missing;",
    );
    starts(&complaint("f.libsvm", "1 1:2\n1:2\n"), "f.libsvm, line 2, column 2 (\"target\"): the target is missing;");
    starts(&complaint("f.libsvm", "1 1:\n"), "f.libsvm, line 1, column 1: the cell has no value;");
}

#[test]
fn numbers_that_are_not_finite() {
    let nan = complaint("f.csv", "a,b,y\n1,NaN,3\n");
    assert_eq!(nan, "f.csv, line 2, column 2 (\"b\"): the cell has no value; fill it, or remove the row");
    starts(&complaint("f.csv", "1,inf\n"), "f.csv, line 1, column 2: \"inf\" is not a finite number;");
    starts(&complaint("f.csv", "1,2\n1e400,3\n"), "f.csv, line 2, column 1: \"1e400\" is not a finite number;");
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":2}\n{\"a\":NaN,\"y\":2}\n"),
        "f.ndjson, line 2, column 1 (\"a\"): \"NaN\" is not a finite",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1,\"y\":-Infinity}\n"),
        "f.ndjson, line 1, column 2 (\"y\"): \"-Infinity\" is not a finite",
    );
    starts(
        &complaint("f.ndjson", "{\"a\":1e999,\"y\":1}\n"),
        "f.ndjson, line 1, column 1 (\"a\"): \"1e999\" is not a finite",
    );
    starts(&complaint("f.libsvm", "1 1:2 3:-inf\n"), "f.libsvm, line 1, column 3: \"-inf\" is not a finite");
    starts(&complaint("f.libsvm", "nan 1:2\n"), "f.libsvm, line 1, column 2 (\"target\"): \"nan\" is not a finite");
    let huge = read_bytes("f.csv", "1e308,-1.7e308\n".as_bytes(), &options()).unwrap();
    assert_eq!((huge.row(0)[0], huge.target(0)), (1e308, -1.7e308));
}

#[test]
fn formats_that_nothing_tells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.txt");
    std::fs::write(&path, "1,2\n").unwrap();
    let text = message(read_all(&path, &options()));
    assert!(
        text.contains("data.txt: the name does not tell the format; name it *.csv") && text.contains("--format"),
        "{text}"
    );
    let given = ReadOptions { format: Some(Format::Csv), ..options() };
    assert_eq!(read_all(&path, &given).unwrap().targets(), [2.0]);
    starts(&message(read_all("-", &options())), "standard input: the name does not tell the format;");
}

#[test]
fn files_that_are_not_there() {
    let text = message(read_all("no/such/file.csv", &options()));
    starts(&text, "no/such/file.csv: cannot be read (");
    assert!(text.ends_with("check the path and its permissions"), "{text}");
    starts(&message(read_all("no\nsuch.csv", &options())), "no\\nsuch.csv: cannot be read (");
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("a.csv");
    std::fs::create_dir(&named).unwrap();
    assert!(message(read_all(&named, &options())).contains("a.csv: cannot be read ("));
}

#[test]
fn gzip_that_cannot_be_read() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for i in 0..20_000_u32 {
        writeln!(encoder, "{i},{}", i.wrapping_mul(2_654_435_761)).unwrap();
    }
    let good = encoder.finish().unwrap();
    assert_eq!(read_bytes("f.csv.gz", good.clone(), &options()).unwrap().len(), 20_000);

    assert_eq!(
        complaint("f.csv.gz", "1,2\n"),
        "f.csv.gz: is not gzip although its name ends in .gz; take the ending off, or compress the file"
    );
    starts(&complaint("f.csv.gz", ""), "f.csv.gz: is not gzip");

    let cut = message(read_bytes("f.csv.gz", good[..good.len() / 2].to_vec(), &options()));
    starts(&cut, "f.csv.gz: the gzip data is damaged or cut short after line ");
    assert!(cut.ends_with("fetch or compress the file again"), "{cut}");
    let line: u64 = cut["f.csv.gz: the gzip data is damaged or cut short after line ".len()..]
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((5000..20_000).contains(&line), "{line}");

    let mut wrong_sum = good.clone();
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 1;
    starts(
        &message(read_bytes("f.csv.gz", wrong_sum, &options())),
        "f.csv.gz: the gzip data is damaged or cut short after line 20000 (",
    );

    let mut trailing = good;
    trailing.extend_from_slice(b"something else");
    starts(
        &message(read_bytes("f.csv.gz", trailing, &options())),
        "f.csv.gz: the gzip data is damaged or cut short after line 20000 (",
    );
}

#[test]
fn targets_that_are_not_there() {
    let csv = |target: &str, text: &'static str| message(read_bytes("f.csv", text.as_bytes(), &targeted(target)));
    assert_eq!(csv("z", "a,b\n1,2\n"), "f.csv: no target column \"z\"; it has 2 columns, counted from 1: \"a\", \"b\"");
    assert_eq!(csv("3", "a,b\n1,2\n"), "f.csv: no target column 3; it has 2 columns, counted from 1: \"a\", \"b\"");
    assert_eq!(csv("0", "1,2\n"), "f.csv: no target column 0; it has 2 columns without names, counted from 1");
    assert_eq!(csv("y", "1,2\n"), "f.csv: no target column \"y\"; it has 2 columns without names, counted from 1");
    assert_eq!(csv("a", "a,a,b\n1,2,3\n"), "f.csv: columns 1 and 2 are both named \"a\"; choose the target by number");
    let json = message(read_bytes("f.ndjson", "{\"a\":1,\"b\":2}\n".as_bytes(), &targeted("z")));
    assert_eq!(json, "f.ndjson: no target column \"z\"; it has 2 columns, counted from 1: \"a\", \"b\"");
    let svm = message(read_bytes("f.libsvm", "1 1:2\n".as_bytes(), &targeted("1")));
    starts(&svm, "f.libsvm: a libsvm file has its target first in every row and no other;");
}

#[test]
fn nothing_beside_the_target() {
    starts(&complaint("f.csv", "1\n2\n"), "f.csv: has too few columns, so that nothing is left beside the target;");
    starts(&complaint("f.csv", "1/2\n3/4\n"), "f.csv: has too few columns");
    starts(&complaint("f.ndjson", "{\"y\":1}\n"), "f.ndjson: has too few columns");
    starts(&complaint("f.ndjson", "{}\n"), "f.ndjson: has too few columns");
    starts(&complaint("f.libsvm", "1\n2\n"), "f.libsvm: has no index:value pair in any row");
}

#[test]
fn first_rows_that_may_be_either() {
    let doubtful = complaint("f.csv", "1.5,oops,3\n4,5,6\n");
    starts(&doubtful, "f.csv, line 1, column 2: the first row mixes numbers with text such as \"oops\";");
    starts(&complaint("f.csv", "year,19,20\n4,5,6\n"), "f.csv, line 1, column 1: the first row mixes");
    starts(&complaint("f.csv", "a,nan\n1,2\n"), "f.csv, line 1, column 1: the first row mixes");
    starts(&complaint("f.csv", "\n\n1,NA\n"), "f.csv, line 3, column 2: the first row mixes");

    // Said outright, or by a target of that name, it is settled.
    let text = "year,2019,2020\n4,5,6\n".as_bytes();
    let present = ReadOptions { header: Header::Present, ..options() };
    assert_eq!(read_bytes("f.csv", text, &present).unwrap().target_name(), Some("2020"));
    let named = ReadOptions { target: TargetColumn::Name("2019".into()), ..options() };
    assert_eq!(read_bytes("f.csv", text, &named).unwrap().targets(), [5.0]);
    let absent = ReadOptions { header: Header::Absent, ..options() };
    starts(&message(read_bytes("f.csv", text, &absent)), "f.csv, line 1, column 1: \"year\" is not a number;");
    let numbers = read_bytes("f.csv", "1,2\n3,4\n".as_bytes(), &present).unwrap();
    assert_eq!((numbers.len(), numbers.target_name()), (1, Some("2")));
    // A column without a name, as some writers leave the row numbers, is no obstacle.
    assert_eq!(
        read_bytes("f.csv", ",a,b\n0,1,2\n".as_bytes(), &options()).unwrap().feature_names().unwrap(),
        ["", "a"]
    );
}

#[test]
fn quotes_that_do_not_close() {
    starts(
        &complaint("f.csv", "a,y\n1,2\n\"3,4\n5,6\n"),
        "f.csv, line 3: a quoted cell begins here and does not end on this line;",
    );
    let endless = format!("\"a,y\n{}", "3,4\n".repeat(100_000));
    starts(
        &complaint("f.csv", &endless),
        "f.csv, line 1: a quoted cell begins here and does not end within 100 lines;",
    );
}

#[test]
fn a_bad_row_can_be_stepped_over() {
    let cases = [
        ("f.csv", "a,y\n1,2\nx,2\n3\n\"4\",\n5,6\n"),
        ("stray.csv", "a,y\n1,2\n\"3,4\n3\"3,4\n\"\n5,6\n"),
        ("f.tsv", "1\t2\nnan\t2\n\t4\n3\t3\t3\n5\t6\n"),
        ("f.ndjson", "{\"a\":1,\"y\":2}\n{\"a\":1}\n{\"a\":\"x\",\"y\":1}\nrubbish\n{\"a\":5,\"y\":6}\n"),
        ("f.libsvm", "2 1:1\n2 0:1\n2 1:x\n1:2\n6 1:5\n"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut reader = RowReader::open(&path, &options()).unwrap();
        let (mut row, mut seen, mut errors) = (vec![9.0], Vec::new(), 0);
        loop {
            match reader.next_row(&mut row) {
                Ok(Some(target)) => seen.push((row.clone(), target)),
                Ok(None) => break,
                Err(error) => {
                    assert!(error.concerns_one_row() && row.is_empty(), "{name}: {error}");
                    errors += 1;
                }
            }
        }
        assert_eq!((seen, errors), (vec![(vec![1.0], 2.0), (vec![5.0], 6.0)], 3), "{name}");
    }
}

#[test]
fn after_the_end_of_a_stream_there_is_nothing() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"1,2\n3,4\n").unwrap();
    let mut bytes = encoder.finish().unwrap();
    bytes.truncate(bytes.len() - 4);
    let given = ReadOptions { format: Some(Format::Csv), ..options() };
    let mut reader = RowReader::from_reader("pipe", std::io::Cursor::new(bytes), &given).unwrap();
    let mut row = Vec::new();
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(2.0));
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(4.0));
    let error = reader.next_row(&mut row).unwrap_err();
    assert!(
        matches!(error, DataError::Container(ContainerError::Damaged { line: 2, .. })) && !error.concerns_one_row(),
        "{error}"
    );
    assert_eq!(reader.next_row(&mut row).unwrap(), None);
}
