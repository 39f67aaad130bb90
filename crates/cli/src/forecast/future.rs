//! The files of `--future`: the known inputs of the rows behind the last, one file a scenario.

use std::path::Path;

use mercer_readers::{ColumnChoice, Missing, ReadOptions, Record, TargetColumn};

use super::ForecastArguments;
use super::feed::SeriesFeed;
use crate::data::day_roll::whole_days;
use crate::data::opening::Opening;
use crate::data::stop::Stop;
use crate::data::timed_series::{NumberColumn, TimeColumn, place};
use crate::report::failure::Failure;

/// The inputs, one row after the other, and the times of the rows if the file has them.
#[derive(Default)]
pub(super) struct Future {
    shown: String,
    /// The name of the file without its ending.
    pub(super) name: String,
    pub(super) inputs: Vec<f64>,
    pub(super) rows: usize,
    times: Vec<f64>,
}

impl Future {
    /// The scenarios, which are of as many rows.
    pub(super) fn all(arguments: &ForecastArguments, feed: &SeriesFeed, stop: &Stop) -> Result<Vec<Self>, Failure> {
        let paths = &arguments.future;
        let all: Vec<Self> =
            paths.iter().map(|path| Self::read(path, arguments, feed, stop)).collect::<Result<_, Failure>>()?;
        for (i, one) in all.iter().enumerate() {
            if let Some(other) = all[..i].iter().find(|other| other.name == one.name) {
                return Err(Failure::usage(format!(
                    "--future: {} and {} are both of the scenario {:?}; rename one",
                    other.shown, one.shown, one.name
                )));
            }
            if one.rows != all[0].rows {
                return Err(Failure::because(format!(
                    "{} has {} rows, and {} has {}; give scenarios of the same rows",
                    one.shown, one.rows, all[0].shown, all[0].rows
                )));
            }
        }
        Ok(all)
    }

    fn read(path: &Path, arguments: &ForecastArguments, feed: &SeriesFeed, stop: &Stop) -> Result<Self, Failure> {
        let names = feed.columns().input_names();
        if names.is_empty() {
            return Err(Failure::usage("--future is for the columns of --known or --inputs; name them"));
        }
        let wanted: Vec<ColumnChoice> = names.iter().map(|name| ColumnChoice::Name((*name).to_owned())).collect();
        let time = feed.clock().map(|clock| ColumnChoice::Name(clock.name.clone()));
        let parts = feed.time_column().into_iter().flat_map(|column| column.parts.iter());
        let parts: Vec<ColumnChoice> = parts.map(|part| ColumnChoice::Name(part.name.clone())).collect();
        let options = ReadOptions {
            target: TargetColumn::None,
            missing: Missing::Nan,
            mentioned: wanted.iter().chain(&time).chain(&parts).cloned().collect(),
            ..ReadOptions::default()
        };
        let options = arguments.dialect.told(path, options);
        let opening = Opening::new(path, stop, || ())?;
        let shown = opening.shown().to_owned();
        let mut reader = opening.last_records(&options)?;
        let mut known = feed.input_columns();
        // Its numbers are written as those of the series.
        let column = |choice| {
            let notation = known.next().map(|known| known.notation.clone()).unwrap_or_default();
            Ok(NumberColumn { place: place(choice, &reader, &shown, "--future")?, notation })
        };
        let columns: Vec<NumberColumn> = wanted.iter().map(column).collect::<Result<_, Failure>>()?;
        let time = time.and_then(|name| place(&name, &reader, &shown, "--future").ok()).zip(feed.time_column());
        let time = time.and_then(|(days, column)| {
            let at = |name: &str| place(&ColumnChoice::Name(name.to_owned()), &reader, &shown, "--future").ok();
            Some(TimeColumn { place: days, parts: column.parts.at(at)?, ..column.clone() })
        });
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let mut future = Self { shown, name, ..Self::default() };
        let mut record = Record::new();
        while reader.next_record(&mut record)? {
            for column in &columns {
                future.inputs.push(column.read(&reader, &record, Missing::Refuse)?);
            }
            if let Some(column) = &time {
                let read = column.read(&reader, &record, None)?;
                let before = future.times.last().copied();
                future
                    .times
                    .push(feed.clock().map_or(Some(read), |clock| clock.place(read, before)).unwrap_or(f64::NAN));
            }
            future.rows += 1;
        }
        Ok(future)
    }

    /// Refuses rows that do not follow the last row of the series.
    pub(super) fn check(&self, feed: &SeriesFeed) -> Result<(), Failure> {
        let Some(clock) = feed.clock() else { return Ok(()) };
        let behind = |row: usize| feed.time(feed.plan().len() + row + 1);
        // Times of day tell no day: the first is of that on which the series goes on.
        let first = self.times.first().zip(behind(0)).filter(|_| clock.is_of_day());
        let shift = first.map_or(0.0, |(time, expected)| whole_days(expected - time));
        for (row, time) in self.times.iter().map(|time| time + shift).enumerate() {
            if let Some(expected) = behind(row).filter(|expected| *expected != time) {
                return Err(Failure::because(format!(
                    "{}, row {}: is of {}, and that row behind the last of the series is of {}; give one row for each step, in order",
                    self.shown,
                    row + 1,
                    clock.text(time),
                    clock.text(expected)
                )));
            }
        }
        Ok(())
    }
}
