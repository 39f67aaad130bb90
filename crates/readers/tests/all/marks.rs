//! Decimal marks and marks between thousands.

use std::io::Cursor;

use mercer_readers::{
    Cell, Decimal, Header, Marks, ReadOptions, Record, RowReader, Separator, TargetColumn, Thousands,
};

use crate::dialects::{csv, open, records, refused};

/// Rows of a table, and the remark on its thousands.
fn grouped(text: &str, options: &ReadOptions) -> (Vec<Vec<f64>>, Option<String>) {
    let mut reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), options).unwrap();
    let (mut row, mut rows, mut told) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(target) = reader.next_row(&mut row).unwrap() {
        rows.push(row.iter().copied().chain([target]).collect());
        told.extend(reader.take_remark().map(|remark| remark.to_string()));
    }
    assert!(told.len() <= 1, "{told:?}");
    (rows, told.pop())
}

#[test]
fn thousands_are_read_where_they_cannot_be_mistaken() {
    let large = [[1.0, 1234.0], [2.0, 12.5]];
    for text in [
        "1;1.234\n2;12,5\n",
        "1;1.234,0\n2;12,5\n",
        "1;1,234.0\n2;12.5\n",
        "1\t1,234\n2\t12.5\n",
        "1,\"1,234\"\n2,12.5\n",
        "1;1 234\n2;12,5\n",
        "1,1 234\n2,12.5\n",
        "1,1\u{a0}234\n2,12.5\n",
        "1,1\u{2009}234\n2,12.5\n",
        "1,1\u{202f}234\n2,12.5\n",
        "1,1'234\n2,12.5\n",
        "1;1\u{2019}234\n2;12,5\n",
        "1;1 234,000\n2;12,5\n",
    ] {
        let (rows, told) = grouped(&format!("a{}y\n{text}", &text[1..2]), &csv());
        assert_eq!(rows, large, "{text:?}");
        assert!(told.is_some_and(|told| told.starts_with("f, line 2, column 2 (\"y\"): \"1")), "{text:?}");
    }
    let groups = [[1.0, -1_234_567.0], [2.0, 950_123.0]];
    for text in [
        "1;-1.234.567\n2;950.123\n",
        "1,-1.234.567\n2,950.123\n",
        "1;950.123\n1;-1.234.567\n",
        "1,\"-1,234,567\"\n2,\"950,123\"\n",
        "1|-1 234 567\n2|950 123\n",
    ] {
        let (mut rows, told) = grouped(text, &csv());
        rows.sort_by(|a, b| a[1].total_cmp(&b[1]));
        assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<_>>(), groups.map(|row| row[1]), "{text:?}");
        assert!(told.is_some(), "{text:?}");
    }
    assert_eq!(
        grouped("a;y\n1;1.234.567\n2;-950.123,5\n", &csv()).1.unwrap(),
        "f, line 2, column 2 (\"y\"): \"1.234.567\" is read as 1234567, because points separate thousands; overrule this with --thousands or --decimal"
    );
    // A decimal comma in quotes needs no word.
    assert_eq!(
        grouped("a,y\n\"1,5\",\"2,25\"\n3,\"4,125\"\n", &csv()),
        (vec![vec![1.5, 2.25], vec![3.0, 4.125]], None)
    );
}

#[test]
fn marks_are_told() {
    let told = |decimal: Option<Decimal>, thousands| ReadOptions { decimal, thousands, ..csv() };
    let (point, comma) = (Some(Decimal::Point), Some(Decimal::Comma));
    for (options, text, second) in [
        (told(point, None), "1;1.234\n", 1.234),
        (told(comma, None), "1;1.234\n", 1234.0),
        (told(comma, None), "1;1,234\n", 1.234),
        (told(point, None), "1;1,234\n", 1234.0),
        (told(comma, None), "1,\"1,234\"\n", 1.234),
        (told(None, Some(Thousands::Comma)), "1,\"1,234\"\n", 1234.0),
        (told(None, Some(Thousands::Point)), "1;1.234\n", 1234.0),
        (told(None, Some(Thousands::Point)), "1;1.234,5\n", 1234.5),
        (told(None, Some(Thousands::Nothing)), "1;1.234\n", 1.234),
        (told(None, Some(Thousands::Nothing)), "1;1,234\n", 1.234),
        (told(None, Some(Thousands::Blank)), "1;1.234\n", 1.234),
        (told(None, Some(Thousands::Blank)), "1;1 234\n", 1234.0),
        (told(comma, Some(Thousands::Apostrophe)), "1;1'234,5\n", 1234.5),
    ] {
        let (rows, remark) = grouped(text, &options);
        assert_eq!(rows, [[1.0, second]], "{text:?} {options:?}");
        assert_eq!(remark.is_some(), options.thousands.is_none() && second > 1000.0, "{text:?}");
    }
    let refused = |options: &ReadOptions, text: &str| self::refused(text, options);
    assert!(refused(&told(None, Some(Thousands::Nothing)), "1;1.234.567\n").contains("\"1.234.567\" is not a number"));
    assert!(refused(&told(None, Some(Thousands::Point)), "1;1.5\n").contains("\"1.5\" is not a number"));
    assert_eq!(
        refused(&told(point, Some(Thousands::Point)), "1;2\n"),
        "f: the decimal mark and the mark between thousands cannot both be the point; say one of them otherwise"
    );
    assert_eq!(
        "dot".parse::<Thousands>().unwrap_err().to_string(),
        "\"dot\" is not a mark between thousands; they are point, comma, blank, apostrophe and none"
    );
}

