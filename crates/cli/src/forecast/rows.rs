//! Records of series: which of their columns are what, and their numbers in the order of time.

mod roles;

use std::collections::HashMap;

use mercer_readers::{Cell, ColumnChoice, Counts, DataError, Format, ReadOptions, Record, RowReader};

use super::clock::{Clock, Repeats, TimedRows};
use crate::arguments::dialect;
use crate::data::opening::Opening;
use crate::data::source::TableColumns;
use crate::data::timed_series::{NumberColumn, SeriesHead, TimeColumn, refuse_along_rows};
use crate::report::failure::Failure;
use crate::report::verbosity;
use mercer_encoding::{OddCells, Oddity, Overrides, Zone, is_name_of_times};
use mercer_session::notes::alike_groups;
use roles::{ChosenColumns, Roles};

/// Options about the columns.
pub(super) struct ColumnOptions<'a> {
    pub(super) time: Option<&'a ColumnChoice>,
    pub(super) targets: &'a [ColumnChoice],
    /// The option that names the inputs, and its columns.
    pub(super) inputs: (&'static str, &'a [ColumnChoice]),
    /// True if season mixtures forecast. Columns that hold no numbers are then left out where no
    /// target is told, and the input of a missing row does not matter.
    pub(super) season: bool,
    pub(super) repeats: Repeats,
    /// Rows that are looked at first.
    pub(super) head: usize,
    /// The column that says which series a row is of.
    pub(super) group: Option<&'a ColumnChoice>,
    /// The times as a model knows them.
    pub(super) clock: Option<&'a Clock>,
    /// The zone of the times.
    pub(super) zone: Option<&'a Zone>,
    /// Kinds of columns that the user has told.
    pub(super) overrides: Overrides,
}

/// The series that rows are of.
struct GroupRows {
    /// The column that names them, and the names in the order in which they came.
    column: usize,
    names: Vec<String>,
    places: HashMap<String, usize>,
}

/// The records.
pub(super) struct SeriesRows {
    shown: String,
    reader: RowReader,
    record: Record,
    /// The columns of numbers, and which of them are inputs.
    numbers: Vec<NumberColumn>,
    pub(super) inputs: Vec<usize>,
    pub(super) time: Option<TimeColumn>,
    pub(super) clock: Option<Clock>,
    /// The rows of each series, and the place of the series whose row was given last.
    pub(super) courses: Vec<TimedRows>,
    pub(super) now: usize,
    groups: Option<GroupRows>,
    repeats: Repeats,
    /// True if missing rows can be given: an input that is missing cannot.
    fills: bool,
    values: Vec<f64>,
    /// Cells that count as missing, because they are no numbers.
    misfits: OddCells,
}

impl SeriesRows {
    /// `None` where all columns are to be read as numbers, also for what cannot be read: whoever
    /// does so tells why.
    pub(super) fn look(
        opening: &mut Option<Opening>,
        options: &ReadOptions,
        wanted: &ColumnOptions<'_>,
    ) -> Result<Option<Self>, Failure> {
        let Some(data) = &*opening else { return Ok(None) };
        let shown = data.shown().to_owned();
        if options.format == Some(Format::Libsvm) {
            return Ok(None);
        }
        let told = wanted.time.is_some() || !wanted.targets.is_empty() || wanted.group.is_some();
        // Nobody waits for a first row behind names that are not those of times.
        let quiet =
            |names: &[String]| !names.iter().any(|name| is_name_of_times(name)) && (names.len() == 1 || !wanted.season);
        if data.is_pipe() && !told && data.header(options).is_some_and(|names| quiet(&names)) {
            return Ok(None);
        }
        let Ok(mut reader) = data.records(options) else { return Ok(None) };
        let chosen = ChosenColumns::find(&reader, &shown, wanted)?;
        let told = chosen.kinds();
        let Some(head) = SeriesHead::read(&mut reader, &shown, wanted.head, &told, &wanted.overrides)? else {
            return Ok(None);
        };
        let roles = Roles::find(&head, chosen, &shown, wanted)?;
        if roles.time.is_none() && wanted.targets.is_empty() {
            refuse_along_rows(&shown, reader.feature_names())?;
        }
        let numbers: Vec<NumberColumn> = roles.numbers.iter().map(|&place| head.number_column(place)).collect();
        let all = numbers.len() == reader.columns().len() && numbers.iter().all(NumberColumn::is_plain);
        if roles.time.is_none() && roles.group.is_none() && all {
            head.tell_doubts(&shown, &roles.numbers);
            return Ok(None);
        }
        let clock = roles.clock(&head, wanted, data.is_pipe());
        roles.tell(&head, &shown, wanted, clock.as_ref());
        numbers.iter().for_each(|column| column.tell(reader.columns(), &shown));
        let Some(data) = opening.take() else { return Ok(None) };
        let reader = data.last_records(options)?;
        dialect::tell_doubt(reader.doubt());
        Ok(Some(Self::new((shown, reader), (numbers, roles, clock), wanted)))
    }

