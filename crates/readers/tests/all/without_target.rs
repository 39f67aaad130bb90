//! Tables whose columns are all data, and cells without a value read as NaN.

use mercer_readers::{
    Cell, DataError, Format, Missing, ReadOptions, Record, RowReader, Series, TargetColumn, Targets, read_bytes,
};

fn reader(name: &str, text: &'static str, options: &ReadOptions) -> RowReader {
    RowReader::from_reader(name, text.as_bytes(), options).unwrap()
}

fn series(missing: Missing) -> ReadOptions {
    ReadOptions { target: TargetColumn::None, missing, ..ReadOptions::default() }
}

/// All rows, NaN shown as `None`.
fn rows(name: &str, text: &'static str, options: &ReadOptions) -> Result<Vec<Vec<Option<f64>>>, DataError> {
    let (mut reader, mut row, mut all) = (reader(name, text, options), Vec::new(), Vec::new());
    while reader.next_features(&mut row)? {
        assert_eq!(row.len(), reader.dimension());
        all.push(row.iter().map(|&x| Some(x).filter(|x| !x.is_nan())).collect());
    }
    assert!(!reader.next_features(&mut row).unwrap());
    Ok(all)
}

#[test]
fn every_column_is_a_feature() {
    let options = series(Missing::Refuse);
    let expected = [[Some(1.0), Some(2.0)], [Some(3.0), Some(4.0)]];
    for (name, text) in [
        ("f.csv", "a,b\n1,2\n3,4\n"),
        ("f.csv", "1,2\n3,\" 4\"\n"),
        ("f.tsv", "1\t2\n3\t4\n"),
        ("f.ndjson", "{\"a\":1,\"b\":2}\n{\"b\":4,\"a\":3}\n"),
    ] {
        assert_eq!(rows(name, text, &options).unwrap(), expected, "{name}");
    }
    let named = reader("f.csv", "a,b\n1,2\n", &options);
    assert_eq!((named.dimension(), named.target_name()), (2, None));
    assert_eq!(named.feature_names().unwrap(), ["a", "b"]);
    assert_eq!(rows("f.csv", "5\n6\n", &options).unwrap(), [[Some(5.0)], [Some(6.0)]]);
}

#[test]
fn rows_with_a_target_may_be_read_without_it() {
    assert_eq!(rows("f.csv", "1,2\n3,4\n", &ReadOptions::default()).unwrap(), [[Some(1.0)], [Some(3.0)]]);
    let libsvm = ReadOptions { libsvm_dimension: Some(2), ..ReadOptions::default() };
    assert_eq!(rows("f.libsvm", "1 2:5\n", &libsvm).unwrap(), [[Some(0.0), Some(5.0)]]);
}

#[test]
fn missing_values_are_nan_where_asked() {
    let options = series(Missing::Nan);
    let expected = [vec![Some(1.0), None], vec![None, Some(4.0)], vec![None, None], vec![Some(5.0), Some(6.0)]];
    for (name, text) in [
        ("f.csv", "a,b\n1,\n,4\nNaN,nan\n5,6\n"),
        ("f.csv", "1,\"\"\n\" \",4\n,\n5,6\n"),
        ("f.ndjson", "{\"a\":1,\"b\":null}\n{\"a\":NaN,\"b\":4}\n{}\n{\"b\":6,\"a\":5}\n"),
    ] {
        assert_eq!(rows(name, text, &options).unwrap(), expected, "{text}");
    }
    // In one column a blank line between rows is a hole as well.
    assert_eq!(rows("f.csv", "1\n\n\"\"\nNaN\n2\n", &options).unwrap().len(), 5);
    let mut targeted = reader("f.csv", "1,2\n3,\n", &ReadOptions { missing: Missing::Nan, ..ReadOptions::default() });
    let mut row = Vec::new();
    assert_eq!(targeted.next_row(&mut row).unwrap(), Some(2.0));
    assert!(targeted.next_row(&mut row).unwrap().is_some_and(f64::is_nan));
    let mut keyed = reader(
        "f.ndjson",
        "{\"x\":1,\"y\":2}\n{\"x\":3}\n",
        &ReadOptions { missing: Missing::Nan, ..ReadOptions::default() },
    );
    assert_eq!(keyed.next_row(&mut row).unwrap(), Some(2.0));
    assert!(keyed.next_row(&mut row).unwrap().is_some_and(f64::is_nan));
}