/// Marks known from other files settle doubts, and nothing else.
#[test]
fn marks_are_known() {
    let known = |decimal, thousands| ReadOptions { marks: Marks { decimal, thousands }, ..csv() };
    let (point, comma) = (Some(Decimal::Point), Some(Decimal::Comma));
    for (options, text, second) in [
        (known(comma, None), "1;1.234\n", 1234.0),
        (known(comma, None), "1;1,234\n", 1.234),
        (known(point, None), "1;1.234\n", 1.234),
        (known(comma, None), "1;12.5\n", 12.5),
        (known(comma, None), "1,1234.50\n", 1234.5),
        (known(None, Some(Thousands::Blank)), "1;1 234\n", 1234.0),
    ] {
        assert_eq!(grouped(text, &options).0, [[1.0, second]], "{text:?} {options:?}");
    }
    let refused = |options: &ReadOptions, text: &str| self::refused(text, options);
    // Commas that separate cells say one thing, and the other file the other.
    assert!(refused(&known(comma, None), "1,1.234\n").contains("\"1.234\" may mean"));
    assert!(refused(&known(comma, None), "1;1.234\n2;1.5\n").contains("\"1.5\" has another decimal mark than line 1"));
    let marks = |text: &str, options: &ReadOptions| {
        let mut reader = open(text, options).unwrap();
        while reader.next_record(&mut Record::new()).unwrap() {}
        reader.marks()
    };
    assert_eq!(marks("1;2,5\n", &csv()), Marks { decimal: comma, thousands: None });
    assert_eq!(marks("1,2.5\n", &csv()), Marks { decimal: point, thousands: None });
    assert_eq!(marks("1,2\n", &csv()), Marks::default());
    assert_eq!(marks("1;2 345,6\n", &csv()), Marks { decimal: comma, thousands: Some(Thousands::Blank) });
    assert_eq!(marks("1;2\n", &known(comma, None)), Marks { decimal: comma, thousands: None });
}

/// Columns of text show no marks, and have none.
#[test]
fn columns_of_text_say_nothing_of_marks() {
    let text = "codes,net,x,y\n\"1,2\",192.168.100.200,a 1,0.5\n\"1,2,3\",10.0.0.1,100 200,1.5\n7,10.0.0.2,b,2.5\n\"3,4\",10.0.0.3,c,2.5\n";
    let (_, records) = records(text, &csv());
    let column = |column: usize| records.iter().map(move |record| record.cell(column)).collect::<Vec<_>>();
    assert_eq!(column(1)[0], Cell::Text("192.168.100.200"));
    assert_eq!(column(2)[1], Cell::Text("100 200"));
    assert_eq!(column(0)[..2], [Cell::Text("1,2"), Cell::Text("1,2,3")]);
    assert!(column(3).into_iter().map(Cell::number).eq([0.5, 1.5, 2.5, 2.5].map(Some)));
    // A number in a column of versions is no measure for prices.
    let mut text = "version;price\n".to_owned();
    for version in ["1.2", "2.0.1", "1.10", "1.2.3", "2.x"] {
        text += &format!("{version};2,5\n");
    }
    let (_, records) = self::records(&text, &csv());
    assert!(records.iter().all(|record| record.cell(1).number() == Some(2.5)), "{records:?}");
    // Two answers are no decimal comma, wherever they come first.
    let mut text = "answers,y\n".to_owned();
    for answers in ["\"1,2\"", "\"2,3,4\"", "\"3,4\"", "1", "\"1,4,5\""] {
        text += &format!("{answers},0.5\n");
    }
    let (_, records) = self::records(&text, &csv());
    assert!(records.iter().all(|record| record.cell(1).number() == Some(0.5)), "{records:?}");
    assert_eq!(records[0].cell(0), Cell::Text("1,2"));
}

/// A row that is refused says nothing of the rows behind it.
#[test]
fn a_refused_row_settles_no_mark() {
    let text = "a;b;y\n1;1;0\n2,5;inf;1\n3.5;1;2\n";
    let mut reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), &csv()).unwrap();
    let mut row = Vec::new();
    assert_eq!(reader.next_row(&mut row).unwrap(), Some(0.0));
    assert!(reader.next_row(&mut row).unwrap_err().to_string().contains("inf"));
    assert_eq!((reader.next_row(&mut row).unwrap(), &row[..]), (Some(2.0), &[3.5, 1.0][..]));
}

/// All small tables of awkward cells: a row says the same whether it is read at once or cell by
/// cell, as it is where some value stands for none. (`2,` beside a column of text was 2 at once.)
#[test]
fn a_row_read_at_once_is_the_row_read_cell_by_cell() {
    let words = ["1", "x", "2,", "1,5", ""];
    let read = |text: &str, options: &ReadOptions| -> Vec<Result<Vec<u64>, String>> {
        let reader = RowReader::from_reader("f", Cursor::new(text.as_bytes().to_vec()), options);
        let (mut reader, mut row, mut read) = (reader.unwrap(), Vec::new(), Vec::new());
        loop {
            match reader.next_features(&mut row) {
                Ok(true) => read.push(Ok(row.iter().map(|value| value.to_bits()).collect())),
                Ok(false) => return read,
                Err(error) => read.push(Err(error.to_string())),
            }
        }
    };
    let (header, target) = (Header::Absent, TargetColumn::None);
    let at_once = ReadOptions { header, target, separator: Some(Separator::Semicolon), ..csv() };
    let by_cells = ReadOptions { gaps: vec!["nothing at all".to_owned()], ..at_once.clone() };
    for table in 0..words.len().pow(6) {
        let cell = |place: u32| words[table / words.len().pow(place) % words.len()];
        let text = format!("{};{}\n{};{}\n{};{}\n", cell(0), cell(1), cell(2), cell(3), cell(4), cell(5));
        assert_eq!(read(&text, &at_once), read(&text, &by_cells), "{text:?}");
    }
}
