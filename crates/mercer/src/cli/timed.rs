//! Rows of numbers beside columns of times, which are left out, or tell whether the rows are in order.

use mercer::encoding::parse_instant;
use mercer::readers::is_gap_mark;
use mercer::readers::{
    Cell, ColumnChoice, Counts, DataError, Example, Format, Missing, ReadOptions, Record, RecordReader, instant_text,
};

use super::FIRST_ROWS;
use super::dialect;
use super::failure::Failure;
use super::opening::Opening;
use super::source::{Columns, no_column};
use super::voice;

/// Rows of a series, of pairs or of a trajectory.
pub(crate) struct Timed {
    shown: String,
    reader: RecordReader,
    record: Record,
    /// Where the numbers stand.
    numbers: Vec<usize>,
    missing: Missing,
    /// The column that orders the rows, and the time of the row before.
    time: Option<usize>,
    before: Option<f64>,
}

impl Timed {
    /// `None` where all columns are to be read as numbers, also for what cannot be read: whoever does so tells why. A column of a file is one of times if it
    /// is so in each of the first rows; of a pipe the first row alone decides, and names that are not those of times are believed, so that nobody has to wait.
    pub(crate) fn look(
        opening: &mut Option<Opening>,
        options: &ReadOptions,
        time: Option<&ColumnChoice>,
        missing: Missing,
    ) -> Result<Option<Self>, Failure> {
        let Some(data) = &*opening else { return Ok(None) };
        let shown = data.shown().to_owned();
        if options.format == Some(Format::Libsvm) {
            return Ok(None);
        }
        // Nobody waits for a first row behind names that are not those of times.
        let quiet = |names: &[String]| !names.iter().any(|name| is_of_times(name));
        if data.is_pipe() && time.is_none() && data.header(options).is_some_and(|names| quiet(&names)) {
            return Ok(None);
        }
        let Ok(mut reader) = data.records(options) else { return Ok(None) };
        let rows = if data.is_pipe() { 1 } else { FIRST_ROWS };
        let Some(times) = times(&mut reader, rows) else { return Ok(None) };
        let time = time.map(|choice| place(choice, &reader, &shown)).transpose()?;
        if time.is_none() && times.is_empty() {
            return Ok(None);
        }
        let left_out = |column: &usize| times.contains(column) || time == Some(*column);
        let numbers: Vec<usize> = (0..reader.columns().len()).filter(|column| !left_out(column)).collect();
        if numbers.is_empty() {
            return Err(Failure::because(format!(
                "{shown}: holds times alone; give a file with columns of numbers, too"
            )));
        }
        for column in times.iter().filter(|column| time != Some(**column)) {
            let name = &reader.columns()[*column];
            voice::remark(format!("{shown}: column {name:?} holds times and is left out"));
        }
        let Some(data) = opening.take() else { return Ok(None) };
        let reader = data.last_records(options)?;
        dialect::tell_doubt(reader.doubt());
        Ok(Some(Self { shown, reader, record: Record::new(), numbers, missing, time, before: None }))
    }

    pub(crate) fn columns(&self) -> Columns {
        let names: Vec<String> = self.numbers.iter().map(|&column| self.reader.columns()[column].clone()).collect();
        Columns::new(names.len(), self.reader.is_named().then_some(&*names), None)
    }

    /// The line of the row last read, and what it counts.
    pub(crate) fn line(&self) -> (u64, Counts) {
        (self.reader.line(), self.reader.counts())
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.reader.text()
    }

    /// The time of the row last read, if a column orders the rows.
    pub(crate) fn time(&self) -> Option<f64> {
        self.before
    }

    /// Puts the numbers of the next row into `example`; false at the end.
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let Self { shown, reader, record, numbers, missing, time, before } = self;
        example.features.clear();
        let read = reader.next_record(record);
        dialect::tell_remark(reader.take_remark());
        if !read? {
            return Ok(false);
        }
        let cell = |column: usize| super::encoded::cell(shown, reader, column);
        let expected = reader.columns().len();
        if record.len() != expected {
            return Err(DataError::Ragged { line: cell(0).line, expected, got: record.len() });
        }
        if let Some(column) = *time {
            let now = match record.cell(column) {
                Cell::Number(value) | Cell::Numeral(value, _) | Cell::Instant(value) => value,
                Cell::Integer(value) => value as f64,
                Cell::Text(text) => match parse_instant(text) {
                    Some(instant) => instant,
                    None => return Err(DataError::NotANumber { cell: cell(column), value: text.to_owned() }),
                },
                Cell::Missing => return Err(DataError::EmptyCell { cell: cell(column) }),
            };
            if let Some(before) = before.filter(|before| now < *before) {
                let is_number = record.cell(column).number().is_some();
                let told = |value: f64| if is_number { value.to_string() } else { instant_text(value) };
                return Err(DataError::Earlier { cell: cell(column), value: told(now), before: told(before) });
            }
            *before = Some(now);
        }
        for &column in &*numbers {
            example.features.push(match record.cell(column) {
                Cell::Number(value) | Cell::Numeral(value, _) => value,
                Cell::Integer(value) => value as f64,
                Cell::Text(text) if *missing == Missing::Nan && is_gap_mark(text) => f64::NAN,
                Cell::Missing if *missing == Missing::Nan => f64::NAN,
                Cell::Missing => return Err(DataError::EmptyCell { cell: cell(column) }),
                Cell::Text(text) => return Err(DataError::NotANumber { cell: cell(column), value: text.to_owned() }),
                Cell::Instant(seconds) => {
                    return Err(DataError::NotANumber { cell: cell(column), value: instant_text(seconds) });
                }
            });
        }
        Ok(true)
    }
}

/// Whether a column of this name may hold times.
fn is_of_times(name: &str) -> bool {
    let name = name.to_lowercase();
    ["date", "time", "datum", "zeit", "stamp"].iter().any(|part| name.contains(part))
        || ["day", "month", "week", "hour", "when", "at", "ts", "ds", ""].contains(&name.trim())
}

/// The columns that hold times in the first rows, and nothing else.
fn times(reader: &mut RecordReader, rows: usize) -> Option<Vec<usize>> {
    let width = reader.columns().len();
    // Times, and other values.
    let mut seen = vec![(0_usize, 0_usize); width];
    let mut record = Record::new();
    for _ in 0..rows {
        match reader.next_record(&mut record) {
            Ok(true) if record.len() == width => {}
            Ok(false) => break,
            Err(error) if !error.concerns_one_row() => return None,
            Ok(true) | Err(_) => continue,
        }
        for (column, (times, others)) in seen.iter_mut().enumerate() {
            match record.cell(column) {
                Cell::Missing => {}
                Cell::Text(text) if is_gap_mark(text) => {}
                Cell::Instant(_) => *times += 1,
                Cell::Text(text) if parse_instant(text).is_some() => *times += 1,
                Cell::Number(_) | Cell::Integer(_) | Cell::Numeral(..) | Cell::Text(_) => *others += 1,
            }
        }
    }
    Some((0..width).filter(|&column| seen[column].0 > 0 && seen[column].1 == 0).collect())
}

/// Where the column of `--time` stands.
fn place(choice: &ColumnChoice, reader: &RecordReader, shown: &str) -> Result<usize, Failure> {
    let columns = reader.columns();
    let place = choice.place(columns.len(), reader.is_named().then_some(columns));
    place.ok_or_else(|| no_column(shown, "--time", choice, columns))
}