#[test]
fn what_is_not_missing_is_still_refused() {
    let message = |name, text, options: &ReadOptions| rows(name, text, options).unwrap_err().to_string();
    let (nan, refuse) = (series(Missing::Nan), series(Missing::Refuse));
    assert_eq!(
        message("f.csv", "a,b\n1,inf\n", &nan),
        "f.csv, line 2, column 2 (\"b\"): \"inf\" is not a finite number; replace it, or remove the row"
    );
    assert!(message("f.csv", "1,2\n3,NO\n", &nan).starts_with("f.csv, line 2, column 2: \"NO\" is not a number;"));
    assert_eq!(rows("f.csv", "1,2\n3,NA\n-,4\n", &nan).unwrap().len(), 3);
    assert!(message("f.csv", "1,2\n3\n", &nan).starts_with("f.csv, line 2: has 1 cell,"));
    assert!(message("f.csv", "1,2\n3,\n", &refuse).starts_with("f.csv, line 2, column 2: the cell has no value;"));
    assert!(message("f.csv", "1,2\n3,nan\n", &refuse).contains("the cell has no value"));
    let absent = message("f.ndjson", "{\"a\":1,\"b\":2}\n{\"a\":1}\n", &refuse);
    assert!(absent.starts_with("f.ndjson, line 2: the key \"b\" is missing, which every row has;"), "{absent}");
}

#[test]
fn tables_without_a_target_have_no_target() {
    let mut reader = reader("f.csv", "1,2\n", &series(Missing::Refuse));
    let refused =
        "f.csv: is read without a target, so no row has one; choose a target column, or take the rows without";
    assert_eq!(reader.next_row(&mut Vec::new()).unwrap_err().to_string(), refused);
    assert_eq!(reader.read_rows(1).unwrap_err().to_string(), refused);
    let options = ReadOptions { format: Some(Format::Libsvm), libsvm_dimension: Some(1), ..series(Missing::Nan) };
    let libsvm = RowReader::from_reader("f", "1 1:2\n".as_bytes(), &options).unwrap_err().to_string();
    assert!(libsvm.starts_with("f: a libsvm file has a target in every row, and here every column is to be data;"));
}

/// In a table of one column a blank line between rows is an empty cell, but not before the first
/// row nor behind the last.
#[test]
fn blank_lines_of_one_column_are_gaps() {
    let nan = series(Missing::Nan);
    let expected = [Some(1.0), None, Some(3.0), None, None, Some(5.0)].map(|value| vec![value]);
    for text in
        ["y\n1\n\n3\n\n\n5", "\n\ny\n\n1\n\n3\n \n\n5\n\n\n", "1\r\n\r\n3\r\n\r\n\r\n5\r\n", "\n1\n\n3\n\"\"\n\n5\n"]
    {
        assert_eq!(rows("f.csv", text, &nan).unwrap(), expected, "{text:?}");
        assert_eq!(rows("f.tsv", text, &nan).unwrap(), expected, "{text:?}");
    }
    // It is one, too, where no cell may be empty.
    let refused = rows("f.csv", "y\n1\n\n3\n", &series(Missing::Refuse)).unwrap_err().to_string();
    assert!(refused.contains("line 3, column 1 (\"y\")"), "{refused}");
    // Where a row has several, a blank line is nothing.
    assert_eq!(rows("f.csv", "1,2\n\n3,4\n", &nan).unwrap().len(), 2);
    assert_eq!(rows("f.ndjson", "{\"y\":1}\n\n{\"y\":2}\n", &nan).unwrap().len(), 2);
    let mut reader = reader("f.csv", "1\n\n3\nx\n\n5\n", &nan);
    let mut row = Vec::new();
    for _ in 0..3 {
        assert!(reader.next_features(&mut row).unwrap());
    }
    // A bad row is passed over, and the gap behind it is still one.
    assert!(reader.next_features(&mut row).is_err_and(|error| error.to_string().contains("line 4")));
    assert!(reader.next_features(&mut row).unwrap() && row[0].is_nan());
    assert!(reader.next_features(&mut row).unwrap() && row == [5.0]);
    assert!(!reader.next_features(&mut row).unwrap());
}

/// A table in memory is read as the file that holds it.
#[test]
fn tables_in_memory_are_read_as_files_are() {
    for (text, targets) in [("a,b,y\n1,2,3\n4,5,6\n", Targets::Auto), ("a,b,y\n1,2,no\n4,5,yes\n", Targets::Labels)] {
        let options = ReadOptions { format: Some(Format::Csv), targets, ..ReadOptions::default() };
        let table = read_bytes("f.csv", text.as_bytes(), &options).unwrap();
        let mut held = RowReader::of_table(&table).unwrap();
        let mut file = RowReader::records_from("f.csv", text.as_bytes(), &options).unwrap();
        assert_eq!((held.columns(), held.is_named(), held.length()), (file.columns(), true, Some(2)));
        let (mut ours, mut theirs) = (Record::new(), Record::new());
        for row in 1..=3 {
            assert_eq!(held.next_record(&mut ours).unwrap(), file.next_record(&mut theirs).unwrap());
            let same = |(a, b): (Cell<'_>, Cell<'_>)| a.number() == b.number() && a.to_string() == b.to_string();
            assert!(ours.cells().zip(theirs.cells()).all(same) && ours.len() == theirs.len(), "{row}");
        }
    }
    let series = Series::new("s", 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let mut reader = series.clone().into_reader().unwrap();
    assert_eq!(Series::read("s", &mut reader).unwrap(), series);
}
