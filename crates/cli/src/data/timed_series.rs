//! Rows of numbers beside columns of times, which are left out, or tell whether the rows are in
//! order.

use mercer_encoding::{
    Clock, Column, EncodingError, Face, Kind, LeftOut, Notation, Overrides, Schema, Use, are_times, is_name_of_times,
};
use mercer_readers::is_gap_mark;
use mercer_readers::{
    Cell, CellPlace, ColumnChoice, Counts, DataError, Example, Format, Missing, ReadOptions, Record, RowReader,
    instant_text,
};

use crate::arguments::dialect;
use crate::arguments::zone::ZoneArguments;
use crate::data::day_roll::{NEXT_DAY, are_of_day, roll};
use crate::data::encoded_rows::{Head, next};
use crate::data::opening::Opening;
use crate::data::part_columns::PartColumns;
use crate::data::source::{TableColumns, no_column};
use crate::limits::FIRST_ROWS;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// Rows of a series, of pairs or of a trajectory.
pub(crate) struct TimedSeries {
    reader: RowReader,
    record: Record,
    numbers: Vec<NumberColumn>,
    missing: Missing,
    /// The column that orders the rows, within a group, and the time of the row before.
    time: Option<TimeColumn>,
    before: Option<f64>,
    /// False if nobody asked for it: then it tells no more than that rows go back.
    asked: bool,
    /// The column that tells groups apart.
    group: Option<usize>,
}

/// Options about the columns.
#[derive(Default)]
pub(crate) struct SeriesOptions<'a> {
    /// The column, of times or of numbers, by which the rows must be in order.
    pub(crate) time: Option<&'a ColumnChoice>,
    /// The column that names the trajectory of a row.
    pub(crate) group: Option<&'a ColumnChoice>,
    pub(crate) missing: Missing,
    /// Columns that are not read.
    pub(crate) ignore: Vec<ColumnChoice>,
    /// Kinds of columns that the user has told.
    pub(crate) overrides: Overrides,
    /// Columns that are states, though they may count the rows.
    pub(crate) states: &'a [String],
    /// True if all columns are so.
    pub(crate) counters: bool,
    /// Rows of so many numbers at most must be in the order of the times that they tell, also where
    /// nobody asks for these.
    pub(crate) in_order: usize,
}

/// Refuses a table whose columns are called by times: each row of it is a series.
pub(crate) fn refuse_along_rows(shown: &str, names: Option<&[String]>) -> Result<(), Failure> {
    let Some((first, last)) = are_times(names.unwrap_or_default()) else { return Ok(()) };
    Err(Failure::because(format!(
        "{shown}: its columns are called by times, from {first:?} to {last:?}, so that each row is a series; a column has to be one: \
         turn the table round, so that each row is a time (in pandas frame.set_index(NAMES).T)"
    )))
}

/// Tells why a column is left out, though there are to be no remarks.
pub(crate) fn tell_left_out(shown: &str, Column { name, .. }: &Column, why: LeftOut) {
    verbosity::say(format!("{shown}: column {name:?}: {}", why.words(name, Face::Command)));
}

/// Why a column of times is left out: numbers can be taken all the same.
pub(crate) fn left_out_times(column: &Column) -> LeftOut {
    match column.times() {
        Some(Notation::Clock(_)) => LeftOut::NumberedTimes,
        _ => LeftOut::Times,
    }
}

