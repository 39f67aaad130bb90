//! The roles of the columns of a series: which options name, and which the first rows tell.

use mercer_encoding::{Column, Face, Kind};
use mercer_readers::{ColumnChoice, RowReader};

use super::ColumnOptions;
use crate::data::day_roll::NEXT_DAY;
use crate::data::timed_series::{SeriesHead, TimeColumn, left_out_times, place, tell_left_out};
use crate::forecast::clock::{Clock, ClockOptions};
use crate::report::failure::Failure;
use crate::report::verbosity;

/// The roles of the columns.
pub(super) struct Roles {
    pub(super) numbers: Vec<usize>,
    pub(super) group: Option<usize>,
    /// The columns among `numbers` that are inputs, in the order in which they were named.
    pub(super) inputs: Vec<usize>,
    pub(super) time: Option<TimeColumn>,
    /// Columns of times that are not `time`.
    other_times: Vec<usize>,
    /// Columns that are neither forecast nor inputs.
    unused: Vec<usize>,
}

/// The columns that options name.
pub(super) struct ChosenColumns {
    targets: Vec<usize>,
    inputs: Vec<usize>,
    time: Option<usize>,
    group: Option<usize>,
}

impl ChosenColumns {
    pub(super) fn find(reader: &RowReader, shown: &str, wanted: &ColumnOptions<'_>) -> Result<Self, Failure> {
        let one = |choice: Option<&ColumnChoice>, option: &str| {
            choice.map(|choice| place(choice, reader, shown, option)).transpose()
        };
        let several = |choices: &[ColumnChoice], option: &str| -> Result<Vec<usize>, Failure> {
            choices.iter().map(|choice| place(choice, reader, shown, option)).collect()
        };
        Ok(Self {
            time: one(wanted.time, "--time")?,
            targets: several(wanted.targets, "--target")?,
            group: one(wanted.group, "--group")?,
            inputs: several(wanted.inputs.1, wanted.inputs.0)?,
        })
    }

    /// The kinds that the columns are to be of.
    pub(super) fn kinds(&self) -> Vec<(usize, Kind)> {
        let numbers = self.targets.iter().chain(&self.inputs).map(|place| (*place, Kind::Number));
        numbers.chain(self.time.map(|place| (place, Kind::Time))).collect()
    }
}

impl Roles {
    pub(super) fn find(
        head: &SeriesHead,
        chosen: ChosenColumns,
        shown: &str,
        wanted: &ColumnOptions<'_>,
    ) -> Result<Self, Failure> {
        let ChosenColumns { targets, inputs, time, group } = chosen;
        let asked_for = |column: usize| targets.contains(&column) || [time, group].contains(&Some(column));
        let doubtful = |column: &Column| column.kind == Kind::Text && !column.why.is_empty();
        if let Some(place) = head.places(doubtful).into_iter().find(|place| !asked_for(*place)) {
            let Column { name, why, .. } = head.column(place);
            let why = Face::Command.said(name, why);
            return Err(Failure::because(format!(
                "{shown}: column {name:?}: {why}, and --ignore {name:?} leaves it out"
            )));
        }
        let mut times = head.times();
        let width = head.places(|_| true).len();
        let time = match time {
            Some(place) => Some(head.time_column(place)),
            None if times.len() == width => None,
            None => times.iter().find(|place| !asked_for(**place)).map(|place| head.time_column(*place)),
        };
        let used = |column: usize| targets.contains(&column) || inputs.contains(&column);
        let known = wanted.clock.map(|clock| &clock.parts);
        let time = time.map(|time| head.with_parts(time, group, used, known));
        let is_time = |column: usize| time.iter().flat_map(TimeColumn::places).any(|place| place == column);
        times.retain(|column| !asked_for(*column) && !is_time(*column));
        let rest: Vec<usize> = (0..width)
            .filter(|column| !is_time(*column) && !times.contains(column) && group != Some(*column))
            .collect();
        if rest.is_empty() {
            return Err(Failure::because(format!(
                "{shown}: holds times alone; give a file with columns of numbers, too"
            )));
        }
        let mut numbers = rest.clone();
        if !targets.is_empty() {
            numbers = targets;
        } else if wanted.season {
            let those = |is_so: &dyn Fn(&Column) -> bool| -> Vec<usize> {
                let mut those = rest.clone();
                those.retain(|column| !inputs.contains(column) && is_so(head.column(*column)));
                those
            };
            let series: [&dyn Fn(&Column) -> bool; 3] =
                [&|column| column.holds_numbers() && !column.counter, &Column::holds_numbers, &|_| true];
            numbers = series.into_iter().map(those).find(|those| !those.is_empty()).unwrap_or_default();
        }
        numbers.extend(&inputs);
        numbers.sort_unstable();
        numbers.dedup();
        let unused = rest.into_iter().filter(|column| !numbers.contains(column)).collect();
        let inputs = inputs.iter().filter_map(|input| numbers.iter().position(|column| column == input)).collect();
        Ok(Self { numbers, group, inputs, time, other_times: times, unused })
    }

