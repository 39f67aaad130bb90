//! Rows one by one, from a file, a pipe or a data set with a name; a bad row is handed on as such,
//! and the next can be read.

use mercer_session::Row;

use crate::data::encoded_rows::Oddities;
use crate::data::input::Input;
use crate::data::reading::{Reading, Reads};
use crate::data::stop::Stop;
use crate::report::failure::{self, Failure};

pub(crate) struct TimedSource {
    input: Input,
    /// True if the user may say what columns are.
    asks: bool,
    stop: Stop,
}

/// The kind of the next row.
#[derive(Clone)]
pub(crate) enum RowKind {
    /// It is in the caller's memory.
    Good,
    /// Why it is none.
    Bad(String),
}

impl TimedSource {
    /// `idle` is called whenever a pipe has nothing to read.
    pub(crate) fn open(
        reading: &Reading<'_>,
        stop: Stop,
        idle: impl FnMut() + Send + 'static,
    ) -> Result<Self, Failure> {
        let asks = matches!(reading.columns, Reads::Looks(_));
        Ok(Self { input: reading.open(&stop, idle)?, asks, stop })
    }

    /// Tells how many values of the rows so far were left out; once.
    pub(crate) fn report_left_out(&mut self) {
        self.input.report_left_out();
    }

    /// Watches the order of the rows from here on.
    pub(crate) fn watch_order(&mut self) {
        self.input.watch_order();
    }

    /// The input that is read.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// The odd cells to tell; that a column is lacking was told before.
    pub(crate) fn oddities(&self) -> Oddities {
        self.input.encoded().map_or_else(Oddities::default, |encoded| Oddities::lacking(encoded.missing()))
    }

    /// Puts the next row into `sample`; `None` at the end, and when a signal has come: what it cut
    /// off is no row.
    ///
    /// # Errors
    /// Those after which no row can be read.
    pub(crate) fn next(&mut self, sample: &mut Row) -> Result<Option<RowKind>, Failure> {
        let read = self.input.next_sample(sample);
        if self.stop.requested() {
            return Ok(None);
        }
        match read {
            Ok(false) => Ok(None),
            Ok(true) => Ok(Some(RowKind::Good)),
            Err(error) if error.concerns_one_row() => {
                let remedy = failure::remedy(&error).filter(|_| self.asks);
                Ok(Some(RowKind::Bad(remedy.map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}")))))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Where a row comes from.
pub(crate) trait Origin {
    /// Its place, for a message.
    fn place(&self) -> String;
    /// Its text as it stands in the file.
    fn record(&self) -> &[u8];
}

/// The row last read.
impl Origin for TimedSource {
    fn place(&self) -> String {
        format!("{}, {}", self.input.shown(), self.input.place())
    }

    fn record(&self) -> &[u8] {
        self.input.record()
    }
}

/// A row that was read ahead.
pub(crate) struct NextRow {
    pub(crate) row: RowKind,
    pub(crate) sample: Row,
    place: String,
    record: Vec<u8>,
}

impl NextRow {
    /// The row last read.
    pub(crate) fn new(rows: &TimedSource, row: RowKind, sample: &Row) -> Self {
        Self { row, sample: sample.clone(), place: rows.place(), record: rows.record().to_vec() }
    }
}

impl Origin for NextRow {
    fn place(&self) -> String {
        self.place.clone()
    }
    fn record(&self) -> &[u8] {
        &self.record
    }
}