impl TimedSeries {
    /// `None` where all columns are to be read as numbers, also for what cannot be read: whoever
    /// does so tells why. A column of a file is one of times if it is so in each of the first rows;
    /// of a pipe the first row alone decides, and names that are not those of times are believed,
    /// so that nobody has to wait.
    pub(crate) fn look(
        opening: &mut Option<Opening>,
        options: &ReadOptions,
        wanted: &SeriesOptions<'_>,
    ) -> Result<Option<Self>, Failure> {
        let SeriesOptions { time, group, missing, overrides, states, counters, in_order, .. } = wanted;
        let (time, group, missing) = (*time, *group, *missing);
        let Some(data) = &*opening else { return Ok(None) };
        let shown = data.shown().to_owned();
        if options.format == Some(Format::Libsvm) {
            return Ok(None);
        }
        // Nobody waits for a first row behind names that are not those of times.
        let quiet = |names: &[String]| !names.iter().any(|name| is_name_of_times(name));
        if data.is_pipe() && time.or(group).is_none() && data.header(options).is_some_and(|names| quiet(&names)) {
            return Ok(None);
        }
        let Ok(mut reader) = data.records(options) else { return Ok(None) };
        if time.is_none() && states.is_empty() {
            refuse_along_rows(&shown, reader.feature_names())?;
        }
        let rows = if data.is_pipe() { 1 } else { FIRST_ROWS };
        let time = time.map(|choice| place(choice, &reader, &shown, "--time")).transpose()?;
        let group = group.map(|choice| place(choice, &reader, &shown, "--group")).transpose()?;
        let told: Vec<(usize, Kind)> = time.into_iter().map(|place| (place, Kind::Time)).collect();
        let Some(head) = SeriesHead::read(&mut reader, &shown, rows, &told, overrides)? else { return Ok(None) };
        let time = time.map(|place| head.with_parts(head.time_column(place), group, |_| false, None));
        if let Some(column) = time.as_ref().filter(|time| time.of_day.is_some()) {
            let name = &head.column(column.place).name;
            verbosity::remark(format!("{shown}: column {name:?} holds times of day; {NEXT_DAY}"));
        }
        let in_zone = time.as_ref().and_then(|time| time.notation.as_ref()?.zone()).is_some();
        ZoneArguments::check_used(overrides.zone.as_ref(), &shown, in_zone)?;
        let roles: Vec<usize> = time.iter().flat_map(TimeColumn::places).chain(group).collect();
        let parts = ColumnParts::find(&head, &roles, states, *counters);
        let numbers: Vec<NumberColumn> = parts.numbers.iter().map(|&place| head.number_column(place)).collect();
        let none_apart = time.is_none() && group.is_none() && parts.are_all();
        if none_apart && numbers.iter().all(NumberColumn::is_plain) {
            head.tell_doubts(&shown, &parts.numbers);
            return Ok(None);
        }
        parts.check(&shown)?;
        parts.tell(&head, &shown);
        numbers.iter().for_each(|column| column.tell(reader.columns(), &shown));
        let asked = time.is_some();
        let time = time.or_else(|| match parts.times[..] {
            [place] if numbers.len() <= *in_order => Some(head.time_column(place)).filter(|time| time.of_day.is_none()),
            _ => None,
        });
        let Some(data) = opening.take() else { return Ok(None) };
        let reader = data.last_records(options)?;
        dialect::tell_doubt(reader.doubt());
        Ok(Some(Self { reader, record: Record::new(), numbers, missing, time, before: None, asked, group }))
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

    /// Lines on values that were left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.reader.left_out()
    }

    /// The time of the row last read, if a column orders the rows.
    pub(crate) fn time(&self) -> Option<f64> {
        self.before.filter(|_| self.asked)
    }

    /// True if these times are instants, in seconds.
    pub(crate) fn tells_instants(&self) -> bool {
        self.asked && self.time.as_ref().is_some_and(|time| time.notation.is_some())
    }

    /// Puts the numbers of the next row into `example`; false at the end.
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let Self { reader, record, numbers, missing, time, before, asked, group } = self;
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
            match column.read(reader, record, *before) {
                Err(error) if *asked => return Err(error),
                Err(_) => {}
                Ok(read) => {
                    let now = column.of_day.map_or(read, |step| roll(read, *before, Some(step)));
                    if let Some(before) = before.filter(|before| now < *before) {
                        let [value, before] = [now, before].map(|time| column.text(time));
                        return Err(DataError::Earlier { cell: cell(column.place), value, before });
                    }
                    *before = Some(now);
                }
            }
        }
        for column in &*numbers {
            example.features.push(column.read(reader, record, *missing)?);
        }
        Ok(true)
    }
}

/// Columns of a table by what becomes of them, beside those with a role of their own.
struct ColumnParts {
    times: Vec<usize>,
    names: Vec<usize>,
    counting: Vec<usize>,
    numbers: Vec<usize>,
}