    fn new(
        (shown, reader): (String, RowReader),
        (numbers, roles, clock): (Vec<NumberColumn>, Roles, Option<Clock>),
        wanted: &ColumnOptions<'_>,
    ) -> Self {
        let Roles { inputs, time, group, .. } = roles;
        let groups = group.map(|column| GroupRows { column, names: Vec::new(), places: HashMap::new() });
        let (record, courses, values, now) = (Record::new(), vec![TimedRows::default()], Vec::new(), 0);
        let (repeats, fills) = (wanted.repeats, wanted.season || inputs.is_empty());
        let misfits = OddCells::default();
        Self {
            shown,
            reader,
            record,
            numbers,
            inputs,
            time,
            clock,
            courses,
            now,
            groups,
            repeats,
            fills,
            values,
            misfits,
        }
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn columns(&self) -> TableColumns {
        let name = |column: &NumberColumn| self.reader.columns()[column.place].clone();
        let names: Vec<String> = self.numbers.iter().map(name).collect();
        TableColumns::new(names.len(), self.reader.is_named().then_some(&*names), None)
    }

    /// The columns of the inputs.
    pub(super) fn input_columns(&self) -> impl Iterator<Item = &NumberColumn> {
        self.inputs.iter().map(|&input| &self.numbers[input])
    }

    /// Where the record last read stands.
    pub(super) fn place(&self) -> String {
        self.cell(0).line.to_string()
    }

    /// The same within the file.
    fn line(reader: &RowReader) -> String {
        let what = if reader.counts() == Counts::Lines { "line" } else { "row" };
        format!("{what} {}", reader.line())
    }

    fn cell(&self, column: usize) -> mercer_readers::CellPlace {
        self.reader.place(column)
    }

    /// Puts the next row into `row`; false at the end.
    pub(super) fn next(&mut self, row: &mut Vec<f64>) -> Result<bool, Failure> {
        loop {
            if let Some(clock) = &self.clock
                && self.courses[self.now].next(clock, &self.inputs, row)
            {
                return Ok(true);
            }
            let read = self.reader.next_record(&mut self.record);
            dialect::tell_remarks(&mut self.reader);
            if !read? {
                self.reader.left_out().into_iter().for_each(verbosity::say_once);
                let place = Self::line(&self.reader);
                let Some(clock) = &mut self.clock else { return Ok(false) };
                let Some(held) = self.courses.iter().position(TimedRows::holds) else { return Ok(false) };
                self.now = held;
                let finished = self.courses[held].finish(clock, &|| place.clone());
                finished.map_err(|why| Failure::because(format!("{}, {why}", self.shown)))?;
                continue;
            }
            let expected = self.reader.columns().len();
            if self.record.len() != expected {
                return Err(DataError::Ragged { line: self.cell(0).line, expected, got: self.record.len() }.into());
            }
            self.values.clear();
            for column in &self.numbers {
                let cell = self.record.cell(column.place);
                self.values.push(column.notation.number(cell).unwrap_or(f64::NAN));
                if column.is_misfit(cell) && self.misfits.take(column.place, Oddity::Misfit) {
                    let place = self.reader.place(column.place);
                    verbosity::remark(format!("{place}: {:?} {}", cell.to_string(), Oddity::Misfit.words()));
                }
            }
            self.find_group()?;
            if self.time.is_none() {
                row.clone_from(&self.values);
                return Ok(true);
            }
            self.offer()?;
        }
    }

    /// Turns to the series that the record last read is of.
    fn find_group(&mut self) -> Result<(), Failure> {
        let Some(groups) = &self.groups else { return Ok(()) };
        let mut name = String::new();
        mercer_session::write_name(self.record.cell(groups.column), &mut name);
        if matches!(self.record.cell(groups.column), Cell::Missing | Cell::List(_)) {
            let cell = self.cell(groups.column);
            return Err(Failure::because(format!("{cell}: has no name of a group; fill it, or leave the row out")));
        }
        self.turn_to_group(name);
        Ok(())
    }

    /// The column that names groups.
    pub(super) fn group_column(&self) -> Option<&str> {
        self.groups.as_ref().map(|groups| self.reader.columns()[groups.column].as_str())
    }

    /// The names of the groups, in the order in which they came.
    pub(super) fn group_names(&self) -> &[String] {
        self.groups.as_ref().map_or(&[], |groups| &groups.names)
    }

    /// Knows groups that came before the rows.
    pub(super) fn know_groups<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        for name in names {
            self.turn_to_group(name.clone());
        }
    }

