//! One pass over the rows that are watched.

use mercer_session::{AlarmKind, Row, WatchChoices, Watcher};
use mercer_watch::FEWEST_ROWS;

use super::WatchArguments;
use super::predictor::Predictor;
use super::report::WatchReport;
use super::table::{WatchedTable, over_reference};
use crate::data::bad_rows::BadRows;
use crate::data::encoded_rows::Oddities;
use crate::data::rows::Origin;
use crate::data::stop::Stop;
use crate::model::classes::quoted;
use crate::report::alarms::Alarms;
use crate::report::failure::Failure;
use crate::report::output::{Aside, number};

/// Points of a picture at most; then every second is dropped.
const POINTS: usize = 4096;

/// A pass with all that it needs.
pub(super) struct WatchPass {
    table: WatchedTable,
    watcher: Watcher,
    predictor: Option<Predictor>,
    bad: BadRows,
    odd: Oddities,
    out: Option<Aside>,
    reference: usize,
    trace: WatchTrace,
}

/// What a picture shows of the rows; it does not grow with them.
#[derive(Default)]
pub(super) struct WatchTrace {
    /// Row, p of the newest of the rows since the last point, and the evidence for a change.
    pub(super) points: Vec<(f64, Option<f64>, f64)>,
    every: u64,
    newest: Option<f64>,
}

/// The row last read.
struct CurrentRow<'a>(&'a WatchedTable);

impl Origin for CurrentRow<'_> {
    fn place(&self) -> String {
        format!("{}, line {}", self.0.shown, self.0.records.line())
    }

    fn record(&self) -> &[u8] {
        self.0.records.text()
    }
}

/// The remark on a reference of few rows.
fn short_reference(rows: u64) -> Option<String> {
    match rows {
        0..FEWEST_ROWS => Some(format!(
            "the reference has {rows} rows, and no row is told to be new: newness needs {FEWEST_ROWS}; give a longer one, or none"
        )),
        FEWEST_ROWS..512 => Some(format!("the reference has {rows} rows; newness by fewer than 512 is rough")),
        512.. => None,
    }
}

impl WatchPass {
    pub(super) fn open(
        arguments: &WatchArguments,
        kinds: Vec<AlarmKind>,
        out: Option<Aside>,
        stop: &Stop,
    ) -> Result<Self, Failure> {
        let opened = WatchedTable::open(arguments, stop);
        stop.failure()?;
        let table = opened?;
        let choices = WatchChoices {
            rows_to_a_false_alarm: arguments.alarm_rate.rows,
            burn_in: arguments.burn_in.get(),
            independent: arguments.independent,
            columns: arguments.columns.get(),
            seed: arguments.seed,
            kinds,
        };
        let predicts = choices.kinds.contains(&AlarmKind::Errors);
        let place = table.target.as_ref().map(|(place, _)| *place);
        let watcher = Watcher::new(table.encoding.schema(), place, choices);
        let mut watcher = watcher.map_err(|error| Failure::because(format!("{}: {error}", table.shown)))?;
        let predictor = table.target.as_ref().filter(|_| predicts);
        let predictor =
            predictor.map(|(_, target)| Predictor::new(table.encoding.clone(), target.kind, arguments.seed));
        let reference = over_reference(arguments, &table.encoding, |record| {
            // It has the columns of the schema.
            drop(watcher.learn_reference(record));
        })?;
        if arguments.reference.is_some() {
            watcher.freeze_reference();
        }
        Ok(Self {
            watcher,
            predictor: predictor.transpose()?,
            bad: BadRows::new(&arguments.on_error)?,
            odd: Oddities::default(),
            out,
            reference,
            trace: WatchTrace { every: 1, ..WatchTrace::default() },
            table,
        })
    }