impl ColumnParts {
    fn find(head: &SeriesHead, roles: &[usize], states: &[String], counters: bool) -> Self {
        let has_role = |column: &usize| roles.contains(column);
        let are_names = |column: &Column| {
            let names_rows = column.used == Use::Identifier && column.range.is_none();
            (names_rows || column.used == Use::Text) && !states.contains(&column.name)
        };
        let (mut times, mut names, mut counting, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for place in head.places(|_| true).into_iter().filter(|place| !has_role(place)) {
            let column = head.column(place);
            let part = match column {
                column if column.times().is_some() => &mut times,
                column if are_names(column) => &mut names,
                column if column.counter && !counters && !states.contains(&column.name) => &mut counting,
                _ => &mut numbers,
            };
            part.push(place);
        }
        // A state may rise evenly, if there is nothing else.
        if numbers.is_empty() {
            numbers = std::mem::take(&mut counting);
        }
        Self { times, names, counting, numbers }
    }

    /// True if none is left out.
    fn are_all(&self) -> bool {
        self.times.len() + self.names.len() + self.counting.len() == 0
    }

    /// Refuses a table without numbers.
    fn check(&self, shown: &str) -> Result<(), Failure> {
        if !self.numbers.is_empty() {
            return Ok(());
        }
        let what = if self.names.is_empty() { "times" } else { "times and text" };
        Err(Failure::because(format!("{shown}: holds {what} alone; give a file with columns of numbers, too")))
    }

    /// Tells a person what is left out, and what the others may have been meant for.
    fn tell(&self, head: &SeriesHead, shown: &str) {
        for column in self.times.iter().map(|column| head.column(*column)) {
            tell_left_out(shown, column, left_out_times(column));
        }
        for (columns, why) in [(&self.names, LeftOut::NoNumbers), (&self.counting, LeftOut::CountsRows)] {
            columns.iter().for_each(|column| tell_left_out(shown, head.column(*column), why));
        }
        head.tell_doubts(shown, &self.numbers);
    }
}

/// A column of numbers.
pub(crate) struct NumberColumn {
    pub(crate) place: usize,
    /// The notation of its numbers.
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

    /// True if a cell is neither a number nor a gap.
    pub(crate) fn is_misfit(&self, cell: Cell<'_>) -> bool {
        self.notation.number(cell).is_none() && !is_gap(&cell)
    }

    /// True if it is read as it stands.
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
    /// Columns that tell the times with this one, where it has years or days alone.
    pub(crate) parts: PartColumns,
    /// The smallest step of the first rows, if it tells times of day alone.
    pub(crate) of_day: Option<f64>,
}

impl TimeColumn {
    /// The time of a record, where all its columns can be read.
    pub(crate) fn time(&self, record: &Record, before: Option<f64>) -> Option<f64> {
        self.parts.refine(self.base(record, before)?, record)
    }

    /// The time of this column alone.
    fn base(&self, record: &Record, before: Option<f64>) -> Option<f64> {
        let cell = record.cell(self.place);
        match &self.notation {
            Some(notation) => notation.instant_behind(cell, before),
            None => cell.number(),
        }
    }

    /// The time of the record that was last read.
    ///
    /// Where clocks are set back, `before` is the time of the row before it.
    pub(crate) fn read(&self, reader: &RowReader, record: &Record, before: Option<f64>) -> Result<f64, DataError> {
        self.time(record, before).ok_or_else(|| {
            let odd = self.base(record, before).and_then(|base| self.parts.misfit(base, record));
            let place = odd.unwrap_or(self.place);
            let cell = record.cell(place);
            match self.notation {
                Some(_) if !is_gap(&cell) => DataError::NotATime { cell: reader.place(place), value: cell.to_string() },
                _ => unreadable(cell, reader.place(place)),
            }
        })
    }

    /// The places of this column and of those that go with it.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.place).chain(self.parts.iter().map(|part| part.place))
    }

    /// A time for messages.
    pub(crate) fn text(&self, time: f64) -> String {
        match instant_text(time) {
            _ if self.notation.is_none() => time.to_string(),
            text if self.of_day.is_some() => text.get(11..).unwrap_or(&text).trim_end_matches('Z').to_owned(),
            text => text,
        }
    }
}

/// The first rows, and what the columns are by them.
pub(crate) struct SeriesHead {
    rows: Vec<Record>,
    schema: Schema,
}

