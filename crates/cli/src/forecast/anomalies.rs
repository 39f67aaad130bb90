//! Rows that lay outside of the band of their forecast of one step.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use mercer_session::series::UsualShare;
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

/// The rows so far, and their table.
pub(super) struct Anomalies {
    log: AnomalyLog,
    table: Option<SeriesTable>,
}

/// The values that were judged, and the last ones that lay outside of their bands.
#[derive(Clone)]
pub(crate) struct AnomalyLog {
    share: UsualShare,
    judged: u64,
    count: u64,
    last: VecDeque<Anomaly>,
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
pub(crate) struct AnomalyReport {
    /// The share that bands hold.
    share: f64,
    judged: u64,
    count: u64,
    /// The last ones.
    rows: Vec<Anomaly>,
}

impl AnomalyLog {
    /// None so far, outside of bands that hold this share.
    pub(crate) fn new(share: UsualShare) -> Self {
        Self { share, judged: 0, count: 0, last: VecDeque::new() }
    }

    /// Takes the row that was observed last, of this group and time, and returns the outputs that
    /// lay outside with their bands.
    pub(crate) fn take(
        &mut self,
        pass: &SeriesPass,
        (group, time): (Option<&str>, Option<Value>),
    ) -> Vec<(usize, [f64; 2])> {
        let [values, predictions] = pass.last();
        let look = pass.look();
        let mut outside = Vec::new();
        for (output, (y, forecast)) in values.iter().zip(predictions).enumerate() {
            if y.is_nan() || look.bands.get(output).is_none_or(Option::is_none) {
                continue;
            }
            self.judged += 1;
            let Some([lower, upper]) = look.anomaly(output, *y) else { continue };
            self.count += 1;
            if self.last.len() == KEPT {
                self.last.pop_front();
            }
            self.last.push_back(Anomaly {
                group: group.map(str::to_owned),
                row: pass.rows() - 1,
                time: time.clone(),
                column: pass.columns().output_name(output).to_owned(),
                y: *y,
                forecast: *forecast,
                lower,
                upper,
            });
            outside.push((output, [lower, upper]));
        }
        outside
    }

    pub(crate) fn report(&self) -> AnomalyReport {
        AnomalyReport {
            share: self.share.get(),
            judged: self.judged,
            count: self.count,
            rows: self.last.iter().cloned().collect(),
        }
    }
}

impl Anomalies {
    /// None so far, outside of bands that hold this share.
    pub(super) fn new(
        share: UsualShare,
        path: Option<&Path>,
        read: &[&Path],
        (pass, feed): (&SeriesPass, &SeriesFeed),
    ) -> Result<Self, Failure> {
        let columns = || ["y", "forecast", "lower", "upper"].map(str::to_owned);
        let create = |path| SeriesTable::create(("--anomalies", path), read, (pass, feed), (&["k"], false), columns());
        Ok(Self { log: AnomalyLog::new(share), table: path.map(create).transpose()? })
    }

    /// Takes the row that was observed last.
    pub(super) fn take(&mut self, pass: &SeriesPass, feed: &SeriesFeed) -> Result<(), Failure> {
        let time = feed.time(0);
        let shown = feed.clock().zip(time).map(|(clock, time)| clock.value(time));
        let outside = self.log.take(pass, (feed.group(), shown));
        let Some(table) = &mut self.table else { return Ok(()) };
        let [values, predictions] = pass.last();
        for (output, [lower, upper]) in outside {
            let values = [values[output], predictions[output], lower, upper].map(Some);
            table.push(
                pass,
                feed,
                &TableRow { scenario: None, keys: [pass.rows() - 1], time, output, values: &values },
            )?;
        }
        Ok(())
    }

    pub(super) fn report(&self) -> AnomalyReport {
        self.log.report()
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
