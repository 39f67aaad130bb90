//! Alarms as lines for people, and as JSON.

use std::fmt::Write as _;

use mercer_readers::instant_text;
use mercer_session::{AlarmKind, WatchAlarm};
use serde_json::{Value, json};

use crate::report::facts::Facts;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::digits;
use crate::report::plain::Plain;

/// Lines of alarms that are printed; all are in the JSON.
const LINES: usize = 40;

/// The rate that was asked for, and what was done so that it holds.
pub(super) struct Promise {
    pub(super) rows_to_a_false_alarm: f64,
    pub(super) taken_out: Vec<String>,
}

/// The result of a run.
pub(super) struct WatchReport {
    pub(super) data: String,
    pub(super) rows: u64,
    pub(super) alarms: Vec<WatchAlarm>,
    pub(super) promise: Promise,
    /// Odd cells.
    pub(super) counts: Value,
    pub(super) notes: Vec<String>,
}

impl WatchReport {
    pub(super) fn json(&self) -> Result<String, Failure> {
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
        let Promise { rows_to_a_false_alarm, taken_out } = &self.promise;
        let mut facts = Facts::default();
        facts.tell("rows", self.rows);
        facts.tell("alarms", self.alarms.iter().map(alarm).collect::<Vec<_>>());
        facts.tell("promise", json!({"rows_to_a_false_alarm": rows_to_a_false_alarm, "taken_out": taken_out}));
        facts.tell("counts", self.counts.clone());
        facts.tell("notes", self.notes.clone());
        json::line(&facts)
    }

    /// A line an alarm, the promise, and remarks.
    pub(super) fn text(&self) -> String {
        // Writing to a string cannot fail.
        let mut text = format!("{}: {} rows, ", Plain(&self.data), self.rows);
        let _ = match self.alarms.len() {
            0 => writeln!(text, "no alarm"),
            1 => writeln!(text, "1 alarm\n"),
            alarms => writeln!(text, "{alarms} alarms\n"),
        };
        self.alarms.iter().take(LINES).for_each(|alarm| text.push_str(&line(alarm)));
        if let Some(more) = self.alarms.len().checked_sub(LINES).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} alarms more; --json has all");
        }
        let Promise { rows_to_a_false_alarm, taken_out } = &self.promise;
        let taken_out = if taken_out.is_empty() { "nothing".to_owned() } else { taken_out.join(", ") };
        let _ = writeln!(
            text,
            "\nPromise: {} rows to a false alarm in the mean, at least\nTaken out: {taken_out}",
            digits(*rows_to_a_false_alarm)
        );
        for note in &self.notes {
            let _ = writeln!(text, "Note: {note}");
        }
        text
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