impl SeriesHead {
    /// `None` where the rows cannot be read at all. A column is what it is anywhere, but for those
    /// that are `told` to be of a kind and are of another.
    pub(crate) fn read(
        reader: &mut RowReader,
        shown: &str,
        most: usize,
        told: &[(usize, Kind)],
        overrides: &Overrides,
    ) -> Result<Option<Self>, Failure> {
        let Ok(Some(Head { rows, look, .. })) = Head::read(reader, most, None, |_| false) else { return Ok(None) };
        let refused = |error: EncodingError| Failure::because(format!("{shown}: {}", error.said(Face::Command)));
        let mut overrides = overrides.clone().marks(dialect::number_marks(reader));
        let mut schema = look.clone().finish(&overrides).map_err(refused)?;
        for (place, kind) in told {
            let column = &schema.columns()[*place];
            let is_so = column.holds_numbers() || *kind == Kind::Time && column.times().is_some();
            if !is_so && column.used != Use::Late {
                overrides = overrides.kind(format!("#{}", place + 1), *kind);
            }
        }
        if !overrides.kinds.is_empty() {
            schema = look.finish(&overrides).map_err(refused)?;
        }
        Ok(Some(Self { rows, schema }))
    }

    pub(crate) fn column(&self, place: usize) -> &Column {
        &self.schema.columns()[place]
    }

    pub(crate) fn cells(&self, column: usize) -> Vec<Cell<'_>> {
        self.rows.iter().map(|record| record.cell(column)).collect()
    }

    /// Tells a person what these columns may have been meant for.
    pub(crate) fn tell_doubts(&self, shown: &str, columns: &[usize]) {
        for Column { name, why, .. } in columns.iter().map(|place| self.column(*place)) {
            if !why.is_empty() {
                verbosity::remark(format!("{shown}: column {name:?}: {}", Face::Command.said(name, why)));
            }
        }
    }

    /// A column that is to be one of numbers.
    pub(crate) fn number_column(&self, place: usize) -> NumberColumn {
        NumberColumn { place, notation: self.column(place).numerals() }
    }

    /// The column that is told to order the rows.
    pub(crate) fn time_column(&self, place: usize) -> TimeColumn {
        let numbers = || self.cells(place).into_iter().filter_map(Cell::number).collect::<Vec<_>>();
        let notation = self.column(place).times().cloned().or_else(|| Notation::of_order(&numbers()));
        let mut column = TimeColumn { place, notation, parts: PartColumns::default(), of_day: None };
        let times = self.times_of(&column);
        if column.notation.is_some() && are_of_day(&times, false) {
            let rises = times.windows(2).map(|pair| pair[1] - pair[0]).filter(|rise| *rise > 0.0);
            column.of_day = Some(rises.reduce(f64::min).unwrap_or(0.0));
        }
        column
    }

    /// The same with the columns of its parts, if years or days alone do not tell the rows of a
    /// group apart. They are none of those that are `used`.
    pub(crate) fn with_parts(
        &self,
        time: TimeColumn,
        group: Option<usize>,
        used: impl Fn(usize) -> bool,
        known: Option<&PartColumns>,
    ) -> TimeColumn {
        let columns = self.schema.columns().iter().enumerate();
        let others = columns.filter(|(place, _)| *place != time.place && group != Some(*place) && !used(*place));
        let of_years = time.notation == Some(Notation::Clock(Clock::Years));
        let parts = match (&time.notation, known.filter(|known| !known.is_empty())) {
            (_, Some(known)) => {
                let place = |name: &str| others.clone().find(|(_, column)| column.name == name).map(|(place, _)| place);
                known.at(place).unwrap_or_default()
            }
            (Some(_), None) => {
                PartColumns::find(others, &self.rows, (|record: &Record| time.base(record, None), of_years), group)
            }
            (None, None) => PartColumns::default(),
        };
        TimeColumn { parts, ..time }
    }

    /// The times of the first rows.
    pub(crate) fn times_of(&self, column: &TimeColumn) -> Vec<f64> {
        self.rows.iter().filter_map(|record| column.time(record, None)).collect()
    }

    /// The columns that hold times.
    pub(crate) fn times(&self) -> Vec<usize> {
        self.places(|column| column.times().is_some())
    }

    /// The places of the columns that are so.
    pub(crate) fn places(&self, is_so: impl Fn(&Column) -> bool) -> Vec<usize> {
        let columns = self.schema.columns().iter().enumerate();
        columns.filter(|(_, column)| is_so(column)).map(|(place, _)| place).collect()
    }
}

/// Where the column that an option names stands.
pub(crate) fn place(choice: &ColumnChoice, reader: &RowReader, shown: &str, option: &str) -> Result<usize, Failure> {
    let columns = reader.columns();
    let place = choice.place(columns.len(), reader.is_named().then_some(columns));
    place.ok_or_else(|| no_column(shown, option, choice, columns))
}
