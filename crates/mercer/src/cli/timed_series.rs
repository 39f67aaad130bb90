//! Rows of numbers beside columns of times, which are left out, or tell whether the rows are in
//! order.

use mercer::encoding::{AmbiguousDay, Notation, NumberMarks};
use mercer::readers::is_gap_mark;
use mercer::readers::{
    Cell, CellPlace, ColumnChoice, Counts, DataError, Example, Format, Missing, ReadOptions, Record, RowReader,
    instant_text,
};

use super::FIRST_ROWS;
use super::dialect;
use super::encoded_rows::next;
use super::failure::Failure;
use super::opening::Opening;
use super::source::{TableColumns, no_column};
use super::verbosity;

/// Rows of a series, of pairs or of a trajectory.
pub(crate) struct TimedSeries {
    reader: RowReader,
    record: Record,
    numbers: Vec<NumberColumn>,
    missing: Missing,
    /// The column that orders the rows, within a group, and the time of the row before.
    time: Option<TimeColumn>,
    before: Option<f64>,
    /// The column that tells groups apart.
    group: Option<usize>,
}

impl TimedSeries {
    /// `None` where all columns are to be read as numbers, also for what cannot be read: whoever
    /// does so tells why. A column of a file is one of times if it is so in each of the first rows;
    /// of a pipe the first row alone decides, and names that are not those of times are believed,
    /// so that nobody has to wait.
    pub(crate) fn look(
        opening: &mut Option<Opening>,
        options: &ReadOptions,
        [time, group]: [Option<&ColumnChoice>; 2],
        missing: Missing,
    ) -> Result<Option<Self>, Failure> {
        let Some(data) = &*opening else { return Ok(None) };
        let shown = data.shown().to_owned();
        if options.format == Some(Format::Libsvm) {
            return Ok(None);
        }
        // Nobody waits for a first row behind names that are not those of times.
        let quiet = |names: &[String]| !names.iter().any(|name| is_of_times(name));
        if data.is_pipe() && time.or(group).is_none() && data.header(options).is_some_and(|names| quiet(&names)) {
            return Ok(None);
        }
        let Ok(mut reader) = data.records(options) else { return Ok(None) };
        let rows = if data.is_pipe() { 1 } else { FIRST_ROWS };
        let Some(head) = SeriesHead::read(&mut reader, rows) else { return Ok(None) };
        let times = head.times(reader.columns());
        let time = time.map(|choice| place(choice, &reader, &shown, "--time")).transpose()?;
        let time = time.map(|place| TimeColumn { place, notation: head.notation(place, "time").ok().flatten() });
        let group = group.map(|choice| place(choice, &reader, &shown, "--group")).transpose()?;
        let named = |column: usize| [place_of(&time), group].contains(&Some(column));
        let left_out = |column: &usize| times.contains(column) || named(*column);
        let places = (0..reader.columns().len()).filter(|column| !left_out(column));
        let numbers: Vec<NumberColumn> = places.map(|place| head.number_column(place)).collect();
        if time.is_none() && group.is_none() && times.is_empty() && numbers.iter().all(NumberColumn::is_plain) {
            return Ok(None);
        }
        if numbers.is_empty() {
            return Err(Failure::because(format!(
                "{shown}: holds times alone; give a file with columns of numbers, too"
            )));
        }
        for column in times.iter().filter(|column| !named(**column)) {
            let name = &reader.columns()[*column];
            verbosity::remark(format!("{shown}: column {name:?} holds times and is left out"));
        }
        numbers.iter().for_each(|column| column.tell(reader.columns(), &shown));
        let Some(data) = opening.take() else { return Ok(None) };
        let reader = data.last_records(options)?;
        dialect::tell_doubt(reader.doubt());
        Ok(Some(Self { reader, record: Record::new(), numbers, missing, time, before: None, group }))
    }

    pub(crate) fn columns(&self) -> TableColumns {
        let name = |column: &NumberColumn| self.reader.columns()[column.place].clone();
        let names: Vec<String> = self.numbers.iter().map(name).collect();
        TableColumns::new(names.len(), self.reader.is_named().then_some(&*names), None)
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
        let Self { reader, record, numbers, missing, time, before, group } = self;
        example.features.clear();
        if !next(reader, record)? {
            return Ok(false);
        }
        let cell = |column: usize| reader.place(column);
        let expected = reader.columns().len();
        if record.len() != expected {
            return Err(DataError::Ragged { line: cell(0).line, expected, got: record.len() });
        }
        if let Some(column) = *group {
            let now = match record.cell(column) {
                Cell::Missing => return Err(DataError::EmptyCell { cell: cell(column) }),
                Cell::Text(text) | Cell::Numeral(_, text) => text.to_owned(),
                other => other.to_string(),
            };
            if now != example.label {
                *before = None;
                example.label = now;
            }
        }
        if let Some(column) = time {
            let now = column.read(reader, record)?;
            if let Some(before) = before.filter(|before| now < *before) {
                let [value, before] = [now, before].map(|time| column.text(time));
                return Err(DataError::Earlier { cell: cell(column.place), value, before });
            }
            *before = Some(now);
        }
        for column in &*numbers {
            example.features.push(column.read(reader, record, *missing)?);
        }
        Ok(true)
    }
}

/// A column of numbers.
pub(crate) struct NumberColumn {
    pub(crate) place: usize,
    /// How it writes them.
    pub(crate) notation: Notation,
}

