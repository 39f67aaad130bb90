//! One pass over a series: predict, score, observe, and the lines that tell the predictions.

use std::fmt::{self, Write as _};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use mercer::forecast::Error;
use mercer::forecast::{
    AnyForecaster, ConformalIntervals, ForecastScratch, Forecaster, HorizonIntervals, SeasonMixture,
};
use mercer::model::{ModelError, Prediction, SeriesErrors};

use super::columns::Columns;
use super::feed::Feed;
use crate::cli::failure::Failure;
use crate::cli::output::number;

/// A forecaster on its way through a series.
#[derive(Clone)]
pub(crate) struct Pass {
    model: Prediction,
    columns: Columns,
    /// Rows observed before this run.
    before: usize,
    ahead: usize,
    scratch: ForecastScratch,
    input: Vec<f64>,
    output: Vec<f64>,
    /// Of the last row, made before it was seen, and how far its intervals reach.
    prediction: Vec<f64>,
    band: Vec<Option<[f64; 2]>>,
    /// The share that the intervals of a season mixture are to hold, if it has some, and what they held: rows, and those inside.
    share: Option<f64>,
    held: [u64; 2],
    /// What follows the last row, where every row is forecast so far ahead; empty otherwise.
    coming: Vec<f64>,
    time: Duration,
}

/// Most steps that have intervals: forecasts wait for their rows.
const MOST_STEPS: usize = 1000;