    /// The times of the rows, by the first of them.
    pub(super) fn clock(&self, head: &SeriesHead, wanted: &ColumnOptions<'_>, open: bool) -> Option<Clock> {
        let column = self.time.as_ref()?;
        let name = &head.column(column.place).name;
        let options = ClockOptions { open, grouped: self.group.is_some(), zone: wanted.zone.cloned() };
        let mut clock = if column.parts.is_empty() {
            Clock::new(name, column.notation.as_ref(), &head.cells(column.place), options)
        } else {
            Clock::of_local_times(name, &head.times_of(column), options)
        };
        clock.parts = column.parts.clone();
        wanted.clock.into_iter().for_each(|known| clock.go_on(known));
        Some(clock)
    }

    /// Tells a person what was found and not told.
    pub(super) fn tell(&self, head: &SeriesHead, shown: &str, wanted: &ColumnOptions<'_>, clock: Option<&Clock>) {
        let name = |column: &usize| format!("{:?}", head.column(*column).name);
        if let Some(clock) = clock {
            let is = match clock.words() {
                Some(step) => format!(", with a step of {step}"),
                None if clock.is_open() => ", and the first two rows tell their step".to_owned(),
                None if clock.is_uneven() => {
                    ", which are not evenly apart: its rows are taken one after the other".to_owned()
                }
                None => String::new(),
            };
            let is = if clock.is_of_day() { format!("{is}; {NEXT_DAY}") } else { is };
            let guess = self.time.as_ref().and_then(|time| time.notation.as_ref()?.guess());
            let joined = self.time.as_ref().is_some_and(|time| !time.parts.is_empty());
            if wanted.time.is_none() || clock.is_uneven() || guess.is_some() || joined || clock.is_of_day() {
                let guess = guess.map_or_else(String::new, |guess| format!(" ({guess})"));
                let beside = self.time.as_ref().map(|time| time.parts.words()).unwrap_or_default();
                verbosity::remark(format!("{shown}: column {:?}{beside} holds the times{guess}{is}", clock.name));
            }
        }
        for column in &self.other_times {
            tell_left_out(shown, head.column(*column), left_out_times(head.column(*column)));
        }
        if let Some(why) = clock.zip(wanted.clock).and_then(|(clock, known)| clock.other_offset(known)) {
            let name = clock.map(|clock| clock.name.as_str()).unwrap_or_default();
            verbosity::remark(format!("{shown}: column {name:?}: its times {why}"));
        }
        // A reason is told whatever is chosen.
        head.tell_doubts(shown, &self.unused);
        head.tell_doubts(shown, &self.numbers);
        if wanted.season && wanted.targets.is_empty() && !self.unused.is_empty() {
            let list = |columns: &[usize], name: &dyn Fn(&usize) -> String| match columns {
                [one] => format!("{} is", name(one)),
                several => format!("{} are", several.iter().map(name).collect::<Vec<_>>().join(", ")),
            };
            let with_reason = |place: &usize| {
                let is = if head.column(*place).counter { "counts rows or time" } else { "holds no numbers" };
                format!("{} ({is})", name(place))
            };
            let forecast: Vec<usize> = (0..self.numbers.len())
                .filter(|place| !self.inputs.contains(place))
                .map(|place| self.numbers[place])
                .collect();
            verbosity::remark(format!(
                "{shown}: {} forecast; {} not (--target NAME,… chooses)",
                list(&forecast, &name),
                list(&self.unused, &with_reason)
            ));
        }
    }
}
