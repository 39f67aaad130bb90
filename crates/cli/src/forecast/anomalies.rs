//! Rows that lay outside of the band of their forecast of one step.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::feed::SeriesFeed;
use super::pass::SeriesPass;
use super::tables::{SeriesTable, TableRow};
use crate::report::failure::Failure;
use crate::report::output::digits;
use crate::report::plain::Plain;

/// Rows that are told as JSON, and in the text: the last ones.
const KEPT: usize = 1000;
const SHOWN: usize = 20;

/// The rows so far.
pub(super) struct Anomalies {
    share: f64,
    /// Values that were judged, and those that lay outside.
    judged: u64,
    count: u64,
    last: VecDeque<Anomaly>,
    table: Option<SeriesTable>,
}

/// A value outside of its band.
#[derive(Clone, serde::Serialize)]
struct Anomaly {
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// The number of the row, from 0.
    row: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Value>,
    column: String,
    y: f64,
    forecast: f64,
    lower: f64,
    upper: f64,
}

/// The anomalies as they are told.
#[derive(serde::Serialize)]
pub(super) struct AnomalyReport {
    /// The share that bands hold.
    share: f64,
    judged: u64,
    count: u64,
    /// The last ones.
    rows: Vec<Anomaly>,
}

impl Anomalies {
    /// None so far, outside of bands that hold this share.
    pub(super) fn new(
        share: f64,
        path: Option<&Path>,
        read: &[&Path],
        (pass, feed): (&SeriesPass, &SeriesFeed),
    ) -> Result<Self, Failure> {
        let columns = || ["y", "forecast", "lower", "upper"].map(str::to_owned);
        let create = |path| SeriesTable::create(("--anomalies", path), read, (pass, feed), (&["k"], false), columns());
        Ok(Self { share, judged: 0, count: 0, last: VecDeque::new(), table: path.map(create).transpose()? })
    }

    /// Takes the row that was observed last.
    pub(super) fn take(&mut self, pass: &SeriesPass, feed: &SeriesFeed) -> Result<(), Failure> {
        let [values, predictions] = pass.last();
        for (output, (y, forecast)) in values.iter().zip(predictions).enumerate() {
            if y.is_nan() || pass.usual(output).is_none() {
                continue;
            }
            self.judged += 1;
            let Some([lower, upper]) = pass.anomaly(output) else { continue };
            self.count += 1;
            let (k, time) = (pass.rows() - 1, feed.time(0));
            if let Some(table) = &mut self.table {
                let values = [*y, *forecast, lower, upper].map(Some);
                table.push(pass, feed, &TableRow { scenario: None, keys: [k], time, output, values: &values })?;
            }
            if self.last.len() == KEPT {
                self.last.pop_front();
            }
            self.last.push_back(Anomaly {
                group: feed.group().map(str::to_owned),
                row: k,
                time: feed.clock().zip(time).map(|(clock, time)| clock.value(time)),
                column: pass.columns().output_name(output).to_owned(),
                y: *y,
                forecast: *forecast,
                lower,
                upper,
            });
        }
        Ok(())
    }

    pub(super) fn report(&self) -> AnomalyReport {
        AnomalyReport {
            share: self.share,
            judged: self.judged,
            count: self.count,
            rows: self.last.iter().cloned().collect(),
        }
    }

    /// Puts the table in its place.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.table.map_or(Ok(()), SeriesTable::finish)
    }
}

impl AnomalyReport {
    /// The last anomalies, below a line that counts them.
    pub(super) fn write(&self, text: &mut String) {
        let percent = digits(100.0 * self.share);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n  {} of {} values outside of their {percent} % band", self.count, self.judged);
        for anomaly in self.rows.iter().skip(self.rows.len().saturating_sub(SHOWN)) {
            let row = || anomaly.row.to_string();
            let time = anomaly.time.as_ref().map_or_else(row, |time| {
                time.as_str().map_or_else(|| time.to_string(), |time| Plain(time).to_string())
            });
            let group = anomaly.group.as_ref().map_or(String::new(), |group| format!("{}, ", Plain(group)));
            let [y, forecast, lower, upper] = [anomaly.y, anomaly.forecast, anomaly.lower, anomaly.upper].map(digits);
            let _ = writeln!(
                text,
                "  {time:>14}  {group}{}: {y} where {forecast} [{lower}, {upper}] was forecast",
                Plain(&anomaly.column)
            );
        }
    }
}
