//! Text of other encodings than UTF-8.

use std::io::Cursor;

use mercer_readers::{Record, RowReader};

use crate::dialects::csv;

#[test]
fn texts_of_other_encodings_are_read_and_told() {
    let read = |bytes: &[u8]| {
        let mut reader = RowReader::records_from("f", Cursor::new(bytes.to_vec()), &csv()).unwrap();
        let (mut record, mut texts) = (Record::new(), Vec::new());
        while reader.next_record(&mut record).unwrap() {
            texts.push(record.cell(0).to_string());
        }
        (reader.columns().join(" "), texts, reader.take_remark().map(|remark| remark.to_string()))
    };
    let utf16: Vec<u8> = "\u{feff}größe;y\nÉ;1,5\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let told = Some("f: is UTF-16LE, and is read as such".to_owned());
    assert_eq!(read(&utf16), ("größe y".to_owned(), vec!["É".to_owned()], told));

    let (names, texts, told) = read(b"gr\xf6\xdfe;y\n\xc9;1\n\x80 5;2\n");
    assert_eq!((names.as_str(), texts), ("größe y", vec!["É".to_owned(), "€ 5".to_owned()]));
    assert!(told.unwrap().starts_with("f, line 1: is not UTF-8; it and lines like it are read as Windows-1252"));
    // The first is told, wherever it stands, and UTF-8 stays as it is.
    let (_, texts, told) = read("a;y\nÉ;1\nx;2\n".as_bytes());
    assert_eq!((texts, told), (vec!["É".to_owned(), "x".to_owned()], None));
    let (_, texts, told) = read(&[&b"a;y\n"[..], &b"x;1\n".repeat(300), b"\xc9;2\n"].concat());
    assert_eq!(texts[300], "É");
    assert!(told.unwrap().starts_with("f, line 302: "));

    let error = RowReader::records_from("f", &b"a,gr\x81\xdfe\n1,2\n"[..], &csv()).unwrap_err();
    assert_eq!(error.to_string(), "f, line 1, column 2: the text is not valid UTF-8; save the file as UTF-8");
}
