//! The rows of a series.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use mercer_forecast::{AnyForecaster, Forecaster};
use mercer_readers::{ColumnChoice, Example, Missing, ReadOptions, TargetColumn};
use mercer_session::model::Prediction;

use super::ForecastArguments;
use super::beginning::Beginning;
use super::clock::{Clock, TimedRows};
use super::columns::SeriesColumns;
use super::method::ForecastMethod;
use super::plan::{PlacedRow, PlanRows};
use super::rows::{ColumnOptions, SeriesRows};
use super::times::TimeMemory;
use crate::arguments::common::whole;
use crate::data::encoded_rows::overrides;
use crate::data::input::Input;
use crate::data::opening::Opening;
use crate::data::reading::{for_files, refuse_for_named};
use crate::data::source::{self, Source};
use crate::data::stop::Stop;
use crate::data::timed_series::{NumberColumn, TimeColumn};
use crate::limits::FIRST_ROWS;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// Rows one by one.
pub(super) struct SeriesFeed {
    body: SeriesSource,
    stop: Stop,
    columns: SeriesColumns,
    example: Example,
    /// The group of the row, where it stands if it has waited, and the time of the row given last
    /// of each group.
    now: usize,
    waited_at: Option<String>,
    times: Vec<Option<f64>>,
    /// Rows without outputs; `None` where each row is answered when it comes.
    plan: Option<PlanRows>,
}

enum SeriesSource {
    /// Complete rows of numbers.
    Numbers(Box<Input>),
    /// Rows beside a column of times, or beside columns that are not forecast.
    Records(Box<SeriesRows>),
}

/// Rows of a table of groups that are looked at first.
const GROUPED_ROWS: usize = 1 << 15;

impl SeriesFeed {
    /// Opens a series. What was saved knows which column is what, if it is there, and otherwise the
    /// arguments.
    pub(super) fn open(
        source: &Source<'_>,
        arguments: &ForecastArguments,
        saved: Option<&Beginning>,
        stop: Stop,
    ) -> Result<Self, Failure> {
        let body = match source {
            Source::Named(name) => {
                let given = for_files(!arguments.target.is_empty(), &arguments.dialect, &arguments.ignore, false);
                refuse_for_named(name, given)?;
                for (option, given) in [("--time", &arguments.time), ("--group", &arguments.group)] {
                    if given.is_some() {
                        return Err(Failure::usage(format!("{name}: {option} is for files; leave it out")));
                    }
                }
                SeriesSource::Numbers(Input::series(name)?.into())
            }
            Source::File(_) | Source::StandardInput => SeriesSource::of_file(arguments, saved, &stop)?,
        };
        let found = body.columns();
        let (shown, dimension, names) = (body.shown(), found.dimension, found.features());
        let names = Some(names).filter(|names| !names.is_empty());
        let columns = match (saved, &arguments.model.model) {
            (Some(saved), Some(path)) => SeriesColumns::of_model(path, saved.pattern(), shown, dimension, names)?,
            _ => {
                let (option, wanted) = arguments.making.acting();
                let inputs = match &body {
                    SeriesSource::Records(rows) => rows.inputs.clone(),
                    SeriesSource::Numbers(_) => SeriesColumns::positions(shown, dimension, names, option, wanted)?,
                };
                SeriesColumns::new(shown, dimension, names, option, inputs)?
            }
        };
        let times = match &body {
            SeriesSource::Records(rows) => rows.courses.iter().map(TimedRows::last).collect(),
            SeriesSource::Numbers(_) => Vec::new(),
        };
        let begun = saved.map_or(0, |saved| saved.each().len());
        let plan = (!arguments.is_streaming(source)).then(|| PlanRows::behind(begun));
        Ok(Self { body, stop, columns, example: Example::default(), now: 0, waited_at: None, times, plan })
    }

    pub(super) fn columns(&self) -> &SeriesColumns {
        &self.columns
    }

    /// Goes to the next row; false at the end, and when a signal has come: what it cut off is no
    /// row. A row without outputs comes when one of its group with an output follows.
    pub(super) fn next(&mut self) -> Result<bool, Failure> {
        loop {
            if let Some(row) = self.plan.as_mut().and_then(PlanRows::next) {
                (self.example.features, self.waited_at) = (row.values, Some(row.place));
                self.go_to(row.group, row.time);
                return Ok(true);
            }
            if !self.read()? {
                return Ok(false);
            }
            let (group, time) = self.records().map_or((0, None), |rows| (rows.now, rows.courses[rows.now].last()));
            let is_open = self.columns.lacks_outputs(self.row());
            if !self.plan.as_mut().is_some_and(|plan| plan.wants(group, is_open)) {
                self.go_to(group, time);
                return Ok(true);
            }
            let row = PlacedRow { values: self.row().to_vec(), group, time, place: self.place() };
            self.plan.iter_mut().for_each(|plan| plan.take(row.clone(), is_open));
        }
    }

