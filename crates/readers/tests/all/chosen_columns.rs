//! Columns that are left out, found by name, or read as features alone.

use mercer_readers::{ColumnChoice, DataError, Format, ReadOptions, RowReader, TargetColumn, read_bytes};

fn ignoring(columns: &[&str]) -> ReadOptions {
    let ignore = columns.iter().map(|column| column.parse::<ColumnChoice>().unwrap()).collect();
    ReadOptions { ignore, ..ReadOptions::default() }
}

fn named(features: &[&str], target: Option<&str>) -> ReadOptions {
    let features = features.iter().map(|&name| name.to_owned()).collect();
    ReadOptions { features, target_name: target.map(str::to_owned), ..ReadOptions::default() }
}

/// The rows and targets, or what was wrong with each.
fn rows(name: &str, text: &str, options: &ReadOptions) -> Vec<Result<(Vec<f64>, f64), String>> {
    let mut reader = RowReader::from_reader(name, std::io::Cursor::new(text.to_owned().into_bytes()), options).unwrap();
    let (mut row, mut all) = (Vec::new(), Vec::new());
    loop {
        match reader.next_row(&mut row) {
            Ok(Some(target)) => all.push(Ok((row.clone(), target))),
            Ok(None) => return all,
            Err(error) => all.push(Err(error.to_string())),
        }
    }
}

#[test]
fn cells_of_ignored_columns_may_hold_anything() {
    let table =
        read_bytes("f.csv", "id,a,y,note\nk1,1,2,\"x\n,y\"\nk2,3,4,\n".as_bytes(), &ignoring(&["id", "note"])).unwrap();
    assert_eq!((table.features(), table.targets()), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
    assert_eq!((table.feature_names().unwrap(), table.target_name()), (&["a".to_owned()][..], Some("y")));
    // A first row of text and numbers is no riddle when the text is not looked at.
    let table = read_bytes("f.csv", "k1,1,2\nk2,3,4\n".as_bytes(), &ignoring(&["1"])).unwrap();
    assert_eq!((table.features(), table.targets()), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
    let objects = "{\"id\":\"k\",\"a\":1,\"y\":2}\n{\"a\":3,\"y\":4}\n";
    let table = read_bytes("f.ndjson", objects.as_bytes(), &ignoring(&["id"])).unwrap();
    assert_eq!((table.features(), table.targets()), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
}

#[test]
fn a_stray_quote_spoils_its_line_alone_even_where_lines_may_be_joined() {
    let said = rows("f.csv", "id,a,y\nk,1,2\n\"k,3,4\nk,5,6\nk,7,8\n", &ignoring(&["id"]));
    let good: Vec<_> = said.iter().filter_map(|row| row.as_ref().ok().map(|(_, target)| *target)).collect();
    assert_eq!((said.len(), good), (4, vec![2.0, 6.0, 8.0]));
    assert!(said[1].as_ref().unwrap_err().starts_with("f.csv, line 3: a quoted cell begins here"), "{said:?}");
}

#[test]
fn features_are_found_by_name() {
    let options = named(&["a", "b"], Some("y"));
    let expected = vec![Ok((vec![1.0, 2.0], 3.0))];
    assert_eq!(rows("f.csv", "b,id,y,a\n2,x,3,1\n", &options), expected);
    // Without names columns are as they stand.
    assert_eq!(rows("f.csv", "1,2,3\n", &options), expected);
    assert_eq!(rows("f.ndjson", "{\"y\":3,\"id\":\"x\",\"b\":2,\"a\":1}\n", &options), expected);
    // No first record sets the columns.
    let said = rows("f.ndjson", "rubbish\n{\"a\":1}\n{\"a\":1,\"b\":2,\"y\":3}\n", &options);
    assert!(said[0].is_err() && said[1].is_err(), "{said:?}");
    assert_eq!(said[2], expected[0]);
    let wrong = |text: &str, options: &ReadOptions| read_bytes("f.csv", text.as_bytes().to_vec(), options).unwrap_err();
    assert_eq!(
        wrong("b,c,y\n1,2,3\n", &options).to_string(),
        "f.csv: has no column \"a\"; it has 3 columns, counted from 1: \"b\", \"c\", \"y\""
    );
    assert!(matches!(wrong("a,b,a,y\n1,2,3,4\n", &options), DataError::ColumnAmbiguous { first: 1, second: 3, .. }));
    assert!(matches!(wrong("a,b,z\n1,2,3\n", &options), DataError::ColumnNotFound { target: true, .. }));
    let both = ReadOptions { target: TargetColumn::Name("y".into()), ..ignoring(&["y"]) };
    assert!(matches!(wrong("a,b,y\n1,2,3\n", &both), DataError::TargetTaken { .. }));
    assert!(matches!(wrong("a,b,y\n1,2,3\n", &ignoring(&["4"])), DataError::ColumnNotFound { target: false, .. }));
    let libsvm = ReadOptions { format: Some(Format::Libsvm), ..ignoring(&["1"]) };
    assert!(matches!(wrong("1 1:2\n", &libsvm), DataError::NoColumns { .. }));
}

#[test]
fn the_target_of_rows_read_as_features_alone_is_not_looked_at() {
    for (name, text) in [
        ("f.csv", "a,b,y\n1,2,\n3,4,nan\n5,6,x\n"),
        ("f.csv", "1,2\n3,4\n5,6\n"),
        ("f.ndjson", "{\"a\":1,\"b\":2,\"y\":null}\n{\"a\":3,\"b\":4,\"y\":NaN}\n{\"a\":5,\"b\":6}\n"),
    ] {
        let options = ReadOptions { features_alone: Some(2), ..ReadOptions::default() };
        let mut reader = RowReader::from_reader(name, text.as_bytes(), &options).unwrap();
        let (mut row, mut all) = (Vec::new(), Vec::new());
        while reader.next_features(&mut row).unwrap() {
            all.extend_from_slice(&row);
        }
        assert_eq!((reader.dimension(), all), (2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), "{text}");
    }
}
