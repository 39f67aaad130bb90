//! The memory of the times of a series, so that a model goes on behind the last of them.

#[cfg(feature = "serve")]
use mercer_encoding::Cell;
use mercer_encoding::Notation;
use mercer_forecast::Forecaster;
#[cfg(feature = "serve")]
use mercer_readers::hour_that_comes_twice;
use mercer_session::model::Prediction;
use serde::{Deserialize, Serialize};
#[cfg(feature = "serve")]
use serde_json::Value;

use super::clock::Clock;
#[cfg(feature = "serve")]
use super::clock::{Repeats, TimedRows};

/// The column of times, and the time of the last row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimeMemory {
    clock: Clock,
    last: f64,
    /// The notation of the times in the column; files of before have none.
    #[serde(default)]
    notation: Option<Notation>,
    /// The rows that were observed by then.
    #[serde(default)]
    rows: Option<u64>,
    /// Missing rows that a service has put in.
    #[serde(default)]
    put_in: u64,
    /// The time of the last row that was in step with those before, if that is not `last`.
    #[serde(default)]
    grid: Option<f64>,
}

/// Missing rows before one that is learnt by a service: each takes as long as a row.
#[cfg(feature = "serve")]
const MOST_PUT_IN: u64 = 1000;

/// The key under which a model keeps it.
const KEY: &str = "time";

impl TimeMemory {
    /// `last` is the time of the last row, and `grid` that of the last one in step; the model comes
    /// to [keep](Self::kept) the rest.
    pub(super) fn new(clock: Clock, last: f64, grid: Option<f64>, notation: Option<Notation>) -> Self {
        Self { clock, last, notation, rows: None, put_in: 0, grid: grid.filter(|grid| *grid < last) }
    }

    /// The time of the last row in step, if that is not the last.
    pub(super) fn grid(&self) -> Option<f64> {
        self.grid
    }

    /// The newest time in step that is not behind the last row: the next row is a step later.
    fn in_step(&self) -> f64 {
        let Some(mut time) = self.grid else { return self.last };
        while let Some(next) = self.clock.later(time, 1).filter(|next| *next <= self.last && *next > time) {
            time = next;
        }
        time
    }

    /// The memory that a model keeps, if it has one. Rows that it has observed since are taken to
    /// have followed step by step; without an even step nothing is known then.
    pub(crate) fn from_model(model: &Prediction) -> Option<Self> {
        let (_, text) = model.own.iter().find(|(key, _)| key == KEY)?;
        let mut kept: Self = serde_json::from_str(text).ok()?;
        let observed = model.forecaster.time() as u64;
        let since = observed.checked_sub(kept.rows.unwrap_or(observed))?;
        if since > 0 {
            kept.last = kept.clock.later(kept.in_step(), since)?;
            kept.grid = None;
        }
        Some(kept)
    }

    /// The entry of a model that has observed so many rows.
    pub(super) fn kept(&self, rows: usize) -> Option<(String, String)> {
        let kept = Self { rows: Some(rows as u64), ..self.clone() };
        Some((KEY.to_owned(), serde_json::to_string(&kept).ok()?))
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn last(&self) -> f64 {
        self.last
    }

    /// The time of a cell of the column, which must be behind the last; without a value it is the
    /// time of the next row.
    #[cfg(feature = "serve")]
    fn read(&self, cell: Cell<'_>) -> Result<f64, String> {
        let Self { clock, last, notation, .. } = self;
        let name = &clock.name;
        if cell == Cell::Missing {
            let next = clock.later(self.in_step(), 1);
            return next.ok_or_else(|| format!("{name:?} has no value, and the times have no even step; give it"));
        }
        let time = notation.as_ref().map_or_else(|| cell.number(), |notation| notation.instant(cell));
        let shown = clock.text(*last);
        let time = match time {
            Some(read) => {
                Some(clock.place(read, Some(*last)).ok_or_else(|| format!("{name:?}: {}", clock.never_shown(read)))?)
            }
            None => None,
        };
        match time {
            None => {
                let twice = hour_that_comes_twice(&cell.to_string());
                let way = twice.map_or_else(|| format!("write it like that of the row before, {shown}"), str::to_owned);
                Err(format!("{name:?}: {cell} is no time; {way}"))
            }
            Some(time) if time <= *last => {
                Err(format!("{name:?}: {} is not behind that of the row before, {shown}", clock.text(time)))
            }
            // A row between two others would shift all that follow.
            Some(time) if !clock.is_open() && !clock.is_in_step(self.in_step(), time) => Err(format!(
                "{name:?}: {} is no time of a row of this series, which has {} next; correct it",
                clock.text(time),
                clock.later(self.in_step(), 1).map_or_else(String::new, |next| clock.text(next))
            )),
            Some(time) => Ok(time),
        }
    }

    /// The times of the rows to come; none where the step is not known.
    #[cfg(feature = "serve")]
    pub(crate) fn ahead(&self, steps: usize) -> Option<Vec<Value>> {
        let last = self.in_step();
        (1..=steps as u64).map(|step| Some(self.clock.value(self.clock.later(last, step)?))).collect()
    }

    /// The time of the last row, as it is told.
    #[cfg(feature = "serve")]
    pub(crate) fn shown(&self) -> Value {
        self.clock.value(self.last)
    }

    /// The name of the column.
    #[cfg(feature = "serve")]
    pub(crate) fn name(&self) -> &str {
        &self.clock.name
    }

    /// Missing rows that services have put in.
    #[cfg(feature = "serve")]
    pub(crate) fn put_in(&self) -> u64 {
        self.put_in
    }

    /// The memory behind a row of this time, and the row with the missing ones before it.
    ///
    /// # Errors
    /// If the time is none, is not behind the last, or is too far from it.
    #[cfg(feature = "serve")]
    pub(crate) fn after(&self, time: Cell<'_>, values: &[f64]) -> Result<(Self, TimedRows), String> {
        let mut after = self.clone();
        (after.last, after.grid) = (self.read(time)?, None);
        let (mut course, name) = (TimedRows::behind(Some(self.in_step())), &self.clock.name);
        let offered = course.offer(&mut after.clock, Repeats::Refuse, (after.last, values), &|| format!("{name:?}"));
        offered.map_err(|why| why.to_string())?;
        let missing = course.missing.0;
        if missing > MOST_PUT_IN {
            return Err(format!(
                "{name:?}: {missing} rows are missing before {}, and {MOST_PUT_IN} are put in at most; send them, with null for \
                 values",
                after.clock.text(after.last)
            ));
        }
        after.put_in += missing;
        Ok((after, course))
    }

    /// Puts the next row of those into `row`; false at the end.
    #[cfg(feature = "serve")]
    pub(crate) fn next(&self, course: &mut TimedRows, inputs: &[usize], row: &mut Vec<f64>) -> bool {
        course.next(&self.clock, inputs, row)
    }
}