impl NumberColumn {
    /// The number in the record that was last read.
    pub(crate) fn read(&self, reader: &RowReader, record: &Record, missing: Missing) -> Result<f64, DataError> {
        let cell = record.cell(self.place);
        match self.notation.number(cell) {
            Some(value) => Ok(value),
            None if missing == Missing::Nan && is_gap(&cell) => Ok(f64::NAN),
            None => Err(unreadable(cell, reader.place(self.place))),
        }
    }

    /// Whether it is read as it stands.
    pub(crate) fn is_plain(&self) -> bool {
        self.notation == Notation::Plain
    }

    /// Tells a person how its numbers are written, if it is not as usual.
    pub(crate) fn tell(&self, names: &[String], shown: &str) {
        if let Some(words) = self.notation.words() {
            verbosity::remark(format!("{shown}: column {:?}: number, {words}", names[self.place]));
        }
    }
}

fn is_gap(cell: &Cell<'_>) -> bool {
    matches!(cell, Cell::Missing) || matches!(cell, Cell::Text(text) if is_gap_mark(text))
}

fn unreadable(cell: Cell<'_>, place: CellPlace) -> DataError {
    if is_gap(&cell) {
        return DataError::EmptyCell { cell: place };
    }
    DataError::NotANumber { cell: place, value: cell.to_string() }
}

/// A column of times, or of numbers that order the rows.
#[derive(Clone)]
pub(crate) struct TimeColumn {
    pub(crate) place: usize,
    /// `None` for plain numbers.
    pub(crate) notation: Option<Notation>,
}

impl TimeColumn {
    /// The time of the record that was last read.
    pub(crate) fn read(&self, reader: &RowReader, record: &Record) -> Result<f64, DataError> {
        let cell = record.cell(self.place);
        let time = match &self.notation {
            Some(notation) => notation.instant(cell),
            None => cell.number(),
        };
        time.ok_or_else(|| unreadable(cell, reader.place(self.place)))
    }

    /// A time for messages.
    pub(crate) fn text(&self, time: f64) -> String {
        if self.notation.is_some() { instant_text(time) } else { time.to_string() }
    }
}

fn place_of(time: &Option<TimeColumn>) -> Option<usize> {
    time.as_ref().map(|column| column.place)
}

/// The first rows, which tell what the columns are.
pub(crate) struct SeriesHead {
    rows: Vec<Record>,
    width: usize,
    marks: NumberMarks,
}

impl SeriesHead {
    /// `None` where the rows cannot be read at all.
    pub(crate) fn read(reader: &mut RowReader, most: usize) -> Option<Self> {
        let width = reader.columns().len();
        let mut rows = Vec::new();
        let mut record = Record::new();
        for _ in 0..most {
            match reader.next_record(&mut record) {
                Ok(true) if record.len() == width => rows.push(record.clone()),
                Ok(false) => break,
                Err(error) if !error.concerns_one_row() => return None,
                Ok(true) | Err(_) => {}
            }
        }
        Some(Self { rows, width, marks: dialect::number_marks(reader) })
    }

    pub(crate) fn cells(&self, column: usize) -> Vec<Cell<'_>> {
        self.rows.iter().map(|record| record.cell(column)).collect()
    }

    /// How a column of this name writes times, if it holds them.
    pub(crate) fn notation(&self, column: usize, name: &str) -> Result<Option<Notation>, AmbiguousDay> {
        Notation::of_times(&self.cells(column), is_of_times(name))
    }

    /// A column that is to be one of numbers. A single row is not enough to tell what stands around
    /// them.
    pub(crate) fn number_column(&self, place: usize) -> NumberColumn {
        let found = Some(self.cells(place)).filter(|cells| cells.len() > 1);
        let notation = found.and_then(|cells| Notation::of_values(&cells, self.marks)).unwrap_or_default();
        NumberColumn { place, notation }
    }

    /// The columns that hold times, and nothing else.
    pub(crate) fn times(&self, names: &[String]) -> Vec<usize> {
        let holds = |column: &usize| matches!(self.notation(*column, &names[*column]), Ok(Some(_)));
        (0..self.width).filter(holds).collect()
    }

    /// Whether no more than half of the values of a column are no numbers; the odd one is refused
    /// with its place.
    pub(crate) fn may_be_of_numbers(&self, column: usize) -> bool {
        let (cells, notation) = (self.cells(column), self.number_column(column).notation);
        let numbers = cells.iter().filter(|cell| notation.number(**cell).is_some()).count();
        2 * numbers >= cells.iter().filter(|cell| !is_gap(cell)).count()
    }

    /// Whether a column counts the rows: each number is one more than that before, and there are
    /// several.
    pub(crate) fn is_a_counter(&self, column: usize) -> bool {
        let numbers: Vec<f64> = self.cells(column).iter().filter_map(|cell| cell.number()).collect();
        numbers.len() > 2 && numbers.len() == self.rows.len() && numbers.windows(2).all(|two| two[1] == two[0] + 1.0)
    }
}

/// Whether a column of this name may hold times.
pub(crate) fn is_of_times(name: &str) -> bool {
    let name = name.to_lowercase();
    ["date", "time", "datum", "zeit", "stamp", "epoch", "unix", "year", "month", "quarter"]
        .iter()
        .any(|part| name.contains(part))
        || ["day", "week", "hour", "when", "at", "ts", "ds", ""].contains(&name.trim())
}

/// Where the column that an option names stands.
pub(crate) fn place(choice: &ColumnChoice, reader: &RowReader, shown: &str, option: &str) -> Result<usize, Failure> {
    let columns = reader.columns();
    let place = choice.place(columns.len(), reader.is_named().then_some(columns));
    place.ok_or_else(|| no_column(shown, option, choice, columns))
}