    /// Reads a row; false at the end, and when a signal has come.
    fn read(&mut self) -> Result<bool, Failure> {
        self.waited_at = None;
        let read = match &mut self.body {
            SeriesSource::Numbers(input) => input.next(&mut self.example).map_err(Failure::from),
            SeriesSource::Records(rows) => rows.next(&mut self.example.features),
        };
        if self.stop.requested() { Ok(false) } else { read }
    }

    fn go_to(&mut self, group: usize, time: Option<f64>) {
        self.now = group;
        self.times.resize(self.times.len().max(group + 1), None);
        self.times[group] = time;
    }

    pub(super) fn row(&self) -> &[f64] {
        &self.example.features
    }

    /// Where the row stands.
    pub(super) fn place(&self) -> String {
        if let Some(place) = &self.waited_at {
            return place.clone();
        }
        match &self.body {
            SeriesSource::Numbers(input) => format!("{}, {}", input.shown(), input.place()),
            SeriesSource::Records(rows) => rows.place(),
        }
    }

    /// The group that the row is of, counted from 0 as they come.
    pub(super) fn now(&self) -> usize {
        self.now
    }

    /// Turns to a group, behind its last row.
    pub(super) fn turn_to(&mut self, group: usize) {
        self.now = group;
    }

    /// The rows of the group that are to be forecast: those at its end that have no outputs.
    pub(super) fn plan(&self) -> &[PlacedRow] {
        self.plan.as_ref().map_or(&[], |plan| plan.of_group(self.now))
    }

    /// Tells a person that rows at the end are forecast, not observed.
    pub(super) fn tell_plan(&self, asked: Option<NonZeroUsize>) {
        let Some((groups, count)) = self.plan.as_ref().map(PlanRows::counts).filter(|(_, count)| *count > 0) else {
            return;
        };
        let (shown, columns) = (self.body.shown(), &self.columns);
        let names: Vec<String> =
            (0..columns.outputs.len()).map(|output| format!("{:?}", columns.output_name(output))).collect();
        let rows = if count == 1 { "the last row has".to_owned() } else { format!("the last {count} rows have") };
        let of = if groups == 1 { String::new() } else { format!(", of {groups} groups,") };
        let are = match asked.filter(|steps| usize::from(*steps) < count && groups == 1) {
            Some(_) => format!("the forecast begins with them; --steps {count} forecasts all"),
            None => "they are forecast".to_owned(),
        };
        verbosity::remark(format!("{shown}: {rows}{of} no value of {}; {are}", names.join(", ")));
    }

    /// The column that names groups, if there is one, and the name of the group of the row.
    pub(super) fn group_column(&self) -> Option<&str> {
        self.records()?.group_column()
    }

    pub(super) fn group(&self) -> Option<&str> {
        self.group_names().get(self.now()).map(String::as_str)
    }

    /// The names of all groups so far.
    pub(super) fn group_names(&self) -> &[String] {
        self.records().map_or(&[], SeriesRows::group_names)
    }

    /// The column of times, if there is one.
    pub(super) fn clock(&self) -> Option<&Clock> {
        self.records()?.clock.as_ref()
    }

    fn records(&self) -> Option<&SeriesRows> {
        if let SeriesSource::Records(rows) = &self.body { Some(rows) } else { None }
    }

    /// The time of the row that comes `ahead` rows after the one given last, 0 for that itself, if
    /// it is known. Planned rows have the times that stand in them.
    pub(super) fn time(&self, ahead: usize) -> Option<f64> {
        let last = self.times.get(self.now).copied().flatten();
        let plan = self.plan();
        if ahead <= plan.len() {
            return if ahead == 0 { last } else { plan[ahead - 1].time };
        }
        let last = plan.last().map_or(last, |row| row.time)?;
        self.clock()?.later(last, (ahead - plan.len()) as u64)
    }

    /// The column of times in the file.
    pub(super) fn time_column(&self) -> Option<&TimeColumn> {
        self.records()?.time.as_ref()
    }

    /// The columns of the inputs; none where the file is plain numbers alone.
    pub(super) fn input_columns(&self) -> impl Iterator<Item = &NumberColumn> {
        self.records().into_iter().flat_map(SeriesRows::input_columns)
    }