    fn turn_to_group(&mut self, name: String) {
        let Some(groups) = &mut self.groups else { return };
        self.now = *groups.places.entry(name).or_insert_with_key(|name| {
            groups.names.push(name.clone());
            groups.names.len() - 1
        });
        if self.now == self.courses.len() {
            self.courses.push(TimedRows::default());
        }
    }

    /// Hands the record last read to the course of the series.
    fn offer(&mut self) -> Result<(), Failure> {
        let (Some(column), Some(clock)) = (&self.time, &self.clock) else { return Ok(()) };
        let (read, before) = (column.read(&self.reader, &self.record, None)?, self.courses[self.now].newest());
        let Some(now) = clock.place(read, before) else {
            return Err(Failure::because(format!("{}: {}", self.cell(column.place), clock.never_shown(read))));
        };
        if let Some(before) = before {
            let [value, before_text] = [now, before].map(|time| clock.text(time));
            let cell = self.cell(column.place);
            if now <= before && self.courses[self.now].learnt {
                return Err(Failure::because(format!(
                    "{cell}: the time {value} is not behind {before_text}, the last that the model has learnt; give the rows \
                     behind it"
                )));
            }
            if clock.may_be_set_back(before, now) {
                return Err(Failure::because(format!(
                    "{cell}: the time {value} comes a second time, behind {before_text}, as where clocks are set back; write the offset \
                     from UTC behind the times, such as +02:00 and +01:00, or say the zone of the times, such as --zone \
                     Europe/Vienna{}",
                    self.several()
                )));
            }
            if now < before {
                let error = DataError::Earlier { cell, value, before: before_text };
                let remedy = format!("--ignore {:?} takes the rows as they come{}", clock.name, self.several());
                return Err(Failure::from(error).with(&remedy));
            }
            if now == before && self.repeats == Repeats::Refuse {
                return Err(Failure::because(format!(
                    "{cell}: the time {value} is that of the row before, too; remove one of the rows, or take rows of one \
                     time together with --repeats sum, mean or last{}",
                    self.several()
                )));
            }
        }
        let Self { shown, reader, clock, courses, now: group, values, repeats, .. } = self;
        let Some(clock) = clock else { return Ok(()) };
        let course = &mut courses[*group];
        let offered = course.offer(clock, *repeats, (now, values), &|| Self::line(reader));
        offered.map_err(|why| Failure::because(format!("{shown}, {why}")))?;
        if !self.fills {
            course.skip_missing();
        }
        Ok(())
    }

    /// Advice where the rows are of several series, and that is not told.
    fn several(&self) -> &'static str {
        if self.groups.is_some() {
            ""
        } else {
            "; --group NAME forecasts several series, which the column NAME tells apart"
        }
    }

    /// Tells a person what was found between the rows.
    pub(super) fn tell_gaps(&self) {
        for (column, counts) in self.misfits.columns() {
            let (name, count) = (&self.reader.columns()[*column], counts[Oddity::Misfit as usize]);
            if count > 1 || verbosity::is_quiet() {
                verbosity::say(format!("column {name:?}: {count} cells {}", Oddity::Misfit.words_of_all()));
            }
        }
        let alike = alike_groups(self.group_names().iter().map(String::as_str));
        alike.into_iter().for_each(|note| verbosity::say(note.text));
        let Some(clock) = &self.clock else { return };
        let shown = &self.shown;
        let found = |of: fn(&TimedRows) -> &(u64, String)| {
            let first = self.courses.iter().map(of).find(|found| found.0 > 0);
            (self.courses.iter().map(|course| of(course).0).sum::<u64>(), first.map_or("", |first| &first.1))
        };
        let (missing, uneven) = (found(|course| &course.missing), found(|course| &course.uneven));
        let merged = self.courses.iter().map(|course| course.merged).sum::<u64>();
        let step = clock.words().unwrap_or_default();
        let rows = |count: u64, is: &str, are: &str| {
            if count == 1 { format!("1 row {is}") } else { format!("{count} rows {are}") }
        };
        if missing.0 > 0 {
            let what = if self.fills {
                "they are put in as gaps"
            } else {
                "they are left out, because their inputs are not known"
            };
            verbosity::remark(format!(
                "{shown}: {} missing between others a step of {step} apart, the first before {}; {what}",
                rows(missing.0, "is", "are"),
                missing.1
            ));
        }
        if clock.step().is_some() && uneven.0 > 0 {
            verbosity::remark(format!(
                "{shown}: {} no whole number of steps of {step} after the row before, the first in {}; taken as the next",
                rows(uneven.0, "is", "are"),
                uneven.1
            ));
        }
        if merged > 0 {
            let how = crate::arguments::typed(&self.repeats);
            verbosity::remark(format!(
                "{shown}: {} taken together with others of their time ({how})",
                rows(merged, "was", "were")
            ));
        }
    }
}
