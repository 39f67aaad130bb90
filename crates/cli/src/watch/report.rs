//! The result of a watch, for people and as JSON.

use std::fmt::Write as _;

use serde_json::Value;

use crate::report::alarms::Alarms;
use crate::report::failure::Failure;
use crate::report::json;
use crate::report::plain::Plain;

/// The result of a run; the fields are the JSON object's keys, in its order.
#[derive(serde::Serialize)]
pub(super) struct WatchReport {
    #[serde(skip)]
    pub(super) data: String,
    pub(super) rows: u64,
    #[serde(flatten)]
    pub(super) alarms: Alarms,
    /// Odd cells.
    pub(super) counts: Value,
    pub(super) notes: Vec<String>,
}

impl WatchReport {
    pub(super) fn json(&self) -> Result<String, Failure> {
        json::line(self)
    }

    /// A line an alarm, the promise, and remarks.
    pub(super) fn text(&self) -> String {
        let gap = if self.alarms.alarms.is_empty() { "" } else { "\n" };
        let rows = if self.rows == 1 { "row" } else { "rows" };
        let mut text = format!("{}: {} {rows}, {}\n{gap}", Plain(&self.data), self.rows, self.alarms.counted());
        text += &self.alarms.lines();
        for note in &self.notes {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "Note: {note}");
        }
        text
    }
}
