//! Alarms of a stream under watch, as lines for people and as JSON.

use std::fmt::Write as _;

use mercer_readers::instant_text;
use mercer_session::{AlarmKind, WatchAlarm, Watcher};
use mercer_watch::TakenOut;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::report::output::digits;
use crate::report::plain::Plain;

/// Lines of alarms that are printed; all are in the JSON.
const LINES: usize = 40;

/// The alarms, and what was promised of them.
pub(crate) struct Alarms {
    pub(crate) alarms: Vec<WatchAlarm>,
    /// The rate that was asked for.
    rows_to_a_false_alarm: f64,
    /// What was done so that it holds.
    taken_out: Vec<TakenOut>,
    /// Rows that were watched, and whether they were enough.
    rows: u64,
    is_watching: bool,
}

impl Serialize for Alarms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("alarms", &self.list())?;
        map.serialize_entry("promise", &self.promise())?;
        map.end()
    }
}

impl Alarms {
    /// Takes those of a watcher, in which there may be one false alarm in so many rows.
    pub(crate) fn of(watcher: &mut Watcher, rows_to_a_false_alarm: f64) -> Self {
        Self {
            alarms: watcher.take_alarms(),
            rows_to_a_false_alarm,
            taken_out: watcher.taken_out().to_vec(),
            rows: watcher.rows(),
            is_watching: watcher.is_watching(),
        }
    }

    /// The alarms, an object each.
    fn list(&self) -> Value {
        let alarm = |alarm: &WatchAlarm| {
            let column = |(name, share): &(String, f64)| json!({"name": name, "share": share});
            let columns: Vec<Value> = alarm.columns.iter().map(column).collect();
            json!({
                "row": alarm.row,
                "time": alarm.time.map(instant_text),
                "kind": alarm.kind.name(),
                "since": alarm.since,
                "columns": columns,
            })
        };
        self.alarms.iter().map(alarm).collect()
    }

    /// What was promised.
    fn promise(&self) -> Value {
        json!({"rows_to_a_false_alarm": self.rows_to_a_false_alarm, "taken_out": self.told_taken_out()})
    }

    fn told_taken_out(&self) -> Vec<String> {
        self.taken_out.iter().map(ToString::to_string).collect()
    }

    /// The rows of those alarms that are `wanted`, by what they are about and their first column.
    #[cfg(feature = "plots")]
    pub(crate) fn by_column(&self, wanted: impl Fn(AlarmKind) -> bool) -> Vec<(String, Vec<f64>)> {
        let mut named: Vec<(String, Vec<f64>)> = Vec::new();
        for alarm in self.alarms.iter().filter(|alarm| wanted(alarm.kind)) {
            let name = match (alarm.kind, alarm.columns.first()) {
                (AlarmKind::Inputs, Some((name, _))) => format!("alarm: {name}"),
                (AlarmKind::Rows, _) => "alarm: a row".to_owned(),
                (kind, Some((name, _))) => format!("{}: {name}", kind.name()),
                (kind, None) => format!("alarm: {}", kind.name()),
            };
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, rows)) => rows.push(alarm.row as f64),
                None => named.push((name, vec![alarm.row as f64])),
            }
        }
        named
    }

    /// How many there are, in words.
    pub(crate) fn counted(&self) -> String {
        match self.alarms.len() {
            0 => "no alarm".to_owned(),
            1 => "1 alarm".to_owned(),
            alarms => format!("{alarms} alarms"),
        }
    }

    /// A line an alarm, and the promise.
    pub(crate) fn lines(&self) -> String {
        let mut text: String = self.alarms.iter().take(LINES).map(line).collect();
        // Writing to a string cannot fail.
        if let Some(more) = self.alarms.len().checked_sub(LINES).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} alarms more; --json has all");
        }
        let taken_out = match &*self.told_taken_out() {
            [] => "nothing".to_owned(),
            parts => parts.join(", "),
        };
        let _ = writeln!(
            text,
            "\nPromise: {} rows to a false alarm in the mean, at least\nTaken out: {taken_out}",
            digits(self.rows_to_a_false_alarm)
        );
        text
    }

    /// Remarks: too few rows, `fewer` being how fewer can settle what is usual; drifts that are
    /// taken out; and a promise that may not have been kept.
    pub(crate) fn notes(&self, fewer: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.is_watching {
            let rows = if self.rows == 1 { "1 row is".to_owned() } else { format!("{} rows are", self.rows) };
            notes.push(format!(
                "{rows} too few to settle what is usual, so no change could be told; take fewer with {fewer}"
            ));
        }
        if self.taken_out.iter().any(|part| matches!(part, TakenOut::Level | TakenOut::Season(_))) {
            notes.push(
                "levels and seasons are foretold from the rows before, so a slow drift of such columns may give no alarm"
                    .to_owned(),
            );
        }
        let changes = self.alarms.iter().filter(|alarm| alarm.kind != AlarmKind::Rows).count() as f64;
        if changes > 3.0 * (1.0 + self.rows as f64 / self.rows_to_a_false_alarm) {
            notes.push(
                "alarms come more than three times as often as false ones may: the stream changes all the time, or depends \
                 on its past in a way that was not taken out (clustered volatility, runs of equal values)"
                    .to_owned(),
            );
        }
        notes
    }
}

fn line(alarm: &WatchAlarm) -> String {
    let what = match alarm.kind {
        AlarmKind::Rows => "a row unlike those before",
        AlarmKind::Inputs => "inputs changed",
        AlarmKind::Errors => "errors rose",
        AlarmKind::Target => "the target changed",
    };
    let mut text = format!("  row {:<9}", alarm.row);
    let _ = alarm.time.map(|time| write!(text, "{:<21}", instant_text(time)));
    let _ = write!(text, "{what:<26}");
    let since = if alarm.since < alarm.row { format!("since {}", alarm.since) } else { String::new() };
    let _ = write!(text, "{since:<15}");
    let columns: Vec<String> =
        alarm.columns.iter().map(|(name, share)| format!("{} {:.0} %", Plain(name), 100.0 * share)).collect();
    text += &columns.join(", ");
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