/// Why a row could not be taken.
pub(crate) enum Stop {
    MissingInput(String),
    Overflow,
    Refused(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl Stop {
    /// The same with its place.
    pub(super) fn at(self, place: &str) -> Failure {
        Failure::because(format!("{place}: {self}"))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingInput(name) => {
                write!(f, "the input {name:?} has no value; fill it (outputs may be missing, inputs not)")
            }
            Self::Overflow => f.write_str("the squared error overflows; scale the series"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl Pass {
    /// `steps` is how many rows ahead each row is to be forecast.
    pub(crate) fn new(mut model: Prediction, columns: Columns, steps: Option<NonZeroUsize>) -> Result<Self, Failure> {
        let (m, q) = (columns.outputs.len(), columns.inputs.len());
        let ahead = steps.map_or(1, usize::from);
        if ahead > 1 && q > 0 {
            return Err(Failure::usage(
                "--steps needs inputs of the future with --inputs; append rows with those inputs and empty outputs instead",
            ));
        }
        if steps.is_some() && model.forecaster.feed_through() {
            return Err(Failure::usage(
                "--steps needs the input of the row forecast with --feed-through; append a row with it and empty outputs instead",
            ));
        }
        if let (Some(intervals), 2..) = (&model.intervals, ahead) {
            if ahead > MOST_STEPS {
                return Err(Failure::usage(format!(
                    "--steps {ahead} with --intervals: intervals are kept for {MOST_STEPS} steps at most; lower --steps, or leave --intervals out"
                )));
            }
            let refused = |error| Failure::usage(format!("--intervals: {error}"));
            let further = match model.further.take() {
                Some(further) => further,
                None => HorizonIntervals::new(m, ahead, *intervals.params()).map_err(refused)?,
            };
            model.further.insert(further).extend(ahead).map_err(refused)?;
        }
        let told = model.parameters.iter().find(|(key, _)| key == "intervals");
        let share = told.and_then(|(_, share)| share.parse().ok()).filter(|_| season(&model).is_some());
        Ok(Self {
            before: model.forecaster.time(),
            model,
            columns,
            ahead,
            scratch: ForecastScratch::default(),
            input: vec![0.0; q],
            output: vec![0.0; m],
            prediction: vec![0.0; m],
            band: vec![None; m],
            share,
            held: [0; 2],
            coming: Vec::new(),
            time: Duration::ZERO,
        })
    }

    /// Predicts, scores and learns one row; the clock of the result runs only here.
    pub(crate) fn step(&mut self, row: &[f64]) -> Result<(), Stop> {
        if let Some(name) = self.columns.missing_input(row) {
            return Err(Stop::MissingInput(name.to_owned()));
        }
        for (value, &column) in self.input.iter_mut().zip(&self.columns.inputs) {
            *value = row[column];
        }
        for (value, &column) in self.output.iter_mut().zip(&self.columns.outputs) {
            *value = row[column];
        }
        let seen = self.model.seen().after([row, &[]]);
        let warm = self.model.forecaster.warmed_up();
        let start = Instant::now();
        if let Some(share) = self.share {
            self.foretell_season(share)?;
        }
        let Prediction { forecaster, intervals, further, errors, fingerprint, .. } = &mut self.model;
        forecaster.predict_then_observe(&self.input, &self.output, &mut self.prediction)?;
        if let Some(intervals) = intervals {
            for (output, end) in self.band.iter_mut().enumerate() {
                *end = around(self.prediction[output], intervals.radius(output));
            }
            if warm {
                intervals.observe(&self.prediction, &self.output)?;
            }
        }
        if let Some(further) = further {
            // Before the first row nothing was foretold.
            further.observe(&self.output)?;
            self.coming = forecaster.forecast(further.steps(), &[])?;
            further.foretell(if forecaster.warmed_up() { &self.coming } else { &[] })?;
        }
        self.time += start.elapsed();
        *fingerprint = seen.fingerprint;
        if seen.rows > errors.warm_up {
            let mut scored = *errors;
            for (y, prediction) in self.output.iter().zip(&self.prediction).filter(|(y, _)| !y.is_nan()) {
                scored.sum += (y - prediction) * (y - prediction);
                scored.scored += 1;
            }
            if !scored.sum.is_finite() {
                return Err(Stop::Overflow);
            }
            *errors = scored;
        }
        Ok(())
    }

    /// Predicts the next row and the interval of a season mixture around it.
    fn foretell_season(&mut self, share: f64) -> Result<(), Stop> {
        self.model.forecaster.predict_with(&[], &mut self.prediction, &mut self.scratch)?;
        self.band[0] = self.season_ends(share, 1, self.prediction[0]);
        if let Some([low, high]) = self.band[0].filter(|_| !self.output[0].is_nan()) {
            self.held[0] += 1;
            self.held[1] += u64::from((low..=high).contains(&self.output[0]));
        }
        Ok(())
    }

    fn season_ends(&self, share: f64, step: usize, forecast: f64) -> Option<[f64; 2]> {
        let mixture = season(&self.model)?;
        let ends = [0.5 - share / 2.0, 0.5 + share / 2.0].map(|p| mixture.quantile(p, step, forecast));
        mixture.warmed_up().then_some(ends)
    }

    /// The next `steps` rows, one after the other.
    pub(crate) fn forecast(&mut self, steps: usize) -> Result<Vec<f64>, Stop> {
        if let Some(mixture) = season(&self.model) {
            return Ok(mixture.path(steps));
        }
        if let Some(known) = self.coming.get(..steps * self.output.len()) {
            return Ok(known.to_vec());
        }
        if steps == 1 {
            let mut next = vec![0.0; self.output.len()];
            self.model.forecaster.predict_with(&[], &mut next, &mut self.scratch)?;
            return Ok(next);
        }
        Ok(self.model.forecaster.forecast(steps, &[])?)
    }

    /// Names over the lines, for predictions of so many steps at once: further steps are marked `+2`, `+3`, ….
    /// With `timed` the time stands behind the number of the row.
    pub(super) fn header(&self, steps: usize, timed: bool) -> String {
        let mut line = String::from(if timed { "k,time" } else { "k" });
        let names = |line: &mut String, ending: &str| {
            for output in 0..self.output.len() {
                let _ = write!(line, ",{}", cell(&format!("{}{ending}", self.columns.output_name(output))));
            }
        };
        names(&mut line, "");
        if self.has_intervals() {
            for output in 0..self.output.len() {
                let name = self.columns.output_name(output);
                let _ = write!(line, ",{},{}", cell(&format!("{name}_low")), cell(&format!("{name}_high")));
            }
        }
        for step in 2..=steps {
            names(&mut line, &format!("+{step}"));
            for output in (0..self.output.len()).filter(|_| self.has_intervals()) {
                let name = self.columns.output_name(output);
                let _ =
                    write!(line, ",{},{}", cell(&format!("{name}+{step}_low")), cell(&format!("{name}+{step}_high")));
            }
        }
        line + "\n"
    }

    /// The intervals of a forecast of so many steps, if there are any.
    fn intervals(&self, step: usize) -> Option<&ConformalIntervals> {
        match step {
            1 => self.model.intervals.as_ref(),
            _ => self.model.further.as_ref()?.horizon(step),
        }
    }

    /// The ends of the intervals of a row that is forecast so many steps ahead, where there are some.
    pub(crate) fn ends(&self, step: usize, row: &[f64]) -> Vec<Option<[f64; 2]>> {
        let end = |(output, value): (usize, &f64)| match self.share {
            Some(share) => self.season_ends(share, step, *value),
            None => around(*value, self.intervals(step)?.radius(output)),
        };
        row.iter().enumerate().map(end).collect()
    }

    /// Whether rows have intervals.
    pub(crate) fn has_intervals(&self) -> bool {
        self.share.is_some() || self.model.intervals.is_some()
    }

    /// The quantile of `p` of a row that is forecast so many steps ahead, of a season mixture.
    pub(super) fn quantile(&self, p: f64, step: usize, row: &[f64]) -> Option<Vec<f64>> {
        let mixture = season(&self.model)?;
        Some(row.iter().map(|value| mixture.quantile(p, step, *value)).collect())
    }

    /// The lengths of the seasons that the forecaster knows, the shortest first.
    pub(super) fn periods(&self) -> Option<&[usize]> {
        season(&self.model).map(SeasonMixture::periods)
    }

    /// The last row's time, its prediction and its intervals.
    pub(super) fn write_row(&self, feed: &Feed, text: &mut String) {
        self.begin_line(self.rows() - 1, feed, 0, text);
        self.write_line(&self.prediction, &self.band, &[], text);
    }

    /// The next row's time, its prediction and its intervals, and the predictions of the rows after it if asked for.
    pub(super) fn write_next(&mut self, feed: &Feed, text: &mut String) -> Result<(), Stop> {
        let forecast = self.forecast(self.ahead)?;
        let (next, further) = forecast.split_at(self.output.len());
        self.begin_line(self.rows(), feed, 1, text);
        self.write_line(next, &self.ends(1, next), further, text);
        Ok(())
    }

    /// The rows after the last, one line each.
    pub(super) fn write_forecast(&self, feed: &Feed, forecast: &[f64], text: &mut String) {
        for (step, row) in forecast.chunks_exact(self.output.len()).enumerate() {
            self.begin_line(self.rows() + step, feed, step + 1, text);
            self.write_line(row, &self.ends(step + 1, row), &[], text);
        }
    }

    /// The number of a row and its time, `ahead` rows after the last.
    fn begin_line(&self, k: usize, feed: &Feed, ahead: usize, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{k}");
        if let Some(clock) = feed.clock() {
            let _ = write!(text, ",{}", feed.time(ahead).map(|time| clock.text(time)).unwrap_or_default());
        }
    }

    /// A row and its intervals, and the rows `further` ahead with theirs.
    fn write_line(&self, row: &[f64], ends: &[Option<[f64; 2]>], further: &[f64], text: &mut String) {
        self.write_cells(row, ends, text);
        for (step, row) in (2..).zip(further.chunks_exact(row.len().max(1))) {
            self.write_cells(row, &self.ends(step, row), text);
        }
        text.push('\n');
    }

    fn write_cells(&self, row: &[f64], ends: &[Option<[f64; 2]>], text: &mut String) {
        for value in row {
            let _ = write!(text, ",{}", number(*value));
        }
        for end in ends.iter().filter(|_| self.has_intervals()) {
            match end {
                Some([low, high]) => {
                    let _ = write!(text, ",{},{}", number(*low), number(*high));
                }
                None => text.push_str(",,"),
            }
        }
    }

    pub(crate) fn model(&self) -> &Prediction {
        &self.model
    }

    /// The model in a file, with what is kept of the times of its series.
    pub(super) fn to_bytes(&self, kept: Option<(String, String)>) -> Result<Vec<u8>, ModelError> {
        let Some(kept) = kept else { return self.model.to_bytes() };
        let mut model = self.model.clone();
        model.own.retain(|(key, _)| *key != kept.0);
        model.own.push(kept);
        model.to_bytes()
    }

    /// Whether a row's own input is needed to predict it.
    pub(super) fn feeds_through(&self) -> bool {
        self.model.forecaster.feed_through()
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Share of every output's values within their intervals so far.
    pub(super) fn coverage(&self) -> Option<Vec<f64>> {
        if self.share.is_some() {
            return Some(vec![self.held[1] as f64 / self.held[0] as f64]);
        }
        let intervals = self.model.intervals.as_ref()?;
        Some((0..self.output.len()).map(|output| intervals.coverage(output)).collect())
    }

    /// The same of forecasts of 2, 3, … steps, in order; null before the first.
    pub(super) fn coverage_further(&self) -> Option<Vec<Vec<f64>>> {
        let further = self.model.further.as_ref()?;
        let share = |of: &ConformalIntervals| (0..self.output.len()).map(|output| of.coverage(output)).collect();
        Some((2..=further.steps()).filter_map(|step| further.horizon(step).map(share)).collect())
    }

    pub(super) fn ahead(&self) -> usize {
        self.ahead
    }

    /// Rows observed, those of earlier runs among them.
    pub(crate) fn rows(&self) -> usize {
        self.model.forecaster.time()
    }

    /// Rows observed in this run.
    pub(super) fn rows_now(&self) -> usize {
        self.rows() - self.before
    }

    /// `None` if no value was scored.
    pub(super) fn mse(&self) -> Option<f64> {
        let SeriesErrors { scored, sum, .. } = self.model.errors;
        (scored > 0).then(|| sum / scored as f64)
    }

    /// The values of the last row, and its predictions, made before it was seen.
    pub(crate) fn last(&self) -> [&[f64]; 2] {
        [&self.output, &self.prediction]
    }

    /// The ends of the intervals around those.
    pub(crate) fn band(&self) -> &[Option<[f64; 2]>] {
        &self.band
    }

    /// Whether the last row is behind the warm-up.
    pub(super) fn is_scored(&self) -> bool {
        self.model.seen().rows > self.model.errors.warm_up
    }

    pub(super) fn time(&self) -> Duration {
        self.time
    }
}

/// The season mixture of a model, if it is one.
fn season(model: &Prediction) -> Option<&SeasonMixture> {
    if let AnyForecaster::SeasonMixture(mixture) = &model.forecaster { Some(mixture) } else { None }
}

fn around(value: f64, radius: f64) -> Option<[f64; 2]> {
    radius.is_finite().then(|| [value - radius, value + radius])
}

/// A cell of a CSV line.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