    /// Rows that were missing between others.
    pub(super) fn missing(&self) -> u64 {
        self.records().map_or(0, |rows| rows.courses.iter().map(|course| course.missing.0).sum())
    }

    /// Tells a person what was found between the rows.
    pub(super) fn tell_gaps(&self) {
        if let Some(rows) = self.records() {
            rows.tell_gaps();
        }
    }

    /// The memory of the times that the model of a group is to keep.
    pub(super) fn times(&self, group: usize) -> Option<TimeMemory> {
        let rows = self.records()?;
        let notation = rows.time.as_ref().and_then(|column| column.notation.clone());
        let last = self.times.get(group).copied().flatten()?;
        let grid = rows.courses.get(group).and_then(TimedRows::grid);
        Some(TimeMemory::new(rows.clock.clone()?, last, grid, notation))
    }

    /// A bar for a person who waits at a terminal for a file.
    pub(super) fn progress(&self) -> ProgressBar {
        if !io::stderr().is_terminal() || self.body.shown() == Source::StandardInput.to_string() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let bar = bar.with_finish(ProgressFinish::AndClear);
        match ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

fn is_season(model: &Prediction) -> bool {
    matches!(model.forecaster, AnyForecaster::Seasons(_))
}

impl SeriesSource {
    fn of_file(arguments: &ForecastArguments, saved: Option<&Beginning>, stop: &Stop) -> Result<Self, Failure> {
        let (path, making) = (&arguments.series, &arguments.making);
        let (model, groups) = (saved.map(Beginning::pattern), saved.and_then(Beginning::groups));
        let group = groups.map(|groups| ColumnChoice::Name(groups.column.clone())).or(arguments.group.clone());
        // Season mixtures find their columns by their names.
        let known = model.filter(|model| is_season(model));
        let names = known.map_or(&[][..], |model| &model.columns).iter().map(|name| ColumnChoice::Name(name.clone()));
        let mut known: Vec<ColumnChoice> = names.collect();
        let inputs = known.split_off(known.len().min(model.map_or(0, |model| model.forecaster.outputs())));
        let targets = if arguments.target.is_empty() { known } else { arguments.target.clone() };
        let (option, told) = making.acting();
        let inputs = if inputs.is_empty() { told } else { &inputs };
        let mentioned = arguments.time.iter().chain(&arguments.target).chain(&group).chain(inputs).cloned().collect();
        let options = arguments.dialect.told(
            path,
            ReadOptions {
                target: TargetColumn::None,
                missing: Missing::Nan,
                ignore: whole(&arguments.ignore),
                mentioned,
                ..ReadOptions::default()
            },
        );
        let mut opening = Some(Opening::new(path, stop, || ())?);
        let waits = arguments.waits();
        let head = match &opening {
            Some(opening) if opening.is_pipe() && !waits => 1,
            // A table that is sorted by time has all groups before the second time.
            _ if group.is_some() => GROUPED_ROWS,
            _ => FIRST_ROWS,
        };
        let known_times: Vec<Option<TimeMemory>> =
            saved.map_or_else(Vec::new, Beginning::each).into_iter().map(TimeMemory::from_model).collect();
        let wanted = ColumnOptions {
            time: arguments.time.as_ref(),
            targets: &targets,
            inputs: (option, inputs),
            season: model.map_or_else(|| making.method() == ForecastMethod::Season, is_season),
            repeats: arguments.repeats,
            head,
            group: group.as_ref(),
            zone: arguments.zone.zone.as_ref(),
            clock: known_times.iter().flatten().map(TimeMemory::clock).next(),
            overrides: overrides(&arguments.kinds, None, &Source::resolve(path)?)?,
        };
        let Some(mut rows) = SeriesRows::look(&mut opening, &options, &wanted)? else {
            return Ok(Self::Numbers(Input::of_numbers(opening, &options)?.into()));
        };
        if let Some(groups) = groups {
            rows.know_groups(groups.groups.iter().map(|(name, _)| name));
        }
        for (course, kept) in rows.courses.iter_mut().zip(&known_times).filter(|_| rows.clock.is_some()) {
            if let Some(kept) = kept {
                *course = TimedRows::behind(Some(kept.last())).in_step_at(kept.grid());
            }
        }
        Ok(Self::Records(rows.into()))
    }

    fn shown(&self) -> &str {
        match self {
            Self::Numbers(input) => input.shown(),
            Self::Records(rows) => rows.shown(),
        }
    }

    fn columns(&self) -> source::TableColumns {
        match self {
            Self::Numbers(input) => input.columns().clone(),
            Self::Records(rows) => rows.columns(),
        }
    }
}
