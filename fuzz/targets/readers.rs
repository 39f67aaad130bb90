//! Any bytes as a file of any format: rows or refusals, never a panic, and every row is whole.
//!
//! The first byte chooses format, target, header and what becomes of missing values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mercer::readers::{Format, Header, Missing, ReadOptions, Record, RecordReader, RowReader, TargetColumn};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let format = [Format::Csv, Format::Tsv, Format::Ndjson, Format::Libsvm][usize::from(choice % 4)];
    let target = match choice / 4 % 4 {
        0 => TargetColumn::Last,
        1 => TargetColumn::Index(1),
        2 => TargetColumn::Name("y".to_owned()),
        _ => TargetColumn::None,
    };
    let options = ReadOptions {
        format: Some(format),
        target,
        header: [Header::Detect, Header::Present, Header::Absent][usize::from(choice / 16 % 3)],
        missing: if choice / 64 % 2 == 0 { Missing::Refuse } else { Missing::Nan },
        libsvm_dimension: Some(5),
        ..ReadOptions::default()
    };
    records(text, &options);
    let Ok(mut reader) = RowReader::from_reader("fuzz", std::io::Cursor::new(text.to_vec()), &options) else { return };
    let (mut row, mut met) = (Vec::new(), 0);
    loop {
        match reader.next_features(&mut row) {
            Ok(true) => {
                assert_eq!(row.len(), reader.dimension());
                let whole = |value: &f64| value.is_finite() || (value.is_nan() && options.missing == Missing::Nan);
                assert!(row.iter().all(whole));
            }
            Ok(false) => break,
            Err(error) => {
                assert!(row.is_empty());
                assert_eq!(error.to_string().lines().count(), 1);
                if !error.concerns_one_row() {
                    break;
                }
            }
        }
        let _ = reader.record();
        met += 1;
        assert!(met <= text.len() * 1100 + 1, "more rows than bytes");
    }
});

/// The same text as records of cells.
fn records(text: &[u8], options: &ReadOptions) {
    let text = std::io::Cursor::new(text.to_vec());
    let Ok(mut reader) = RecordReader::from_reader("fuzz", text, options) else { return };
    let mut record = Record::new();
    loop {
        match reader.next_record(&mut record) {
            Ok(true) => assert_eq!(record.len(), reader.columns().len()),
            Ok(false) => break,
            Err(error) => {
                assert!(record.is_empty());
                assert_eq!(error.to_string().lines().count(), 1);
                if !error.concerns_one_row() {
                    break;
                }
            }
        }
    }
}
