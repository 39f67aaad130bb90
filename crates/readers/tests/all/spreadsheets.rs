//! Spreadsheets: the cells of the first sheet that has some, and what is told.

use std::io::Cursor;

use mercer_readers::{Cell, Format, ReadOptions, Record, RowReader};

const SHEETS: &[u8] = include_bytes!("../files/sheets.xlsx");

fn options() -> ReadOptions {
    ReadOptions { format: Some(Format::Spreadsheet), ..ReadOptions::default() }
}

/// Below a title, beside an empty column and between two other sheets.
#[test]
fn a_sheet_is_read_as_its_text_would_be() {
    let mut reader = RowReader::records_from("sheets.xlsx", Cursor::new(SHEETS), &options()).unwrap();
    assert_eq!(reader.columns(), ["day", "hour", "shop", "open", "price", "note", "y"]);
    let (mut record, mut rows) = (Record::new(), 0);
    while reader.next_record(&mut record).unwrap() {
        if rows == 0 {
            assert_eq!(reader.line(), 5);
            let expected =
                ["2024-05-01", "08:30:00", "Köln", "TRUE", "0", "a \"0\"\nb", "0"].map(|text| match text.parse() {
                    Ok(number) => Cell::Numeral(number, text),
                    Err(_) => Cell::Text(text),
                });
            assert!(record.cells().eq(expected), "{record:?}");
        }
        if rows == 3 {
            assert_eq!((record.cell(2), record.cell(4)), (Cell::Text("São, Paulo"), Cell::Missing));
        }
        rows += 1;
    }
    assert_eq!(rows, 40);
    let told: Vec<String> = std::iter::from_fn(|| reader.take_remark().map(|remark| remark.to_string())).collect();
    let title = "sheets.xlsx, line 2: stands above the table, which begins on line 4 with fuller rows";
    assert!(told.iter().any(|told| told.starts_with(title)), "{told:?}");
    let sheet = "sheets.xlsx: the sheet \"sales\" is read, and 2 more are not; save another as CSV to read it";
    assert!(told.iter().any(|told| told == sheet), "{told:?}");
}

#[test]
fn what_is_no_spreadsheet_is_refused() {
    for bytes in [&b"a,b\n1,2\n"[..], b"", b"PK\x03\x04", &SHEETS[..2000]] {
        let error = RowReader::records_from("f.xlsx", Cursor::new(bytes.to_vec()), &options()).unwrap_err();
        assert!(error.to_string().starts_with("f.xlsx: cannot be read as xlsx"), "{error}");
    }
}
