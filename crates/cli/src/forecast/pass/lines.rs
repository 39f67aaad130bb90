//! The lines of a pass: predictions, their intervals and quantiles as cells of CSV.

use std::fmt::Write as _;

use super::{RowFailure, SeriesPass};
use crate::forecast::feed::SeriesFeed;
use crate::report::output::number;

impl SeriesPass {
    /// Names over the lines, for predictions of so many steps at once: further steps are marked
    /// `+2`, `+3`, …. The group stands before the number of the row, and the time behind it.
    pub(in crate::forecast) fn header(&self, steps: usize, feed: &SeriesFeed) -> String {
        let group = feed.group_column().map_or_else(String::new, |name| cell(name) + ",");
        let mut line = group + if feed.clock().is_some() { "k,time" } else { "k" };
        for step in 1..=steps {
            let further = if step == 1 { String::new() } else { format!("+{step}") };
            let name =
                |output: usize, ending: &str| cell(&format!("{}{further}{ending}", self.columns.output_name(output)));
            let outputs = 0..self.output.len();
            let mut names: Vec<String> = outputs.clone().map(|output| name(output, "")).collect();
            for output in outputs {
                if self.has_intervals() {
                    names.extend(["_low", "_high"].map(|end| name(output, end)));
                }
                names.extend(self.quantiles().iter().map(|p| name(output, &format!("_{p}"))));
            }
            line = line + "," + &names.join(",");
        }
        line + "\n"
    }

    /// The last row's time, its prediction and what is told around it.
    pub(in crate::forecast) fn write_row(&self, feed: &SeriesFeed, text: &mut String) {
        self.begin_line(self.rows() - 1, feed, 0, text);
        self.write_cells(&self.prediction, self.band(), |output| self.levels[output].clone(), text);
        text.push('\n');
    }

    /// The same of the next row, and of the rows after it if asked for.
    pub(in crate::forecast) fn write_next(&mut self, feed: &SeriesFeed, text: &mut String) -> Result<(), RowFailure> {
        let forecast = self.forecast(self.ahead())?;
        self.begin_line(self.rows(), feed, 1, text);
        for (step, row) in (1..).zip(forecast.chunks_exact(self.output.len())) {
            self.write_step(step, row, text);
        }
        text.push('\n');
        Ok(())
    }

    /// The rows after the last, one line each.
    pub(in crate::forecast) fn write_forecast(&self, feed: &SeriesFeed, forecast: &[f64], text: &mut String) {
        for (step, row) in (1..).zip(forecast.chunks_exact(self.output.len())) {
            self.begin_line(self.rows() + step - 1, feed, step, text);
            self.write_step(step, row, text);
            text.push('\n');
        }
    }

    fn write_step(&self, step: usize, row: &[f64], text: &mut String) {
        let levels = |output: usize| Some(self.reach(output, step)?.around(row[output]));
        self.write_cells(row, &self.ends(step, row), levels, text);
    }

    /// The number of a row and its time, `ahead` rows after the last.
    fn begin_line(&self, k: usize, feed: &SeriesFeed, ahead: usize, text: &mut String) {
        if let Some(group) = self.name.or(feed.group()) {
            text.push_str(&cell(group));
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{k}");
        if let Some(clock) = feed.clock() {
            let _ = write!(text, ",{}", feed.time(ahead).map(|time| clock.text(time)).unwrap_or_default());
        }
    }

    /// A row, its intervals and its quantiles.
    fn write_cells(
        &self,
        row: &[f64],
        ends: &[Option<[f64; 2]>],
        levels: impl Fn(usize) -> Option<Vec<f64>>,
        text: &mut String,
    ) {
        let first = self.probabilities.len() - self.quantiles().len();
        let mut cell = |value: Option<f64>| {
            let _ = write!(text, ",{}", value.map(number).unwrap_or_default());
        };
        row.iter().for_each(|value| cell(Some(*value)));
        for (output, end) in ends.iter().enumerate() {
            if self.has_intervals() {
                (0..2).for_each(|side| cell(end.map(|end| end[side])));
            }
            let levels = levels(output).filter(|_| !self.quantiles().is_empty());
            (first..self.probabilities.len()).for_each(|place| cell(levels.as_ref().map(|levels| levels[place])));
        }
    }
}

/// A cell of a CSV line.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
