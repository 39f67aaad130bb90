//! Spreadsheets: the first sheet that has cells, as the delimited text that a person would save.
//!
//! A cell of a type has one way to be written, whatever the sheet shows, so that every other rule
//! (titles, headers, kinds of columns) is that of text.

use std::fmt::Write as _;
use std::io::{Cursor, Read};

use calamine::{Data, ExcelDateTime, Reader, open_workbook_auto_from_rs};

use crate::error::{ContainerError, DataError, Finding};
use crate::format::Format;
use crate::lines::{Lines, Source};

/// The rows of the first sheet with cells, as lines of text with commas. The number of a line is
/// that of the sheet's row, unless a cell above has several lines.
pub(crate) fn open(mut source: Source) -> Result<Lines, DataError> {
    let file = source.shown();
    let mut bytes = Vec::new();
    let read = source.open().and_then(|mut input| input.read_to_end(&mut bytes));
    read.map_err(|source| DataError::Io { file: file.clone(), source })?;
    let refused = |why: String| {
        let format = Format::Spreadsheet;
        DataError::from(ContainerError::Columnar { file: file.clone(), format, why })
    };
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes)).map_err(|error| refused(error.to_string()))?;
    let names = book.sheet_names();
    for (place, name) in names.iter().enumerate() {
        let Some(sheet) = book.worksheet_range_at(place) else { continue };
        let sheet = sheet.map_err(|error| refused(error.to_string()))?;
        let Some((above, _)) = sheet.start() else { continue };
        let mut text = "\n".repeat(above as usize);
        for row in sheet.rows() {
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    text.push(',');
                }
                write(&mut text, cell);
            }
            text.push('\n');
        }
        let mut lines = Source::Memory { name: file.clone(), bytes: text.into_bytes().into() }.lines()?;
        if names.len() > 1 {
            let (file, sheet, others) = (file.clone(), name.clone(), names.len() - 1);
            lines.remark(Finding::Sheet { file, sheet, others }.remark());
        }
        return Ok(lines);
    }
    Err(DataError::Empty { file })
}

/// Adds a cell to a line.
fn write(line: &mut String, cell: &Data) {
    let text = match cell {
        Data::Empty => String::new(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(time) => time_text(*time),
        Data::DateTimeIso(text) | Data::DurationIso(text) | Data::String(text) => text.clone(),
        Data::Error(error) => error.to_string(),
    };
    if text.contains([',', '"', '\n', '\r', ';', '\t', '|']) || text.starts_with('#') {
        let _ = write!(line, "\"{}\"", text.replace('"', "\"\""));
    } else {
        line.push_str(&text);
    }
}

/// A day, an instant, a time of day, or a duration.
fn time_text(time: ExcelDateTime) -> String {
    let days = time.as_f64();
    if time.is_duration() {
        let seconds = (days * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    let clock = if milli == 0 { clock } else { format!("{clock}.{milli:03}") };
    if (0.0..1.0).contains(&days) {
        clock
    } else if days.fract() == 0.0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{clock}")
    }
}