    /// Watches all rows.
    pub(super) fn over(&mut self, arguments: &WatchArguments, stop: &Stop) -> Result<(), Failure> {
        let limit = arguments.limit.map_or(u64::MAX, |limit| limit.get() as u64);
        let mut row = Row::default();
        while self.watcher.rows() < limit && !stop.requested() {
            let mut record = std::mem::take(&mut row.record);
            let read = self.table.next(&mut record);
            row.record = record;
            match read {
                Ok(false) => break,
                Ok(true) => self.take(&mut row, arguments)?,
                Err(error) if error.concerns_one_row() => {
                    self.bad.take(error.to_string(), &CurrentRow(&self.table))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.bad.put_aside()?;
        self.odd.report(&self.table.encoding);
        Ok(())
    }

    fn take(&mut self, row: &mut Row, arguments: &WatchArguments) -> Result<(), Failure> {
        let error = match self.error(row, arguments) {
            Ok(error) => error,
            Err(why) => return self.bad.take(why, &CurrentRow(&self.table)),
        };
        let place = CurrentRow(&self.table);
        self.odd.tell(&self.table.encoding, &row.record, || place.place());
        let new = self.watcher.learn(&row.record, error).map_err(|error| Failure::because(error.to_string()))?;
        let number_of_row = self.watcher.rows();
        self.trace.take(number_of_row, new.as_ref().map(|new| new.p), self.watcher.evidence());
        let Some(out) = &mut self.out else { return Ok(()) };
        let line = match new {
            None => format!("{number_of_row},,,,\n"),
            Some(new) => {
                let best = (0..new.shares.len()).max_by(|a, b| new.shares[*a].total_cmp(&new.shares[*b]));
                let (name, share) = best.map_or(("", 0.0), |best| (&*self.watcher.names()[best], new.shares[best]));
                format!("{number_of_row},{},{},{},{}\n", number(new.score), number(new.p), quoted(name), number(share))
            }
        };
        out.write(&line)
    }

    /// The error of the prediction of a row; NaN within the burn-in, in which a learner begins.
    fn error(&mut self, row: &mut Row, arguments: &WatchArguments) -> Result<f64, String> {
        let (Some((_, target)), Some(predictor)) = (&self.table.target, &mut self.predictor) else {
            return Ok(f64::NAN);
        };
        row.example.targets.clear();
        row.example.label.clear();
        row.example.weight = 1.0;
        let cell = |place| self.table.records.place(place);
        target.take(&row.record, &mut row.example, cell).map_err(|error| error.to_string())?;
        let error = predictor.error(row).map_err(|error| error.to_string())?;
        let begins = self.watcher.rows() < arguments.burn_in.get() as u64;
        Ok(if begins { f64::NAN } else { error })
    }

    pub(super) fn report(&mut self, arguments: &WatchArguments) -> WatchReport {
        let alarms = Alarms::of(&mut self.watcher, arguments.alarm_rate.rows);
        let mut notes: Vec<String> = self.table.unwatched().collect();
        notes.extend(self.bad.report());
        notes.extend(arguments.reference.as_ref().and_then(|_| short_reference(self.reference as u64)));
        notes.extend(alarms.notes("--burn-in"));
        WatchReport {
            data: self.table.shown.clone(),
            rows: self.watcher.rows(),
            alarms,
            counts: self.odd.counts(),
            notes,
        }
    }

    #[cfg(feature = "plots")]
    pub(super) fn traced(&self) -> &WatchTrace {
        &self.trace
    }

    /// Puts the file of rows in its place.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.out.map_or(Ok(()), Aside::finish)
    }
}

impl WatchTrace {
    fn take(&mut self, row: u64, p: Option<f64>, evidence: f64) {
        self.newest = match (self.newest, p) {
            (Some(before), Some(p)) => Some(before.min(p)),
            (before, p) => before.or(p),
        };
        if !row.is_multiple_of(self.every) {
            return;
        }
        self.points.push((row as f64, self.newest.take(), evidence));
        if self.points.len() == POINTS {
            self.every *= 2;
            let pairs = self.points.chunks_exact(2).map(|pair| match *pair {
                [(_, a, x), (row, b, y)] => (row, a.into_iter().chain(b).reduce(f64::min), x.max(y)),
                _ => (0.0, None, 0.0),
            });
            self.points = pairs.collect();
        }
    }
}
