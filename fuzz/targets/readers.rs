//! Any bytes as a file of any format: rows or refusals, never a panic, and every row is whole. Rows
//! are the same whether they are read as plain numbers or cell by cell, and whatever a schema makes
//! of the records, they become finite numbers.
//!
//! The first byte chooses format, target, header and what becomes of missing values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mercer::core::Validate;
use mercer::encoding::{Encoding, EncodingOptions, Overrides, Scale};
use mercer::readers::{Format, Header, Missing, ReadOptions, Record, RowReader, TargetColumn};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let format = [Format::Csv, Format::Tsv, Format::Ndjson, Format::Libsvm, Format::Fixed][usize::from(choice % 5)];
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
    let rows = rows(text, &options);
    let gap = "\u{1}".repeat(9);
    if format != Format::Libsvm && !text.windows(gap.len()).any(|part| part == gap.as_bytes()) {
        // With a value that stands for none every cell tells what it is.
        let by_cells = ReadOptions { gaps: vec![gap], ..options };
        assert_eq!(rows, self::rows(text, &by_cells));
    }
});

/// The rows of a text, or what is wrong with them.
fn rows(text: &[u8], options: &ReadOptions) -> Vec<Result<Vec<u64>, String>> {
    let mut read = Vec::new();
    let mut reader = match RowReader::from_reader("fuzz", std::io::Cursor::new(text.to_vec()), options) {
        Ok(reader) => reader,
        Err(error) => return vec![Err(error.to_string())],
    };
    let mut row = Vec::new();
    loop {
        match reader.next_features(&mut row) {
            Ok(true) => {
                assert_eq!(row.len(), reader.dimension());
                let whole = |value: &f64| value.is_finite() || (value.is_nan() && options.missing == Missing::Nan);
                assert!(row.iter().all(whole));
                read.push(Ok(row.iter().map(|value| value.to_bits()).collect()));
            }
            Ok(false) => return read,
            Err(error) => {
                assert!(row.is_empty());
                assert_eq!(error.to_string().lines().count(), 1);
                read.push(Err(error.to_string()));
                if !error.concerns_one_row() {
                    return read;
                }
            }
        }
        let _ = reader.text();
        assert!(read.len() <= text.len() * 1100 + 1, "more rows than bytes");
    }
}

/// The same text as records of cells, and what an encoding makes of them.
fn records(text: &[u8], options: &ReadOptions) {
    let text = std::io::Cursor::new(text.to_vec());
    let Ok(mut reader) = RowReader::records_from("fuzz", text, options) else { return };
    let (mut record, mut records) = (Record::new(), Vec::new());
    loop {
        match reader.next_record(&mut record) {
            Ok(true) => {
                assert_eq!(record.len(), reader.columns().len());
                records.push(record.clone());
            }
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
    let head = &records[..records.len().min(16)];
    let scaled = EncodingOptions::default().scale(Scale::Standard);
    let Ok(mut encoding) = Encoding::look(reader.columns(), head, &Overrides::default(), scaled) else { return };
    let mut numbers = Vec::new();
    for record in &records {
        numbers.clear();
        encoding.encode(record, &mut numbers).expect("a record of the columns that were looked at");
        assert!(numbers.len() == encoding.dimension() && numbers.iter().all(|number| number.is_finite()));
        encoding.learn(record).expect("a record of the columns that were looked at");
    }
    encoding.validate().expect("an encoding that has learnt is sound");
}
